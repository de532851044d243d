"""``stub``: a cassette's recorded answers, served in the shape of the providers."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, columns, print_json, print_text
from otelreplay.cli.reading import CassetteFile, Expired, NormalizersFile, NormalizerWords, Unsealed, say_if_untrusted
from otelreplay.cli.run import Fixtures


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app, "stub")
    def stub(
        *,
        cassette: str = CassetteFile,
        port: int = typer.Option(0, "--port", metavar="PORT", min=0, max=65535, help="Listen here; 0 for any free port."),
        report: Path = typer.Option(None, "--report", metavar="FILE", help="Write the report to FILE, as JSON."),
        fixtures: str = Fixtures,
        normalizer: list[str] = NormalizerWords,
        normalizers: str = NormalizersFile,
        allow_expired: bool = Expired,
        allow_unsealed: bool = Unsealed,
        json: bool = Json,
    ) -> int:
        """Serve the answers of a cassette on loopback.

        Ends when it is interrupted. Prints the variables that lead a program here, to be put into its environment: for programs
        that are started by hand, in a debugger or a container. Nothing guards them, so whatever else they do is live.
        """
        from otelreplay.report.replay import replay_text
        from otelreplay.wiring.replaying import check_report, open_for_replay, write_report
        from otelreplay.wiring.running import Options
        from otelreplay.wiring.running import stub as serve

        check_report(report)
        held = open_for_replay(cassette, allow_expired=allow_expired, allow_unsealed=allow_unsealed)
        say_if_untrusted(held.cassette)
        options = Options(fixtures=fixtures, normalizer=tuple(normalizer), normalizers=normalizers)
        found = serve(held, options=options, port=port, ready=_say)
        write_report(report, found.report)
        if json:
            print_json(found.report)
        else:
            print_text(replay_text(found.report, columns=columns()), to=sys.stderr)
        return found.exit_code


def _say(variables: Mapping[str, str]) -> None:
    print_text("\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items()))
    sys.stdout.flush()
