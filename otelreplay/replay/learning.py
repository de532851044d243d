"""Which normalisers two recordings of one program need to be equal: the fewest, and none that hides a difference of meaning.

Theory of operation. The recordings are compared (:mod:`otelreplay.replay.comparison`). A value that an answer or the input of
the program brought in needs nothing: a replay gives the recorded one. Of every other difference, its kind says whether the
value was made anew (:mod:`otelreplay.replay.kinds`); what is not known to be so is *not learned*, with the reason. Then all
that was proposed is declared and the recordings are compared again; what makes no difference is taken out again, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from otelreplay.canonical import digest_value
from otelreplay.canonical.paths import join
from otelreplay.events.fields import ABSENT, get, parse
from otelreplay.replay.comparison import Comparison, _Place
from otelreplay.replay.declared import declared, generic
from otelreplay.replay.diff import Difference
from otelreplay.replay.divergence import clip
from otelreplay.replay.finding import Asked
from otelreplay.replay.kinds import counted, is_prose, kinds_between, pattern_between, same_members
from otelreplay.replay.normalizers import Normalizer
from otelreplay.replay.score import Recorded

Compare = Callable[[Sequence[Normalizer]], "Watching"]
"""Makes a comparison of the two recordings under normalisers."""

_MOST: Final = 1_000
_SHOWN: Final = 3
_ROUNDS: Final = 4
_NO_SETS: Final = ("request.messages", "request.system", "request.tools", "request.params")


@dataclass(frozen=True, slots=True)
class Seen:
    """One field that differs in a pair of events."""

    seq: int
    kind: str
    operation: str
    difference: Difference
    was: Any
    """The list around it, or the value, on either side."""
    now: Any
    field: str
    """Where a normaliser finds the value."""


class Watching(Comparison):
    """A comparison that keeps what differs in requests, and what each run was given."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.seen: list[Seen] = []
        self.given: dict[str, str] = {}
        """Text of the second recording that answers or the input brought in → the first one's."""

    @property
    def placed(self) -> tuple[Any, ...]:
        """Where each event stands, after :meth:`compare`."""
        return tuple(self._rows)

    def _changed(self, asked: Asked, theirs: Recorded, item: Recorded, found: Any) -> _Place:
        place = super()._changed(asked, theirs, item, found)
        for difference in place.differences:
            if theirs.event.kind == "agent":
                self._give(difference)
            elif len(self.seen) < _MOST:
                self.seen.append(_seen(item, asked, difference))
        return place

    def _end(self, ours: Recorded, theirs: Recorded, row: Any) -> None:
        super()._end(ours, theirs, row)
        for difference in self._answers.differ(ours.event, theirs.event)[0]:
            self._give(difference)

    def _give(self, difference: Difference) -> None:
        was, now = difference.expected, difference.received
        if isinstance(was, str) and isinstance(now, str) and len(now) > 3 and len(self.given) < _MOST:
            self.given.setdefault(now, was)


def _seen(item: Recorded, asked: Asked, difference: Difference) -> Seen:
    """With the list that the field is a member of, where it is one."""
    path = difference.path
    above = path[: path.rindex("[")] if path.endswith("]") and not path.endswith('"]') else ""
    was, now = (_at({"request": side}, above) if above else None for side in (item.event.request, asked.live.request))
    return Seen(item.seq, item.group[0], item.group[1], difference, was, now, generic(_held(item.event.request, path)))


def _at(members: Any, path: str) -> Any:
    found = get(members, path)
    return None if found is ABSENT else found


def _held(request: dict[str, Any], path: str) -> str:
    """The field that a normaliser sees: of a member of JSON text, the text."""
    steps = parse(path)
    while len(steps) > 1 and get({"request": request}, join("", *steps)) is ABSENT:
        steps = steps[:-1]
    return join("", *steps)


@dataclass(slots=True)
class Learned:
    """One normaliser, and what it was learned from."""

    spec: str
    evidence: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0

    def add(self, seen: Seen) -> None:
        """Another difference that it makes equal."""
        self.count += 1
        if len(self.evidence) < _SHOWN:
            self.evidence.append(_shown(seen))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What two recordings taught."""

    learned: tuple[Learned, ...]
    not_learned: tuple[dict[str, Any], ...]
    """Differences that remain, with the reason."""
    equal: bool
    """Whether every request of the second is one of the first under the normalisers."""

    def as_json(self) -> dict[str, Any]:
        """The report."""
        learned = [{"normalizer": one.spec, "count": one.count, "evidence": one.evidence} for one in self.learned]
        return {"learned": learned, "not_learned": list(self.not_learned), "equal": self.equal}


def learn(compare: Compare) -> Lesson:
    """The fewest normalisers under which the recordings match as far as they can."""
    specs: dict[str, Learned] = {}
    for _ in range(_ROUNDS):
        new = _proposed(_run(compare, specs))
        fresh = {spec: one for spec, one in new.items() if spec not in specs}
        if not fresh:
            break
        specs |= fresh
    left = _left(_run(compare, specs))
    for spec in sorted(specs, key=lambda s: (specs[s].count, s)):
        without = {s: one for s, one in specs.items() if s != spec}
        if _left(_run(compare, without)) == left:
            specs = without
    last = _run(compare, specs)
    refused = tuple(_shown(seen) | {"reason": _reason(seen)} for seen in last.seen if not _was_given(seen, last))
    rows = [row for row in last.placed if row.state in ("added", "removed", "order")]
    calls = tuple(
        {"seq": row.first, "other_seq": row.second, "boundary": row.boundary, "operation": row.operation, "field": "",
         "reason": f"a call that is {row.state}: no normalizer makes it equal"}
        for row in rows[:_MOST]
    )  # fmt: skip
    return Lesson(learned=tuple(specs[s] for s in sorted(specs)), not_learned=refused + calls, equal=not refused and not calls)


def _run(compare: Compare, specs: Iterable[str]) -> Watching:
    made = compare(declared(specs))
    made.compare()
    return made


def _left(made: Watching) -> tuple[int, int]:
    """How much does not match: fields, and calls."""
    fields = sum(not _was_given(seen, made) for seen in made.seen)
    return fields, sum(row.state in ("added", "removed", "order") for row in made.placed)


def _proposed(made: Watching) -> dict[str, Learned]:
    out: dict[str, Learned] = {}
    waiting: dict[str, list[Seen]] = {}
    for seen in made.seen:
        if _was_given(seen, made):
            continue
        specs = list(_specs(seen, made))
        for spec in specs:
            out.setdefault(spec, Learned(spec)).add(seen)
        if not specs and seen.difference.change == "changed":
            waiting.setdefault(seen.field, []).append(seen)
    for name, several in waiting.items():
        if counted([(s.difference.expected, s.difference.received) for s in several]):
            one = out.setdefault(f"numbers:{name}", Learned(f"numbers:{name}"))
            for seen in several:
                one.add(seen)
    return out


def _specs(seen: Seen, made: Watching) -> Iterator[str]:
    """The normalisers that make one difference equal."""
    path = seen.field
    if seen.was is not None and not path.startswith(_NO_SETS) and same_members(seen.was, seen.now, digest_value):
        yield f"unordered:{path.removesuffix('[*]')}"
        return
    if seen.difference.change != "changed":
        return
    was, now = seen.difference.expected, _as_given(seen.difference.received, made)
    if not isinstance(was, str) or not isinstance(now, str):
        return
    kinds = kinds_between(was, now)
    if kinds is not None:
        yield from (f"{kind}:{path}" for kind in kinds)
        return
    pattern = None if is_prose(was) and len(was) > 200 else pattern_between(was, now)
    if pattern is not None:
        yield f"regex:{path}:{pattern}"


def _as_given(value: Any, made: Watching) -> Any:
    """A text of the second run with what it was given as the first was given it."""
    if not isinstance(value, str):
        return value
    for theirs in sorted(made.given, key=len, reverse=True):
        if theirs in value:
            value = value.replace(theirs, made.given[theirs])
    return value


def _was_given(seen: Seen, made: Watching) -> bool:
    """Whether a difference is only that each run was given something else: a replay gives what was recorded."""
    was, now = seen.difference.expected, seen.difference.received
    told = seen.difference.change == "changed" and isinstance(was, str) and isinstance(now, str)
    return told and bool(_as_given(now, made) == was)


def _reason(seen: Seen) -> str:
    difference = seen.difference
    if difference.change != "changed":
        return f"it was {difference.change}: that is a difference of the program"
    if isinstance(difference.expected, bool | int | float):
        return "one number that differs may be an amount: only a counter with another beginning is learned"
    if isinstance(difference.expected, str) and is_prose(difference.expected):
        return "free text: every word of it may mean something"
    return "nothing says that this value is made anew in each run"


def _shown(seen: Seen) -> dict[str, Any]:
    return {
        "seq": seen.seq, "boundary": seen.kind, "operation": seen.operation, "field": seen.difference.path,
        "first": clip(seen.difference.expected), "second": clip(seen.difference.received),
    }  # fmt: skip
