"""OTLP JSON documents walked record by record: memory for one record, and one bad record costs no other.

The slow and lenient way, for documents too large to decode whole and for text that ``typed`` gives up on.

Theory of operation. In OTLP JSON a record's resource and scope are usually written before it, its schema URL after it, and
nothing promises even that. So the records of an element (one ResourceSpans or ResourceLogs) are held as text until the element
ends. An element that grows beyond ``_HOLD`` hands on what it holds as soon as resource and scope are known; a schema URL that
comes after that is not applied (and counted).
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from otelreplay.errors import LimitError
from otelreplay.inputs import records, typed
from otelreplay.inputs.decoding import decoded
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.jsonscan import ScanError, Scanner, TooLargeError
from otelreplay.inputs.source import Source
from otelreplay.spans.model import Batch, Resource, Scope

_HOLD = 8 << 20
_OVERHEAD = 100
"""Bytes that a held record takes beside its text."""
_SMALLEST_SPAN = 60
"""No span is shorter: its ids alone take more."""
_IDS = frozenset({"traceId", "trace_id", "spanId", "span_id"})
_INSIDE = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
_Part = TypeVar("_Part", Resource, Scope)


class _Held:
    """One scope group: its records as text, each with its number."""

    def __init__(self) -> None:
        self.scope: Scope | None = None
        self.schema_url = ""
        self.where = ""
        """Where its records stand."""
        self.items: list[tuple[int, bytes]] = []


class _Element:
    """One ResourceSpans or ResourceLogs while it is walked."""

    def __init__(self, signal: str) -> None:
        self.signal = signal
        self.resource: Resource | None = None
        self.schema_url = ""
        self.groups: list[_Held] = []
        self.size = 0
        self.handed_on = False

    @property
    def known(self) -> bool:
        """True when every record held so far has its resource and its scope."""
        return self.resource is not None and all(group.scope is not None for group in self.groups)


class DocumentReader:
    """Reads documents from a scanner into a gather."""

    wrappers: ClassVar[frozenset[str]] = frozenset()
    """Members of a document that hold the document proper."""

    def __init__(self, scanner: Scanner, gather: Gather, on_recognised: Callable[[], None]) -> None:
        """``on_recognised`` is called for each document that is OTLP's, as soon as that is clear."""
        self._scan, self._gather, self._tally = scanner, gather, gather.tally
        self._on_recognised = on_recognised

    def documents(self, where: str) -> Iterator[Batch]:
        """The document in front, or the array of documents in front.

        ScanError where the text breaks off; whatever was whole before is in the gather then. ``where`` goes before the path.
        """
        if self._scan.peek() != ord("["):
            yield from self._document(where)
            return
        for index in self._scan.elements():
            yield from self._document(f"{where}[{index}].")

    def _document(self, where: str) -> Iterator[Batch]:
        known, empty = False, True
        for written in self._scan.members():
            name, empty = self._name(written), False
            if name in _INSIDE:
                known = True
                self._on_recognised()
                for index in self._elements(f"{where}{written}"):
                    yield from self._element(name, f"{where}{written}[{index}]")
            elif name == "resourceMetrics":
                known = True
                self._on_recognised()
                for _ in self._elements(f"{where}{written}"):
                    self._count_metrics()
            elif written in self.wrappers and self._scan.peek() == ord("{"):
                known = True
                yield from self._document(f"{where}{written}.")
            else:
                self._unknown(written)
        if empty:  # an empty request
            self._on_recognised()
        elif not known:
            self._gather.refuse(where.rstrip(": ."), "it holds no resourceSpans, resourceLogs or resourceMetrics")

    def _unknown(self, name: str) -> None:  # noqa: ARG002 - for other spellings of OTLP JSON
        """A member of a document that is none of OTLP's stands in front."""
        self._skip()

    def _element(self, signal: str, where: str) -> Iterator[Batch]:
        element = _Element(signal)
        groups = _INSIDE[signal][0]
        try:
            for written in self._object(where):
                name = self._name(written)
                if name == "resource":
                    element.resource = self._gather.resource(self._part(f"{where}.{written}", records.resource, Resource()))
                elif name == groups:
                    for index in self._elements(f"{where}.{written}"):
                        yield from self._group(element, f"{where}.{written}[{index}]")
                elif name == "schemaUrl":
                    element.schema_url = self._url(element)
                else:
                    self._skip()
        finally:
            self._hand_on(element)
        if self._gather.full:
            yield self._gather.batch()

    def _group(self, element: _Element, where: str) -> Iterator[Batch]:
        held = _Held()
        element.groups.append(held)
        for written in self._object(where):
            name = self._name(written)
            if name == "scope":
                held.scope = self._part(f"{where}.{written}", lambda value, tally: records.scope(value, "", tally), Scope())
            elif name == _INSIDE[element.signal][1]:
                held.where = f"{where}.{written}"
                for index in self._elements(held.where):
                    self._hold(element, held, index)
                    if element.size > _HOLD and element.known:
                        self._hand_on(element)
                        element.handed_on = True
                    if self._gather.full:
                        yield self._gather.batch()
            elif name == "schemaUrl":
                held.schema_url = self._url(element)
            else:
                self._skip()
        held.scope = held.scope or Scope()
        if not held.items:  # however many empty ones there are
            element.groups.remove(held)

    def _hold(self, element: _Element, held: _Held, index: int) -> None:
        try:
            text = self._scan.raw()
        except TooLargeError as error:
            self._gather.refuse(f"{held.where}[{index}]", str(error))
            return
        if element.signal == "resourceSpans" and len(text) < _SMALLEST_SPAN:
            self._record(element.signal, text, Resource(), Scope(), (held.where, index))  # refused whatever it belongs to
            return
        held.items.append((index, text))
        element.size += len(text) + _OVERHEAD
        if element.size > self._scan.limit:
            raise LimitError(
                f"more than {self._scan.limit} bytes of records stand before their resource or scope",
                code="input.limit",
                where=f"{self._gather.name}: {held.where}",
                next_step="write resource and scope before the records, or split the file",
            )

    def _hand_on(self, element: _Element) -> None:
        """Decode what is held. The groups stay: the last one may go on."""
        of = element.resource or Resource()
        for group in element.groups:
            found = group.scope or Scope()
            url = group.schema_url or element.schema_url
            by = self._gather.scope(Scope(found.name, found.version, found.attributes, url))
            for index, text in group.items:
                self._gather.weight += len(text)
                self._record(element.signal, text, of, by, (group.where, index))
            group.items = []
        del element.groups[:-1]
        element.size = 0

    def _record(self, signal: str, text: bytes, of: Resource, by: Scope, place: tuple[str, int]) -> None:
        gather, value = self._gather, None
        try:
            if signal == "resourceSpans":
                try:
                    gather.spans.append(typed.take_span(text, of, by, self._tally))
                except typed.NotPlainError:
                    value = self._decode(text)
                    gather.spans.append(records.span(value, of, by, self._tally))
            else:
                try:
                    gather.logs.append(typed.take_log(text, of, by, self._tally))
                except typed.NotPlainError:
                    value = self._decode(text)
                    gather.logs.append(records.log(value, of, by, self._tally))
        except RefusedError as refused:
            ids = records.ids_of(value) if value is not None else self._ids(text)
            which = f" (span {ids[1]})" if ids[1] and signal == "resourceSpans" else ""
            gather.refuse(f"{place[0]}[{place[1]}]{which}", str(refused), ids)

    def _ids(self, text: bytes) -> tuple[str, str]:
        """Trace id and span id of a record that cannot be decoded as a whole, as far as they can be read."""
        found: dict[str, Any] = {}
        scanner = Scanner(Source(io.BytesIO(text), name=""), self._scan.limit)
        try:
            for name in scanner.members():
                raw = scanner.raw()
                if name in _IDS:
                    found[name] = self._decode(raw)
        except (ScanError, TooLargeError, RefusedError):
            pass
        return records.ids_of(found)

    def _decode(self, text: bytes) -> Any:
        return decoded(text, self._tally)

    def _part(self, where: str, read: Callable[[Any, Any], _Part], instead: _Part) -> _Part:
        try:
            return read(self._decode(self._scan.raw()), self._tally)
        except (RefusedError, TooLargeError) as refused:
            self._gather.refuse(where, str(refused))
            return instead

    def _url(self, element: _Element) -> str:
        try:
            found = self._decode(self._scan.raw())
        except (RefusedError, TooLargeError):
            return ""
        if found and element.handed_on:
            self._tally.note("schema_url_after_records")
        return found if isinstance(found, str) else ""

    def _count_metrics(self) -> None:
        for written in self._object(""):
            if self._name(written) != "scopeMetrics":
                self._skip()
                continue
            for _ in self._elements(""):
                for inner in self._object(""):
                    if self._name(inner) != "metrics":
                        self._skip()
                        continue
                    for _ in self._elements(""):
                        self._skip()
                        self._tally.note("metrics_skipped")

    def _name(self, written: str) -> str:
        name = records.camel(written)
        if name != written:
            self._tally.note("snake_case")
        return name

    def _object(self, where: str) -> Iterator[str]:
        """Members of the object in front; anything else is passed over, and refused unless it is null."""
        if self._scan.peek() == ord("{"):
            yield from self._scan.members()
        else:
            self._refuse_unless_null(where, "it is not an object")

    def _elements(self, where: str) -> Iterator[int]:
        if self._scan.peek() == ord("["):
            yield from self._scan.elements()
        else:
            self._refuse_unless_null(where, "it is not a list")

    def _refuse_unless_null(self, where: str, reason: str) -> None:
        if self._skip() != b"null":
            self._gather.refuse(where or "a metric", reason)

    def _skip(self) -> bytes:
        try:
            return self._scan.raw()
        except TooLargeError:
            return b""
