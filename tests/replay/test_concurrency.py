"""Concurrent code may run in any order; what cannot be told apart is answered the same way every time."""

import asyncio
import random
import threading

import pytest

from otelreplay.boundary import ReplayStopped
from otelreplay.redaction import default_policy
from tests.replay.builders import Player, Tape, asks, play, record, result, text


def fan_out(width=6):
    """An agent that asks a model, runs several tools and searches at once, and tells the model what the tools gave."""
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output="done")
    calls = [(f"c{n}", "find", {"n": n % 4}) for n in range(width)]
    asked = asks(*calls)
    tape.model([text("user", "q")], asked, parent=agent)
    start = tape.now
    for n, (call_id, name, arguments) in enumerate(calls):
        tape.tool(name, arguments, {"row": n}, parent=agent, call_id=call_id, at=start + n, took=5_000)
        tape.add(
            "retrieval",
            "docs",
            query=f"row {n}",
            done={"otelreplay.result": f'["doc {n}"]'},
            parent=agent,
            at=start + 10 + n,
            took=5_000,
        )
    tape.now += 10_000
    told = [text("user", "q"), asked, *(result(c, {"row": n}) for n, (c, _, _) in enumerate(calls))]
    tape.model(told, "done", parent=agent)
    return tape.cassette(), asked, calls, told


@pytest.mark.parametrize("seed", range(60))
def test_sixty_schedules_of_a_concurrent_agent_give_no_false_divergence(seed):
    cassette, asked, calls, told = fan_out()
    player, chance = Player(cassette), random.Random(seed)
    token = player.enter(input={"q": "orders"})
    assert player.get("model", "m", messages=[text("user", "q")], parent=token) == asked
    jobs = [("tool", "find", {"arguments": a, "call_id": c}) for c, _, a in calls]
    jobs += [("retrieval", "docs", {"query": f"row {n}"}) for n in range(len(calls))]
    chance.shuffle(jobs)
    for kind, name, fields in jobs:
        got = player.get(kind, name, parent=chance.choice([token, None]), **fields)
        if kind == "tool":
            assert got["row"] % 4 == fields["arguments"]["n"]
        else:
            assert got == [f"doc {fields['query'][4:]}"]
    assert player.get("model", "m", messages=told, parent=token) == "done"
    player.leave(token, "done")
    assert player.result().exit_code == 0, player.result().lines()


def test_twins_at_once_are_answered_in_the_order_of_the_recording_with_a_note():
    cassette, _, calls, _ = fan_out()
    player = Player(cassette)
    token = player.enter(input={"q": "orders"})
    player.get("model", "m", messages=[text("user", "q")], parent=token)
    rows = [player.get("tool", "find", arguments=a, parent=token)["row"] for _, _, a in calls]
    assert rows == list(range(len(calls)))
    assert sum("cannot be told apart" in note for note in player.result().notes) == 2


def test_the_same_call_again_and_again_is_no_twin():
    steps = [("clock", "clock", {}, n) for n in range(5)]
    done = play(Player(record(steps)), steps)
    assert (done.exit_code, done.notes) == (0, ())


def test_threads_that_call_at_once_get_each_their_own_answer():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    for n in range(40):
        tape.tool("find", {"n": n}, n, parent=agent, at=2_000, took=900)
    player = Player(tape.cassette())
    token = player.enter(input={"q": "orders"})
    got: dict[int, int] = {}

    def work(numbers):
        for n in numbers:
            got[n] = player.get("tool", "find", arguments={"n": n}, parent=token if n % 2 else None)

    threads = [threading.Thread(target=work, args=(range(part, 40, 4),)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {n: n for n in range(40)}
    player.leave(token)
    assert player.result().exit_code == 0


def two_agents():
    """Two agents side by side that make the same call and get different answers."""
    tape = Tape()
    root = tape.agent("root", input={"q": "both"}, output=None)
    for name in ("left", "right"):
        agent = tape.agent(name, input={"q": name}, output=None, parent=root)
        tape.tool("find", {"x": 1}, f"for {name}", parent=agent, at=5_000, took=100)
    return tape.cassette()


@pytest.mark.parametrize("order", [("left", "right"), ("right", "left")])
def test_equal_calls_of_two_agents_are_told_apart_by_the_agent_around_them(order):
    player = Player(two_agents())
    root = player.enter("root", input={"q": "both"})
    tokens = {name: player.enter(name, input={"q": name}, parent=root) for name in order}
    assert [player.get("tool", "find", arguments={"x": 1}, parent=tokens[name]) for name in order] == [
        f"for {n}" for n in order
    ]
    for name in order:
        player.leave(tokens[name])
    player.leave(root)
    assert player.result().exit_code == 0


def test_a_call_without_a_known_agent_matches_any():
    player = Player(two_agents())
    root = player.enter("root", input={"q": "both"})
    for name in ("left", "right"):
        player.enter(name, input={"q": name}, parent=root)
    assert {player.get("tool", "find", arguments={"x": 1}) for _ in range(2)} == {"for left", "for right"}


def test_a_call_in_another_agent_than_recorded_has_no_answer():
    player = Player(two_agents())
    root = player.enter("root", input={"q": "both"})
    left = player.enter("left", input={"q": "left"}, parent=root)
    player.get("tool", "find", arguments={"x": 1}, parent=left)
    with pytest.raises(ReplayStopped):
        player.get("tool", "find", arguments={"x": 1}, parent=left)
    assert player.result().first_divergence.kind == "unexpected_call"


def test_what_happened_inside_a_served_call_is_not_called_again():
    """The outer tool's code does not run, so the tool that it calls is not called either."""
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    outer = tape.tool("outer", {}, "both", parent=agent, took=1_000)
    tape.tool("inner", {}, "inside", parent=outer)
    done = play(Player(tape.cassette()), [("tool", "outer", {"arguments": {}}, None)], output=None)
    assert (done.exit_code, done.unused) == (0, 0)
    again = play(Player(tape.cassette()), [("tool", n, {"arguments": {}}, None) for n in ("outer", "inner")], output=None)
    assert again.first_divergence.kind == "unexpected_call"
    both = play(
        Player(tape.cassette(), inside=("tool",)),
        [("tool", n, {"arguments": {}}, None) for n in ("outer", "inner")],
        output=None,
    )
    assert (both.exit_code, both.served) == (0, 2)


def test_a_divergence_of_a_concurrent_branch_at_a_lower_seq_comes_first():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    for n in range(3):
        tape.tool(f"t{n}", {"n": n}, n, parent=agent, at=2_000 + n, took=900)
    player = Player(tape.cassette())
    token = player.enter(input={"q": "orders"})
    for n in (2, 1):
        with pytest.raises(ReplayStopped):
            player.get("tool", f"t{n}", arguments={"n": -1}, parent=token)
    done = player.result()
    assert (done.first_divergence.seq, [other.seq for other in done.others]) == (2, [3])


def test_a_branch_that_goes_on_after_a_divergence_is_still_answered():
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    for n in range(2):
        tape.tool(f"t{n}", {"n": n}, n, parent=agent, at=2_000 + n, took=900)
    player = Player(tape.cassette())
    token = player.enter(input={"q": "orders"})
    with pytest.raises(ReplayStopped):
        player.get("tool", "t0", arguments={"n": 9}, parent=token)
    assert player.get("tool", "t1", arguments={"n": 1}, parent=token) == 1
    assert player.session.diverged


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_rows_that_differ_only_beside_something_private_are_answered_each_with_its_own(order):
    rows = [["0b6b6ae0-1d8a-4e0c-9d6a-0f8f6f6b7a01", "17", "ada@example.com", name] for name in ("bob", "joe")]
    steps = [("tool", "find", {"arguments": {"row": row}}, f"of {row[3]}") for row in rows]
    player = Player(record(steps, policy=default_policy()), default_policy())
    token = player.enter(input={"q": "orders"})
    for n in order:
        assert f"of {rows[n][3]}" == player.get("tool", "find", parent=token, arguments={"row": rows[n]})
    player.leave(token, "done")
    assert 0 == player.result().exit_code


def test_a_branch_that_is_cancelled_because_another_was_stopped_is_no_divergence():
    player = Player(record([("tool", "find", {"arguments": {"n": 1}}, 1)]))
    token = player.enter(input={"q": "orders"})
    with pytest.raises(ReplayStopped):
        player.get("tool", "find", parent=token, arguments={"n": 2})
    player.leave(token, error=asyncio.CancelledError())
    assert ["replay.request_changed"] == [d.code for d in (player.result().first_divergence, *player.result().others)]


@pytest.mark.parametrize("seed", range(50))
def test_fifty_schedules_of_nested_agents_with_twins_give_no_false_divergence(seed):
    tape = Tape()
    root = tape.agent("root", input={"q": "all"}, output=None)
    names = ("left", "right", "third")
    for name in names:
        agent = tape.agent(name, input={"q": name}, output=None, parent=root, at=2_000)
        for n in range(4):
            tape.tool("find", {"x": n % 2}, f"{name} {n % 2}", parent=agent, at=3_000 + n, took=900)
    player, chance = Player(tape.cassette()), random.Random(seed)
    token = player.enter("root", input={"q": "all"})
    inner = {name: player.enter(name, input={"q": name}, parent=token) for name in chance.sample(names, 3)}
    jobs = [(name, n % 2) for name in names for n in range(4)]
    chance.shuffle(jobs)
    for name, x in jobs:
        assert f"{name} {x}" == player.get("tool", "find", arguments={"x": x}, parent=inner[name])
    for name in chance.sample(names, 3):
        player.leave(inner[name])
    player.leave(token)
    assert 0 == player.result().exit_code
