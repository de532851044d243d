"""``fork`` from the outside: a draft, its first replay, what came of it."""

import json

import pytest


def fork(desk, *sets, at=1, reason="what if it had been found", cassette="desk.cassette.jsonl", expect=0, more=()):
    words = [word for one in sets for word in ("--set", one)]
    done = desk.run("fork", cassette, "--at", at, *words, "--reason", reason, "--json", *more, expect=expect)
    return json.loads(done.out)["fork"] if expect == 0 else done.err


def replay(desk, file, *, agent="agent:desk", expect=0):
    done = desk.run("replay", file, "--agent", agent, "--report", "report.json", expect=expect)
    return json.loads((desk.folder / "report.json").read_bytes()), done


def test_the_program_is_given_what_the_fork_holds_and_the_draft_is_sealed_with_what_it_did(desk):
    file = fork(desk, "response.result.state=found")
    assert desk.run("verify", file, expect=5).out.count("no seal") == 1
    assert "draft of a fork" in desk.run("show", file).out
    report, done = replay(desk, file, expect=1)
    told = report["first_divergence"]
    assert (told["seq"], told["cause"], told["code"]) == (2, "tool result", "replay.request_changed")
    assert "found" in told["received"]
    assert "lost" in told["expected"]
    assert report["origins"] == {"fork": 1}
    desk.run("verify", file)
    shown = json.loads(desk.run("show", file, "--json").out)["lineage"]
    assert shown["parent"]["reason"] == "what if it had been found"
    assert shown["parent"]["edits"] == [{"seq": 1, "field": "response.result.state"}]
    assert shown["observed"]["first_divergence"]["seq"] == 2
    assert "sealed in" in done.err
    assert "set by hand: event 1 response.result.state" in desk.run("list").out


def test_a_later_replay_makes_a_child_and_leaves_the_fork(desk):
    file = fork(desk, "response.result.state=found")
    replay(desk, file, expect=1)
    before = (desk.folder / file).read_bytes()
    _, done = replay(desk, file, expect=1)
    assert (desk.folder / file).read_bytes() == before
    (child,) = {p.name for p in desk.folder.glob("*.cassette.jsonl")} - {file} - {
        f"{n}.cassette.jsonl" for n in ("desk", "talk", "count", "fail", "serve", "gap", "dark")
    }  # fmt: skip
    desk.run("verify", child)
    lineage = json.loads(desk.run("show", child, "--json").out)["lineage"]
    assert lineage["parent"]["run_id"] == file.partition(".")[0]
    assert child in done.err
    count = len(list(desk.folder.glob("*.cassette.jsonl")))
    replay(desk, file, expect=1)
    assert len(list(desk.folder.glob("*.cassette.jsonl"))) == count


def test_another_reply_changes_what_the_agent_says(desk):
    """One text stands for the reply as message and as result."""
    file = fork(desk, 'response.messages[0].parts[0].content="keep it"', at=2)
    report, done = replay(desk, file, expect=1)
    assert "answer: keep it" in done.out
    assert report["first_divergence"]["path"] == "response.output"


def test_a_gap_is_filled_and_the_report_says_fork(desk):
    replay(desk, "gap.cassette.jsonl", expect=3)
    file = fork(desk, 'response.result={"order": "A1", "state": "lost"}', cassette="gap.cassette.jsonl")
    report, _ = replay(desk, file, expect=0)
    assert report["origins"]["fork"] == 1
    assert any("fork" in a["reason"] for a in report["assumed"])
    assert json.loads(desk.run("report", file, "--json").out)["gaps"] == []


def test_a_failure_can_be_put_in(desk):
    file = fork(desk, 'error={"type": "TimeoutError", "message": "late"}')
    report, done = replay(desk, file, expect=1)
    assert "TimeoutError" in done.err
    assert report["first_divergence"] is not None


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("seq=4", "fork.field"),
        ("missing=[]", "fork.field"),
        ("response.result.state.deeper=1", "fork.field"),
        ("response.messages=hello", "fork.type"),
        ("response=7", "fork.type"),
        ("error.type=[1]", "fork.type"),
        ("response", "fork.set"),
        ("..=1", "field.syntax"),
    ],
)
def test_what_cannot_be_set_is_refused(desk, word, code):
    assert f"[{code}]" in fork(desk, word, expect=2)
    assert f"[{'cassette.no_such_event'}]" in fork(desk, "response.result=1", at=99, expect=2)


def test_what_is_put_in_passes_the_policy(desk):
    file = fork(desk, 'response.result={"mail": "ann@example.com", "state": "lost"}')
    assert b"ann@example.com" not in (desk.folder / file).read_bytes()
    replay(desk, file, expect=1)
    assert b"ann@example.com" not in (desk.folder / file).read_bytes()


def test_a_draft_is_no_cassette_to_fork_and_an_altered_one_is_refused(desk):
    file = fork(desk, "response.result.state=found")
    assert "[fork.unsealed]" in fork(desk, "response.result.state=lost", cassette=file, expect=2)
    data = (desk.folder / "desk.cassette.jsonl").read_bytes()
    desk.write("altered.cassette.jsonl", data.replace(b'"lookup"', b'"loopup"', 1))
    assert "cassette.altered" in fork(desk, "response.result=1", cassette="altered.cassette.jsonl", expect=5)


def test_a_fork_goes_where_it_is_told_to(desk):
    file = fork(desk, "response.result.state=found", more=("--out", "forks"))
    assert file.startswith("forks/")
    assert oct((desk.folder / file).stat().st_mode & 0o777) == "0o600"
    assert json.loads(desk.run("diff", "desk.cassette.jsonl", file, "--json", expect=1).out)["first_divergence"][
        "path"
    ].startswith("response.result.state")
