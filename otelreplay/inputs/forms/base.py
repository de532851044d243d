"""What a form is: a function that recognises the start of a file, and one that reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from otelreplay.inputs import outline
from otelreplay.inputs.reading import MAX_RECORD, Reading
from otelreplay.inputs.source import Source
from otelreplay.spans.model import Batch

__all__ = ["HEAD_BYTES", "MAX_RECORD", "Form", "Head", "Reading"]

HEAD_BYTES = 1 << 20


@dataclass(frozen=True)
class Head:
    """The start of a file, decompressed: its first ``HEAD_BYTES``, or all of it if ``complete``."""

    data: bytes
    name: str
    complete: bool

    @cached_property
    def paths(self) -> frozenset[str]:
        """Which JSON keys stand where in it; nothing if it does not start as JSON."""
        text = self.data.lstrip(b"\0").removeprefix(b"\xef\xbb\xbf").lstrip()
        return outline.paths(text) if text[:1] in (b"{", b"[") else frozenset()


@dataclass(frozen=True)
class Form:
    """One form. ``sniff`` judges by content; the name of the file only breaks ties."""

    label: str
    sniff: Callable[[Head], bool]
    read: Callable[[Source, Reading], Iterator[Batch]]
