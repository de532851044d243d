"""I2: what was acknowledged survives ``kill -9`` at any moment, and is there once.

``OTELREPLAY_SOAK`` is how often the process is killed (`make soak` asks for many).
"""

import http.client
import os
import random
import signal
import threading
import time
from collections import Counter

import grpc
import msgspec

from otelreplay.cassette import verify_cassette
from otelreplay.testing.inboxes import sample_span
from otelreplay.wiring.settings import open_keyring
from tests.receiver.posts import PROTOBUF, TRACE_SERVICE, cassettes, request
from tests.receiver.process import serving_process

ROUNDS = int(os.environ.get("OTELREPLAY_SOAK", "3"))
SPANS_IN_A_RUN = 5
SENDERS = ("grpc", "http", "grpc", "http")


class Sender(threading.Thread):
    """Sends spans of runs of its own in random parts, some twice, until told to stop; sends again what had no answer."""

    def __init__(self, number, way, seed):
        super().__init__(daemon=True)
        self.number, self.way, self.random = number, way, random.Random(seed)
        self.made, self.acknowledged, self.unanswered = 0, set(), []
        self.port, self.stop = 0, threading.Event()

    def run(self):
        while not self.stop.is_set():
            spans = self.unanswered or self.next_spans()
            self.unanswered = spans
            if self.sent(request(*spans)):
                self.acknowledged |= {span.key for span in spans}
                self.unanswered = []
                if self.random.random() < 0.2:
                    self.sent(request(*spans))

    def next_spans(self):
        found = []
        for _ in range(self.random.randint(1, 12)):
            run, step = divmod(self.made, SPANS_IN_A_RUN)
            self.made += 1
            step = SPANS_IN_A_RUN - step  # the root comes last
            attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": f"tool{step}", "text": "x" * 2000}
            trace = f"{self.number + 1:08x}{run + 1:024x}"
            found.append(msgspec.structs.replace(sample_span(step, trace_id=trace), attributes=attributes))
        return found

    def sent(self, body):
        try:
            if self.way == "grpc":
                with grpc.insecure_channel(f"127.0.0.1:{self.port}") as channel:
                    channel.unary_unary(TRACE_SERVICE)(body, timeout=5)
                return True
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            try:
                connection.request("POST", "/v1/traces", body, {"Content-Type": PROTOBUF})
                return connection.getresponse().status == 200
            finally:
                connection.close()
        except (grpc.RpcError, OSError, http.client.HTTPException):
            time.sleep(0.01)
            return False


def test_no_acknowledged_span_is_lost_and_none_doubled_by_kills_under_load(tmp_path, monkeypatch):
    """Several senders over both protocols, retrying as exporters do, while the process is killed again and again."""
    keys, store = tmp_path / "keys", tmp_path / "store"
    monkeypatch.setenv("OTELREPLAY_KEYS", str(keys))
    moment = random.Random(ROUNDS)
    senders = [Sender(number, way, seed=number) for number, way in enumerate(SENDERS)]
    for round_ in range(ROUNDS + 1):
        with serving_process(store, "--quiet-period", "0.2", keys=keys) as served:
            for sender in senders:
                sender.port = served.grpc if sender.way == "grpc" else served.http
                if not round_:
                    sender.start()
            if round_ < ROUNDS:
                time.sleep(moment.uniform(0.05, 0.8))
                assert served.end(signal.SIGKILL)[0] == -signal.SIGKILL
            else:
                time.sleep(0.3)
                for sender in senders:
                    sender.stop.set()
                for sender in senders:
                    sender.join(30)
                code, _, err = served.end()
                assert (code, err) == (0, "")
    acknowledged = set().union(*(sender.acknowledged for sender in senders))
    assert len(acknowledged) > 20 * ROUNDS
    held = Counter(span for cassette in cassettes(store).values() for event in cassette.events for span in event.spans)
    assert acknowledged - set(held) == set(), "acknowledged and lost"
    assert [span for span, count in held.items() if count > 1] == [], "doubled"
    trust = open_keyring().trust_store()
    for path in (store / "cassettes").iterdir():
        with path.open("rb") as stream:
            assert verify_cassette(stream, trust=trust).ok, path.name
