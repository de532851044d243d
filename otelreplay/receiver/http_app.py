"""OTLP over HTTP, as an ASGI application.

Theory of operation. A body is read into memory only as far as the limit and the budget allow: a request that declares too much
is refused before its body is asked for, any other as soon as there is no room for what has come of it. What is left of a
refused body is read and thrown away, up to a bound, because a sender that is still sending would otherwise see a broken
connection instead of the answer. The work itself is done by a few threads; how many wait for one is bounded by the budget.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import Executor
from contextlib import ExitStack
from typing import Any

from otelreplay.inputs.signals import Signal
from otelreplay.receiver.access import Access
from otelreplay.receiver.answers import CONTENT_TYPES, HTTP_CODES, failure, success
from otelreplay.receiver.decoding import Form
from otelreplay.receiver.door import Door, RefusedError, Request
from otelreplay.receiver.inflate import ENCODINGS

PATHS: dict[str, Signal] = {"/v1/traces": "traces", "/v1/logs": "logs", "/v1/metrics": "metrics"}
BODY_SECONDS = 60.0
"""How long a body may take to come."""
_DRAINED = 256 << 20
_MEDIA: dict[Form, bytes] = {form: media.encode() for media, form in CONTENT_TYPES.items()}

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = dict[bytes, bytes]


class GoneError(Exception):
    """The sender hung up before its request was complete."""


class App:
    """The application. ``report`` gives what ``/status`` shows."""

    def __init__(self, door: Door, access: Access, *, executor: Executor, report: Callable[[], dict[str, Any]]) -> None:
        self._door, self._access, self._executor, self._report = door, access, executor, report

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers: Headers = dict(scope["headers"])
        path, method = scope["path"], scope["method"]
        media = headers.get(b"content-type", b"").split(b";")[0].strip().lower().decode("latin-1")
        form = CONTENT_TYPES.get(media, "json")
        reply = _Reply(send, form)
        signal = PATHS.get(path.rstrip("/"))
        try:
            if path == "/status":
                await self._status(method, headers, reply)
            elif signal is None:
                await _drain(receive)
                said = f"there is nothing here; OTLP is taken at {', '.join(PATHS)}"
                await reply.send(404, failure(RefusedError("bad_data", said), form))
            elif method != "POST":
                said = "OTLP is sent with POST"
                await reply.send(405, failure(RefusedError("bad_data", said), form), (b"allow", b"POST"))
            else:
                await self._export(signal, media, headers, receive, reply)
        except GoneError:
            self._door.counters.refuse("hung_up")

    async def _export(self, signal: Signal, media: str, headers: Headers, receive: Receive, reply: _Reply) -> None:
        try:
            tenant = self._access.tenant(headers.get(b"authorization", b"").decode("latin-1"))
            if tenant is None:
                raise RefusedError("unauthenticated", "a bearer token of this receiver is required")
            encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").strip().lower() or "identity"
            if media not in CONTENT_TYPES:
                raise RefusedError("unsupported", f"the content type must be one of {', '.join(CONTENT_TYPES)}")
            if encoding not in ENCODINGS:
                raise RefusedError("unsupported", f"the content encoding must be one of {', '.join(ENCODINGS)}")
        except RefusedError as refused:
            self._door.counters.refuse(refused.kind, said=f"a request was refused: {refused.message}")
            await _drain(receive)
            return await reply.refuse(refused)
        try:
            with ExitStack() as held:
                body = await self._body(headers, receive, held)
                request = Request(signal=signal, form=reply.form, encoding=encoding, body=body, tenant=tenant)
                accepted = await asyncio.get_running_loop().run_in_executor(self._executor, self._door.take, request)
        except RefusedError as refused:
            return await reply.refuse(refused)
        return await reply.send(200, success(accepted, signal, reply.form))

    async def _body(self, headers: Headers, receive: Receive, held: ExitStack) -> bytes:
        declared = headers.get(b"content-length", b"")
        size = int(declared) if declared.isdigit() else None
        try:
            if size is not None and size > self._door.limit:
                raise self._door.too_large(size)
            return await asyncio.wait_for(self._chunks(receive, held), BODY_SECONDS)
        except TimeoutError:
            raise GoneError from None
        except RefusedError as refused:
            self._door.counters.refuse(refused.kind, said=f"a request was refused: {refused.message}")
            await _drain(receive)
            raise

    async def _chunks(self, receive: Receive, held: ExitStack) -> bytes:
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise GoneError
            part = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(part)
            if size > self._door.limit:
                raise self._door.too_large(size)
            held.enter_context(self._door.room(len(part)))  # of what is there: declaring much takes nobody's room
            parts.append(part)
        return b"".join(parts)

    async def _status(self, method: str, headers: Headers, reply: _Reply) -> None:
        if self._access.tenant(headers.get(b"authorization", b"").decode("latin-1")) is None:
            return await reply.refuse(RefusedError("unauthenticated", "a bearer token of this receiver is required"))
        if method not in ("GET", "HEAD"):
            refused = RefusedError("bad_data", "the status is read with GET")
            return await reply.send(405, failure(refused, "json"), (b"allow", b"GET"))
        found = await asyncio.get_running_loop().run_in_executor(self._executor, self._report)
        reply.form = "json"
        return await reply.send(200, b"" if method == "HEAD" else json.dumps(found).encode())


class _Reply:
    """Sends the one answer, in the form of the request."""

    def __init__(self, send: Send, form: Form) -> None:
        self._send, self.form = send, form

    async def refuse(self, refused: RefusedError) -> None:
        more = [(b"retry-after", f"{refused.retry_after:g}".encode())] if refused.retry_after else []
        more += [(b"www-authenticate", b"Bearer")] if refused.kind == "unauthenticated" else []
        await self.send(HTTP_CODES[refused.kind], failure(refused, self.form), *more)

    async def send(self, code: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
        headers = [(b"content-type", _MEDIA[self.form]), (b"content-length", str(len(body)).encode()), *more]
        await self._send({"type": "http.response.start", "status": code, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


async def _drain(receive: Receive) -> None:
    """Read the rest of a body and forget it, within bounds."""

    async def read() -> None:
        left = _DRAINED
        while left > 0:
            message = await receive()
            left -= len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                return

    try:
        await asyncio.wait_for(read(), 10.0)
    except TimeoutError:
        return
