"""Many conversations, many calls, deep nests: the right ones are found among thousands, and none twice."""

import msgspec

from otelreplay.reconstruct import TraceExtent, join_traces
from tests.reconstruct.builders import agent, answer, calls, model, of_kind, rebuilt, span, text, tool


def test_each_of_many_conversations_goes_on_from_its_own_request():
    """All begin with the same words and end with the same words; only the replies tell them apart."""
    first = [model(n, [text("user", "go")], text("assistant", f"a{n}")) for n in range(2, 14)]
    then = [
        model(n + 20, [text("user", "go"), text("assistant", f"a{n}"), text("user", "on")], text("assistant", f"b{n}"))
        for n in range(2, 14)
    ]
    last = [
        model(
            n + 40,
            [
                text("user", "go"),
                text("assistant", f"a{n}"),
                text("user", "on"),
                text("assistant", f"b{n}"),
                text("user", "on"),
            ],
            text("assistant", "end"),
        )
        for n in range(2, 14)
    ]
    events = {e.id[-2:]: e for e in rebuilt(agent(), *first, *then, *last).events}
    for n in range(2, 14):
        assert [events[f"{n:02x}"].seq] == events[f"{n + 20:02x}"].after
        assert [events[f"{n + 20:02x}"].seq] == events[f"{n + 40:02x}"].after


def test_among_many_conversations_a_reply_that_nobody_recorded_is_still_of_this_run():
    """What a request adds to the one that it goes on from happened in this run; what a first request quotes did not."""
    first = [model(n, [text("user", f"u{n}")]) for n in range(2, 14)]
    then = [model(n + 20, [text("user", f"u{n}"), text("assistant", f"a{n}"), text("user", "on")]) for n in range(2, 14)]
    assert len([m for m in rebuilt(agent(), *first, *then).missing if "quotes a reply" in m.detail]) == 12


def test_a_new_conversation_beside_many_goes_on_from_none():
    others = [model(n, [text("user", f"u{n}")], text("assistant", f"a{n}")) for n in range(2, 14)]
    event = rebuilt(agent(), *others, model(30, [text("user", "new")], text("assistant", "x"))).events[-1]
    assert event.after == [0]


def test_an_id_that_two_open_calls_share_is_answered_in_order():
    asked = calls(("c", "find", {"i": 1}), ("c", "find", {"i": 2}))
    recording = rebuilt(
        agent(),
        model(2, [text("user", "go")], asked),
        model(3, [text("user", "go"), asked, answer("c", "one"), answer("c", "two")], text("assistant", "done")),
    )
    told = {e.request["arguments"]["i"]: e.response["result"] for e in of_kind(recording, "tool")}
    assert told == {1: "one", 2: "two"}


def test_a_reply_quoted_twice_opens_its_calls_once():
    asked = calls((None, "find", {"i": 1}))
    history = [text("user", "go"), asked, text("user", "again"), asked, answer(None, "one")]
    recording = rebuilt(agent(), model(2, [text("user", "go")], asked), model(3, history, text("assistant", "done")))
    assert [e.response["result"] for e in of_kind(recording, "tool")] == ["one"]


def test_tools_without_ids_and_arguments_take_calls_in_order_and_say_so():
    asked = calls((None, "find", {"i": 1}), (None, "find", {"i": 2}), (None, "find", {"i": 2}))
    recording = rebuilt(agent(), model(2, [text("user", "go")], asked), *(tool(n, result="r") for n in (3, 4, 5)))
    assert [e.request["arguments"]["i"] for e in of_kind(recording, "tool")] == [1, 2, 2]
    assert [n.spans[0][-1] for n in recording.notes if n.code == "ambiguous_pairing"] == ["3"]


def test_a_name_of_an_agent_reaches_down_through_every_level():
    deep = [span(n, parent=n - 1) for n in range(2, 8)]
    side = span(20, parent=5)
    assert {e.agent for e in rebuilt(agent(), *deep, side).events[1:]} == {"desk"}


def test_a_call_around_the_one_that_holds_the_content_leaves_no_circle():
    """Between the two spans of one call there may be a third, of something else."""
    recording = rebuilt(
        agent(),
        model(2, parent=1, response_id="r"),
        span(3, "POST", parent=2),
        model(4, [text("user", "go")], text("assistant", "x"), parent=3, response_id="r"),
    )
    call = of_kind(recording, "model")[0]
    assert (call.parent, len(call.spans)) == (0, 2)
    assert [e.parent for e in recording.events if e.name == "POST"] == [call.seq]


def test_a_large_trace_is_read_only_for_tools_that_ran_while_it_did():
    asked = [agent(), *(model(n, [text("user", "go")], calls(("c", "find", {"i": 1}))) for n in range(2, 8))]
    lost = [span(n, "execute_tool find", trace="d" * 32, gen_ai__operation__name="execute_tool", gen_ai__tool__name="find",
                 gen_ai__tool__call__id="c") for n in (30,)]  # fmt: skip
    held = {"c" * 32: asked, "d" * 32: lost}
    read = []

    def load(trace):
        read.append(trace[0])
        return held[trace], []

    def extents(end):
        big = TraceExtent(trace_id="c" * 32, start=1, end=end, spans=7)
        return [big, TraceExtent(trace_id="d" * 32, start=lost[0].start, end=lost[0].end, spans=1)]

    assert join_traces(extents(10**6), load) == [("c" * 32, "d" * 32)]
    read.clear()
    assert len(join_traces(extents(50), load)) == 2
    assert read == ["d"]
    held["e" * 32] = [msgspec.structs.replace(s, trace_id="e" * 32, start=9000, end=9001) for s in lost]
    later = [*extents(5000), TraceExtent(trace_id="e" * 32, start=9000, end=9001, spans=1)]
    assert join_traces(later, load) == [("c" * 32, "d" * 32), ("e" * 32,)]
