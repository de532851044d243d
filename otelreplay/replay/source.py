"""Where in the source a recorded call was made, as far as its telemetry says."""

from __future__ import annotations

from typing import Any, Final

from otelreplay.events import Event

_FUNCTION: Final = ("otelreplay.function", "code.function.name", "code.function")
_FILE: Final = ("code.file.path", "code.filepath")
_LINE: Final = ("code.line.number", "code.lineno")


def recorded_where(event: Event) -> str:
    """``file.py:12``, or nothing. Of a path only the name: where it lay is a matter of the machine that recorded."""
    file = str(_first(event, _FILE) or "").replace("\\", "/").rpartition("/")[2]
    line = _first(event, _LINE)
    return f"{file}:{line}" if file and isinstance(line, int) else file


def recorded_function(event: Event) -> str:
    """``module:function``, or as the package spells it."""
    return str(_first(event, _FUNCTION) or "")


def _first(event: Event, names: tuple[str, ...]) -> Any:
    return next((found for name in names if (found := event.attributes.get(name)) is not None), None)
