"""A concurrent agent over the stub: whatever the order in which its requests arrive, it is the recorded run."""

import http.client
import json
import random
import socket
import threading

import pytest

from otelreplay.stubs.host import Host
from otelreplay.stubs.server import Server
from tests.replay.builders import Tape, session, text

BRANCHES, TURNS = 6, 3


def recorded():
    """Branches that run at once; each repeats its own history, and two of them ask the very same."""
    tape = Tape()
    for branch in range(BRANCHES):
        said = [text("user", f"branch {max(branch, 1)}")]
        for turn in range(TURNS):
            reply = text("assistant", f"turn {turn} of {max(branch, 1)}")
            tape.model(list(said), reply=reply, at=1_000 + turn * 1_000 + branch, took=500, params={"temperature": 0})
            said += [reply, text("user", f"go on, {turn}")]
    return tape.cassette()


def branch(port, number, order, wrong):
    """One branch, which waits for its turn to send each request."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    said = [{"role": "user", "content": f"branch {max(number, 1)}"}]
    for turn in range(TURNS):
        order.wait(number, turn)
        body = json.dumps({"model": "m", "temperature": 0, "messages": said})
        client.request("POST", "/T/v1/chat/completions", body=body)
        order.sent()
        answer = json.loads(client.getresponse().read())
        content = answer.get("choices", [{"message": {"content": answer}}])[0]["message"]["content"]
        if content != f"turn {turn} of {max(number, 1)}":
            wrong.append((number, turn, content))
            break
        said += [{"role": "assistant", "content": content}, {"role": "user", "content": f"go on, {turn}"}]
    client.close()


class Order:
    """Lets the requests be sent in one shuffled order that each branch's own order allows."""

    def __init__(self, seed):
        numbers = [number for number in range(BRANCHES) for _ in range(TURNS)]
        random.Random(seed).shuffle(numbers)
        seen = dict.fromkeys(range(BRANCHES), 0)
        self._left = []
        for number in numbers:
            self._left.append((number, seen[number]))
            seen[number] += 1
        self._changed = threading.Condition()

    def wait(self, number, turn):
        with self._changed:
            self._changed.wait_for(lambda: not self._left or self._left[0] == (number, turn), timeout=30)

    def sent(self):
        with self._changed:
            self._left.pop(0)
            self._changed.notify_all()


@pytest.mark.parametrize("seed", range(50))
def test_no_schedule_of_a_concurrent_agent_diverges(seed):
    held = session(recorded())
    listener = socket.create_server(("127.0.0.1", 0))
    server, order, wrong = Server(listener, Host(held).answer, token="T"), Order(seed), []
    server.start()
    threads = [
        threading.Thread(target=branch, args=(listener.getsockname()[1], number, order, wrong)) for number in range(BRANCHES)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.stop()
    found = held.result()
    assert [] == wrong
    assert ("as_recorded", BRANCHES * TURNS, 0) == (found.outcome, found.served, found.unused)
