"""Errors in a provider's shape: those that a stub raises itself, and the bodies of recorded ones.

    API         body                                                                    read by its SDK as
    OpenAI      {"error": {"message", "type", "param", "code"}}                         BadRequestError
    Anthropic   {"type": "error", "error": {"type", "message"}, "request_id": null}     BadRequestError
    Gemini      {"error": {"code": status, "message", "status", "details"?}}            ClientError

A refusal has a status that no SDK tries again (400 unless told otherwise) and says so in ``x-should-retry``, too.
"""

from __future__ import annotations

from typing import Any, Final

from otelreplay.stubs.reply import NO_RETRY, Reply, json_reply

TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""Anthropic's word for a status; OpenAI uses the same for the first ones."""

OPENAI_TYPES: Final = {403: "invalid_request_error", 404: "invalid_request_error", 429: "requests", 500: "server_error"}

GOOGLE_STATUS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""Google's word for a status."""


def refusal(api: str, text: str, *, status: int = 400, code: str) -> Reply:
    """An error in the shape of the API that its SDK raises at once, with ``text`` in the exception's message.

    ``code``: what happened, for programs; stands where the API has a place for it.
    """
    return json_reply(error_body(api, text, status=status, code=code), status=status, headers=NO_RETRY)


def error_body(
    api: str, message: str, *, status: int, code: str | None = None, kind: str | None = None, param: str | None = None
) -> dict[str, Any]:
    """The body of an error. ``kind``: the API's own word for it, in place of the usual one of the status."""
    if api.startswith("anthropic."):
        return {
            "type": "error",
            "error": {"type": kind or TYPES.get(status, "api_error"), "message": message},
            "request_id": None,
        }
    if api.startswith("gemini."):
        error: dict[str, Any] = {"code": status, "message": message, "status": kind or GOOGLE_STATUS.get(status, "UNKNOWN")}
        if code is not None:
            details = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code, "domain": "otelreplay"}
            error["details"] = [details]
        return {"error": error}
    usual = OPENAI_TYPES.get(status, TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error"))
    return {"error": {"message": message, "type": kind or usual, "param": param, "code": code}}


def midway(api: str, body: dict[str, Any], number: int) -> dict[str, Any]:
    """An error's body as an event in the midst of a stream. ``number``: how many events came before it.

    Of the responses API it has both its forms: the fields of the event ``error``, and the object that the SDK raises.
    """
    if api == "openai.responses":
        inner = body.get("error")
        said = inner if isinstance(inner, dict) else {}
        fields = {key: said.get(key) for key in ("code", "message", "param")}
        return {"type": "error", **fields, "error": inner, "sequence_number": number}
    return body
