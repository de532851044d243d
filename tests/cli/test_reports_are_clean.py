"""I1, second half: whatever a cassette holds, what is printed about it passes its policy and the default policy."""

import json

import pytest

from tests.cli.test_secrets import CARD, KEY, MAIL, leaks, poisoned
from tests.cli.traces import agent_run, lines, request

READING = (
    ["show"],
    ["show", "--json"],
    ["events"],
    ["report"],
    ["report", "--json"],
    ["verify"],
    ["verify", "--json"],
)


def reports(desk, cassette):
    """What every command but ``events --json`` says of a cassette."""
    said = "".join(desk.run(command[0], cassette, *command[1:]).said for command in READING)
    for seq in range(len(desk.events(cassette))):
        said += desk.run("show", cassette, "--event", seq).said + desk.run("show", cassette, "--event", seq, "--json").said
    return said + desk.run("list", cassette.parent).said + desk.run("list", cassette.parent, "--json").said


def test_what_was_converted_without_a_policy_is_reported_under_the_default_one(desk):
    desk.write("trace.jsonl", poisoned())
    said = desk.run("convert", "trace.jsonl", "--out", "out", "--policy", "off").said
    (cassette,) = desk.cassettes()
    assert [KEY, MAIL, CARD] == leaks(json.dumps(desk.events(cassette)).encode()), "events --json is the content itself"
    said += reports(desk, cassette)
    assert [] == leaks(said.encode())
    assert "[REDACTED:" in said


def test_reading_a_report_makes_no_key_of_pseudonyms(desk):
    desk.write("trace.jsonl", poisoned())
    desk.convert("trace.jsonl", policy="off")
    (cassette,) = desk.cassettes()
    desk.environment["OTELREPLAY_KEYS"] = str(desk.folder / "none")
    desk.run("show", cassette, "--event", 0)
    assert {"signing", "trusted"} >= {path.name for path in (desk.folder / "none").iterdir()}


def test_a_report_passes_the_policy_of_its_cassette_too(desk):
    """Here one of a later stage: the header names a rule that the events were not made under."""
    desk.write("p.yaml", "version: 1\nname: p\nrules:\n  - {id: order, path: request.arguments.order, action: pseudonym}\n")
    desk.write("trace.jsonl", lines(request(*agent_run(extra={"app.note": MAIL}))))
    (cassette,) = desk.convert("trace.jsonl", policy="p.yaml")
    shown = desk.run("show", cassette, "--event", 2).out
    assert "A-17" not in shown
    assert "[order#" in shown, "the pseudonym that stands there stays"
    assert MAIL in json.dumps(desk.events(cassette))
    assert MAIL not in reports(desk, cassette)


def test_what_needs_no_redaction_is_reported_as_it_is(desk):
    """Redacting a report changes nothing where the cassette was redacted already."""
    desk.write("trace.jsonl", poisoned())
    (cassette,) = desk.convert("trace.jsonl")
    for event in desk.events(cassette):
        assert event == json.loads(desk.run("show", cassette, "--event", event["seq"], "--json").out)
    desk.write("plain.jsonl", lines(request(*agent_run(content=False))))
    (plain,) = desk.convert("plain.jsonl", out="plain", policy="off")
    assert "[REDACTED" not in reports(desk, plain)


@pytest.mark.parametrize("command", ["show", "convert", "verify"])
def test_the_name_of_a_file_in_an_error_is_clean(command, desk):
    more = ["--out", "out"] if command == "convert" else []
    done = desk.run(command, f"{KEY}.jsonl", *more, expect=6)
    assert [] == leaks(done.said.encode())
    assert "input.not_found" in done.err


def test_the_name_of_a_file_in_a_list_of_refusals_is_clean(desk):
    desk.write(f"{MAIL}.jsonl", lines(request(*agent_run())) + '{"resourceSpans": [\n')
    for more in ([], ["--json"]):
        done = desk.run("convert", f"{MAIL}.jsonl", "--out", "out", "--policy", "off", *more)
        assert "line 2" in done.out
        assert [] == leaks(done.said.encode())


def test_a_secret_in_the_name_of_an_input_file_is_in_no_cassette(desk):
    desk.write("export-password=Juniper310.jsonl", lines(request(*agent_run())))
    (cassette,) = desk.convert("export-password=Juniper310.jsonl")
    assert b"Juniper" not in cassette.read_bytes()
    assert ["export-password=[REDACTED:secret].jsonl"] == desk.report(cassette)["source"]["files"]


def test_names_and_notes_are_cleaned_where_a_timeline_prints_them(desk):
    """A tool that is called as an address is; a file name in a note."""
    spans = agent_run()
    for attribute in spans[2]["attributes"]:
        if attribute["key"] == "gen_ai.tool.name":
            attribute["value"]["stringValue"] = MAIL
    desk.write("trace.jsonl", lines(request(*spans)))
    (cassette,) = desk.convert("trace.jsonl", policy="off")
    assert MAIL in [event["name"] for event in desk.events(cassette)]
    for command in (["show"], ["show", "--json"], ["report"], ["report", "--json"]):
        assert MAIL not in desk.run(command[0], cassette, *command[1:]).said
