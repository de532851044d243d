"""A transport for each protocol."""

from __future__ import annotations

from collections.abc import Callable

from otelreplay.instrument.destination import Destination
from otelreplay.instrument.transport import Transport


def transport_for(destination: Destination) -> Callable[[], Transport]:
    """Makes what speaks the destination's protocol.

    Imports it now: one protocol's import only, and none in the background. (An import may ``exec``, and CPython forgets over an
    ``exec`` that a KeyboardInterrupt is ending the process, which then ends with another status.)
    """
    if destination.protocol == "grpc":
        from otelreplay.instrument.transport_grpc import GrpcTransport

        return lambda: GrpcTransport(destination)
    from otelreplay.instrument.transport_http import HttpTransport

    return lambda: HttpTransport(destination)
