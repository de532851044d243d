"""``make demo``: the main job on a real trace, without key or network.

Converts the shipped trace of a support desk into a sealed cassette, verifies it, shows its timeline and its missing-data
report; then does the same for a damaged copy. Everything is done by the public command line, and written to ``demo-out/`` or to
the folder that is named: ``python -m examples.demo [DIR]``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from examples.damage import damage

ROOT = Path(__file__).parents[1]
TRACE = Path("examples/traces/support-desk.jsonl")
OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-out")
PRIVATE = ("customer.1001@example.com", "+1 202-555-0143", "sk-proj-NotARealKey00000000000000000000000demo")


def say(text: str = "") -> None:
    """Print a paragraph."""
    print(text, flush=True)


def only(pattern: str) -> Path:
    """The one file that a pattern fits."""
    (found,) = Path(pattern).parent.glob(Path(pattern).name)
    return found


def run(*arguments: str) -> None:
    """Show a command and run it as a shell would: a pattern stands for the one file that it fits."""
    say(f"\n$ otelreplay {' '.join(arguments)}")
    typed = [str(only(a)) if "*" in a else a for a in arguments]
    environment = os.environ | {"OTELREPLAY_KEYS": str(OUT / "keys"), "COLUMNS": "80"}
    done = subprocess.run([sys.executable, "-m", "otelreplay", *typed], env=environment, check=False)
    if done.returncode:
        sys.exit(f"demo: the command above ended with {done.returncode}")


def heading(text: str) -> None:
    """A title with a line under it."""
    say(f"\n\n{text}\n{'-' * len(text)}")


def compare(cassette: str) -> None:
    """Count what must not be in a cassette, on both sides."""
    trace, recorded = TRACE.read_text(encoding="utf-8"), only(cassette).read_text(encoding="utf-8")
    say("\nThe default policy was applied before anything was written:\n")
    for text in PRIVATE:
        say(f"  {text[:26]:<26}  {trace.count(text):>2} times in the trace, {recorded.count(text)} in the cassette")


def good() -> None:
    """The trace as it is."""
    heading("1. A good trace")
    say(f"{TRACE}: a support desk answers a customer.\nNine spans, traced by opentelemetry-instrumentation-genai-openai 1.3b0.")
    run("convert", str(TRACE), "--out", f"{OUT}/good")
    cassette = f"{OUT}/good/*.cassette.jsonl"
    compare(cassette)
    say("\nIt is sealed: verify says whether anybody changed it since, and who signed it.")
    run("verify", cassette)
    say("\nWhat happened:")
    run("show", cassette)
    say("\nThe call that failed, in full:")
    run("show", cassette, "--event", "5")
    say("\nWhat the trace did not hold:")
    run("report", cassette)


def damaged() -> None:
    """The trace after three accidents."""
    heading("2. The same run, damaged on the way")
    say(
        "The last model call without its content, one tool span lost, one long value\n"
        "cut. otelreplay fills in what other spans show, says so, and invents nothing."
    )
    trace = OUT / "support-desk-damaged.jsonl"
    trace.write_text(damage(TRACE.read_text(encoding="utf-8")), encoding="utf-8")
    run("convert", str(trace), "--out", f"{OUT}/damaged")
    for command in ("verify", "show", "report"):
        run(command, f"{OUT}/damaged/*.cassette.jsonl")


def main() -> None:
    """The whole demo."""
    os.chdir(ROOT)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    say("otelreplay: from the trace of one agent run to a cassette")
    good()
    damaged()
    heading("What to try next")
    say(
        f"""\
  . .venv/bin/activate
  export OTELREPLAY_KEYS={OUT}/keys        # the demo has keys of its own

  otelreplay events {OUT}/good/*.cassette.jsonl --json
      every event as JSON, one a line
  otelreplay report {OUT}/damaged/*.cassette.jsonl --require-complete
      exit code 3 unless everything is there: for a script
  unset OTELREPLAY_KEYS
  otelreplay convert YOUR-TRACE.jsonl --out cassettes
      your own trace: OTLP JSON, JSON Lines or protobuf, also .gz and .zst

README.md says what a cassette holds, and what it does not prove."""
    )


if __name__ == "__main__":
    main()
