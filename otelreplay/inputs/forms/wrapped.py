"""OTLP JSON as tracing backends answer with it: Tempo (``batches``, ``trace``) and Jaeger's API v3 (``result``).

The groups are OTLP's, inside of another object and partly under the names of old protocol versions; ids may be base64, as a
generic protobuf-to-JSON tool writes bytes. Source: Tempo's ``GET /api/traces/{id}`` and ``/api/v2/traces/{id}``; Jaeger's
``api_v3/query_service.proto``, whose HTTP gateway streams ``{"result": …}`` objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otelreplay.inputs import loose
from otelreplay.inputs.documents import DocumentReader
from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.gather import Gather
from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.jsonscan import ScanError, Scanner
from otelreplay.inputs.source import Source
from otelreplay.spans.model import Batch

_OLD_NAMES = {
    "batches": "resourceSpans",
    "instrumentationLibrarySpans": "scopeSpans",
    "instrumentationLibrary": "scope",
}
_TEMPO = ("batches[].scopeSpans", "batches[].instrumentationLibrarySpans", "batches[].resource", "batches[].ilSpans")
_GROUPS = ("resourceSpans", "batches", "resource_spans")


class _Reader(DocumentReader):
    """Reads through the wrapping, and the names and ids of old."""

    wrappers = frozenset({"trace", "result"})

    def _name(self, written: str) -> str:
        return _OLD_NAMES.get(written) or super()._name(written)

    def _decode(self, text: bytes) -> Any:
        value = super()._decode(text)
        return _with_hex_ids(value) if isinstance(value, dict) and _is_record(value) else value

    def _unknown(self, name: str) -> None:
        """Tempo says so when a trace was too large to be given whole (``"status": "PARTIAL"``)."""
        if name == "status" and b"PARTIAL" in self._skip():
            self._gather.refuse("status", "the backend gave a part of the trace only: it was too large")
        elif name != "status":
            super()._unknown(name)


def _is_record(value: dict[str, Any]) -> bool:
    return "traceId" in value or "trace_id" in value


def _with_hex_ids(value: dict[str, Any]) -> dict[str, Any]:
    """The record with its ids in hex, those of its links too; what is no id stays, and is refused under its reason."""
    found = dict(value)
    for names, width in ((("traceId", "trace_id"), 32), (("spanId", "span_id", "parentSpanId", "parent_span_id"), 16)):
        for name in names:
            if isinstance(text := value.get(name), str):
                found[name] = _hex(text, width)
    if isinstance(links := value.get("links"), list):
        found["links"] = [_with_hex_ids(link) if isinstance(link, dict) else link for link in links]
    return found


def _hex(text: str, width: int) -> str:
    if not loose.parent_id_given(text):
        return ""
    try:
        return loose.any_id(text, width, "")
    except RefusedError:
        return text


def _read(source: Source, reading: Reading) -> Iterator[Batch]:
    gather = Gather(reading.name, reading.tally)
    scanner = Scanner(source, reading.max_record)
    reader = _Reader(scanner, gather, reading.recognise)
    while scanner.peek() != -1:
        start = source.offset
        try:
            yield from reader.documents("")
        except ScanError as error:
            gather.refuse(f"byte {error.at}", f"the document, which starts at byte {start}, is broken: {error.why}")
            source.skip_line()
        yield from gather.drain()


def _is_tempo(head: Head) -> bool:
    paths = head.paths
    return not paths.isdisjoint({*_TEMPO, *(f"trace.{group}" for group in _GROUPS), *(f"trace.{path}" for path in _TEMPO)})


def _is_jaeger(head: Head) -> bool:
    return not head.paths.isdisjoint(f"{before}result.{group}" for group in _GROUPS for before in ("", "[]."))


TEMPO = Form("a Tempo trace", _is_tempo, _read)
JAEGER_V3 = Form("a trace of Jaeger's API v3", _is_jaeger, _read)
