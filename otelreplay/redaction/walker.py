"""The walk over a span or a log record: every place where text can hide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from otelreplay.redaction.keys import sense
from otelreplay.redaction.leaves import Judge, cut_back
from otelreplay.redaction.quick import Quick, is_short
from otelreplay.redaction.rules import Applied
from otelreplay.redaction.scan import SMALL, Scanner
from otelreplay.redaction.structure import FIELDS, GONE, Findings, Structure, replaced
from otelreplay.redaction.values import redact_value
from otelreplay.spans import Attributes, Link, LogRecord, Removal, Resource, Scope, Span, SpanEvent


class Walker:
    """Applies one compiled policy to wire values. Returns the same object where nothing changed."""

    def __init__(
        self,
        *,
        scanner: Scanner,
        judge: Judge,
        structure: Structure,
        attributes: Sequence[tuple[re.Pattern[str], Applied]],
        lost: Applied,
    ) -> None:
        self._scanner, self._judge, self._structure = scanner, judge, structure
        self._attribute_rules = list(attributes)
        self._plain: set[str] = set()
        self._short: set[tuple[str, ...]] = set()
        self._by_name: dict[str, Applied | None] = {}
        self._lost = lost
        self._mark = lost.replace("")
        self._quick = None if structure else Quick(scanner, self._plain, self._short, self._mark)
        self._resources: dict[int, tuple[Resource, Resource, tuple[Removal, ...]]] = {}
        self._scopes: dict[int, tuple[Scope, Scope, tuple[Removal, ...]]] = {}

    def span(self, span: Span) -> Span:
        """The span under the policy."""
        if self._quick is not None and self._is_simple(span):
            quick = self._quick.attributes(span.attributes, (span.name, span.status_message, span.trace_state))
            if quick is not None:
                return span if quick is span.attributes else msgspec.structs.replace(span, attributes=quick)
        return self._careful(span)

    def _is_simple(self, span: Span) -> bool:
        """No events and links, and a resource and a scope that are known to stay as they are."""
        if span.events or span.links:
            return False
        resource, scope = self._resources.get(id(span.resource)), self._scopes.get(id(span.scope))
        return (
            resource is not None and resource[0] is span.resource and resource[1] is span.resource
            and scope is not None and scope[0] is span.scope and scope[1] is span.scope
        )  # fmt: skip

    def _careful(self, span: Span) -> Span:
        gone: list[Removal] = []
        attributes = self._attributes(span.attributes, "attributes", gone)
        events = self._events(span.events, gone)
        links = tuple([self._link(link, n, gone) for n, link in enumerate(span.links)])
        resource, scope = self._resource(span.resource, gone), self._scope(span.scope, gone)
        name, status = self._text(span.name, "name", gone), self._text(span.status_message, "status_message", gone)
        state = self._text(span.trace_state, "trace_state", gone)
        same = (
            attributes is span.attributes and resource is span.resource and scope is span.scope and name == span.name
            and status == span.status_message and state == span.trace_state and not gone
            and all(a is b for a, b in zip((*events, *links), (*span.events, *span.links), strict=True))
        )  # fmt: skip
        if same:
            return span
        return msgspec.structs.replace(
            span, name=name, attributes=attributes, events=events, links=links, resource=resource, scope=scope,
            status_message=status, trace_state=state, removed=_together(span.removed, gone),
        )  # fmt: skip

    def log(self, record: LogRecord) -> LogRecord:
        """The log record under the policy."""
        gone: list[Removal] = []
        body = self._entry("body", record.body, "body", gone)
        attributes = self._attributes(record.attributes, "attributes", gone)
        resource, scope = self._resource(record.resource, gone), self._scope(record.scope, gone)
        name, severity = (
            self._text(record.event_name, "event_name", gone),
            self._text(record.severity_text, "severity_text", gone),
        )
        if (
            body is record.body and attributes is record.attributes and resource is record.resource and scope is record.scope
            and name == record.event_name and severity == record.severity_text and not gone
        ):  # fmt: skip
            return record
        return msgspec.structs.replace(
            record, body=None if body is GONE else body, attributes=attributes, resource=resource, scope=scope, event_name=name,
            severity_text=severity, removed=_together(record.removed, gone),
        )  # fmt: skip

    def _attributes(self, attributes: Attributes, at: str, gone: list[Removal]) -> Attributes:
        """The same dict where nothing changed; entries that are dropped leave a Removal."""
        out: Attributes | None = None
        again: dict[str, int] = {}
        plain, clean, short = self._plain, self._scanner.seen, self._short
        for name, value in attributes.items():
            if name in plain:
                kind = type(value)
                if kind is str:
                    new = clean.get(value)
                    if new is None:
                        new = self._scanner.text(value)
                    if new == value:
                        if out is not None:
                            out[name] = value
                        continue
                elif (
                    kind is bool
                    or ((kind is int or kind is float) and -SMALL < value < SMALL)
                    or (kind is list and is_short(value) and (name, *value) in short)
                ):
                    if out is not None:
                        out[name] = value
                    continue
            new_name = self._name(name)
            new = self._entry(name, value, f"{at}.{new_name}", gone)
            if new is value and name in plain and type(value) is list and is_short(value) and len(short) < 10_000:
                short.add((name, *value))
            if out is None:
                if new is value and new_name == name:
                    continue
                out = {}
                for done in attributes:
                    if done == name:
                        break
                    out[done] = attributes[done]
            if new is not GONE:
                out[_free(new_name, out, again)] = new
        return attributes if out is None else out

    def _name(self, name: str) -> str:
        """The name under the policy; a name about which no rule and no detector has anything to say is remembered as plain."""
        new = self._scanner.text(name)
        if (
            new == name
            and not self._structure
            and not sense(name)
            and self._rule_of(name) is None
            and len(self._plain) < 10_000
        ):
            self._plain.add(name)
        return new

    def _entry(self, name: str, value: Any, at: str, gone: list[Removal]) -> Any:
        """One attribute: rules by name, then rules by path, then detectors."""
        rule = self._rule_of(name)
        if rule is not None:
            if rule.action == "drop":
                gone.append(Removal(at, rule.id, "drop"))
                return GONE
            return value if rule.action == "keep" else replaced(value, rule)
        if self._structure:
            found = Findings()
            shown = self._structure.apply(value, self._structure.places(name), found)
            gone += [Removal(_at(at, path), r.id, r.action) for path, r in found.gone]
            return GONE if shown is GONE else found.restore(self._detect(name, shown, at, gone))
        return self._detect(name, value, at, gone)

    def _detect(self, name: str, value: Any, at: str, gone: list[Removal]) -> Any:
        """What the detectors leave of a value."""
        if isinstance(value, str):
            new: Any = self._scanner.entry(name, value)
            new = value if new == value else new
        elif value is None or isinstance(value, bool):
            return value
        else:
            new = redact_value(value, self._judge.judge, path=(name,), too_deep=self._mark)
        if new is not value and self._mark in str(new):
            gone.append(Removal(at, self._lost.id, self._lost.action))
        return new

    def _rule_of(self, name: str) -> Applied | None:
        if not self._attribute_rules:
            return None
        if name not in self._by_name:
            if len(self._by_name) > 10_000:
                self._by_name.clear()
            self._by_name[name] = next((rule for pattern, rule in self._attribute_rules if pattern.match(name)), None)
        return self._by_name[name]

    def _events(self, events: tuple[SpanEvent, ...], gone: list[Removal]) -> tuple[SpanEvent, ...]:
        if len(events) > 1:
            events = self._pieces(events)
        return tuple([self._event(event, n, gone) for n, event in enumerate(events)])

    def _pieces(self, events: tuple[SpanEvent, ...]) -> tuple[SpanEvent, ...]:
        """A text streamed as one event a chunk: attributes of one name, judged joined."""
        names = {n for e in events for n, v in e.attributes.items() if isinstance(v, str) and len(v) < 4096}
        for name in sorted(names):
            held = [n for n, e in enumerate(events) if isinstance(e.attributes.get(name), str)]
            pieces = [events[n].attributes[name] for n in held]
            if len(held) < 2 or self._scanner.clean("".join(pieces)):
                continue
            after = cut_back(pieces, self._scanner.edits("".join(pieces)), self._scanner.edits)
            new = {n: piece for n, piece, old in zip(held, after, pieces, strict=True) if piece != old}
            events = tuple(
                [
                    msgspec.structs.replace(e, attributes={**e.attributes, name: new[n]}) if n in new else e
                    for n, e in enumerate(events)
                ]
            )
        return events

    def _event(self, event: SpanEvent, n: int, gone: list[Removal]) -> SpanEvent:
        attributes = self._attributes(event.attributes, f"events[{n}].attributes", gone)
        name = self._text(event.name, f"events[{n}].name", gone)
        if attributes is event.attributes and name == event.name:
            return event
        return msgspec.structs.replace(event, name=name, attributes=attributes)

    def _link(self, link: Link, n: int, gone: list[Removal]) -> Link:
        attributes = self._attributes(link.attributes, f"links[{n}].attributes", gone)
        state = self._text(link.trace_state, f"links[{n}].trace_state", gone)
        if attributes is link.attributes and state == link.trace_state:
            return link
        return msgspec.structs.replace(link, trace_state=state, attributes=attributes)

    def _resource(self, resource: Resource, gone: list[Removal]) -> Resource:
        """Spans of a batch share their resource object: judged once."""
        known = self._resources.get(id(resource))
        if known is None or known[0] is not resource:
            found: list[Removal] = []
            attributes = self._attributes(resource.attributes, "resource.attributes", found)
            new = resource if attributes is resource.attributes else msgspec.structs.replace(resource, attributes=attributes)
            if len(self._resources) > 256:
                self._resources.clear()
            known = self._resources[id(resource)] = (resource, new, tuple(found))
        gone += known[2]
        return known[1]

    def _scope(self, scope: Scope, gone: list[Removal]) -> Scope:
        known = self._scopes.get(id(scope))
        if known is None or known[0] is not scope:
            found: list[Removal] = []
            attributes = self._attributes(scope.attributes, "scope.attributes", found)
            texts = [self._scanner.text(t) for t in (scope.name, scope.version, scope.schema_url)]
            same = attributes is scope.attributes and texts == [scope.name, scope.version, scope.schema_url]
            new = scope if same else Scope(name=texts[0], version=texts[1], attributes=attributes, schema_url=texts[2])
            if len(self._scopes) > 256:
                self._scopes.clear()
            known = self._scopes[id(scope)] = (scope, new, tuple(found))
        gone += known[2]
        return known[1]

    def _text(self, text: str, at: str, gone: list[Removal]) -> str:
        if not text:
            return text
        if self._structure and at in FIELDS:
            found = Findings()
            shown = self._structure.apply(text, self._structure.places(at), found)
            gone += [Removal(at, r.id, r.action) for _, r in found.gone]
            return "" if shown is GONE else str(found.restore(self._scan(str(shown), at, gone)))
        return self._scan(text, at, gone)

    def _scan(self, text: str, at: str, gone: list[Removal]) -> str:
        new = self._scanner.text(text)
        if new is not text and self._mark in new:
            gone.append(Removal(at, self._lost.id, self._lost.action))
        return new


def _together(before: tuple[Removal, ...], new: list[Removal]) -> tuple[Removal, ...]:
    return (*before, *(r for r in dict.fromkeys(new) if r not in before))


def _at(at: str, path: tuple[str | int, ...]) -> str:
    return at + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path)


def _free(name: str, taken: Attributes, next_: dict[str, int]) -> str:
    """A name that nothing has yet. ``next_``: where to go on for a name that many have."""
    if name not in taken:
        return name
    n = next_.get(name, 2)
    while f"{name} {n}" in taken:
        n += 1
    next_[name] = n + 1
    return f"{name} {n}"
