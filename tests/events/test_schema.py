"""The published schema is that of the model, and fits what events hold."""

import json
from typing import get_args

import jsonschema
import pytest

from otelreplay.events import Event, Failure, Kind, Missing
from otelreplay.events.model import Cause
from otelreplay.events.schema import PARTS, event_schema, schema_text
from tests.project.house import ROOT

DOCS = ROOT / "docs"
VALIDATOR = jsonschema.Draft202012Validator(event_schema())


def event(kind="model", **fields):
    made = Event(**{"seq": 0, "id": "t/s", "kind": kind, "name": "n"} | fields)
    return json.loads(made.model_dump_json(by_alias=True))


def message(*parts):
    return {"role": "assistant", "parts": list(parts), "name": None, "finish_reason": "stop", "x-extra": 1}


CALL = {"type": "tool_call", "id": None, "name": "f", "arguments": "not json"}
THOUGHT = {"type": "reasoning", "content": "", "signature": "s"}
MODEL = event(
    request={
        "provider": "openai",
        "model": "m",
        "params": {"temperature": 0.5, "vendor": {}},
        "system": [{"type": "text", "content": "be brief"}],
        "messages": [message(CALL), message({"type": "odd", "x": 1})],
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}, {"type": "web_search"}],
    },
    response={"messages": [message(THOUGHT)], "finish_reasons": ["stop"], "usage": {"input_tokens": 3}},
)


def test_the_published_file_is_up_to_date():
    """If it is not, write what ``otelreplay.events.schema.schema_text`` gives into it."""
    assert (DOCS / "event.schema.json").read_text(encoding="utf-8") == schema_text()


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(event_schema())


@pytest.mark.parametrize(
    "value",
    [
        MODEL,
        *(event(kind) for kind in get_args(Kind)),
        event("tool", request={"arguments": {"a": 1}, "call_id": "c"}, response={"result": None, "as_seen": "cut"}),
        event("tool", error=Failure(type="LookupError"), missing=[Missing(field="response", cause="truncated")]),
        event("agent", request={"input": "hi", "config": {}}, response={"output": [1]}, start="1790000000000000000"),
        event("retrieval", request={"query": "q"}, response={"result": [{"id": "1"}]}, of_a_later_version=[1]),
        event("state", request={"key": "k"}, response={"result": {"$otelreplay": "bytes", "base64": ""}}),
        event(inferred=[{"field": "response", "from": "t/s:gen_ai.input.messages[3]", "rule": "next_turn"}]),
        event(redactions=[{"field": "request.messages[0]", "rule": "email", "action": "pseudonym", "count": 2}]),
    ],
)
def test_events_fit_the_schema(value):
    VALIDATOR.validate(value)


@pytest.mark.parametrize(
    "value",
    [
        event() | {"kind": "telepathy"},
        event() | {"seq": "0"},
        {key: item for key, item in event().items() if key != "id"},
        event() | {"start": 1790000000000000000},
        event() | {"request": {"messages": [{"role": "user"}]}},
        event() | {"request": {"messages": [message("text")]}},
        event() | {"request": {"messages": [message({"type": "text", "content": 1})]}},
        event() | {"response": {"messages": "hi"}},
        event() | {"missing": [{"field": "response", "cause": "bad_luck"}]},
        event("tool") | {"request": {"call_id": 7}},
    ],
)
def test_what_is_no_event_does_not_fit(value):
    assert not VALIDATOR.is_valid(value)


def test_every_part_type_is_told_apart():
    for shape in PARTS.values():
        kind = shape["properties"]["type"]["const"]
        VALIDATOR.validate(event() | {"request": {"messages": [message({"type": kind, "later": 1})]}})


def test_every_field_kind_and_cause_is_explained():
    text = (DOCS / "events.md").read_text(encoding="utf-8")
    for name in (*Event.model_fields, *get_args(Kind), *get_args(Cause)):
        assert f"`{name}`" in text


def test_the_examples_of_the_document_fit_the_schema():
    text = (DOCS / "events.md").read_text(encoding="utf-8")
    examples = [json.loads(block.partition("```")[0]) for block in text.split("```json\n")[1:]]
    assert examples
    for example in examples:
        VALIDATOR.validate(example)


@pytest.mark.parametrize("time", ["abc", "", "-1", "9" * 21, "1.5"])
def test_a_time_is_decimal_text_of_64_bits(time):
    with pytest.raises(ValueError, match="start"):
        Event(seq=0, id="a/b", kind="tool", name="t", start=time)
