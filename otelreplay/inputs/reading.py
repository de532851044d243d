"""What whoever reads a form is given beside the source, and how it answers."""

from __future__ import annotations

from dataclasses import dataclass

from otelreplay.inputs.tally import Tally

MAX_RECORD = 256 << 20
"""Bytes of one span, log record, resource or scope, as it stands in the file. A larger one is passed over and refused."""


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
