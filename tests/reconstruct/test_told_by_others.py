"""What one span does not tell, another does: turns left out, records astray, calls told twice, functions that are tools."""

import json

import pytest

from otelreplay.reconstruct import TraceExtent, join_traces
from otelreplay.spans import LogRecord, Scope
from tests.reconstruct.builders import (
    ASK,
    DONE,
    LATEST,
    OWN,
    TRACE,
    agent,
    answer,
    calls,
    gaps,
    model,
    of_kind,
    rebuilt,
    rules,
    span,
    text,
    tool,
)

OPENLIT = Scope(name="openlit.instrumentation.openai", version="1.45")
CALL = calls(("c1", "find", {"id": "o-1"}))
SKELETON = {"role": "assistant", "parts": []}


def kinds(event):
    return [(m["role"], [p["type"] for p in m["parts"]]) for m in event.request["messages"]]


WHOLE = [("user", ["text"]), ("assistant", ["tool_call"]), ("tool", ["tool_call_response"])]


def test_a_turn_without_its_parts_is_the_reply_that_it_was():
    recording = rebuilt(
        agent(),
        model(2, ASK, CALL),
        tool(3, arguments={"id": "o-1"}, result=1),
        model(4, [*ASK, SKELETON, answer("c1", "1")], DONE),
    )
    later = of_kind(recording, "model")[1]
    assert kinds(later) == WHOLE
    assert rules(later)["request.messages[1]"] == "turn_restored_from_reply"
    assert "finish_reason" not in later.request["messages"][1]


def test_a_turn_that_a_package_is_known_to_leave_out_is_put_back_in_every_later_request():
    again = calls(("c2", "find", {"id": "o-2"}))
    history = [*ASK, answer("c1", "1")]
    recording = rebuilt(
        model(2, ASK, CALL, parent=None, scope=OPENLIT),
        model(3, history, again, parent=None, scope=OPENLIT),
        model(4, [*history, answer("c2", "2")], DONE, parent=None, scope=OPENLIT),
    )
    assert kinds(of_kind(recording, "model")[2]) == [*WHOLE, *WHOLE[1:]]
    assert [e.response["result"] for e in of_kind(recording, "tool")] == ["1", "2"]


def test_other_packages_leave_no_turn_out():
    recording = rebuilt(model(2, ASK, CALL, parent=None), model(3, [*ASK, answer("c1", "1")], DONE, parent=None))
    assert kinds(of_kind(recording, "model")[1]) == [WHOLE[0], WHOLE[2]]


def test_a_request_that_did_not_grow_though_its_calls_were_answered_is_not_whole():
    recording = rebuilt(agent(), model(2, ASK, CALL), tool(3, arguments={"id": "o-1"}, result=1), model(4, ASK, DONE))
    assert gaps(of_kind(recording, "model")[1])["request.messages"] == "not_carried_by_convention"
    retried = rebuilt(agent(), model(2, ASK, DONE), model(4, ASK, DONE))
    assert "request.messages" not in gaps(of_kind(retried, "model")[1])


def record(name, body, at, on=1):
    return LogRecord(trace_id=TRACE, span_id=f"{on:016x}", event_name=name, body=body, time=at)


def test_records_that_name_the_span_around_a_call_go_to_the_call_that_ran():
    recording = rebuilt(
        agent(), model(2), model(4),
        record("gen_ai.user.message", {"content": "one"}, 1210), record("gen_ai.choice", {"message": {"content": "two"}}, 1270),
        record("gen_ai.user.message", {"content": "three"}, 1410),
    )  # fmt: skip
    first, second = of_kind(recording, "model")
    assert first.request["messages"][0]["parts"][0]["content"] == "one"
    assert first.response["messages"][0]["parts"][0]["content"] == "two"
    assert second.request["messages"][0]["parts"][0]["content"] == "three"
    assert "response.messages" in gaps(second)


def test_a_record_goes_nowhere_when_two_calls_ran_and_none_when_the_call_has_its_own():
    told = record("gen_ai.user.message", {"content": "one"}, 1230)
    both = rebuilt(agent(), model(2), model(3, start=1210, end=1260), told)
    assert all("request.messages" in gaps(e) for e in of_kind(both, "model"))
    own = rebuilt(agent(), model(2, ASK), told)
    assert of_kind(own, "model")[0].request["messages"][0]["parts"][0]["content"] != "one"


def test_claude_code_s_records_go_to_their_call_and_their_tool():
    scope = Scope(name="com.anthropic.claude_code.tracing")
    body = {"role": "assistant", "content": [{"type": "text", "text": "home"}], "stop_reason": "end_turn"}

    def told(name, at, **attributes):
        return LogRecord(trace_id=TRACE, span_id=f"{1:016x}", event_name=name, time=at, attributes=attributes, scope=scope)

    recording = rebuilt(
        agent(scope=scope),
        model(2, scope=scope, span__type="llm_request"), model(4, scope=scope, span__type="llm_request"),
        tool(3, call_id="c1", scope=scope, span__type="tool"),
        told("api_request_body", 1399, body='{"model', request_body_id="b"),
        told("api_response_body", 1700, body=json.dumps(body), request_body_id="b"),
        told("assistant_response", 1249, response="so"), told("tool_result", 9999, tool_use_id="c1", tool_input='{"id": 1}'),
    )  # fmt: skip
    first, second = of_kind(recording, "model")
    assert [e.response["messages"][0]["parts"][0]["content"] for e in (first, second)] == ["so", "home"]
    assert gaps(second)["request.messages"] == "truncated"
    assert of_kind(recording, "tool")[0].request["arguments"] == {"id": 1}


def test_a_bare_value_is_the_only_argument_of_the_call_and_takes_its_name():
    bare = span(
        3,
        "find",
        parent=1,
        scope=OWN,
        openinference__span__kind="TOOL",
        tool__name="find",
        input__value="o-1",
        output__value="1",
    )
    recording = rebuilt(agent(), model(2, ASK, CALL), bare)
    (found,) = of_kind(recording, "tool")
    assert found.request == {"arguments": {"id": "o-1"}, "call_id": "c1"}
    assert rules(found)["request.arguments"] == "arguments_from_model_reply"


def function(n, name="find", **more):
    return span(n, name, parent=1, scope=Scope(name="openlit"), function__args="()", function__kwargs="{'id': 'o-1'}",
                gen_ai__output__messages="7", **more)  # fmt: skip


def test_a_traced_function_is_the_tool_that_a_model_asked_for_and_context_else():
    recording = rebuilt(agent(), model(2, ASK, CALL), function(3), function(4, "helper"))
    (found,) = of_kind(recording, "tool")
    assert (found.request, found.response) == ({"arguments": {"id": "o-1"}, "call_id": "c1"}, {"result": 7})
    assert "function.args" not in found.attributes
    (other,) = of_kind(recording, "context")
    assert (other.name, other.request, other.attributes["function.args"]) == ("helper", {}, "()")


def test_one_block_of_many_is_not_the_whole_result():
    told = answer("c1", '{"id": 1}\n{"id": 2}')
    recording = rebuilt(
        agent(), model(2, ASK, CALL), tool(3, arguments={"id": "o-1"}, result={"id": 1}), model(4, [*ASK, CALL, told], DONE)
    )
    (found,) = of_kind(recording, "tool")
    assert found.response["result"] == '{"id": 1}\n{"id": 2}'
    assert rules(found)["response.result"] == "result_from_next_request"


def test_the_id_of_an_item_is_no_call_id():
    item = calls(("fc_1", "find", {"id": "o-1"}))
    recording = rebuilt(
        agent(),
        model(2, ASK, item),
        tool(3, arguments={"id": "o-1"}, result=1),
        model(4, [*ASK, item, answer("call_1", "1")], DONE),
    )
    assert of_kind(recording, "tool")[0].request["call_id"] == "call_1"
    alone = rebuilt(agent(), model(2, ASK, item), tool(3, arguments={"id": "o-1"}, result=1))
    assert "call_id" not in of_kind(alone, "tool")[0].request


def test_a_reply_that_called_tools_and_holds_text_only_is_not_whole():
    recording = rebuilt(agent(), model(2, ASK, text("assistant", "so"), gen_ai__response__finish_reasons=["tool_calls"]))
    assert gaps(of_kind(recording, "model")[0])["response.messages[0].parts"] == "not_carried_by_convention"


def test_a_span_that_holds_roles_alone_tells_the_call_around_it_again():
    inner = model(3, [{"role": "user", "parts": []}], SKELETON, parent=2, response_id="resp-2", gen_ai__usage__input_tokens=3)
    (only,) = of_kind(rebuilt(agent(), model(2, ASK, DONE), inner), "model")
    assert only.request["messages"][0]["parts"]
    assert only.response["usage"] == {"input_tokens": 3}
    (only,) = of_kind(
        rebuilt(
            agent(), model(2, [{"role": "user", "parts": []}], SKELETON), model(3, ASK, DONE, parent=2, response_id="resp-2")
        ),
        "model",
    )
    assert only.request["messages"][0]["parts"]


def test_a_conversation_of_which_no_boundary_is_told_is_reported():
    body = json.dumps({"data": {"messages": ["ChatMessage(…)"]}})
    chain = span(1, "Pipeline.run", scope=OWN, openinference__span__kind="CHAIN", input__value=body)
    assert [m.field for m in rebuilt(chain).missing] == ["model", "tool"]
    assert rebuilt(span(1, "x", scope=OWN, openinference__span__kind="CHAIN", input__value='{"a": 1}')).missing == ()


OTHER = "d" * 32


def joined(*spans):
    by = {}
    for one in spans:
        by.setdefault(one.trace_id, []).append(one)
    extents = [
        TraceExtent(trace_id=t, start=min(s.start for s in v), end=max(s.end for s in v), spans=len(v)) for t, v in by.items()
    ]
    return {frozenset(group) for group in join_traces(extents, lambda t: (by[t], ()))}


def many(*spans):
    return [*spans, *(span(n, "step", parent=1) for n in range(50, 54))]


def test_a_call_told_again_in_a_trace_of_its_own_belongs_to_the_trace_around_it():
    around = many(agent(), model(2, ASK, DONE, response_id="r-1"))
    again = model(7, parent=None, trace=OTHER, start=1210, end=1240, response_id="r-1", scope=OWN)
    assert joined(*around, again) == {frozenset({TRACE, OTHER})}
    assert len(of_kind(rebuilt(*around, again), "model")) == 1
    elsewhere = model(7, parent=None, trace=OTHER, start=1210, end=1240, response_id="r-2", scope=OWN)
    assert len(joined(*around, elsewhere)) == 2
    later = model(7, parent=None, trace=OTHER, start=2 * 10**6, end=3 * 10**6, response_id="r-1", scope=OWN)
    assert len(joined(*around, later)) == 2


def test_another_package_that_tells_the_same_reply_in_another_trace_tells_the_same_call():
    again = model(7, ASK, DONE, parent=None, trace=OTHER, start=1210, end=1240, response_id="resp-2", scope=OWN)
    assert len(of_kind(rebuilt(agent(), model(2, ASK, DONE), again), "model")) == 1
    different = model(
        7, ASK, text("assistant", "other"), parent=None, trace=OTHER, start=1210, end=1240, response_id="resp-2", scope=OWN
    )
    assert len(of_kind(rebuilt(agent(), model(2, ASK, DONE), different), "model")) == 2


def test_a_call_whose_history_tells_only_that_there_was_a_turn_goes_on_from_the_one_that_asked_the_same():
    first = model(2, ASK, CALL, parent=None, response_id="r-1")
    later = model(3, [*ASK, SKELETON, answer(None, "1")], DONE, parent=None, trace=OTHER, response_id="r-2")
    assert joined(first, later) == {frozenset({TRACE, OTHER})}
    other = model(3, [text("user", "?"), SKELETON, answer(None, "1")], DONE, parent=None, trace=OTHER, response_id="r-2")
    assert len(joined(first, other)) == 2


def test_a_call_in_a_trace_of_its_own_belongs_to_the_agent_that_has_none_and_ran_its_tools():
    alone = model(7, ASK, CALL, parent=None, trace=OTHER, start=1200, end=1250)
    ran = tool(3, arguments={"id": "o-1"}, result=1)
    assert joined(agent(), ran, alone) == {frozenset({TRACE, OTHER})}
    assert joined(*many(agent(), ran), alone) == {frozenset({TRACE, OTHER})}
    assert len(joined(agent(), tool(3, arguments={"id": "o-2"}, result=1), alone)) == 2
    assert len(joined(agent(), model(2, ASK, DONE), ran, alone)) == 2


SPELLED = "llm.input_messages.{}.message.{}"


def test_a_message_whose_role_a_limit_took_is_the_system_prompt_if_it_is_that_elsewhere():
    def spelled(n, first, *, dropped=0):
        held = {SPELLED.format(0, "content"): first, SPELLED.format(1, "role"): "user", SPELLED.format(1, "content"): "hi"}
        whole = held if dropped else {SPELLED.format(0, "role"): "system", **held}
        made = span(n, "call", parent=1, scope=OWN, _dropped_attributes_count=dropped, openinference__span__kind="LLM")
        return made.__class__(
            **{**{f: getattr(made, f) for f in made.__struct_fields__}, "attributes": {**made.attributes, **whole}}
        )

    later = of_kind(rebuilt(agent(), spelled(2, "be brief"), spelled(3, "be brief", dropped=2)), "model")[1]
    assert later.request["system"] == [{"type": "text", "content": "be brief"}]
    assert rules(later)["request.system"] == "role_from_other_request"
    unknown = of_kind(rebuilt(agent(), spelled(2, "be brief"), spelled(3, "other", dropped=2)), "model")[1]
    assert gaps(unknown)["request.messages[0].role"] == "attributes_dropped"


def test_two_calls_with_different_ids_are_two_even_if_one_span_stands_in_the_other():
    inner = model(3, ASK, DONE, parent=2, response_id="r-9")
    assert len(of_kind(rebuilt(agent(), model(2, ASK, DONE), inner), "model")) == 2


def test_where_two_traces_could_be_the_call_s_it_is_left_alone():
    third = "e" * 32
    alone = model(7, ASK, CALL, parent=None, trace=OTHER, start=1200, end=1250)
    agents = [one for t in (TRACE, third) for one in (agent(trace=t), tool(3, arguments={"id": "o-1"}, result=1, trace=t))]
    assert len(joined(*agents, alone)) == 3
    again = model(7, parent=None, trace=OTHER, start=1210, end=1240, response_id="r-1")
    around = [one for t in (TRACE, third) for one in (agent(trace=t), model(2, ASK, DONE, response_id="r-1", trace=t))]
    assert len(joined(*around, again)) == 3


def test_a_record_does_not_go_to_a_call_whose_span_holds_that_side():
    told = record("gen_ai.choice", {"message": {"content": "other"}}, 1230)
    (only,) = of_kind(rebuilt(agent(), model(2, ASK, DONE), told), "model")
    assert "conflict" not in {n.code for n in rebuilt(agent(), model(2, ASK, DONE), told).notes}
    assert only.response["messages"][0]["parts"][0]["content"] != "other"


def test_a_result_with_words_behind_it_is_whole():
    told = answer("c1", '{"id": 1} and try again {')
    ran = tool(3, arguments={"id": "o-1"}, result={"id": 1})
    (found,) = of_kind(rebuilt(agent(), model(2, ASK, CALL), ran, model(4, [*ASK, CALL, told], DONE)), "tool")
    assert found.response["result"] == {"id": 1}
    words = answer("c1", '{"id": 1} and {so on}')
    (found,) = of_kind(rebuilt(agent(), model(2, ASK, CALL), ran, model(4, [*ASK, CALL, words], DONE)), "tool")
    assert found.response["result"] == {"id": 1}


def test_a_request_that_names_the_response_before_it_need_not_grow():
    kept = {"gen_ai__request__previous_response__id": "resp-2"}
    recording = rebuilt(agent(), model(2, ASK, CALL), tool(3, arguments={"id": "o-1"}, result=1), model(4, ASK, DONE, **kept))
    assert "request.messages" not in gaps(of_kind(recording, "model")[1])


def test_a_step_inside_a_package_is_none_in_any_convention():
    merged = span(
        3, "execute_tool (merged)", parent=1, gen_ai__operation__name="execute_tool", gen_ai__tool__name="(merged tools)"
    )
    assert of_kind(rebuilt(agent(), merged), "tool") == []


SDK = Scope(name="com.anthropic.sdk.python", version="2.0")
USED = {"gen_ai__usage__input_tokens": 9, "gen_ai__usage__output_tokens": 2}


def without_id(n):
    """A package's span of a call, in which no response id stands."""
    whole = model(n, ASK, DONE, start=1200, end=1300, **USED)
    del whole.attributes["gen_ai.response.id"]
    return whole


def told_twice(*more, **inner):
    """Spans of each model event: a package tells a call, and beside it the SDK, which alone has a response id."""
    hollow = model(3, **{"scope": SDK, "response_id": "msg-1", "start": 1210, "end": 1290, **USED, **inner})
    return [len(e.spans) for e in of_kind(rebuilt(agent(), without_id(2), hollow, *more), "model")]


def test_a_call_that_stands_empty_beside_the_span_that_tells_it_is_that_call():
    assert [2] == told_twice()


@pytest.mark.parametrize(
    "inner",
    [
        {"gen_ai__usage__output_tokens": 3},
        {"scope": LATEST},
        {"parent": 77},
        {"gen_ai__usage__input_tokens": None},
        {"end": 1310},
    ],
)
def test_one_that_differs_in_anything_is_another_call(inner):
    assert [1, 1] == told_twice(**inner)


def test_where_two_calls_could_be_the_empty_one_s_it_is_left_alone():
    assert [1, 1, 1] == told_twice(without_id(4))
    assert [1, 1, 1] == told_twice(model(5, scope=SDK, response_id="msg-2", start=1220, end=1280, **USED))
