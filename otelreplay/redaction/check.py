"""Does a policy hold where content is replayed?

An attribute rule acts on what a sender wrote. The same content reaches replay as an event field, from whatever attribute some
other instrumentation put it in; there the rule must hold too, or a live value would be compared under another policy (and a
copy of the content would slip past under another name). So an attribute rule must compile to event paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otelreplay.redaction.paths import attribute_pattern
from otelreplay.redaction.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCheck:
    """What the attribute rules of a policy mean for events."""

    compiled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(rule id, event paths that it also covers)."""
    refused: tuple[tuple[str, str], ...] = ()
    """(rule id, why it cannot be relied on)."""

    @property
    def ok(self) -> bool:
        """Whether nothing was refused."""
        return not self.refused


def check(policy: Policy, attribute_fields: Mapping[str, str]) -> PolicyCheck:
    """Compile attribute rules by the dialects' table: attribute name (or glob) to event field."""
    compiled, refused = [], []
    for rule in policy.rules:
        if rule.attribute is None:
            continue
        pattern = attribute_pattern(rule.attribute)
        fields = {
            f for name, f in attribute_fields.items() if pattern.match(name) or attribute_pattern(name).match(rule.attribute)
        }
        if fields:
            compiled.append((rule.id, tuple(sorted(fields))))
        elif rule.action != "keep":
            refused.append(
                (
                    rule.id,
                    "no dialect reads an attribute of this name into an event field; write a path rule for the field",
                )
            )
    return PolicyCheck(compiled=tuple(compiled), refused=tuple(refused))
