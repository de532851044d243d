"""``convert`` from the outside: what it writes, what it says, what it leaves alone."""

import gzip
import json
import os
import stat
import subprocess
import sys
import threading

import pytest
import zstandard

from tests.cli.command import files_under
from tests.cli.traces import agent_run, chat, lines, log_request, request, said, span

TRACE = "0af7651916cd43dd8448eb211c80319c"
OTHER = "1bf7651916cd43dd8448eb211c80319d"


def visible(folder):
    return sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))


def test_one_trace_becomes_one_cassette_and_nothing_else_is_visible(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    (cassette,) = desk.convert("trace.jsonl")
    assert [cassette.name] == visible(desk.folder / "out")
    assert 0o600 == stat.S_IMODE(cassette.stat().st_mode)
    assert [cassette] == files_under(desk.folder / "out")


def test_the_events_say_what_happened(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    (cassette,) = desk.convert("trace.jsonl")
    events = desk.events(cassette)
    assert ["agent", "model", "tool", "model"] == [e["kind"] for e in events]
    assert {"order": "A-17"} == events[2]["request"]["arguments"]
    assert {"status": "shipped", "eta": 3} == events[2]["response"]["result"]
    assert all(e["request_keys"] and e["request_hash"].startswith("sha256:") for e in events if e["kind"] in ("model", "tool"))


def test_each_trace_is_a_run_and_with_one_run_all_are_one(desk):
    desk.write("trace.jsonl", lines(request(*agent_run(), *agent_run(OTHER))))
    assert 2 == len(desk.convert("trace.jsonl"))
    desk.run("convert", "trace.jsonl", "--out", "joined", "--one-run")
    (joined,) = desk.cassettes("joined")
    assert 8 == len(desk.events(joined))


@pytest.mark.parametrize("form", ["lines", "document", "pretty", "gz", "zst", "stdin"])
def test_every_form_of_json_gives_the_same_events(form, desk):
    whole = request(*agent_run())
    data = {"pretty": json.dumps(whole, indent=2), "document": json.dumps(whole)}.get(form, lines(whole)).encode()
    packed = {"gz": gzip.compress, "zst": zstandard.compress}.get(form, bytes)(data)
    desk.write("plain.jsonl", lines(whole))
    (expected,) = desk.convert("plain.jsonl", out="expected")
    desk.write("trace.bin", packed)
    desk.run("convert", "-" if form == "stdin" else "trace.bin", "--out", "out", stdin=packed if form == "stdin" else None)
    (cassette,) = desk.cassettes()
    assert desk.events(expected) == desk.events(cassette)


def test_several_files_are_one_input(desk):
    spans = agent_run()
    desk.write("a.jsonl", lines(request(*spans[:2])))
    desk.write("b.jsonl", lines(request(*spans[2:])))
    (cassette,) = desk.convert("a.jsonl", "b.jsonl")
    assert 4 == len(desk.events(cassette))


def test_missing_content_is_no_failure(desk):
    desk.write("trace.jsonl", lines(request(*agent_run(content=False))))
    (cassette,) = desk.convert("trace.jsonl")
    report = desk.report(cassette)
    assert "structure_only" == report["verdict"]
    assert all(gap["cause"] and gap["remedy"] for gap in report["gaps"])


def test_spans_of_no_known_convention_still_give_structure(desk):
    desk.write("trace.jsonl", lines(request(span("0" * 31 + "1", "00000000000000b1", "GET /", attrs={"http.method": "GET"}))))
    (cassette,) = desk.convert("trace.jsonl")
    assert 1 <= len(desk.events(cassette))
    assert "structure_only" == desk.report(cassette)["verdict"]


def test_policy_off_says_so_and_keeps_everything(desk):
    desk.write("trace.jsonl", lines(request(*agent_run(question="Write to jane.doe@example.com"))))
    done = desk.run("convert", "trace.jsonl", "--out", "out", "--policy", "off")
    assert "nothing is redacted" in done.err
    assert "jane.doe@example.com" in desk.cassettes()[0].read_text()


def test_json_gives_the_whole_result_on_one_line(desk):
    desk.write("trace.jsonl", lines(request(*agent_run(), *agent_run(OTHER))))
    done = desk.run("convert", "trace.jsonl", "--out", "out", "--json")
    result = json.loads(done.out)
    assert 1 == done.out.count("\n")
    assert [p.name for p in desk.cassettes()] == sorted(run["cassette"] for run in result["runs"])
    assert (8, 0, 0) == (result["spans"], result["duplicates"], result["rejected_total"])
    assert {"written"} == {run["outcome"] for run in result["runs"]}


def test_what_was_read_leniently_is_said(desk):
    metric = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "tokens"}]}]}]}
    desk.write("trace.jsonl", lines(request(*agent_run()), metric))
    result = json.loads(desk.run("convert", "trace.jsonl", "--out", "out", "--json").out)
    assert {"metrics_skipped": 1} == result["input_notes"]
    assert "1: metrics, which hold no part of a run" in desk.run("convert", "trace.jsonl", "--out", "out").out


def test_redelivered_spans_are_counted_once(desk):
    spans = agent_run()
    desk.write("trace.jsonl", lines(request(*spans), request(*spans)))
    result = json.loads(desk.run("convert", "trace.jsonl", "--out", "out", "--json").out)
    assert (4, 4) == (result["spans"], result["duplicates"])
    assert 4 == len(desk.events(desk.cassettes()[0]))


def test_spans_that_cannot_be_read_are_left_out_and_named(desk):
    spans = agent_run()
    spans[3] = {**spans[3], "traceId": "xyz"}
    desk.write("trace.jsonl", lines(request(*spans)))
    done = desk.run("convert", "trace.jsonl", "--out", "out", "--json")
    result = json.loads(done.out)
    assert (3, 1) == (result["spans"], result["rejected_total"])
    assert "trace.jsonl" in result["rejected"][0]["where"]
    assert "xyz" not in done.said


def test_log_records_without_a_trace_are_counted_as_not_placed(desk):
    loose = {"timeUnixNano": "1790000000000000000", "body": {"stringValue": "started"}}
    desk.write("trace.jsonl", lines(request(*agent_run()), log_request(loose)))
    result = json.loads(desk.run("convert", "trace.jsonl", "--out", "out", "--json").out)
    assert 1 == result["unplaced_logs"]
    assert 1 == len(result["runs"])


def test_the_same_input_again_leaves_the_cassette_alone(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    (cassette,) = desk.convert("trace.jsonl")
    before, changed = cassette.read_bytes(), cassette.stat().st_mtime_ns
    done = desk.run("convert", "trace.jsonl", "--out", "out")
    assert "not written again" in done.out
    assert (before, changed) == (cassette.read_bytes(), cassette.stat().st_mtime_ns)
    assert [cassette] == files_under(desk.folder / "out")


def test_other_content_of_the_same_run_makes_a_revision_and_keeps_the_one_before(desk):
    spans = agent_run()
    desk.write("early.jsonl", lines(request(*spans[:3])))
    desk.write("late.jsonl", lines(request(*spans)))
    (first,) = desk.convert("early.jsonl")
    before = first.read_bytes()
    done = desk.run("convert", "late.jsonl", "--out", "out")
    (second,) = desk.cassettes()
    assert [second.name] == visible(desk.folder / "out")
    assert second.name.endswith(".r2.cassette.jsonl")
    assert f".otelreplay/superseded/{first.name}" in done.out
    assert before == (desk.folder / "out" / ".otelreplay" / "superseded" / first.name).read_bytes()
    root = json.loads(before.splitlines()[-1])["root"]
    assert root == desk.report(second)["parent"]["root"]
    desk.run("verify", second)
    desk.run("convert", "late.jsonl", "--out", "out")
    assert [second] == desk.cassettes()


def test_an_earlier_state_after_a_later_one_is_a_revision_too(desk):
    spans = agent_run()
    for n, part in enumerate((spans[:3], spans, spans[:3])):
        desk.write(f"{n}.jsonl", lines(request(*part)))
        desk.run("convert", f"{n}.jsonl", "--out", "out")
    (last,) = desk.cassettes()
    assert last.name.endswith(".r3.cassette.jsonl")
    assert 3 == len(files_under(desk.folder / "out"))


def test_retention_stands_in_the_cassette(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    (cassette,) = desk.convert("trace.jsonl", purpose="incident 17", expires="90d", classification="internal")
    held = json.loads(cassette.read_text().splitlines()[0])["retention"]
    assert ("incident 17", "internal") == (held["purpose"], held["classification"])
    assert held["expires"] == desk.report(cassette)["expires"]


@pytest.mark.parametrize("when", ["soon", "2001-01-01", "-3d", "99999999999999d", "d"])
def test_a_time_that_is_none_or_past_is_refused_before_anything_is_written(when, desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    done = desk.run("convert", "trace.jsonl", "--out", "out", f"--expires={when}", expect=2)
    assert "--expires" in done.err
    assert not (desk.folder / "out").exists()


def test_the_folder_is_made_with_its_parents(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    assert 1 == len(desk.convert("trace.jsonl", out="a/b/c"))


def test_nothing_is_left_in_the_temporary_folder(desk):
    (desk.folder / "tmp").mkdir()
    desk.environment["TMPDIR"] = str(desk.folder / "tmp")
    desk.write("trace.jsonl", lines(request(*agent_run())))
    desk.convert("trace.jsonl")
    assert [] == list((desk.folder / "tmp").iterdir())


def test_the_summary_names_cassettes_and_verdicts(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    done = desk.run("convert", "trace.jsonl", "--out", "out")
    (cassette,) = desk.cassettes()
    assert f"{cassette.name}\n  full, 4 events from 4 spans\n1 run from 4 spans and 0 log records\n" == done.out
    assert "" == done.err


def test_a_model_call_of_its_own_trace_is_a_run(desk):
    one = chat(OTHER, "00000000000000c1", parent="", start=0, messages=[said("user", "hi")], reply=said("assistant", "hello"))
    desk.write("trace.jsonl", lines(request(one)))
    (cassette,) = desk.convert("trace.jsonl")
    assert ["model"] == [e["kind"] for e in desk.events(cassette)]


def test_no_progress_bar_where_nobody_watches(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    assert "" == desk.run("convert", "trace.jsonl", "--out", "out").err


def test_the_cassettes_do_not_depend_on_the_locale(desk):
    desk.environment |= {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    desk.write("trace.jsonl", lines(request(*agent_run(question="Où est la commande ?"))))
    desk.run("convert", "trace.jsonl", "--out", "out", fresh=True)
    (cassette,) = desk.cassettes()
    assert "Où est" in json.dumps(desk.events(cassette), ensure_ascii=False)
    assert "O\\xf9 est" in desk.run("show", cassette, "--event", "1", fresh=True).out


def test_a_run_of_an_input_that_was_refused_in_part_is_in_doubt(desk):
    spans = agent_run()
    spans[-1]["spanId"] = "no id"
    desk.write("trace.jsonl", lines(request(*spans)))
    (cassette,) = desk.convert("trace.jsonl")
    assert "input_refused" in [note["code"] for note in desk.report(cassette)["notes"]]


def noted(desk):
    """Trace id → does its run carry the note?"""
    return {
        found["trace_ids"][0]: "input_refused" in [note["code"] for note in found["notes"]]
        for found in map(desk.report, desk.cassettes())
    }


@pytest.mark.parametrize("form", ["lines", "slow", "deep"])
def test_only_the_run_of_which_something_was_refused_is_in_doubt(form, desk):
    """Where the trace id of what was refused can be read; also from a record that cannot be decoded."""
    spans = agent_run()
    spans[-1]["startTimeUnixNano"] = "when?"
    text = lines(request(*spans, *agent_run(OTHER)))
    if form == "deep":
        text = text.replace('"when?"', "[" * 5000 + "]" * 5000)
    desk.write("trace.jsonl", text.replace('"kind"', '"kind_"') if form == "slow" else text)
    done = desk.run("convert", "trace.jsonl", "--out", "out", "--json")
    (refused,) = json.loads(done.out)["rejected"]
    assert (TRACE, spans[-1]["spanId"]) == (refused["trace_id"], refused["span_id"])
    assert {TRACE: True, OTHER: False} == noted(desk)


def test_what_is_refused_of_a_trace_that_nothing_is_left_of_may_belong_to_any_run(desk):
    lost = span("ab" * 16, "cd" * 8, "chat", startTimeUnixNano="when?")
    desk.write("trace.jsonl", lines(request(lost, *agent_run(), *agent_run(OTHER))))
    desk.run("convert", "trace.jsonl", "--out", "out")
    assert {TRACE: True, OTHER: True} == noted(desk)


def test_a_pipe_with_a_name_is_read_once(desk):
    os.mkfifo(desk.folder / "pipe")
    whole = lines(request(*agent_run()))
    writer = threading.Thread(target=(desk.folder / "pipe").write_text, args=(whole,), daemon=True)
    writer.start()
    done = desk.run("convert", "pipe", "--out", "out")
    writer.join(10)
    assert (0, 1) == (done.code, len(desk.cassettes()))


def test_a_cassette_of_an_unknown_signer_is_read_with_a_warning(desk):
    desk.write("trace.jsonl", lines(request(*agent_run())))
    desk.run("convert", "trace.jsonl", "--out", "out")
    (cassette,) = desk.cassettes()
    assert "" == desk.run("show", str(cassette)).err
    desk.environment["OTELREPLAY_KEYS"] = str(desk.folder / "other keys")
    for command in ("show", "events", "report"):
        done = desk.run(command, str(cassette))
        assert (0, True) == (done.code, "who is not in the trust store" in done.err)


KILLED = """
import os, sys
def kill(number):
    os.kill(os.getpid(), 9)
os.fsync = kill
sys.argv[0] = "otelreplay"
from otelreplay.cli.main import main
main()
"""


def test_what_a_killed_convert_leaves_is_gone_after_the_next_one(desk):
    """Killed when the first cassette is written but not yet safe on disk."""
    desk.write("trace.jsonl", lines(request(*agent_run())))
    desk.convert("trace.jsonl", out="keys are made")
    command = [sys.executable, "-c", KILLED, "convert", "trace.jsonl", "--out", "out"]
    killed = subprocess.run(command, cwd=desk.folder, env=desk.env(), check=False, capture_output=True)
    assert -9 == killed.returncode
    (left,) = files_under(desk.folder / "out")
    assert left.name.startswith(".")
    assert desk.convert("trace.jsonl") == files_under(desk.folder / "out")
