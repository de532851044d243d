"""What stands in every Python process of a run, from its start: the boundaries ask the host, and so do the replaced tools."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from otelreplay.run import leading, replacing

_CLOCK = "OTELREPLAY_RUN_CLOCK"
"""The variable that names the file of the recording's clock; where there is none, time is the machine's."""
_MCP = "OTELREPLAY_RUN_MCP"
"""The variable that names the recorded MCP servers, a list that may be empty."""


def begin() -> None:
    """Called once, before the program."""
    if os.environ.get(_CLOCK):
        from otelreplay.run import following

        following.follow(os.environ[_CLOCK])
    sys.meta_path.insert(0, replacing.Finder())
    replacing.when_imported("otelreplay.boundary", _answered)
    leading.begin(replacing.when_imported)
    replacing.install(os.environ.get(replacing.TOOLS, ""))
    if os.environ.get(_MCP):
        from otelreplay.run import mcp_clients

        mcp_clients.begin(replacing.when_imported)


def _answered(boundary: ModuleType) -> None:
    """Decorated code is there: its calls go to the host."""
    from otelreplay.run import guard, remote

    guard.around[:] = [remote.REMOTE.around]
    boundary.install(remote.REMOTE)
