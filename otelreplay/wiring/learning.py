"""Two recordings of one program, and what they teach about values that may differ."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from otelreplay.cassette import Cassette
from otelreplay.replay.learning import Watching, learn
from otelreplay.replay.normalizers import Normalizer
from otelreplay.run.answering import redactor_for, second_for
from otelreplay.wiring.differing import under
from otelreplay.wiring.replaying import clean_report


def learned(first: Cassette, second: Cassette) -> Mapping[str, Any]:
    """What two recordings of one program teach, as JSON. Each passes the policy of the other before."""
    key = secrets.token_bytes(32)
    ours, theirs = redactor_for(first.header, key), redactor_for(second.header, key)
    if first.header.policy_digest != second.header.policy_digest:
        first, second = under(first, theirs), under(second, ours)

    def compare(normalizers: Sequence[Normalizer]) -> Watching:
        return Watching(first, second, redactor=ours, show=second_for(first.header, key), normalizers=normalizers)

    return clean_report(learn(compare).as_json())
