"""A whole trace becomes its events: content, order, parents, causes."""

import msgspec
import pytest

from otelreplay.spans import Scope
from tests.reconstruct.builders import (
    ASK,
    CALL,
    DONE,
    OWN,
    TOLD,
    TRACE,
    agent,
    answer,
    calls,
    exception,
    gaps,
    model,
    of_kind,
    rebuilt,
    rules,
    span,
    text,
    tool,
    whole_run,
)


def test_a_whole_run_has_every_boundary_once_and_no_gap():
    recording = rebuilt(*whole_run())
    assert [e.kind for e in recording.events] == ["agent", "model", "tool", "model"]
    assert [m for e in recording.events[1:] for m in e.missing] == []
    assert recording.missing == ()
    first = recording.events[1]
    assert first.request["system"] == [{"type": "text", "content": "be brief"}]
    assert [m["role"] for m in first.request["messages"]] == ["user"]
    assert first.response["messages"][0]["parts"][0]["arguments"] == {"id": "o-1"}
    assert recording.events[2].request == {"arguments": {"id": "o-1"}, "call_id": "c1"}
    assert recording.events[2].response == {"result": {"state": "late"}}


def test_after_names_causes_only_and_is_transitively_reduced():
    recording = rebuilt(*whole_run())
    assert [e.after for e in recording.events] == [[], [0], [1], [2]]
    assert [e.parent for e in recording.events] == [None, 0, 0, 0]
    assert {e.agent for e in recording.events[1:]} == {"desk"}


def test_parallel_tools_have_one_cause_and_one_effect_and_no_order_between_them():
    both = calls(("c1", "find", {"id": 1}), ("c2", "find", {"id": 2}))
    recording = rebuilt(
        agent(),
        model(2, ASK, both),
        tool(3, arguments={"id": 1}, result=1, call_id="c1"),
        tool(4, arguments={"id": 2}, result=2, call_id="c2"),
        model(5, [*ASK, both, answer("c1", "1"), answer("c2", "2")], DONE),
    )
    assert [e.after for e in recording.events] == [[], [0], [1], [1], [2, 3]]


def test_history_is_not_new_events():
    history = [*ASK]
    items = [agent()]
    for n in range(4):
        call = calls((f"c{n}", "find", {"n": n}))
        items += [model(10 * n + 2, list(history), call), tool(10 * n + 3, arguments={"n": n}, result=n, call_id=f"c{n}")]
        history += [call, answer(f"c{n}", str(n))]
    recording = rebuilt(*items, model(90, history, DONE))
    assert len(of_kind(recording, "model")) == 5
    assert len(of_kind(recording, "tool")) == 4
    assert recording.missing == ()


def test_messages_that_repeat_are_one_object_in_all_events():
    models = of_kind(rebuilt(*whole_run()), "model")
    assert models[0].request["messages"][0] is models[1].request["messages"][0]


def test_a_tool_call_without_a_span_becomes_an_inferred_event():
    recording = rebuilt(agent(), model(2, ASK, CALL), model(4, [*ASK, CALL, TOLD], DONE))
    (found,) = of_kind(recording, "tool")
    assert (found.name, found.request["arguments"], found.response["result"]) == ("find", {"id": "o-1"}, {"state": "late"})
    assert rules(found) == {
        "request.arguments": "arguments_from_model_reply",
        "request.call_id": "call_id_from_model_reply",
        "response.result": "result_from_next_request",
    }
    assert found.inferred[0].source == f"{TRACE}/{2:016x}:response.messages[0].parts[0].arguments"
    assert [e.kind for e in recording.events] == ["agent", "model", "tool", "model"]
    assert found.start is None
    assert found.missing == []


def test_inferred_events_of_one_reply_stand_in_the_order_of_its_calls():
    both = calls(("z", "find", {"id": 1}), ("a", "find", {"id": 2}))
    recording = rebuilt(agent(), model(2, ASK, both), model(5, [*ASK, both, answer("a", "2"), answer("z", "1")], DONE))
    assert [e.request["call_id"] for e in of_kind(recording, "tool")] == ["z", "a"]
    assert [e.response["result"] for e in of_kind(recording, "tool")] == ["1", "2"]


def test_a_call_that_nobody_answered_says_so():
    recording = rebuilt(agent(), model(2, ASK, CALL))
    (found,) = of_kind(recording, "tool")
    assert gaps(found) == {"response.result": "span_not_received"}
    assert "result" not in (found.response or {})


def test_what_the_model_was_told_is_kept_where_it_differs():
    told = answer("c1", "Error: no such order")
    recording = rebuilt(
        agent(),
        model(2, ASK, CALL),
        tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1"),
        model(4, [*ASK, CALL, told], DONE),
    )
    assert of_kind(recording, "tool")[0].response == {"result": {"state": "late"}, "as_seen": "Error: no such order"}


def test_the_envelope_that_an_api_asks_for_is_no_difference():
    told = answer("c1", {"result": {"state": "late"}})
    recording = rebuilt(
        agent(),
        model(2, ASK, CALL),
        tool(3, arguments={"id": "o-1"}, result={"state": "late"}, call_id="c1"),
        model(4, [*ASK, CALL, told], DONE),
    )
    assert of_kind(recording, "tool")[0].response == {"result": {"state": "late"}}


def test_an_exception_event_tells_how_a_tool_failed_and_no_result_is_missed():
    failed = msgspec.structs.replace(
        tool(3, arguments={"id": "o-1"}, call_id="c1"),
        status_code=2,
        status_message="LookupError: gone",
        events=(exception("LookupError", "gone"),),
    )
    recording = rebuilt(agent(), model(2, ASK, CALL), failed, model(4, [*ASK, CALL, answer("c1", '{"error": "gone"}')], DONE))
    (found,) = of_kind(recording, "tool")
    assert (found.error.type, found.error.message) == ("LookupError", "gone")
    assert found.missing == []
    assert found.response == {"as_seen": {"error": "gone"}}
    assert found.attributes["otelreplay.events"][0]["attributes"]["exception.stacktrace"] == "…"


def test_a_failed_model_call_misses_no_reply():
    failed = msgspec.structs.replace(
        model(2, ASK),
        status_code=2,
        status_message="429",
        attributes=model(2, ASK).attributes | {"error.type": "RateLimitError"},
    )
    (found,) = of_kind(rebuilt(agent(), failed), "model")
    assert (found.error.type, found.error.message, found.missing) == ("RateLimitError", "429", [])


def test_tool_spans_without_ids_pair_by_name_arguments_and_order():
    both = calls(("c1", "find", {"id": 1}), ("c2", "find", {"id": 2}))
    recording = rebuilt(
        agent(),
        model(2, ASK, both),
        tool(3, arguments={"id": 2}, result="two"),
        tool(4, arguments={"id": 1}, result="one"),
        model(5, [*ASK, both, answer("c1", "one"), answer("c2", "two")], DONE),
    )
    assert [(e.request["arguments"]["id"], e.request["call_id"]) for e in of_kind(recording, "tool")] == [(2, "c2"), (1, "c1")]
    assert not [n for n in recording.notes if n.code == "ambiguous_pairing"]


def test_a_pairing_that_could_be_another_is_noted():
    both = calls(("c1", "find", {"id": 1}), ("c2", "find", {"id": 2}))
    recording = rebuilt(
        agent(), model(2, ASK, both), tool(3), tool(4), model(5, [*ASK, both, answer("c1", "one"), answer("c2", "two")], DONE)
    )
    assert [e.request["arguments"]["id"] for e in of_kind(recording, "tool")] == [1, 2]
    assert [n.code for n in recording.notes] == ["ambiguous_pairing"]


def test_equal_calls_are_answered_in_order():
    twins = calls((None, "find", {"id": 1}), (None, "find", {"id": 1}))
    recording = rebuilt(
        agent(), model(2, ASK, twins), model(5, [*ASK, twins, answer(None, "first"), answer(None, "second")], DONE)
    )
    assert [e.response["result"] for e in of_kind(recording, "tool")] == ["first", "second"]


def test_reused_call_ids_belong_to_the_nearest_reply():
    again = [*ASK, CALL, TOLD, text("user", "and now?")]
    recording = rebuilt(
        agent(),
        model(2, ASK, CALL),
        tool(3, arguments={"id": "o-1"}, result="first", call_id="c1"),
        model(4, [*ASK, CALL, TOLD], DONE),
        model(6, again, CALL),
        tool(7, arguments={"id": "o-1"}, result="second", call_id="c1"),
        model(8, [*again, CALL, answer("c1", "second")], DONE),
    )
    assert [(e.seq, e.after) for e in of_kind(recording, "tool")] == [(2, [1]), (5, [4])]


def test_the_sdks_own_span_inside_the_call_is_the_same_call():
    sdk = Scope(name="com.anthropic.sdk.python", version="2.0")
    recording = rebuilt(
        agent(), model(2, ASK, DONE, response_id="msg"), model(3, parent=2, response_id="msg", scope=sdk, start=1205)
    )
    (found,) = of_kind(recording, "model")
    assert found.spans == [f"{TRACE}/{2:016x}", f"{TRACE}/{3:016x}"]
    assert found.missing == []


def test_the_sdks_own_span_elsewhere_is_known_by_its_response_id():
    sdk = Scope(name="com.anthropic.sdk.python", version="2.0")
    own = msgspec.structs.replace(model(3, parent=None, response_id="msg", scope=sdk, start=1210, end=1220), trace_id="d" * 32)
    recording = rebuilt(agent(), model(2, ASK, DONE, response_id="msg"), own)
    assert len(of_kind(recording, "model")) == 1


def test_two_calls_with_different_replies_are_two_even_when_nested():
    recording = rebuilt(
        agent(), model(2, ASK, DONE, response_id="a"), model(3, ASK, text("assistant", "other"), parent=2, response_id="b")
    )
    assert len(of_kind(recording, "model")) == 2


def test_the_span_with_content_is_the_main_one_and_stands_where_the_outer_stood():
    bare = model(2, parent=1, response_id="x")
    recording = rebuilt(agent(), bare, model(3, ASK, DONE, parent=2, response_id="x", start=1210))
    (found,) = of_kind(recording, "model")
    assert found.id.endswith(f"{3:016x}")
    assert found.parent == 0


def test_client_and_server_of_a_tool_call_are_one_boundary():
    mcp = Scope(name="mcp-python-sdk")
    client = span(3, "MCP send tools/call find", parent=1, scope=mcp, mcp__method__name="tools/call")
    server = span(
        4,
        "tools/call find",
        parent=3,
        scope=mcp,
        mcp__method__name="tools/call",
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="find",
    )
    other = span(5, "MCP send tools/list", parent=1, scope=mcp, mcp__method__name="tools/list")
    recording = rebuilt(agent(), model(2, ASK, CALL), client, server, other, model(6, [*ASK, CALL, TOLD], DONE))
    (found,) = of_kind(recording, "tool")
    assert len(found.spans) == 2
    assert found.response["result"] == {"state": "late"}
    assert [e.name for e in of_kind(recording, "context")] == ["tools/list"]


def test_a_tool_without_content_anywhere_names_the_switch_of_its_package():
    mcp = Scope(name="mcp-python-sdk")
    recording = rebuilt(span(3, "tools/call find", scope=mcp, mcp__method__name="tools/call"))
    (found,) = of_kind(recording, "tool")
    assert gaps(found) == {"request.arguments": "not_carried_by_convention", "response.result": "not_carried_by_convention"}
    assert "MCP SDK" in found.missing[0].remedy


def test_an_unknown_convention_still_gives_structure():
    recording = rebuilt(span(1, "POST /x", scope=OWN, http__method="POST"), span(2, "inner", parent=1, scope=OWN))
    assert [(e.kind, e.name, e.parent) for e in recording.events] == [("context", "POST /x", None), ("context", "inner", 0)]
    assert gaps(recording.events[0]) == {"request": "not_carried_by_convention", "response": "not_carried_by_convention"}
    assert recording.events[0].attributes["http.method"] == "POST"


def test_an_agent_without_any_model_span_is_reported():
    package = Scope(name="opentelemetry.instrumentation.genai.openai_agents", version="1.3b0")
    recording = rebuilt(agent(scope=package), tool(2, arguments={}, result=1, scope=package))
    (gap,) = recording.missing
    assert (gap.field, gap.cause) == ("model", "not_carried_by_convention")
    assert "genai-openai" in gap.remedy
    alone = rebuilt(agent(scope=OWN)).missing
    assert [(m.field, m.cause) for m in alone] == [("model", "span_not_received"), ("tool", "not_carried_by_convention")]


def test_tools_that_only_a_finish_reason_tells_of_are_reported():
    silent = model(2, gen_ai__response__finish_reasons=["tool_calls"])
    recording = rebuilt(agent(), silent)
    assert [(m.field, m.cause) for m in recording.missing] == [("tool", "span_not_received")]


@pytest.mark.parametrize(
    ("kind", "operation"),
    [
        ("retrieval", "retrieval"),
        ("memory", "search_memory"),
        ("embeddings", "embeddings"),
        ("context", "create_agent"),
        ("context", "fetch_response"),
        ("context", "something_new"),
    ],
)
def test_every_operation_is_its_kind_of_boundary(kind, operation):
    recording = rebuilt(
        span(
            1,
            operation,
            gen_ai__operation__name=operation,
            gen_ai__request__model="m",
            gen_ai__retrieval__query__text="q",
            gen_ai__usage__input_tokens=3,
        )
    )
    assert [e.kind for e in recording.events] == [kind]


def test_retrieval_holds_query_and_documents():
    (found,) = rebuilt(
        span(
            1,
            "retrieval kb",
            gen_ai__operation__name="retrieval",
            gen_ai__data_source__id="kb",
            gen_ai__retrieval__query__text="q",
            gen_ai__retrieval__documents='[{"id": 1}]',
        )
    ).events
    assert (found.name, found.request, found.response) == ("kb", {"query": "q"}, {"result": [{"id": 1}]})


def test_parent_links_in_a_circle_do_no_harm():
    recording = rebuilt(span(1, parent=2), span(2, parent=1), span(3, parent=3))
    assert len(recording.events) == 3


def test_a_reply_to_two_choices_keeps_both():
    two = model(
        2,
        ASK,
        gen_ai__output__messages='[{"role":"assistant","parts":[{"type":"text","content":"a"}]},{"role":"assistant","parts":[{"type":"text","content":"b"}]}]',
    )
    (found,) = of_kind(rebuilt(agent(), two), "model")
    assert len(found.response["messages"]) == 2


def test_calls_that_a_reply_was_recorded_without_ids_of_have_them_from_the_history():
    """Each reply those of its own turn, though equal replies are one object."""
    bare = calls((None, "find", {"id": "o-1"}), (None, "find", {"id": "o-2"}))
    first, again = (calls((f"a{n}", "find", {"id": "o-1"}), (f"b{n}", "find", {"id": "o-2"})) for n in (1, 2))
    told = [[answer(f"b{n}", "two"), answer(f"a{n}", "one")] for n in (1, 2)]
    recording = rebuilt(
        agent(),
        model(2, ASK, bare),
        model(4, [*ASK, first, *told[0]], bare),
        model(6, [*ASK, first, *told[0], again, *told[1]], DONE),
    )
    replies = [[p.get("id") for p in m.response["messages"][0]["parts"]] for m in of_kind(recording, "model")]
    assert [["a1", "b1"], ["a2", "b2"], [None]] == replies
    assert [("a1", "one"), ("b1", "two"), ("a2", "one"), ("b2", "two")] == [
        (tool.request["call_id"], tool.response["result"]) for tool in of_kind(recording, "tool")
    ]
    (mark, _) = of_kind(recording, "model")[0].response["messages"][0].marks
    assert (mark.field, mark.rule) == ("parts[0].id", "call_id_from_later_history")
    assert mark.source == f"{TRACE}/{4:016x}:request.messages[1]"


def test_ids_of_a_history_that_has_some_only_name_nothing():
    bare = calls((None, "find", {"id": "o-1"}), (None, "find", {"id": "o-2"}))
    some = calls(("a1", "find", {"id": "o-1"}), (None, "find", {"id": "o-2"}))
    recording = rebuilt(agent(), model(2, ASK, bare), model(4, [*ASK, some, answer("a1", "one")], DONE))
    assert [None, None] == [p.get("id") for p in of_kind(recording, "model")[0].response["messages"][0]["parts"]]
