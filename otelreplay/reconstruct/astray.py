"""Log records of a model call that name the span around it.

A package that emits its messages while another span is the current one (a callback, the end of a stream) leaves them with that
span. They belong to the model call inside it that ran at the time, else to the one that began last before, if that call has no
content of its own on the span and no records of its own for that side of the exchange.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from otelreplay import semconv as sc
from otelreplay.dialects.claude_code import SCOPE
from otelreplay.spans import Identified, LogRecord, Span

_CHOICE = "gen_ai.choice"
_ASKED = frozenset(f"gen_ai.{role}.message" for role in ("system", "developer", "user", "assistant", "tool"))
_ATTRIBUTES = {"asked": sc.INPUT_MESSAGES, "said": sc.OUTPUT_MESSAGES}
_BODIES = ("api_request_body", "api_response_body", "assistant_response")
_KINDS = sc.KIND_OF_OPERATION


def placed(records: dict[str, list[LogRecord]], spans: Sequence[Identified]) -> dict[str, list[LogRecord]]:
    """The records by span key, those that went astray with the model call that they tell of."""
    by_key = {i.span.key: i.span for i in spans}
    records = _beside(records, by_key)
    astray = [key for key, held in records.items() if key in by_key and not _is_model(by_key[key]) and any(map(_side, held))]
    if not astray:
        return records
    inside = _models_inside(by_key)
    out = {key: list(held) for key, held in records.items()}
    for key in astray:
        for side in ("asked", "said"):
            told = [r for r in records[key] if _side(r) == side]
            for record in told:
                model = _running(_time(record), _free(inside.get(key, ()), side, records))
                if model is not None:
                    out[key].remove(record)
                    out.setdefault(model.key, []).append(record)
    return {key: held for key, held in out.items() if held}


def _beside(records: dict[str, list[LogRecord]], by_key: Mapping[str, Span]) -> dict[str, list[LogRecord]]:
    """Claude Code logs all of a turn with the span around it: a tool's records go by its call, a body to the call it is of."""
    told = {key: [r for r in held if r.scope.name.startswith(SCOPE)] for key, held in records.items()}
    if not any(told.values()):
        return records
    out = {key: list(held) for key, held in records.items()}
    ran = [s for s in by_key.values() if s.attributes.get(sc.OPERATION) == "execute_tool"]
    tools = {str(s.attributes[sc.TOOL_CALL_ID]): s for s in ran if sc.TOOL_CALL_ID in s.attributes}
    models = [s for s in by_key.values() if _is_model(s)]
    bodies: dict[str, Span] = {}
    for key, held in told.items():
        for record in sorted(held, key=_time):
            name, body = record.name.removeprefix("claude_code."), str(record.attributes.get("request_body_id") or "")
            home = tools.get(str(record.attributes.get("tool_use_id"))) if name == "tool_result" else bodies.get(body)
            if home is None and name in _BODIES and models:
                at = "start" if name == "api_request_body" else "end"
                _, nearest = min((abs(getattr(s, at) - _time(record)), n) for n, s in enumerate(models))
                home = models[nearest]
                if body:
                    bodies[body] = home
            if home is not None and home.key != key:
                out[key].remove(record)
                out.setdefault(home.key, []).append(record)
    return {key: held for key, held in out.items() if held}


def _side(record: LogRecord) -> str:
    return "said" if record.name == _CHOICE else "asked" if record.name in _ASKED else ""


def _time(record: LogRecord) -> int:
    return record.time or record.observed_time


def _is_model(span: Span) -> bool:
    return _KINDS.get(str(span.attributes.get(sc.OPERATION))) == "model"


def _models_inside(by_key: Mapping[str, Span]) -> dict[str, list[Span]]:
    """The model calls in each span, at any depth."""
    found: dict[str, list[Span]] = {}
    for span in by_key.values():
        if not _is_model(span):
            continue
        at, seen = span, {span.key}
        while (up := by_key.get(f"{at.trace_id}/{at.parent_span_id}")) is not None and up.key not in seen:
            found.setdefault(up.key, []).append(span)
            seen.add(up.key)
            at = up
    return found


def _free(models: Iterable[Span], side: str, records: Mapping[str, list[LogRecord]]) -> list[Span]:
    """Those that hold nothing of their own of this side of the exchange."""
    own = _ATTRIBUTES[side]
    return [m for m in models if own not in m.attributes and not any(_side(r) == side for r in records.get(m.key, ()))]


def _running(time: int, models: Sequence[Span]) -> Span | None:
    """The call that ran at a time, else the one that began last before it; None where two ran."""
    running = [m for m in models if m.start <= time <= (m.end or time)]
    if len(running) == 1:
        return running[0]
    before = [m for m in models if m.start <= time]
    return max(before, key=lambda m: (m.start, m.key)) if before and not running else None
