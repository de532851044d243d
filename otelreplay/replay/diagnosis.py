"""Why a call has no answer: the one question that the rest of a report hangs on.

    the call equals a recording whose hard predecessor is open
        the predecessor is a reply that asked for it             order_violation
        else                                                     missing_call, of the predecessor
    the call equals a recording, and each of those was served    unexpected_call: called once more
    the run was recorded with a gap here
        a later request quotes the reply to just this request    response_missing
    the expected operation with other content
        what must come before it was served                      request_changed
        it was not, and the conversation has passed it           missing_call, of the predecessor
    the recording is known to lack calls of this kind, or its end response_missing
    else                                                         unexpected_call

A difference that a made-up value brought in (a clock, a random number, an id that stands one place off) is not the first cause:
the call that was inserted or left out is named instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otelreplay.canonical import digest_value
from otelreplay.events import Missing
from otelreplay.events.fields import leaves
from otelreplay.replay import words
from otelreplay.replay.agents import value_differs
from otelreplay.replay.answers import Served
from otelreplay.replay.causes import MADE, Provenance, cause_of, cause_of_gap
from otelreplay.replay.diff import Difference, component_value, differences
from otelreplay.replay.divergence import Blocked, Changed, Divergence, Kind, Near, clip, cut_around
from otelreplay.replay.finding import Asked, Fit
from otelreplay.replay.holes import KEYED, Holes
from otelreplay.replay.likeness import Likeness
from otelreplay.replay.live import Live
from otelreplay.replay.score import Recorded
from otelreplay.replay.situation import Agreed, Situation
from otelreplay.replay.source import recorded_function, recorded_where

_ROOM = 2_000
"""Characters of one side of a difference in a report."""
_LOOKED_AT = 200
_NEAREST = 3


class Diagnosis:
    """Explains. Reads the situation, changes nothing."""

    def __init__(self, situation: Situation) -> None:
        self._at = situation
        self._like = Likeness(situation.skeletons)
        self._from = Provenance(situation)

    def unmatched(self, asked: Asked, early: Fit | None) -> Divergence:
        """A call that no recording answers."""
        waiting = [m for m in self._members(asked) if not m.taken and self._at.in_reach(m, asked.context)]
        ready = [m for m in waiting if self._at.score.unmet(m) is None]
        best = min(ready, key=lambda m: (self._distance(m, asked), m.place), default=None)
        if early is not None and self._sees(early.item, best, asked):
            return self._too_early(asked, early.item)
        used = next((m for m in self._members(asked) if m.taken and m.keys == asked.keys), None)
        if used is not None:
            early_one = self._from.taken_early(asked.live.kind) if asked.live.kind in MADE else None
            if early_one is not None:
                return self._inserted(early_one, asked, "")
            detail = words.used_up(sum(m.keys == asked.keys for m in self._members(asked)))
            return replace(self._unexpected(asked, detail), cause=self._from.class_of_made(asked.live.kind))
        quoted = self._quoted(waiting, asked)
        if quoted is not None:
            return quoted
        if best is not None and self._like.alike(best.event.request, asked.live.request):
            return self._changed(asked, best)
        for item in waiting:
            if item not in ready and self._like.passed(item.event.request, asked.live.request):
                return self._skipped(self._at.score.unmet(item) or item, asked, words.PASSED)
        if early is not None:
            return self._too_early(asked, early.item)
        return self._lacking(asked) or self._unexpected(asked, words.unknown(asked.group, bool(self._members(asked))))

    def unanswered(self, asked: Asked, mark: Missing | None) -> Divergence:
        """A call that is answered by no event of its own; ``mark``: the gap of the recording that explains it."""
        return self._missing(asked, mark) if mark is not None else self._unexpected(asked, words.unknown(asked.group, False))

    def no_answer(self, asked: Asked, item: Recorded, mark: Missing) -> Divergence:
        """The recording of this call is there, and its answer is not."""
        return self._base("response_missing", item, asked, cause=cause_of_gap(mark), **words.of_mark(mark), path=mark.field)

    def went_on_otherwise(self, item: Recorded, mark: Missing) -> Divergence:
        """The program left the recorded run at an error whose class is not known."""
        base = self._base("response_missing", item, None, cause=cause_of_gap(mark), **words.of_mark(mark), path=mark.field)
        return replace(base, where=self._at.agreed[-1].where, call=self._at.agreed[-1].number)

    def asked_for_more(self, served: Served, where: str, call: int) -> Divergence:
        """A stream was read beyond what the recorded consumer read."""
        item = self._at.score.items[self._at.score.at[served.seq]]
        count = len(served.chunks or ())
        base = self._base("response_missing", item, None, cause="missing data", path="response.chunks")
        return replace(base, where=where, call=call, detail=words.stopped(count), remedy=words.FIXTURE)

    def sent_otherwise(self, served: Served, index: int, value: Any, where: str) -> Divergence | None:
        """The divergence of a value sent into a stream; None if it is the recorded one."""
        known = dict(served.sent)
        field = f"response.stream.sent[{index}]"
        if index not in known:
            difference = Difference(field, None, value, "added")
        else:
            found = value_differs(known[index], value, field, self._at.skeletons, self._at.bindings)
            if found is None:
                return None
            difference = found
        item = self._at.score.items[self._at.score.at[served.seq]]
        return replace(self._with("request_changed", item, None, [difference]), where=where)

    def ended_otherwise(self, item: Recorded, live: Live, difference: Difference) -> Divergence:
        """An agent whose result is not the recorded one."""
        skipped = self._not_made(item) if difference.path.startswith("response") else None
        if skipped is not None:
            made = self._base("missing_call", skipped, None, detail=words.RETURNED)
            return replace(made, where=live.where, function=live.function, call=self._at.calls, received_boundary=live.kind,
                           received_operation=str(self._show(live.name)))  # fmt: skip
        made = self._with("request_changed", item, None, [difference])
        source = self._from.source(difference)
        return replace(
            made, where=live.where, function=live.function, cause="code",
            detail=words.ended(difference.expected, difference.received, error=difference.path.startswith("error")),
            origin="" if source is None else words.origin(source),
        )  # fmt: skip

    def _not_made(self, agent: Recorded) -> Recorded | None:
        """The first recording inside of an agent that nobody asked for."""
        return next((item for item in self._at.score.owed() if item.context == agent.place and item.group[0] != "agent"), None)

    def blocked(self, attempt: Blocked) -> Divergence:
        """A live call that a guard stopped."""
        base = self._base("live_call_blocked", None, None, detail=words.blocked(attempt.what), remedy=words.BLOCKED)
        return replace(base, boundary=attempt.what, operation=self._show(attempt.target), where=attempt.where)

    def not_registered(self, item: Recorded) -> Divergence:
        """A recorded tool that the program does not have."""
        return self._base("tool_not_registered", item, None, detail=words.NOT_REGISTERED)

    def drift(self, item: Recorded, asked: Asked) -> Divergence | None:
        """A version that both sides name and that is another one."""
        for name, was in item.event.versions.items():
            now = asked.live.versions.get(name)
            if now is not None and digest_value(now) != digest_value(was):
                path = f"versions.{name}"
                base = self._base("version_drift", item, asked, path=path, change="changed", detail=words.DRIFT)
                return replace(base, expected=self._show(was), received=self._show(now))
        return None

    def stand_in(self, asked: Asked, divergence: Divergence, early: Fit | None) -> Recorded | None:
        """The recording that answers a call which has diverged, where the replay goes on all the same.

        The one that it equals, though something before it was left out; else the one that was expected in its place; else the
        nearest of its kind and operation that nobody asked for yet; else the nearest that was served already.
        """
        if early is not None:
            return early.item
        members = self._members(asked)[:_LOOKED_AT]
        named = next((m for m in members if m.seq == divergence.seq and not m.taken), None)
        if named is not None:
            return named
        return min(members, key=lambda m: (m.taken, self._distance(m, asked), m.place), default=None)

    def put_in(self, earlier: Divergence) -> Divergence:
        """A call that was taken for a changed one, and was put in: what it had been taken for was called afterwards."""
        return replace(
            earlier, kind="unexpected_call", path="", change="", expected=None, received=None, received_path="", others=(),
            differences=(), detail=words.put_in(earlier.seq), remedy=words.REMEDY["unexpected_call"], cause="code", origin="",
            boundary=earlier.received_boundary, operation=earlier.received_operation, unchecked=(),
        )  # fmt: skip

    def left_over(self, item: Recorded, *, skipped: bool) -> Divergence:
        """A recording that was never asked for: in the middle of the run, or at its end."""
        meant = self._meant(item)
        if meant is not None:
            return self._changed(meant, item)
        if skipped:
            kind = self._from.made_up_in(item)
            early = self._from.taken_early(kind) if kind is not None else None
            if early is not None:
                return self._inserted(early, None, "")
            return self._base("missing_call", item, None, detail=words.SKIPPED)
        return self._base("events_unused", item, None, detail=words.UNUSED)

    def nothing_to_serve(self) -> Divergence:
        """A cassette that no replay can say anything about."""
        return self._base("events_unused", None, None, detail=words.NOTHING)

    def _members(self, asked: Asked) -> list[Recorded]:
        return self._at.score.members.get(asked.group, [])

    def _sees(self, early: Recorded, best: Recorded | None, asked: Asked) -> bool:
        """Whether a later recording that the call equals compares any of what tells the call from the expected recording."""
        compared = (*early.how.checked, *early.how.soft)
        if best is None or best.group != early.group:
            return bool(compared)
        differing = [*self._compared(best, asked), *best.how.extras(asked.keys)[0]]
        return not differing or any(component in compared for component in differing)

    @staticmethod
    def _compared(item: Recorded, asked: Asked) -> list[str]:
        """Components of a recording that differ from those of a call."""
        return [c for c in (*item.how.checked, *item.how.soft) if item.keys.get(c) != asked.keys.get(c)]

    def _too_early(self, asked: Asked, item: Recorded) -> Divergence:
        before = self._at.score.unmet(item) or item
        meant = self._meant(before)
        if meant is not None:
            return self._changed(meant, before)
        if before.group[0] in ("model", "embeddings") and item.group[0] != before.group[0]:
            made = self._base("order_violation", item, asked, cause="order")
            return replace(made, detail=words.before(before.seq, before.event.kind, self._show(before.event.name)))
        return self._skipped(before, asked, words.equals(item.seq))

    def _meant(self, item: Recorded) -> Asked | None:
        """The call that was answered by a later recording and was meant for this one, changed; None if there is none."""
        asked = self._at.doubts.get(item.place)
        if asked is None or self._like.goes_on(item.event.request, asked.live.request):
            return None
        return asked

    def _skipped(self, item: Recorded, asked: Asked, detail: str) -> Divergence:
        return self._base("missing_call", item, asked, detail=detail)

    def _unexpected(self, asked: Asked, detail: str) -> Divergence:
        expected = next((i for i in self._at.score.owed() if i.group[0] != "agent" and self._at.score.unmet(i) is None), None)
        made = self._base("unexpected_call", None, asked, detail=detail, nearest=self._nearest(asked))
        if expected is not None:
            made = replace(made, seq=expected.seq, span=expected.event.id)
        return replace(made, boundary=asked.live.kind, operation=self._show(asked.live.name))

    def _quoted(self, waiting: list[Recorded], asked: Asked) -> Divergence | None:
        """A later recording that quotes the reply to just this request, of which there is no recording."""
        known = any(
            m.keys.get("messages") == asked.keys.get("messages") or self._like.equal(m.event.request, asked.live.request)
            for m in self._members(asked)
        )
        if asked.live.kind != "model" or known:
            return None
        for item in waiting[:_LOOKED_AT]:
            at = self._like.answered_in(item.event.request, asked.live.request)
            if at is not None:
                field = f"request.messages[{at}]"
                mark = Missing(
                    field="model", cause="span_not_received", detail=words.quoted(item.seq, field), remedy=words.FIXTURE
                )
                return self._missing(asked, mark)
        return None

    def _lacking(self, asked: Asked) -> Divergence | None:
        mark = next((gap for gap in self._at.gaps if gap.field == asked.live.kind), None)
        if mark is None and not self._at.ended and self._at.score.events:
            mark = Missing(field=asked.live.kind, cause="never_ended", detail=words.NO_END, remedy=words.FLUSH)
        return None if mark is None else self._missing(asked, mark)

    def _missing(self, asked: Asked, mark: Missing) -> Divergence:
        made = self._base("response_missing", None, asked, cause=cause_of_gap(mark), **words.of_mark(mark))
        return replace(made, boundary=asked.live.kind, operation=self._show(asked.live.name), nearest=self._nearest(asked))

    def _changed(self, asked: Asked, item: Recorded) -> Divergence:
        found = self._differences(item, asked)
        inserted = self._made_up(asked, item, found)
        if inserted is not None:
            return inserted
        made = self._with("request_changed", item, asked, found)
        source = self._from.source(found[0])
        if source is not None:
            cause = made.cause if made.cause == "redaction" else self._from.class_of(source.kind) or made.cause
            made = replace(made, origin=words.origin(source), cause=cause)
        unread = self._from.not_read(item, made.cause)
        if unread is not None:
            missing = self._base("missing_call", unread, asked, cause=made.cause, detail=words.omitted(found[0].path))
            return replace(missing, differences=made.differences)
        return made

    def _made_up(self, asked: Asked, item: Recorded, found: list[Difference]) -> Divergence | None:
        """An inserted or omitted call of a clock, random number or id, by the value that stands in another's place."""
        expected = self._from.expected_from(found[0])
        if expected is None or expected is item:
            return None
        kind = expected.group[0]
        source = self._from.source(found[0])
        early = self._from.taken_early(kind) if source is not None and source.kind == kind else None
        if early is not None:
            return self._inserted(early, asked, found[0].path)
        if not expected.taken:
            cause = self._from.class_of(kind) or "code"
            missing = self._base("missing_call", expected, asked, cause=cause, detail=words.omitted(found[0].path))
            return replace(missing, differences=tuple(map(self._both, found)))
        return None

    def _inserted(self, early: Agreed, asked: Asked | None, path: str) -> Divergence:
        kind = early.item.group[0]
        made = self._base("unexpected_call", early.item, asked, cause=self._from.class_of(kind) or "code")
        detail = words.inserted(kind, early.item.seq, path)
        return replace(
            made, detail=detail, where=early.where, call=early.number, received_boundary=kind, received_operation=kind
        )  # fmt: skip

    def _differences(self, item: Recorded, asked: Asked) -> list[Difference]:
        """The differences in what is compared; where only a hole differs, the field that it stands in."""
        names = self._compared(item, asked)
        names += item.how.extras(asked.keys)[0]
        if names:
            order = list(item.event.request)
            names.sort(key=lambda c: (next((n for n, f in enumerate(order) if c.startswith(f)), len(order)), c))
            return differences(item.event.request, asked.live.request, names, self._at.skeletons)
        was: Holes = ()
        now: Holes = ()
        for component in item.how.checked:  # together: a value that is right by itself may be that of another hole
            old, new = item.holes.get(component, ()), asked.holes.get(component, ())
            if (old or new) and self._at.bindings.fits(was + old, now + new) is None:
                return [self._hole(item, component, (old, new), (was, now))]
            was, now = was + old, now + new
        return [Difference("request", None, None, "changed")]

    def _hole(self, item: Recorded, component: str, holes: tuple[Holes, Holes], before: tuple[Holes, Holes]) -> Difference:
        """The first hole of a component that does not fit what was bound until then."""
        old, new = holes
        for n in range(min(len(old), len(new))):
            if self._at.bindings.fits(before[0] + old[: n + 1], before[1] + new[: n + 1]) is None:
                value = component_value(item.event.request, component)
                same = sum(hole.text == old[n].text for hole in old[:n])
                fields = [f for f, leaf in leaves(value, f"request.{component}") for _ in range(str(leaf).count(old[n].text))]
                field = fields[same] if same < len(fields) else f"request.{component}"
                return Difference(field, old[n].text, new[n].text, "changed")
        return Difference(f"request.{component}", None, None, "changed")

    def _distance(self, item: Recorded, asked: Asked) -> tuple[int, int]:
        return len(self._compared(item, asked)) + len(item.how.extras(asked.keys)[0]), -self._like.shared(
            item.event.request, asked.live.request
        )

    def _nearest(self, asked: Asked) -> tuple[Near, ...]:
        members = (
            self._members(asked)[:_LOOKED_AT]
            or [i for i in self._at.score.served if i.group[0] == asked.live.kind][:_LOOKED_AT]
        )
        best = sorted(members, key=lambda m: (m.taken, self._distance(m, asked), m.place))[:_NEAREST]
        return tuple(self._near(item, asked) for item in best)

    def _near(self, item: Recorded, asked: Asked) -> Near:
        path = "name" if item.group != asked.group else ""
        if not path and item.keys != asked.keys:
            path = self._differences(item, asked)[0].path
        name = str(self._show(item.event.name))
        return Near(
            seq=item.seq, boundary=item.event.kind, operation=name, path=path, state="served" if item.taken else "waiting"
        )

    def _with(self, kind: Kind, item: Recorded | None, asked: Asked | None, found: list[Difference]) -> Divergence:
        first = found[0]
        request = item.event.request if item is not None else {}
        made = self._base(kind, item, asked, path=first.path, change=first.change, cause=cause_of(first, request))
        if kind == "request_changed" and (made.cause == "redaction" or self._at.bindings.holds_piece(first.received)):
            made = replace(made, cause="redaction", remedy=made.remedy or words.REDACTED)
        expected, received = (self._shown(v, first) for v in (first.expected, first.received))
        return replace(
            made, expected=expected, received=received, others=tuple(d.path for d in found[1:]),
            received_path=first.received_path, differences=tuple(map(self._both, found)),
        )  # fmt: skip

    def _both(self, difference: Difference) -> Changed:
        """A difference as a report shows it, both sides cut around where they part."""
        was, now = (self._without_fresh(self._show(v)) for v in (difference.expected, difference.received))
        if isinstance(was, str) and isinstance(now, str):
            was, now = cut_around(was, now)
        return Changed(
            path=difference.path, change=difference.change, expected=clip(was, _ROOM), received=clip(now, _ROOM),
            received_path=difference.received_path,
        )  # fmt: skip

    def _shown(self, value: Any, difference: Difference) -> Any:
        """A value as a report shows it: under the policies, without the text of what was bound, cut around the difference."""
        value = self._without_fresh(self._show(value))
        if isinstance(value, str):
            value = words.window(value, self._show(difference.expected), self._show(difference.received))
        return clip(value)

    def _show(self, value: Any) -> Any:
        return self._at.show(value)

    def shown(self, text: str) -> str:
        """A text of the run as a report shows it."""
        return str(self._show(text))

    def _without_fresh(self, value: Any) -> Any:
        """Placeholders that are not the cassette's were made for this session; only their rule is shown."""
        if isinstance(value, str):
            return words.without(value, lambda hole: hole.action in KEYED and not self._at.bindings.owns(hole.text))
        if isinstance(value, dict):
            return {self._without_fresh(k): self._without_fresh(v) for k, v in value.items()}
        return [self._without_fresh(v) for v in value] if isinstance(value, list | tuple) else value

    def _base(self, kind: Kind, item: Recorded | None, asked: Asked | None, **members: Any) -> Divergence:
        agreed = self._at.agreed
        seq = item.seq if item is not None else None
        members.setdefault("remedy", words.REMEDY.get(kind, ""))
        members.setdefault(
            "accept", words.fixture(seq) if kind == "response_missing" else words.ACCEPTS.get(kind, words.ACCEPT)
        )
        made = Divergence(
            kind=kind, agreed=len(agreed), last_agreed=agreed[-1].item.seq if agreed else None, **members
        )  # fmt: skip
        if item is not None:
            event = item.event
            made = replace(
                made, seq=event.seq, span=event.id, boundary=event.kind, operation=str(self._show(event.name)),
                agent=str(self._show(event.agent or "")), recorded_where=recorded_where(event),
                recorded_function=str(self._show(recorded_function(event))),
                unchecked=tuple(f"request.{f}" if f else "request" for f, _ in item.how.loose),
            )  # fmt: skip
        if asked is not None:
            live = asked.live
            made = replace(
                made, call=asked.number, where=made.where or live.where, function=live.function, received_boundary=live.kind,
                received_operation=str(self._show(live.name)), received_agent=str(self._show(_agent_of(live))),
            )  # fmt: skip
        return made


def _agent_of(live: Live) -> str:
    """The name of the agent that a call was made in."""
    around = getattr(live.parent, "live", None)
    return around.name if isinstance(around, Live) else ""
