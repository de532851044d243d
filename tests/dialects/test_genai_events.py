"""The older form: content in log records and span events."""

import json

import msgspec
import pytest

from otelreplay.dialects.genai_events import DIALECT
from otelreplay.events import expand
from otelreplay.spans import Scope, SpanEvent
from tests.dialects.views import absent, read, said
from tests.reconstruct.builders import LEGACY, agent, gaps, log, of_kind, rebuilt, rules, span

GOOGLE = Scope(name="opentelemetry.instrumentation.google_genai", version="0.3b0")
WIRE_CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 1}'}}


def old(n=2, *, scope=LEGACY, parent=None, **more):
    return span(
        n,
        "chat m",
        parent=parent,
        scope=scope,
        gen_ai__operation__name="chat",
        gen_ai__system="openai",
        gen_ai__request__model="m",
        **more,
    )


def choice(n, at, message, reason="stop", **more):
    return log(n, "gen_ai.choice", {"index": 0, "finish_reason": reason, "message": message}, at=at, **more)


@pytest.mark.parametrize("named_by_attribute", [False, True])
def test_records_are_messages_whether_named_by_field_or_by_attribute(named_by_attribute):
    o = {"old": named_by_attribute}
    (found,) = rebuilt(
        old(),
        log(2, "gen_ai.system.message", {"content": "be brief"}, at=1, **o),
        log(2, "gen_ai.user.message", {"content": "hi"}, at=2, **o),
        choice(2, 3, {"role": "assistant", "content": "yes"}, **o),
    ).events
    assert found.request["system"] == [{"type": "text", "content": "be brief"}]
    assert found.request["messages"] == [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
    assert found.response["messages"] == [
        {"role": "assistant", "parts": [{"type": "text", "content": "yes"}], "finish_reason": "stop"}
    ]
    assert found.response["finish_reasons"] == ["stop"]


def test_equal_times_stand_in_the_order_of_a_request():
    (found,) = rebuilt(
        old(),
        choice(2, 5, {"content": "yes"}),
        log(2, "gen_ai.user.message", {"content": "hi"}, at=5),
        log(2, "gen_ai.system.message", {"content": "s"}, at=5),
    ).events
    assert (len(found.request["system"]), len(found.request["messages"]), len(found.response["messages"])) == (1, 1, 1)


def test_tool_calls_and_results_are_parts():
    (found,) = of_kind(
        rebuilt(
            old(),
            log(2, "gen_ai.user.message", {"content": "hi"}, at=1),
            log(2, "gen_ai.assistant.message", {"tool_calls": [WIRE_CALL]}, at=2),
            log(2, "gen_ai.tool.message", {"content": "42", "id": "c1"}, at=3),
            choice(2, 4, {"content": "ok"}),
        ),
        "model",
    )
    said, told = found.request["messages"][1:]
    assert said["parts"] == [{"type": "tool_call", "id": "c1", "name": "find", "arguments": {"id": 1}}]
    assert (told["role"], told["parts"][0]["id"], told["parts"][0]["response"]) == ("tool", "c1", "42")


def test_calls_beside_the_message_of_a_choice_are_read():
    body = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant"}, "tool_calls": [WIRE_CALL]}
    found = of_kind(
        rebuilt(old(), log(2, "gen_ai.user.message", {"content": "hi"}, at=1), log(2, "gen_ai.choice", body, at=2)), "model"
    )[0]
    assert found.response["messages"][0]["parts"][0]["name"] == "find"


def test_text_that_the_package_drops_beside_tool_calls_is_put_back_and_marked():
    recording = rebuilt(
        agent(),
        old(2, parent=1),
        log(2, "gen_ai.user.message", {"content": "hi"}, at=1200),
        choice(2, 1210, {"content": "let me look", "tool_calls": [WIRE_CALL]}, "tool_calls"),
        old(4, parent=1),
        log(4, "gen_ai.user.message", {"content": "hi"}, at=1400),
        log(4, "gen_ai.assistant.message", {"tool_calls": [WIRE_CALL]}, at=1401),
        log(4, "gen_ai.tool.message", {"content": "42", "id": "c1"}, at=1402),
        choice(4, 1403, {"content": "ok"}),
    )
    last = expand(of_kind(recording, "model")[-1])
    assert last.request["messages"][1]["parts"][0] == {"type": "text", "content": "let me look"}
    assert rules(last) == {"request.messages[1].parts[0]": "text_restored_from_reply"}
    other = rebuilt(
        old(2, scope=Scope(name="other")),
        log(2, "gen_ai.user.message", {"content": "hi"}, at=1200),
        choice(2, 1210, {"content": "let me", "tool_calls": [WIRE_CALL]}),
        old(4, scope=Scope(name="other")),
        log(4, "gen_ai.user.message", {"content": "hi"}, at=1400),
        log(4, "gen_ai.assistant.message", {"tool_calls": [WIRE_CALL]}, at=1401),
    )
    assert len(of_kind(other, "model")[-1].request["messages"][1]["parts"]) == 1


@pytest.mark.parametrize("body", [None, {}, {"content": None}, {"content": "<elided>"}])
def test_records_without_content_tell_roles_and_ids_and_name_the_switch(body):
    call = {"id": "c1", "function": {"name": "find"}}
    hidden = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [call]}}
    recording = rebuilt(
        old(),
        log(2, "gen_ai.user.message", body, at=1),
        log(2, "gen_ai.choice", hidden, at=2),
        old(4),
        log(4, "gen_ai.user.message", body, at=3),
        log(4, "gen_ai.assistant.message", {"tool_calls": [call]}, at=4),
        log(4, "gen_ai.tool.message", {"id": "c1"}, at=5),
        choice(4, 6, {"role": "assistant"}),
    )
    first, last = map(expand, of_kind(recording, "model"))
    assert gaps(first)["request.messages[0].parts"] == "content_not_captured"
    assert gaps(first)["response.messages[0].parts[0].arguments"] == "content_not_captured"
    assert first.response["messages"][0]["parts"] == [{"type": "tool_call", "id": "c1", "name": "find"}]
    assert gaps(last)["response.messages[0].parts"] == "content_not_captured"
    assert "request.system" not in gaps(first)
    (found,) = of_kind(recording, "tool")
    assert (found.name, found.request) == ("find", {"call_id": "c1"})
    assert gaps(found) == {"request.arguments": "content_not_captured", "response.result": "content_not_captured"}
    assert all("=true" in m.remedy for m in found.missing)
    assert recording.missing == ()


def test_where_content_was_on_a_record_without_any_is_an_empty_message():
    recording = rebuilt(
        old(),
        log(2, "gen_ai.user.message", {"content": "hi"}, at=1),
        log(2, "gen_ai.assistant.message", {"tool_calls": [WIRE_CALL]}, at=2),
        log(2, "gen_ai.tool.message", {"id": "c1"}, at=3),
        choice(2, 4, {"role": "assistant"}),
    )
    (found,) = map(expand, of_kind(recording, "model"))
    assert found.request["messages"][2]["parts"] == [{"type": "tool_call_response", "id": "c1", "response": ""}]
    assert found.response["messages"][0]["parts"] == []
    assert rules(found) == {
        "request.messages[2].parts[0].response": "empty_content_in_record",
        "response.messages[0].parts": "empty_content_in_record",
    }
    assert not [f for f in gaps(found) if "messages" in f]


def gemini(role, *parts):
    return {"content": {"role": role, "parts": list(parts)}}


def test_whole_content_objects_are_messages_of_their_own_role():
    (found,) = of_kind(
        rebuilt(
            old(scope=GOOGLE),
            log(2, "gen_ai.system.message", {"content": "be brief"}, at=1),
            log(2, "gen_ai.user.message", gemini("user", {"text": "hi", "thought": None}), at=2),
            log(
                2,
                "gen_ai.user.message",
                gemini("model", {"function_call": {"name": "find", "args": {"id": 1}, "id": None}}),
                at=3,
            ),
            log(
                2,
                "gen_ai.user.message",
                gemini("user", {"function_response": {"name": "find", "response": {"result": 42}}}),
                at=4,
            ),
            log(2, "gen_ai.choice", {"index": 0, **gemini("model", {"text": "ok"}), "finish_reason": "STOP"}, at=5),
        ),
        "model",
    )
    assert [m["role"] for m in found.request["messages"]] == ["user", "assistant", "tool"]
    assert found.request["messages"][1]["parts"][0]["arguments"] == {"id": 1}
    assert found.request["messages"][2]["parts"][0]["response"] == {"result": 42}
    assert found.response["messages"][0]["parts"] == [{"type": "text", "content": "ok"}]


def test_one_choice_a_chunk_is_one_reply():
    (found,) = rebuilt(
        old(scope=GOOGLE),
        log(2, "gen_ai.user.message", {"content": "hi"}, at=1),
        *(
            log(
                2,
                "gen_ai.choice",
                {"index": n, **gemini("model", {"text": piece})} | ({"finish_reason": "STOP"} if n == 2 else {}),
                at=2 + n,
            )
            for n, piece in enumerate(["Bon", "jour", " !"])
        ),
    ).events
    assert found.response["messages"] == [
        {"role": "assistant", "parts": [{"type": "text", "content": "Bonjour !"}], "finish_reason": "STOP"}
    ]


def test_chunks_with_calls_keep_their_parts_in_order():
    (found,) = of_kind(
        rebuilt(
            old(scope=GOOGLE),
            log(2, "gen_ai.user.message", {"content": "hi"}, at=1),
            log(2, "gen_ai.choice", {"index": 0, **gemini("model", {"text": "a"})}, at=2),
            log(2, "gen_ai.choice", {"index": 1, **gemini("model", {"function_call": {"name": "find", "args": {}}})}, at=3),
        ),
        "model",
    )
    assert [p["type"] for p in found.response["messages"][0]["parts"]] == ["text", "tool_call"]


def test_two_choices_with_finish_reasons_are_two_replies():
    (found,) = rebuilt(
        old(),
        log(2, "gen_ai.user.message", {"content": "hi"}, at=1),
        choice(2, 2, {"content": "a"}),
        choice(2, 3, {"content": "b"}, "length"),
    ).events
    assert len(found.response["messages"]) == 2
    assert found.response["finish_reasons"] == ["stop", "length"]


def events_of_span(prompt, completion):
    return (
        SpanEvent(name="gen_ai.content.prompt", time=1, attributes={"gen_ai.prompt": prompt}),
        SpanEvent(name="gen_ai.content.completion", time=2, attributes={"gen_ai.completion": completion}),
    )


def test_the_oldest_form_stands_in_span_events():
    prompt = json.dumps([{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}])
    item = msgspec.structs.replace(old(), events=events_of_span(prompt, json.dumps([{"role": "assistant", "content": "yes"}])))
    (found,) = rebuilt(item).events
    assert found.request["system"][0]["content"] == "s"
    assert found.response["messages"][0]["parts"][0]["content"] == "yes"
    assert "otelreplay.events" not in found.attributes


def test_the_same_written_as_span_attributes_by_hand():
    (found,) = rebuilt(
        old(
            gen_ai__prompt="system: s\nuser: two\nlines", gen_ai__completion=json.dumps({"role": "assistant", "content": "yes"})
        )
    ).events
    assert found.request["messages"][0]["parts"][0]["content"] == "two\nlines"
    assert found.request["system"][0]["content"] == "s"
    assert found.response["messages"][0]["parts"][0]["content"] == "yes"
    assert "gen_ai.prompt" not in found.attributes
    (plain,) = rebuilt(old(gen_ai__prompt="just a question", gen_ai__completion=b"an answer")).events
    assert plain.request["messages"][0]["role"] == "user"
    assert plain.response["messages"][0] == {"role": "assistant", "parts": [{"type": "text", "content": "an answer"}]}


def test_a_cut_prompt_is_a_gap_and_is_kept():
    cut = '[{"role": "user", "content": "abc'
    (found,) = rebuilt(old(gen_ai__prompt=cut, gen_ai__completion="yes")).events
    assert gaps(found)["request.messages"] == "truncated"
    assert found.attributes["gen_ai.prompt"] == cut


def test_messages_as_span_events_are_read_too():
    item = msgspec.structs.replace(
        old(),
        events=(
            SpanEvent(name="gen_ai.user.message", time=1, attributes={"gen_ai.system": "x", "content": "hi"}),
            SpanEvent(
                name="gen_ai.choice",
                time=2,
                attributes={"index": 0, "finish_reason": "stop", "message": '{"role": "assistant", "content": "yes"}'},
            ),
        ),
    )
    (found,) = rebuilt(item).events
    assert found.request["messages"][0]["parts"][0]["content"] == "hi"
    assert found.response["messages"][0]["parts"][0]["content"] == "yes"


def test_the_same_content_in_two_places_is_told_once_and_a_difference_is_noted():
    latest = old(gen_ai__input__messages=json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]))
    same = rebuilt(latest, log(2, "gen_ai.user.message", {"content": "hi"}, at=1))
    assert (len(same.events[0].request["messages"]), same.notes) == (1, ())
    other = rebuilt(latest, log(2, "gen_ai.user.message", {"content": "bye"}, at=1))
    assert other.events[0].request["messages"][0]["parts"][0]["content"] == "hi"
    assert [n.code for n in other.notes] == ["conflict"]


def test_a_system_record_alone_does_not_tell_the_messages():
    (found,) = rebuilt(
        old(), log(2, "gen_ai.system.message", {"content": "be brief"}, at=1), choice(2, 2, {"content": "ok"})
    ).events
    assert found.request["system"] == [{"type": "text", "content": "be brief"}]
    assert "messages" not in found.request
    assert gaps(found)["request.messages"] == "content_not_captured"


CUT = "It is on its way and will be h"


@pytest.mark.parametrize(
    ("name", "attribute", "field"),
    [
        ("gen_ai.system.message", "content", "request.system"),
        ("gen_ai.user.message", "content", "request.messages"),
        ("gen_ai.choice", "message", "response.messages"),
    ],
)
@pytest.mark.parametrize("text", [CUT, json.dumps([{"text": CUT}])[: len(CUT)]], ids=["plain", "blocks"])
def test_the_beginning_of_a_text_that_a_limit_cut_is_not_what_was_said(name, attribute, field, text):
    whole = {"gen_ai.system.message": "be brief", "gen_ai.user.message": "hi", "gen_ai.choice": "yes"}
    held = {n: ("message" if n == "gen_ai.choice" else "content", t) for n, t in whole.items()} | {name: (attribute, text)}
    events = tuple(SpanEvent(name=n, time=i, attributes={a: t}) for i, (n, (a, t)) in enumerate(held.items()))
    others = {"one": "1" * len(CUT), "two": "2" * len(CUT), "three": "3" * len(CUT)}
    (found,) = of_kind(rebuilt(old(_events=events, **others)), "model")
    assert gaps(found)[field] == "truncated"
    sides = {"request.system": found.request.get("system"), "request.messages": found.request.get("messages"),
             "response.messages": (found.response or {}).get("messages")}  # fmt: skip
    assert [f for f, value in sides.items() if value is None] == [field]


def test_calls_that_stand_beside_a_completion_of_nothing_are_the_reply():
    call = "[{'id': 'c1', 'function': {'arguments': '{\"a\": 1}', 'name': 'find'}, 'type': 'function'}]"
    event = SpanEvent(name="gen_ai.content.completion", attributes={"gen_ai.completion": "None"})
    got = read(DIALECT, {"gen_ai.operation.name": "chat", "gen_ai.response.tool_calls": call}, events=(event,))
    assert said(got.fields["response.messages"]) == [("assistant", [{"a": 1}])]
    for other in ("[]", "None", "[1]"):
        got = read(DIALECT, {"gen_ai.operation.name": "chat", "gen_ai.response.tool_calls": other}, events=(event,))
        assert "response.messages" in absent(got)
