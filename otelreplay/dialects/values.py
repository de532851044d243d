"""Reading values as conventions write them: JSON in text, cut JSON, placeholders, messages in the GenAI schema."""

from __future__ import annotations

import ast
import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from otelreplay import canonical
from otelreplay import semconv as sc
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.packages import CURRENT_OPENAI
from otelreplay.events import Failure, Message, Missing
from otelreplay.providers import decode_message, decode_tool, split_system
from otelreplay.providers.parts import generic
from otelreplay.spans import Span

ELIDED = ("<elided>", "__REDACTED__", "REDACTED", "<REDACTED>", "[REDACTED]")
"""Literals that packages write instead of content that is switched off. They are never content."""


_READ: Final = json.JSONDecoder().raw_decode
DATED: Final = re.compile(r"-20\d\d-?\d\d-?\d\d\b")
"""In the name of a model: the day of a version, which a provider's responses have and requests seldom."""
_SPACE: Final = re.compile(r"[ \t\r\n]*")


def is_cut(text: Any, limit: int, length: int | None = None) -> bool:
    """Was this text cut at ``limit`` characters? A text of that length is, unless it is whole JSON.

    ``length``: how long it was before redaction, where that is known.
    """
    if not isinstance(text, str) or limit == 0 or limit != (len(text) if length is None else length):
        return False
    return not (is_json_like(text) and canonical.read_json(text)[0])


def is_broken(text: Any) -> bool:
    """Does it begin like JSON of an array or object, and not end like it?"""
    return isinstance(text, str) and is_json_like(text) and not canonical.read_json(text)[0]


def whole_members(text: str) -> dict[str, Any]:
    """Of a JSON object that breaks off, the members that are there whole; none for anything else."""
    at, end = _past(text, 0), 0
    if text[at : at + 1] != "{":
        return {}
    while text[at : at + 1] in ("{", ","):
        try:
            key, colon = _READ(text, _past(text, at + 1))
            colon = _past(text, colon)
            if not isinstance(key, str) or text[colon : colon + 1] != ":":
                break
            value, behind = _READ(text, _past(text, colon + 1))
        except (ValueError, RecursionError):
            break
        at = _past(text, behind)
        if isinstance(value, (str, list, dict)) or text[at : at + 1] in (",", "}"):  # else a number that may go on
            end = behind
    known, held = canonical.read_json(f"{text[:end]}}}") if end else (False, None)
    return held if known and isinstance(held, dict) else {}


def _past(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def is_json_like(text: str) -> bool:
    """Does it begin like JSON of an array or object?"""
    return looks_like_json(text.lstrip()[:2])


def looks_like_json(head: str) -> bool:
    """Do the first two characters open a JSON array or object?"""
    opens = {"{": '"} \n', "[": '{["]-0123456789 \ntfn'}.get(head[:1])
    return opens is not None and head[1:2] in opens


def decoded(value: Any) -> Any:
    """The value behind JSON text of an object or array; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        known, inner = canonical.read_json(value)
        return inner if known else value
    return value


def decoded_whole(value: Any) -> Any:
    """As :func:`decoded`, and JSON text of a string, too: for attributes that are always JSON."""
    if isinstance(value, str) and value[:1] == '"':
        known, inner = canonical.read_json(value)
        return inner if known else value
    return decoded(value)


def read_messages(value: Any, intern: Interner, *, invented_ids: bool = False, remedy: str = "") -> list[Message] | None:
    """Messages in the GenAI schema (or a provider's), from JSON text or structured values; None if it is neither.

    ``invented_ids``: call ids of the form ``NAME_0`` are the package's own and are left out. ``remedy``: the switch that
    records the content of parts.
    """

    def element(m: Any) -> tuple[Message, ...]:
        plain = normal_messages(m)
        return tuple(
            intern.message(x, absences(x, remedy)) for x in (map(without_invented_ids, plain) if invented_ids else plain)
        )

    if isinstance(value, str):
        return intern.each(value, f"{'message without ids' if invented_ids else 'message'} {remedy}", element)
    if isinstance(value, (list, tuple)):
        return [m for v in value for m in element(v)]
    return None


def normal_messages(m: Any) -> list[dict[str, Any]]:
    """One message of the telemetry as messages of the GenAI schema; what is neither stays as a generic part.

    A choice of a chat completion (``{index, finish_reason, message}``) is its message.
    """
    if isinstance(m, dict) and isinstance(m.get("message"), dict) and m.keys().isdisjoint(("role", "content", "parts")):
        reason = m.get("finish_reason")
        return [x | ({"finish_reason": reason} if reason else {}) for x in normal_messages(m["message"])]
    if isinstance(m, dict) and isinstance(m.get("parts"), (list, tuple)) and not _is_gemini(m):
        out: dict[str, Any] = {"role": m.get("role"), "parts": _once([normal_part(p) for p in m["parts"]])}
        for k, v in _beside(m, out["parts"]).items():
            if k not in out and not (v in (None, "") and k in ("name", "finish_reason")):
                out[k] = v
        return [out]
    if not isinstance(m, dict):
        return [{"role": "user", "parts": [normal_part(m)]}]
    calls = m.get("content")
    if isinstance(calls, list) and calls and all(isinstance(c, dict) and isinstance(c.get("function"), dict) for c in calls):
        m = {**m, "content": None, "tool_calls": calls}  # a turn's calls in the place of its text (Langtrace)
    found = list(decode_message(m))
    if len(found) == 1 and found[0].get("role") == "assistant" and isinstance(m.get("stop_reason"), str):
        found[0] = {"finish_reason": m["stop_reason"], **found[0]}  # Anthropic's word for it, beside the message
    return found


def _beside(m: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The members beside the parts; calls, or the id of a call, that a package left there go into ``parts`` (LiteLLM)."""
    rest = dict(m)
    kinds = {p.get("type") for p in parts}
    if isinstance(m.get("tool_calls"), list) and "tool_call" not in kinds:
        parts += next(iter(decode_message({"role": "assistant", "tool_calls": rest.pop("tool_calls")})))["parts"]
    if isinstance(m.get("tool_call_id"), str) and kinds <= {"text"}:
        response = "\n".join(str(p.get("content", "")) for p in parts)
        parts[:] = [{"type": "tool_call_response", "id": rest.pop("tool_call_id"), **({"response": response} if parts else {})}]
    return rest


_CALL_OBJECTS = ("ResponseFunctionToolCall(", "ChatCompletionMessageToolCall(", "ChatCompletionMessageFunctionToolCall(")


def _printed_call(part: Any) -> dict[str, Any] | None:
    """The call behind text that is what Python prints of an SDK's call object; None for anything else."""
    text = part.get("content") if isinstance(part, dict) and part.get("type") == "text" else None
    if not isinstance(text, str) or not text.startswith(_CALL_OBJECTS):
        return None
    try:
        told = ast.parse(text, mode="eval").body
        held = {k.arg: ast.literal_eval(k.value) for k in told.keywords} if isinstance(told, ast.Call) else {}
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    if "name" not in held or "arguments" not in held:
        return None
    call = held.get("call_id") or held.get("id")
    return {
        "type": "tool_call",
        **({"id": call} if call else {}),
        "name": held["name"],
        "arguments": decoded(held["arguments"]),
    }


def _once(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without text that is the JSON of a call which stands beside it: some packages write content blocks twice."""
    called = {p["id"] for p in parts if p.get("type") == "tool_call" and isinstance(p.get("id"), str)}
    return [p for p in parts if not _repeats(p, called)] if called else parts


def _repeats(part: dict[str, Any], called: set[str]) -> bool:
    text = part.get("content")
    if part.get("type") != "text" or not isinstance(text, str) or text[:1] != "{" or "tool_use" not in text:
        return False
    block = decoded(text)
    return isinstance(block, dict) and block.get("type") == "tool_use" and str(block.get("id")) in called


_OWN: Mapping[str, str] = {"text": "content", "tool_call": "arguments", "tool_call_response": "response"}
"""What a part of each type is there for."""


def absences(message: dict[str, Any], remedy: str) -> tuple[Missing, ...]:
    """What a message does not hold: the content of its parts, where that was switched off, or any part at all."""
    if message["parts"]:
        return tuple(
            Missing(field=f"parts[{n}].{_OWN[kind]}", cause="content_not_captured", remedy=remedy)
            for n, part in enumerate(message["parts"])
            if (kind := str(part.get("type"))) in _OWN and _OWN[kind] not in part
        )
    if message.get("role") == "assistant":
        return ()
    return (
        Missing(
            field="parts",
            cause="not_carried_by_convention",
            detail="the package recorded this message without its content",
            remedy=CURRENT_OPENAI,
        ),
    )


def without_invented_ids(message: dict[str, Any]) -> dict[str, Any]:
    """The message without ids of the form ``NAME_0``; a result keeps the name that its id told."""
    return {**message, "parts": [_without_invented_id(p) for p in message["parts"]]}


def _without_invented_id(part: dict[str, Any]) -> dict[str, Any]:
    name, _, number = str(part.get("id") or "").rpartition("_")
    if not name or not number.isdecimal() or part.get("name", name) != name:
        return part
    rest = {k: v for k, v in part.items() if k != "id"}
    return rest | {"name": name} if part.get("type") in ("tool_call", "tool_call_response") else part


def call_id_without_name(call_id: str, name: str) -> str:
    """The id of a call before which a package wrote the name of the tool and two underscores."""
    return call_id.removeprefix(f"{name}__") if name else call_id


def one_message(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages that are the chunks of one reply, as it; neighbouring texts are one text."""
    parts: list[dict[str, Any]] = []
    for part in (p for m in messages for p in m["parts"]):
        if parts and part.keys() == parts[-1].keys() == {"type", "content"} and part["type"] == parts[-1]["type"]:
            parts[-1] = {**part, "content": f"{parts[-1]['content']}{part['content']}"}
        else:
            parts.append(part)
    return [{**messages[0], **messages[-1], "parts": parts}] if messages else []


def _is_gemini(m: dict[str, Any]) -> bool:
    return any(isinstance(p, dict) and "type" not in p for p in m["parts"])


def normal_part(part: Any) -> dict[str, Any]:
    """One part of the GenAI schema: nulls that mean "not given" are left out, JSON text of arguments is decoded."""
    printed = _printed_call(part)
    if printed is not None:
        return printed
    if isinstance(part, str):
        return {"type": "text", "content": part}
    if not isinstance(part, dict):
        return generic(part)
    out = dict(part)
    for key in ("id", "name", "mime_type"):
        if key in out and out[key] is None:
            del out[key]
    if isinstance(out.get("content"), bytes):
        out["content"] = base64.b64encode(out["content"]).decode("ascii")  # as the same part stands in JSON text
    if out.get("type") == "tool_call" and "arguments" in out:
        out["arguments"] = decoded(out["arguments"])
    if out.get("type") == "tool_call_response" and "response" not in out and "result" in out:
        out["response"] = out.pop("result")  # the semantic conventions' own example said "result" until 2026
    return out


def read_parts(value: Any) -> list[dict[str, Any]] | None:
    """System instructions: a list of parts, from JSON text or structured values; plain text is one text part."""
    value = decoded_whole(value)
    if isinstance(value, str):
        return [{"type": "text", "content": value}]
    if isinstance(value, dict):
        value = value.get("parts") if isinstance(value.get("parts"), list) else [value]
    if not isinstance(value, (list, tuple)):
        return None
    return [_text_part(p) for p in value]


def _text_part(part: Any) -> dict[str, Any]:
    if isinstance(part, dict) and "type" not in part and isinstance(part.get("text"), str):
        return {"type": "text", "content": part["text"]}
    return normal_part(part)


def read_tools(value: Any, intern: Interner) -> list[Any] | None:
    """Tool definitions, flat: ``{type, name, description?, parameters?}``."""

    def element(d: Any) -> tuple[Any, ...]:
        inner = decoded(d)  # one definition, or the whole list, may be JSON text once more (Langtrace)
        each = inner if isinstance(d, str) and isinstance(inner, list) else [inner]
        return tuple(intern.value(t) for e in each for t in (decode_tool(e) if isinstance(e, dict) else [generic(e)]))

    if isinstance(value, str):
        return intern.each(value, "tool", element)
    return [t for v in value for t in element(v)] if isinstance(value, (list, tuple)) else None


def lift_system(messages: Iterable[Message]) -> tuple[list[dict[str, Any]], list[Message]]:
    """(parts of the leading system and developer messages, the other messages)."""
    parts, rest, _ = split_system(list(messages))
    return parts or [], rest


def failure_of(span: Span) -> Failure | None:
    """How the span failed: an exception event tells more than the status; an error type alone is a failure, too."""
    kind, text = span.attributes.get(sc.ERROR_TYPE), span.status_message or None
    if span.status_code != sc.STATUS_ERROR and kind is None:
        return None
    exceptions = [e for e in span.events if e.name == sc.EXCEPTION_EVENT]
    if exceptions:
        last = exceptions[-1].attributes
        kind = last.get(sc.EXCEPTION_TYPE) or kind
        text = last.get(sc.EXCEPTION_MESSAGE, text)
    return Failure(type=None if kind is None else str(kind), message=None if text is None else str(text))
