"""How a call begins: in a replay, in a recording, or unseen. What takes part is imported by the first call that needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from otelreplay.boundary import Interceptor, interceptor
from otelreplay.instrument.crossing import NOBODY, Crossing, Invocation


def begin(call: Invocation) -> Crossing:
    """A call begins."""
    live = interceptor()
    if live is not None:
        return (_beginners.playing or _find().playing)(live, call)
    beginner = _beginners.recording or _find().recording
    return NOBODY if beginner is None else beginner(call) or NOBODY


class _Beginners:
    """What the first call looks up: a program that never records never imports it."""

    playing: Callable[[Interceptor, Invocation], Crossing] | None = None
    recording: Callable[[Invocation], Crossing | None] | None = None


_beginners: Final = _Beginners()


def _find() -> Any:
    from otelreplay.instrument import playing, threads

    threads.install()
    _beginners.playing = playing.begin
    if "opentelemetry.trace" in sys.modules:
        from otelreplay.instrument import recording

        _beginners.recording = recording.begin
    return _beginners
