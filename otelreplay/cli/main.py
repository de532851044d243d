"""The command ``otelreplay``.

No logic here: each command turns its options into one call of ``otelreplay.wiring`` and prints what ``otelreplay.report``
makes of the result. Whatever is slow to import is imported by the command that needs it, so that ``--help`` answers at once;
for the same reason help is plain text.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from otelreplay import __version__
from otelreplay.cli import (
    convert,
    diff,
    fork,
    grade,
    keys,
    normalizers,
    outbox,
    policy,
    reading,
    replay,
    run,
    schema,
    seal,
    serve,
    status,
    stub,
)

app = typer.Typer(
    name="otelreplay",
    help="Turn an agent's OpenTelemetry trace into a redacted, sealed cassette, and say what it does not hold.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"otelreplay {__version__}")
        raise typer.Exit


@app.callback()
def _otelreplay(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit."),
) -> None:
    del version


_COMMANDS = (
    convert, serve, seal, status, reading, grade, replay, run, stub, diff, fork, normalizers, outbox, keys, policy, schema,
)  # fmt: skip

for module in _COMMANDS:
    module.register(app)


def main() -> None:
    """Run the command line and exit; see :mod:`otelreplay.cli.exits` for the codes."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for as long as we run
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="otelreplay")
