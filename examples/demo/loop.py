"""The last parts: an agent is recorded over real OTLP, and runs again from the cassette of its incident."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from examples.demo.steps import Shell, heading, say

AGENT = "examples.order_desk"


def loop(shell: Shell) -> None:
    """Record, receive, replay."""
    _record(shell)
    cassette = f"{shell.out}/store/cassettes/*.cassette.jsonl"
    _replay(shell, cassette)


def _record(shell: Shell) -> None:
    heading("3. An agent of your own: record it")
    say(
        "examples/order_desk is an agent with a few decorators: a scripted model that\n"
        "streams, three tools (one pays money), a search, the clock and an id. The\n"
        "receiver is a process of its own; the spans come to it over OTLP/gRPC."
    )
    with _receiver(shell) as address:
        say(f"receiver: listening on {address}")
        shell.python(AGENT, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{address}")
        say("\nThat was the incident: the whole order was paid back, for a late parcel.")
    shell.run("list", f"{shell.out}/store")
    shell.run("show", f"{shell.out}/store/cassettes/*.cassette.jsonl")


def _replay(shell: Shell, cassette: str) -> None:
    heading("4. Replay it, with nothing live in reach")
    say(
        "The agent's own code runs again; model, tools, search, clock and id answer\n"
        "from the cassette, and everything else that goes live is blocked. No money\n"
        "moves: the line of the shop above is not printed a second time."
    )
    shell.run("replay", cassette, "--agent", f"{AGENT}:answer")
    heading("5. Change the agent, and see the first difference")
    say("Somebody puts the newest policy first. What would have been different?")
    shell.run("replay", cassette, "--agent", f"{AGENT}:answer_by_newest_policy", expected=1)


@contextmanager
def _receiver(shell: Shell) -> Iterator[str]:
    """A receiver as a process; gives its address, and seals what it took in when it is stopped."""
    command = ["serve", "--store", f"{shell.out}/store", "--grpc", "127.0.0.1:0", "--http", "off"]
    say(f"\n$ otelreplay {' '.join(command)} &")
    process = subprocess.Popen(
        [sys.executable, "-m", "otelreplay", *command], env=shell.environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        ready = process.stdout.readline()
        found = re.search(r"grpc (\S+:\d+)", ready)
        if found is None:
            sys.exit("demo: the receiver did not start")
        yield found.group(1)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
