"""The sentences of a report. None of them holds text of the run but what is handed in as shown already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from otelreplay.events import Missing
from otelreplay.redaction import find_placeholders
from otelreplay.replay.answers import Served
from otelreplay.replay.holes import Hole

PASSED: Final = "not called: the program went on to a model request that comes after it"
SKIPPED: Final = "not called, though what comes after it was"
ENDED: Final = "the agent's result is another one"
RETURNED: Final = "the agent returned without calling it"
UNUSED: Final = "the program ended before it came to this"
NOTHING: Final = "the cassette holds nothing that a replay could serve"
NOT_REGISTERED: Final = "the recorded tool is not registered in this program"
DRIFT: Final = "the request is as recorded, and made by another version"
REDACTED: Final = (
    "the program works with a placeholder where the recorded run had the value: name in the policy every field that holds "
    "the value or a part of it, and record again"
)
NO_END: Final = "the recording ends before its run did: no root of it has ended"
FLUSH: Final = "flush the tracer provider before the process ends"
FIXTURE: Final = "give a fixture for it, or record again"
BLOCKED: Final = "put the call behind a decorated function, so that it is recorded and replayed"
ACCEPT: Final = "record the run again"
_AROUND: Final = 40


def ended(was: Any, now: Any, *, error: bool) -> str:
    """An agent ended otherwise."""
    if not error:
        return "the agent returned something else"
    if was is None:
        return f"the agent raised {now}, where it had returned"
    return f"the agent returned, where it had raised {was}" if now is None else f"the agent raised {now} in place of {was}"


REMEDY: Final[dict[str, str]] = {
    "request_changed": "undo what changed this request, if it was not meant",
    "unexpected_call": "take the call out, if it was not meant",
    "missing_call": "put the call back, if leaving it out was not meant",
    "order_violation": "make the call after the reply that asks for it",
    "tool_not_registered": "declare it with @otelreplay.tool, or import the module that does before the agent starts",
    "version_drift": "give the version back that was recorded, if the new one was not meant",
    "events_unused": "see why the program ended before this",
}
"""What to do about a kind of divergence that was not meant."""
ACCEPTS: Final[dict[str, str]] = {
    "live_call_blocked": "record the run again, with the call behind a decorated function",
    "version_drift": "record the run again with the new version",
}
"""The edit after which it is as recorded, where that is another than recording again as it is."""


def fixture(seq: int | None) -> str:
    """The edit by which an answer that is missing is given."""
    return FIXTURE if seq is None else f'--fixtures FILE, with {{"{seq}": {{"result": ...}}}} in FILE; or record the run again'


def used_up(times: int) -> str:
    """A call that was made more often than in the recording."""
    many = "once" if times == 1 else "twice" if times == 2 else f"{times} times"
    return f"called once more than recorded: the recording has it {many}, and each has been answered"


def unknown(group: tuple[str, str], known: bool) -> str:
    """A call of which there is no recording."""
    if known:
        return "it equals no recorded call, and none of this name was expected here"
    return f"the recording has no {group[0]} of this name" if group[1] else f"the recording has no {group[0]} call"


def equals(seq: int) -> str:
    """A call was left out: the one received is recorded later."""
    return f"not called: the call that was received is event {seq} of the recording, which comes after it"


def before(seq: int, kind: str, name: Any) -> str:
    """A call that came before what must come before it."""
    return f"called before event {seq} ({kind} {name}), which asked for it in the recording"


def quoted(seq: int, field: str) -> str:
    """The reply to a request that is not recorded stands in a later one."""
    return f"this request is not recorded: event {seq} quotes the reply to it in {field}"


def stopped(count: int) -> str:
    """A stream is read on."""
    return f"the recorded program stopped reading after {count} chunk{'s' if count != 1 else ''}, and this one reads on"


def blocked(what: str) -> str:
    """A guard stopped something."""
    return f"a live call was stopped ({what})"


def inserted(kind: str, seq: int, path: str) -> str:
    """An additional call shifts what all later ones get."""
    shifted = f"{path} has a value that is one place off" if path else "all later ones are one place off"
    return f"an additional {kind} call took the value of event {seq}; {shifted}"


def omitted(path: str) -> str:
    """A made-up value that a later request was expected to hold."""
    return f"not called; its value was expected in {path}"


def put_in(seq: int | None) -> str:
    """A call that came before the one it was like."""
    return f"put in before event {seq}, which was called afterwards as recorded"


def origin(served: Served) -> str:
    """Where a value came from."""
    return f"event {served.seq}, {served.kind} ({served.origin})"


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
