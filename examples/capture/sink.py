"""An OTLP/HTTP receiver that keeps what it is sent: JSON Lines as a Collector's file exporter writes them, and protobuf."""

from __future__ import annotations

import base64
import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId", "spanId", "parentSpanId"}


def otlp_json(request: ExportTraceServiceRequest) -> Any:
    """OTLP's own JSON mapping: ids are hex and enums are numbers, where protobuf's would be base64 and names."""

    def fix(node: Any) -> Any:
        if isinstance(node, dict):
            return {k: base64.b64decode(v).hex() if k in IDS else fix(v) for k, v in node.items()}
        return [fix(v) for v in node] if isinstance(node, list) else node

    return fix(json_format.MessageToDict(request, use_integers_for_enums=True))


class Sink:
    """Requests in the order of arrival."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                sink.bodies.append(gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw)
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", "0")
                self.end_headers()

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.port = int(server.server_address[1])

    def json_lines(self) -> str:
        """One export request a line."""
        requests = (ExportTraceServiceRequest.FromString(body) for body in self.bodies)
        return "".join(json.dumps(otlp_json(r), ensure_ascii=False, separators=(",", ":")) + "\n" for r in requests)

    def protobuf(self) -> bytes:
        """All requests as one: protobuf messages that follow each other are one message with their lists joined."""
        return b"".join(self.bodies)
