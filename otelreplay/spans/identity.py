"""When are two spans, or two log records, the same one?

A span's identity is (trace id, span id). Copies that differ are settled by three rules, so that the order of arrival never
decides: one that ended beats one that did not; one whose attributes include the other's beats it; then the lowest canonical
digest. The losers are kept beside the winner.

A log record has no id. It is the same record when every byte of it is (both times included). Two equal records in one request
are two records: :func:`mark_twins` numbers them there, before a request can be split, so that a redelivery adds none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from otelreplay import canonical
from otelreplay.spans.model import LogRecord, Span

_pack = msgspec.msgpack.Encoder(order="sorted").encode
_pack_as_given = msgspec.msgpack.Encoder().encode


def fingerprint(item: Span | LogRecord) -> bytes:
    """32 bytes that are equal for equal items, whatever the order of their attributes."""
    try:
        packed = _pack(item)
    except (UnicodeEncodeError, OverflowError):  # lone surrogates, huge integers: rare, so the slow total way
        packed = canonical.jcs(msgspec.structs.asdict(item) | {"scope": repr(item.scope), "resource": repr(item.resource)})
    return hashlib.sha256(packed).digest()


def as_given(item: Any) -> bytes:
    """Bytes that are equal for items that are equal in everything, the order of their attributes included."""
    try:
        return _pack_as_given(item)
    except (UnicodeEncodeError, OverflowError):
        return repr(item).encode("utf-8", "surrogatepass")


def mark_twins(logs: Sequence[LogRecord]) -> tuple[LogRecord, ...]:
    """The records of one request, with equal ones numbered."""
    if len(logs) < 2:
        return tuple(logs)
    seen: dict[bytes, int] = {}
    out = []
    for record in logs:
        key = fingerprint(record)
        twin = seen.get(key, 0)
        seen[key] = twin + 1
        out.append(msgspec.structs.replace(record, twin=twin) if twin else record)
    return tuple(out)


def unify_logs(logs: Iterable[LogRecord]) -> list[LogRecord]:
    """Each record once, in order of time, then of content."""
    found: dict[bytes, LogRecord] = {}
    for record in logs:
        key = fingerprint(record)
        old = found.get(key)
        if old is None or as_given(record) < as_given(old):
            found[key] = record
    return [record for _, record in sorted(found.items(), key=lambda kv: (kv[1].time or kv[1].observed_time, kv[0]))]


class Identified(msgspec.Struct, frozen=True):
    """One span, and the differing copies that lost to it."""

    span: Span
    losers: tuple[Span, ...] = ()


def unify_spans(spans: Iterable[Span]) -> list[Identified]:
    """Each span once, in order of start, then of id."""
    by_key: dict[str, list[Span]] = {}
    for span in spans:
        by_key.setdefault(span.key, []).append(span)
    found = [Identified(copies[0]) if len(copies) == 1 else _settle(copies) for copies in by_key.values()]
    return sorted(found, key=lambda i: (i.span.start, i.span.trace_id, i.span.span_id))


def _settle(copies: list[Span]) -> Identified:
    distinct: dict[bytes, Span] = {}
    for span in copies:
        key = fingerprint(span)
        old = distinct.get(key)
        if old is None or as_given(span) < as_given(old):
            distinct[key] = span
    ranked = sorted(distinct.items(), key=lambda kv: (not kv[1].end, -_breadth(kv[1], distinct.values()), kv[0]))
    return Identified(ranked[0][1], tuple(span for _, span in ranked[1:]))


def _breadth(span: Span, others: Iterable[Span]) -> int:
    """How many of the copies this one includes."""
    mine = span.attributes
    return sum(all(k in mine and mine[k] == v for k, v in other.attributes.items()) for other in others)


def with_lengths(redacted: Span, given: Span) -> Span:
    """The redacted span, knowing how long its changed texts were as they were given; by names that it still has."""
    if redacted is given:
        return redacted
    kept = redacted.attributes
    lengths = {k: len(v) for k, v in given.attributes.items() if k in kept and isinstance(v, str) and kept[k] is not v}
    return msgspec.structs.replace(redacted, lengths={**lengths, **given.lengths}) if lengths else redacted
