"""Parts of Gemini's API, whose blocks have no type: the key that holds the data says it. camelCase is the wire's spelling; the
snake_case of the Python SDK is read as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otelreplay.providers.media import RESERVED, blob, modality_of, to_base64
from otelreplay.providers.parts import Block, Part, generic, is_generic, read_arguments, rename, text_part

CAMEL: Mapping[str, str] = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "thought_signature": "thoughtSignature",
    "video_metadata": "videoMetadata",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
    "media_resolution": "mediaResolution",
    "part_metadata": "partMetadata",
    "mime_type": "mimeType",
    "display_name": "displayName",
    "file_uri": "fileUri",
    "partial_args": "partialArgs",
    "will_continue": "willContinue",
}

CALL = {"args": "arguments"}
CALL_KEYS = frozenset({"id", "name", "args", "partialArgs", "willContinue"})
RESULT_KEYS = frozenset({"id", "name", "response", "willContinue", "scheduling", "parts"})
BLOB_KEYS = frozenset({"data", "mimeType", "displayName"})
URI_KEYS = frozenset({"fileUri", "mimeType", "displayName"})
DATA = ("text", "functionCall", "functionResponse", "inlineData", "fileData")
OWN = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
"""Blocks that the schema has no type for: kept verbatim under the name of their key."""


def spelled(value: Any, spelling: Mapping[str, str]) -> Any:
    """A dict in the wire's spelling; one that has both spellings of a key stays as it is, and so does everything else."""
    renamed = rename(value, {k: v for k, v in spelling.items() if k in value}) if isinstance(value, dict) else None
    return value if renamed is None else renamed


def camel(value: Any, *, keep: frozenset[str] = frozenset()) -> dict[str, Any] | None:
    """A dict with the wire's spelling and without nulls, which the SDK writes for everything not given; None for no dict."""
    if not isinstance(value, dict):
        return None
    return dict(spelled({k: v for k, v in value.items() if v is not None or k in keep}, CAMEL))


def decode_part(block: Any) -> Part:
    """A part for any block."""
    if isinstance(block, str):
        return text_part(block)
    outer = camel(block)
    kinds = [key for key in (*DATA, *OWN) if outer is not None and key in outer]
    if outer is None or len(kinds) != 1 or "type" in outer or "form" in outer:
        return generic(block)
    key, rest = kinds[0], {k: v for k, v in outer.items() if k != kinds[0]}
    if key in OWN:
        return {"type": key, **outer}
    part = _text(outer[key], rest) if key == "text" else _READ[key](outer[key], rest)
    return generic(block) if part is None else part


def _text(text: Any, rest: dict[str, Any]) -> Part | None:
    if not isinstance(text, str) or "content" in rest:
        return None
    if rest.get("thought") is True:
        return {"type": "reasoning", "content": text, **{k: v for k, v in rest.items() if k != "thought"}}
    return {"type": "text", "content": text, **rest}


def _call(value: Any, rest: dict[str, Any]) -> Part | None:
    inner = camel(value)
    if inner is None or not inner.keys() <= CALL_KEYS or not isinstance(inner.get("name"), str):
        return None
    if rest.keys() & {*CALL_KEYS, "arguments"}:
        return None
    if "args" in inner:
        inner["args"] = read_arguments(inner["args"])
    ordered = {k: inner[k] for k in ("id", "name", "args") if k in inner}
    return {"type": "tool_call", **{CALL.get(k, k): v for k, v in (ordered | inner).items()}, **rest}


def _result(value: Any, rest: dict[str, Any]) -> Part | None:
    inner = camel(value, keep=frozenset({"response"}))
    if inner is None or not inner.keys() <= RESULT_KEYS or rest.keys() & RESULT_KEYS:
        return None
    return {"type": "tool_call_response", **inner, **rest}


def _blob(value: Any, rest: dict[str, Any]) -> Part | None:
    inner = camel(value)
    if inner is None or not inner.keys() <= BLOB_KEYS or "data" not in inner or rest.keys() & (RESERVED | BLOB_KEYS):
        return None
    return {**blob(modality_of(inner.get("mimeType")), inner["data"], None), **_described(inner), **rest}


def _file(value: Any, rest: dict[str, Any]) -> Part | None:
    inner = camel(value)
    if inner is None or not inner.keys() <= URI_KEYS or "fileUri" not in inner or rest.keys() & (RESERVED | URI_KEYS):
        return None
    return {"type": "uri", "modality": modality_of(inner.get("mimeType")), "uri": inner["fileUri"], **_described(inner), **rest}


def _described(inner: dict[str, Any]) -> dict[str, Any]:
    names = (("mimeType", "mime_type"), ("displayName", "displayName"))
    return {name: inner[key] for key, name in names if key in inner}


_READ = {"functionCall": _call, "functionResponse": _result, "inlineData": _blob, "fileData": _file}


# ---- and back ----------------------------------------------------------------------------------------------------------


def encode_part(part: Any) -> Any:
    """The block of a part; a part that the API has no block for is written as it is."""
    if is_generic(part):
        return part["value"]
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str):
        return part
    if kind in _WRITE:
        return _WRITE[kind](part)
    return {k: v for k, v in part.items() if k != "type"} if kind in part else part


def _inner(part: Part, keys: frozenset[str], key: str, names: Mapping[str, str]) -> Block:
    back = {name: k for k, name in names.items()}
    fields = {back.get(k, k): v for k, v in part.items() if k not in ("type", "modality")}
    inside = {k: v for k, v in fields.items() if k in keys}
    return {key: inside, **{k: v for k, v in fields.items() if k not in keys}}


def _write_text(part: Part) -> Block:
    thought = {"thought": True} if part["type"] == "reasoning" else {}
    rest = {k: v for k, v in part.items() if k not in ("type", "content")}
    return {"text": part["content"], **thought, **rest} if "content" in part else {**thought, **rest}


def _write_call(part: Part) -> Block:
    return _inner(part, CALL_KEYS, "functionCall", CALL)


def _write_result(part: Part) -> Block:
    return _inner(part, RESULT_KEYS, "functionResponse", {})


def _write_blob(part: Part) -> Block:
    data = to_base64(part.get("content"))
    written = part if data is None else {**part, "content": data}
    return _inner(written, BLOB_KEYS, "inlineData", {"data": "content", "mimeType": "mime_type"})


def _write_uri(part: Part) -> Block:
    return _inner(part, URI_KEYS, "fileData", {"fileUri": "uri", "mimeType": "mime_type"})


_WRITE = {
    "text": _write_text,
    "reasoning": _write_text,
    "tool_call": _write_call,
    "tool_call_response": _write_result,
    "blob": _write_blob,
    "uri": _write_uri,
}
