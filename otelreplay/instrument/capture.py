"""Is content captured? Resolved once, shown at start, and never guessed.

An argument of ``configure`` decides; else ``OTELREPLAY_CAPTURE``; else the variable that other GenAI instrumentation uses; else
content is captured: whoever decorates a function wants its arguments recorded, and the policy is applied to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otelreplay.errors import UsageError

OWN = "OTELREPLAY_CAPTURE"
SHARED = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_ON, _OFF = ("on", "true", "1"), ("off", "false", "0")
_SHARED_ON, _SHARED_OFF = ("true", "span_only", "event_only", "span_and_event"), ("false", "no_content")


@dataclass(frozen=True, slots=True)
class Capture:
    """Whether content is captured, and what decided it."""

    on: bool = True
    decided_by: str = "default"

    def sentence(self) -> str:
        """For the one line at start."""
        return f"content capture {'on' if self.on else 'OFF'} ({self.decided_by})"


@dataclass(slots=True)
class _State:
    capture: Capture = Capture()


_state = _State()


def captures_content() -> bool:
    """Whether decorators record arguments, messages and results, or only that the call happened."""
    return _state.capture.on


def set_capture(capture: Capture) -> None:
    """Decide it for this process."""
    _state.capture = capture


def resolve_capture(argument: bool | None, environ: Mapping[str, str]) -> Capture:
    """What applies. Raises UsageError for a value that is none: a misspelt switch must not decide silently.

    The variable of other instrumentation is checked as well where it decides nothing here, since it decides there.
    """
    own = _read(environ, OWN, _ON, _OFF)
    shared = _read(environ, SHARED, _SHARED_ON, _SHARED_OFF)
    if argument is not None:
        return Capture(argument, "argument of configure")
    if own is not None:
        return Capture(own, f"{OWN}={environ[OWN]}")
    if shared is not None:
        return Capture(shared, f"{SHARED}={environ[SHARED]}")
    return Capture()


def _read(environ: Mapping[str, str], name: str, on: tuple[str, ...], off: tuple[str, ...]) -> bool | None:
    text = environ.get(name, "").strip().lower()
    if not text:
        return None
    if text in on or text in off:
        return text in on
    raise UsageError(
        "this is no setting of content capture",
        code="configure.capture",
        where=name,
        next_step=f"set it to one of {', '.join(on + off)}, or unset it",
    )
