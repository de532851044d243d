"""What was recorded of a response, in the GenAI form: from an event's fields, a provider's own object, or chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.canonical import Tagged
from otelreplay.providers import assemble, response_codec

Value = dict[str, Any]


def plain(value: Any) -> Any:
    """A value with the instances in it as JSON: those of an SDK's models as the fields that the provider had sent."""
    if isinstance(value, Tagged):
        return _instance(value.members)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _instance(members: Mapping[str, Any]) -> Any:
    fields = members.get("fields")
    if not isinstance(fields, dict):
        return plain(members.get("value"))
    given = members.get("set")
    kept = {k: v for k, v in fields.items() if k in given} if isinstance(given, list | tuple | set) else fields
    extra = members.get("extra")
    return plain({**kept, **(extra if isinstance(extra, dict) else {})})


def response_of(response: Value) -> Value:
    """The response of a model in the GenAI form, with the ``chunks`` that it came in, as far as it is there.

    An object of an SDK that a decorated function gave says more than the messages that were read from it: it counts first.
    """
    chunks, result = response.get("chunks"), plain(response.get("result"))
    pieces = plain(chunks) if isinstance(chunks, list | tuple) and chunks else None
    body = _joined(pieces) if pieces else result
    codec = response_codec(body)
    if codec is not None:
        read = codec.decode_response(body)
        beside = {"extra": {codec.api: read.pop("extra")}} if "extra" in read else {}
        known = {key: response[key] for key in ("id", "model", "usage") if key in response}
        return known | read | beside | ({"chunks": pieces} if pieces else {})
    if "messages" in response:
        return response
    text = "".join(pieces) if pieces and all(isinstance(piece, str) for piece in pieces) else result
    if not isinstance(text, str):
        return response
    return {**response, "messages": [{"role": "assistant", "parts": [{"type": "text", "content": text}]}]}


def _joined(pieces: list[Any]) -> Value | None:
    """The body that chunks amount to; :func:`assemble` may change what it is given."""
    found = assemble([dict(piece) if isinstance(piece, dict) else piece for piece in plain(pieces)])
    return None if found is None else found[1]


def chunks_of(response: Value, api: str) -> list[Any] | None:
    """The chunks in which a response came, if they are those of the API (by the codec's name)."""
    chunks = response.get("chunks")
    if not isinstance(chunks, list) or not chunks:
        return None
    found = assemble(plain(chunks))
    return chunks if found is not None and found[0] == api else None
