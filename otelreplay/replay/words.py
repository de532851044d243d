"""The sentences of a report. None of them holds text of the run but what is handed in as shown already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from otelreplay.events import Missing
from otelreplay.redaction import find_placeholders
from otelreplay.replay.answers import Served
from otelreplay.replay.holes import Hole

PASSED: Final = "the conversation has gone past it, and it was not called"
SKIPPED: Final = "the program ended without calling it, and called what came after it"
UNUSED: Final = "the program ended before it came to this"
NOTHING: Final = "the cassette holds nothing that a replay could serve"
ENDED: Final = "the agent's result is another one"
NOT_REGISTERED: Final = "the recorded tool is not registered in this program"
DRIFT: Final = "the request is as recorded, and made by another version"
NO_END: Final = "the recording ends before its run did: no root of it has ended"
FLUSH: Final = "flush the tracer provider before the process ends"
FIXTURE: Final = "give a fixture for it, or record again"
BLOCKED: Final = "put the call behind a decorated function, so that it is recorded and replayed"
ACCEPT: Final = "record the run again"
_AROUND: Final = 40


def used_up(times: int) -> str:
    """A call that was made more often than in the recording."""
    return f"recorded {times} time{'s' if times != 1 else ''}, and called once more"


def unknown(group: tuple[str, str], known: bool) -> str:
    """A call of which there is no recording."""
    if known:
        return "it equals no recording, and none of its kind is expected here"
    return f"the recording has no {group[0]} of this name" if group[1] else f"the recording has no {group[0]} call"


def equals(seq: int) -> str:
    """A call was left out: the one received is recorded later."""
    return f"not called: the call that was received is recorded as seq {seq}, which comes after it"


def before(seq: int, kind: str, name: Any) -> str:
    """A call that came before what must come before it."""
    return f"called before seq {seq} ({kind} {name}), which asked for it in the recording"


def quoted(seq: int, field: str) -> str:
    """The reply to a request that is not recorded stands in a later one."""
    return f"this request is not recorded: seq {seq} quotes the reply to it in {field}"


def stopped(count: int) -> str:
    """A stream is read on."""
    return f"the recorded program stopped reading after {count} chunk{'s' if count != 1 else ''}, and this one reads on"


def blocked(what: str) -> str:
    """A guard stopped something."""
    return f"a live call was stopped ({what})"


def inserted(kind: str, seq: int, path: str) -> str:
    """An additional call shifts what all later ones get."""
    shifted = f"{path} has a value that is one place off" if path else "all later ones are one place off"
    return f"an additional {kind} call took the value recorded as seq {seq}; {shifted}"


def omitted(path: str) -> str:
    """A made-up value that a later request was expected to hold."""
    return f"not called; its value was expected in {path}"


def origin(served: Served) -> str:
    """Where a value came from."""
    return f"{served.kind} seq {served.seq} ({served.origin})"


def of_mark(mark: Missing) -> dict[str, str]:
    """A gap of the recording as detail and remedy."""
    return {"detail": f"{mark.cause}: {mark.detail}" if mark.detail else mark.cause, "remedy": mark.remedy or FIXTURE}


def window(text: str, was: Any, now: Any) -> str:
    """A long text from a little before its first difference on."""
    if not isinstance(was, str) or not isinstance(now, str):
        return text
    at = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    start = at - _AROUND
    return text if start <= _AROUND else f"...{text[start:]}"


def without(text: str, which: Callable[[Hole], bool]) -> str:
    """The text with these placeholders replaced by the name of their rule."""
    for seen in reversed(find_placeholders(text)):
        if which(Hole(seen.rule, seen.text, seen.action)):
            text = f"{text[: seen.start]}<another {seen.rule}>{text[seen.end :]}"
    return text
