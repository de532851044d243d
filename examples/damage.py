"""Makes a damaged copy of the shipped trace: ``python -m examples.damage IN.jsonl OUT.jsonl``.

Three things that happen to real telemetry, always the same ones:

- the last model call was made by a process that does not capture content,
- the span of one of the two parallel ``lookup_order`` calls was lost on the way,
- values were cut at 1,400 characters, as OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT cuts them; one is longer: the messages of the third
  model call.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

CONTENT = {"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions", "gen_ai.system_instructions"}
LIMIT = 1400


def attribute(span: dict[str, Any], name: str) -> str | None:
    """A text attribute of a span in OTLP/JSON."""
    return next((a["value"].get("stringValue") for a in span["attributes"] if a["key"] == name), None)


def damaged(span: dict[str, Any]) -> dict[str, Any] | None:
    """The span as it arrives after the damage; None if it does not arrive."""
    if attribute(span, "gen_ai.tool.call.id") == "call_0_1":
        return None
    silent = attribute(span, "gen_ai.response.id") == "chatcmpl-desk-3"
    return span | {"attributes": [cut(a) for a in span["attributes"] if not (silent and a["key"] in CONTENT)]}


def cut(attribute: dict[str, Any]) -> dict[str, Any]:
    """An attribute with its text no longer than the limit."""
    text = attribute["value"].get("stringValue")
    return attribute if text is None else attribute | {"value": {"stringValue": text[:LIMIT]}}


def damage(trace: str) -> str:
    """The damaged copy of a trace in JSON Lines."""
    lines = [json.loads(line) for line in trace.splitlines()]
    for line in lines:
        for resource in line["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                scope["spans"] = [s for s in map(damaged, scope["spans"]) if s is not None]
    return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:3])
    target.write_text(damage(source.read_text(encoding="utf-8")), encoding="utf-8")
