"""The replaying process's own parts, from the bytes of a cassette: policy, session, interceptor, the agent's recorded input."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from pydantic import ValidationError

from otelreplay import boundary, canonical
from otelreplay.cassette import Cassette, Header, read_cassette
from otelreplay.cassette.aside import aside_for
from otelreplay.dialects import attribute_fields
from otelreplay.errors import MissingDataError
from otelreplay.events import Event
from otelreplay.redaction import Policy, PseudonymKey, Redactor, compile_policy, default_policy, off_policy
from otelreplay.replay import ReplayInterceptor, Session
from otelreplay.replay.declared import declared
from otelreplay.replay.fixtures import Fixture, read_fixtures
from otelreplay.replay.normalizers import Normalizer
from otelreplay.replay.revive import Reviver, not_loaded
from otelreplay.run import guard, jitter

_REGISTERED = "(registered)"


class Watched:
    """Passes everything on to the replay, and knows the name of the agent that the running code is in."""

    def __init__(self, inner: boundary.Interceptor) -> None:
        self._inner = inner
        self._names: dict[int, tuple[object, str]] = {}
        self._process = os.getpid()

    def call(self, call: boundary.Call, /) -> boundary.Answer:
        """The recorded answer."""
        jitter.pause()
        return self._inner.call(call)

    def enter(self, call: boundary.Call, /) -> object:
        """An agent begins."""
        token = self._inner.enter(call)
        self._names[id(token)] = (token, f"{call.kind} {call.name}")
        return token

    def leave(self, token: object, /, *, value: Any = None, error: BaseException | None = None) -> None:
        """An agent ended."""
        self._names.pop(id(token), None)
        if os.getpid() != self._process:
            return  # a fork that leaves through the frames it was born in: the agent goes on in the replayed process
        self._inner.leave(token, value=value, error=error)

    def around(self) -> str:
        """``agent order-desk``; empty outside of any, or in a thread that inherited nothing while several are open."""
        _, name = self._names.get(id(boundary.parent()), (None, ""))
        open_now = list(self._names.values())
        return name or (open_now[0][1] if len(open_now) == 1 else "")


@dataclass(slots=True, kw_only=True)
class Answering:
    """A replay that stands ready."""

    session: Session
    seq: int = 0
    """The agent's event."""
    input: Mapping[str, Any] = field(default_factory=dict)
    """What the agent was given, by the names of its arguments."""
    failed_then: bool = False
    """The recorded run failed: that this one does is as recorded, and the session compares how."""

    def given(self) -> Mapping[str, Any]:
        """The input with instances of the program's own classes. Its module has to be loaded by now."""
        reviver = Reviver()
        made: Mapping[str, Any] = reviver.value(self.input)
        for name in sorted(reviver.missing):
            self.session.assume(self.seq, "request.input", not_loaded(name))
        return made

    def result(self, exit_code: int) -> dict[str, Any]:
        """What the replay came to, as JSON."""
        made: dict[str, Any] = plain(self.session.result(child_exit=None if self.failed_then else exit_code).as_json())
        return made


def plain(value: Any) -> Any:
    """A value that JSON can say; what it cannot in the typed encoding."""
    return canonical.encode(value)


def answering(
    stream: BinaryIO, settings: Mapping[str, Any], *, now: datetime, key: bytes, say: Callable[[Mapping[str, Any]], Any]
) -> Answering:
    """Read the cassette, make the session, and stand it at every boundary of this process.

    ``settings``: ``agent``, ``where`` (the name of the cassette in messages), ``allow_expired``, ``allow_unsealed``,
    ``fixtures`` (the text of the file, or nothing), ``normalizers`` (as they are declared).
    """
    cassette = read_cassette(
        stream,
        now=now,
        allow_expired=settings["allow_expired"],
        allow_unsealed=settings["allow_unsealed"],
        where=settings["where"],
        aside=aside_for(stream),
    )
    fixtures = read_fixtures(settings["fixtures"]) if settings["fixtures"] else {}
    begun = _agent(cassette, settings["agent"])
    session = session_of(
        cassette,
        key=key,
        fixtures=fixtures,
        normalizers=declared(settings.get("normalizers", ())),
        command=settings["command"],
        registered=lambda: boundary.declared("tool"),
        observe=bool(settings.get("observe")),
    )
    watched = Watched(ReplayInterceptor(session, lambda message: say(plain(message))))
    if settings.get("witness"):
        session.watch(lambda seq, keys: say({"type": "asked", "seq": seq, "keys": dict(keys)}))
    guard.around[:] = [watched.around]
    boundary.install(watched)
    return Answering(session=session, seq=begun.seq, input=begun.request["input"], failed_then=begun.error is not None)


def session_of(
    cassette: Cassette,
    *,
    key: bytes,
    fixtures: Mapping[int | str, Fixture] | None = None,
    normalizers: Sequence[Normalizer] = (),
    command: str = "",
    registered: Callable[[], Collection[str]] | None = None,
    observe: bool = False,
) -> Session:
    """A session under the cassette's own policy. ``key``: random, and lives as long as the replay."""
    return Session(
        cassette,
        redactor=redactor_for(cassette.header, key),
        fixtures=fixtures,
        normalizers=normalizers,
        show=second_for(cassette.header, key),
        command=command,
        registered=registered,
        observe=observe,
    )


def redactor_for(header: Header, key: bytes) -> Redactor:
    """The cassette's own policy under a key that lives as long as this process: replay needs no secret.

    Rules of secrets that only the recording side knew, or that this version does not have, are left out; the session accepts
    what stands in their holes, and says so.
    """
    policy = policy_of(header.policy)
    return compile_policy(
        policy,
        key=PseudonymKey(secret=key, epoch=0, tenant=policy.tenant),
        attribute_fields=attribute_fields(),
    )


def second_for(header: Header, key: bytes) -> Redactor | None:
    """The default policy, for what a report shows, where the cassette was made under another."""
    local = default_policy()
    if header.policy_digest == local.digest():
        return None
    own = PseudonymKey(secret=key, epoch=0, tenant=local.tenant)
    return compile_policy(local, key=own, attribute_fields=attribute_fields())


def policy_of(stored: Mapping[str, Any] | None) -> Policy:
    """The policy that a header holds, without rules that cannot be applied here."""
    if stored is None:
        return off_policy()
    body = {name: value for name, value in stored.items() if name in Policy.model_fields and name != "rules"}
    rules = [rule for rule in stored.get("rules", ()) if _usable(rule)]
    return Policy.model_validate({**body, "rules": rules})


def _usable(rule: Any) -> bool:
    if not isinstance(rule, Mapping) or str(rule.get("secret", "")).startswith((_REGISTERED, "env:")):
        return False
    with contextlib.suppress(ValidationError):
        Policy.model_validate({"version": 1, "name": "one", "rules": [rule]})
        return True
    return False


def _agent(cassette: Cassette, agent: str) -> Event:
    """The agent that the user named: by its function, in another module if need be, else the first outermost one."""
    outermost = [event for event in cassette.events if event.kind == "agent" and event.parent is None]
    functions = [(event, str(event.attributes.get("otelreplay.function"))) for event in outermost]
    named = [event for event, function in functions if function == agent]
    moved = [event for event, function in functions if function.partition(":")[2] == agent.partition(":")[2]]
    event = next(iter(named or moved or outermost), None)
    if event is None:
        raise MissingDataError(
            "the cassette holds no agent at its outermost level, so that there is nothing to call it with",
            code="replay.no_agent",
            where=agent,
            next_step="record the run with @otelreplay.agent on that function",
        )
    held = event.request.get("input")
    if not isinstance(held, Mapping):
        raise MissingDataError(
            f"the cassette does not hold the input of agent {event.seq} ({_why(event)})",
            code="replay.no_input",
            where=agent,
            next_step="record it with @otelreplay.agent and content capture on",
        )
    return event


def _why(event: Event) -> str:
    causes = [gap.cause for gap in event.missing if gap.field.startswith("request")]
    return causes[0] if causes else "it was not recorded"
