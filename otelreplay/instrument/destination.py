"""Where spans go: from the arguments of ``configure`` and the ``OTEL_EXPORTER_OTLP_*`` variables.

Source: OpenTelemetry specification, protocol/exporter.md. A variable of the signal (``..._TRACES_...``) wins over the
general one, an argument over both. A base endpoint gets ``/v1/traces`` appended for HTTP; the endpoint of the signal is used as
it is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from otelreplay.errors import UsageError

Protocol = Literal["grpc", "http/protobuf"]
PROTOCOLS: tuple[Protocol, ...] = ("grpc", "http/protobuf")
DEFAULT = "http://localhost:4317"
_TIMEOUT = 10.0
_SEGMENT = "/v1/traces"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """One OTLP endpoint for traces."""

    protocol: Protocol
    url: str
    """Scheme, host, port and, for HTTP, path. Holds no user name and no query."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Name in lower case, and value. Values are often secrets: they stay out of messages and files."""
    timeout: float = _TIMEOUT
    """Seconds for one attempt."""
    gzip: bool = False
    certificate: str = ""
    client_key: str = ""
    client_certificate: str = ""

    @property
    def parts(self) -> SplitResult:
        """The URL, taken apart."""
        return urlsplit(self.url)

    @property
    def secure(self) -> bool:
        """Over TLS."""
        return self.parts.scheme == "https"

    def key(self) -> str:
        """16 hex digits that tell destinations apart, tenants included (their headers differ); a digest, so no secret."""
        told = json.dumps([self.protocol, self.url, sorted(self.headers)])
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def resolve_destination(
    endpoint: str | None, protocol: str | None, headers: Mapping[str, str] | None, environ: Mapping[str, str]
) -> Destination:
    """The destination. Raises UsageError for an endpoint or protocol that cannot be one."""
    where = "endpoint"
    as_it_is = False
    if endpoint is None:
        for name in ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"):
            if environ.get(name, "").strip():
                endpoint, where, as_it_is = environ[name].strip(), name, "TRACES" in name
                break
        else:
            endpoint = DEFAULT
    parts = _split(endpoint, where)
    chosen = _protocol(protocol or _environ(environ, "PROTOCOL"), parts)
    if chosen == "grpc":
        path = ""
    elif as_it_is:
        path = parts.path or "/"
    else:
        path = parts.path.rstrip("/")
        path = path if path.endswith(_SEGMENT) else path + _SEGMENT
    given = dict(headers) if headers is not None else _headers(_environ(environ, "HEADERS"))
    return Destination(
        protocol=chosen,
        url=f"{parts.scheme}://{parts.netloc}{path}",
        headers=tuple((name.strip().lower(), value) for name, value in given.items()),
        timeout=_timeout(_environ(environ, "TIMEOUT")),
        gzip=_environ(environ, "COMPRESSION").lower() == "gzip",
        certificate=_environ(environ, "CERTIFICATE"),
        client_key=_environ(environ, "CLIENT_KEY"),
        client_certificate=_environ(environ, "CLIENT_CERTIFICATE"),
    )


def _environ(environ: Mapping[str, str], name: str) -> str:
    return (environ.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}") or environ.get(f"OTEL_EXPORTER_OTLP_{name}") or "").strip()


def _split(endpoint: str, where: str) -> SplitResult:
    text = endpoint
    if "://" not in endpoint:
        host = urlsplit(f"//{endpoint}").hostname
        if host not in _LOOPBACK:
            raise _no_endpoint("it does not say whether the connection is encrypted", where)
        text = f"http://{endpoint}"
    parts = urlsplit(text)
    try:
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise _no_endpoint("this is no address of an OTLP receiver", where)
    if parts.username or parts.query or parts.fragment:
        raise _no_endpoint("it holds a user name or a query", where)
    return parts


def _no_endpoint(why: str, where: str) -> UsageError:
    return UsageError(
        why, code="configure.endpoint", where=where,
        next_step="write it as http://HOST:4317 or https://HOST:4318; credentials belong in headers",
    )  # fmt: skip


def _protocol(name: str, parts: SplitResult) -> Protocol:
    if not name:
        return "http/protobuf" if parts.port == 4318 or parts.path.rstrip("/").endswith(_SEGMENT) else "grpc"
    if name in ("grpc", "http/protobuf"):
        return "grpc" if name == "grpc" else "http/protobuf"
    if name == "http":
        return "http/protobuf"
    raise UsageError(
        "this is no protocol that spans are sent over", code="configure.protocol", where="protocol",
        next_step=f"use one of {', '.join(PROTOCOLS)}, or leave it out: port 4318 is HTTP, others gRPC",
    )  # fmt: skip


def _timeout(text: str) -> float:
    try:
        return float(text) or _TIMEOUT
    except ValueError:
        return _TIMEOUT


_PAIR = re.compile(r"\s*([^=,\s]+)\s*=\s*([^,]*?)\s*(?:,|$)")


def _headers(text: str) -> dict[str, str]:
    """``k=v,k2=v2`` with URL-encoded values (W3C baggage syntax)."""
    from urllib.parse import unquote

    return {match[1]: unquote(match[2]) for match in _PAIR.finditer(text)}
