"""A receiver of its own for a test, and senders that say what the wire says."""

import contextlib
import gzip
import http.client
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from otelreplay.cassette import read_cassette
from otelreplay.receiver.door import LIMIT
from otelreplay.receiver.sealer import SECOND, Patience
from otelreplay.receiver.server import Settings
from otelreplay.wiring.serving import serving
from tests.inputs import otlp

PROTOBUF, JSON = "application/x-protobuf", "application/json"
TRACE_SERVICE = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOGS_SERVICE = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
LONG = 3600.0


@dataclass
class Post:
    """A served store."""

    receiver: Any
    folder: Path
    said: list = field(default_factory=list)

    def post(self, body, media=PROTOBUF, *, path="/v1/traces", method="POST", **headers):
        """Status, headers and body of one HTTP request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.receiver.http.port, timeout=30)
        try:
            sent = {"Content-Type": media} if media else {}
            connection.request(method, path, body, sent | {k.replace("_", "-"): v for k, v in headers.items()})
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def json(self, document, **more):
        """The answer to a JSON body, decoded."""
        status, _, body = self.post(json.dumps(document).encode(), JSON, **more)
        return status, json.loads(body)

    def call(self, body, method=TRACE_SERVICE, *, metadata=(), compression=None):
        """The bytes that a gRPC call answers."""
        options = [("grpc.max_send_message_length", -1)]
        with grpc.insecure_channel(f"127.0.0.1:{self.receiver.grpc.port}", options=options) as channel:
            return channel.unary_unary(method)(body, metadata=metadata, compression=compression, timeout=30)

    def sent(self, *spans, logs=()):
        """Spans, and log records, each in a request."""
        for span in spans:
            self.call(otlp.traces_data([span]))
        if logs:
            self.call(otlp.logs_data(list(logs)), LOGS_SERVICE)

    @property
    def status(self):
        return json.loads(self.post(None, None, path="/status", method="GET")[2])

    def until(self, holds, seconds=60.0):
        """Wait for something that a thread of the receiver does."""
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, (self.status, self.said)
            time.sleep(0.02)

    def cassettes(self):
        return cassettes(self.folder)


def cassettes(folder):
    """Every current cassette of a store, by name."""
    found = {}
    for path in sorted((folder / "cassettes").glob("*.cassette.jsonl")):
        with path.open("rb") as stream:
            found[path.name] = read_cassette(stream)
    return found


def pending_spans(post):
    """Every span that is held, by id."""
    inbox = post.receiver._inbox
    return {span.span_id: span for span in inbox.read([state.key for state in inbox.recent(0, 10_000)])[0]}


@contextlib.contextmanager
def served(folder, *, quiet=LONG, idle=LONG, retention=24 * LONG, limit=LIMIT, memory=256 << 20, tokens=None, policy="default"):
    """A receiver over a store that seals nothing by itself unless asked to."""
    settings = Settings(
        grpc=("127.0.0.1", 0),
        http=("127.0.0.1", 0),
        limit=limit,
        memory=memory,
        patience=Patience(quiet=int(quiet * SECOND), idle=int(idle * SECOND), retention=int(retention * SECOND)),
    )
    said = []
    with serving(folder, policy=policy, settings=settings, tokens=tokens or {}, say=said.append) as receiver:
        yield Post(receiver, folder, said)


def request(*spans):
    """The bytes of an export request."""
    return otlp.traces_data(list(spans))


def partial(body):
    """(rejected spans, message) of a protobuf answer."""
    found = trace_service_pb2.ExportTraceServiceResponse.FromString(body)
    assert found.HasField("partial_success")
    return found.partial_success.rejected_spans, found.partial_success.error_message


def status_of(data):
    """(code, message, {detail name: detail}) of a google.rpc.Status."""
    found = status_pb2.Status.FromString(data)
    details = {}
    for packed in found.details:
        name = packed.type_url.rpartition(".")[2]
        details[name] = getattr(error_details_pb2, name).FromString(packed.value)
    return found.code, found.message, details


def refusal(error):
    """The same of a gRPC error."""
    sent = dict(error.trailing_metadata())
    return status_of(sent["grpc-status-details-bin"])


def packed(body):
    return gzip.compress(body)
