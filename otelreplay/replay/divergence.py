"""A divergence: where a replay stopped being the recorded run. A value that can say itself in one line."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

Kind = Literal[
    "request_changed", "unexpected_call", "missing_call", "order_violation", "response_missing", "tool_not_registered",
    "version_drift", "live_call_blocked", "events_unused",
]  # fmt: skip
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
CauseClass = Literal[
    "code", "prompt", "tool schema", "model options", "tool result", "clock", "random", "order", "redaction", "truncation",
    "missing data",
]  # fmt: skip
Change = Literal["changed", "added", "removed", "retyped", "moved", ""]
Origin = Literal["cassette", "fixture", "fork", "inferred", "assumed", "live"]

_CLIP: Final = 200
_ROOM: Final = 1_000
"""Characters of a long text that a difference shows."""
_AROUND: Final = 200
"""Characters that are kept before and after the part that differs."""
_LINE: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A recording that is like what was received."""

    seq: int
    boundary: str
    operation: str
    path: str
    """The first field in which it differs; empty if in none."""
    state: Literal["served", "waiting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One field that differs, as a report shows it: redacted, and long values cut around where they part."""

    path: str
    change: Change
    expected: Any = None
    received: Any = None
    received_path: str = ""
    """Where the field is on the other side, if it is another place there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """One place where the running program and the recording part. Texts of the run in it are redacted, and are data."""

    kind: Kind
    seq: int | None = None
    """Of the recorded event that was expected or is concerned; None where there is none."""
    span: str = ""
    boundary: str = ""
    """Kind of event: ``model``, ``tool``, ..."""
    operation: str = ""
    """Name of the event: the tool, the model, the agent."""
    agent: str = ""
    recorded_where: str = ""
    """``file.py:12`` of the recorded call; most recordings do not hold it."""
    recorded_function: str = ""
    call: int | None = None
    """Number of the live call, from 1; None where no call was received."""
    received_boundary: str = ""
    received_operation: str = ""
    received_agent: str = ""
    """The agent that the live call was made in."""
    where: str = ""
    """``file.py:12`` of the live call."""
    function: str = ""
    path: str = ""
    """The event field that differs, the smallest that does: ``request.params.temperature``."""
    received_path: str = ""
    """Where that field is on the other side, if it is another place there."""
    change: Change = ""
    expected: Any = None
    received: Any = None
    others: tuple[str, ...] = ()
    """Further fields that differ."""
    differences: tuple[Changed, ...] = ()
    """All of them with both sides, the first one included, as far as they were looked for."""
    last_agreed: int | None = None
    """seq of the last event that agreed."""
    agreed: int = 0
    """How many events agreed before."""
    cause: CauseClass = "code"
    origin: str = ""
    """Where the differing value came from, if the replay knows: ``tool lookup (seq 3, fixture)``."""
    detail: str = ""
    remedy: str = ""
    nearest: tuple[Near, ...] = ()
    unchecked: tuple[str, ...] = ()
    """Fields of the expected event that were not compared."""
    reproduce: str = ""
    """The command that shows this again."""
    accept: str = ""
    """The edit after which this difference would be as recorded."""

    @property
    def code(self) -> str:
        """Stable."""
        return f"replay.{self.kind}"

    @property
    def page(self) -> str:
        """Where this kind is explained."""
        return page_of(self.kind)

    def line(self) -> str:
        """All of it that fits one line, harmless in a terminal."""
        place = f"seq {self.seq} " if self.seq is not None else ""
        what = " ".join(plain(t) for t in (self.boundary, self.operation) if t)
        where = f" at {plain(self.where)}" if self.where else ""
        said = f": {plain(self.detail)}" if self.detail else ""
        if self.change:
            said = f": {plain(self.path)} is {shown(self.received)}, recorded was {shown(self.expected)}"
            if self.change == "added":
                said = f": {plain(self.path)} was not there in the recording, now it is {shown(self.received)}"
            elif self.change == "moved":
                said = f": {plain(self.path)} is now {plain(self.received_path)}: {shown(self.received)}"
            elif self.change == "removed":
                said = f": {plain(self.path)} is no longer there, recorded was {shown(self.expected)}"
        return f"{place}{what}{where}{said} [{self.code}]"

    def as_json(self) -> dict[str, Any]:
        """The shape of ``first_divergence`` in a report."""
        out: dict[str, Any] = {"code": self.code, "page": self.page}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name in ("nearest", "differences"):
                value = [{n: getattr(entry, n) for n in entry.__dataclass_fields__} for entry in value]
            out[name] = list(value) if isinstance(value, tuple) else value
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A live call that a guard stopped."""

    what: str
    """``connect``, ``resolve``, ``spawn``, ...: what was tried."""
    target: str = ""
    """Address, host or command."""
    where: str = ""
    """``file.py:12`` where known."""
    stack: tuple[str, ...] = ()
    pid: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The shape of an entry of ``blocked``."""
        return {name: list(v) if isinstance(v := getattr(self, name), tuple) else v for name in self.__dataclass_fields__}


class Diverged(Exception):  # noqa: N818 - not an error of this program, but what a replay is for
    """The call has no answer. The divergence is latched in the session before this is raised."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.line())
        self.divergence = divergence


def plain(text: str) -> str:
    """Text on one line, with everything that a terminal or a format could act on as a visible escape."""
    if text.isascii() and text.isprintable():
        return text
    return json.dumps(text)[1:-1].replace('\\"', '"').replace("\x7f", "\\u007f")


def shown(value: Any) -> str:
    """A value as JSON, cut to what fits a line."""
    text = json.dumps(value, default=repr).replace("\x7f", "\\u007f")
    return text if len(text) <= _LINE else text[: _LINE - 3] + "..."


def page_of(kind: str) -> str:
    """The page of a kind of divergence, in the documentation."""
    return f"docs/divergences/{kind}.md"


def cut_around(was: str, now: str) -> tuple[str, str]:
    """Two texts reduced to the part that differs and a little around it; what was left out is an ellipsis."""
    lead = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    most = min(len(was), len(now)) - lead
    tail = next((n for n in range(most) if was[-1 - n] != now[-1 - n]), most)
    start = max(lead - _AROUND, 0)
    return tuple(_cut(text, start, len(text) - max(tail - _AROUND, 0)) for text in (was, now))  # type: ignore[return-value]


def _cut(text: str, start: int, end: int) -> str:
    stop = min(end, start + _ROOM)
    return ("…" if start else "") + text[start:stop] + ("…" if stop < len(text) else "")


def clip(value: Any, room: int = _CLIP) -> Any:
    """A value small enough for a report: long texts and containers are cut, and say so."""
    if isinstance(value, str):
        return value if len(value) <= room else f"{value[:room]}... ({len(value)} characters)"
    if value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, float) or math.isfinite(value) else repr(value)
    text = json.dumps(value, default=repr)
    if len(text) > room:
        return f"{text[:room]}... ({len(text)} characters)"
    return json.loads(text)
