"""The environment of a replayed program: what it had, without credentials, with the guard. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from otelreplay.redaction.keys import sense

NO_CREDENTIAL: Final = "otelreplay-no-credential"
"""In place of a credential: a client that insists on a key is made, and has none."""
PRELOAD: Final = "preload.cjs"
"""The guard of Node, in the start-up folder."""
_URL: Final = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]+(?=@)")
_EXPORT_HEADERS: Final = re.compile(r"OTEL_EXPORTER_OTLP_(\w+_)?HEADERS$")
_SETTINGS: Final = ("OTELREPLAY_", "PWD", "OLDPWD")
"""Names of folders, whatever they sound like."""


def without_credentials(environ: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """(the variables, the names of those whose value was a credential and is :data:`NO_CREDENTIAL` now)."""
    kept, taken = {}, []
    for name, value in environ.items():
        clean = _clean(name, value)
        kept[name] = clean
        if clean != value:
            taken.append(name)
    return kept, tuple(sorted(taken))


def _clean(name: str, value: str) -> str:
    if not value or name.startswith(_SETTINGS):
        return value
    said = sense(name)
    if said == "strong" or _EXPORT_HEADERS.match(name) or (said in ("weak", "faint") and _may_be_one(value)):
        return NO_CREDENTIAL
    return _URL.sub(f"{NO_CREDENTIAL}:{NO_CREDENTIAL}", value)


def _may_be_one(value: str) -> bool:
    """A word of some length that is no path, number or address of a place."""
    place = value.startswith(("/", ".", "~")) or "://" in value
    return len(value) >= 8 and not place and not value.isdigit() and " " not in value


def guarded(environ: Mapping[str, str], *, folder: str, variables: Mapping[str, str]) -> dict[str, str]:
    """``environ`` with the guard: its start-up folder first in PYTHONPATH, its preload first for Node, and its variables.

    The OpenTelemetry SDK is switched off: what a program would export in a replay is the replay itself, and an exporter that
    finds its collector blocked would look like a live call of the agent's.
    """
    path, node = environ.get("PYTHONPATH", ""), environ.get("NODE_OPTIONS", "")
    preload = f'--require "{folder}{os.sep}{PRELOAD}"'
    return {
        **environ,
        "NODE_OPTIONS": f"{preload} {node}".rstrip(),
        "PYTHONPATH": f"{folder}{os.pathsep}{path}" if path else folder,
        "OTEL_SDK_DISABLED": "true",
        **variables,
    }
