"""What a recorded text of a tool's result stands for.

A package writes a result as JSON text, and a string as it is: ``42.5`` may be the number or the string, ``{"a": 1}`` the
object or a string that a tool read from somewhere. The span alone cannot tell; what the model was told can, since the agent
wrote that from the same value. Where nothing tells, an object or array is taken for one, and so is a number, true, false or
null, with a mark.
"""

from __future__ import annotations

from typing import Any

from otelreplay import canonical
from otelreplay.dialects.values import decoded_whole
from otelreplay.events import Inferred
from otelreplay.reconstruct.draft import Draft

FIELD = "response.result"


def settle(tool: Draft, told: object) -> None:
    """Chooses between the two readings of the recorded text by what the model was told."""
    text = tool.texts.get(FIELD)
    if text is None:
        return
    known, value = canonical.read_json(text)
    if not known:
        return
    if any(_is_text(candidate, text) for candidate in _unwrapped(told)):
        tool.fields[FIELD] = text
    elif not isinstance(value, (dict, list, str)) and any(_equal(candidate, value) for candidate in _unwrapped(told)):
        tool.fields[FIELD] = value
    else:
        return
    del tool.texts[FIELD]


def whole_after_all(tool: Draft, told: object) -> bool:
    """Was text that looks cut told to the model just so? Then the tool itself gave half of some JSON, and it is whole."""
    text = tool.texts.get(FIELD)
    if text is None or tool.has(FIELD) or not any(candidate == text for candidate in _unwrapped(told)):
        return False
    tool.fields[FIELD] = tool.texts.pop(FIELD)
    tool.gaps.pop(FIELD, None)
    return True


def of_several(tool: Draft, told: object) -> bool:
    """Was the model told several JSON values in a row, of which the span has the first? A package kept one block of many."""
    text = tool.texts.get(FIELD)
    if text is None or not isinstance(told, str) or text[:1] not in ("{", "[") or not canonical.read_json(text)[0]:
        return False
    rest = told.removeprefix(text).strip()
    return told.startswith(text) and rest[:1] == text[:1] and rest[-1:] == text.rstrip()[-1:]


def settle_alone(tool: Draft) -> None:
    """The last word where nobody was told: a scalar in JSON is one."""
    text = tool.texts.pop(FIELD, None)
    if text is None or tool.fields.get(FIELD) != text:
        return
    known, value = canonical.read_json(text)
    if known and not isinstance(value, str):
        tool.fields[FIELD] = value
        source = f"{tool.id}:{FIELD}"
        tool.inferred.append(Inferred(field=FIELD, source=source, rule="scalar_read_from_json_text"))


def same(result: object, told: object) -> bool:
    """Was the model told the value itself, as text, as JSON, or inside the one-key object that an API asks for?"""
    wanted = canonical.digest_value(result)
    forms = [f for candidate in _unwrapped(told) for f in (candidate, decoded_whole(candidate), _scalar(candidate))]
    return any(canonical.digest_value(form) == wanted for form in forms)


def _unwrapped(told: object) -> list[Any]:
    inner = decoded_whole(told)
    return [told, next(iter(inner.values()))] if isinstance(inner, dict) and len(inner) == 1 else [told]


def _is_text(told: object, text: str) -> bool:
    """Was the text told as a string, quotes and all, or as the value of an object?"""
    if not isinstance(told, str):
        return False
    known, inner = canonical.read_json(told)
    return known and inner == text


def _equal(told: object, value: object) -> bool:
    return canonical.digest_value(told if not isinstance(told, str) else _scalar(told)) == canonical.digest_value(value)


def _scalar(told: object) -> object:
    known, inner = canonical.read_json(told) if isinstance(told, str) else (False, None)
    return inner if known else told
