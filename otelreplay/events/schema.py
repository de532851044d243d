"""The published JSON Schema of an event: ``docs/event.schema.json``, made from the model and the shapes below.

Every object is open: fields of later versions and of providers are kept, so a reader must expect them.
"""

from __future__ import annotations

import json
from typing import Any, Final, get_args

from otelreplay.events.model import Event, Kind

SCHEMA_ID: Final = "urn:otelreplay:event:1"

_TEXT: Final = {"type": "string"}
_ANY: Final[dict[str, Any]] = {}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _nullable(shape: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [shape, {"type": "null"}]}


def _object(description: str, properties: dict[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    shape: dict[str, Any] = {"type": "object", "description": description, "properties": properties}
    if required:
        shape["required"] = list(required)
    return shape | {"additionalProperties": True}


def _part(description: str, kind: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return _object(description, {"type": {"const": kind}} | properties, ("type",))


PARTS: Final[dict[str, dict[str, Any]]] = {
    "TextPart": _part("Text.", "text", content=_nullable(_TEXT)),
    "ReasoningPart": _part("What the model thought; signatures are extra fields.", "reasoning", content=_nullable(_TEXT)),
    "ToolCallPart": _part(
        "The model asks for a tool. `arguments` is the decoded value, or the raw text where it was no JSON.",
        "tool_call",
        id=_nullable(_TEXT),
        name=_nullable(_TEXT),
        arguments=_ANY,
    ),
    "ToolCallResponsePart": _part(
        "What a tool gave, as the model is told.", "tool_call_response", id=_nullable(_TEXT), response=_ANY
    ),
    "BlobPart": _part(
        "Bytes: base64, or a `bytes` typed value.", "blob", modality=_ANY, mime_type=_nullable(_TEXT), content=_ANY
    ),
    "UriPart": _part("Content elsewhere.", "uri", modality=_ANY, mime_type=_nullable(_TEXT), uri=_ANY),
    "FilePart": _part("A file that the provider holds.", "file", modality=_ANY, mime_type=_nullable(_TEXT), file_id=_ANY),
    "ServerToolCallPart": _part("A tool that the provider runs itself.", "server_tool_call", name=_ANY, server_tool_call=_ANY),
    "ServerToolCallResponsePart": _part("And what it gave.", "server_tool_call_response", server_tool_call_response=_ANY),
    "CompactionPart": _part("Older turns, replaced by the provider.", "compaction", content=_ANY),
}
"""Part types of the GenAI message schema; a part of any other type is kept verbatim."""

_MESSAGES: Final = _list(_ref("Message"))
_PAYLOAD: Final = {"description": "Any value; what JSON cannot say is a typed value (an object with the key $otelreplay)."}

_STREAMED: Final = {"chunks": _PAYLOAD, "stream": _ref("Stream")}
"""Members of the response of a function that gives its answer piece by piece."""

SHAPES: Final[dict[str, dict[str, Any]]] = {
    **PARTS,
    "OtherPart": _object(
        "A part of another type, verbatim.",
        {"type": {"not": {"enum": [p["properties"]["type"]["const"] for p in PARTS.values()]}}},
    ),
    "Part": {"anyOf": [_ref(name) for name in (*PARTS, "OtherPart")]},
    "Message": _object(
        "One message of the GenAI message schema.",
        {"role": _TEXT, "parts": _list(_ref("Part")), "name": _nullable(_TEXT), "finish_reason": _nullable(_TEXT)},
        ("role", "parts"),
    ),
    "ToolDefinition": _object(
        "A tool offered to the model; `parameters` is a JSON Schema.",
        {"type": _TEXT, "name": _TEXT, "description": _nullable(_TEXT), "parameters": _PAYLOAD},
    ),
    "Params": _object("Keyed by the last segments of `gen_ai.request.*`, such as `temperature` and `max_tokens`.", {}),
    "Usage": _object("Keyed by the last segments of `gen_ai.usage.*`, such as `input_tokens`.", {}),
    "ModelRequest": _object(
        "What the model was given.",
        {
            "api": _TEXT,
            "provider": _TEXT,
            "model": _TEXT,
            "params": _ref("Params"),
            "system": _list(_ref("Part")),
            "messages": _MESSAGES,
            "tools": _list(_ref("ToolDefinition")),
        },
    ),
    "ModelResponse": _object(
        "What the model gave: one message for each choice.",
        {
            "messages": _MESSAGES,
            "finish_reasons": _list(_nullable(_TEXT)),
            "usage": _ref("Usage"),
            "id": _TEXT,
            "model": _TEXT,
            "extra": _object("Other fields of the provider's own body, under the name of its API (`docs/providers.md`).", {}),
            "result": _PAYLOAD,
            **_STREAMED,
        },
    ),
    "EmbeddingsRequest": _object(
        "What was embedded.", {"provider": _TEXT, "model": _TEXT, "params": _ref("Params"), "inputs": _PAYLOAD}
    ),
    "EmbeddingsResponse": _object("The vectors are in no telemetry.", {"usage": _ref("Usage"), "model": _TEXT}),
    "ToolRequest": _object(
        "`arguments` is the decoded value, or the raw text where it was no JSON.",
        {"arguments": _PAYLOAD, "call_id": _nullable(_TEXT)},
    ),
    "ToolResponse": _object(
        "`as_seen` is what the model was given, where that differs from the result.",
        {"result": _PAYLOAD, "as_seen": _PAYLOAD, **_STREAMED},
    ),
    "RetrievalRequest": _object("What was searched for.", {"query": _PAYLOAD, "params": _ref("Params")}),
    "RetrievalResponse": _object("The documents.", {"result": _PAYLOAD, **_STREAMED}),
    "StateRequest": _object("What the function was given.", {"arguments": _PAYLOAD}),
    "StateResponse": _object("What it gave.", {"result": _PAYLOAD, **_STREAMED}),
    "Stream": _object(
        "How a stream went: `end` is how it ended, `chunks` how many were given, `sent` what was sent into it, each with the "
        "number of the chunk it answered.",
        {
            "end": {"enum": ["returned", "raised", "stopped", None]},
            "chunks": {"type": "integer", "minimum": 0},
            "sent": _list({"type": "array", "minItems": 2, "maxItems": 2}),
        },
    ),
    "AgentRequest": _object("What the agent was asked, and how it was set up.", {"input": _PAYLOAD, "config": _PAYLOAD}),
    "AgentResponse": _object("What the agent answered.", {"output": _PAYLOAD, **_STREAMED}),
    "AnyRequest": _object("Keyed by the parameters of the boundary.", {}),
    "AnyResponse": _object("What the boundary gave.", {"result": _PAYLOAD}),
}

_OWN_SHAPE: Final = {
    "model": "Model",
    "embeddings": "Embeddings",
    "tool": "Tool",
    "retrieval": "Retrieval",
    "agent": "Agent",
    "state": "State",
}

DESCRIPTIONS: Final[dict[str, str]] = {
    "seq": "Position in a deterministic linear extension of the causal order, from 0.",
    "id": "`trace/span` of the span it was read from; an inferred event has a suffix that names its call.",
    "kind": "Which boundary was crossed; decides the shape of `request` and `response`.",
    "name": "The operation: the tool, the model operation, the agent.",
    "parent": "`seq` of the event that this one happened inside of.",
    "after": "`seq` of the hard causal predecessors, transitively reduced.",
    "agent": "Name of the agent that acted.",
    "request": "What went out. A key that is absent was not recorded; null is a recorded null.",
    "request_keys": "One digest for each component of the request that matters for matching.",
    "request_hash": "One digest over `request_keys`.",
    "response": "What came back; null or absent if nothing is known of it.",
    "error": "How it failed; null if it did not.",
    "effect": "What it does to the world.",
    "idempotency_key": "The key under which repeating it does nothing more.",
    "start": "Nanoseconds since the epoch, decimal text.",
    "end": "Nanoseconds since the epoch, decimal text; absent if it never ended.",
    "versions": "Versions of prompt, schema or tool.",
    "spans": "`trace/span` of every span that reported this boundary.",
    "attributes": "What the spans held and no field took, and what the converter has to say (`otelreplay.…`).",
    "inferred": "Fields whose value was found elsewhere.",
    "missing": "Fields that the telemetry does not hold, each with cause and remedy.",
    "redactions": "Fields in which a policy replaced or removed something.",
}


def event_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12) as a value."""
    model = Event.model_json_schema(by_alias=True)
    properties = {name: {"description": DESCRIPTIONS[name]} | shape for name, shape in model["properties"].items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Event",
        "description": "What crossed one boundary of an agent's run.",
        "type": "object",
        "properties": _untitled(properties),
        "required": model["required"],
        "additionalProperties": True,
        "allOf": [_kind_rule(kind) for kind in get_args(Kind)],
        "$defs": _untitled(model["$defs"]) | SHAPES,
    }


def schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(event_schema(), indent=2, ensure_ascii=False) + "\n"


def _kind_rule(kind: str) -> dict[str, Any]:
    name = _OWN_SHAPE.get(kind, "Any")
    shapes = {"request": _ref(f"{name}Request"), "response": _nullable(_ref(f"{name}Response"))}
    return {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": {"properties": shapes}}


def _untitled(shape: Any) -> Any:
    """Without the titles that the model's own schema repeats every name as."""
    if isinstance(shape, dict):
        return {key: _untitled(value) for key, value in shape.items() if not (key == "title" and isinstance(value, str))}
    return [_untitled(item) for item in shape] if isinstance(shape, list) else shape
