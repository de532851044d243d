"""What is measured, each in a process of its own: ``python -m benchmarks.worker NAME ARGUMENT...`` prints one line of JSON."""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Result = dict[str, Any]


def convert(file: str, out: str) -> Result:
    """Trace file to sealed cassettes with the default policy, as the command does it."""
    from otelreplay.wiring.converting import convert_files
    from otelreplay.wiring.settings import retention

    nothing = retention(purpose="", classification="", expires="")
    began = time.process_time()
    result = convert_files([file], out=Path(out), policy="default", one_run=False, retention=nothing, progress=lambda _: None)
    return {"spans": result.spans, "runs": len(result.runs), "seconds": time.process_time() - began}


def parse(file: str) -> Result:
    """The same file through the protobuf library alone: nothing that reads it can be faster."""
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    data = Path(file).read_bytes()
    began = time.process_time()
    message = TracesData.FromString(data)
    seconds = time.process_time() - began
    return {"spans": _count(message), "seconds": seconds}


def dump(file: str) -> Result:
    """The same file through the protobuf library, into dicts, and out as JSON lines: the least that any converter does."""
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    data = Path(file).read_bytes()
    began = time.process_time()
    message = TracesData.FromString(data)
    for group in message.resource_spans:
        for scoped in group.scope_spans:
            for span in scoped.spans:
                values = {pair.key: pair.value.string_value or str(pair.value) for pair in span.attributes}
                json.dumps({"id": span.span_id.hex(), "name": span.name, "attributes": values})
    return {"spans": _count(message), "seconds": time.process_time() - began}


def _count(message: Any) -> int:
    return sum(len(scoped.spans) for group in message.resource_spans for scoped in group.scope_spans)


def read(file: str) -> Result:
    """Any trace file to spans."""
    from otelreplay.inputs import read_batches

    with Path(file).open("rb") as stream:
        began = time.process_time()
        spans = sum(len(batch.spans) for batch in read_batches(stream, name=""))
        return {"spans": spans, "seconds": time.process_time() - began}


def spool(file: str, folder: str, budget: str) -> Result:
    """Spans into the spool and out again, trace by trace."""
    from otelreplay.inputs import read_batches
    from otelreplay.pipeline.spool import Spool

    with Path(file).open("rb") as stream:
        batches = list(read_batches(stream, name=""))
    gc.freeze()  # what is held for the measurement only shall not cost collections inside it
    with Spool(Path(folder), memory_budget=int(budget)) as held:
        began = time.process_time()
        for batch in batches:
            held.add(batch.spans, batch.logs)
        added = time.process_time() - began
        spans = sum(len(held.take([trace.trace_id])[0]) for trace in held.traces())
        return {"spans": spans, "seconds": added, "taken": time.process_time() - began - added, "spilled": held.spilled}


def load(file: str) -> Result:
    """A cassette from disk to its events."""
    from otelreplay.cassette import read_cassette

    with Path(file).open("rb") as stream:
        began = time.perf_counter()
        cassette = read_cassette(stream)
        return {"events": len(cassette.events), "seconds": time.perf_counter() - began}


def lengthen(file: str, count: str) -> Result:
    """The cassette of a long recording, made in a process of its own: one that starts others gives them its peak of memory."""
    from benchmarks import length

    return {"size": length.write(Path(file), int(count))}


def replay(file: str, count: str) -> Result:
    """A long recording, replayed to its end: see :mod:`benchmarks.length`."""
    from benchmarks import length

    return length.replay(file, count)


def main(arguments: list[str]) -> None:
    """Run one function and print its result with what the process took."""
    known: dict[str, Callable[..., Result]] = {
        each.__name__: each for each in (convert, parse, dump, read, spool, load, lengthen, replay)
    }
    result = known[arguments[0]](*arguments[1:])
    usage = resource.getrusage(resource.RUSAGE_SELF)
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10  # bytes there, KiB elsewhere
    result |= {"processor": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / scale}
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1:])
