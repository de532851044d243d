"""``grade``: how much of what crossed the boundaries is in hand."""

from __future__ import annotations

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, columns, print_json, print_text


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "grade")
    def grade(
        name: str = typer.Argument(..., metavar="FILE|DIR", help="A cassette or a trace file, or a folder of them."),
        json: bool = Json,
    ) -> int:
        """Grade how much of a run is recorded, boundary by boundary.

        Says of each request and response whether it is recorded, inferred (and by which rule), assumed or absent, and gives
        each run a number: the share of these fields that is in hand. Nothing is written: a trace file is converted in memory,
        under the default policy. For a folder, a table of all its files, at any depth; exit 5 or 6 if one of them cannot be
        read.
        """
        from otelreplay.cli.progress import Progress
        from otelreplay.report.grades import grades_json, grades_text
        from otelreplay.wiring.grading import files_in, grade_files

        files = files_in(name)
        with Progress(files) as progress:
            found = grade_files(name, files, progress=progress)
        print_json(grades_json(found)) if json else print_text(grades_text(found, columns=columns()))
        return found.exit_code
