"""The commands that read cassettes, from the outside."""

import json
import subprocess

import pytest
import zstandard

from tests.cli.traces import agent_run, lines, request

OTHER = "1bf7651916cd43dd8448eb211c80319d"
RUN = "d544a6dc89b99b4e55a914408cd05b4c"

SHOW = f"""\
run      {RUN}
from     3 spans, 0 log records: tests.instrumentation 1.0
policy   default
sealed   by SIGNER
held     2 model calls, 1 tool call, 1 agent event, 200 ms
verdict  full

seq  event                 start    took  tokens  marks
  0  agent  order-desk      0 ms  200 ms          1 redacted
  1  ├ model  gpt-4o-mini   5 ms   40 ms  25 > 7  1 redacted
  2  ├ tool  lookup_order      -       -          3 inferred
  3  └ model  gpt-4o-mini  90 ms   40 ms  25 > 7  1 redacted

inferred: read from another span; `show --event SEQ` says which
redacted: replaced or removed by the policy
"""


@pytest.fixture
def cassette(desk):
    """A run whose tool span was lost, and in which somebody named an address."""
    spans = agent_run(question="Where is order A-17? I am jane.doe@example.org")
    desk.write("trace.jsonl", lines(request(spans[0], spans[1], spans[3])))
    return desk.convert("trace.jsonl")[0]


def test_show_draws_the_timeline(desk, cassette):
    signer = json.loads(desk.run("keys", "list", "--json").out)["signing"]
    assert SHOW == desk.run("show", cassette).out.replace(signer, "SIGNER")


def test_show_as_json_has_the_same_events(desk, cassette):
    shown = json.loads(desk.run("show", cassette, "--json").out)
    assert (RUN, 4) == (shown["run_id"], len(shown["events"]))
    assert [None, 0, 0, 0] == [e["parent"] for e in shown["events"]]


def test_show_of_one_event_says_where_an_inferred_value_is_from(desk, cassette):
    shown = desk.run("show", cassette, "--event", "2").out
    assert shown.startswith("event 2  tool  lookup_order\n")
    assert 'order: "A-17"' in shown
    assert "0af7651916cd43dd8448eb211c80319c/00000000000000a4:" in shown.split("\ninferred\n")[1]


def test_show_of_one_event_as_json_is_the_line_of_events(desk, cassette):
    line = desk.run("events", cassette, "--json").out.splitlines(keepends=True)[2]
    assert line == desk.run("show", cassette, "--event", "2", "--json").out


def test_events_in_text_are_all_of_them_in_full(desk, cassette):
    shown = desk.run("events", cassette).out
    assert [f"event {n}" for n in range(4)] == [line[:7] for line in shown.splitlines() if line.startswith("event ")]


def test_events_of_one_kind(desk, cassette):
    kinds = [json.loads(line)["kind"] for line in desk.run("events", cassette, "--json", "--kind", "model").out.splitlines()]
    assert ["model", "model"] == kinds
    assert "" == desk.run("events", cassette, "--json", "--kind", "clock").out


def test_the_report_names_gap_cause_and_remedy(desk):
    desk.write("bare.jsonl", lines(request(*agent_run(content=False))))
    (bare,) = desk.convert("bare.jsonl", out="bare")
    shown = desk.run("report", bare).out
    assert shown.startswith("structure_only: ")
    assert "content_not_captured" in shown
    assert "Remedy: " in shown
    report = json.loads(desk.run("report", bare, "--json").out)
    assert [] == report["missing"]
    assert {"request.messages", "response.messages"} <= {gap["field"] for gap in report["gaps"] if gap["kind"] == "model"}


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_complete_cassette_may_be_required(extra, desk, cassette):
    desk.write("whole.jsonl", lines(request(*agent_run())))
    (whole,) = desk.convert("whole.jsonl", out="whole")
    assert desk.run("report", whole, "--require-complete", *extra).out
    spans = agent_run(content=False)
    desk.write("bare.jsonl", lines(request(*spans)))
    (bare,) = desk.convert("bare.jsonl", out="bare")
    assert desk.run("report", bare, "--require-complete", *extra, expect=3).out


def test_a_cassette_may_come_from_standard_input_and_be_compressed(desk, cassette):
    data = cassette.read_bytes()
    assert desk.run("show", cassette).out == desk.run("show", "-", stdin=data).out
    assert desk.run("show", cassette).out == desk.run("show", "-", stdin=zstandard.compress(data)).out


# --- list -----------------------------------------------------------------------------------------------------------------


def test_list_shows_every_cassette_at_any_depth_and_nothing_hidden(desk, cassette):
    desk.write("more.jsonl", lines(request(*agent_run(OTHER))))
    desk.convert("more.jsonl", out="out/deeper")
    desk.convert("more.jsonl", out="out/.hidden")
    rows = [json.loads(line) for line in desk.run("list", "out", "--json").out.splitlines()]
    assert [cassette.name, "deeper/"] == [rows[0]["cassette"], rows[1]["cassette"][:7]]
    assert "full" == rows[1]["verdict"]
    assert 4 == rows[0]["events"]
    assert cassette.name in desk.run("list", "out").out


def test_list_names_what_cannot_be_read_and_goes_on(desk, cassette):
    desk.write("out/0.cassette.jsonl", b"hello\n")
    done = desk.run("list", "out", expect=6)
    assert "cannot be read: this is not a cassette" in done.out
    assert cassette.name in done.out
    assert "problem" in json.loads(desk.run("list", "out", "--json", expect=6).out.splitlines()[0])


def test_list_ends_with_5_where_a_cassette_is_not_what_its_seal_says(desk, cassette):
    """Also beside a file that is no cassette at all. One that has only expired is no failure."""
    desk.convert("trace.jsonl", out="new", expires="1h")
    desk.run("list", "new")
    desk.write("out/0.cassette.jsonl", b"hello\n")
    cassette.write_bytes(cassette.read_bytes().replace(b"shipped", b"skipped"))
    assert 2 == desk.run("list", "out", expect=5).out.count("cannot be read: ")
    (desk.folder / "cut").mkdir()
    desk.write("cut/1.cassette.jsonl", cassette.read_bytes()[:3000])
    assert "cannot be read: " in desk.run("list", "cut", expect=5).out


def test_list_of_an_empty_folder_says_so(desk):
    assert "no cassettes here\n" == desk.run("list").out
    assert "" == desk.run("list", "--json").out


def test_list_of_no_folder_ends_with_6(desk):
    assert "nowhere" in desk.run("list", "nowhere", expect=6).err


# --- text that was recorded is data -----------------------------------------------------------------------------------------


@pytest.fixture
def hostile(desk):
    evil = "\x1b]0;owned\x07\x1b[2J\u202e[bold]<b>\r\x9b1m"
    spans = agent_run(question=evil, result={evil: evil})
    spans[2]["attributes"] = [
        a if a["key"] != "gen_ai.tool.name" else {"key": "gen_ai.tool.name", "value": {"stringValue": evil}}
        for a in spans[2]["attributes"]
    ]
    desk.write("trace.jsonl", lines(request(*spans, scope={"name": evil, "version": "1"})))
    return desk.convert("trace.jsonl")[0]


@pytest.mark.parametrize("command", [["show"], ["show", "--event", "2"], ["events"], ["report"], ["verify"]])
def test_recorded_text_cannot_steer_the_terminal(command, desk, hostile):
    out = desk.run(command[0], hostile, *command[1:]).out
    assert {"\x1b", "\x07", "\u202e", "\r", "\x9b"}.isdisjoint(out)


def test_recorded_markup_is_shown_as_it_is(desk, hostile):
    assert "[bold]<b>" in desk.run("show", hostile, "--event", "1").out


# --- output ---------------------------------------------------------------------------------------------------------------


def test_a_reader_that_stops_early_ends_the_command_quietly(desk):
    desk.write("trace.jsonl", lines(request(*agent_run(question="word " * 100_000))))
    (cassette,) = desk.convert("trace.jsonl")
    process = subprocess.Popen(
        desk.command("events", cassette, "--json"), env=desk.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert (141, b"") == (process.wait(), err)


def test_a_narrow_terminal_gets_narrow_lines(desk, cassette):
    desk.environment["COLUMNS"] = "60"
    timeline = desk.run("show", cassette).out.split("\n\n")[1]
    assert max(map(len, timeline.splitlines())) <= 60


def test_schema_is_json_and_fits_the_events(desk, cassette):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(desk.run("schema").out)
    for event in desk.events(cassette):
        jsonschema.validate(event, schema)


# --- keys and policies ------------------------------------------------------------------------------------------------------


def test_keys_are_listed_exported_rotated_and_trusted(desk):
    first = json.loads(desk.run("keys", "list", "--json").out)
    public = desk.run("keys", "export").out
    assert public.startswith("otelreplay-public-key-1 ")
    desk.run("keys", "rotate")
    second = json.loads(desk.run("keys", "list", "--json").out)
    assert first["signing"] != second["signing"]
    assert first["signing"] in second["trusted"]
    assert second["signing"] in desk.run("keys", "list").out
    assert first["signing"] in desk.run("keys", "trust", "-", stdin=public.encode()).out


def test_a_new_epoch_gives_new_pseudonyms(desk, cassette):
    before = desk.events(cassette)[1]["request"]["messages"]
    assert "epoch 2" in desk.run("keys", "rotate", "--pseudonyms").out
    (after,) = desk.convert("trace.jsonl", out="again")
    assert before != desk.events(after)[1]["request"]["messages"]


def test_no_command_prints_a_secret_key(desk, cassette):
    secrets = [p.read_bytes().strip() for p in (desk.folder / "keys").rglob("*.key")]
    assert len(secrets) >= 2
    said = "".join(desk.run("keys", *c).said for c in (["list"], ["list", "--json"], ["export"], ["rotate"]))
    assert [] == [s for s in secrets if s.decode() in said or s.decode() in cassette.read_text()]


@pytest.mark.parametrize("text", ["hello", "", "otelreplay-public-key-1 AAAA"])
def test_a_key_that_is_none_is_refused(text, desk):
    assert "keyring.not_a_public_key" in desk.run("keys", "trust", "-", stdin=text.encode(), expect=2).err


def test_the_default_policy_can_be_shown_checked_and_used_as_a_file(desk, cassette):
    shown = desk.run("policy", "show").out
    desk.write("mine.yaml", shown)
    assert desk.run("policy", "check", "mine.yaml").out.startswith("the policy can be used\n")
    digests = {json.loads(desk.run("policy", "check", name, "--json").out)["digest"] for name in ("mine.yaml", "default")}
    assert 1 == len(digests)
    desk.run("convert", "trace.jsonl", "--out", "mine", "--policy", "mine.yaml")
    assert desk.events(cassette) == desk.events(desk.cassettes("mine")[0])


def test_a_rule_that_would_not_hold_at_replay_is_refused_by_check(desk):
    desk.write("p.yaml", "version: 1\nname: p\nrules:\n  - {id: a, attribute: some.odd.name, action: mask}\n")
    done = desk.run("policy", "check", "p.yaml", expect=2)
    assert done.out.startswith("the policy CANNOT be relied on")
    assert "rule a" in done.out


def test_a_registered_secret_is_neither_stored_nor_shown(desk):
    desk.environment["DESK_TOKEN"] = "correct-horse-battery"
    desk.write("p.yaml", "version: 1\nname: p\nrules:\n  - {id: tok, secret: env:DESK_TOKEN, action: mask}\n")
    desk.write("trace.jsonl", lines(request(*agent_run(question="the word is correct-horse-battery"))))
    desk.run("convert", "trace.jsonl", "--out", "out", "--policy", "p.yaml")
    (cassette,) = desk.cassettes()
    assert "correct-horse" not in cassette.read_text()
    assert "[REDACTED:tok]" in cassette.read_text()


def test_a_secret_whose_variable_is_not_set_stops_the_conversion(desk):
    desk.write("p.yaml", "version: 1\nname: p\nrules:\n  - {id: tok, secret: env:NOT_SET_HERE, action: mask}\n")
    desk.write("trace.jsonl", lines(request(*agent_run())))
    assert "NOT_SET_HERE" in desk.run("convert", "trace.jsonl", "--out", "out", "--policy", "p.yaml", expect=2).err
    assert not (desk.folder / "out").exists()
