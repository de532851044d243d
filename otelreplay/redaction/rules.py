"""Rules bound to a key: what a rule does to a text."""

from __future__ import annotations

from dataclasses import dataclass

from otelreplay.redaction import actions
from otelreplay.redaction.policy import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A rule that can act. ``key`` is there whenever the action needs one."""

    id: str
    action: Action
    kind: str = "any"
    detector: str = ""
    keep: int = 64
    key: actions.PseudonymKey | None = None

    def replace(self, text: str) -> str:
        """What stands in place of ``text``."""
        if self.action == "truncate":
            return actions.truncate(self.id, text, self.keep)
        if self.key is not None and self.action == "pseudonym":
            return actions.pseudonym(self.id, text, self.key, mail=self.kind == "email")
        if self.key is not None and self.action == "hash":
            return actions.keyed_hash(self.id, text, self.key)
        return actions.dropped(self.id) if self.action == "drop" else actions.mask(self.id)
