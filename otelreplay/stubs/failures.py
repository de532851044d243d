"""Recorded failures of a model call as the HTTP error that the provider sent: status, word, code and message.

What a recording holds of them depends on who recorded it; the first that is there counts:

1. the fields of the SDK's exception (``status_code``, ``body``), from a decorated function;
2. a status among the attributes of the span (``http.response.status_code``), or as ``error.type`` itself;
3. the exception's text, in which the SDKs write status and body (``Error code: 429 - {...}``, ``429 UNAVAILABLE. {...}``);
4. the class of the exception, or a provider's word for the error: then the status that makes the SDK raise the same class is
   assumed, and so is 500 where nothing is known at all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from otelreplay.events import Event, Failure
from otelreplay.stubs.refusals import error_body

STATUS_OF: Final = {
    "badrequest": 400, "invalidrequest": 400, "invalidargument": 400, "contextwindowexceeded": 400,
    "contextlengthexceeded": 400,
    "contentfilter": 400, "contentpolicyviolation": 400, "clienterror": 400, "validationexception": 400,
    "authentication": 401, "unauthenticated": 401, "unauthorized": 401, "invalidapikey": 401, "permissiondenied": 403,
    "permission": 403, "forbidden": 403, "accessdenied": 403, "notfound": 404, "modelnotfound": 404, "timeout": 504,
    "conflict": 409,
    "requesttoolarge": 413, "contenttoolarge": 413, "unprocessableentity": 422, "ratelimit": 429, "ratelimitexceeded": 429,
    "resourceexhausted": 429, "toomanyrequests": 429, "insufficientquota": 429, "throttling": 429, "apistatus": 418,
    "paymentrequired": 402, "requesttimeout": 408, "preconditionfailed": 412, "requestheaderfieldstoolarge": 431,
    "clientclosedrequest": 499, "httpnotimplemented": 501,
    "internalserver": 500, "internal": 500, "servererror": 500, "apierror": 500, "badgateway": 502, "unavailable": 503,
    "serviceunavailable": 503, "deadlineexceeded": 504, "gatewaytimeout": 504, "overloaded": 529,
}  # fmt: skip
"""By the name of an SDK's exception or a provider's word, in lower case and without ``Error``, ``Exception`` and marks."""

UNREACHED: Final = frozenset({
    "apiconnection", "apitimeout", "connection", "connect", "connecttimeout", "readtimeout", "read", "remoteprotocol",
    "apiuserabort", "apiconnectiontimeout", "connectionrefused", "connectionreset", "socket",
})  # fmt: skip
"""Failures without an answer of a provider, which an HTTP answer cannot stand for exactly."""

_ATTRIBUTES: Final = ("http.response.status_code", "http.status_code", "error.status_code", "gen_ai.response.status_code")
_TEXTS: Final = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"Error code: (?P<status>[1-5]\d\d)(?: - (?P<body>.*))?\Z",
        r"(?P<status>[45]\d\d) (?P<word>[A-Z_]+)\. (?P<body>\{.*)\Z",
        r"status_code: (?P<status>[45]\d\d),.*?\bbody: (?P<body>\{.*)\Z",
        r"(?P<status>[45]\d\d) (?P<said>\S.*)\Z",
    )
)
_LONGEST: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A failure as it is served."""

    status: int
    body: dict[str, Any]
    assumed: tuple[str, ...] = ()


def known(api: str, event: Event, failure: Failure) -> Known:
    """The failure in the shape of the API that is asked. Never raises."""
    message = failure.message if isinstance(failure.message, str) else ""
    fields = _fields(event, failure)
    status, body, said = _from_text(message)
    status = _status(fields.get("status_code"), fields.get("code")) or _of_span(event, failure) or status
    body = _dict(fields.get("body")) or _dict(fields.get("details")) or _dict(fields.get("response_json")) or body
    assumed: tuple[str, ...] = ()
    if status is None:
        status, why = _by_name(failure, body)
        assumed = (f"status: {why}",)
    shaped = _shaped(api, body)
    if shaped is None:
        shaped, more = _made(api, body, status, fields, message=said or message or failure.type or "", kind=failure.type)
        assumed += more
    return Known(status=status, body=shaped, assumed=assumed)


# ---- the status --------------------------------------------------------------------------------------------------------


def _status(*values: Any) -> int | None:
    """The first that can be the status of an error."""
    for value in values:
        number = int(value) if isinstance(value, str) and re.fullmatch(r"[45]\d\d", value) else value
        if type(number) is int and 400 <= number <= 599:
            return number
    return None


def _of_span(event: Event, failure: Failure) -> int | None:
    return _status(*(event.attributes.get(name) for name in _ATTRIBUTES), failure.type)


def _by_name(failure: Failure, body: Mapping[str, Any] | None) -> tuple[int, str]:
    """(the status, why it was assumed) of an exception of that class, or a provider's word."""
    inner = _inner(body)
    for name in (failure.type, inner.get("type"), inner.get("code"), inner.get("status")):
        plain = _plain(name) if isinstance(name, str) else ""
        if plain in UNREACHED:
            return 500, "no answer had come then, which no answer can repeat; the SDK raises an error of its own for 500"
        if plain in STATUS_OF:
            return STATUS_OF[plain], "the one of which the SDK makes an exception of the recorded class"
    return 500, "not recorded"


def _plain(name: str) -> str:
    """The last word of a class's name, without what all of them have in common."""
    last = re.split(r"[.:/]", name[:500])[-1]
    last = re.sub(r"[^a-z0-9]", "", last.lower())
    for end in ("errors", "error", "exception"):
        last = last if last in STATUS_OF else last.removesuffix(end)
    return last


# ---- the body ----------------------------------------------------------------------------------------------------------


def _fields(event: Event, failure: Failure) -> dict[str, Any]:
    """What a decorated function recorded of the exception itself."""
    extra = failure.model_extra or {}
    for held in (extra, event.attributes.get("otelreplay.error")):
        if isinstance(held, dict) and isinstance(held.get("fields"), dict):
            return dict(held["fields"])
    return {}


def _from_text(message: str) -> tuple[int | None, dict[str, Any] | None, str | None]:
    """(status, body, message) as far as an exception's text says them."""
    if len(message) > _LONGEST:
        return None, None, None
    for pattern in _TEXTS:
        found = pattern.match(message)
        if found is not None:
            parts = found.groupdict()
            body = _literal(parts.get("body") or "")
            said = parts.get("said") or (parts.get("body") if body is None else None)
            return _status(parts["status"]), body, said
    return None, None, None


def _literal(text: str) -> dict[str, Any] | None:
    """A Python literal of a dict: the form in which the SDKs print a body."""
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else None


def _dict(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) and value else None


def _inner(body: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a body says of its error: OpenAI's exceptions hold only this part of it."""
    if body is None:
        return {}
    error = body.get("error", body)
    return error if isinstance(error, dict) else {}


def _shaped(api: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
    """The recorded body, if it has the shape of the API."""
    inner = _inner(body)
    if body is None or not isinstance(inner.get("message"), str):
        return None
    if api.startswith("anthropic."):
        return body if body.get("type") == "error" and "error" in body else None
    if api.startswith("gemini."):
        return body if "error" in body and type(inner.get("code")) is int else None
    anthropic = body.get("type") == "error"
    if anthropic or type(inner.get("code")) is int:
        return None
    return body if "error" in body else {"error": body}


def _made(
    api: str, body: dict[str, Any] | None, status: int, fields: Mapping[str, Any], *, message: str, kind: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(a body of what is known, what in it is assumed)."""
    inner = _inner(body)
    said = inner.get("message")
    code, param = (next((v for v in (inner.get(k), fields.get(k)) if isinstance(v, str)), None) for k in ("code", "param"))
    word = inner.get("status") if api.startswith("gemini.") else inner.get("type", fields.get("type"))
    if not isinstance(word, str):
        word = kind if isinstance(kind, str) and re.fullmatch(r"[a-z]+(_[a-z]+)+", kind) else None
    made = error_body(
        api, said if isinstance(said, str) else message, status=status, code=code, kind=word, param=param
    )  # fmt: skip
    where = "error.status" if api.startswith("gemini.") else "error.type"
    lacking = [where] if word is None else []
    if not isinstance(said, str) and not message:
        lacking.append("error.message")
    return made, tuple(lacking)
