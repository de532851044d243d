"""Which rules of a recording cannot be applied here, so that what they replaced shows as it is."""

from __future__ import annotations

from collections.abc import Iterable

from otelreplay.redaction import Redactor

_ALWAYS = frozenset({"registered-secret"})
"""A secret that was registered where the recording was made is known only there."""


def soft_rules(redactor: Redactor, recorded: Iterable[str]) -> frozenset[str]:
    """Rules by which a placeholder of the recording may meet a live value that was not replaced."""
    rules = {rule.id: rule for rule in redactor.policy.rules}
    unset = {f"env:{name}" for name in redactor.unset}
    by_secret = {
        rule.id
        for rule in rules.values()
        if rule.secret is not None and (not rule.secret.startswith("env:") or rule.secret in unset)
    }
    unknown = {rule for rule in recorded if rule not in rules and rule != "unwalkable"}
    return _ALWAYS | by_secret | unknown
