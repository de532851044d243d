"""The status of a receiver, from its store or from itself."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from otelreplay.errors import InputError, UsageError

_SECONDS = 10.0
_LARGEST = 4 << 20


def status_of(*, store: Path | None, url: str, token: str) -> dict[str, Any]:
    """The status of one of both. Raises UsageError unless just one is named."""
    if (store is None) == (not url):
        raise UsageError(
            "name either a store or a URL", code="status.which", next_step="give --store DIR or --url http://HOST:PORT"
        )
    if store is None:
        return _asked(url, token)
    from otelreplay.wiring.serving import store_status

    return store_status(store)


def _asked(url: str, token: str) -> dict[str, Any]:
    if not url.startswith(("http://", "https://")):
        raise UsageError("this is no URL of a receiver", code="status.url", where="--url", next_step="write http://HOST:PORT")
    request = urllib.request.Request(url.rstrip("/").removesuffix("/status") + "/status")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            found = json.loads(answer.read(_LARGEST))
    except urllib.error.HTTPError as error:
        raise _silent(url, f"it answers with status {error.code}") from None
    except (OSError, ValueError):
        raise _silent(url, "no receiver answers there") from None
    if not isinstance(found, dict) or "received" not in found:
        raise _silent(url, "what answers there is no receiver")
    return found


def _silent(url: str, what: str) -> InputError:
    return InputError(what, code="status.no_answer", where=url, next_step="check the address, and the token if it asks for one")
