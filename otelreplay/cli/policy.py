"""``policy``: what a redaction policy says, and whether it can be used."""

from __future__ import annotations

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, columns, print_json, print_text


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    policy = typer.Typer(help="Redaction policies.", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(policy, name="policy")

    @command(policy, "check")
    def check(
        name: str = typer.Argument(..., metavar="FILE|default|off", help="The policy to check; - reads standard input."),
        json: bool = Json,
    ) -> int:
        """Check that a policy can be used, and say what it does.

        Exit 2 for a rule that would not hold where the content is replayed.
        """
        from otelreplay.report.policy import policy_json, policy_text
        from otelreplay.wiring.policies import checked, policy_named

        held = policy_named(name)
        found = policy_json(held, checked(held))
        print_json(found) if json else print_text(policy_text(found, columns=columns()))
        return 0 if found["ok"] else 2

    @command(policy, "show")
    def show(
        name: str = typer.Argument("default", metavar="FILE|default|off", help="The policy to print."),
        json: bool = Json,
    ) -> None:
        """Print a policy in full, as YAML: a start for your own."""
        from otelreplay.report.policy import policy_yaml
        from otelreplay.wiring.policies import policy_named

        found = policy_named(name)
        print_json(found.public()) if json else print_text(policy_yaml(found))
