"""Which mutants of a recorded program its cassette catches: each, at the right place, or a replay is worth little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from otelreplay.cassette.read import Cassette
from otelreplay.events import Event
from otelreplay.events.fields import get, within
from otelreplay.redaction import Redactor, find_placeholders
from otelreplay.replay import Diverged, Divergence, Live, ReplayResult, Scope, Session
from otelreplay.replay.answers import Absent, answer
from otelreplay.testing.mutants import Mutant, Step, mutants_of

_SERVED: Final = ("model", "embeddings", "tool", "retrieval", "memory", "state", "clock", "random", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Escaped:
    """A mutant that was not caught, or not where it is."""

    mutant: Mutant
    found: Divergence | None
    """What was said instead; None if the replay was green."""

    def __str__(self) -> str:
        said = "green" if self.found is None else f"{self.found.kind} seq {self.found.seq} {self.found.path}"
        return f"{self.mutant.what} in seq {self.mutant.seq} {' or '.join(self.mutant.paths)}: {said}"


class Program:
    """The recorded program of one cassette, which can be run again with a change."""

    def __init__(self, cassette: Cassette, redactor: Redactor) -> None:
        """``redactor``: as a session has it. The program asks with what it was given: where the policy took a text out, with
        the placeholder."""
        cassette = replace(cassette, events=tuple(map(_answered, cassette.events)))
        self._cassette, self._redactor = cassette, redactor
        self._pass = redactor.event_pass()
        self._events = tuple(sorted(cassette.events, key=lambda e: e.seq))
        self._of_seq = {e.seq: e for e in self._events}
        self._probe = Session(cassette, redactor=redactor)
        self.steps = tuple(self._steps())
        self._lives = {step.seq: self._live(step) for step in self.steps}

    def _steps(self) -> Iterator[Step]:
        wanted = self._probe.owed()
        for item in wanted:
            keys, how = item.keys, item.how

            def carried(component: str, keys: Mapping[str, str] = keys, how: Any = how) -> bool:
                return component in how.checked if component in keys else bool(how.extras([component])[0])

            event = item.event
            yield Step(
                seq=event.seq, kind=event.kind, name=event.name, request=event.request,
                carried=carried, hidden=_hidden(event), parent=self._agent_of(event),
                alike=frozenset(o.seq for o in wanted if o.group == item.group and o.keys == keys),
            )  # fmt: skip

    def _agent_of(self, event: Event) -> int | None:
        up = event.parent
        while up is not None and self._of_seq[up].kind != "agent":
            up = self._of_seq[up].parent
        return up

    def _live(self, step: Step) -> Live:
        event = self._of_seq[step.seq].model_copy(update={"name": step.name, "request": step.request})
        event = self._pass.event(event)
        return Live(kind=step.kind, name=event.name, request=event.request, where=f"agent.py:{step.seq}")

    def run(self, mutant: Mutant | None = None) -> ReplayResult:
        """Replay the program, with this change."""
        session = Session(self._cassette, redactor=self._redactor)
        lives: list[tuple[Step, Live]] = []
        for place, step in enumerate(self.steps):
            if mutant is None or place != mutant.place:
                lives.append((step, self._lives[step.seq]))
            else:
                lives += [(s, self._lives[s.seq] if s is step else self._live(s)) for s in mutant.steps]
        with suppress(Diverged):
            self._calls(session, lives)
        return session.result()

    def _calls(self, session: Session, lives: Iterable[tuple[Step, Live]]) -> None:
        scopes: dict[int, Scope] = {}
        for step, live in lives:
            scope = scopes.get(step.parent) if step.parent is not None else None
            live = Live(kind=live.kind, name=live.name, request=live.request, parent=scope, where=live.where)
            if step.kind == "agent":
                scopes[step.seq] = session.enter(live)
            else:
                session.call(live)
        for seq in sorted(scopes, reverse=True):
            event = self._of_seq[seq]
            response = event.response or {}
            session.leave(scopes[seq], output=response.get("output"), said="output" in response)

    def mutants(self) -> Iterator[Mutant]:
        """Every mutant of the program."""
        tools = [s.name for s in self.steps if s.kind == "tool"]
        return mutants_of(self.steps, tuple(dict.fromkeys(tools))[:1])

    def escaped(self, mutant: Mutant) -> Escaped | None:
        """None if the mutant is caught at the right place."""
        done = self.run(mutant)
        found = done.first_divergence
        if found is None or done.exit_code == 0 or not self._right(mutant, found):
            return Escaped(mutant=mutant, found=found)
        return None

    def _right(self, mutant: Mutant, found: Divergence) -> bool:
        if found.kind == "order_violation" and not mutant.steps:  # a reply that was left out: what it asked for came before it
            return f"event {mutant.seq} " in found.detail
        if found.kind not in mutant.kinds:
            return False
        if mutant.seqs is None:
            step = mutant.steps[-1]
            return (found.boundary, found.operation) == (step.kind, self._live(step).name)
        return found.seq in mutant.seqs and (not mutant.paths or any(_is_at(found.path, path, mutant) for path in mutant.paths))


def _is_at(found: str, path: str, mutant: Mutant) -> bool:
    """Whether a field is the changed one; of two members that changed places, whatever in them differs."""
    return found == path or (mutant.what == "list order" and within(found, path))


def _hidden(event: Event) -> Any:
    """Fields whose whole text a policy took out, and what is inside of what it dropped."""
    gone = [gap.field for gap in event.missing]

    def hidden(path: str) -> bool:
        held = get(event.request, path.removeprefix("request."))
        if isinstance(held, str):
            spans = list(find_placeholders(held))
            if spans and sum(s.end - s.start for s in spans) == len(held):
                return True
        return any(within(path, field) for field in gone)

    return hidden


def _answered(event: Event) -> Event:
    """The event with some answer: whether it can be given is another question than whether its request is recognised."""
    if event.kind not in _SERVED or not isinstance(answer(event, None, stream=False), Absent):
        return event
    missing = [gap for gap in event.missing if not within(gap.field, "response")]
    return event.model_copy(update={"response": {"result": f"answer {event.seq}"}, "missing": missing})
