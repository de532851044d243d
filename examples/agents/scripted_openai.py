"""A scripted provider for agents that use the OpenAI SDK: loopback, no key, the same answers every time."""

from __future__ import annotations

from functools import cache

from examples.capture import provider


@cache
def base_url() -> str:
    """Where it listens; started on first use, and ended with the process."""
    return f"http://127.0.0.1:{provider.start()}/v1"
