"""``keys``: whose seals are trusted, and under which key pseudonyms are made."""

from __future__ import annotations

import typer

from otelreplay.cli.exits import command
from otelreplay.cli.output import Json, columns, print_json, print_text


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    keys = typer.Typer(
        help="Keys that seal cassettes, and the signers that are trusted.", no_args_is_help=True, rich_markup_mode=None
    )
    app.add_typer(keys, name="keys")

    @command(keys, "list")
    def list_keys(json: bool = Json) -> None:
        """List the own keys and every trusted signer."""
        from otelreplay.report.keys import keys_json, keys_text
        from otelreplay.wiring.settings import open_keyring

        found = keys_json(open_keyring())
        print_json(found) if json else print_text(keys_text(found, columns=columns()))

    @command(keys, "export")
    def export() -> None:
        """Print the own public key, for others to trust."""
        from otelreplay.wiring.settings import open_keyring

        print_text(open_keyring().export() + "\n")

    @command(keys, "trust")
    def trust(
        file: str = typer.Argument(
            ..., metavar="FILE", help="A public key as `keys export` prints it; - reads standard input."
        ),
    ) -> None:
        """Trust the signer whose public key this is."""
        from otelreplay.wiring.settings import trust_key

        print_text(f"trusted: {trust_key(file)}\n")

    @command(keys, "rotate")
    def rotate(
        pseudonyms: bool = typer.Option(False, "--pseudonyms", help="Begin a new epoch of pseudonyms instead."),
    ) -> None:
        """Seal with a new key from now on.

        What the old key sealed stays trusted here; others have to trust the new one too.
        """
        from otelreplay.wiring.settings import open_keyring

        if pseudonyms:
            epoch, _ = open_keyring().rotate_pseudonym_key()
            print_text(f"pseudonyms are now of epoch {epoch}: they differ from earlier ones of the same values\n")
        else:
            print_text(f"new key: {open_keyring().rotate().key_id}\n")
