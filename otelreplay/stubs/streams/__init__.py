"""A whole response body as the pieces in which its API streams it. Pure; undone by :func:`otelreplay.providers.assemble`.

Each API has a file with ``pieces(body, ...)``: the bodies of the events of its stream, in the order that the API sends them.
Texts and arguments are cut so that they join to exactly what was recorded; how they were cut when they were recorded is not
known unless the event holds the chunks themselves.
"""

from otelreplay.stubs.streams.framing import framed

__all__ = ["framed"]
