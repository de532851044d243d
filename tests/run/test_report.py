"""The report of a replay, for people."""

from otelreplay.report.replay import replay_text

BASE = {"outcome": "diverged", "guard": "seccomp", "child_exit": 0, "served": 2, "unused": 0}
CHANGED = {
    "code": "replay.request_changed", "seq": 4, "boundary": "tool", "operation": "refund", "agent": "desk",
    "where": "desk.py:12", "path": "request.arguments.text", "change": "changed", "cause": "code", "last_agreed": 3,
    "agreed": 3,
}  # fmt: skip


def text(**more):
    return replay_text({**BASE, "first_divergence": {**CHANGED, **more}})


def lines(**more):
    return [" ".join(line.split()) for line in text(**more).splitlines()]


def test_what_where_expected_received_and_what_agreed_stand_in_the_text():
    said = lines(expected="a", received="b", remedy="do this")
    for line in (
        "replay.request_changed: event 4, tool refund, in agent desk", "--> desk.py:12", "request.arguments.text (changed)",
        'expected "a"', 'received "b"', "agreed 3 events before it, the last was event 3", "cause code", "next do this",
    ):  # fmt: skip
        assert line in said


def test_long_values_are_shown_from_where_they_differ():
    said = text(expected="x" * 300 + "left", received="x" * 300 + "right")
    assert 'xxxleft"' in said
    assert 'xxxright"' in said
    assert max(map(len, said.splitlines())) <= 80


def test_a_value_that_is_on_one_side_alone_is_said_to_be_so():
    assert "expected (not there)" in lines(change="added", received=1)
    assert "received (not there)" in lines(change="removed", expected=None)
    assert "expected null" in lines(change="removed", expected=None)


def test_recorded_text_cannot_steer_the_terminal_wherever_it_stands():
    evil = "\x1b[31m\u202e\n[bold]x"
    names = ("boundary", "operation", "agent", "where", "function", "path", "expected", "received", "cause", "origin", "detail",
             "remedy", "accept", "reproduce")  # fmt: skip
    said = replay_text(
        {
            **BASE,
            "first_divergence": {
                **CHANGED,
                **dict.fromkeys(names, evil),
                "nearest": [{"seq": 1, "path": evil}],
                "others": [evil],
            },
            "others": [{"code": evil, "operation": evil}],
            "blocked": [
                {"what": evil, "target": evil, "where": evil, "command": evil, "boundary": evil, "by": "seccomp", "pid": 1}
            ],
            **{name: [{"seq": 1, "field": evil}] for name in ("unused_events", "writes", "unchecked", "assumed", "normalised")},
            "notes": [evil],
            **{name: [evil] for name in ("left_running", "credentials_removed", "guard_missing")},
        }
    )
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\n[bold]" not in said
    assert "[bold]x" in said


def test_a_command_to_copy_stays_on_one_line():
    command = "otelreplay replay " + "x" * 90 + " --agent a:b"
    assert f"again {command}" in lines(reproduce=command)


def test_long_lists_are_cut_and_say_so():
    said = replay_text({**BASE, "unused_events": [{"seq": n, "boundary": "tool", "operation": "t"} for n in range(50)]})
    assert "and 38 more (--json lists them all)" in said


def test_what_was_not_compared_is_a_sentence_with_its_place_and_events():
    entry = {"boundary": "model", "operation": "", "field": "request.messages", "reason": "why", "count": 3, "seqs": [1, 4]}
    said = [
        line.strip() for line in replay_text({**BASE, "unchecked": [entry, {**entry, "count": 1, "seqs": [2]}]}).splitlines()
    ]
    assert "model  request.messages: why, 3 times (events 1, 4)" in said
    assert "model  request.messages: why (event 2)" in said


def test_a_recording_that_is_near_says_what_differs_and_whether_it_was_used():
    near = {"seq": 1, "boundary": "tool", "operation": "step", "path": "request.arguments.n", "state": "served"}
    assert "nearest event 1 tool step request.arguments.n differs: served" in lines(nearest=[near])
    assert "nearest event 1 tool step served" in lines(nearest=[{**near, "path": ""}])


def test_an_answer_that_is_missing_is_not_shown_as_two_values_that_differ():
    said = lines(code="replay.response_missing", path="response.result", change="changed", detail="not recorded")
    assert "response.result is missing: not recorded" in said
    assert not [line for line in said if line.startswith(("expected", "received", "detail"))]
