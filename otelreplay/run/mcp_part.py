"""MCP as a part of a run: what is served, and what programs are told of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence

from otelreplay.events import Event
from otelreplay.replay.session import Session
from otelreplay.run.mcp_clients import PYTHON, SERVERS
from otelreplay.stubs.mcp import MOUNT, McpServer, answering, catalogue_of, mcp_tools
from otelreplay.stubs.server import Answer


def served(session: Session, events: Sequence[Event], *, local: Collection[str]) -> tuple[dict[str, Answer], Mapping[str, str]]:
    """(what answers behind which path, the variables of the run). ``local``: tools that the program has without MCP."""
    catalogue = catalogue_of(events, local=local)
    answers = {MOUNT: answering(McpServer(session, catalogue))}
    return answers, {SERVERS: json.dumps(catalogue.names()), PYTHON: sys.executable}


def covered(events: Sequence[Event], named: Collection[str]) -> frozenset[str]:
    """The recorded tools that MCP servers stand in for: by what the recording shows, and by name; ``*`` names all."""
    tools = frozenset(event.name for event in events if event.kind == "tool")
    return tools if "*" in named else mcp_tools(events) | (tools & frozenset(named))
