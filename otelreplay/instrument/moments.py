"""The time, random numbers and new ids: what a program reads from outside without calling anybody."""

from __future__ import annotations

import random as _random
import time
import uuid
from collections.abc import Callable
from typing import Any, cast

from otelreplay.instrument.spec import FUNCTION, KIND, Bound, Spec
from otelreplay.instrument.wrappers import wrap


def _recorded(kind: str, name: str, read: Callable[[], Any]) -> Callable[[], Any]:
    static = {KIND: kind, FUNCTION: f"otelreplay:{name}"}
    spec = Spec(kind=kind, name=kind, function=static[FUNCTION], bind=_nothing, method=False, stream=False, static=static)
    return wrap(spec, read, read)


def _nothing() -> Bound:
    return {}


# Looked up at each call: a test may have put a clock or a generator of its own in their place.
_clock = _recorded("clock", "clock", lambda: time.time())  # noqa: PLW0108
_draw = _recorded("random", "random", lambda: _random.random())  # noqa: PLW0108
_id = _recorded("id", "new_id", lambda: str(uuid.uuid4()))


def clock() -> float:
    """Seconds since 1970, as ``time.time()``; in a replay those of the recording."""
    return cast(float, _clock())


def random() -> float:
    """A number from the program's own generator, as ``random.random()``; in a replay that of the recording."""
    return cast(float, _draw())


def new_id() -> str:
    """A new random UUID as text; in a replay that of the recording. Draws nothing from the program's generator."""
    return cast(str, _id())
