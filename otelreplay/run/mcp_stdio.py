"""An MCP server on stdin and stdout whose answers come from the replay: a bridge to the host's ``/mcp``.

    python -m otelreplay.run.mcp_stdio [NAME]

Each line that comes in is one message of JSON-RPC; it is sent on as one POST, and what is answered goes out as one line. There
is one session a run, in another process, so nothing is kept here. The standard library is all that this takes: it runs as a
script in Pythons that may not have otelreplay installed.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from typing import BinaryIO
from urllib.parse import quote, urlsplit

STUB = "OTELREPLAY_RUN_STUB"
"""Variable: the host's address, with its token."""


def address(base: str, name: str) -> str:
    """Where a connection of that name is served."""
    return f"{base.rstrip('/')}/mcp" + (f"/{quote(name, safe='')}" if name else "")


def serve(lines: BinaryIO, out: BinaryIO, url: str) -> int:
    """Answer lines to their end. The exit code: 1 if the host could not be reached."""
    place = urlsplit(url)
    for line in iter(lines.readline, b""):
        if not line.strip():
            continue
        try:
            answer = _posted(place.hostname or "", place.port or 80, place.path, line)
        except OSError as error:
            _say(out, _lost(line, error))
            return 1
        _say(out, answer)
    return 0


def _posted(host: str, port: int, path: str, line: bytes) -> bytes:
    """One connection for each message: one that was kept open and is closed meanwhile would have to be tried twice."""
    connection = http.client.HTTPConnection(host, port)
    try:
        connection.request("POST", path, body=line, headers={"content-type": "application/json", "connection": "close"})
        return connection.getresponse().read()
    except http.client.HTTPException as error:
        raise OSError(f"no HTTP answer ({type(error).__name__})") from error
    finally:
        connection.close()


def _say(out: BinaryIO, answer: bytes) -> None:
    if answer.strip():
        out.write(answer.rstrip(b"\r\n") + b"\n")
        out.flush()


def _lost(line: bytes, error: OSError) -> bytes:
    """An error to a request that nobody answers; nothing to anything else."""
    try:
        message = json.loads(line)
    except ValueError:
        return b""
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return b""
    said = {"code": -32603, "message": f"otelreplay: the replay cannot be reached: {error}"}
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": said}).encode("ascii")


def main(arguments: list[str]) -> int:
    """The command."""
    base = os.environ.get(STUB, "")
    if not base or len(arguments) > 1:
        sys.stderr.write(f"usage: python -m otelreplay.run.mcp_stdio [NAME], with the address of a replay in {STUB}\n")
        return 2
    return serve(sys.stdin.buffer, sys.stdout.buffer, address(base, arguments[0] if arguments else ""))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
