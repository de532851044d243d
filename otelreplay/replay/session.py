"""The session: calls of the running program in, recorded answers out, and the first place where the two part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.boundary import Call
from otelreplay.cassette.read import Cassette, no_collection
from otelreplay.events import Event, Missing
from otelreplay.matching import KeyMemo, request_components
from otelreplay.redaction import Redactor
from otelreplay.replay.agents import Ending, ending_differs
from otelreplay.replay.answers import Absent, Served, answer, gives_stream, unclassed
from otelreplay.replay.bindings import Bindings
from otelreplay.replay.diagnosis import Diagnosis
from otelreplay.replay.divergence import Blocked, Diverged, Divergence
from otelreplay.replay.finding import Asked, Finder, Fit, loose_gaps, merged_in, normalised_in
from otelreplay.replay.fixtures import fixture_for, fixtures_of
from otelreplay.replay.holes import UNORDERED, Skeletons, holes_in
from otelreplay.replay.listing import Listing
from otelreplay.replay.live import Live, Reader
from otelreplay.replay.normalizers import Normalizer
from otelreplay.replay.observing import Observing
from otelreplay.replay.result import ReplayResult, conclude
from otelreplay.replay.rules import soft_rules
from otelreplay.replay.score import Recorded, Score, operation_of
from otelreplay.replay.situation import Situation
from otelreplay.replay.unsent import sent

_MOST: Final = 100
"""Divergences that are looked into; a program that goes on after so many learns nothing new."""


class Scope:
    """An agent that is running; the ``parent`` of the calls inside it."""

    __slots__ = ("call", "item", "live")

    def __init__(self, live: Live, item: Recorded | None, call: Call | None = None) -> None:
        self.live, self.item, self.call = live, item, call


class Session:
    """One replay of one cassette. All methods may be called from several threads at once; none waits for another call."""

    def __init__(
        self,
        cassette: Cassette,
        *,
        redactor: Redactor,
        fixtures: Mapping[Any, Any] | None = None,
        normalizers: Sequence[Normalizer] = (),
        inside: Collection[str] = (),
        show: Redactor | None = None,
        command: str = "",
        registered: Callable[[], Collection[str]] | None = None,
        observe: bool = False,
    ) -> None:
        """Make a session.

        :param redactor: the cassette's own policy, compiled with an ephemeral random key.
        :param fixtures: see :mod:`otelreplay.replay.fixtures`.
        :param normalizers: see :mod:`otelreplay.replay.normalizers`.
        :param inside: served kinds whose insides run in this replay too (a model client that itself calls tools).
        :param show: a second policy for whatever a report shows of the run.
        :param command: how this replay was started, for reports.
        :param registered: the names of the tools that the program has so far; where it can be known.
        :param observe: go on after a divergence where that is possible, and collect them all (:mod:`observing`).
        """
        self._lock = RLock()
        self._reader = Reader(redactor)
        events = tuple(sorted(cassette.events, key=lambda event: event.seq))
        table = [p for p in cassette.header.placeholders if isinstance(p, dict) and isinstance(p.get("text"), str)]
        idle = not table and not any(event.redactions for event in events)
        self._skeletons, self._memo = Skeletons(normalizers, idle=idle), KeyMemo()
        soft = soft_rules(redactor, (str(p.get("rule")) for p in table))
        with no_collection():
            self._score = Score(
                events,
                skeletons=self._skeletons,
                memo=self._memo,
                soft_rules=soft,
                inside=inside,
                scopes=cassette.header.scopes,
            )
        self._bindings = Bindings({p["text"] for p in table} | self._score.placeholders)
        self._finder = Finder(self._score, self._bindings, self._skeletons, soft)
        self._fixtures = fixtures_of(fixtures or {})
        self._cassette, self._command, self._registered = cassette, command, registered
        self._situation = Situation(
            score=self._score, skeletons=self._skeletons, bindings=self._bindings, gaps=cassette.missing,
            ended=_ended(cassette, events), show=_shower(redactor, show),
        )  # fmt: skip
        self._diagnosis = Diagnosis(self._situation)
        self._told_served: list[Callable[[Event], object]] = []
        self._calls = 0
        self._divergences: list[Divergence] = []
        self._more = 0
        self._blocked: list[Blocked] = []
        self._lists = {name: Listing() for name in ("unchecked", "normalised", "assumed")}
        self._origins: dict[str, int] = {}
        self._notes: list[str] = []
        self._served = 0
        self._witness: Callable[[int, Mapping[str, str]], object] | None = None
        self._observing = Observing(self._score, self._diagnosis, self._answer_of) if observe else None
        self._stopped = False
        self.on_observed: Callable[[Divergence], object] = _nobody
        """Told of each divergence that did not stop the program."""

    def watch(self, witness: Callable[[int, Mapping[str, str]], object]) -> None:
        """Have each call told as it is found: the seq of its recording, and its own component digests, compared or not."""
        self._witness = witness

    def live_of(self, call: Call) -> Live:
        """A decorated call as it is compared: under the cassette's policy."""
        with self._lock:
            return self._reader.live_of(call)

    def call(self, live: Live) -> Served:
        """The recorded answer to a call. Raises :class:`Diverged` when there is none, after latching why."""
        with self._lock:
            asked = self._ask(live)
            fit, early = self._finder.find(asked)
            if fit is None:
                return self._without_fit(asked, early)
            item = fit.item
            served = self._answer_of(item, asked)
            item.taken = True
            if isinstance(served, Absent):
                raise self._latch(self._diagnosis.no_answer(asked, item, served.mark))
            self._agree(fit, asked)
            self._answered(served)
            if served.origin != "fixture" and fixture_for(item.event, self._fixtures) is not None:
                self._note(f"the fixture of seq {item.seq} was not used: its answer is recorded")
            return served

    def _answer_of(self, item: Recorded, asked: Asked) -> Served | Absent:
        stream = asked.live.stream or gives_stream(item.event, asked.live.request)
        return answer(item.event, fixture_for(item.event, self._fixtures), stream=stream, wire=asked.live.wire)

    def _without_fit(self, asked: Asked, early: Fit | None) -> Served:
        """A call that equals no recording: the end of the replay, unless it goes on all the same."""
        if self._observing is None:
            raise self._latch(self._diagnosis.unmatched(asked, early))
        mended = self._observing.taken_back(asked)
        if mended is not None:
            item, said, so = mended
            self._divergences = [so if d.call == said.call and d.kind == said.kind else d for d in self._divergences]
            found = self._answer_of(item, asked)
            if isinstance(found, Served):
                self._agree(Fit(item=item), asked)
                self._answered(found)
                return found
        divergence = self._diagnosis.unmatched(asked, early)
        served = self._observing.answer(asked, divergence, early)
        diverged = self._latch(divergence)
        if served is None:
            raise diverged
        self._stopped = False
        self.on_observed(diverged.divergence)
        reason = "the answer to a call that diverged is that of this event"
        self._answered(replace(served, origin="assumed", assumed=(*served.assumed, f"response: {reason}")))
        return served

    def begin_live(self, live: Live) -> Served:
        """A tool is about to run for real, in place of a recorded call; :meth:`ended_live` takes what it gave.

        Raises :class:`Diverged` when the recording has no such call.
        """
        with self._lock:
            asked = self._ask(live)
            fit, early = self._finder.find(asked)
            if fit is None:
                raise self._latch(self._diagnosis.unmatched(asked, early))
            fit.item.taken = True
            self._agree(fit, asked)
            event = fit.item.event
            return Served(seq=event.seq, kind=event.kind, name=event.name, origin="live", event=event)

    def ended_live(self, served: Served, call: Call, encoded: str | None) -> None:
        """What a tool that really ran gave, as the JSON text of its value; None for an error. Later differences may name it."""
        with self._lock:
            more = {} if encoded is None else {sc.TOOL_RESULT: encoded, "otelreplay.result": encoded}
            response = self._reader.event(call, **more).response or {}
            self._answered(replace(served, value=response.get("result")))

    def tell_served(self, told: Callable[[Event], object]) -> None:
        """Have ``told`` be called with each event the moment it is served."""
        self._told_served.append(told)

    def enter(self, live: Live, *, call: Call | None = None) -> Scope:
        """An agent begins. Raises :class:`Diverged` when the recording has no such agent, or with another input."""
        with self._lock:
            if not self._score.agents:
                self._list_unchecked(-1, "agent", live.name, "request.input", "the recording holds no agent")
                return Scope(live, None, call)
            asked = self._ask(live)
            if self._score.has_own_agents:
                fit, early = self._finder.find(asked)
            else:
                fit, early = self._by_name(asked), None
            if fit is None and self._observing is not None:
                divergence = self._diagnosis.unmatched(asked, early)
                self._pass(divergence)
                item = self._diagnosis.stand_in(asked, divergence, early)
                if item is not None:
                    item.taken = True
                return Scope(live, item, call)
            if fit is None:
                raise self._latch(self._diagnosis.unmatched(asked, early))
            fit.item.taken = True
            if self._score.has_own_agents:
                self._agree(fit, asked)
            return Scope(live, fit.item, call)

    def leave(self, scope: Scope, *, output: Any = None, error: BaseException | None = None, said: bool = True) -> None:
        """An agent ended with an output (under the policy; see :meth:`output_of`), or an error.

        ``said``: whether the output is known at all. Raises :class:`Diverged` when the recorded one ended otherwise.
        """
        with self._lock:
            item = scope.item
            if item is None or not self._score.has_own_agents:
                return
            found = ending_differs(item.event, Ending(output, error, said), self._skeletons, self._bindings)
            if isinstance(found, str):
                self._list_unchecked(item.seq, "agent", item.event.name, "response.output", found)
            elif found is not None:
                self._stop_or_pass(self._diagnosis.ended_otherwise(item, scope.live, found))

    def output_of(self, call: Call, encoded: str) -> tuple[bool, Any]:
        """(whether it can be read, an agent's output under the cassette's policy), from its JSON text in the typed encoding."""
        with self._lock:
            response = self._reader.event(call, **{"otelreplay.output": encoded}).response or {}
            return "output" in response, response.get("output")

    def unanswered(self, live: Live, mark: Missing | None) -> Diverged:
        """A call that no event answers. Latches that, with the gap that explains it; the caller raises what is returned."""
        with self._lock:
            return self._latch(self._diagnosis.unanswered(self._ask(live), mark))

    def asked_for_more(self, served: Served, where: str = "") -> Diverged:
        """A consumer reads beyond what the recorded one read. Latches that; the caller raises what is returned."""
        with self._lock:
            return self._latch(self._diagnosis.asked_for_more(served, where, self._calls))

    def sent_of(self, call: Call, encoded: str) -> Any:
        """A value sent into a generator under the cassette's policy, from the JSON text of ``[[index, value]]``."""
        with self._lock:
            more = {"otelreplay.chunks": "[]", "otelreplay.stream.end": "returned", "otelreplay.sent": encoded}
            response = self._reader.event(call, **more).response or {}
            return next((pair[1] for pair in response.get("stream", {}).get("sent", ()) if len(pair) == 2), None)

    def left(self, served: Served, read: int, *, thrown: bool) -> None:
        """A consumer stopped reading a stream. Where the recorded one did not, that is noted."""
        chunks = len(served.chunks or ())
        if read == chunks and served.end == ("raised" if thrown else "stopped"):
            return
        with self._lock:
            then = (
                f"stopped reading after {chunks} chunks" if served.end == "stopped" else f"read all {chunks} chunks to the end"
            )
            self._note(f"the recorded program {then} of seq {served.seq}, and this one stopped after {read}")

    def sent(self, served: Served, index: int, encoded: Any, where: str = "") -> None:
        """A value was sent into a replayed generator. Raises :class:`Diverged` unless it is the recorded one."""
        with self._lock:
            found = self._diagnosis.sent_otherwise(served, index, encoded, where)
            if found is not None:
                self._stop_or_pass(found)

    def assume(self, seq: int, field: str, reason: str) -> None:
        """List something that was assumed in giving an answer."""
        with self._lock:
            self._lists["assumed"].add(seq, field=field, reason=reason)

    def note(self, text: str) -> None:
        """Say something about the replay, once."""
        with self._lock:
            if text not in self._notes:
                self._note(text)

    def blocked(self, attempt: Blocked) -> Divergence:
        """A guard stopped a live call."""
        with self._lock:
            if len(self._blocked) < _MOST:
                self._blocked.append(attempt)
            return self._keep(self._diagnosis.blocked(attempt))

    def owed(self) -> list[Recorded]:
        """What a replay of everything calls and enters, and this one has not yet."""
        with self._lock:
            return self._score.owed()

    @property
    def diverged(self) -> bool:
        """Whether anything was latched."""
        return bool(self._divergences or self._blocked)

    def progress(self) -> dict[str, Any]:
        """``after`` (seq of the last event that agreed), ``served``, ``divergences``: where the replay is now."""
        with self._lock:
            agreed = self._situation.agreed
            return {
                "after": agreed[-1].item.seq if agreed else None,
                "served": self._served,
                "divergences": len(self._divergences),
            }

    def result(self, *, child_exit: int | None = None, guard: str = "none", integrity: bool = True) -> ReplayResult:
        """What the replay says in the end. ``child_exit``: how the program ended; None for a function in this process."""
        with self._lock:
            if not self._divergences:
                self._name_unregistered()
            if not self._divergences and not self._blocked:
                self._name_unclassed(child_exit)
            return conclude(
                self._cassette, self._score, divergences=self._divergences, diagnosis=self._diagnosis, more=self._more,
                blocked=self._blocked, lists={name: listing.entries() for name, listing in self._lists.items()},
                served=self._served, calls=self._calls, origins=self._origins, notes=self._notes, fixtures=self._fixtures,
                child_exit=child_exit, guard=guard, integrity=integrity, observing=self._observing, stopped=self._stopped,
                responses=self._situation.origins,
            )  # fmt: skip

    def _ask(self, live: Live) -> Asked:
        self._calls += 1
        self._situation.calls = self._calls
        if live.wire:
            live = replace(live, request=sent(live.request, self._score.filled)[0])
        skeleton = self._skeletons.request(live.kind, live.request)  # type: ignore[arg-type]
        keys = request_components(live.kind, live.name, skeleton.request, self._memo)  # type: ignore[arg-type]
        keys.pop("name", None)
        parent = live.parent
        item = parent.item if isinstance(parent, Scope) else None
        return Asked(
            live=live, number=self._calls, group=(live.kind, operation_of(live.kind, live.name, self._skeletons)), keys=keys,
            holes=skeleton.holes, context=None if item is None else item.place,
        )  # fmt: skip

    def _by_name(self, asked: Asked) -> Fit | None:
        """Agents of another package are recognised by name alone."""
        for item in self._score.members.get(asked.group, ()):
            if not item.taken:
                reason = "recorded by another package, in another form"
                self._list_unchecked(item.seq, "agent", item.event.name, "request.input", reason)
                return Fit(item=item)
        return None

    def _agree(self, fit: Fit, asked: Asked) -> None:
        """Everything that follows from a call's having been found."""
        item, event = fit.item, fit.item.event
        for component, rule, placeholder in normalised_in(fit, asked) if item.holes or asked.holes else ():
            self._lists["normalised"].add(item.seq, field=f"request.{component}", rule=rule, placeholder=placeholder)
        for component, hole in merged_in(item) if item.holes else ():
            reason = f"a placeholder of action {hole.action} fits any value of its rule"
            if hole.action == UNORDERED:
                reason = "which of several values of its rule in a set it is cannot be told"
            self._list_unchecked(item.seq, event.kind, asked.group[1], f"request.{component}", reason)
        for hole in fit.assumed:
            self._lists["assumed"].add(item.seq, field="request", rule=hole.rule, reason="accepted without its detector")
        for component in fit.unknown:
            self._list_unchecked(item.seq, event.kind, asked.group[1], f"request.{component}", "not carried by the recording")
        for field, reason in item.how.loose:
            name = f"request.{field}" if field else "request"
            self._list_unchecked(item.seq, event.kind, asked.group[1], name, reason)
        for gap in loose_gaps(item) if item.how.soft else ():
            self._list_unchecked(item.seq, event.kind, asked.group[1], gap.field, f"missing in the recording: {gap.cause}")
        twin = self._finder.twin(fit, asked)
        if twin is not None:
            self._note(
                f"seq {item.seq} and seq {twin.seq} cannot be told apart by their requests; the lower one was served first"
            )
        self._bindings.bind(fit.pairs)
        for holes in asked.holes.values():  # what the program says it was given: by an answer, or with its input
            self._bindings.served(hole for hole in holes if self._bindings.owns(hole.text))
        self._situation.agree(item, asked)
        if self._witness is not None:
            self._witness(item.seq, asked.keys)
        drift = self._diagnosis.drift(item, asked)
        if drift is not None:
            self._keep(drift)

    def _answered(self, served: Served) -> None:
        for told in self._told_served:
            told(served.event)
        self._served += 1
        self._origins[served.origin] = self._origins.get(served.origin, 0) + 1
        self._situation.serve(served)
        if served.origin != "cassette":
            self._lists["assumed"].add(served.seq, field="response", reason=f"origin {served.origin}")
        for said in served.assumed:
            field, _, reason = said.partition(": ")
            self._lists["assumed"].add(served.seq, field=field, reason=reason)
        self._bindings.served(self._skeletons.bound_in([served.value, served.chunks, (served.event.response or {})]))
        if self._bindings.any():
            own = {hole.text for hole in holes_in([value for _, value in served.sent])}  # what it will send is not given to it
            given = holes_in([served.value, served.chunks, served.error and served.error.model_dump()])
            self._bindings.served(hole for hole in given if hole.text not in own)

    def _note(self, note: str) -> None:
        if len(self._notes) < _MOST:
            self._notes.append(note)

    def _list_unchecked(self, seq: int, kind: str, operation: str, field: str, reason: str) -> None:
        self._lists["unchecked"].add(seq, boundary=kind, operation=operation, field=field, reason=reason)

    def _name_unregistered(self, first: Divergence | None = None) -> None:
        """Latch each recorded tool that the program does not have, where it was due no later than what went wrong first.

        Not before something goes wrong: a program may import the module of a tool as late as it calls it.
        """
        names = set(self._registered()) if self._registered is not None else None
        if names is None or (first is not None and first.kind == "tool_not_registered"):
            return
        last = None if first is None or first.boundary == "agent" else first.seq
        for (kind, operation), members in self._score.members.items():
            due = next((item for item in members if not item.taken and item.outer is None), None)
            if kind == "tool" and operation not in names and due is not None and (last is None or due.seq <= last):
                self._keep(self._diagnosis.not_registered(due))

    def _name_unclassed(self, child_exit: int | None) -> None:
        """A program that ended early, and the last that it was given was an error of a class made up: that is the cause."""
        last = self._situation.agreed[-1].item if self._situation.agreed else None
        mark = unclassed(last.event) if last is not None and fixture_for(last.event, self._fixtures) is None else None
        if last is not None and mark is not None and (child_exit not in (None, 0) or self._score.owed()):
            self._keep(self._diagnosis.went_on_otherwise(last, mark))

    def _keep(self, divergence: Divergence) -> Divergence:
        if not self._divergences and divergence.kind != "tool_not_registered":
            self._name_unregistered(divergence)
        divergence = replace(divergence, reproduce=self._command)
        if len(self._divergences) < _MOST:
            self._divergences.append(divergence)
        else:
            self._more += 1
        return divergence

    def _latch(self, divergence: Divergence) -> Diverged:
        self._stopped = True
        return Diverged(self._keep(divergence))

    def _pass(self, divergence: Divergence) -> None:
        self.on_observed(self._keep(divergence))

    def _stop_or_pass(self, divergence: Divergence) -> None:
        if self._observing is None:
            raise self._latch(divergence)
        self._pass(divergence)


def _nobody(_: Divergence) -> None:
    """Without anybody to tell."""


def _ended(cassette: Cassette, events: tuple[Event, ...]) -> bool:
    """Whether the recording goes to the end of its run: every root has ended, and nothing is above it."""
    roots = [event for event in events if event.parent is None]
    open_root = any(event.end is None and event.spans for event in roots)
    orphan = any(gap.field == "parent" for event in roots for gap in event.missing)
    cut = any(problem.code == "cassette.truncated" for problem in cassette.problems)
    return bool(roots) and not open_root and not orphan and not cut


def _shower(redactor: Redactor, second: Redactor | None) -> Callable[[Any], Any]:
    """What may be shown of a value: it passed the cassette's policy as a whole; parts of it pass again."""
    if second is None:
        return redactor.value
    return lambda value: second.value(redactor.value(value))
