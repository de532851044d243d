"""What a recording carries is compared, what it lacks is listed, and what was not sent must not be sent."""

import pytest

from otelreplay.events import Event, Message, Missing
from otelreplay.replay import Session
from otelreplay.replay.carried import Carried, Families, carried, gaps_of, is_own, traits_of
from otelreplay.replay.diff import NOTHING, compare
from otelreplay.replay.holes import Skeletons
from otelreplay.replay.likeness import Likeness
from otelreplay.replay.soft import Soft
from otelreplay.spans import Scope
from tests.replay.builders import (
    OTHER_KEY,
    Player,
    Tape,
    asks,
    cassette_of,
    compile_policy,
    off_policy,
    play,
    policy,
    record,
    run_of,
    text,
)

OTHER = Scope(name="vendor.instrumentation", version="2")
FOREIGN = {"otelreplay.kind": None}


def foreign(*requests, **more):
    """Model calls that another package recorded."""
    tape = Tape()
    for n, fields in enumerate(requests):
        tape.model(reply=f"reply {n}", scope=OTHER, extra=FOREIGN, **fields)
    return tape.cassette(**more)


Q = {"messages": [text("user", "q")]}
R = {"messages": [text("user", "r")]}


def ask(cassette, **fields):
    player = Player(cassette)
    player.get("model", "m", **fields)
    return player


def test_what_no_event_of_the_package_carries_is_unchecked():
    player = ask(foreign(Q), **Q, params={"top_p": 1}, system="s")
    assert {e["field"] for e in player.result().unchecked} == {"request.params.top_p", "request.system"}
    assert player.result().exit_code == 0


def test_what_another_event_of_the_package_carries_was_not_sent_here():
    cassette = foreign(Q, R | {"params": {"top_p": 1}})
    player = Player(cassette)
    with pytest.raises(BaseException, match=r"request\.params\.top_p was not there"):
        player.get("model", "m", **Q, params={"top_p": 1})


def test_a_decorated_function_carries_everything():
    found = play(
        Player(record([("model", "m", Q, "a")])), [("model", "m", Q | {"params": {"top_p": 1}}, None)]
    ).first_divergence
    assert (found.path, found.change) == ("request.params.top_p", "added")


def test_only_what_passed_the_decorated_function_is_compared_where_another_span_added_the_rest():
    cassette = record([("model", "m", Q | {"system": "added by the SDK's span"}, "a")])
    events = tuple(
        e.model_copy(update={"attributes": e.attributes | {"otelreplay.carries": ["model", "messages"]}})
        if e.kind == "model"
        else e
        for e in cassette.events
    )
    done = play(Player(type(cassette)(header=cassette.header, events=events)), [("model", "m", Q, None)])
    assert done.exit_code == 0
    assert [(e["field"], e["reason"]) for e in done.unchecked] == [
        ("request.system", "not passed through the decorated function")
    ]


def with_gap(field, cause="content_not_captured", fields=Q, **update):
    """A decorated model call with a gap in its request."""
    cassette = record([("model", "m", fields, "a")])
    gap = Missing(field=field, cause=cause)
    events = tuple(e.model_copy(update={"missing": [gap], **update}) if e.kind == "model" else e for e in cassette.events)
    return type(cassette)(header=cassette.header, events=events)


@pytest.mark.parametrize("field", ["request.messages", "request"])
def test_a_component_that_is_missing_is_unchecked(field):
    done = play(Player(with_gap(field)), [("model", "m", R, None)])
    assert (done.exit_code, [e["field"] for e in done.unchecked]) == (0, [field])


def test_a_part_that_is_missing_fits_anything_and_the_rest_is_compared():
    fields = {"messages": [text("user", "a"), text("user", "b")]}
    cassette = with_gap("request.messages[1].parts[0].content", "undecodable", fields)

    def now(a, b):
        return play(Player(cassette), [("model", "m", {"messages": [text("user", a), text("user", b)]}, None)])

    assert now("a", "b").exit_code == 0
    assert now("a", "other").exit_code == 0
    assert [e["field"] for e in now("a", "other").unchecked] == ["request.messages[1].parts[0].content"]
    assert now("x", "b").first_divergence.path == "request.messages[0].parts[0].content"


def test_dropped_attributes_leave_open_what_was_sent():
    done = play(Player(with_gap("response.id", "attributes_dropped")), [("model", "m", Q | {"params": {"top_p": 1}}, None)])
    assert (done.exit_code, [e["field"] for e in done.unchecked]) == (0, ["request.params.top_p"])


def test_arguments_are_recorded_whole_or_not_at_all():
    tape = Tape()
    tape.tool("find", {"x": 1}, 1, scope=OTHER, extra=FOREIGN)
    player = Player(tape.cassette())
    with pytest.raises(BaseException, match=r"request\.arguments\.y"):
        player.get("tool", "find", arguments={"x": 1, "y": 2})


def test_marks_of_messages_count_as_gaps_of_the_request():
    lost = Message({"role": "user", "parts": []}, [Missing(field="parts", cause="not_carried_by_convention")])
    event = Event(seq=0, id="t/1", kind="model", name="m", request={"model": "m", "messages": [lost]}, response={"result": "a"})
    assert [gap.field for gap in gaps_of(event)] == ["request.messages[0].parts"]
    player = Player(cassette_of(run_of([event])))
    assert player.get("model", "m", messages=[text("user", "anything")]) == "a"


def test_how_events_are_compared_is_a_value():
    event = Event(seq=0, id="t/1", kind="tool", name="t", attributes={"otelreplay.scope": 5})
    assert not is_own(event)
    how = carried(traits_of(event, "t"), {"arguments.a": "x"}, frozenset({"arguments.a", "arguments.b"}))
    assert how == Carried(("arguments.a",), closed=frozenset({"arguments.a", "arguments.b"}))
    assert how.extras(["arguments.a", "arguments.b", "arguments.c", "model"]) == (["arguments.b", "arguments.c"], ["model"])
    families = Families()
    families.add(traits_of(event, "t").family, ["a"])
    assert families.of(traits_of(event, "t").family) == {"a"}
    assert families.of(traits_of(event, "other").family) == frozenset()


def diff(was, now, most=20):
    return [(d.path, d.change) for d in compare(was, now, "f", Skeletons(), most)]


@pytest.mark.parametrize(
    ("was", "now", "found"),
    [
        ([1, 2, 3], [1, 3], [("f[1]", "removed")]),
        ([1, 3], [1, 2, 3], [("f[1]", "added")]),
        ([1, 2, 3, 4], [1, 9, 9, 4], [("f[1]", "changed"), ("f[2]", "changed")]),
        ({"a": 1, "b": 2}, {"b": 3, "c": 1}, [("f.a", "removed"), ("f.b", "changed"), ("f.c", "added")]),
        (1, True, [("f", "retyped")]),
        (1, 1.0, []),
        ((1, 2), [1, 2], [("f", "retyped")]),
        ({1: "x"}, {1: "y"}, [("f.1", "changed")]),
        ({1, 2}, {1, 3}, [("f", "changed")]),
        (b"a", b"b", [("f", "changed")]),
        ("1", 1, [("f", "retyped")]),
        (NOTHING, NOTHING, []),
    ],
)
def test_differences_are_the_smallest_fields(was, now, found):
    assert diff(was, now) == found


def test_differences_are_bounded_in_number_and_depth():
    assert len(diff(list(range(100)), list(range(100, 200)), most=5)) == 5
    deep, other = [], [1]
    for _ in range(60):
        deep, other = [deep], [other]
    assert [change for _, change in diff(deep, other)] == ["added"]


def test_soft_comparison_has_a_bound():
    soft = Soft(Skeletons(), [], ["r"])
    assert not soft.fits(list(range(500)), list(range(500, 1000)), "f")
    assert not soft.fits(NOTHING, 1, "f")
    assert Soft(Skeletons(), ["f"], []).fits(NOTHING, 1, "f")
    assert soft.fits(NOTHING, NOTHING, "f")
    assert not soft.fits("a [REDACTED:r] b", 5, "f")
    assert not soft.fits("a [REDACTED:r] b", "a", "f")
    assert not soft.fits("a [REDACTED:r] b", "a b", "f")
    assert soft.fits("a [REDACTED:r] b", "a c b", "f")


def test_likeness_reads_odd_messages():
    like = Likeness(Skeletons())
    assert like.alike({}, {"messages": []})
    assert not like.alike({"messages": [1, text("user", "a")]}, {"messages": [text("assistant", "b")]})
    assert like.alike({"messages": [1, text("user", "a")]}, {"messages": [1]})
    assert like.shared({"messages": "x"}, {}) == 0
    assert like.answered_in({"messages": [text("user", "a"), text("assistant", "b")]}, {"messages": [text("user", "a")]}) == 1
    assert like.answered_in({"messages": [text("user", "a"), text("user", "b")]}, {"messages": [text("user", "a")]}) is None
    assert like.passed({"messages": [text("user", "a")]}, {"messages": [text("user", "a")]}) is False


MAIL = policy(("mail", "detector: email, action: pseudonym"))
JANE, JOHN = "jane.roe@acme-mail.com", "john.doe@acme-mail.com"


def test_holes_of_a_turn_stand_in_one_order_however_its_messages_are_cut():
    """A turn's calls come last in its digest, so they do here."""
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"to": JOHN}}
    one = {"role": "assistant", "parts": [call, {"type": "text", "content": f"Dear {JANE}"}]}
    two = [text("assistant", f"Dear {JANE}"), {"role": "assistant", "parts": [call]}]
    told = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": JANE}]}
    steps = [("tool", "f", {"arguments": {"to": JOHN}}, JANE)]
    cassette = record(
        [*steps, ("model", "m", {"messages": [text("user", "q"), one, told], "system": f"{JOHN}"}, "ok")], policy=MAIL
    )
    other = [*steps, ("model", "m", {"messages": [text("user", "q"), *two, told], "system": f"{JOHN}"}, "ok")]
    player = Player(cassette, MAIL)
    token = player.enter(input={"q": "orders"})
    given = player.get("tool", "f", arguments={"to": JOHN}, parent=token)
    swapped = eval(repr(other[1][2]).replace(JANE, given))
    assert player.get("model", "m", parent=token, **swapped) == "ok"


def test_every_component_may_hold_a_hole():
    tools = [{"type": "function", "name": "f", "description": f"Ask {JANE}"}, "odd"]
    system = {"role": "system", "parts": [{"type": "text", "content": JOHN}]}
    told = [system, {"role": "user", "name": JANE, "parts": []}, text("user", JANE)]
    fields = {"messages": told, "tools": tools, "system": JANE, "params": {"user": JANE}}
    later = {"messages": [*told, asks(("c", "f", {"x": JOHN}))]}
    story = [("model", "m", fields, "ok"), ("model", "m", fields | later, "ok")]
    cassette = record(story, policy=MAIL)
    assert JANE not in str(cassette.events)
    assert play(Player(cassette, MAIL), story).exit_code == 0


def test_requests_of_other_shapes_have_skeletons_too():
    made = Skeletons()
    for request in (
        {"messages": f"text {JANE}"}, {"messages": ["[mail#aaaaaaaaaaaaaaaa]"]}, {"system": "[mail#aaaaaaaaaaaaaaaa]"},
        {"messages": [{"role": "user", "content": "[mail#aaaaaaaaaaaaaaaa]"}]}, {"params": "[mail#aaaaaaaaaaaaaaaa]"},
        {"tools": "[mail#aaaaaaaaaaaaaaaa]"}, {"messages": None, "params": {1: "x", "stop": "[mail#aaaaaaaaaaaaaaaa]"}},
    ):  # fmt: skip
        skeleton = made.request("model", request)
        assert bool(skeleton.holes) is ("#" in str(request))
        assert "#" not in str(skeleton.request)


def test_a_session_is_made_of_a_cassette_and_a_redactor():
    assert not Session(cassette_of(run_of([])), redactor=compile_policy(off_policy(), key=OTHER_KEY)).diverged
