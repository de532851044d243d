"""Log records of agents that keep no trace: their session stands for the trace.

A coding agent that exports only logs writes no trace ids; each record names the session or conversation that it belongs to.
Such a record is given a trace id of its own making: a digest of that name, so that the records of one session come together
wherever, whenever and in whatever order they arrive. Only records that tell of a model, a tool or a prompt are placed so: what
a program logs besides, of its start or of its plugins, would make a run of nothing.

Records are placed after redaction: a session that a policy removes is none.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from otelreplay.spans.model import LogRecord

SESSIONS: Final = (*("session.id", "gen_ai.conversation.id", "conversation.id", "conversation_id", "session_id", "thread_id"),)
"""Attributes that name a session, the first that is there counts."""
_CLAUDE: Final = "com.anthropic.claude_code"
_AGENTS: Final = ("claude_code.", "codex.")
"""Agents of which the records alone are read; those of others would make a run without an event."""
_TELLING: Final = ("user_prompt", "api_", "assistant_", "agent_response", "tool_", "sse_event", "websocket_request")
"""How the names of records begin that tell of a boundary, behind the name of the agent."""


def event_of(record: LogRecord) -> str:
    """The name of the event: some libraries put the place in the source into the field, and the name into an attribute."""
    named = record.attributes.get("event.name")
    return (
        named if isinstance(named, str) and (not record.event_name or record.event_name.startswith("event ")) else record.name
    )


def placed_in_session(record: LogRecord) -> LogRecord:
    """The record as it is, or with the trace id that its session stands for."""
    if record.trace_id or not record.attributes:
        return record
    name = event_of(record)
    agent = next((a for a in _AGENTS if name.startswith(a)), "")
    if not agent and not record.scope.name.startswith(_CLAUDE):
        return record
    if not name.removeprefix(agent).startswith(_TELLING):
        return record
    holders = (record.attributes, record.resource.attributes)
    session = next(((k, v) for k in SESSIONS for held in holders if isinstance(v := held.get(k), str) and v), None)
    if session is None:
        return record
    digest = hashlib.sha256("\0".join(("session", *session)).encode("utf-8", "surrogatepass"))
    return msgspec.structs.replace(record, trace_id=digest.hexdigest()[:32])
