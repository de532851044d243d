"""How the recorded run ended, as far as that says how its program must end now. Pure."""

from __future__ import annotations

from typing import Final

from otelreplay.cassette import Cassette

_AROUND: Final = frozenset({"agent", "context"})


def may_fail(cassette: Cassette) -> bool:
    """Whether a program that fails ends as recorded: what is around everything failed then, or was cut off.

    A failed model or tool at the outermost level is no sign of it: programs go on after those.
    """
    roots = [event for event in cassette.events if event.parent is None and event.kind in _AROUND]
    return any(event.error is not None or event.end is None for event in roots)
