"""Writing to stdout: text with the terminal's width in mind, JSON as UTF-8 bytes whatever the locale."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any, TextIO

import typer

Json = typer.Option(False, "--json", help="Print JSON, for scripts.")


def columns() -> int:
    """Columns to fill: the terminal's, 80 where there is none; never fewer than 60 or more than 140."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return 80
    return min(max(shutil.get_terminal_size((80, 24)).columns, 60), 140)


def print_text(text: str, *, to: TextIO | None = None) -> None:
    """Print lines that the report made; characters that the terminal cannot show become escapes."""
    out = to or sys.stdout
    encoding = getattr(out, "encoding", None) or "utf-8"
    out.write(text.encode(encoding, "backslashreplace").decode(encoding))


def print_json(value: Any) -> None:
    """Print one value as one line of JSON."""
    print_json_lines([value])


def print_json_lines(values: Iterable[Any]) -> None:
    """Print each value as a line of JSON; what JSON cannot say in the typed encoding of ``docs/cassette-format.md``."""
    from otelreplay.canonical import dumps

    sys.stdout.flush()
    write = sys.stdout.buffer.write
    for value in values:
        write(dumps(value))
        write(b"\n")
    sys.stdout.buffer.flush()
