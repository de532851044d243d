"""What the wrappers know of a call under way, whoever takes part in it: a recording, a replay, or nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from otelreplay.boundary import Answer, parent

if TYPE_CHECKING:
    from opentelemetry.context import Context

    from otelreplay.instrument.spec import Bound, Spec


class Crossing:
    """One call. ``enter`` and ``leave`` stand around each stretch of the function's own code; one of the ends comes last.

    This one does nothing: the call goes unrecorded. No method of any kind of crossing raises, but those of a replay, which
    stop the program on purpose.
    """

    __slots__ = ()

    answer: Answer | None = None
    """What a replay gives instead of the call."""

    def enter(self) -> None:
        """The function's code runs from here on: what it starts is inside this call."""

    def leave(self) -> None:
        """The function's code has come to an end, or yields."""

    def chunk(self, value: Any) -> None:
        """A generator gave this to its consumer."""

    def sent(self, value: Any) -> None:
        """The consumer sent this in answer to the last chunk."""

    def returned(self, value: Any) -> None:
        """The call gave this value; a generator returned it in the end."""

    def raised(self, error: BaseException) -> None:
        """The call failed."""

    def stopped(self) -> None:
        """The consumer of a generator reads no further."""

    def streaming(self) -> Crossing:
        """The same call, which turns out to give chunks."""
        return self


class Answered(Crossing):
    """A call that a replay answers."""

    __slots__ = ("answer",)

    def __init__(self, answer: Answer) -> None:
        self.answer = answer


class Held:
    """Ends the call of a stream that goes away: read to its end it has ended already, and once is once."""

    __slots__ = ("crossing",)

    def __init__(self, crossing: Crossing) -> None:
        self.crossing = crossing

    def let_go(self) -> None:
        """Somebody else ends the call."""
        self.crossing = NOBODY

    def __del__(self) -> None:
        self.crossing.stopped()


class Origin:
    """Where a generator was made. It belongs there, even if it is read elsewhere or much later."""

    __slots__ = ("context", "parent", "where")

    def __init__(self, context: Context | None, where: str) -> None:
        self.context, self.parent, self.where = context, parent(), where


_HERE: Final = str(Path(__file__).parent)
_STARTER: Final = str(Path(__file__).parent.parent / "run")


def _here() -> str:
    """The folder that the program was started in, and its packages are not."""
    try:
        return f"{Path.cwd()}{os.sep}"
    except OSError:  # it is gone
        return "\0"


_STARTED_IN: Final = _here()


def where() -> str:
    """``src/file.py:12`` of the program's line that made the call; nothing where a replay called its agent.

    The path is that below the folder in which the program was started; of a file elsewhere only the name.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    if frame.f_code.co_filename.startswith(_STARTER):
        return ""
    file = frame.f_code.co_filename
    if file.startswith(_STARTED_IN):
        return f"{file[len(_STARTED_IN) :]}:{frame.f_lineno}"
    return f"{Path(file).name}:{frame.f_lineno}"


NOBODY: Final = Crossing()


class Invocation:
    """A decorated function and the arguments of one call."""

    __slots__ = ("args", "bound", "fn", "kwargs", "origin", "spec")

    def __init__(self, spec: Spec, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.spec, self.fn, self.args, self.kwargs = spec, fn, args, kwargs
        self.bound: Bound | None = None
        """The arguments by name, where they are known already."""
        self.origin: Origin | None = None

    def run(self) -> Any:
        """Call the function itself."""
        return self.fn(*self.args, **self.kwargs)
