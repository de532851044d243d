"""Everything that a replay needs, from the names that a user gives."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, Any

from otelreplay.canonical import dumps
from otelreplay.cassette import Cassette, read_cassette
from otelreplay.cassette.aside import LARGE, aside_for
from otelreplay.errors import UsageError
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
from otelreplay.replay.fixtures import read_fixtures
from otelreplay.run.agents import named
from otelreplay.run.outcome import Replayed, not_started, replayed
from otelreplay.run.supervisor import LEVELS, supervise
from otelreplay.wiring.files import opened, shown
from otelreplay.wiring.normalizing import normalizers_named, options
from otelreplay.wiring.settings import now

_FIXTURES = 64 << 20
_CHUNK = 1 << 20
CHILD = "otelreplay.run.child"
WITNESS = "OTELREPLAY_RUN_WITNESS"
"""Names a file for digests of every call: set by ``--self-check`` for the replays that it starts."""
_PLACES = ("where", "stack")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A cassette that may be replayed, and its bytes."""

    name: str
    source: IO[bytes]
    cassette: Cassette

    def __del__(self) -> None:
        self.source.close()

    def chunks(self) -> Iterator[bytes]:
        """The bytes."""
        self.source.seek(0)
        while chunk := self.source.read(_CHUNK):
            yield chunk


def open_for_replay(name: str, *, allow_expired: bool = False, allow_unsealed: bool = False) -> Opened:
    """Read a cassette once; what is replayed are the very bytes that were verified."""
    source = tempfile.SpooledTemporaryFile(max_size=LARGE, prefix="otelreplay-")  # noqa: SIM115 - as long as what is opened
    with opened(name) as stream:
        shutil.copyfileobj(stream, source, _CHUNK)
    source.seek(0)
    held = read_cassette(
        source, now=now(), allow_expired=allow_expired, allow_unsealed=allow_unsealed, where=shown(name),
        aside=aside_for(source),  # type: ignore[arg-type]
    )  # fmt: skip
    return Opened(name=name, source=source, cassette=held)


def replay(
    held: Opened,
    *,
    agent: str,
    fixtures: str = "",
    normalizer: Sequence[str] = (),
    normalizers: str = "",
    timeout: float | None = None,
    to_stderr: bool = False,
    levels: frozenset[str] = LEVELS,
    observe: bool = False,
) -> Replayed:
    """Replay the agent in a process of its own, under guard. ``observe``: go on after a divergence.

    Raises UsageError if there is no such agent or a file of fixtures is none, MissingDataError if the cassette does not hold
    what the agent was called with. Everything else is a result.
    """
    named(agent)
    settings = {
        "agent": agent,
        "where": shown(held.name),
        "fixtures": fixtures_text(fixtures),
        "normalizers": normalizers_named(normalizer, normalizers),
        "command": _command(held.name, agent, fixtures, options(normalizer, normalizers), observe=observe),
        "observe": observe,
        "allow_expired": True,  # as was asked when it was opened
        "allow_unsealed": held.cassette.seal is None,
        "witness": bool(os.environ.get(WITNESS)),
    }
    observed = supervise(
        [sys.executable, "-m", CHILD, "{payload}"],
        environ=os.environ,
        payload=chain((json.dumps(settings).encode("ascii") + b"\n",), held.chunks()),
        timeout=timeout,
        levels=levels,
        variables={"OTELREPLAY_RUN_MAIN": "1"},
        to_stderr=to_stderr,
    )
    testify(m for m in observed.messages if m.get("type") == "asked")
    refused = not_started(observed)
    if refused is not None:
        raise refused
    found = replayed(observed, held.cassette.events)
    return replace(found, report=clean_report({**found.report, "cassette": shown(held.name)}))


def watched() -> bool:
    """Whether this replay is one of several under a self-check."""
    return bool(os.environ.get(WITNESS))


def testify(messages: Iterable[Mapping[str, Any]]) -> None:
    """Leave what was asked, call by call, where whoever started this process looks for it."""
    if os.environ.get(WITNESS):
        Path(os.environ[WITNESS]).write_bytes(b"".join(dumps(dict(message)) + b"\n" for message in messages))


def fixtures_text(name: str) -> str:
    """The text of a file of fixtures, which has been read once; empty for no name."""
    if not name:
        return ""
    try:
        with opened(name) as stream:
            text = stream.read(_FIXTURES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the fixtures are not UTF-8 text", code="replay.fixture", where=shown(name)) from None
    read_fixtures(text, where=shown(name))
    return text


def _command(cassette: str, agent: str, fixtures: str, more: Sequence[str], *, observe: bool) -> str:
    more = [*(["--fixtures", fixtures] if fixtures else []), *more, *(["--observe"] if observe else [])]
    return shlex.join(["otelreplay", "replay", cassette, "--agent", agent, *more])


def clean_report(report: Mapping[str, Any]) -> dict[str, Any]:
    """Reports pass the cassette's policy, which the session sees to, and the local default."""
    policy = default_policy()
    redactor = compile_policy(policy, key=PseudonymKey(secret=secrets.token_bytes(32), tenant=policy.tenant))
    return {name: redactor.value(_near(value, f"{Path.cwd()}{os.sep}"), name) for name, value in report.items()}


def _near(value: Any, folder: str, name: str = "") -> Any:
    """Places in the source as seen from the current folder."""
    if isinstance(value, dict):
        return {key: _near(item, folder, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_near(item, folder, name) for item in value]
    return value.removeprefix(folder) if isinstance(value, str) and name in _PLACES else value


def check_report(file: Path | None) -> None:
    """Raise UsageError if a report could not be written there, before the run rather than after it."""
    if file is not None and (file.is_dir() or not os.access(file if file.exists() else file.absolute().parent, os.W_OK)):
        raise UsageError(
            "no report can be written there",
            code="output.unwritable",
            where=str(file),
            next_step="name a file in a folder that you may write to",
        )


def write_report(file: Path | None, report: Mapping[str, Any]) -> None:
    """Write the JSON report."""
    if file is not None:
        file.write_bytes(dumps(report) + b"\n")
