"""``make demo``: the main job on a real trace, without key or network.

Converts the shipped trace of a support desk into a sealed cassette, verifies it, shows its timeline and its missing-data
report; then does the same for a damaged copy. Everything is done by the public command line, and written to ``demo-out/`` or to
the folder that is named: ``python -m examples.demo [DIR]``.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from examples.damage import damage

ROOT = Path(__file__).parents[1]
TRACE = Path("examples/traces/support-desk.jsonl")
OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-out")
PRIVATE = ("customer.1001@example.com", "+1 202-555-0143", "sk-proj-NotARealKey00000000000000000000000demo")


def say(text: str = "") -> None:
    """Print a paragraph."""
    print(text, flush=True)


def run(*arguments: str, expect: Sequence[int] = (0,)) -> int:
    """Run the command line as a user would, show command and output; stop the demo if it ends in an unexpected way."""
    say(f"\n$ {shlex.join(('otelreplay', *arguments))}")
    environment = os.environ | {"OTELREPLAY_KEYS": str(OUT / "keys"), "COLUMNS": "80"}
    done = subprocess.run([sys.executable, "-m", "otelreplay", *arguments], env=environment, check=False)
    if done.returncode not in expect:
        sys.exit(f"demo: the command above ended with {done.returncode}")
    return done.returncode


def heading(text: str) -> None:
    """A title with a line under it."""
    say(f"\n\n{text}\n{'-' * len(text)}")


def convert(trace: Path, name: str) -> str:
    """Convert a trace that holds one run; the path of its cassette."""
    run("convert", str(trace), "--out", str(OUT / name))
    (cassette,) = (OUT / name).glob("*.cassette.jsonl")
    return str(cassette)


def compare(cassette: str) -> None:
    """Count what must not be in a cassette, on both sides."""
    trace, recorded = TRACE.read_text(encoding="utf-8"), Path(cassette).read_text(encoding="utf-8")
    say("\nThe default policy was applied before anything was written:\n")
    for text in PRIVATE:
        say(f"  {text[:26]:<26}  {trace.count(text):>2} times in the trace, {recorded.count(text)} in the cassette")


def main() -> None:
    """The whole demo."""
    os.chdir(ROOT)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    say("otelreplay: from the trace of one agent run to a cassette")

    heading("1. A good trace")
    say(f"{TRACE}: a support desk answers a customer.\nNine spans, traced by opentelemetry-instrumentation-genai-openai 1.3b0.")
    good = convert(TRACE, "good")
    compare(good)
    say("\nIt is sealed: verify says whether anybody changed it since, and who signed it.")
    run("verify", good)
    say("\nWhat happened:")
    run("show", good)
    say("\nWhat the trace did not hold:")
    run("report", good)

    heading("2. The same run, damaged on the way")
    say(
        "The last model call without its content, one tool span lost, one tool result\n"
        "cut short. otelreplay fills in what other spans show, says so, and invents\n"
        "nothing."
    )
    broken = OUT / "support-desk-damaged.jsonl"
    broken.write_text(damage(TRACE.read_text(encoding="utf-8")), encoding="utf-8")
    bad = convert(broken, "damaged")
    run("verify", bad)
    run("show", bad)
    run("report", bad)

    heading("What to try next")
    say(
        f"""\
  . .venv/bin/activate
  export OTELREPLAY_KEYS={OUT / "keys"}       # the demo's own keys

  otelreplay show {good} --event 0
      one event in full
  otelreplay events {good} --json
      every event as JSON, one a line
  otelreplay convert YOUR-TRACE.jsonl --out cassettes
      your own trace: OTLP JSON, JSON Lines or protobuf, also .gz and .zst

README.md says what a cassette holds, and what it does not prove."""
    )


if __name__ == "__main__":
    main()
