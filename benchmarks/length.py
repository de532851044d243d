"""(d) Replay by the length of the recording: memory and time of a cassette of ten times as many events."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import Row, Setting, work
from benchmarks.replaying import calls_of, recorded
from otelreplay.cassette import Signer, header_for, write_cassette
from otelreplay.events import Event, Recording

_TURNS = 50
_SLOWEST = 1.0
"""Milliseconds a boundary."""
_MOST = 4_096
"""Bytes of memory for each further event: what an index of it takes. The events themselves are several times as large."""


def bench(setting: Setting) -> Iterator[Row]:
    """Conversations of fifty turns one after the other, replayed to the end in a process of their own."""
    found = {}
    for events in (setting.scale, 10 * setting.scale):
        file = setting.folder / f"events-{events}.cassette.jsonl"
        size = float(work("lengthen", str(file), str(events), folder=setting.folder)["size"])
        found[events] = work("replay", str(file), str(events), folder=setting.folder)
        peak, each = 2**20 * float(found[events]["memory"]), float(found[events]["each"])
        yield Row(
            f"replay of {events:,} events, a cassette of {size / 1e6:,.0f} MB", f"{each:.2f} ms",
            f"session made in {found[events]['made']:.0f} s",
            f"<= {_SLOWEST:g} ms", each <= _SLOWEST,
        )  # fmt: skip
        yield Row("  peak memory of its process", f"{peak / 2**20:,.0f} MiB", "", "", None)
    small, large = sorted(found)
    more = 2**20 * (float(found[large]["memory"]) - float(found[small]["memory"])) / (large - small)
    whole = (setting.folder / f"events-{large}.cassette.jsonl").stat().st_size / large
    yield Row(
        "  memory for each further event",
        f"{more:,.0f} B",
        f"{whole:,.0f} B of cassette an event",
        f"<= {_MOST} B",
        more <= _MOST,
    )


def write(file: Path, count: int) -> int:
    """A sealed cassette of so many events; its size."""
    events = tuple(_events(count))
    recording = Recording(run_id="ab12", trace_ids=("ab" * 16,), events=events, span_count=count, scopes=("otelreplay",))
    with file.open("wb") as out:
        out.writelines(write_cassette(recording, header=header_for(recording), signer=Signer(bytes(32))))
    return file.stat().st_size


def _events(count: int) -> Iterator[Event]:
    for first in range(0, count, 2 * _TURNS):
        for event in recorded(calls_of(_TURNS, first), first=first).events:
            at = {"seq": event.seq + first, "after": [n + first for n in event.after]}
            yield event.model_copy(update=at)


def replay(file: str, count: str) -> dict[str, Any]:
    """The worker: every call of the recording, made again."""
    from otelreplay.cassette import read_cassette
    from otelreplay.cassette.aside import FileAside
    from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
    from otelreplay.replay import ReplayInterceptor, Session

    began = time.process_time()
    with Path(file).open("rb") as stream:
        cassette = read_cassette(stream, aside=FileAside())
    redactor = compile_policy(default_policy(), key=PseudonymKey(secret=b"an ephemeral key for a replay 00"))
    session = Session(cassette, redactor=redactor)
    made = time.process_time() - began
    hook, spent, served = ReplayInterceptor(session), 0.0, 0
    for first in range(0, int(count), 2 * _TURNS):
        for call, _ in calls_of(_TURNS, first):
            before = time.thread_time()
            hook.call(call)
            spent += time.thread_time() - before
            served += 1
    result = session.result()
    if (result.exit_code, result.served) != (0, served):
        raise RuntimeError(json.dumps(result.as_json())[:2000])
    return {"made": made, "each": 1000 * spent / served, "served": served}
