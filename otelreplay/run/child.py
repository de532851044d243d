"""The replaying process: ``python -m otelreplay.run.child DESCRIPTOR``, started by the supervisor alone.

The guard is in place before this module is (:mod:`otelreplay.run.startup`); the session is, before the agent's module is
imported. Each report leaves at the moment of what it reports. The last of them, the result, is written when Python ends: after
the program's own threads and exit handlers. A program that leaves in another way leaves without a result.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO

from otelreplay import boundary
from otelreplay.errors import OtelReplayError
from otelreplay.run import agents, guard, jitter
from otelreplay.run.answering import Answering, answering

FAILED = 1
NOT_STARTED = 2


@dataclass(slots=True)
class _Run:
    """What the exit handler needs to know."""

    answers: Answering
    process: int = field(default_factory=os.getpid)
    exit: int = 0

    def finish(self) -> None:
        """Write the result; in a fork of this process, nothing."""
        if os.getpid() == self.process:
            guard.say({"type": "result", "exit": self.exit, "result": self.answers.result(self.exit)})


def main(arguments: list[str]) -> int:
    """The exit code of the process."""
    guard.install()
    with os.fdopen(int(arguments[0]), "rb") as payload:
        settings = json.loads(payload.readline())
        try:
            answers = _begin(settings, payload)
        except OtelReplayError as error:
            return _not_started(error)
    if os.environ.get(jitter.VARIABLE):
        jitter.install(int(os.environ[jitter.VARIABLE]))
    run = _Run(answers)
    atexit.register(run.finish)  # before any of the program's: they run in the opposite order
    os.register_at_fork(after_in_child=guard.refuse_boundaries)
    sys.argv = [settings["agent"]]
    guard.say({"type": "ready"})
    try:
        function = agents.found(settings["agent"])
    except OtelReplayError as error:
        atexit.unregister(run.finish)
        return _not_started(error)
    except boundary.ReplayStopped:
        run.exit = FAILED
        return FAILED
    except BaseException as error:
        guard.say({"type": "raised", "while": "its module was imported", "error": type(error).__name__})
        run.exit = _code_of(error)
        return run.exit
    run.exit = _called(function, answers)
    return run.exit


def _begin(settings: Mapping[str, Any], cassette: BinaryIO) -> Answering:
    return answering(cassette, settings, now=datetime.now(UTC), key=os.urandom(32), say=guard.say)


def _called(function: agents.Function, answers: Answering) -> int:
    try:
        agents.call(function, answers.given())
    except boundary.ReplayStopped as stopped:
        if isinstance(stopped.__cause__, Exception):  # the agent raised where it had not when it was recorded
            _code_of(stopped.__cause__)
        return FAILED
    except BaseException as error:
        guard.say({"type": "raised", "while": "the agent ran", "error": type(error).__name__})
        return _code_of(error)
    return 0


def _code_of(error: BaseException) -> int:
    """The exit code that Python would end with, having said what it would say."""
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return FAILED
    here = error.__traceback__
    while here is not None and here.tb_frame.f_globals.get("__name__") in (__name__, "__main__", agents.__name__):
        here = here.tb_next
    traceback.print_exception(type(error), error, here or error.__traceback__)
    return FAILED


def _not_started(error: OtelReplayError) -> int:
    guard.say(
        {
            "type": "failed",
            "kind": type(error).__name__,
            "what": error.what,
            "code": error.code,
            "where": error.where,
            "next_step": error.next_step,
        }
    )
    return NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
