"""Replies whose parallel calls a package put together as one when it collected a stream.

    name "findfind"   id "c1c2"   arguments '{"a": 1}{"a": 2}'

Packages add up the pieces of a stream without looking at their numbers. What was asked for cannot be told from that: where one
call ends, in names and ids, is nowhere. So such a reply counts as not recorded. A later request that quotes it tells it whole.
"""

from __future__ import annotations

import json
from typing import Any, Final

from otelreplay.events import Missing
from otelreplay.reconstruct.draft import Draft

_READ: Final = json.JSONDecoder().raw_decode
_FIELD: Final = "response.messages"


def without_glued_calls(draft: Draft) -> None:
    """Takes a reply out of a model's draft in which arguments are several objects in a row, and says so."""
    for message in draft.fields.get(_FIELD) or ():
        for part in message["parts"]:
            if part.get("type") == "tool_call" and is_row(part.get("arguments")):
                del draft.fields[_FIELD]
                draft.gaps[_FIELD] = Missing(
                    field=_FIELD,
                    cause="undecodable",
                    detail="the package put parallel calls of a stream together as one",
                    remedy="update the package that made this span, or do not stream calls of several tools",
                )
                return


def is_row(arguments: Any) -> bool:
    """Is it text of two or more JSON objects in a row?"""
    if not isinstance(arguments, str) or not arguments.lstrip().startswith("{"):
        return False
    at, count = 0, 0
    text = arguments.strip()
    while text[at : at + 1] == "{":
        try:
            _, at = _READ(text, at)
        except (ValueError, RecursionError):
            return False
        count += 1
        at += len(text[at:]) - len(text[at:].lstrip())
    return count > 1 and at == len(text)
