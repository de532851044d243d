"""Matching keys onto events."""

from __future__ import annotations

from dataclasses import replace

from otelreplay.events import Event, Recording
from otelreplay.matching import KeyMemo, component_keys, request_hash


def with_keys(recording: Recording) -> Recording:
    """The recording with the component keys of every request, and one hash over them; equal messages are digested once."""
    memo = KeyMemo()
    return replace(recording, events=tuple(_stamped(event, memo) for event in recording.events))


def _stamped(event: Event, memo: KeyMemo) -> Event:
    keys = component_keys(event, memo)
    return event.model_copy(update={"request_keys": keys, "request_hash": request_hash(keys) if keys else None})
