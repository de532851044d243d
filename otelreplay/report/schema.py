"""The published JSON Schema of a replay's report: ``docs/report.schema.json``.

Every object is open: later versions add members, so a reader must expect them.
"""

from __future__ import annotations

import json
from typing import Any, Final, get_args

from otelreplay.replay.divergence import KINDS, CauseClass, Change, Origin

SCHEMA_ID: Final = "urn:otelreplay:report:1"
OUTCOMES: Final = (
    "as_recorded", "diverged", "missing_data", "live_call_blocked", "integrity", "failed", "ended_early", "ended_otherwise",
    "timed_out",
)  # fmt: skip

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_SEQ: Final = {"type": ["integer", "null"], "description": "The event's place in the recording."}


def _said(shape: dict[str, Any], description: str) -> dict[str, Any]:
    return {**shape, "description": description}


def _list(items: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


def _object(description: str, properties: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(required),
        "additionalProperties": True,
    }


_CHANGED: Final = {
    "path": _said(_TEXT, "The field as the recording has it: request.params.temperature."),
    "change": _said({"enum": list(get_args(Change))}, "How it differs; empty where no two values stand against each other."),
    "expected": {"description": "What was recorded, redacted; a long value is cut around what differs."},
    "received": {"description": "What the program gave."},
    "received_path": _said(_TEXT, "Where the field stands now, if that is another place."),
}

DIVERGENCE: Final = {
    "code": _said({"enum": [f"replay.{kind}" for kind in KINDS]}, "Stable."),
    "page": _said(_TEXT, "Where this kind is explained."),
    "kind": {"enum": list(KINDS)},
    "seq": _said(_SEQ, "The recorded event that was expected; null where there is none."),
    "span": _said(_TEXT, "Its id: trace and span."),
    "boundary": _said(_TEXT, "Its kind: model, tool, retrieval, ..."),
    "operation": _said(_TEXT, "Its name: the tool, the model, the agent."),
    "agent": _said(_TEXT, "The agent that it belongs to."),
    "recorded_where": _said(_TEXT, "File and line of the recorded call, where its telemetry has them."),
    "recorded_function": _said(_TEXT, "The recorded function, where its telemetry has it."),
    "call": _said({"type": ["integer", "null"]}, "Number of the live call, from 1."),
    "received_boundary": _said(_TEXT, "Kind of the live call."),
    "received_operation": _said(_TEXT, "Name of the live call."),
    "received_agent": _said(_TEXT, "The agent that the live call was made in."),
    "where": _said(_TEXT, "File and line of the live call."),
    "function": _said(_TEXT, "The function that was called."),
    **_CHANGED,
    "others": _list(_TEXT, "Further fields that differ."),
    "differences": _list({"$ref": "#/$defs/Changed"}, "All of them with both sides, up to 20."),
    "last_agreed": _said(_SEQ, "The last event that agreed."),
    "agreed": _said(_COUNT, "How many agreed before."),
    "cause": {"enum": list(get_args(CauseClass))},
    "origin": _said(_TEXT, "The answer that brought the differing value in, if that is known."),
    "detail": _said(_TEXT, "What happened, in a sentence."),
    "remedy": _said(_TEXT, "What to do if it was not meant."),
    "nearest": _list({"$ref": "#/$defs/Near"}, "Recordings that are like what was received."),
    "unchecked": _list(_TEXT, "Fields of the expected event that were not compared."),
    "reproduce": _said(_TEXT, "The command that shows this again."),
    "accept": _said(_TEXT, "The edit after which it is as recorded."),
}
_NEAR: Final = {
    "seq": {"type": "integer"}, "boundary": _TEXT, "operation": _TEXT,
    "path": _said(_TEXT, "The first field that differs; empty if none does."), "state": {"enum": ["served", "waiting"]},
}  # fmt: skip
_LISTED: Final = {
    "seq": _SEQ, "seqs": {"type": "array"}, "boundary": _TEXT, "operation": _TEXT, "field": _TEXT, "reason": _TEXT,
    "count": _COUNT,
}  # fmt: skip
_ORIGINS: Final = [*get_args(Origin), "live"]

REPORT: Final = {
    "outcome": {"enum": list(OUTCOMES)},
    "exit_code": _said({"type": "integer"}, "0 as recorded, 1 diverged, 3 data missing, 4 blocked, 5 integrity."),
    "cassette": _said(_TEXT, "The file that was replayed."),
    "run_id": _TEXT,
    "guard": _said(_TEXT, "How strongly live calls were blocked."),
    "guard_missing": _list(_TEXT, "Levels that this machine did not allow, with the reason."),
    "child_exit": _said({"type": ["integer", "null"]}, "How the program ended; negative for a signal."),
    "served": _said(_COUNT, "Calls that were answered."),
    "calls": _said(_COUNT, "Calls that were received, agents included."),
    "unused": _said(_COUNT, "Recordings that were never asked for."),
    "unused_events": _list({"$ref": "#/$defs/Named"}, "The first of them."),
    "blocked": _list({"$ref": "#/$defs/Blocked"}, "Attempts to go live."),
    "first_divergence": {"anyOf": [{"$ref": "#/$defs/Divergence"}, {"type": "null"}]},
    "others": _list({"$ref": "#/$defs/Divergence"}, "The divergences after the first, in order."),
    "more": _said(_COUNT, "Divergences beyond those listed."),
    "origins": {"type": "object", "description": "Answers by origin.", "additionalProperties": _COUNT},
    "responses": _list({"$ref": "#/$defs/Answers"}, "The origin of every answer."),
    "observe": _said({"type": "boolean"}, "Whether the replay went on after its first divergence."),
    "assumed": _list({"$ref": "#/$defs/Listed"}, "What was given without having been recorded."),
    "normalised": _list({"$ref": "#/$defs/Listed"}, "What was compared through a placeholder or a normaliser."),
    "unchecked": _list({"$ref": "#/$defs/Listed"}, "What was not compared, and why."),
    "writes": _list({"$ref": "#/$defs/Named"}, "What the original run changed in the world."),
    "notes": _list(_TEXT, "Anything else worth knowing."),
    "left_running": _list(_TEXT, "Processes that outlived the program, and were ended."),
    "credentials_removed": _list(_TEXT, "Variables that were kept from the program."),
}
REQUIRED: Final = (
    "outcome", "exit_code", "guard", "child_exit", "served", "unused", "blocked", "first_divergence", "others", "assumed",
    "normalised", "unchecked", "notes",
)  # fmt: skip


def report_schema() -> dict[str, Any]:
    """The schema, as JSON."""
    defs = {
        "Divergence": _object("Where the program and the recording part.", DIVERGENCE, ("code", "kind", "seq")),
        "Changed": _object("One field that differs.", _CHANGED, ("path", "change")),
        "Near": _object("A recording that is like what was received.", _NEAR, ("seq",)),
        "Named": _object("An event.", {"seq": _SEQ, "boundary": _TEXT, "operation": _TEXT}, ("seq",)),
        "Listed": _object("A field, its events, and the reason.", _LISTED, ()),
        "Answers": _object(
            "Events that follow each other and were answered from one origin.",
            {"origin": {"enum": _ORIGINS}, "from": {"type": "integer"}, "to": {"type": "integer"}},
            ("origin", "from", "to"),
        ),
        "Blocked": _object(
            "An attempt to go live.",
            {"what": _TEXT, "target": _TEXT, "where": _TEXT, "by": _TEXT, "count": _COUNT, "stack": {"type": "array"}},
            ("what",),
        ),
    }
    whole = _object("What a replay came to.", REPORT, REQUIRED)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Report",
        **whole,
        "$defs": defs,
    }


def schema_text() -> str:
    """``docs/report.schema.json``, byte for byte."""
    return json.dumps(report_schema(), indent=2, ensure_ascii=False) + "\n"
