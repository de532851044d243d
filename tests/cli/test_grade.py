"""``otelreplay grade`` from the outside: files, folders, and nothing written."""

import json

from tests.cli.command import files_under
from tests.cli.traces import agent_run, lines, request


def trace(*left_out):
    return lines(request(*[span for n, span in enumerate(agent_run()) if n not in left_out]))


def test_a_trace_file_and_its_cassette_have_the_same_grade(desk):
    desk.write("trace.jsonl", trace(2))
    of_trace = json.loads(desk.run("grade", "trace.jsonl", "--json").out)
    (cassette,) = desk.convert("trace.jsonl")
    of_cassette = json.loads(desk.run("grade", cassette, "--json").out)
    assert of_trace["grade"] == of_cassette["grade"] > 0.5
    (mine,), (held,) = of_trace["files"][0]["runs"], of_cassette["files"][0]["runs"]
    assert mine["boundaries"] == held["boundaries"]
    states = {each["state"]: each["rules"] for boundary in mine["boundaries"] for each in boundary["fields"]}
    assert states["inferred"]


def test_a_whole_run_has_the_grade_one(desk):
    desk.write("trace.jsonl", trace())
    assert 1 == json.loads(desk.run("grade", "trace.jsonl", "--json").out)["grade"]
    assert " 100 %" in desk.run("grade", "trace.jsonl").out


def test_nothing_is_written(desk):
    desk.write("trace.jsonl", trace())
    before = files_under(desk.folder)
    desk.environment["TMPDIR"] = str(desk.folder)
    desk.run("grade", "trace.jsonl")
    assert before == files_under(desk.folder)


def test_a_folder_is_a_table_and_what_cannot_be_read_is_listed(desk):
    folder = desk.folder / "many"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.jsonl").write_bytes(trace() if isinstance(trace(), bytes) else trace().encode())
    (folder / ".hidden").write_text("x")
    assert 0 == desk.run("grade", "many").code
    (folder / "notes.txt").write_text("nothing")
    done = desk.run("grade", "many", "--json", expect=6)
    files = json.loads(done.out)["files"]
    assert ["deep/a.jsonl", "notes.txt"] == [file["file"] for file in files]
    assert "[input.unrecognised]" in files[1]["problem"]


def test_an_altered_cassette_of_a_folder_ends_with_5(desk):
    desk.write("trace.jsonl", trace())
    (cassette,) = desk.convert("trace.jsonl")
    cassette.write_bytes(cassette.read_bytes().replace(b"gpt-4o-mini", b"gpt-4o-maxi", 1))
    assert 5 == desk.run("grade", "out", expect=5).code


def test_a_file_that_cannot_be_read_is_an_error(desk):
    desk.write("notes.txt", "nothing")
    assert "[input.unrecognised]" in desk.run("grade", "notes.txt", expect=6).err
    assert "[input.not_found]" in desk.run("grade", "gone.json", expect=6).err


def test_a_secret_in_a_name_is_not_printed(desk):
    """Neither one in the name of a file, nor one that a cassette holds that was made with the policy off."""
    secret = "sk-proj-" + "Ab1" * 16
    spans = agent_run()
    spans[2]["name"] = f"execute_tool {secret}"
    for pair in spans[2]["attributes"]:
        if pair["key"] == "gen_ai.tool.name":
            pair["value"]["stringValue"] = secret
    name = f"{secret}.jsonl"
    desk.write(name, lines(request(*spans)))
    (cassette,) = desk.convert(name, policy="off")
    assert secret in cassette.read_text(encoding="utf-8")
    for file in (name, cassette):
        for more in ((), ("--json",)):
            assert secret not in desk.run("grade", file, *more).said
