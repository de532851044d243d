"""What a form is: a function that recognises the start of a file, and one that reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from otelreplay.inputs.source import Source
from otelreplay.inputs.tally import Tally
from otelreplay.spans.model import Batch

HEAD_BYTES = 1 << 20
MAX_RECORD = 256 << 20
"""Bytes of one span, log record, resource or scope, as it stands in the file. A larger one is passed over and refused."""


@dataclass(frozen=True)
class Head:
    """The start of a file, decompressed: its first ``HEAD_BYTES``, or all of it if ``complete``."""

    data: bytes
    name: str
    complete: bool


@dataclass
class Reading:
    """What a form is given beside the source, and how it answers."""

    name: str
    tally: Tally
    max_record: int = MAX_RECORD
    recognised: bool = False

    def recognise(self) -> None:
        """Called by the form as soon as it meets something that can only be of its form."""
        self.recognised = True


@dataclass(frozen=True)
class Form:
    """One form. ``sniff`` judges by content; the name of the file only breaks ties."""

    label: str
    sniff: Callable[[Head], bool]
    read: Callable[[Source, Reading], Iterator[Batch]]
