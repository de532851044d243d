"""What a recording says of MCP: which tools were called over it, and which answers of servers it holds.

Three kinds of spans tell something:

    tool calls             attributes ``mcp.*``, a scope that is an MCP package's, or a name of the form ``mcp__SERVER__TOOL``
    other methods          ``mcp.method.name``, mostly without content
    messages as JSON       of packages that keep whole requests and answers (``{"method", "params"}`` beside the answer, or the
                           answer alone): tools/list, initialize, resources/read, ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.events import Event

_SCOPE: Final = re.compile(r"(^|[^a-z])mcp([^a-z]|$)")
_PREFIXED: Final = re.compile(r"mcp__(?P<server>.+?)__(?P<tool>.+)", re.DOTALL)
_SERVER_KEYS: Final = ("mcp.server.name", "mcp_server_name", "mcp.server")
_SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
"""Under ``_meta`` of a result, since 2026-07-28: who gave it."""
_KNOWN_BY: Final = {
    "protocolVersion": "initialize", "tools": "tools/list", "content": "tools/call", "contents": "resources/read",
    "messages": "prompts/get", "resources": "resources/list", "prompts": "prompts/list",
    "resourceTemplates": "resources/templates/list",
}  # fmt: skip
"""Where an answer stands alone: the method, by the one key that its answer must have."""


_WIRE_NAMES: Final = {
    "meta": "_meta",
    "structured_content": "structuredContent",
    "is_error": "isError",
    "mime_type": "mimeType",
}
"""As SDKs spell fields in their own language, and as they cross the wire."""
_OF_USERS: Final = frozenset(
    {"inputSchema", "outputSchema", "structuredContent", "structured_content", "_meta", "meta", "arguments"}
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """One answer of a server, as it was recorded."""

    method: str
    params: Mapping[str, Any] | None = field(default_factory=dict)
    """None where only the answer was recorded."""
    result: Mapping[str, Any]
    seq: int


def mcp_tools(events: Iterable[Event]) -> frozenset[str]:
    """The names of the recorded tools that were called over MCP, as far as the recording says so."""
    return frozenset(event.name for event in events if event.kind == "tool" and over_mcp(event))


def covered(events: Iterable[Event], named: Collection[str]) -> frozenset[str]:
    """The recorded tools that MCP servers stand in for: by what the recording shows, and by name; ``*`` names all."""
    tools = [event for event in events if event.kind == "tool"]
    return mcp_tools(tools) | {event.name for event in tools if event.name in named or "*" in named}


def over_mcp(event: Event) -> bool:
    """Whether a span of this call came from an MCP package, or carries its attributes."""
    if split_name(event.name)[0]:
        return True
    return any(_says_mcp(attributes) for attributes in _all_attributes(event))


def split_name(name: str) -> tuple[str, str]:
    """(server, tool) of a name in the form ``mcp__SERVER__TOOL``; no server in any other."""
    found = _PREFIXED.fullmatch(name)
    return (found["server"], found["tool"]) if found else ("", name)


def server_of(event: Event) -> str:
    """The server that a recorded call names; empty where none is named."""
    for attributes in _all_attributes(event):
        named = next((attributes[key] for key in _SERVER_KEYS if isinstance(attributes.get(key), str)), "")
        if named:
            return str(named)
    value = (event.response or {}).get("result")
    for member in ("_meta", _SERVER_INFO, "name"):
        value = value.get(member) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else split_name(event.name)[0]


def methods_seen(events: Iterable[Event]) -> frozenset[str]:
    """Every MCP method of which the recording has a span."""
    found = {_method(attributes) for event in events for attributes in _all_attributes(event)}
    return frozenset(found - {""})


def version_of(events: Iterable[Event]) -> str:
    """The protocol version that the recorded spans name; empty for none."""
    said = (attributes.get("mcp.protocol.version") for event in events for attributes in _all_attributes(event))
    return next((text for text in said if isinstance(text, str)), "")


def answers(events: Iterable[Event]) -> list[Answer]:
    """All recorded answers. Those of a client's side, which name the request too, where there are any of that method."""
    full, alone = [], []
    for event in events:
        entry = _entry(event)
        if entry is not None:
            full.append(entry)
        bare = _object(event.attributes.get("mcp.response.value"))
        method = next((method for key, method in _KNOWN_BY.items() if bare and key in bare), "")
        if bare is not None and method:
            alone.append(Answer(method=method, params=None, result=bare, seq=event.seq))
    told = {answer.method for answer in full}
    return full + [answer for answer in alone if answer.method not in told]


def without_nulls(value: Any) -> Any:
    """Without the members that a library wrote as null for "not given", and with the names of the wire.

    What a user wrote stays as it is: schemas, structured content, arguments.
    """
    if isinstance(value, Mapping):
        return {
            _WIRE_NAMES.get(name, name): item if name in _OF_USERS else without_nulls(item)
            for name, item in value.items()
            if item is not None
        }
    return [without_nulls(item) for item in value] if isinstance(value, list | tuple) else value


def _entry(event: Event) -> Answer | None:
    """Request and answer that one span holds as JSON."""
    asked, said = (
        _object(event.attributes.get("traceloop.entity.input")),
        _object(event.attributes.get("traceloop.entity.output")),
    )
    method = asked.get("method") if asked is not None else None
    if asked is None or said is None or not isinstance(method, str) or not _says_mcp(event.attributes):
        return None
    params = asked.get("params")
    return Answer(method=method, params=params if isinstance(params, dict) else {}, result=said, seq=event.seq)


def _object(text: Any) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _all_attributes(event: Event) -> Iterator[Mapping[str, Any]]:
    yield event.attributes
    also = event.attributes.get("otelreplay.also")
    yield from (held for held in also.values() if isinstance(held, Mapping)) if isinstance(also, Mapping) else ()


def _says_mcp(attributes: Mapping[str, Any]) -> bool:
    scope = attributes.get("otelreplay.scope")
    named = isinstance(scope, str) and _SCOPE.search(scope.lower().partition(" ")[0]) is not None
    return named or any(key.startswith(("mcp.", "mcp_")) for key in attributes)


def _method(attributes: Mapping[str, Any]) -> str:
    found = attributes.get(sc.MCP_METHOD)
    return found if isinstance(found, str) else ""
