"""Everything that ``run`` and ``stub`` need, from the names that a user gives."""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from otelreplay.cassette import Cassette
from otelreplay.errors import UsageError
from otelreplay.replay import Session
from otelreplay.replay.declared import declared
from otelreplay.replay.fixtures import read_fixtures
from otelreplay.run import following, tools
from otelreplay.run.answering import plain, session_of
from otelreplay.run.endings import may_fail
from otelreplay.run.hosted import Hosted
from otelreplay.run.outcome import Replayed, not_started, replayed
from otelreplay.run.providers import towards, without_detours
from otelreplay.run.supervisor import LEVELS, supervise
from otelreplay.stubs import mcp
from otelreplay.wiring.files import shown
from otelreplay.wiring.normalizing import normalizers_named
from otelreplay.wiring.normalizing import options as as_options
from otelreplay.wiring.replaying import Opened, clean_report, fixtures_text, testify, watched


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What ``run`` and ``stub`` have in common."""

    tools: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    live_tools: tuple[str, ...] = ()
    fixtures: str = ""
    observe: bool = False
    """Go on after a divergence."""
    normalizer: tuple[str, ...] = ()
    normalizers: str = ""
    """A file of them."""
    clock: bool = False
    """The wall clock of Python programs follows the recording."""

    def words(self) -> list[str]:
        """As they are written on the command line."""
        named = [word for tool in self.tools for word in ("--tool", tool)] + [w for name in self.mcp for w in ("--mcp", name)]
        named += [word for tool in self.live_tools for word in ("--live-tool", tool)]
        named += ["--clock", "recorded"] if self.clock else []
        more = as_options(self.normalizer, self.normalizers) + (["--observe"] if self.observe else [])
        return [*named, *(["--fixtures", self.fixtures] if self.fixtures else []), *more]


def run(
    held: Opened,
    command: Sequence[str],
    *,
    options: Options,
    timeout: float | None = None,
    to_stderr: bool = False,
    levels: frozenset[str] = LEVELS,
) -> Replayed:
    """Run a command to its end with the cassette in place of the world.

    Raises UsageError if nothing stands in for a recorded tool, or a file of fixtures is none. Everything else is a result.
    """
    said = shlex.join(["otelreplay", "run", held.name, *options.words(), "--", *command])
    named = tools.parse(options.tools, live=options.live_tools)
    _check_covered(held, named, options.mcp)
    hosted, session = _hosted(held, options, said)
    calls: list[Mapping[str, Any]] = []
    if watched():
        session.watch(lambda seq, keys: calls.append({"seq": seq, "keys": dict(keys)}))
    with ExitStack() as stack:
        variables = {tools.VARIABLE: tools.as_variable(named)}
        if options.clock:
            variables[following.CLOCK] = _clock(stack, held.cassette, session)
        observed = supervise(
            command,
            environ=without_detours(os.environ),
            timeout=timeout,
            levels=levels if not options.live_tools else frozenset(),
            variables=variables,
            to_stderr=to_stderr,
            service=hosted,
        )
    testify(calls)
    failed = not_started(observed)
    if failed is not None:
        raise failed
    code = observed.child_exit
    result = session.result(child_exit=None if may_fail(held.cassette) else code)
    found = replayed(observed, held.cassette.events, held=plain(result.as_json()))
    notes = [*found.report["notes"], *tools.unseen(named, observed.messages), *_said_of(options)]
    return replace(found, report=clean_report({**found.report, "cassette": shown(held.name), "notes": notes}))


def _clock(stack: ExitStack, cassette: Cassette, session: Session) -> str:
    """The file by which programs know the time; from now on it follows what the session serves."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="otelreplay-clock-")))
    starts = [int(event.start) for event in cassette.events if event.start is not None]
    told = following.Told(folder / "clock", min(starts, default=time.time_ns()))
    stack.callback(told.close)
    session.tell_served(lambda event: told.served(int(event.start or 0)))
    return str(folder / "clock")


def _said_of(options: Options) -> list[str]:
    """What a reader of the report has to know of how it came about."""
    clock = "the wall clock followed the recording: a time that the program made of it is inferred, not recorded"
    live = "tools really ran, so that only the Python hooks were in place, and let through what these tools did"
    return [*([clock] if options.clock else []), *([live] if options.live_tools else [])]


def _check_covered(held: Opened, named: Collection[tools.Tool], over_mcp: Collection[str]) -> None:
    lacking = tools.uncovered(held.cassette.events, named, others=mcp.covered(held.cassette.events, over_mcp))
    if lacking:
        raise UsageError(
            f"nothing stands in for these tools of the cassette: {', '.join(lacking)}",
            code="run.tools_uncovered",
            where=shown(held.name),
            next_step=f"name the function of each ({' '.join(f'--tool {name}=module:function' for name in lacking)}),"
            " or, where it is on an MCP server, --mcp NAME",
        )


def _hosted(held: Opened, options: Options, said: str) -> tuple[Hosted, Session]:
    text = fixtures_text(options.fixtures)
    session = session_of(
        held.cassette,
        key=secrets.token_bytes(32),
        fixtures=read_fixtures(text, where=shown(options.fixtures)) if text else {},
        normalizers=declared(normalizers_named(options.normalizer, options.normalizers)),
        command=said,
        observe=options.observe,
    )
    providers = frozenset(_providers(held.cassette))

    def variables(base: str) -> Mapping[str, str]:
        return towards(base, providers=providers, environ=os.environ)

    local = {tool.name for tool in tools.parse(options.tools, live=options.live_tools)}
    token = secrets.token_urlsafe(18)
    return Hosted(session, held.cassette, token=token, variables=variables, local=local), session


def _providers(cassette: Cassette) -> set[str]:
    named = (event.request.get("provider") for event in cassette.events if event.kind in ("model", "embeddings"))
    return {name for name in named if isinstance(name, str)}


def stub(held: Opened, *, options: Options, port: int = 0, ready: Callable[[Mapping[str, str]], None]) -> Replayed:
    """Serve a cassette until this process is interrupted. ``ready`` is given the variables for those who ask."""
    said = shlex.join(["otelreplay", "stub", held.name, *options.words()])
    hosted, session = _hosted(held, options, said)
    listener = socket.socket()
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be listened on: {error.strerror}", code="stub.port", next_step="name another port, or none"
        ) from None
    listener.listen(1024)
    over = threading.Event()
    before = {number: signal.signal(number, lambda *_: over.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        hosted.start(listener)
        ready(hosted.variables(*listener.getsockname()[:2]))
        over.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        hosted.stop()
    report = plain(session.result(guard="none: only what asks this stub is answered").as_json())
    return Replayed(outcome=str(report["outcome"]), report=clean_report(report))
