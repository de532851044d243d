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
    ) -> None:
        """Check that a policy can be used, and say what it does."""
        from otelreplay.report.policy import policy_json, policy_text
        from otelreplay.wiring.policies import load_policy

        found = policy_json(load_policy(name))
        print_json(found) if json else print_text(policy_text(found, columns=columns()))

    @command(policy, "show")
    def show(
        name: str = typer.Argument("default", metavar="FILE|default|off", help="The policy to print."),
        json: bool = Json,
    ) -> None:
        """Print a policy in full, as YAML: a start for your own."""
        from otelreplay.report.policy import policy_yaml
        from otelreplay.wiring.policies import load_policy

        found = load_policy(name)
        print_json(found.model_dump(mode="json", exclude_none=True)) if json else print_text(policy_yaml(found))
