"""A tool that really runs takes the place of a recorded call: it must be one, its result is known."""

import pytest

from otelreplay.boundary import ReplayStopped
from otelreplay.replay.divergence import Diverged
from tests.replay.builders import Player, asks, call, desk, dumps, record, result, text


def begun(player, token, **arguments):
    live = call("tool", "find", parent=token, call_id="call_0", arguments=arguments or {"order": "A-0", "limit": 5})
    return live, player.session.begin_live(player.session.live_of(live))


def asked():
    steps = desk(1)
    player = Player(record(steps))
    token = player.enter(input={"q": "orders"})
    player.get("model", "m", parent=token, **steps[0][2])
    return player, token, steps


def test_a_tool_that_ran_counts_as_its_recording_and_is_named_as_live():
    player, token, steps = asked()
    live, served = begun(player, token)
    assert (served.seq, served.origin) == (2, "live")
    player.session.ended_live(served, live, dumps({"state": "s0"}))
    player.get("model", "m", parent=token, **steps[2][2])
    player.leave(token, "done")
    found = player.result()
    assert (found.outcome, found.unused, found.served) == ("as_recorded", 0, 3)
    assert [r for r in found.responses if r["origin"] == "live"] == [{"origin": "live", "from": 2, "to": 2}]


def test_a_call_that_was_not_recorded_does_not_run():
    player, token, _ = asked()
    with pytest.raises(Diverged):
        begun(player, token, order="Z-9", limit=5)
    found = player.result().first_divergence
    assert (found.kind, found.seq, found.path) == ("request_changed", 2, "request.arguments.order")


def test_what_a_live_tool_made_otherwise_is_named_as_the_origin_of_a_later_difference():
    call_, made = asks(("call_0", "open", {})), {"case": "case-4711"}
    steps = [
        ("model", "m", {"messages": [text("user", "Open one.")]}, call_),
        ("tool", "open", {"arguments": {}, "call_id": "call_0"}, made),
        ("model", "m", {"messages": [text("user", "Open one."), call_, result("call_0", made)]}, "opened"),
    ]
    player = Player(record(steps))
    token = player.enter(input={"q": "orders"})
    player.get("model", "m", parent=token, **steps[0][2])
    live = call("tool", "open", parent=token, call_id="call_0", arguments={})
    served = player.session.begin_live(player.session.live_of(live))
    player.session.ended_live(served, live, dumps({"case": "case-9999"}))
    with pytest.raises(ReplayStopped):
        player.get(
            "model", "m", parent=token, messages=[text("user", "Open one."), call_, result("call_0", {"case": "case-9999"})]
        )
    first = player.result().first_divergence
    assert (first.seq, first.received) == (3, "case-9999")
    assert first.origin == "event 2, tool (live)"


def test_a_tool_that_failed_for_real_has_no_result():
    player, token, _ = asked()
    live, served = begun(player, token)
    player.session.ended_live(served, live, None)
    found = player.result()
    assert {entry["field"] for entry in found.assumed} == {"response"}
    assert found.served == 2
