"""Runs the demo."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from examples.demo.converter import damaged, good
from examples.demo.loop import loop
from examples.demo.steps import ROOT, Shell, heading, say


def main() -> None:
    """All parts, one after the other."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-out")
    os.chdir(ROOT)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    say("otelreplay: from the trace of one agent run to a cassette, and back to a run")
    shell = Shell(out)
    good(shell)
    damaged(shell)
    loop(shell)
    heading("What to try next")
    say(
        f"""\
  . .venv/bin/activate
  export OTELREPLAY_KEYS={out}/keys        # the demo has keys of its own

  otelreplay replay {out}/store/cassettes/*.jsonl --agent examples.order_desk:answer
      change examples/order_desk/agent.py, and replay the incident again
  otelreplay events {out}/good/*.cassette.jsonl --json
      every event as JSON, one a line
  otelreplay report {out}/damaged/*.cassette.jsonl --require-complete
      exit code 3 unless everything is there: for a script
  unset OTELREPLAY_KEYS
  otelreplay convert YOUR-TRACE.jsonl --out cassettes
      your own trace: OTLP JSON, JSON Lines or protobuf, also .gz and .zst

README.md says what a cassette holds, and what a replay proves."""
    )


if __name__ == "__main__":
    main()
