"""Trace files in, batches of spans and log records out: every form of OTLP, streamed with bounded memory."""

from otelreplay.inputs.forms.foreign import ACCEPTED
from otelreplay.inputs.reader import read_batches
from otelreplay.inputs.tally import NOTES, Tally

__all__ = ["ACCEPTED", "NOTES", "Tally", "read_batches"]
