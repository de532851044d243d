"""``convert``: trace files in, cassettes out."""

from __future__ import annotations

from pathlib import Path

import typer

from otelreplay.cli.exits import command, say
from otelreplay.cli.output import Json, columns, print_json, print_text

_OFF = "the policy is off: nothing is redacted, and the cassettes hold whatever the trace holds"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "convert")
    def convert(
        *,
        files: list[str] = typer.Argument(
            ...,
            metavar="FILE...",
            help="OTLP (JSON, JSON Lines, protobuf) or a backend's export, plain, .gz or .zst; - reads standard input.",
        ),
        out: Path = typer.Option(..., "--out", metavar="DIR", help="Folder for the cassettes; made if it is not there."),
        policy: str = typer.Option(
            "default", "--policy", metavar="FILE|default|off", help="What is redacted, before any write."
        ),
        one_run: bool = typer.Option(False, "--one-run", help="Take all traces of the input as one run."),
        purpose: str = typer.Option("", "--purpose", metavar="TEXT", help="What the cassettes are kept for."),
        classification: str = typer.Option("", "--classification", metavar="TEXT", help="How sensitive they are."),
        expires: str = typer.Option("", "--expires", metavar="WHEN", help="Refused after this: 90d, or a date as 2030-12-31."),
        json: bool = Json,
    ) -> None:
        """Turn trace files into redacted, sealed cassettes, one a run.

        Writes one *.cassette.jsonl a run into DIR and nothing else that is visible. Data that the trace lacks is no failure:
        the report names it.
        """
        from otelreplay.cli.progress import Progress
        from otelreplay.report.conversion import cleaned_conversion, conversion_json, conversion_text
        from otelreplay.wiring.converting import convert_files
        from otelreplay.wiring.files import STDIN
        from otelreplay.wiring.policies import policy_named
        from otelreplay.wiring.reports import curtain
        from otelreplay.wiring.settings import retention

        if policy == "off":
            say(_OFF)
        with Progress(files) as progress:
            result = convert_files(
                files,
                out=out,
                policy=policy,
                one_run=one_run,
                retention=retention(purpose=purpose, classification=classification, expires=expires),
                progress=progress,
                on_run=progress.runs,
            )
        result = cleaned_conversion(result, curtain(None if policy == STDIN else policy_named(policy)).text)
        if json:
            print_json(conversion_json(result))
        else:
            print_text(conversion_text(result, columns=columns(), superseded=".otelreplay/superseded/"))
