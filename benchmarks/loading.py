"""(c) Loading a cassette of 15 MB."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator

from benchmarks import data
from benchmarks.harness import Row, Setting, median, work

_BYTES = 15_000_000
_GOAL = 1.0


def bench(setting: Setting) -> Iterator[Row]:
    """A run with enough text in its turns, and decoding the bare lines of its cassette as the limit."""
    calls, share = 60, 0.49  # a tool's result stands in its own event and in the messages that quote it
    spans = list(data.conversation(random.Random(3), calls=calls, turn_bytes=int(_BYTES * share / calls)))
    file, out = setting.folder / "large.pb", setting.folder / "large"
    file.write_bytes(data.as_protobuf(spans))
    work("convert", str(file), str(out), folder=setting.folder)
    (cassette,) = out.glob("*.cassette.jsonl")
    seconds = median(lambda: float(work("load", str(cassette), folder=setting.folder)["seconds"]), setting.repeat)
    limit = median(lambda: _decode(cassette.read_bytes()), setting.repeat)
    yield Row(
        f"load a cassette of {cassette.stat().st_size / 1e6:.1f} MB",
        f"{seconds * 1000:,.0f} ms",
        f"json.loads of its lines {limit * 1000:,.0f} ms",
        f"< {_GOAL:g} s",
        seconds < _GOAL,
    )


def _decode(text: bytes) -> float:
    began = time.perf_counter()
    for line in text.splitlines():
        json.loads(line)
    return time.perf_counter() - began
