"""Cassettes from files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from otelreplay.cassette import Cassette, Verification, read_cassette, verify_cassette
from otelreplay.errors import InputError, OtelReplayError
from otelreplay.report.cassette import Inventory
from otelreplay.report.cleaning import cleaned_outline
from otelreplay.wiring.files import opened, shown
from otelreplay.wiring.reports import curtain
from otelreplay.wiring.settings import now, open_keyring

_ENDINGS = (".cassette.jsonl", ".cassette.jsonl.zst")


def open_cassette(name: str, *, allow_expired: bool = False, allow_unsealed: bool = False) -> Cassette:
    """Read a cassette whose seal holds and that has not expired, unless that is allowed.

    Whether its signer is trusted is asked with :func:`is_trusted`.
    """
    with opened(name) as stream:
        return read_cassette(stream, now=now(), allow_expired=allow_expired, allow_unsealed=allow_unsealed, where=shown(name))


def is_trusted(cassette: Cassette) -> bool:
    """Is the key that sealed it in the trust store? An unsealed one is nobody's."""
    return cassette.seal is not None and bytes.fromhex(cassette.seal.public) in open_keyring().trust_store()


def verify_file(name: str) -> Verification:
    """Check a cassette against its seal, and its signer against the keyring."""
    trust = open_keyring().trust_store()
    with opened(name) as stream:
        return verify_cassette(stream, trust=trust, now=now())


def cassettes_in(folder: Path) -> Iterator[Inventory]:
    """Every cassette under ``folder``, by name; hidden files and folders, and what a store has superseded, are left out.

    Its texts are redacted, see :mod:`otelreplay.wiring.reports`.
    """
    for path in cassette_files(folder):
        yield _item(path, str(path.relative_to(folder)))


def cassette_files(folder: Path) -> Iterator[Path]:
    """The files of :func:`cassettes_in`."""
    if not folder.is_dir():
        raise InputError("there is no such folder", code="input.no_folder", where=str(folder), next_step="check the path")
    store = (folder / "cassettes").is_dir()
    for path in sorted(folder.rglob("*.cassette.jsonl*")):
        name = path.relative_to(folder)
        if store and name.parts[0] == "superseded":
            continue
        if path.name.endswith(_ENDINGS) and path.is_file() and not any(part.startswith(".") for part in name.parts):
            yield path


def _item(path: Path, name: str) -> Inventory:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    clean = curtain().text
    try:
        held = open_cassette(str(path), allow_expired=True)
    except OtelReplayError as error:
        problem = clean(f"{error.what} [{error.code}]")
        return Inventory(name=clean(name), size=size, problem=problem, exit_code=error.exit_code)
    clean = curtain(held.header.policy).text
    return Inventory(name=clean(name), size=size, cassette=cleaned_outline(held, clean))
