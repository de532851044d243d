"""A provider's request as the call that a session compares.

Both sides are equal by construction: the body is read by the codec that reads recorded bodies, becomes the attributes of a span
of a model call, and that goes the way of every recorded span: policy, dialect, second pass (:mod:`otelreplay.replay.live`).
What the GenAI form has no place for (``tool_choice``, ``response_format``) is a param under the provider's own name, so that it
is compared where the recording has it, and ``unchecked`` where no recording of that package does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otelreplay import canonical
from otelreplay import semconv as sc
from otelreplay.boundary import Call
from otelreplay.dialects.decorated import ARGUMENTS
from otelreplay.providers import CODECS
from otelreplay.stubs.routes import Asked

CODEC_OF: Final = {"openai.chat": "openai.chat_completions"}
"""Names of APIs that the codecs have under another one."""
_LAYOUT: Final = frozenset({"system_messages", "system_role", "config", "body"})
"""What a codec remembers of a body's layout, which is no part of what is asked for."""


def call_of(asked: Asked, *, parent: object = None, where: str = "") -> Call:
    """The crossing that a request is."""
    if asked.kind == "embeddings":
        return _embeddings(asked, parent, where)
    got = CODECS[CODEC_OF.get(asked.api, asked.api)].decode_request(dict(asked.body))
    params = {**_others(got.get("extra")), **got.get("params", {})}
    attributes: dict[str, Any] = {sc.OPERATION: "chat", ARGUMENTS: _text(params)}
    if asked.model:
        attributes[sc.REQUEST_MODEL] = asked.model
    for name, attribute in (
        ("system", sc.SYSTEM_INSTRUCTIONS),
        ("messages", sc.INPUT_MESSAGES),
        ("tools", sc.TOOL_DEFINITIONS),
    ):
        if got.get(name) is not None:
            attributes[attribute] = _text(got[name])
    return Call(kind="model", name=asked.model, attributes=attributes, parent=parent, where=where, stream=asked.stream)


def _embeddings(asked: Asked, parent: object, where: str) -> Call:
    rest = {name: value for name, value in asked.body.items() if name != "model"}
    attributes: dict[str, Any] = {sc.OPERATION: "embeddings", ARGUMENTS: _text(rest)}
    if asked.model:
        attributes[sc.REQUEST_MODEL] = asked.model
    return Call(kind="embeddings", name=asked.model, attributes=attributes, parent=parent, where=where)


def _others(extra: Any) -> dict[str, Any]:
    if not isinstance(extra, Mapping):
        return {}
    return {name: value for name, value in extra.items() if name not in _LAYOUT and value is not None}


def _text(value: Any) -> str:
    return canonical.dumps(value).decode()
