"""``python -m benchmarks [NAME...] [--repeat N] [--scale SPANS] [--captures DIR]``: measure, and print one table."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import (
    conversion,
    gigabyte,
    instrument,
    length,
    loading,
    mutation,
    reading,
    receiving,
    replaying,
    resurrection,
    size,
    start,
)
from benchmarks.harness import Bench, Setting, run

BENCHES: dict[str, Bench] = {
    "conversion": conversion.bench,
    "gigabyte": gigabyte.bench,
    "size": size.bench,
    "loading": loading.bench,
    "start": start.bench,
    "reading": reading.bench,
    "replaying": replaying.bench,
    "length": length.bench,
    "mutation": mutation.bench,
    "instrument": instrument.bench,
    "receiving": receiving.bench,
    "resurrection": resurrection.bench,
}


def main() -> int:
    """Measure what was asked for; 1 if a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; all without one")
    parser.add_argument("--repeat", type=int, default=5, help="measurements a median is taken of")
    parser.add_argument(
        "--scale", type=int, default=10_000, help="spans of the small conversion; the large one has ten times as many"
    )
    parser.add_argument("--captures", type=Path, metavar="DIR", help="captured runs whose mutants are tried too")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHES)
    if unknown:
        parser.error(f"no such bench; there are {', '.join(BENCHES)}")
    chosen = [(name, bench) for name, bench in BENCHES.items() if name in options.names or not options.names]
    with tempfile.TemporaryDirectory(prefix="otelreplay-bench-") as folder:
        setting = Setting(Path(folder), repeat=options.repeat, scale=options.scale, captures=options.captures)
        rows = run(chosen, setting, show=lambda line: print(line, flush=True))
    return int(any(row.met is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
