"""JSON-RPC 2.0 as MCP uses it: bytes in, messages out, and back. Hostile bytes give a :class:`Broken`, never an exception."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
NO_METHOD: Final = -32601
INVALID_PARAMS: Final = -32602
NOT_RECORDED: Final = -32010
"""Of the range that servers may use as they like: the replay has no answer. The SDKs give this code no meaning of their own."""

Id = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call that wants an answer."""

    id: Id
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A notification, or a client's answer to a question that this server never asks: nothing is said to it."""

    method: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """What is no message of JSON-RPC."""

    code: int
    text: str
    id: Id | None = None


Message = Request | Notice | Broken


class Refused(Exception):  # noqa: N818 - an answer, not a failure of this server
    """A request that is answered with an error."""

    def __init__(self, code: int, text: str, **data: Any) -> None:
        super().__init__(text)
        self.code, self.text, self.data = code, text, data


def read(body: bytes) -> tuple[list[Message], bool]:
    """(the messages of a body or a line, whether they were sent as one batch)."""
    try:
        value = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # not UTF-8, not JSON, a number too long, too deep
        return [Broken(code=PARSE_ERROR, text="Parse error: this is not JSON")], False
    if not isinstance(value, list):
        return [message_of(value)], False
    if not value:
        return [Broken(code=INVALID_REQUEST, text="Invalid Request: an empty batch")], False
    return [message_of(item) for item in value], True


def message_of(value: Any) -> Message:
    """One decoded message."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return Broken(code=INVALID_REQUEST, text="Invalid Request: no JSON-RPC 2.0", id=_id(value))
    method, params = value.get("method"), value.get("params")
    if method is None and ("result" in value or "error" in value):
        return Notice()
    if not isinstance(method, str):
        return Broken(code=INVALID_REQUEST, text="Invalid Request: no method", id=_id(value))
    if "id" not in value:
        return Notice(method=method)
    number = _id(value)
    if number is None:
        return Broken(code=INVALID_REQUEST, text="Invalid Request: an id is a text or a whole number")
    if params is not None and not isinstance(params, dict):
        return Broken(code=INVALID_PARAMS, text="Invalid params: not an object", id=number)
    return Request(id=number, method=method, params=params or {})


def result(number: Id, value: Mapping[str, Any]) -> dict[str, Any]:
    """An answer."""
    return {"jsonrpc": "2.0", "id": number, "result": value}


def error(number: Id | None, code: int, text: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An error."""
    said: dict[str, Any] = {"code": code, "message": text}
    if data:
        said["data"] = data
    return {"jsonrpc": "2.0", "id": number, "error": said}


def written(value: Any) -> bytes:
    """JSON on one line: stdio knows a message's end by the newline. ASCII, so that no text of a run can break it."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _id(value: Any) -> Id | None:
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _no_constant(_name: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")
