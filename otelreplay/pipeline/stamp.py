"""Matching keys onto events."""

from __future__ import annotations

from dataclasses import replace

from otelreplay.events import Event, Recording, changed
from otelreplay.matching import KeyMemo, StampedKeys, component_keys


def with_keys(recording: Recording) -> Recording:
    """The recording with the component keys of every request, and one hash over them; equal messages are digested once."""
    memo = KeyMemo()
    return replace(recording, events=tuple(_stamped(event, memo) for event in recording.events))


def _stamped(event: Event, memo: KeyMemo) -> Event:
    keys = StampedKeys(component_keys(event, memo))
    return changed(event, request_keys=keys, request_hash=keys.whole)
