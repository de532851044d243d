"""How a place inside a value is spelled; the syntax is described in :mod:`otelreplay.events.fields`."""

from __future__ import annotations

import json
import re
from typing import Final

_BARE: Final = re.compile(r'[^.\[\]"\\\x00-\x1f\x7f\ud800-\udfff]+')


def join(field: str, *steps: str | int) -> str:
    """The field reached from ``field`` by these keys and indexes, whatever characters the keys hold."""
    for step in steps:
        if isinstance(step, int):
            field += f"[{step}]"
        elif _BARE.fullmatch(step):
            field += f".{step}" if field else step
        else:
            field += f"[{json.dumps(step)}]"
    return field
