"""The canonical model of a run."""

from otelreplay.events.completeness import assess
from otelreplay.events.message import Message, expand
from otelreplay.events.model import Cause, Effect, Event, Failure, Inferred, Kind, Mark, Missing, Redaction, changed, made
from otelreplay.events.recording import Completeness, Note, Recording

__all__ = [
    "Cause",
    "Completeness",
    "Effect",
    "Event",
    "Failure",
    "Inferred",
    "Kind",
    "Mark",
    "Message",
    "Missing",
    "Note",
    "Recording",
    "Redaction",
    "assess",
    "changed",
    "expand",
    "made",
]
