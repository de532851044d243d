"""What ``keys list`` says. Never a private key."""

from __future__ import annotations

from typing import Any

from otelreplay.cassette.keyring import Keyring
from otelreplay.report.text import fields


def keys_json(keyring: Keyring) -> dict[str, Any]:
    """Ids of the key that seals now and of all that are trusted, and the newest epoch of pseudonyms."""
    current = keyring.signer().key_id
    epochs = keyring.pseudonym_epochs()
    return {
        "folder": str(keyring.folder),
        "signing": current,
        "trusted": list(keyring.trust_store().ids()),
        "pseudonym_epoch": epochs[-1] if epochs else None,
    }


def keys_text(found: dict[str, Any], *, columns: int = 80) -> str:
    """The same for people."""
    epoch = found["pseudonym_epoch"]
    trusted = [key for key in found["trusted"] if key != found["signing"]]
    facts = [
        ("folder", found["folder"]),
        ("seals with", found["signing"]),
        ("pseudonyms", f"epoch {epoch}" if epoch else "no key yet"),
    ]
    return "\n".join([*fields(facts, columns=columns), *(f"trusts      {key}" for key in trusted)]) + "\n"
