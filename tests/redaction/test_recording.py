"""The second pass: rules by event path, marks, and messages judged once."""

import json

import pytest

from otelreplay.events import Event, Failure, Inferred, Message, Missing, Recording, Redaction, expand
from otelreplay.redaction import Placeholder
from tests.redaction.samples import EMAIL, SECRETS, redactor, rules

TOKEN = SECRETS["github"]


def event(seq=0, kind="tool", **fields):
    return Event(seq=seq, id=f"t/{seq}", kind=kind, name="f", **fields)


def recording(*events, **fields):
    return Recording(run_id="0" * 64, trace_ids=("t",), events=events, **fields)


def run(policy, *events):
    return redactor(policy).recording(recording(*events)).events


def test_a_dropped_argument_is_marked_missing_and_redacted():
    rule = rules("id: who, path: request.arguments.customer, action: drop")
    (done,) = run(rule, event(request={"arguments": {"customer": "Ada", "n": 1}, "call_id": "c"}))
    assert done.request == {"arguments": {"n": 1}, "call_id": "c"}
    assert [(m.field, m.cause) for m in done.missing] == [("request.arguments.customer", "redacted")]
    assert done.redactions == [Redaction(field="request.arguments.customer", rule="who", action="drop")]


@pytest.mark.parametrize("action", ["mask", "pseudonym", "hash"])
def test_a_path_rule_replaces_and_marks(action):
    rule = rules(f"id: who, path: 'request.arguments.*_name', action: {action}")
    (done,) = run(rule, event(request={"arguments": {"first_name": "Ada", "n": 1}}))
    assert "Ada" not in str(done)
    assert done.request["arguments"]["n"] == 1
    assert done.redactions == [Redaction(field="request.arguments.first_name", rule="who", action=action)]
    assert done.missing == []


@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("request.arguments.items[*].sku", {"items": [{"n": 1}, {"n": 2}]}),
        ("request.arguments.items[1].sku", {"items": [{"n": 1, "sku": "a"}, {"n": 2}]}),
        ("request.arguments.items[0]", {"items": ["[DROPPED:r]", {"n": 2, "sku": "b"}]}),
        ("request.arguments.items", {}),
        ("**.sku", {"items": [{"n": 1}, {"n": 2}]}),
        ("request.*.items", {}),
    ],
)
def test_globs_name_steps_indexes_and_depth(glob, left):
    rule = rules(f"id: r, path: '{glob}', action: drop")
    (done,) = run(rule, event(request={"arguments": {"items": [{"n": 1, "sku": "a"}, {"n": 2, "sku": "b"}]}}))
    assert done.request["arguments"] == left


@pytest.mark.parametrize(
    ("path", "value"), [("request", {}), ("response", None), ("error", None), ("name", ""), ("attributes", {})]
)
def test_a_whole_field_can_be_dropped(path, value):
    (done,) = run(
        rules(f"id: r, path: {path}, action: drop"),
        event(request={"arguments": {"a": 1}}, response={"result": 1}, error=Failure(type="E"), attributes={"a": 1}),
    )
    assert getattr(done, path) == value
    assert [m.field for m in done.missing] == [path]


def test_a_whole_field_under_a_rule_stays_of_the_form_that_events_have():
    rule = rules("id: q, path: request, action: mask", "id: e, path: error, action: hash", "id: n, path: name, action: mask")
    (done,) = run(
        rule, event(kind="model", request={"messages": [Message({"role": "user"})]}, error=Failure(type="E", message="m"))
    )
    assert done.request == {"redacted": "[REDACTED:q]"}
    assert done.error.message.startswith("[e#sha256:")
    assert done.name == "[REDACTED:n]"
    assert Event.model_validate(done.model_dump(mode="json")) == done


def test_structure_is_left_alone():
    given = event(
        5,
        request={"arguments": {"t": TOKEN}},
        request_keys={"arguments": "sha256:x"},
        spans=["t/5"],
        start="1",
        end="2",
        after=[1],
        parent=0,
        inferred=[Inferred.model_validate({"field": "request", "from": "t/1:x", "rule": "r"})],
    )
    (done,) = run(None, given)
    for name in ("seq", "id", "kind", "parent", "after", "request_keys", "spans", "start", "end", "inferred", "effect"):
        assert getattr(done, name) == getattr(given, name)
    assert done.request["arguments"] == {"t": "[REDACTED:secret]"}


def test_an_event_without_finds_is_the_same_object():
    given = event(request={"arguments": {"a": 1}}, response={"result": "fine"})
    assert run(None, given)[0] is given


def test_a_shared_message_is_judged_once_and_stays_shared():
    """A run repeats its history in every call; the same object in gives the same object out, with its marks on it."""
    shared = Message({"role": "user", "parts": [{"type": "text", "content": f"my token is {TOKEN}"}]})
    clean = Message({"role": "user", "parts": [{"type": "text", "content": "hello"}]})
    first, second = run(None, *(event(n, "model", request={"messages": [clean, shared]}) for n in range(2)))
    new = first.request["messages"][1]
    assert new is second.request["messages"][1]
    assert first.request["messages"][0] is clean
    assert isinstance(new, Message)
    assert new.marks == (Redaction(field="parts[0].content", rule="secret", action="mask"),)
    assert first.redactions == []
    assert [r.field for r in expand(first).redactions] == ["request.messages[1].parts[0].content"]


def test_tool_definitions_stay_one_object_and_are_marked_on_each_event():
    tool = {"name": "f", "description": f"uses {TOKEN}"}
    first, second = run(None, *(event(n, "model", request={"tools": [tool]}) for n in range(2)))
    assert first.request["tools"][0] is second.request["tools"][0]
    assert first.redactions == [Redaction(field="request.tools[0].description", rule="secret", action="mask")]


def test_a_path_rule_reaches_the_copy_of_a_tool_call_in_the_messages():
    rule = rules("id: who, path: request.arguments.customer, action: mask")
    message = Message(
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {"customer": "Ada"}}]}
    )
    text = Message({"role": "assistant", "parts": [{"type": "tool_call", "arguments": json.dumps({"customer": "Ada"})}]})
    (done,) = run(rule, event(kind="model", request={"messages": [message, text]}, response={"messages": [message]}))
    assert "Ada" not in str(done)
    assert done.request["messages"][0].marks[0].field == "parts[0].arguments.customer"


def test_messages_can_be_named_by_their_number():
    given = [Message({"role": "user", "parts": [{"type": "text", "content": c}]}) for c in ("one", "two")]
    (done,) = run(
        rules("id: m, path: 'request.messages[1].parts', action: mask"), event(kind="model", request={"messages": given})
    )
    assert done.request["messages"][0] is given[0]
    assert done.request["messages"][1] == {"role": "user", "parts": "[REDACTED:m]"}


def test_a_dropped_message_leaves_a_placeholder_so_that_the_others_keep_their_numbers():
    given = [Message({"role": "user", "parts": [{"type": "text", "content": c}]}) for c in ("one", "two")]
    (done,) = run(rules("id: m, path: 'request.messages[0]', action: drop"), event(kind="model", request={"messages": given}))
    assert len(done.request["messages"]) == 2
    assert done.request["messages"][0]["parts"] == ["[DROPPED:m]"]
    assert done.request["messages"][1] is given[1]


def test_a_whole_list_of_messages_can_be_dropped():
    given = [Message({"role": "user", "parts": []})]
    (done,) = run(
        rules("id: m, path: request.messages, action: drop"), event(kind="model", request={"messages": given, "model": "x"})
    )
    assert done.request == {"model": "x"}
    assert [m.field for m in done.missing] == ["request.messages"]


def test_keep_shields_a_path_from_the_detectors():
    text = rules("id: k, path: request.arguments.mail, action: keep", "id: e, detector: email, action: mask")
    (done,) = run(text, event(request={"arguments": {"mail": EMAIL, "other": EMAIL}}))
    assert done.request["arguments"] == {"mail": EMAIL, "other": "[REDACTED:e]"}


def test_marks_that_were_there_stay_and_none_is_doubled():
    ready = redactor()
    given = recording(
        event(request={"arguments": {"t": TOKEN}}, missing=[Missing(field="response", cause="truncated", detail=TOKEN)])
    )
    once = ready.recording(given)
    assert once.events[0].missing[0].detail == "[REDACTED:secret]"
    assert ready.recording(once) == once


def test_placeholders_of_the_first_pass_are_marked_by_their_rule():
    text = redactor().text(f"write to {EMAIL}")
    (done,) = run(None, event(request={"arguments": {"to": text}}))
    assert done.redactions == [Redaction(field="request.arguments.to", rule="email", action="pseudonym")]


def test_the_table_of_placeholders_holds_those_of_this_recording_with_their_kinds():
    ready = redactor()
    ready.recording(recording(event(request={"arguments": {"to": "other@example.org"}})))
    _, table = ready.recording_with_placeholders(
        recording(event(request={"arguments": {"to": EMAIL, "t": TOKEN, "x": "[REDACTED:gone]"}}))
    )
    assert [(p.rule, p.kind, p.detector) for p in table] == [
        ("gone", "any", ""),
        ("secret", "secret", "secrets"),
        ("email", "email", "email"),
    ]
    assert len(ready.placeholders()) == 4
    assert all(isinstance(p, Placeholder) for p in table)


def test_extra_fields_of_later_versions_are_walked():
    (done,) = run(None, Event.model_validate({"seq": 0, "id": "a", "kind": "tool", "name": "f", "later": {"x": TOKEN}}))
    assert done.model_extra == {"later": {"x": "[REDACTED:secret]"}}
    assert done.redactions == [Redaction(field="later.x", rule="secret", action="mask")]


@pytest.mark.parametrize("attribute", ["gen_ai.tool.call.arguments", "input.value", "app.tool.arguments"])
def test_a_path_rule_holds_on_spans_before_anything_is_stored(attribute):
    from otelreplay.spans import Span

    ready = redactor(rules("id: who, path: request.arguments.customer, action: drop"))
    for value in ({"customer": "Ada", "n": 1}, json.dumps({"customer": "Ada", "n": 1})):
        done = ready.span(Span(trace_id="a", span_id="b", attributes={attribute: value}))
        assert "Ada" not in str(done)
        assert done.removed[0].path == f"attributes.{attribute}.customer"
        assert done.removed[0].rule == "who"


def test_the_dialects_table_tells_where_other_attributes_go():
    from otelreplay.spans import Span

    rule = rules("id: q, path: request.query, action: mask", "id: e, path: error.message, action: drop")
    ready = redactor(rule, attribute_fields={"my.question": "request.query"})
    done = ready.span(Span(trace_id="a", span_id="b", attributes={"my.question": "who is Ada"}, status_message="Ada failed"))
    assert done.attributes == {"my.question": "[REDACTED:q]"}
    assert done.status_message == ""
    assert done.removed[0].path == "status_message"


@pytest.mark.parametrize("form", [lambda v: v, json.dumps, lambda v: json.dumps(v, ensure_ascii=False)])
def test_keep_holds_on_spans_too(form):
    """The first pass sees another form of the same field; what is kept is kept there as well."""
    from otelreplay.spans import Span

    text = rules("id: k, path: request.arguments.mail, action: keep", "id: e, detector: email, action: mask")
    value = {"mail": [EMAIL, {"x": "é"}], "other": EMAIL}
    ready = redactor(text)
    done = ready.span(Span(trace_id="a", span_id="b", attributes={"gen_ai.tool.call.arguments": form(value)}))
    held = done.attributes["gen_ai.tool.call.arguments"]
    assert (held if isinstance(held, dict) else json.loads(held)) == {"mail": [EMAIL, {"x": "é"}], "other": "[REDACTED:e]"}
    assert ready.span(done) == done
    log = ready.span(Span(trace_id="a", span_id="b", attributes={"x": ({"arguments": {"mail": EMAIL}},)}))
    assert log.attributes["x"] == ({"arguments": {"mail": EMAIL}},)


def test_a_path_rule_holds_for_json_that_was_cut_off():
    from otelreplay.spans import Span

    rule = rules("id: who, path: request.arguments.customer, action: drop")
    text = '{"n": 1, "customer": {"name": "Ada Lovelace", "age": 36}, "note": "fine", "customer": "Ada Lov'
    done = redactor(rule).span(Span(trace_id="a", span_id="b", attributes={"gen_ai.tool.call.arguments": text}))
    held = done.attributes["gen_ai.tool.call.arguments"]
    assert "Ada" not in held
    assert "36" not in held
    assert held.startswith('{"n": 1, "customer": {')
    assert '"note": "fine"' in held
