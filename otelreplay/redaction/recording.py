"""The second pass: events under the policy.

Reconstruction decodes what was encoded, joins what was split and gives every content its field, so that path rules are exact
here and detectors see whole texts. Each message is judged once, whatever number of events hold it: the same object in gives
the same object out, and what was found stays with it as marks relative to the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from otelreplay.canonical import Tagged
from otelreplay.events import Event, Failure, Mark, Message, Missing, Note, Recording, Redaction
from otelreplay.events.fields import format_path as render
from otelreplay.redaction.gather import Gatherer
from otelreplay.redaction.jsontext import Path
from otelreplay.redaction.leaves import Judge
from otelreplay.redaction.placeholders import Placeholder, find_placeholders
from otelreplay.redaction.rules import Applied
from otelreplay.redaction.structure import GONE, Findings, Structure
from otelreplay.redaction.untouched import SHARED, Memo, Untouched
from otelreplay.redaction.values import redact_value

_CONTENT: Final = ("name", "agent", "request", "response", "error", "idempotency_key", "versions", "attributes")
"""The fields that may hold text of the run. Ids, order, times and keys are structure."""


class EventPass:
    """One run of the second pass over one recording. Not shared between threads."""

    def __init__(
        self, *, judge: Judge, structure: Structure, rules: Mapping[str, Applied], mails: Mapping[str, str], too_deep: str,
        gatherer: Gatherer,
    ) -> None:  # fmt: skip
        self._judge, self._structure, self._rules, self._mails, self._too_deep = judge, structure, rules, mails, too_deep
        self._memo: Memo = {}
        self._untouched = None
        if not structure:
            self._untouched = Untouched(
                scanner=judge.scanner, gatherer=gatherer, memo=self._memo, careful=lambda item: self._shared(item, ())
            )
        self.found: dict[str, Placeholder] = {}

    def recording(self, recording: Recording) -> Recording:
        """The recording under the policy."""
        events = tuple([self.event(e) for e in recording.events])
        if self._untouched is not None and self._untouched.rest(recording):
            return replace(recording, events=events)
        return replace(
            recording,
            events=events,
            missing=tuple([self._missing(m) for m in recording.missing]),
            notes=tuple([self._note(n) for n in recording.notes]),
            resources=tuple([self._value(r, ())[0] for r in recording.resources]),
            scopes=tuple([self._value(s, ())[0] for s in recording.scopes]),
            continues=self._value(recording.continues, ())[0],
        )

    def event(self, event: Event) -> Event:
        """One event under the policy."""
        done = self._untouched.event(event) if self._untouched is not None else None
        return self._careful(event) if done is None else done

    def _careful(self, event: Event) -> Event:
        update: dict[str, Any] = {}
        marks: list[Mark] = []
        for field in _CONTENT:
            value = getattr(event, field)
            if value is None or value == {}:
                continue
            plain = dict(value) if isinstance(value, Failure) else value
            new, found = self._field(field, plain)
            marks += found
            if new is not plain:
                update[field] = self._back(field, new)
        for extra, value in (event.model_extra or {}).items():
            new, found = self._value(value, (extra,))
            marks += found
            if new is not value:
                update[extra] = new
        redactions = _merged(event.redactions, (m for m in marks if isinstance(m, Redaction)))
        missing = _merged([self._missing(m) for m in event.missing], (m for m in marks if isinstance(m, Missing)))
        if redactions != event.redactions:
            update["redactions"] = redactions
        if missing != event.missing:
            update["missing"] = missing
        return event.model_copy(update=update) if update else event

    @staticmethod
    def _back(field: str, new: Any) -> Any:
        """A dropped field as the model spells absence."""
        if new is GONE:
            return {"request": {}, "versions": {}, "attributes": {}, "name": ""}.get(field)
        if field == "error":
            return Failure.model_validate(new if isinstance(new, dict) else {"message": new})
        return {"redacted": new} if isinstance(new, str) and field not in ("name", "agent", "idempotency_key") else new

    def _field(self, field: str, value: Any) -> tuple[Any, list[Mark]]:
        if field not in ("request", "response") or not any(isinstance(value.get(k), list) for k in SHARED):
            return self._value(value, (field,))
        if self._structure and self._structure.names_whole((field,)):
            return self._value(value, (field,))
        marks: list[Mark] = []
        shared: dict[str, Any] = {}
        for key in SHARED:
            if isinstance(value.get(key), list):
                shared[key], found = self._list(value[key], (field, key))
                marks += found
        rest = {k: v for k, v in value.items() if k not in shared}
        new_rest, found = self._value(rest, (field,))
        marks += found
        if new_rest is rest and all(new is value[k] for k, new in shared.items()):
            return value, marks
        out: dict[str, Any] = {}
        for key in value:
            if key in shared:
                if shared[key] is not GONE:
                    out[key] = shared[key]
            elif key in new_rest:
                out[key] = new_rest[key]
        for key in new_rest:
            out.setdefault(key, new_rest[key])
        return out, marks

    def _list(self, items: list[Any], path: Path) -> tuple[Any, list[Mark]]:
        """A list of shared members: each judged once, unless a rule names the list itself."""
        if self._structure and self._structure.names_whole(path):
            return self._value(items, path)
        marks: list[Mark] = []
        out = []
        for n, item in enumerate(items):
            new, found = self._shared(item, (*path, n))
            out.append(new)
            if not isinstance(new, Message):
                marks += [m.model_copy(update={"field": render((*path, n)) + _joined(m.field)}) for m in found]
        if all(a is b for a, b in zip(out, items, strict=True)):
            return items, marks
        return out, marks

    def _shared(self, item: Any, path: Path) -> tuple[Any, tuple[Mark, ...]]:
        if not isinstance(item, dict):
            new, found = self._value(item, path)
            strip = render(path)
            return new, tuple(m.model_copy(update={"field": m.field.removeprefix(strip).lstrip(".")}) for m in found)
        place = path if self._structure.by_index else path[:-1] if self._structure else ()
        key = (id(item), *place) if place else id(item)
        known = self._memo.get(key)
        if known is None:
            new, marks = self._value(item, (), places=(path,), loose=True)
            if new is GONE:
                new = self._gone_member(path)
                marks = self._marks(new, ())
            if isinstance(item, Message):
                kept = _merged(list(item.marks), marks)
                if new is not item or tuple(kept) != item.marks:
                    new = Message(new if isinstance(new, dict) else {"role": item.get("role", ""), "parts": [new]}, kept)
            known = self._memo[key] = (item, new, tuple(marks))
        return known[1], known[2]

    def _gone_member(self, path: Path) -> str:
        rule = self._structure.rule_at(path)
        return rule.replace("") if rule is not None else self._too_deep

    def _value(
        self, value: Any, path: Path, *, places: tuple[Path, ...] | None = None, loose: bool = False
    ) -> tuple[Any, list[Mark]]:
        """A value under all rules, and the marks for what it holds now."""
        if value is None:
            return value, []
        marks: list[Mark] = []
        new = value
        findings = Findings()
        if self._structure:
            new = self._structure.apply(value, (path,) if places is None else places, findings, path, loose=loose)
            gone = findings.gone
            marks += [
                Missing(
                    field=render(at),
                    cause="redacted",
                    detail=f"removed by rule {rule.id}",
                    remedy="change the rule in the policy and record again",
                )
                for at, rule in gone
            ]
            marks += [Redaction(field=render(at), rule=rule.id, action=rule.action) for at, rule in gone]
            if new is GONE:
                return GONE, marks
        new = findings.restore(redact_value(new, self._judge.judge, path=path, too_deep=self._too_deep))
        return new, marks + self._marks(new, path)

    def _marks(self, value: Any, path: Path) -> list[Mark]:
        """A mark for every placeholder in ``value``."""
        marks: dict[tuple[str, str, str], Mark] = {}
        for at, text in _texts(value, path):
            for seen in find_placeholders(text):
                rule = self._mails.get(seen.rule, seen.rule) if seen.text.endswith(".invalid") else seen.rule
                field = render(at)
                marks.setdefault((field, rule, seen.action), Redaction(field=field, rule=rule, action=seen.action))
                self._note_placeholder(seen.text, rule)
        return list(marks.values())

    def _note_placeholder(self, text: str, rule: str) -> None:
        if text not in self.found:
            known = self._rules.get(rule)
            self.found[text] = Placeholder(text, rule, known.kind if known else "any", known.detector if known else "")

    def _missing(self, mark: Missing) -> Missing:
        detail, remedy = self._value(mark.detail, ())[0], self._value(mark.remedy, ())[0]
        if detail == mark.detail and remedy == mark.remedy:
            return mark
        return mark.model_copy(update={"detail": detail, "remedy": remedy})

    def _note(self, note: Note) -> Note:
        message = self._value(note.message, ())[0]
        return note if message == note.message else replace(note, message=message)


def _texts(value: Any, path: Path) -> Iterable[tuple[Path, str]]:
    """Every text of a value with its path; keys count where their entry is."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            step = key if isinstance(key, str) else str(key)
            yield (*path, step), step
            yield from _texts(item, (*path, step))
    elif isinstance(value, Tagged):
        yield from _texts(dict(value.members), path)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for n, item in enumerate(value):
            yield from _texts(item, (*path, n))
    elif isinstance(value, bytes):
        yield path, value.decode("latin-1")


def _joined(field: str) -> str:
    return field if not field or field.startswith("[") else f".{field}"


def _merged(before: list[Any], new: Iterable[Mark]) -> list[Any]:
    """Marks in order, each once."""
    seen = {m.model_dump_json() for m in before}
    out = list(before)
    for mark in new:
        text = mark.model_dump_json()
        if text not in seen:
            seen.add(text)
            out.append(mark)
    return out
