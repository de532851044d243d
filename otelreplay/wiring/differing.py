"""Two cassettes compared, from the names that a user gives."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from otelreplay.cassette import Cassette
from otelreplay.redaction import Redactor
from otelreplay.replay.comparison import Comparison
from otelreplay.run.answering import redactor_for, second_for
from otelreplay.wiring.replaying import clean_report


def compare(first: Cassette, second: Cassette, *, names: tuple[str, str]) -> Mapping[str, Any]:
    """The report of a comparison, as JSON.

    Each cassette passes the policy of the other before: what one of them removed is a hole on both sides.
    """
    key = secrets.token_bytes(32)
    ours, theirs = redactor_for(first.header, key), redactor_for(second.header, key)
    if first.header.policy_digest != second.header.policy_digest:
        first, second = under(first, theirs), under(second, ours)
    command = shlex.join(["otelreplay", "diff", *names])
    made = Comparison(first, second, redactor=ours, show=second_for(first.header, key), command=command).compare()
    facts = {"first": _about(first, names[0]), "second": _about(second, names[1])}
    return clean_report(facts | made.as_json())


def under(cassette: Cassette, redactor: Redactor) -> Cassette:
    """The cassette under another policy too."""
    judge = redactor.event_pass()
    return replace(cassette, events=tuple(judge.event(event) for event in cassette.events))


def _about(cassette: Cassette, name: str) -> dict[str, Any]:
    header = cassette.header
    return {"cassette": name, "run_id": header.run_id, "revision": header.revision, "events": len(cassette.events)}
