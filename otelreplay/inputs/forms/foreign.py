"""Forms that are known on sight but not read yet: a clear word instead of a pile of refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from otelreplay.errors import TraceFormatError
from otelreplay.inputs.forms.base import Form, Head, Reading
from otelreplay.inputs.source import Source
from otelreplay.spans.model import Batch

ACCEPTED = (
    "accepted are OTLP JSON, OTLP JSON Lines and OTLP protobuf (one message, or length-delimited), exports of Jaeger, Tempo, "
    "Zipkin, Langfuse and Phoenix, and lists of spans as SDKs print them; each also with gzip or zstd"
)
_LOOK = 1 << 16


def _foreign(label: str, *, start: bytes = b"", keys: tuple[str, ...] = (), code: str, advice: str) -> Form:
    """A form that starts with ``start`` and, near its start, has every one of ``keys`` as a JSON key (but no OTLP's)."""
    patterns = [re.compile(b'"' + key.encode() + rb'"[ \t\r\n]*:') for key in keys]

    def sniff(head: Head) -> bool:
        text = head.data[:_LOOK]
        if keys:
            text = text.lstrip(b"\xef\xbb\xbf").lstrip()
            if text[:1] not in (b"{", b"[") or _OTLP.search(text):
                return False
        return text.startswith(start) and all(pattern.search(text) for pattern in patterns)

    def read(_: Source, reading: Reading) -> Iterator[Batch]:
        raise TraceFormatError(f"this is {label}, which is not read", code=code, where=reading.name, next_step=advice)

    return Form(label, sniff, read)


_OTLP = re.compile(rb'"resource_?(?:[Ss]pans|[Ll]ogs|[Mm]etrics)"[ \t\r\n]*:')
_LATER = "export the trace as OTLP instead; " + ACCEPTED


def _export(label: str, *keys: str, start: bytes = b"") -> Form:
    return _foreign(label, keys=keys, start=start, code="input.form_not_read", advice=_LATER)


def _packed(label: str, start: bytes) -> Form:
    advice = "unpack it and give the files in it; " + ACCEPTED
    return _foreign(label, start=start, code="input.form_not_read", advice=advice)


_NAMESPACES = ("gen_ai.", "llm.", "openinference.", "ai.", "langfuse.", "traceloop.", "logfire.", "mlflow.")
_HOLDERS = ("", "[].", "attributes.", "[].attributes.")


def _is_bare(head: Head) -> bool:
    return any(path.startswith(tuple(at + name for name in _NAMESPACES)) for path in head.paths for at in _HOLDERS)


def _refuse_bare(_: Source, reading: Reading) -> Iterator[Batch]:
    raise TraceFormatError(
        "these are attributes of a span without its trace id and span id, so that it is of no run",
        code="input.no_ids",
        where=reading.name,
        next_step="export whole spans: ids, parent, times and attributes",
    )


_WITHOUT_IDS = Form("attributes of a span", _is_bare, _refuse_bare)

FOREIGN: tuple[Form, ...] = (
    _foreign(
        "an otelreplay cassette",
        keys=("type", "format", "run_id"),
        code="input.is_cassette",
        advice="look at it with `otelreplay show`; there is nothing to convert",
    ),
    _export("a Temporal event history", "events", "eventType"),
    _export("a LangSmith export of runs", "run_type", "dotted_order"),
    _WITHOUT_IDS,
    _packed("a zip archive", b"PK\x03\x04"),
    _packed("an xz file", b"\xfd7zXZ"),
    _packed("a bzip2 file", b"BZh"),
    _export("a Parquet file", start=b"PAR1"),
    _export("an SQLite database", start=b"SQLite format 3"),
    _foreign("UTF-16 text", start=b"\xff\xfe", code="input.form_not_read", advice="save it as UTF-8; " + ACCEPTED),
    _foreign("UTF-16 text", start=b"\xfe\xff", code="input.form_not_read", advice="save it as UTF-8; " + ACCEPTED),
)
