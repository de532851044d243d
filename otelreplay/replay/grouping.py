"""Failures of many replays, grouped by where each first parted from its recording. Pure.

Two failures are of one group if code, boundary, operation and path of their first divergence are equal, indexes and ids aside:
the same fault shows at another place of the history in each run. A group is told by what all of its runs have in common, and by
what of that no passing run has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from otelreplay.canonical import digest_value
from otelreplay.cassette.read import Cassette
from otelreplay.events import Event
from otelreplay.matching import component_keys
from otelreplay.redaction import find_placeholders

_INDEX: Final = re.compile(r"\[\d+\]")
_ID: Final = re.compile(
    r"(?i)(?<![0-9a-z])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=[a-z]*\d)[0-9a-f]{8,}|\d{3,})(?![0-9a-z])"
)
_NAMELESS: Final = frozenset({"model", "embeddings"})
"""Boundaries whose operation holds the model's name, which is a feature of the run and not of the fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a run can have in common with another."""

    features: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """agent, model, tool, provider, service, version, prompt, scope, policy."""
    began: int | None = None
    """Nanoseconds since 1970."""
    events: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One cassette and what its replay came to."""

    name: str
    exit_code: int
    outcome: str
    first: Mapping[str, Any] | None = None
    """The first divergence."""
    code: str = ""
    """Of the error that it ended with, where there was no replay."""
    problem: str = ""
    reproduce: str = ""
    facts: Facts = Facts()

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the failures of one group share."""
        first = self.first
        if first is None:
            return (self.code or self.outcome, "", "", "")
        boundary = str(first.get("boundary") or "")
        operation = "" if boundary in _NAMELESS else str(first.get("operation") or "")
        path = _INDEX.sub("[*]", str(first.get("path") or ""))
        return (str(first.get("code")), boundary, _without_ids(operation), _without_ids(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Failures with one first cause."""

    code: str
    boundary: str
    operation: str
    path: str
    cases: tuple[Case, ...]
    common: Mapping[str, tuple[str, ...]]
    """Feature → the values that all of its runs have."""
    telling: Mapping[str, tuple[str, ...]]
    """Of these, the values that no passing run has."""
    began: tuple[int, int] | None
    """When the first and the last of its runs began."""
    alone_in_time: bool
    """No passing run began between these."""

    @property
    def representative(self) -> Case:
        """The one to reproduce it with: the shortest run."""
        return min(self.cases, key=lambda case: (case.facts.events, case.name))

    def as_json(self) -> dict[str, Any]:
        """The shape of an entry of ``groups``."""
        one = self.representative
        return {
            "code": self.code, "boundary": self.boundary, "operation": self.operation, "path": self.path,
            "count": len(self.cases), "cassettes": [case.name for case in self.cases],
            "common": {name: list(values) for name, values in self.common.items()},
            "telling": {name: list(values) for name, values in self.telling.items()},
            "began": None if self.began is None else [str(at) for at in self.began], "alone_in_time": self.alone_in_time,
            "representative": one.name, "reproduce": one.reproduce, "problem": one.problem, "first_divergence": one.first,
        }  # fmt: skip


def grouped(cases: Iterable[Case]) -> list[Group]:
    """The groups of the cases that failed, the largest first."""
    cases = list(cases)
    passing = [case.facts for case in cases if case.exit_code == 0]
    found: dict[tuple[str, str, str, str], list[Case]] = {}
    for case in cases:
        if case.exit_code:
            found.setdefault(case.key, []).append(case)
    groups = [_group(key, members, passing) for key, members in found.items()]
    return sorted(groups, key=lambda group: (-len(group.cases), group.code, group.path, group.operation))


def _group(key: tuple[str, str, str, str], members: Sequence[Case], passing: Sequence[Facts]) -> Group:
    code, boundary, operation, path = key
    facts = [case.facts for case in members]
    names = dict.fromkeys(name for f in facts for name in f.features)
    common = {
        name: tuple(sorted(frozenset.intersection(*(f.features.get(name, frozenset()) for f in facts)))) for name in names
    }
    common = {name: values for name, values in common.items() if values}
    known = {name: {v for f in passing for v in f.features.get(name, ())} for name in common}
    telling = {name: tuple(v for v in values if v not in known[name]) for name, values in common.items()} if passing else {}
    times = [f.began for f in facts if f.began is not None]
    began = (min(times), max(times)) if times else None
    others = [f.began for f in passing if f.began is not None]
    alone = began is not None and bool(others) and not any(began[0] <= at <= began[1] for at in others)
    return Group(
        code=code, boundary=boundary, operation=operation, path=path, cases=tuple(sorted(members, key=lambda c: c.name)),
        common=common, telling={name: values for name, values in telling.items() if values}, began=began, alone_in_time=alone,
    )  # fmt: skip


def facts_of(cassette: Cassette) -> Facts:
    """What a cassette says of its run."""
    found: dict[str, set[str]] = {}

    def add(name: str, value: Any) -> None:
        if isinstance(value, str | int | float) and value not in ("", None):
            found.setdefault(name, set()).add(str(value))

    for event in cassette.events:
        _of_event(event, add)
    for resource in cassette.header.resources:
        for name, attribute in (
            ("service", "service.name"),
            ("version", "service.version"),
            ("place", "deployment.environment.name"),
        ):
            add(name, resource.get(attribute))
    for scope in cassette.header.scopes:
        add("scope", scope)
    add("policy", (cassette.header.policy or {}).get("name"))
    starts = [int(e.start) for e in cassette.events if e.start]
    features = {name: frozenset(values) for name, values in sorted(found.items())}
    return Facts(features=features, began=min(starts, default=None), events=len(cassette.events))


def _of_event(event: Event, add: Any) -> None:
    if event.kind in ("agent", "tool", "retrieval"):
        add(event.kind, event.name)
    if event.kind in _NAMELESS:
        add("model", event.request.get("model"))
        add("provider", event.request.get("provider"))
    if event.request.get("system"):
        add("prompt", component_keys(event).get("system", "")[7:15])
    for name, value in event.versions.items():
        add(f"{name} version", value if isinstance(value, str | int | float) else digest_value(value)[7:15])


def _without_ids(text: str) -> str:
    for seen in reversed(find_placeholders(text)):
        text = f"{text[: seen.start]}<{seen.rule}>{text[seen.end :]}"
    return _ID.sub("#", text)
