"""``diff`` from the outside: two cassettes, files as a user has them."""

import json
import shutil

import pytest


def diff(desk, one, other, *more, expect=0):
    return json.loads(desk.run("diff", one, other, "--json", *more, expect=expect).out)


def test_a_cassette_equals_itself(desk):
    found = diff(desk, "desk.cassette.jsonl", "desk.cassette.jsonl")
    assert (found["outcome"], found["exit_code"], found["counts"]["equal"]) == ("equal", 0, 4)
    assert "equal: 4 events equal" in desk.run("diff", "desk.cassette.jsonl", "desk.cassette.jsonl").out


def test_the_same_trace_redacted_under_two_keys_is_equal(desk, recordings):
    """And under no policy at all: each side passes the policy of the other."""
    shutil.copy(recordings / "desk.pb", desk.folder)
    (one,) = desk.convert("desk.pb", out="one")
    desk.environment["OTELREPLAY_KEYS"] = str(desk.folder / "others")
    (other,) = desk.convert("desk.pb", out="other")
    (bare,) = desk.convert("desk.pb", out="bare", policy="off")
    assert b"@email.invalid" in one.read_bytes() or b"[email#" in one.read_bytes()
    assert one.read_bytes().split(b"\n")[1] != other.read_bytes().split(b"\n")[1]
    for second in (other, bare):
        assert diff(desk, one, second)["outcome"] == "equal"
    said = desk.run("diff", bare, one)
    assert "jo@example.com" not in said.out + said.err


def test_two_runs_that_differ_end_with_1_and_show_both(desk):
    found = diff(desk, "desk.cassette.jsonl", "talk.cassette.jsonl", expect=1)
    assert found["first_divergence"]["code"].startswith("replay.")
    assert {row["state"] for row in found["timeline"]} & {"added", "removed"}
    shown = desk.run("diff", "desk.cassette.jsonl", "talk.cassette.jsonl", expect=1).out
    assert "First difference" in shown
    assert "only in the first" in shown


@pytest.mark.parametrize("text", ["", "{}\n", '{"type":"header"}\n'])
def test_a_file_that_is_no_cassette_is_not_compared(desk, text):
    desk.write("bad.jsonl", text)
    desk.run("diff", "desk.cassette.jsonl", "bad.jsonl", expect=6)
    desk.run("diff", "bad.jsonl", "desk.cassette.jsonl", expect=6)


def test_an_altered_cassette_is_not_compared(desk):
    data = (desk.folder / "desk.cassette.jsonl").read_bytes()
    desk.write("altered.jsonl", data.replace(b'"lookup"', b'"loopup"', 1))
    desk.run("diff", "altered.jsonl", "altered.jsonl", expect=5)
