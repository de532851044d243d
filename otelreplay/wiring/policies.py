"""Redaction policies by the names that a user gives: a file, ``default`` or ``off``; and the redactor that one makes."""

from __future__ import annotations

import os

from otelreplay.cassette.keyring import Keyring
from otelreplay.dialects import attribute_fields
from otelreplay.errors import InputError, PolicyError
from otelreplay.redaction import (
    Policy,
    PolicyCheck,
    PseudonymKey,
    Redactor,
    check,
    compile_policy,
    default_policy,
    load_policy,
    off_policy,
)
from otelreplay.wiring.files import opened, shown

_SHIPPED = {"default": default_policy, "off": off_policy}
_LARGEST = 4 << 20


def policy_named(name: str) -> Policy:
    """The policy of that name, or that a file holds. Raises PolicyError."""
    return _SHIPPED[name]() if name in _SHIPPED else load_policy(policy_text(name), shown(name))


def policy_text(name: str) -> str:
    """The text of a policy file."""
    try:
        with opened(name) as stream:
            return stream.read(_LARGEST).decode("utf-8-sig")
    except (InputError, UnicodeDecodeError) as error:
        what = error.what if isinstance(error, InputError) else "the policy is not UTF-8 text"
        raise PolicyError(what, code="policy.unreadable", where=shown(name), next_step="name a file, default or off") from None


def checked(policy: Policy) -> PolicyCheck:
    """What the policy's attribute rules mean for events."""
    return check(policy, attribute_fields())


def redactor_of(policy: Policy, *, keyring: Keyring) -> tuple[Redactor, int | None]:
    """(the redactor, the epoch of its key). The key is made if the policy needs one and there is none.

    Raises PolicyError when a rule names an environment variable that is not set: nothing would be removed then.
    """
    key = None
    if policy.needs_key():
        epoch, secret = keyring.pseudonym_key(policy.tenant)
        key = PseudonymKey(secret=secret, epoch=epoch, tenant=policy.tenant)
    redactor = compile_policy(policy, key=key, env=os.environ, attribute_fields=attribute_fields())
    if redactor.unset:
        raise PolicyError(
            f"its rules name environment variables that are not set: {', '.join(redactor.unset)}",
            code="policy.secret_unset",
            where=policy.name,
            next_step="set them, or take the rules out: a secret that is not known cannot be removed",
        )
    return redactor, key.epoch if key else None
