"""One call, recorded by this package and by others: ``python -m benchmarks.calls NAME FOLDER`` prints one line of JSON.

The call is the same everywhere: a lookup with two arguments that returns 1 KB of JSON. Everything is microseconds a call.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Result = dict[str, float]

LINES = [{"sku": f"SKU-{n}", "quantity": n, "price": 9.5 * n, "note": "x" * 40} for n in range(10)]
ORDER = {"id": "ord-17", "status": "open", "lines": LINES}


def lookup(order_id: str, limit: int = 10) -> dict[str, Any]:  # noqa: ARG001
    """The function under the decorators."""
    return ORDER


def best(call: Callable[..., Any], *, times: int = 2000, rounds: int = 15) -> float:
    """Processor time of this thread a call, the best of several rounds: what the call costs when nothing disturbs it."""
    found = []
    for _ in range(rounds):
        began = time.thread_time()
        for _ in range(times):
            call("ord-17", limit=3)
        found.append((time.thread_time() - began) / times)
    return min(found) * 1e6


def unconfigured(_: str) -> Result:
    """The decorated call where nothing is configured, and the bare one."""
    import otelreplay

    return {"bare": best(lookup), "decorated": best(otelreplay.tool(lookup))}


def span(_: str) -> Result:
    """The decorated call, and a span of the plain SDK with the same arguments and result in two attributes, taking turns."""
    from opentelemetry import trace
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

    import otelreplay

    provider = TracerProvider()
    provider.add_span_processor(SpanProcessor())
    trace.set_tracer_provider(provider)
    tracer = trace.get_tracer("bench")

    def plain(*args: Any, **kwargs: Any) -> Any:
        with tracer.start_as_current_span("execute_tool lookup") as current:
            current.set_attribute("arguments", json.dumps({"args": args, "kwargs": kwargs}))
            result = lookup(*args, **kwargs)
            current.set_attribute("result", json.dumps(result))
            return result

    decorated = otelreplay.tool(lookup)
    pairs = [(best(plain, times=1000, rounds=3), best(decorated, times=1000, rounds=3)) for _ in range(6)]
    return {"plain": min(one for one, _ in pairs), "decorated": min(other for _, other in pairs)}


def _whole(run: Callable[[int], Any], calls: int) -> Result:
    """A run of so many calls until its recording is on disk: processor time of all threads, and wall clock, a call."""
    run(10)
    began, wall = time.process_time(), time.perf_counter()
    run(calls)
    return {"processor": (time.process_time() - began) / calls * 1e6, "wall": (time.perf_counter() - wall) / calls * 1e6}


def otelreplay(folder: str) -> Result:
    """Redacted and committed to the outbox; nobody takes it from there."""
    import otelreplay as package

    package.configure(endpoint="http://127.0.0.1:9", outbox=Path(folder) / "outbox", quiet=True, exit_timeout=0.1)
    tool = package.tool(lookup)

    def run(calls: int) -> None:
        for _ in range(calls):
            tool("ord-17", limit=3)
        package.flush(timeout=30)

    return _whole(run, 2000)


def agentrr(folder: str) -> Result:
    """One line of JSON and one fsync a call."""
    from agentrr_sdk import record, tool  # type: ignore[import-not-found]

    wrapped = tool(lookup)

    def run(calls: int) -> None:
        record("bench", _repeat, wrapped, calls, log_path=Path(folder) / f"{calls}.jsonl")

    return _whole(run, 300)


def agenttape(folder: str) -> Result:
    """YAML, written at the end."""
    import agenttape as package  # type: ignore[import-not-found]

    wrapped = package.tool(lookup)

    def run(calls: int) -> None:
        with package.use_cassette(str(Path(folder) / str(calls)), mode="record"):
            _repeat(wrapped, calls)

    return _whole(run, 300)


def agentcassette(folder: str) -> Result:
    """JSON, written at the end."""
    import agentcassette as package  # type: ignore[import-not-found]

    wrapped = package.intercept(lookup, kind="tool")

    def run(calls: int) -> None:
        with package.record(str(Path(folder) / f"{calls}.json")):
            _repeat(wrapped, calls)

    return _whole(run, 300)


def _repeat(call: Callable[..., Any], calls: int) -> None:
    for _ in range(calls):
        call("ord-17", limit=3)


def main(arguments: list[str]) -> None:
    """Run one of them."""
    known: dict[str, Callable[[str], Result]] = {
        each.__name__: each for each in (unconfigured, span, otelreplay, agentrr, agenttape, agentcassette)
    }
    print(json.dumps(known[arguments[0]](arguments[1])))


if __name__ == "__main__":
    # By its name, which a recorder writes down: of __main__ it may refuse to.
    import_module("benchmarks.calls").main(sys.argv[1:])
