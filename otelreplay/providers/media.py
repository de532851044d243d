"""Images, audio and files: three part types for what each API spells its own way.

``blob`` holds base64 text (or bytes, as log records carry them), ``uri`` an address, ``file`` the id of an uploaded file. A
block with a key that neither the API's documentation nor the schema names is not understood, and so kept verbatim.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

from otelreplay.providers.parts import Block, Part, Shape

DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
RESERVED = frozenset({"modality", "mime_type", "content", "uri", "file_id"})


def modality_of(mime_type: Any) -> str:
    """image, audio, video, or document for every other media type."""
    kind = mime_type.split("/", 1)[0] if isinstance(mime_type, str) else ""
    return kind if kind in ("image", "audio", "video") else "document"


def blob(modality: str, content: Any, mime_type: str | None) -> Part:
    """A part with the data in it."""
    return {"type": "blob", "modality": modality, **({"mime_type": mime_type} if mime_type else {}), "content": content}


def from_url(url: str, modality: str) -> Part:
    """A blob for a base64 data URL, a uri for any other address."""
    data = DATA_URL.fullmatch(url)
    if data is None:
        return {"type": "uri", "modality": modality, "uri": url}
    return blob(modality, data[2], data[1])


def to_url(part: Part) -> str | None:
    """The address of a uri part, a data URL for a blob."""
    if part["type"] == "uri":
        return part["uri"] if isinstance(part.get("uri"), str) else None
    content = to_base64(part.get("content"))
    return None if content is None else f"data:{part.get('mime_type') or ''};base64,{content}"


def to_base64(content: Any) -> str | None:
    """Base64 text of a blob's content, which is such text already unless it is bytes."""
    if isinstance(content, bytes):
        return b64encode(content).decode("ascii")
    return content if isinstance(content, str) else None


def opened(block: Block, key: str, known: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """(the object under ``key``, the block's other keys), if the object has known keys only and nothing collides."""
    inner = block.get(key)
    rest = {k: v for k, v in block.items() if k not in ("type", key)}
    if not isinstance(inner, dict) or not inner.keys() <= known or rest.keys() & (known | RESERVED):
        return None
    return inner, rest


def split(part: Part, inner: frozenset[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A media part's own keys, by whether they belong into the block's object or beside it."""
    own = {k: v for k, v in part.items() if k not in RESERVED and k != "type"}
    return {k: v for k, v in own.items() if k in inner}, {k: v for k, v in own.items() if k not in inner}


# ---- audio: the same in both OpenAI APIs -------------------------------------------------------------------------------

AUDIO_KEYS = frozenset({"data", "format"})


def _audio_in(block: Block) -> Part | None:
    found = opened(block, "input_audio", AUDIO_KEYS)
    if found is None or not isinstance(found[0].get("data"), str) or not isinstance(found[0].get("format", ""), str):
        return None
    (inner, rest), kind = found, found[0].get("format")
    return {**blob("audio", inner["data"], f"audio/{kind}" if kind else None), **rest}


def _audio_out(part: Part) -> Block | None:
    content, mime_type = to_base64(part.get("content")), part.get("mime_type")
    if part.get("modality") != "audio" or content is None:
        return None
    inner = {"data": content}
    if isinstance(mime_type, str) and mime_type.startswith("audio/"):
        inner["format"] = mime_type.removeprefix("audio/")
    return {"type": "input_audio", "input_audio": inner, **split(part, frozenset())[1]}


INPUT_AUDIO = Shape("input_audio", "blob", _audio_in, _audio_out)
