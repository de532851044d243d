"""What the codecs of all APIs do with whole bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from otelreplay.providers.fields import Table, as_dict, as_list, put, take
from otelreplay.providers.tools import decode_tool

Value = dict[str, Any]
Total = Callable[[Value], tuple[str, int | None]]
"""The name of a total, and what it is if it is the sum of what was counted."""


def not_a_body(body: Any) -> Value:
    """The decoded form of a body that is no JSON object."""
    return {"extra": {"body": body}}


def take_text(rest: Value, *keys: str) -> str | None:
    """Move the first of the keys that holds text out of ``rest``."""
    key = next((k for k in keys if isinstance(rest.get(k), str)), None)
    return None if key is None else str(rest.pop(key))


def take_list(rest: Value, *keys: str) -> list[Any] | None:
    """Move the first of the keys that holds a list out of ``rest``."""
    key = next((k for k in keys if isinstance(rest.get(k), list)), None)
    return None if key is None else list(rest.pop(key))


def take_tools(rest: Value, *keys: str) -> list[Value] | None:
    """Move the tool definitions out of ``rest``."""
    sent = take_list(rest, *keys)
    return None if sent is None else [tool for definition in sent for tool in decode_tool(definition)]


def take_usage(rest: Value, key: str, table: Table, total: Total | None = None) -> Value | None:
    """Move token counts out of ``rest``; a total that is the sum of what was counted says nothing and goes."""
    if not isinstance(rest.get(key), dict):
        return None
    left = dict(rest[key])
    usage = take(left, table)
    name, expected = total(usage) if total else ("", None)
    if expected is not None and type(left.get(name)) is int and left[name] == expected:
        del left[name]
    if left:
        rest[key] = left
    else:
        del rest[key]
    return usage


def put_usage(body: Value, key: str, usage: Any, table: Table, total: Total | None = None) -> None:
    """Write token counts and their total into ``body``, over what ``extra`` left there."""
    if not isinstance(usage, dict):
        return
    written: Value = {}
    put(written, usage, table)
    name, expected = total(usage) if total else ("", None)
    if expected is not None:
        written[name] = expected
    body[key] = merged(written, as_dict(body.get(key)))


def merged(first: Value, second: Value) -> Value:
    """Both, nested dicts too; the second wins."""
    out = dict(first)
    for key, value in second.items():
        mine = out.get(key)
        out[key] = merged(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return out


def summed(*names: str) -> Callable[[Value], int | None]:
    """The sum of the named counts; the first two must be there. None where one is no integer."""

    def add(usage: Value) -> int | None:
        counts = [usage[name] for name in names if name in usage]
        if not all(name in usage for name in names[:2]) or not all(type(n) is int for n in counts):
            return None
        return sum(int(n) for n in counts)

    return add


def reasons(messages: list[Value], words: list[Any], known: Mapping[str, str]) -> list[Any] | None:
    """Puts each word, in the schema's vocabulary, on its message; returns the provider's own words if there are any."""
    for message, word in zip(messages, words, strict=True):
        if isinstance(word, str):
            message["finish_reason"] = known.get(word, word)
    return words if any(word is not None for word in words) else None


def word_of(response: Value, n: int, known: Mapping[str, str]) -> str | None:
    """The provider's own word for why choice ``n`` ended: as recorded, else from the schema's word, else None."""
    inverse: dict[str, str] = {}
    for word, ours in known.items():
        inverse.setdefault(ours, word)
    message = as_list(response.get("messages"))[n : n + 1]
    for word in (*as_list(response.get("finish_reasons"))[n : n + 1], *(as_dict(m).get("finish_reason") for m in message)):
        if isinstance(word, str):
            return inverse.get(word, word) if word in OURS and word not in known else word
    return None


OURS = frozenset({"stop", "length", "content_filter", "tool_call", "error"})
"""The schema's own words. A convention that normalises reasons may have written one where the provider's word belongs."""
