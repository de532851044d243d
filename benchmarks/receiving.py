"""(f) Receiving: what a span costs the receiver until it is durable, against servers that keep nothing."""

from __future__ import annotations

import contextlib
import http.client
import os
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc

from benchmarks import data
from benchmarks.harness import Row, Setting
from benchmarks.sinks import SERVICE

_IN_FLIGHT = 8
_SPANS = 50
"""Spans of a request."""
Post = Callable[[bytes], None]


def bench(setting: Setting) -> Iterator[Row]:
    """Processor time per span of chat spans that are new each time; acknowledged means redacted and on disk."""
    count = setting.scale // 5
    rounds = [_requests(count, seed) for seed in range(setting.repeat)]
    size = sum(map(len, rounds[0])) / count
    costs = {name: _cost(name, rounds, count, setting.folder) for name in ("sink", "sink_asyncio", "parser", "receiver_off")}
    against = f"no-op gRPC sink {costs['sink']:.0f} us, asyncio {costs['sink_asyncio']:.0f}, decoding {costs['parser']:.0f}"
    yield Row(
        f"receive, {_SPANS} spans of {size / 1000:.1f} KB a request, gRPC",
        f"{_cost('receiver', rounds, count, setting.folder):.0f} us CPU/span",
        against,
        "baseline",
    )
    yield Row("the same over HTTP", f"{_cost('receiver_http', rounds, count, setting.folder):.0f} us CPU/span", "", "baseline")
    yield Row("the same, gRPC, with nothing to redact", f"{costs['receiver_off']:.0f} us CPU/span", "", "baseline")


def _requests(count: int, seed: int) -> list[bytes]:
    spans = [span for run in data.chat_spans(count, seed=seed) for span in run]
    return [data.as_protobuf(spans[at : at + _SPANS]) for at in range(0, len(spans), _SPANS)]


def _cost(name: str, rounds: list[list[bytes]], count: int, folder: Path) -> float:
    """Microseconds a span, the median of the rounds."""
    store = folder / f"store-{name}"
    environment = {**os.environ, "OTELREPLAY_KEYS": str(folder / "keys")}
    command = [sys.executable, "-m", "benchmarks.sinks", name, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        found: list[float] = []
        with _poster(name, int(child.stdout.readline())) as post:
            for requests in rounds:
                print(file=child.stdin, flush=True)
                _send(requests, post)
                print(file=child.stdin, flush=True)
                found.append(float(child.stdout.readline()) / count * 1e6)
        child.kill()  # what is pending need not be sealed
    return statistics.median(found)


@contextlib.contextmanager
def _poster(name: str, port: int) -> Iterator[Post]:
    if name == "receiver_http":
        held = threading.local()

        def post(body: bytes) -> None:
            if not hasattr(held, "connection"):
                held.connection = http.client.HTTPConnection("127.0.0.1", port)
            held.connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
            answer = held.connection.getresponse()
            answer.read()
            assert answer.status == 200

        yield post
        return
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = channel.unary_unary(f"/{SERVICE}/Export")

        def send(body: bytes) -> None:
            call(body)

        yield send


def _send(requests: list[bytes], post: Post) -> None:
    waiting = iter(requests)
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                body = next(waiting, None)
            if body is None:
                return
            post(body)

    threads = [threading.Thread(target=work) for _ in range(_IN_FLIGHT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
