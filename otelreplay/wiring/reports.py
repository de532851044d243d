"""What stands between a recording and whoever reads a report of it.

A report passes the policy of its cassette and the default policy of this installation, whatever policy the cassette was made
with: one made with ``off`` shows no secret either. Pseudonyms and hashes become masks here, so that no key is needed to read;
placeholders that stand already stay. ``events --json`` is no report: it is the content of the cassette itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

from pydantic import ValidationError

from otelreplay.dialects import attribute_fields
from otelreplay.errors import OtelReplayError
from otelreplay.events import Event
from otelreplay.redaction import Policy, Redactor, compile_policy, default_policy

_KEYED = frozenset({"pseudonym", "hash"})
_NOT_STORED = "(registered)"
"""What a header has in place of a registered secret."""


class Curtain:
    """Redacts what is printed. Texts repeat in a report (causes, remedies), so each is judged once."""

    def __init__(self, redactors: Sequence[Redactor]) -> None:
        self._redactors = tuple(redactors)
        self._known: dict[str, str] = {}

    def text(self, text: str) -> str:
        """A line, a name, a message."""
        found = self._known.get(text)
        if found is None:
            found = text
            for redactor in self._redactors:
                found = redactor.text(found)
            self._known[text] = found
        return found

    def events(self, events: Sequence[Event]) -> list[Event]:
        """Events that are printed in full."""
        for redactor in self._redactors:
            judge = redactor.event_pass()
            events = [judge.event(event) for event in events]
        return list(events)


def curtain(policy: Policy | dict[str, Any] | None = None) -> Curtain:
    """For reports of what was made under ``policy``: a policy, or what a cassette's header holds of one."""
    found, own = default_policy(), policy if isinstance(policy, Policy) else _read(policy)
    if own is None or not own.rules or own.digest() == found.digest():
        return Curtain([_default()])
    return Curtain([_masking(own), _default()])


def masked_default() -> Redactor:
    """The default policy, with masks where a key would be needed: for what is read and not kept."""
    return _masking(default_policy())


@cache
def _default() -> Redactor:
    return _masking(default_policy())


def _read(body: dict[str, Any] | None) -> Policy | None:
    try:
        return Policy.model_validate({name: value for name, value in (body or {}).items() if name != "detectors"})
    except ValidationError:
        return None  # there is none, or one of a later version: the default alone


def _masking(policy: Policy) -> Redactor:
    kept = [rule for rule in policy.rules if rule.secret != _NOT_STORED]
    rules = [rule.model_copy(update={"action": "mask"}) if rule.action in _KEYED else rule for rule in kept]
    masked = policy.model_copy(update={"rules": rules})
    try:
        return compile_policy(masked, key=None, env=os.environ, attribute_fields=attribute_fields())
    except OtelReplayError:  # a registered secret of this environment is too short to be looked for
        return compile_policy(masked, key=None, attribute_fields=attribute_fields())
