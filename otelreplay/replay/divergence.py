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
Origin = Literal["cassette", "fixture", "inferred", "assumed"]

_CLIP: Final = 200
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
    call: int | None = None
    """Number of the live call, from 1; None where no call was received."""
    received_boundary: str = ""
    received_operation: str = ""
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
    accept: str = ""
    """The edit after which this difference would be as recorded."""

    @property
    def code(self) -> str:
        """Stable; ``docs/divergences.md`` has a section for each."""
        return f"replay.{self.kind}"

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
        out: dict[str, Any] = {"code": self.code}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name == "nearest":
                value = [{n: getattr(near, n) for n in near.__dataclass_fields__} for near in value]
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


def clip(value: Any) -> Any:
    """A value small enough for a report: long texts and containers are cut, and say so."""
    if isinstance(value, str):
        return value if len(value) <= _CLIP else f"{value[:_CLIP]}... ({len(value)} characters)"
    if value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, float) or math.isfinite(value) else repr(value)
    text = json.dumps(value, default=repr)
    if len(text) > _CLIP:
        return f"{text[:_CLIP]}... ({len(text)} characters)"
    return json.loads(text)
