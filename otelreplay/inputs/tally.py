"""What was counted, skipped or leniently read while a trace file was taken in."""

from __future__ import annotations

from collections import Counter

NOTES: dict[str, str] = {
    "metrics_skipped": "metrics, which hold no part of a run",
    "duplicate_attribute_keys": "attributes whose key stood twice in one list: the last one was kept",
    "snake_case": "objects with snake_case names, which OTLP JSON does not have",
    "enum_names": "enums written as names, which OTLP JSON does not have",
    "unknown_enum_names": "enums with a name that is not known: read as unspecified",
    "invalid_utf8": "records with bytes that are not UTF-8: each such byte was replaced by U+FFFD",
    "invalid_links": "links without valid ids: left out, their span was kept",
    "invalid_log_ids": "log records whose trace or span id is not valid: read as belonging to no span",
    "profiling_strings": "values that point into a string table, which traces do not have: read as empty",
    "text_attributes": "spans of a form that holds every attribute as text: numbers and lists in them are text too",
    "text_lines": "lines between the records that are no JSON, such as a program's own output: passed over",
    "ids_derived": "ids that are none of OpenTelemetry's: a digest of each was taken in its place",
    "schema_url_after_records": "groups so large that a schema URL written after their records was not applied to them",
}
"""Every note code, with what it counts."""


class Tally:
    """Counts of one reading; pass one to ``read_batches`` and look at it when the reading is done (or at any time)."""

    def __init__(self) -> None:
        self.form = ""
        """Which form the content turned out to have, such as ``OTLP JSON Lines``."""
        self.compression = ""
        """``gzip``, ``zstd`` or empty."""
        self.notes: Counter[str] = Counter()
        """Note code (a key of ``NOTES``) to how often."""

    def note(self, code: str, count: int = 1) -> None:
        """Count one leniency or omission."""
        self.notes[code] += count
