"""A recorded result of a tool in the form of MCP.

    the recording holds                         the client is given
    a whole result (``content``, ...)           that
    one content block, or a list of them        those as ``content``
    any other value                             one block of text: the text that the model was shown of it where a later request
                                                quotes it, else the value as JSON, which is said
    an error                                    the recorded JSON-RPC error where it is one, else a result with ``isError``

Where the answers of servers were recorded as JSON, the one that holds this value is given whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from otelreplay import canonical
from otelreplay.events import Event
from otelreplay.replay.answers import Served
from otelreplay.replay.revive import raised_by
from otelreplay.stubs.mcp.evidence import without_nulls
from otelreplay.stubs.mcp.jsonrpc import Refused

_BLOCKS: Final = {"text": "text", "image": "data", "audio": "data", "resource": "resource", "resource_link": "uri"}
"""Types of content, each with the member that it must have."""
_CODES: Final = ("rpc.response.status_code", "rpc.jsonrpc.error_code", "error.code")


@dataclass(frozen=True, slots=True, eq=False)
class Quotes:
    """The texts in which results were seen elsewhere in the recording."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """What a model was shown as the result of a call, by its id."""
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Whole results, by the digest of the value that their text is."""

    @staticmethod
    def of(events: Iterable[Event], results: Sequence[Mapping[str, Any]] = ()) -> Quotes:
        """Collect them."""
        texts: dict[str, str] = {}
        for event in events:
            for part in _responses(event) if event.kind == "model" else ():
                call_id, text = part.get("id"), _shown(part.get("response"))
                if isinstance(call_id, str) and isinstance(text, str):
                    texts.setdefault(call_id, text)
        whole: dict[str, Mapping[str, Any]] = {}
        for result in results:
            clean = without_nulls(result)
            for text in _texts(clean):
                whole.setdefault(_digest(_value(text)), clean)
        return Quotes(texts, whole)

    def text_of(self, event: Event, value: Any) -> str | None:
        """The text that the model was shown of this very value."""
        text = self.texts.get(str(event.request.get("call_id")))
        return text if text is not None and _digest(_value(text)) == _digest(value) else None

    def structured(self, event: Event) -> bool:
        """Whether a recorded call will be answered with structured content, or with an error."""
        value = (event.response or {}).get("result")
        return event.error is not None or "structuredContent" in (_whole(value) or self.whole(value) or {})

    def whole(self, value: Any) -> Mapping[str, Any] | None:
        """The recorded answer of the server that holds this value."""
        return self.results.get(_digest(_value(value) if isinstance(value, str) else value))


def result_of(served: Served, quotes: Quotes) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(the result of ``tools/call``, what of it is assumed). Raises Refused for a recorded JSON-RPC error."""
    if served.error is not None:
        return _failed(served)
    value = served.value
    whole = _whole(value) or (quotes.whole(value) if served.origin != "fixture" else None)
    if whole is not None:
        return dict(whole), ()
    blocks = [value] if _is_block(value) else value
    if isinstance(blocks, list | tuple) and blocks and all(_is_block(block) for block in blocks):
        return {"content": [without_nulls(block) for block in blocks], "isError": False}, ()
    if isinstance(value, str):
        return _text(value), ()
    quoted = quotes.text_of(served.event, value)
    if quoted is not None:
        return _text(quoted), ()
    return _text(as_json(value)), ("response.result: as JSON text; in which form the server wrote it was not recorded",)


def as_json(value: Any) -> str:
    """A value as JSON text; what JSON cannot say is in its typed form."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return canonical.dumps(value).decode()


def _failed(served: Served) -> tuple[dict[str, Any], tuple[str, ...]]:
    error = served.error
    assert error is not None
    whole = _whole((served.event.response or {}).get("result"))
    if whole is not None:
        return {**whole, "isError": True}, ()
    args = raised_by(served.event, error).get("args")
    told = args[0] if isinstance(args, list | tuple) and args and isinstance(args[0], str) else None
    message = error.message or told or error.type or "the tool failed"
    code = next((served.event.attributes[key] for key in _CODES if key in served.event.attributes), error.type)
    if isinstance(code, int | str) and str(code).removeprefix("-").isdigit():
        raise Refused(int(code), message)
    return {**_text(message), "isError": True}, ("response.isError: that the failure was a result of the tool",)


def _text(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": False}


def _whole(value: Any) -> dict[str, Any] | None:
    """A recorded ``CallToolResult``, in the names of the wire."""
    if not isinstance(value, Mapping) or not isinstance(value.get("content"), list):
        return None
    if not all(_is_block(block) for block in value["content"]):
        return None
    return dict(without_nulls(value))


def _is_block(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
        return False
    member = _BLOCKS.get(value["type"])
    return member is not None and isinstance(value.get(member), str if member != "resource" else Mapping)


def _responses(event: Event) -> list[Mapping[str, Any]]:
    messages = event.request.get("messages")
    parts = [p for m in messages if isinstance(m, Mapping) for p in _list(m.get("parts"))] if isinstance(messages, list) else []
    return [part for part in parts if isinstance(part, Mapping) and part.get("type") == "tool_call_response"]


def _shown(response: Any) -> Any:
    """The text of a response, also where it stands in a list of one part."""
    if isinstance(response, list) and len(response) == 1 and isinstance(response[0], Mapping):
        return response[0].get("text", response[0].get("content"))
    return response


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(result: Mapping[str, Any]) -> set[str]:
    """The texts as which packages give a result: its first block's, and all of them joined."""
    texts = [b["text"] for b in _list(result.get("content")) if isinstance(b, Mapping) and isinstance(b.get("text"), str)]
    return {texts[0], "".join(texts), "\n".join(texts)} if texts else set()


def _value(text: str) -> Any:
    """What a text says: JSON as its value, anything else as itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _digest(value: Any) -> str:
    return canonical.digest_value(value)
