"""One replay for any number of programs in any language: a session behind a server.

    POST …/chat/completions, …      a provider's request, answered in its shape                 (routes, asking, replies)
    POST /otelreplay/call           a call that a Python child makes through its boundary       (``extra``)
    …   /mcp                        MCP                                                         (``extra``)
    anything else                   a live call that was not made: refused, and latched as blocked

A request that matches nothing gets an error in its provider's shape which the SDK does not try again, with the divergence in
its message. The very same request once more gets the very same error, without a second divergence: some clients do try again.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from typing import Final

from otelreplay.replay.answers import Served
from otelreplay.replay.divergence import Blocked, Diverged, Divergence
from otelreplay.replay.session import Session
from otelreplay.stubs.asking import call_of
from otelreplay.stubs.refusals import refusal
from otelreplay.stubs.replies import reply_for
from otelreplay.stubs.reply import Reply
from otelreplay.stubs.routes import MEANT_FOR, Asked, NotFound, route
from otelreplay.stubs.server import Answer, Request

_REMEMBERED: Final = 256
_HOST: Final = 253
"""The longest name of a host."""
_PROBES: Final = frozenset({"HEAD", "OPTIONS"})
"""Methods that ask whether somebody is there, and for nothing."""


class Host:
    """Answers requests from a session. Called from several threads at once."""

    def __init__(self, session: Session, extra: Mapping[str, Answer] | None = None) -> None:
        """``extra``: what else is served, by the beginning of its path (``/mcp``)."""
        self._session, self._extra = session, dict(extra or {})
        self._refused: OrderedDict[bytes, Reply] = OrderedDict()
        self._lock = Lock()

    def answer(self, request: Request) -> Reply:
        """The reply to a request. Never raises."""
        bare = request.path.partition("?")[0]
        for root, answer in self._extra.items():
            if bare == root or bare.startswith(f"{root}/"):
                return answer(request)
        asked = route(request.method, request.path, request.headers, request.body)
        meant = request.headers.get(MEANT_FOR)
        if meant:
            self._session.note(f"requests to {meant[:_HOST]} were answered here")
        if isinstance(asked, NotFound) and request.method in _PROBES:
            return Reply(status=404, headers={"content-type": "text/plain"})
        key = hashlib.sha256(b"\0".join((request.method.encode(), request.path.encode(), request.body))).digest()
        with self._lock:
            known = self._refused.get(key)
        return known or self._fresh(asked, key)

    def _fresh(self, asked: Asked | NotFound, key: bytes) -> Reply:
        if isinstance(asked, NotFound):
            why = "its body is no JSON object" if asked.unreadable else "this is no request to a model"
            found = self._session.blocked(Blocked(what="request", target=asked.what, detail={"why": why}))
            return self._refuse(key, asked.api, found, status=400 if asked.unreadable else 404)
        try:
            live = replace(self._session.live_of(call_of(asked)), wire=True)
            served = self._session.call(live)
        except Diverged as diverged:
            return self._refuse(key, asked.api, diverged.divergence, status=400)
        return self._reply(asked, served)

    def _reply(self, asked: Asked, served: Served) -> Reply:
        reply = reply_for(asked, served)
        for said in reply.assumed:
            field, _, reason = said.partition(": ")
            self._session.assume(served.seq, f"reply.{field}", reason or "not recorded: a neutral value")
        return reply

    def _refuse(self, key: bytes, api: str, divergence: Divergence, *, status: int) -> Reply:
        reply = refusal(api, f"otelreplay: {divergence.line()}", status=status, code=divergence.code)
        with self._lock:
            self._refused[key] = reply
            if len(self._refused) > _REMEMBERED:
                self._refused.popitem(last=False)
        return reply
