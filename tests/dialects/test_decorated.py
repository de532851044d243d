"""The dialect of our own decorators: every value as it was, and each absence with its reason."""

import json

import pytest
from hypothesis import given, settings

from otelreplay import canonical
from otelreplay.dialects import DIALECTS, SpanView
from otelreplay.dialects.decorated import DIALECT
from otelreplay.spans.model import Removal
from otelreplay.testing.dialects import check_dialect, hostile_views
from tests.canonical.payloads import same, values
from tests.dialects.own_spans import failed, js, own, own_agent, own_model, own_tool, read, said

KINDS = ("agent", "model", "tool", "retrieval", "state", "clock", "random", "id")


def gaps(reading):
    return {g.field: g.cause for g in reading.gaps}


def marks(reading):
    return {m.field: getattr(m, "cause", None) or m.rule for m in reading.marks}


# ---- which spans -------------------------------------------------------------------------------------------------------


def test_a_span_of_anybody_else_is_not_read_and_its_typed_text_stays_user_data():
    span = own_tool(1, result=(1, 2))
    foreign = {k: v for k, v in span.attributes.items() if not k.startswith("otelreplay.")}
    view = SpanView(span=own(1, "tool", more=foreign).__class__(trace_id="a" * 32, span_id="b" * 16, attributes=foreign))
    assert DIALECT.read(view, None) is None
    from otelreplay.reconstruct import reconstruct

    (event,) = reconstruct([view.span]).events
    assert event.response["result"] == {"$otelreplay": "tuple", "items": [1, 2]}


def test_it_is_asked_first():
    assert DIALECTS[0] is DIALECT


@pytest.mark.parametrize("kind", KINDS)
def test_it_conforms_on_odd_values_under_every_name(kind):
    names = (*DIALECT.attribute_fields, "otelreplay.losses", "otelreplay.stream.end", "otelreplay.version", "error.type")
    read_any = 0
    for view in hostile_views(names):
        held = {**view.span.attributes, "otelreplay.kind": kind}
        span = view.span.__class__(**{f: getattr(view.span, f) for f in view.span.__struct_fields__} | {"attributes": held})
        read_any += check_dialect(DIALECT, SpanView(span=span, logs=view.logs, limit=1)) is not None
    assert read_any


# ---- values ------------------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(values)
def test_any_value_comes_back_as_it_was(value):
    """As the result of a tool, as an argument, as a chunk of a stream."""
    more = {"otelreplay.chunks": js([value]), "otelreplay.stream.end": "returned"}
    reading = read(own_tool(1, arguments={"a": value}, result=value, more=more))
    wanted = canonical.decode(canonical.encode(value))
    assert same(reading.fields["response.result"], wanted)
    assert same(reading.fields["request.arguments"], {"a": wanted})
    assert same(reading.fields["response.chunks"], [wanted])


def test_user_data_that_looks_typed_is_user_data():
    value = {"$otelreplay": "tuple", "items": [1]}
    assert read(own_tool(1, result=value)).fields["response.result"] == value


@pytest.mark.parametrize("result", ["", "42", "null", '{"a": 1}', "[]", '"x"'])
def test_a_text_result_is_that_text_whatever_it_looks_like(result):
    assert read(own_tool(1, result=result)).fields["response.result"] == result


def test_a_query_is_plain_text_even_where_it_looks_like_json():
    reading = read(own(1, "retrieval", "kb", more={"gen_ai.retrieval.query.text": '{"a": 1}', "otelreplay.result": "[]"}))
    assert reading.fields["request.query"] == '{"a": 1}'
    assert reading.name == "kb"


def test_a_retrieval_gives_its_exact_documents_once():
    documents = [{"id": 1, "score": (0.5,)}]
    more = {
        "gen_ai.retrieval.query.text": "q", "otelreplay.arguments": js({"top": 3}),
        "gen_ai.retrieval.documents": js(documents), "otelreplay.result": js(documents),
    }  # fmt: skip
    reading = read(own(1, "retrieval", "kb", more=more))
    assert reading.fields["response.result"] == documents
    assert reading.fields["request.params"] == {"top": 3}
    assert {"gen_ai.retrieval.documents", "otelreplay.result"} <= reading.taken


@pytest.mark.parametrize("kind", ["clock", "random", "id"])
def test_clock_random_and_ids_have_a_result_and_no_name_of_their_own(kind):
    reading = read(own(1, kind, more={"otelreplay.result": js(0.1)}))
    assert (reading.kind, reading.name, dict(reading.fields)) == (kind, kind, {"response.result": 0.1})


def test_state_has_arguments_and_a_result():
    more = {"otelreplay.arguments": js({"key": (1, 2)}), "otelreplay.result": js(b"\xff"), "otelreplay.effect": "write"}
    reading = read(own(1, "state", "profile", more=more))
    assert reading.name == "profile"
    assert reading.fields == {"request.arguments": {"key": (1, 2)}, "response.result": b"\xff", "effect": "write"}


def test_what_the_decorator_was_told_is_read():
    more = {
        "otelreplay.effect": "write",
        "otelreplay.idempotency_key": "k-1",
        "otelreplay.version": "2",
        "gen_ai.tool.call.id": "c",
    }
    fields = read(own_tool(1, more=more)).fields
    assert (fields["effect"], fields["idempotency_key"], fields["versions"]) == ("write", "k-1", {"tool": "2"})
    assert fields["request.call_id"] == "c"


def test_an_effect_that_is_none_stays_beside_the_event():
    reading = read(own_tool(1, more={"otelreplay.effect": "boom"}))
    assert "effect" not in reading.fields
    assert "otelreplay.effect" not in reading.taken


def test_an_agent_has_its_arguments_and_its_exact_output():
    messages = {"gen_ai.input.messages": js([said("user", "hi")]), "gen_ai.output.messages": js([said("assistant", "yo")])}
    reading = read(own_agent(given={"ask": "hi", "n": 2}, output="yo", more=messages))
    assert reading.fields["request.input"] == {"ask": "hi", "n": 2}
    assert reading.fields["response.output"] == "yo"
    assert messages.keys() <= reading.taken


# ---- models ------------------------------------------------------------------------------------------------------------


def test_a_model_call_has_its_messages_params_and_arguments():
    more = {
        "gen_ai.provider.name": "openai", "gen_ai.request.temperature": 0.5, "gen_ai.request.max_completion_tokens": 9,
        "otelreplay.arguments": js({"style": ("short",)}), "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 3, "gen_ai.response.id": "r", "gen_ai.response.model": "m-1",
        "gen_ai.system_instructions": js([{"type": "text", "content": "be brief"}]),
        "gen_ai.tool.definitions": js([{"type": "function", "name": "find", "parameters": {}}]),
        "otelreplay.result": js(("yo", 1)),
    }  # fmt: skip
    reading = read(own_model(1, [said("user", "hi")], said("assistant", "yo"), more=more))
    fields = reading.fields
    assert fields["request.params"] == {"temperature": 0.5, "max_tokens": 9, "style": ("short",)}
    assert fields["request.system"] == [{"type": "text", "content": "be brief"}]
    assert [t["name"] for t in fields["request.tools"]] == ["find"]
    assert fields["request.messages"] == [said("user", "hi")]
    assert fields["response.usage"] == {"input_tokens": 3}
    assert fields["response.finish_reasons"] == ["stop"]
    assert fields["response.result"] == ("yo", 1)
    assert not reading.gaps
    assert reading.name == "m"


def test_a_leading_system_message_is_the_system_prompt():
    fields = read(own_model(1, [said("system", "brief"), said("user", "hi")], said("assistant", "yo"))).fields
    assert fields["request.system"] == [{"type": "text", "content": "brief"}]
    assert fields["request.messages"] == [said("user", "hi")]


def test_a_result_that_is_the_text_of_the_reply_is_taken_from_it_and_said_to_be():
    reading = read(own_model(1, [said("user", "hi")], said("assistant", "yo")))
    assert reading.fields["response.result"] == "yo"
    assert marks(reading) == {"response.result": "result_is_reply_text"}


@pytest.mark.parametrize(
    "more",
    [
        {"otelreplay.chunks": js(["y", "o"]), "otelreplay.stream.end": "stopped"},
        failed("E", "no", {"class": "app:E"})[0],
        {"gen_ai.output.messages": js([{"role": "assistant", "parts": [{"type": "tool_call", "name": "f"}]}])},
    ],
    ids=["stream", "failure", "tool call"],
)
def test_a_reply_that_is_not_the_result_is_not_taken_for_it(more):
    assert "response.result" not in read(own_model(1, [], said("assistant", "yo"), more=more)).fields


def test_typed_values_in_messages_are_typed_and_equal_messages_one_object():
    from otelreplay.dialects import Interner

    message = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": (1, float("nan"))}]}
    plain = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": [1, None]}]}
    interner = Interner()
    first, second = (
        DIALECT.read(SpanView(span=own_model(n, [message, plain], said("assistant", "a"))), interner) for n in (1, 2)
    )
    one, other = first.fields["request.messages"]
    assert type(one["parts"][0]["response"]) is tuple
    assert other["parts"][0]["response"] == [1, None]
    assert second.fields["request.messages"][0] is one


# ---- streams -----------------------------------------------------------------------------------------------------------


def test_a_stream_says_its_chunks_what_was_sent_and_how_it_ended():
    more = {"otelreplay.chunks": js([1, (2,)]), "otelreplay.stream.end": "returned", "otelreplay.sent": js([[0, "go"]])}
    reading = read(own_tool(1, result="done", more=more))
    assert reading.fields["response.chunks"] == [1, (2,)]
    assert reading.fields["response.stream"] == {"end": "returned", "chunks": 2, "sent": [[0, "go"]]}
    assert reading.fields["response.result"] == "done"
    assert not reading.marks


def test_a_stream_that_its_consumer_left_is_marked_and_owes_no_result():
    span = own(
        1,
        "tool",
        "rows",
        more={"gen_ai.tool.call.arguments": "{}", "otelreplay.chunks": "[1,2]", "otelreplay.stream.end": "stopped"},
    )
    reading = read(span)
    assert reading.fields["response.stream"] == {"end": "stopped", "chunks": 2}
    (mark,) = reading.marks
    assert (mark.field, mark.cause) == ("response.chunks", "never_ended")
    assert mark.detail == "the program stopped reading after 2 chunks"
    assert not reading.gaps


def test_a_stream_that_failed_has_its_chunks_and_its_error():
    more, fields = failed("RateLimit", "slow down", {"class": "app:RateLimit", "args": ["slow down"]})
    more |= {"gen_ai.tool.call.arguments": "{}", "otelreplay.chunks": '["a","b"]', "otelreplay.stream.end": "raised"}
    reading = read(own(1, "tool", "rows", more=more, **fields))
    assert reading.fields["response.chunks"] == ["a", "b"]
    assert reading.fields["error"].type == "RateLimit"
    assert not reading.gaps


# ---- failures ----------------------------------------------------------------------------------------------------------


def test_a_failure_keeps_what_it_takes_to_raise_it_again():
    held = {"class": "app:NoOrder", "args": ["o-1", (404,)], "fields": {"code": b"\x01"}}
    more, fields = failed("app.NoOrder", "('o-1', (404,))", held)
    error = read(own(1, "tool", more={"gen_ai.tool.call.arguments": "{}"} | more, **fields)).fields["error"]
    assert (error.type, error.message) == ("app.NoOrder", "('o-1', (404,))")
    assert error.model_extra == held


def test_a_failure_without_its_parts_is_still_one():
    for text in ("{", "[]", '"x"'):
        more, fields = failed("E", "m", {})
        reading = read(own(1, "tool", more=more | {"otelreplay.error": text}, **fields))
        assert (reading.fields["error"].type, reading.fields["error"].model_extra) == ("E", {})
        assert "otelreplay.error" not in reading.taken


# ---- what is not there -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "path", "field"),
    [
        ("tool", "arguments.img", "request.arguments.img"),
        ("tool", "result[0].a", "response.result[0].a"),
        ("model", "arguments.hook", "request.params.hook"),
        ("retrieval", "arguments.filter", "request.params.filter"),
        ("state", "arguments.key", "request.arguments.key"),
        ("agent", "input.db", "request.input.db"),
        ("agent", "output", "response.output"),
        ("tool", "chunks[2]", "response.chunks[2]"),
        ("tool", "sent[0][1]", "response.stream.sent[0][1]"),
        ("tool", "error.args[0]", "error.args[0]"),
    ],
)
def test_what_could_not_be_encoded_is_marked_on_exactly_that_leaf(kind, path, field):
    lost = [{"path": path, "class": "app:Socket", "reason": "unencodable"}]
    reading = read(own(1, kind, more={"otelreplay.losses": js(lost)}))
    assert [(m.field, m.cause) for m in reading.marks if m.field == field] == [(field, "undecodable")]


def test_a_text_that_a_limit_left_out_is_truncated_and_says_how_long_it_was():
    lost = [{"path": "gen_ai.tool.call.result", "class": "builtins:str", "reason": "attribute_limit", "size": 900, "limit": 64}]
    reading = read(own(1, "tool", more={"gen_ai.tool.call.arguments": "{}", "otelreplay.losses": js(lost)}))
    (gap,) = reading.gaps
    assert (gap.field, gap.cause) == ("response.result", "truncated")
    assert "900" in gap.detail
    assert "64" in gap.detail


@pytest.mark.parametrize(
    ("kind", "field"),
    [("tool", "response.result"), ("model", "response.messages"), ("agent", "response.output"), ("clock", "response.result")],
)
def test_a_call_that_never_ended_has_no_response_and_says_so(kind, field):
    span = own(
        1, kind, end=0, more={"gen_ai.tool.call.arguments": "{}", "otelreplay.input": "{}", "gen_ai.input.messages": "[]"}
    )
    reading = read(span)
    assert {f: c for f, c in gaps(reading).items() if f.startswith("response")} == {field: "never_ended"}


def test_a_span_without_content_says_how_to_switch_it_on():
    reading = read(own(1, "tool"))
    assert gaps(reading) == {"request.arguments": "content_not_captured", "response.result": "content_not_captured"}
    assert all("OTELREPLAY_CAPTURE" in g.remedy for g in reading.gaps)


def test_a_function_without_messages_owes_none():
    reading = read(own(1, "model", "classify", more={"otelreplay.arguments": js({"ticket": 1}), "otelreplay.result": '"spam"'}))
    assert "request.messages" not in gaps(reading)
    assert reading.name == "classify"
    assert reading.fields["request.params"] == {"ticket": 1}


def test_attributes_that_the_sdk_dropped_are_counted():
    reading = read(own(1, "tool", dropped_attributes_count=2))
    assert set(gaps(reading).values()) == {"attributes_dropped"}


def test_a_cut_text_is_truncated_and_not_read():
    reading = read(own(1, "tool", more={"gen_ai.tool.call.arguments": '{"a": "xxx', "gen_ai.tool.call.result": "1"}), limit=10)
    assert gaps(reading) == {"request.arguments": "truncated"}


def test_of_a_span_that_never_came_nothing_is_called_unrecorded():
    reading = read(own(1, "tool"), received=False)
    assert set(gaps(reading).values()) == {"span_not_received"}


def test_a_failure_of_which_only_the_exception_event_is_there_is_a_failure():
    _, fields = failed("E", "m", {})
    assert read(own_tool(1, **fields)).fields["error"].type == "E"


# ---- after redaction ---------------------------------------------------------------------------------------------------


def test_placeholders_inside_the_text_stay_where_they_are():
    text = js({"who": "ada@example.com", "n": (1,)}).replace("ada@example.com", "[EMAIL:1a2b]")
    assert read(own_tool(1, result=0, more={"gen_ai.tool.call.arguments": text})).fields["request.arguments"] == {
        "who": "[EMAIL:1a2b]", "n": (1,),
    }  # fmt: skip


def test_a_placeholder_in_place_of_the_whole_text_is_the_value():
    reading = read(own(1, "tool", more={"gen_ai.tool.call.arguments": "[MASKED:r]", "gen_ai.tool.call.result": "1"}))
    assert reading.fields["request.arguments"] == "[MASKED:r]"
    assert not reading.gaps


def test_what_a_policy_removed_is_redacted_not_forgotten():
    removed = (
        Removal(path="attributes.gen_ai.tool.call.result", rule="r", action="drop"),
        Removal(path="attributes.gen_ai.tool.call.arguments.who", rule="q", action="drop"),
    )
    reading = read(own(1, "tool", more={"gen_ai.tool.call.arguments": "{}"}, removed=removed))
    assert gaps(reading) == {"response.result": "redacted"}
    assert marks(reading) == {"request.arguments.who": "redacted"}


def test_the_place_of_a_removal_counts_without_the_system_message():
    removed = (
        Removal(path="attributes.gen_ai.input.messages[1].parts[0]", rule="r", action="drop"),
        Removal(path="attributes.gen_ai.input.messages[0]", rule="q", action="drop"),
        Removal(path="attributes.gen_ai.input.messages.odd", rule="o", action="drop"),
    )
    span = own_model(1, [said("system", "s"), said("user", "u")], said("assistant", "a"), removed=removed)
    assert {f for f, c in marks(read(span)).items() if c == "redacted"} == {
        "request.messages[0].parts[0]", "request.system", "request.messages.odd",
    }  # fmt: skip


def test_structured_attributes_are_read_like_text():
    reading = read(own(1, "tool", more={"gen_ai.tool.call.arguments": {"a": 1}, "gen_ai.tool.call.result": json.loads("[1]")}))
    assert reading.fields["request.arguments"] == {"a": 1}
    assert reading.fields["response.result"] == [1]
