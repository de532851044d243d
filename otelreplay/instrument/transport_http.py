"""OTLP/HTTP with protobuf bodies, over the standard library."""

from __future__ import annotations

import contextlib
import email.utils
import gzip
import http.client
import socket
import ssl
import time

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otelreplay import __version__
from otelreplay.instrument.destination import Destination
from otelreplay.instrument.transport import Answer

_REFUSED = {400, 413, 422}
_LONGEST_ANSWER = 4 << 20


class HttpTransport:
    """A connection that is kept open between requests."""

    def __init__(self, destination: Destination) -> None:
        self._to = destination
        self._connection: http.client.HTTPConnection | None = None
        self._headers = {
            "user-agent": f"otelreplay/{__version__}",
            **dict(destination.headers),
            "content-type": "application/x-protobuf",
        }
        if destination.gzip:
            self._headers["content-encoding"] = "gzip"

    def send(self, data: bytes, timeout: float) -> Answer:
        """One POST. A kept connection that the other side closed meanwhile is made anew, once."""
        body = gzip.compress(data, 1) if self._to.gzip else data
        for fresh in (self._connection is None, True):
            try:
                return self._post(body, timeout)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
                self.close()
                if fresh:
                    return Answer(outcome="later", reason=type(error).__name__)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.close()
                return Answer(outcome="later", reason=type(error).__name__)
        raise AssertionError("the second attempt is always a fresh one")

    def cancel(self) -> None:
        """Cut the connection, which ends the wait for its answer."""
        connection = self._connection
        if connection is not None and isinstance(connection.sock, socket.socket):
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _post(self, body: bytes, timeout: float) -> Answer:
        connection = self._connection or self._connect(timeout)
        self._connection = connection
        connection.timeout = timeout
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        connection.request("POST", self._to.parts.path, body, self._headers)
        response = connection.getresponse()
        answer = response.read(_LONGEST_ANSWER)
        if response.will_close:
            self.close()
        return _meaning(response.status, answer, response.getheader("retry-after"))

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        parts = self._to.parts
        host = parts.hostname or ""
        if not self._to.secure:
            return http.client.HTTPConnection(host, parts.port or 80, timeout=timeout)
        context = ssl.create_default_context(cafile=self._to.certificate or None)
        if self._to.client_certificate:
            context.load_cert_chain(self._to.client_certificate, self._to.client_key or None)
        return http.client.HTTPSConnection(host, parts.port or 443, timeout=timeout, context=context)


def _meaning(status: int, body: bytes, retry_after: str | None) -> Answer:
    if 200 <= status < 300:
        try:
            partial = ExportTraceServiceResponse.FromString(body).partial_success
        except DecodeError:
            return Answer(outcome="taken", reason=f"HTTP {status}")
        return Answer(outcome="taken", rejected=max(partial.rejected_spans, 0), message=partial.error_message)
    return Answer(outcome="refused" if status in _REFUSED else "later", reason=f"HTTP {status}", wait=_seconds(retry_after))


def _seconds(text: str | None) -> float | None:
    """Retry-After: seconds, or a date (RFC 9110)."""
    if not text:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except ValueError:
        return None
