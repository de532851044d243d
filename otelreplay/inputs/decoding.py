"""The text of one record as a plain value, or the reason why it is none."""

from __future__ import annotations

from typing import Any

from otelreplay.inputs.ids import RefusedError
from otelreplay.inputs.jsonscan import loads
from otelreplay.inputs.tally import Tally


def decoded(text: bytes, tally: Tally) -> Any:
    """The value of a JSON text. RefusedError when it is none; bytes that are not UTF-8 are replaced, and counted."""
    try:
        found = text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        found = text.decode("utf-8", "replace")
        tally.note("invalid_utf8")
    try:
        return loads(found)
    except ValueError as error:
        deep = isinstance(error.__cause__, RecursionError)
        raise RefusedError("it is nested too deeply" if deep else "it is not valid JSON") from None
