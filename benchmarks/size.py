"""(b) Bytes of a cassette whose every model call repeats the history, against the same trace as OTLP JSON."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks import data
from benchmarks.harness import Row, Setting, work

_TURNS = (50, 100, 200)
_GOAL = 0.15
_LINEAR = 1.15


def bench(setting: Setting) -> Iterator[Row]:
    """Cassettes of 50, 100 and 200 turns; bytes a turn must not grow."""
    a_turn = {}
    for turns in _TURNS:
        spans = list(data.conversation(random.Random(turns), calls=turns, turn_bytes=1200))
        written, file, out = data.as_json(spans), setting.folder / f"{turns}.json", setting.folder / f"turns{turns}"
        file.write_bytes(written)
        work("convert", str(file), str(out), folder=setting.folder)
        (cassette,) = out.glob("*.cassette.jsonl")
        size = cassette.stat().st_size
        a_turn[turns] = size / turns
        share = size / len(written)
        first = turns == _TURNS[0]
        growth = a_turn[turns] / a_turn[_TURNS[0]]
        yield Row(
            f"cassette of {turns} turns that repeat the history",
            f"{size / 1e6:.2f} MB, {a_turn[turns] / 1000:.1f} KB/turn",
            f"{share:.1%} of {len(written) / 1e6:.1f} MB OTLP JSON",
            f"< {_GOAL:.0%}" if first else f"<= {_LINEAR:g} times the bytes/turn of {_TURNS[0]}",
            share < _GOAL if first else growth <= _LINEAR,
        )
