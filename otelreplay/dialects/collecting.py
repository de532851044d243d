"""What the readers of several conventions have in common: fields are collected, cut and hidden payloads become gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from otelreplay import semconv as sc
from otelreplay.dialects.intern import Interner
from otelreplay.dialects.packages import LENGTH_LIMIT
from otelreplay.dialects.reading import CONTENT_FIELDS, Reading, SpanView
from otelreplay.dialects.toolio import result_of
from otelreplay.dialects.values import ELIDED, failure_of, is_broken, is_cut, whole_members
from otelreplay.dialects.wire import json_of
from otelreplay.events import Inferred, Mark, Missing
from otelreplay.providers import Codec, request_codec, response_codec

HIDDEN = frozenset(ELIDED)
_BODIES: Final[Mapping[str, Callable[[Any], Codec | None]]] = {
    "request.messages": request_codec,
    "response.messages": response_codec,
}
"""Fields that may stand in a whole body: what of it is there whole is read, if it is enough to tell whose body it is."""


class SpanReader:
    """Collects the fields of one span. ``remedy``: the switch of the package that records content."""

    def __init__(self, view: SpanView, kind: str, intern: Interner, *, remedy: str) -> None:
        self.view, self.kind, self.intern, self.attributes, self.remedy = view, kind, intern, view.span.attributes, remedy
        self.fields: dict[str, Any] = {}
        self.taken: set[str] = set()
        self.marks: list[Mark] = []
        self.broken: dict[str, Missing] = {}
        self.texts: dict[str, str] = {}
        self.failed = failure_of(view.span)
        if self.failed:
            self.fields["error"] = self.failed

    def payload(self, attribute: str, field: str, *, is_json: bool = False) -> tuple[bool, Any]:
        """(is it there to be read, the value) of an attribute. What was cut is remembered as the reason of a gap.

        ``is_json``: the package writes nothing but JSON there, so that text that breaks off was cut.
        """
        value = self.attributes.get(attribute)
        if attribute not in self.attributes or (isinstance(value, str) and value in HIDDEN):
            return False, None
        if isinstance(value, str):
            length = self.view.span.lengths.get(attribute, len(value))
            if is_cut(value, self.view.limit, length) or (is_json and is_broken(value)):
                self.cut(attribute, field, length)
                self.texts[field] = value
                body = whole_members(value) if field in _BODIES else {}
                return (True, body) if body and _BODIES[field](body) is not None else (False, None)
        return True, value

    def cut(self, attribute: str, field: str, length: int) -> None:
        """Remember that the attribute which holds a field was cut."""
        detail = f"{attribute} was cut after {length} characters"
        self.broken[field] = Missing(field=field, cause="truncated", detail=detail, remedy=LENGTH_LIMIT)

    def value(self, attribute: str, field: str, *, is_json: bool = False) -> None:
        """Take an attribute as a field: the value behind JSON text, other text as it is."""
        there, value = self.payload(attribute, field, is_json=is_json)
        if not there:
            return
        self.taken.add(attribute)
        self.fields[field] = json_of(value)
        if isinstance(value, str) and field == "response.result":
            self.texts[field] = value

    def result(self, value: Any) -> None:
        """Take what a tool gave; a call's id that stands around it, too."""
        call, got = result_of(value)
        self.fields["response.result"] = got
        if call:
            self.fields.setdefault("request.call_id", call)
        if isinstance(value, str) and not call:
            self.texts["response.result"] = value

    def simple(self, attribute: str, field: str) -> None:
        """Take a plain value, unless there is none or another is there already."""
        value = self.attributes.get(attribute)
        if value not in (None, ""):
            self.taken.add(attribute)
            self.fields.setdefault(field, value)

    def infer(self, fields: Mapping[str, Any], attribute: str, rule: str) -> None:
        """Take fields that are not there yet from an attribute that is not their own."""
        for name, value in fields.items():
            if name not in self.fields:
                self.fields[name] = value
                self.marks.append(Inferred(field=name, source=f"{self.view.span.key}:attributes.{attribute}", rule=rule))

    def give(self, fields: Mapping[str, Any]) -> None:
        """Take fields that are not there yet."""
        for name, value in fields.items():
            self.fields.setdefault(name, value)

    def not_sent(self) -> frozenset[str]:
        """No system prompt and no tools beside recorded messages: none were given, as far as is known."""
        span = self.view.span
        if "request.messages" not in self.fields or span.dropped_attributes_count or span.removed or self.cut_body():
            return frozenset()
        return frozenset({"request.system", "request.tools"} - self.fields.keys() - self.broken.keys())

    def cut_body(self) -> bool:
        """Whether messages were read of a request that breaks off behind them: what else it held is not known."""
        return "request.messages" in self.broken

    def absent(self) -> Iterable[Missing]:
        """Why each content field that was not read is not there."""
        for field in CONTENT_FIELDS.get(self.kind, ()):
            if field in self.fields:
                continue
            cut = self.broken.get(field)
            if cut is None and field in ("request.system", "request.tools"):
                cut = self.broken.get("request.messages")
            gone = next((r for r in self.view.span.removed), None)
            count = self.view.span.dropped_attributes_count
            if cut is not None:
                yield cut.model_copy(update={"field": field})
            elif gone is not None:
                yield Missing(field=field, cause="redacted", detail=f"removed by rule {gone.rule}", remedy="change the policy")
            elif count:
                yield Missing(
                    field=field,
                    cause="attributes_dropped",
                    detail=f"the SDK dropped {count} attributes of this span",
                    remedy="raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT (default 128) where the agent runs",
                )
            else:
                yield Missing(field=field, cause="content_not_captured", remedy=self.remedy)

    def reading(self, dialect: str, name: str, **more: Any) -> Reading:
        """What was collected."""
        return Reading(
            dialect=dialect,
            kind=self.kind,
            name=name,
            fields=self.fields,
            gaps=tuple(self.absent()),
            marks=tuple(self.marks),
            not_sent=self.not_sent(),
            taken=frozenset(self.taken),
            texts=self.texts,
            took_events=frozenset({sc.EXCEPTION_EVENT} if self.failed else ()),
            **more,
        )
