"""The detector pack: every detector, by name and by group."""

from __future__ import annotations

from typing import Final

from otelreplay.redaction.detectors import (
    auth,
    commands,
    keyvalue,
    people,
    phone,
    pii,
    tokens_ai,
    tokens_cloud,
    tokens_dev,
    tokens_web,
    urls,
)
from otelreplay.redaction.detectors.base import Detector, Hit

PACK_VERSION: Final = "2026.12"
"""Named in a cassette's header: what was found depends on it."""

ALL: Final[tuple[Detector, ...]] = (
    *tokens_ai.DETECTORS,
    *tokens_cloud.DETECTORS,
    *tokens_dev.DETECTORS,
    *tokens_web.DETECTORS,
    *auth.DETECTORS,
    *urls.DETECTORS,
    *keyvalue.DETECTORS,
    *commands.DETECTORS,
    *pii.DETECTORS,
    *phone.DETECTORS,
    *people.DETECTORS,
)
BY_NAME: Final = {d.name: d for d in ALL}
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "all": tuple(d.name for d in ALL),
    "secrets": tuple(d.name for d in ALL if d.family == "secrets"),
    "pii": tuple(d.name for d in ALL if d.family == "pii"),
}

__all__ = ["ALL", "BY_NAME", "GROUPS", "PACK_VERSION", "Detector", "Hit"]
