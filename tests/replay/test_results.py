"""The verdict: exit codes, what is listed, and that nothing is green which was not exercised."""

import json

import pytest

from otelreplay.boundary import Call, ReplayStopped
from otelreplay.events import Event, Missing
from otelreplay.redaction import default_policy
from otelreplay.replay import KINDS, Blocked, Diverged, Divergence, Live, Reader, Unordered, live_of
from otelreplay.replay.divergence import clip, plain, shown
from otelreplay.spans import Scope
from tests.replay.builders import (
    OTHER_KEY,
    Player,
    Tape,
    call,
    cassette_of,
    compile_policy,
    desk,
    off_policy,
    play,
    policy,
    record,
    run_of,
    text,
)

OTHER = Scope(name="openai-agents", version="1")


def test_as_recorded_is_exit_0_with_everything_counted():
    done = play(Player(record(desk(2))), desk(2))
    assert (done.outcome, done.exit_code, done.served, done.unused, done.calls) == ("as_recorded", 0, 5, 0, 6)
    assert done.origins == {"cassette": 5}


def test_nothing_served_is_never_green():
    done = Player(record(desk(1))).result()
    assert (done.exit_code, done.first_divergence.kind, done.unused) == (1, "events_unused", 4)


def test_an_empty_cassette_is_never_green():
    for events in ((), (Event(seq=0, id="t/1", kind="context", name="x"),)):
        done = Player(cassette_of(run_of(events))).result()
        assert (done.exit_code, done.first_divergence.kind) == (1, "events_unused")
        assert "nothing" in done.first_divergence.detail


def test_another_runs_cassette_is_never_green():
    tape = Tape()
    tape.agent("somebody", input={"q": "orders"}, output="done")
    done = play(Player(tape.cassette()), desk(1))
    assert (done.exit_code, done.first_divergence.kind, done.served) == (1, "unexpected_call", 0)
    foreign = record([("tool", "other", {"arguments": {}}, 1)])
    assert play(Player(foreign), desk(1)).exit_code == 1  # a decorated run without a model call is known to have none


def test_a_program_that_failed_otherwise_is_exit_1_without_a_divergence():
    player = Player(record(desk(1)))
    play(player, desk(1))
    done = player.result(child_exit=9)
    assert (done.outcome, done.exit_code, done.first_divergence, done.child_exit) == ("failed", 1, None, 9)
    assert player.result(child_exit=0).exit_code == 0


def test_exit_codes_have_an_order():
    player = Player(record(desk(1)))
    play(player, desk(1))
    assert player.result(integrity=False).exit_code == 5
    player.session.blocked(Blocked(what="connect", target="203.0.113.9:443", where="agent.py:4", stack=("a", "b"), pid=7))
    done = player.result(integrity=False, child_exit=1)
    assert (done.exit_code, done.outcome) == (5, "integrity")
    done = player.result(child_exit=1)
    assert (done.exit_code, done.outcome, done.first_divergence.kind) == (4, "live_call_blocked", "live_call_blocked")
    assert done.as_json()["blocked"][0]["stack"] == ["a", "b"]
    assert "203.0.113.9" in "\n".join(done.lines())


def test_a_blocked_call_counts_also_after_a_divergence_and_the_divergence_stays_first():
    player = Player(record(desk(1)))
    play(player, [("tool", "nobody", {"arguments": {}}, None)])
    player.session.blocked(Blocked(what="spawn"))
    done = player.result()
    assert (done.exit_code, done.first_divergence.kind) == (4, "unexpected_call")


def test_many_blocked_calls_and_divergences_are_counted_and_not_kept():
    player = Player(record(desk(1)))
    for _ in range(150):
        player.session.blocked(Blocked(what="connect"))
    done = player.result()
    assert (len(done.blocked), done.more) == (100, 50)


def test_the_report_is_json_of_the_documented_shape():
    steps = desk(1)
    steps[0] = ("model", "m", steps[0][2] | {"params": {"temperature": 0.7}}, None)
    done = play(Player(record(desk(1)), command="otelreplay replay C --agent a:b"), steps)
    said = json.loads(json.dumps(done.as_json()))
    assert {
        "outcome",
        "guard",
        "child_exit",
        "served",
        "unused",
        "blocked",
        "first_divergence",
        "assumed",
        "normalised",
        "unchecked",
    } <= said.keys()
    first = said["first_divergence"]
    shape = "code", "kind", "seq", "boundary", "operation", "path", "expected", "received", "last_agreed", "cause"
    assert {k: first[k] for k in shape} == {
        "code": "replay.request_changed", "kind": "request_changed", "seq": 1, "boundary": "model", "operation": "m",
        "path": "request.params.temperature", "expected": 0.5, "received": 0.7, "last_agreed": 0, "cause": "model options",
    }  # fmt: skip
    assert first["reproduce"] == "otelreplay replay C --agent a:b"
    assert first["accept"] == "record the run again"
    assert first["where"] == "agent.py:1"
    assert first["span"].endswith("2")
    assert first["agent"] == "desk"


def test_a_report_holds_no_markup_and_no_shell_of_the_run():
    evil = "\x1b[31m$(rm -rf /)`x`\n\u202e</script>'; \x7f"
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    tape.tool(evil, {"x": "a"}, 1, parent=agent)
    done = play(Player(tape.cassette()), [("tool", evil, {"arguments": {"x": evil}}, None)])
    lines = "\n".join(done.lines())
    assert all(c.isprintable() or c == "\n" for c in lines)
    assert lines.isascii()
    assert len(done.lines()) == 3


def test_received_values_pass_the_policy_before_they_are_shown():
    secret = "sk-" + "proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3"
    rules = default_policy()
    cassette = record([("tool", "t", {"arguments": {"x": "a"}}, 1)], policy=rules)
    changed = [("tool", "t", {"arguments": {"x": f"key {secret} jane.roe@acme-mail.com"}}, 1)]
    done = play(Player(cassette, rules), changed)
    assert done.first_divergence.received == "key [REDACTED:secret] <another email>"
    plain_cassette = record([("tool", "t", {"arguments": {"x": "a"}}, 1)])
    shown_ = play(Player(plain_cassette, show=compile_policy(rules, key=OTHER_KEY)), changed)
    assert secret not in str(shown_.as_json())


def test_writes_of_the_original_run_are_listed_as_not_undone():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    write = {"otelreplay.effect": "write", "otelreplay.idempotency_key": "k-1"}
    tape.tool("ship", {}, "ok", parent=agent, extra=write)
    tape.tool("ship", {"n": 2}, None, parent=agent, extra={"otelreplay.effect": "write"}, error=("TimeoutError",))
    tape.tool("find", {}, "ok", parent=agent, extra={"otelreplay.effect": "read"})
    done = Player(tape.cassette()).result()
    assert [(w["seq"], w["state"], w.get("idempotency_key")) for w in done.writes] == [(1, "done", "k-1"), (2, "failed", None)]
    assert any(line.startswith("not undone:") for line in done.lines())


def test_an_agents_input_and_output_are_compared():
    cassette = record(desk(0), output={"a": [1, 2]})
    player = Player(cassette)
    with pytest.raises(ReplayStopped):
        player.enter(input={"q": "other"})
    assert player.result().first_divergence.path == "request.input.q"
    done = play(Player(cassette), desk(0), output={"a": [1, 3]})
    found = done.first_divergence
    assert (found.kind, found.path, found.cause, done.exit_code) == ("request_changed", "response.output.a[1]", "code", 1)
    assert play(Player(cassette), desk(0), output={"a": [1, 2]}).exit_code == 0


def test_an_agents_output_may_hold_what_was_redacted():
    rules = policy(("mail", "detector: email, action: pseudonym"))
    cassette = record(desk(0), output="to jane.roe@acme-mail.com", policy=rules)
    assert play(Player(cassette, rules), desk(0), output="to jane.roe@acme-mail.com").exit_code == 0
    assert play(Player(cassette, rules), desk(0), output="to you").exit_code == 1


def ended(cassette, **more):
    player = Player(cassette)
    token = player.enter(input={"q": "orders"})
    try:
        player.leave(token, **more)
    except ReplayStopped:
        return player.result().first_divergence
    return player.result()


def test_an_agent_that_fails_as_recorded_agrees_and_one_that_fails_otherwise_does_not():
    tape = Tape()
    tape.agent(input={"q": "orders"}, error=("ValueError",))
    failing = tape.cassette()
    assert ended(failing, error=KeyError("x")).path == "error.type"
    assert ended(failing, error=KeyError("x")).received == "KeyError"
    assert ended(failing, value=1).expected == "ValueError"
    same = Player(failing)
    same.leave(same.enter(input={"q": "orders"}), error=ValueError("x"))
    assert not same.session.diverged
    assert ended(record(desk(0)), error=Diverged(Divergence(kind="missing_call"))).received.endswith("divergence.Diverged")
    stopped = Player(failing)
    stopped.leave(stopped.enter(input={"q": "orders"}), error=ReplayStopped())
    stopped.hook.leave(None)
    assert not stopped.session.diverged


def test_an_output_that_was_not_recorded_is_unchecked():
    for gap in (None, Missing(field="response.output", cause="truncated")):
        cassette = record([("tool", "t", {"arguments": {}}, 1)])
        events = tuple(
            e.model_copy(update={"response": {} if gap is None else e.response, "missing": [gap] if gap else []})
            if e.kind == "agent"
            else e
            for e in cassette.events
        )
        done = play(
            Player(type(cassette)(header=cassette.header, events=events)), [("tool", "t", {"arguments": {}}, 1)], output="x"
        )
        assert done.exit_code == 0
        assert [e["field"] for e in done.unchecked] == ["response.output"]


def test_agents_of_another_package_are_recognised_by_name_and_not_compared():
    tape = Tape()
    agent = tape.agent("desk", scope=OTHER, extra={"otelreplay.kind": ""})
    tape.tool("find", {}, 1, parent=agent)
    player = Player(tape.cassette())
    token = player.enter(input={"q": "anything"})
    assert player.get("tool", "find", parent=token) == 1
    player.leave(token, "whatever")
    done = player.result()
    assert done.exit_code == 0
    assert any(e["field"] == "request.input" for e in done.unchecked)
    with pytest.raises(ReplayStopped):
        player.enter("stranger")


def test_a_recording_without_agents_leaves_the_programs_agent_unchecked():
    tape = Tape()
    tape.tool("find", {}, 1)
    player = Player(tape.cassette())
    token = player.enter(input={"q": "anything"})
    assert player.get("tool", "find", parent=token) == 1
    player.leave(token, "whatever")
    assert player.result().exit_code == 0
    assert [e["reason"] for e in player.result().unchecked] == ["the recording holds no agent"]


def test_every_kind_makes_a_code_and_one_line():
    for kind in KINDS:
        made = Divergence(kind=kind, seq=3, boundary="tool", operation="find")
        assert made.code == f"replay.{kind}"
        assert made.line() == f"seq 3 tool find [replay.{kind}]"
    assert (
        Divergence(kind="request_changed", change="removed", path="a", expected=1).line().startswith(": a is no longer there")
    )


def test_values_in_reports_are_bounded():
    assert clip("x" * 300).endswith("(300 characters)")
    assert clip(["x" * 300]).endswith("characters)")
    assert clip({"a": b"x"}) == {"a": "b'x'"}
    assert clip(float("nan")) == "nan"
    assert clip(0.5) == 0.5
    assert len(shown("x" * 300)) == 60
    assert plain("a\x7fé") == "a\\u007f\\u00e9"


def test_a_difference_far_into_a_long_text_is_shown_where_it_is():
    steps = [("tool", "t", {"arguments": {"x": "a" * 1000 + "b"}}, 1)]
    found = play(Player(record(steps)), [("tool", "t", {"arguments": {"x": "a" * 1000 + "c"}}, 1)]).first_divergence
    assert (found.expected, found.received) == ("..." + "a" * 40 + "b", "..." + "a" * 40 + "c")


def test_the_order_of_a_declared_set_does_not_matter():
    steps = [("tool", "t", {"arguments": {"tags": ["b", "a"], "rows": [1, 2]}}, 1)]
    other = [("tool", "t", {"arguments": {"tags": ["a", "b"], "rows": [1, 2]}}, 1)]
    assert play(Player(record(steps)), other).exit_code == 1
    done = play(Player(record(steps), normalizers=[Unordered("request.arguments.tags")]), other)
    assert (done.exit_code, [e["rule"] for e in done.normalised]) == (0, ["unordered"])
    third = [("tool", "t", {"arguments": {"tags": ["a", "b"], "rows": [2, 1]}}, 1)]
    assert play(Player(record(steps), normalizers=[Unordered("request.arguments.tags")]), third).exit_code == 1


def test_a_call_is_read_by_the_code_that_reads_recordings():
    reader = Reader(compile_policy(off_policy(), key=OTHER_KEY))
    made = live_of(call("tool", "find", arguments={"x": (1, b"y")}), reader)
    assert (made.kind, made.name, made.request) == ("tool", "find", {"arguments": {"x": (1, b"y")}})
    bare = live_of(Call(kind="state", name="memo", attributes={}), reader)
    assert (bare.kind, bare.name) == ("state", "memo")
    odd = live_of(Call(kind="tool", name="f", attributes={"otelreplay.kind": 5}), reader)
    assert (odd.kind, odd.name) == ("tool", "f")


def test_a_session_takes_calls_that_were_made_without_a_span():
    """As a server does that stands in for a provider."""
    player = Player(record(desk(1)))
    served = player.session.call(Live(kind="model", name="m", request={
        "model": "m", "params": {"temperature": 0.5}, "system": [{"type": "text", "content": "Be brief."}],
        "messages": [text("user", "Where are my orders?")],
    }))  # fmt: skip
    assert served.seq == 1
    with pytest.raises(Diverged, match="unexpected_call"):
        player.session.call(Live(kind="retrieval", name="docs"))


def test_messages_are_sent_the_moment_something_happens():
    player = Player(record(desk(1)))
    play(player, [desk(1)[0], ("tool", "nobody", {"arguments": {}}, None)])
    assert [m["type"] for m in player.messages] == ["served", "divergence"]
    assert player.messages[0] == {"type": "served", "seq": 1, "boundary": "model", "operation": "m", "origin": "cassette"}
    assert player.messages[1]["code"] == "replay.unexpected_call"
