"""The redactor that ``configure`` applies: made from a policy's name, from a policy, or handed in ready."""

from __future__ import annotations

import os
from pathlib import Path

from otelreplay.cassette.keyring import Keyring, default_folder
from otelreplay.dialects import attribute_fields
from otelreplay.errors import PolicyError
from otelreplay.redaction import (
    Policy,
    PseudonymKey,
    Redactor,
    compile_policy,
    default_policy,
    load_policy,
    off_policy,
)

_SHIPPED = {"default": default_policy, "off": off_policy}


def redactor_for(policy: str | Path | Policy | Redactor) -> Redactor:
    """Ready to use. Raises PolicyError, KeyringError."""
    if isinstance(policy, Redactor):
        return policy
    if not isinstance(policy, Policy):
        policy = _named(str(policy))
    key = None
    if policy.needs_key():
        epoch, secret = Keyring(default_folder(os.environ, Path.home())).pseudonym_key(policy.tenant)
        key = PseudonymKey(secret=secret, epoch=epoch, tenant=policy.tenant)
    redactor = compile_policy(policy, key=key, env=os.environ, attribute_fields=attribute_fields())
    if redactor.unset:
        raise PolicyError(
            f"its rules name environment variables that are not set: {', '.join(redactor.unset)}",
            code="policy.secret_unset",
            where=policy.name,
            next_step="set them, or take the rules out: a secret that is not known cannot be removed",
        )
    return redactor


def _named(name: str) -> Policy:
    if name in _SHIPPED:
        return _SHIPPED[name]()
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError):
        raise PolicyError(
            "the policy cannot be read as UTF-8 text", code="policy.unreadable", where=name,
            next_step="name a file, default or off",
        ) from None  # fmt: skip
    return load_policy(text, name)
