"""What the servers of a run offered, rebuilt from its recording.

A recorded ``tools/list`` is given as it was. Without one, the tools that the run's model requests declare stand for it, in
their order and with their schemas: what the model was told of a tool is what the server said of it. Tools that the program has
without MCP (replaced by ``--tool``, decorated) are left out. A tool that was called and never declared gets the schema
``{"type": "object"}``, and that is said.

Whose tool it is, the recording seldom tells. So a connection is answered by the first that fits:

    its name is that of a recorded server          that server's list
    the recording holds lists, of servers unnamed  the lists in their order: the first connection gets the first
    else                                           the first connection gets all tools, every later one of another name none

The last keeps the joint list of a program with several servers as it was, which is what its model sees.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from otelreplay.canonical import digest_value
from otelreplay.events import Event
from otelreplay.stubs.mcp.content import Quotes
from otelreplay.stubs.mcp.evidence import (
    Answer,
    answers,
    mcp_tools,
    methods_seen,
    over_mcp,
    server_of,
    split_name,
    version_of,
    without_nulls,
)

ANY_OBJECT: Final[Mapping[str, Any]] = {"type": "object"}
_LISTS: Final = {
    "tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}  # fmt: skip
_JOINTS: Final = ("__", "_", "-", ".", "/", ":")
"""What frameworks put between the name of a server and that of a tool."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """One tool as a list shows it."""

    name: str
    definition: Mapping[str, Any]
    server: str = ""
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Known:
    """One recorded server."""

    name: str
    tools: tuple[Tool, ...] = ()
    hello: Mapping[str, Any] = field(default_factory=dict)
    """Its answer to ``initialize``."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Catalogue:
    """Everything that is known of the servers of one run."""

    servers: tuple[Known, ...] = ()
    pool: tuple[Tool, ...] = ()
    """Tools of which no server is known."""
    called: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of recorded tools, by the name that crosses the wire."""
    lists: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    """Recorded lists but that of tools, by method."""
    held: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """Recorded answers, by method and digest of what was asked for."""
    seen: frozenset[str] = frozenset()
    """Methods of which there is a span, with or without content."""
    version: str = ""
    quotes: Quotes = field(default_factory=Quotes)

    def names(self) -> tuple[str, ...]:
        """The servers that the recording names."""
        return tuple(dict.fromkeys(server.name for server in self.servers if server.name))

    def operation(self, server: str, tool: str) -> str:
        """Under which name a call of a server's tool was recorded; the tool's own where it was not."""
        candidates = self.called.get(tool, ())
        ours = [name for name in candidates if plain_name(server) and plain_name(server) in plain_name(name)]
        return next(iter(ours or sorted(candidates, key=lambda name: name != tool)), tool)


def catalogue_of(events: Sequence[Event], *, local: Collection[str] = ()) -> Catalogue:
    """Read a recording. ``local``: tools that the program has without MCP."""
    said = answers(events)
    over = mcp_tools(events)
    hellos = _unique(answer.result for answer in said if answer.method == "initialize")
    lists = [answer for answer in said if answer.method == "tools/list"]
    quotes = Quotes.of(events, [answer.result for answer in said if answer.method == "tools/call"])
    servers = tuple(
        replace(server, tools=tuple(_checkable(tool, events, quotes) for tool in server.tools))
        for server in _servers(hellos, lists)
    )
    names = {server.name for server in servers} | {server_of(e) for e in events if e.kind == "tool" and over_mcp(e)}
    offered = _offered(events, frozenset(local), over, names=sorted(names - {""}), lists_held=bool(lists))
    listed = {tool.name for server in servers for tool in server.tools}
    named = _by_server([tool for tool in offered if tool.server and tool.name not in listed], servers)
    rest = tuple(tool for tool in offered if not tool.server and tool.name not in listed)
    called: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(event.name for event in events if event.kind in ("tool", "retrieval")):
        wire = _wire_name(name, over, sorted(names))[1]
        called[wire] = (*called.get(wire, ()), name)
    return Catalogue(
        servers=named, pool=rest, called=called, lists=_other_lists(said), held=_held(said), seen=methods_seen(events),
        version=version_of(events), quotes=quotes,
    )  # fmt: skip


def plain_name(text: str) -> str:
    """A name as it is compared: letters and digits."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _servers(hellos: list[Mapping[str, Any]], lists: list[Answer]) -> tuple[Known, ...]:
    """Servers in the order in which they were first met, each with its list where it can be told whose it is."""
    tools = _unique(answer.result for answer in lists)
    if len(hellos) == 1:
        joined = [tool for result in tools for tool in _members(result, "tools")]
        return (Known(name=_own_name(hellos[0]), hello=hellos[0], tools=_tools(joined)),)
    if len(hellos) == len(tools):
        return tuple(
            Known(name=_own_name(hello), hello=hello, tools=_tools(_members(result, "tools")))
            for hello, result in zip(hellos, tools, strict=True)
        )
    return tuple(Known(name="", tools=_tools(_members(result, "tools"))) for result in tools)


def _unique(results: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A server that is asked twice answers twice the same."""
    found: dict[str, Mapping[str, Any]] = {}
    for value in results:
        found.setdefault(digest_value(dict(value)), value)
    return list(found.values())


def _own_name(hello: Mapping[str, Any]) -> str:
    info = hello.get("serverInfo")
    name = info.get("name") if isinstance(info, Mapping) else None
    return name if isinstance(name, str) else ""


def _tools(members: Iterable[Any]) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    for member in members:
        name = member.get("name") if isinstance(member, Mapping) else None
        if isinstance(name, str):
            definition = without_nulls(member)
            assumed = () if isinstance(definition.get("inputSchema"), dict) else ("inputSchema",)
            found.setdefault(name, Tool(name=name, definition={"inputSchema": ANY_OBJECT, **definition}, assumed=assumed))
    return tuple(found.values())


def _checkable(tool: Tool, events: Sequence[Event], quotes: Quotes) -> Tool:
    """Without an output schema that recorded results cannot be held against: clients refuse a result without its structure."""
    if "outputSchema" not in tool.definition:
        return tool
    if all(quotes.structured(event) for event in events if event.kind == "tool" and event.name == tool.name):
        return tool
    kept = {name: value for name, value in tool.definition.items() if name != "outputSchema"}
    return replace(tool, definition=kept, assumed=(*tool.assumed, "outputSchema"))


def _members(result: Mapping[str, Any], name: str) -> list[Any]:
    held = result.get(name)
    return held if isinstance(held, list) else []


def _offered(
    events: Sequence[Event], local: frozenset[str], over: frozenset[str], *, names: Sequence[str], lists_held: bool
) -> list[Tool]:
    """Tools that the run's models were told of, then those that were called without."""
    own = {plain_name(name) for name in local}
    whose: dict[str, list[str]] = {}
    for event in events:
        if event.kind == "tool" and event.name not in local and (over_mcp(event) or not over):
            servers = whose.setdefault(event.name, [])
            servers += [server for server in [server_of(event)] if server not in servers]
    told: dict[str, Mapping[str, Any]] = {}
    for tool in () if lists_held else (tool for event in events if event.kind == "model" for tool in _declared(event)):
        told.setdefault(str(tool.get("name")), tool)
    found: list[Tool] = []
    for name in dict.fromkeys((*told, *whose)):
        if plain_name(name) in own:
            continue
        server, wire = _wire_name(name, over, names)
        found += [_tool(wire, told.get(name, {}), server or known) for known in whose.get(name, [""])]
    return list({(tool.server, tool.name): tool for tool in reversed(found)}.values())[::-1]


def _declared(event: Event) -> list[Mapping[str, Any]]:
    tools = event.request.get("tools")
    return (
        [tool for tool in tools if isinstance(tool, Mapping) and isinstance(tool.get("name"), str)]
        if isinstance(tools, list)
        else []
    )


def _tool(name: str, declared: Mapping[str, Any], server: str) -> Tool:
    schema = declared.get("parameters")
    definition: dict[str, Any] = {"name": name}
    if isinstance(declared.get("description"), str):
        definition["description"] = declared["description"]
    definition["inputSchema"] = schema if isinstance(schema, dict) and schema else ANY_OBJECT
    assumed = () if definition["inputSchema"] is not ANY_OBJECT else ("inputSchema",)
    return Tool(name=name, definition=definition, server=server, assumed=assumed)


def _wire_name(name: str, over: Collection[str], servers: Collection[str]) -> tuple[str, str]:
    """(server, tool) of the name under which a framework offered or recorded a tool."""
    server, tool = split_name(name)
    if server or name in over:
        return server, tool
    for server in servers:
        for joint in _JOINTS:
            start = f"{server}{joint}"
            if server and name.startswith(start) and len(name) > len(start):
                return server, name[len(start) :]
    for tool in sorted(over, key=len, reverse=True):
        start = name.removesuffix(tool)
        joint = next((joint for joint in _JOINTS if start != name and start.endswith(joint)), "")
        if joint and start != joint:
            return start.removesuffix(joint), tool
    return "", name


def _by_server(tools: Sequence[Tool], servers: tuple[Known, ...]) -> tuple[Known, ...]:
    """Each tool whose server is named, with that server."""
    found = {server.name or f"\0{index}": server for index, server in enumerate(servers)}
    for tool in tools:
        server = found.get(tool.server, Known(name=tool.server))
        found[tool.server] = replace(server, tools=(*server.tools, tool))
    return tuple(found.values())


def _other_lists(said: Iterable[Answer]) -> dict[str, tuple[Mapping[str, Any], ...]]:
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for answer in said:
        key = _LISTS.get(answer.method)
        for member in _members(answer.result, key) if key and key != "tools" else ():
            if isinstance(member, Mapping):
                clean = without_nulls(member)
                found.setdefault(answer.method, {}).setdefault(digest_value(clean), clean)
    return {method: tuple(members.values()) for method, members in found.items()}


def _held(said: Iterable[Answer]) -> dict[tuple[str, str], Mapping[str, Any]]:
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for answer in said:
        if answer.params is not None and answer.method not in (*_LISTS, "initialize", "tools/call"):
            found.setdefault((answer.method, key_of(answer.params)), without_nulls(answer.result))
    return found


def key_of(params: Mapping[str, Any]) -> str:
    """What is asked for, without what travels beside it and without what was not given."""
    return digest_value({k: v for k, v in params.items() if k not in ("_meta", "meta", "task") and v is not None})
