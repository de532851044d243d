"""A conversation that a package wrote down as text, a line a turn."""

from __future__ import annotations

from typing import Any


def spoken(text: str, role: str) -> list[dict[str, Any]]:
    """The turns of lines of the form ``role: text``; any other text is one turn of ``role``."""
    turns: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        head, colon, rest = line.partition(": ")
        if colon and head in ("system", "user", "assistant", "tool", "developer"):
            turns.append((head, [rest]))
        elif turns:
            turns[-1][1].append(line)
        else:
            return [{"role": role, "parts": [{"type": "text", "content": text}]}]
    return [_line(said, "\n".join(lines)) for said, lines in turns]


def _line(role: str, text: str) -> dict[str, Any]:
    """One turn; ``None`` is what Python prints of a turn that only calls tools."""
    if role == "assistant" and text == "None":
        return {"role": role, "parts": []}
    if role == "tool":
        return {"role": role, "parts": [{"type": "tool_call_response", "response": text}]}
    return {"role": role, "parts": [{"type": "text", "content": text}]}
