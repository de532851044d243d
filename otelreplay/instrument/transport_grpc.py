"""OTLP/gRPC, over grpcio.

A channel that failed is thrown away: it would wait longer and longer before it connects again, and how long to wait is the
sender's decision. For the same reason channels share no connections.

Fork: grpcio's threads do not live on in a child. Its own handlers restart them there, provided that no call is under way; the
sender sees to that (``exits.before_fork``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped,unused-ignore]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped,unused-ignore]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otelreplay import __version__
from otelreplay.instrument.destination import Destination
from otelreplay.instrument.transport import Answer

_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.max_send_message_length", -1),
    ("grpc.primary_user_agent", f"otelreplay/{__version__}"),
)
_MAY_BE_TOO_LARGE = 1 << 20
_RETRY_INFO = "google.rpc.retryinfo-bin"


class GrpcTransport:
    """A channel that is kept while it works."""

    def __init__(self, destination: Destination) -> None:
        self._to = destination
        self._channel: Any = None
        self._export: Any = None
        self._call: Any = None
        self._compression = grpc.Compression.Gzip if destination.gzip else grpc.Compression.NoCompression

    def send(self, data: bytes, timeout: float) -> Answer:
        """One unary call."""
        try:
            if self._channel is None:
                self._open()
            self._call = self._export.future(data, timeout=timeout, metadata=self._to.headers, compression=self._compression)
            response = self._call.result()
        except grpc.FutureCancelledError:
            self.close()
            return Answer(outcome="later", reason="CANCELLED")
        except grpc.RpcError as error:
            self.close()
            return _meaning(error, len(data))
        except (OSError, ValueError) as error:  # a certificate that cannot be read, a header that cannot be sent
            self.close()
            return Answer(outcome="later", reason=type(error).__name__)
        finally:
            self._call = None
        partial = response.partial_success if response is not None else ExportTraceServiceResponse().partial_success
        return Answer(outcome="taken", rejected=max(partial.rejected_spans, 0), message=partial.error_message)

    def cancel(self) -> None:
        """Give up the call that is under way."""
        call = self._call
        if call is not None:
            call.cancel()

    def close(self) -> None:
        """Close the channel."""
        channel, self._channel, self._export = self._channel, None, None
        if channel is not None:
            channel.close()

    def _open(self) -> None:
        if self._to.secure:
            credentials = grpc.ssl_channel_credentials(
                root_certificates=_content(self._to.certificate),
                private_key=_content(self._to.client_key),
                certificate_chain=_content(self._to.client_certificate),
            )
            self._channel = grpc.secure_channel(self._target(), credentials, options=_OPTIONS)
        else:
            self._channel = grpc.insecure_channel(self._target(), options=_OPTIONS)
        self._export = self._channel.unary_unary(_METHOD, request_serializer=None, response_deserializer=_response)

    def _target(self) -> str:
        parts = self._to.parts
        return parts.netloc if parts.port else f"{parts.netloc}:{443 if self._to.secure else 80}"


def _content(path: str) -> bytes | None:
    return Path(path).read_bytes() if path else None


def _response(data: bytes) -> Any:
    """The response; None where the bytes are none, since what was taken is not to be sent again for that."""
    try:
        return ExportTraceServiceResponse.FromString(data)
    except DecodeError:
        return None


def _meaning(error: Any, size: int) -> Answer:
    """RESOURCE_EXHAUSTED without a delay means "too large" by the specification; receivers also say it of their load."""
    code = error.code()
    wait = _retry_delay(error)
    too_large = code is grpc.StatusCode.RESOURCE_EXHAUSTED and wait is None and size > _MAY_BE_TOO_LARGE
    refused = code is grpc.StatusCode.INVALID_ARGUMENT or too_large
    return Answer(outcome="refused" if refused else "later", reason=code.name, wait=wait)


def _retry_delay(error: Any) -> float | None:
    """Seconds that the receiver asked to wait: RetryInfo, alone or among the details of the status."""
    found = RetryInfo()
    try:
        for key, value in error.trailing_metadata() or ():
            if key == _RETRY_INFO:
                found.ParseFromString(value)
                return _duration(found)
            if key == "grpc-status-details-bin":
                for detail in Status.FromString(value).details:
                    if detail.Unpack(found):
                        return _duration(found)
    except DecodeError:
        return None
    return None


def _duration(info: Any) -> float:
    return float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)
