"""A decorated function and other packages' spans of the same call are one event, told by the decorated one."""

import pytest

from otelreplay.reconstruct import reconstruct
from otelreplay.spans import Scope
from tests.dialects.own_spans import TRACE, failed, js, own, own_agent, own_model, own_tool, said
from tests.reconstruct.builders import agent, exception, model, of_kind, span, text, tool

ASK = [text("user", "hi")]


def sdk(n, messages=None, reply=None, **more):
    return model(n, messages, reply, trace=TRACE, **more)


def http(n, *, parent, **more):
    scope = Scope(name="opentelemetry.instrumentation.httpx")
    return span(n, "POST", parent=parent, trace=TRACE, scope=scope, _kind=3, http__request__method="POST", **more)


def plain(n, parent):
    return span(n, "work", parent=parent, trace=TRACE, scope=Scope(name="app"))


def only(spans, kind="model"):
    for order in (spans, spans[::-1]):
        recording = reconstruct(order)
        (event,) = of_kind(recording, kind)
    return event


def test_the_decorated_call_over_the_sdk_s_is_one_event_with_exact_values():
    more = {"otelreplay.arguments": js({"q": ("hi",)}), "otelreplay.result": js(("yo",)), "gen_ai.response.model": "m-1"}
    spans = [
        own_agent(),
        own(2, "model", "ask", parent=1, end=9000, more=more),
        sdk(3, ASK, text("assistant", "yo"), parent=2, gen_ai__usage__input_tokens=3),
        http(4, parent=3),
    ]  # fmt: skip
    event = only(spans)
    assert event.id == spans[1].key
    assert sorted(event.spans) == sorted(s.key for s in spans[1:])
    assert event.response["result"] == ("yo",)
    assert event.response["messages"] == [{**text("assistant", "yo"), "finish_reason": "stop"}]
    assert event.response["usage"] == {"input_tokens": 3}
    assert event.request["params"] == {"q": ("hi",)}
    assert event.request["messages"] == ASK
    assert event.name == event.request["model"] == "m"
    assert event.attributes["otelreplay.carries"] == ["params.q"]
    assert event.missing == []
    assert [e.kind for e in reconstruct(spans).events] == ["agent", "model"]


def test_what_both_hold_is_the_decorated_one_s_and_adds_nothing_to_what_it_carries():
    spans = [
        own_model(1, [said("user", "as the function was given it")], said("assistant", "yo"), end=9000),
        sdk(2, [text("user", "as the SDK sent it")], text("assistant", "YO"), parent=1),
    ]
    event = only(spans)
    assert event.request["messages"] == [said("user", "as the function was given it")]
    assert event.response["messages"] == [said("assistant", "yo")]
    assert event.response["id"] == "resp-2"
    assert "otelreplay.carries" not in event.attributes


def test_params_of_both_are_there_and_only_the_own_ones_carried():
    spans = [
        own_model(1, ASK, said("assistant", "yo"), more={"gen_ai.request.temperature": 0.5}, end=9000),
        sdk(2, ASK, parent=1, gen_ai__request__temperature=0.7, gen_ai__request__max_tokens=9),
    ]
    event = only(spans)
    assert event.request["params"] == {"temperature": 0.5, "max_tokens": 9}
    assert event.attributes["otelreplay.carries"] == ["messages", "model", "params.temperature"]


def test_contexts_and_frameworks_in_between_make_no_difference():
    spans = [
        own_model(1, ASK, said("assistant", "yo"), end=9000),
        plain(2, 1),
        sdk(3, [text("user", "framework")], parent=2, response_id="a", end=8000),
        plain(4, 3),
        sdk(5, [text("user", "sdk")], parent=4, response_id="b"),
    ]
    assert len(only(spans).spans) == 3


def test_a_model_inside_a_tool_inside_a_decorated_model_is_another_call():
    spans = [
        own_model(1, ASK, said("assistant", "yo"), end=9000),
        own_tool(2, result=1, parent=1, end=8000),
        sdk(3, ASK, text("assistant", "in the tool"), parent=2),
    ]
    assert [(e.kind, e.parent) for e in reconstruct(spans).events] == [("model", None), ("tool", 0), ("model", 1)]


def test_a_retry_that_failed_inside_is_no_failure_of_the_function():
    spans = [
        own_model(1, ASK, said("assistant", "yo"), end=9000),
        sdk(2, ASK, parent=1, response_id="r1", error__type="Timeout", _status_code=2, _events=(exception("Timeout", "slow"),)),
        sdk(3, ASK, text("assistant", "yo"), parent=1, response_id="r2"),
    ]
    event = only(spans)
    assert event.error is None
    assert event.attributes["otelreplay.also"][spans[1].key]["error"]["type"] == "Timeout"


def test_replies_of_several_calls_inside_are_kept_beside_the_function_s_own():
    spans = [
        own(1, "model", "ask", end=9000, more={"otelreplay.arguments": "{}", "otelreplay.result": "1"}),
        sdk(2, ASK, text("assistant", "one"), parent=1),
        sdk(3, ASK, text("assistant", "two"), parent=1),
    ]
    event = only(spans)
    assert event.response == {"result": 1}
    kept = [event.attributes["otelreplay.also"][s.key]["response.messages"][0]["parts"][0]["content"] for s in spans[1:]]
    assert kept == ["one", "two"]


def test_a_function_that_failed_over_a_good_reply_failed():
    more, fields = failed("ValueError", "no JSON", {"class": "builtins:ValueError", "args": ["no JSON"]})
    spans = [own(1, "model", "ask", end=9000, more=more, **fields), sdk(2, ASK, text("assistant", "x"), parent=1)]
    event = only(spans)
    assert event.error.type == "ValueError"
    assert event.response is None


def test_a_framework_s_span_around_one_decorated_call_is_that_call():
    spans = [
        sdk(1, [text("user", "framework")], text("assistant", "yo"), parent=None, end=9000),
        own_model(2, ASK, said("assistant", "yo"), parent=1),
    ]
    event = only(spans)
    assert event.id == spans[1].key
    assert event.parent is None
    assert event.request["messages"] == ASK


def test_a_framework_s_span_around_several_decorated_calls_is_none_of_them():
    spans = [
        sdk(1, [text("user", "framework")], parent=None, end=9000),
        own_model(2, ASK, said("assistant", "a"), parent=1),
        own_model(3, ASK, said("assistant", "b"), parent=1),
    ]
    assert [(e.kind, e.parent) for e in reconstruct(spans).events] == [("model", None), ("model", 0), ("model", 0)]


def test_a_decorated_call_inside_the_one_that_a_framework_covers_stays_its_own():
    spans = [
        sdk(1, ASK, parent=None, end=9000),
        own_model(2, ASK, said("assistant", "a"), parent=1, end=8000),
        own_model(3, ASK, said("assistant", "b"), parent=2),
    ]
    events = reconstruct(spans).events
    assert [(e.id, e.parent) for e in events] == [(spans[1].key, None), (spans[2].key, 0)]


def test_a_tool_told_by_a_framework_and_a_decorator_is_one_whichever_is_outside():
    framework = {"call_id": "c1", "trace": TRACE}
    exact = {"arguments": {"id": "o"}, "result": (1,)}
    outside = [tool(1, "find", {"id": "o"}, {"a": 1}, parent=None, end=9000, **framework), own_tool(2, parent=1, **exact)]
    inside = [own_tool(1, end=9000, **exact), tool(2, "server-find", {"id": "o"}, {"a": 1}, parent=1, **framework)]
    for spans in (outside, inside):
        event = only(spans, "tool")
        assert event.response["result"] == (1,)
        assert event.request == {"arguments": {"id": "o"}, "call_id": "c1"}
        assert event.name == "find"


def test_a_tool_of_another_name_inside_a_decorated_one_is_another_boundary():
    for inner in ("erase", "find_more"):
        spans = [own_tool(1, result=1, end=9000), tool(2, inner, {"id": 1}, 2, parent=1, trace=TRACE)]
        assert [(e.name, e.parent) for e in reconstruct(spans).events] == [("find", None), (inner, 0)]


def test_a_framework_s_agent_of_the_same_name_is_the_decorated_agent_and_of_another_is_not():
    for name, wanted in (("desk", 1), ("other", 2)):
        spans = [own_agent(1, name), agent(2, parent=1, trace=TRACE, start=5, end=9), own_tool(3, result=1, parent=2)]
        events = reconstruct(spans).events
        assert [e.kind for e in events] == ["agent"] * wanted + ["tool"]
        assert events[-1].parent == wanted - 1


def test_http_inside_a_tool_is_context_and_no_boundary():
    events = reconstruct([own_tool(1, result=1, end=9000), http(2, parent=1)]).events
    assert [(e.kind, e.parent) for e in events] == [("tool", None), ("context", 0)]


@pytest.mark.parametrize("kind", ["client", "server"])
def test_only_a_client_s_http_span_is_the_travel_of_a_call(kind):
    served = http(2, parent=1)
    served = (
        served
        if kind == "client"
        else served.__class__(**{f: getattr(served, f) for f in served.__struct_fields__} | {"kind": 2})
    )
    events = reconstruct([sdk(1, ASK, text("assistant", "x"), parent=None, end=9000), served]).events
    assert len(events) == (1 if kind == "client" else 2)
