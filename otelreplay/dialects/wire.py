"""A provider's request or response body inside of an attribute, as the fields of a reading."""

from __future__ import annotations

from typing import Any

from otelreplay import canonical
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.values import lift_system, normal_messages
from otelreplay.providers import Codec, decode_tool, gemini, request_codec, response_codec
from otelreplay.providers.converse_blocks import is_message

_ECHOED = {"max_output_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p"}
_REPEATED = frozenset({"instructions", "tools", "tool_choice", "parallel_tool_calls", "text", *_ECHOED})
"""What a response of the Responses API repeats of its request."""


def json_of(value: Any) -> Any:
    """The value behind JSON text, whatever it is; text that is no JSON as it is."""
    if not isinstance(value, str):
        return value
    known, inner = canonical.read_json(value)
    return inner if known else value


def request_fields(body: Any, intern: Interner, codec: Codec | None = None) -> dict[str, Any]:
    """The fields of a request body; none where it is not one of a known API."""
    codec = codec or request_codec(body)
    if codec is None:
        return {}
    got = codec.decode_request(body)
    fields: dict[str, Any] = {}
    if got.get("model"):
        fields["request.model"] = got["model"]
    if got.get("params"):
        fields["request.params"] = dict(sorted(got["params"].items()))
    system = list(got.get("system") or ())
    if "messages" in got:
        said = got["messages"] if not _of_no_codec(body) else [m for raw in body["messages"] for m in normal_messages(raw)]
        parts, messages = lift_system([intern.message(m) for m in said])
        fields["request.messages"] = messages
        system += parts
    if system:
        fields["request.system"] = system
    if got.get("tools"):
        fields["request.tools"] = [intern.value(t) for t in got["tools"]]
    return fields


def _of_no_codec(body: Any) -> bool:
    """Are there messages of the GenAI schema, or another form with parts, or of Bedrock's Converse API?"""
    messages = body.get("messages")
    return isinstance(messages, list) and any(
        isinstance(m, dict) and (("parts" in m and "content" not in m) or is_message(m)) for m in messages
    )


def echoed_fields(body: Any, intern: Interner) -> dict[str, Any]:
    """What a response of the Responses API repeats of its request: tools and parameters, defaults filled in."""
    if not isinstance(body, dict) or not ("created_at" in body or body.get("object") == "response"):
        return {}
    fields: dict[str, Any] = {}
    tools = body.get("tools")
    if isinstance(tools, list) and tools and all(isinstance(t, dict) for t in tools):
        fields["request.tools"] = [intern.value(d) for t in tools for d in decode_tool(t)]
    sent = {ours: body[theirs] for theirs, ours in _ECHOED.items() if body.get(theirs) is not None}
    if sent:
        fields["request.params"] = sent
    return fields


def response_fields(body: Any, intern: Interner, codec: Codec | None = None) -> dict[str, Any]:
    """The fields of a response body; none where it is not one of a known API."""
    codec = codec or response_codec(body)
    if codec is None:
        return {}
    got = codec.decode_response(body)
    fields: dict[str, Any] = {}
    if "messages" in got:
        fields["response.messages"] = [intern.message(m) for m in got["messages"]]
    for name in ("finish_reasons", "usage", "id", "model"):
        if got.get(name):
            fields[f"response.{name}"] = got[name]
    left_out = _REPEATED | gemini.SDK_FIELDS
    beside = {key: value for key, value in got.get("extra", {}).items() if key not in left_out and value is not None}
    if beside:
        fields["response.extra"] = {codec.api: intern.value(beside)}
    return fields
