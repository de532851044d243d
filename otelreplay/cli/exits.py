"""How a command ends: the one place that maps errors to exit codes and to one line on stderr.

===  =====================================================================================================
  0  done
  1  divergence, or an assertion that failed
  2  usage: the command, a setting, a policy, a key, or a place to write to
  3  needed data is missing
  4  a live call was blocked
  5  integrity: a cassette is not what its seal says
  6  input that cannot be read
 70  a bug in otelreplay
130  interrupted
141  whoever read the output stopped reading
===  =====================================================================================================
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec

import typer

BUG, INTERRUPTED, PIPE_CLOSED = 70, 130, 141

P = ParamSpec("P")


def command(app: typer.Typer, name: str) -> Callable[[Callable[P, int | None]], Callable[P, None]]:
    """Register a function as command ``name``; its result is the exit code, and its errors end as the table above says."""

    def register(body: Callable[P, int | None]) -> Callable[P, None]:
        @functools.wraps(body)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            raise typer.Exit(ending(lambda: body(*args, **kwargs)))

        app.command(name)(run)
        return run

    return register


def ending(body: Callable[[], int | None]) -> int:
    """Run ``body`` to its end, whatever that is; the exit code."""
    try:
        code = body() or 0
        sys.stdout.flush()
        return code
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return PIPE_CLOSED
    except Exception as error:
        code, sentence = outcome(error)
        say(_clean(sentence))
        return code


def outcome(error: Exception) -> tuple[int, str]:
    """(exit code, sentence) of an error. Only errors that otelreplay raises on purpose are quoted: those hold no payload."""
    from otelreplay.errors import OtelReplayError

    if isinstance(error, OtelReplayError):
        return error.exit_code, error.sentence()
    if isinstance(error, OSError) and error.errno:
        place = f"{error.filename}: " if error.filename else ""
        advice = (
            "Make room and run it again"
            if error.errno in (errno.ENOSPC, errno.EDQUOT)
            else "Check the path and its permissions"
        )
        return 2, f"{place}{os.strerror(error.errno)}. {advice} [system.{errno.errorcode.get(error.errno, 'error').lower()}]"
    if isinstance(error, MemoryError):
        return 2, "there is not enough memory for the largest trace of this input [system.memory]"
    place = _place(error.__traceback__)
    return (
        BUG,
        f"this is a bug in otelreplay: {type(error).__name__} at {place}. Please report it with this line [internal.bug]",
    )


def say(sentence: str) -> None:
    """One line on stderr. Text that came from outside cannot steer the terminal."""
    from otelreplay.report.text import escape

    with contextlib.suppress(OSError, ValueError):
        print(f"otelreplay: {escape(sentence)}", file=sys.stderr, flush=True)


def _clean(sentence: str) -> str:
    """A sentence that names what came from outside (files, fields), under the default policy like every report."""
    try:
        from otelreplay.wiring.reports import curtain

        return curtain().text(sentence)
    except Exception:  # whatever is broken here, an error must end as one
        return f"an error that could not be redacted [{sentence.rpartition('[')[2].rstrip(']')}]"


def _place(traceback: TracebackType | None) -> str:
    """``module:line`` of the innermost frame that is ours. Never the error's own text, which may hold payload."""
    found = "?"
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if module.startswith("otelreplay."):
            found = f"{module}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found


def _silence_stdout() -> None:
    """Keep the interpreter from flushing into the closed pipe again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
