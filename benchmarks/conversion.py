"""(a) Conversion: OTLP protobuf file to sealed cassettes, default policy, one process; and its memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import data
from benchmarks.harness import Row, Setting, median, work

_GOAL = 5000
_GROWTH = 1.25


def bench(setting: Setting) -> Iterator[Row]:
    """Speed on a small file; peak memory on one that exceeds the memory of the spool, and on one ten times as large."""
    few, small, large = setting.scale // 5, setting.scale, setting.scale * 10
    files = {count: _file(setting.folder / f"{count}.pb", count) for count in (few, small, large)}
    size = files[few].stat().st_size / few
    folders = iter(range(1000))

    def spans_per_second(name: str, *more: str) -> float:
        def once() -> float:
            extra = [str(setting.folder / f"out{next(folders)}") for _ in more]
            found = work(name, str(files[few]), *extra, folder=setting.folder)
            assert found["spans"] == few
            return float(found["spans"] / found["seconds"])

        return median(once, setting.repeat)

    speed = spans_per_second("convert", "out")
    parse, dump = spans_per_second("parse"), spans_per_second("dump")
    yield Row(
        f"convert {few:,} spans of {size / 1000:.1f} KB to cassettes",
        f"{speed:,.0f} spans/s",
        f"protobuf parse {parse:,.0f}/s, with json.dumps {dump:,.0f}/s",
        f">= {_GOAL:,}",
        speed >= _GOAL,
    )
    memory = {}
    for count in (small, large):
        memory[count] = work("convert", str(files[count]), str(setting.folder / f"memory{count}"), folder=setting.folder)[
            "memory"
        ]
    growth = memory[large] / memory[small]
    yield Row(
        f"peak memory, {files[large].stat().st_size / 1e6:,.0f} MB of trace",
        f"{memory[large]:,.0f} MiB",
        f"{memory[small]:,.0f} MiB for {files[small].stat().st_size / 1e6:,.0f} MB",
        f"<= {_GROWTH:g} times",
        growth <= _GROWTH,
    )


def _file(path: Path, count: int) -> Path:
    """A trace file, written run by run: several messages in a row are one message."""
    with path.open("wb") as stream:
        for spans in data.chat_spans(count):
            stream.write(data.as_protobuf(spans))
    return path
