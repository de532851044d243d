"""The first two parts: a real trace becomes a cassette; then the same trace, damaged."""

from __future__ import annotations

from pathlib import Path

from examples.damage import damage
from examples.demo.steps import Shell, heading, only, say

TRACE = Path("examples/traces/support-desk.jsonl")
PRIVATE = ("customer.1001@example.com", "+1 202-555-0143", "sk-proj-NotARealKey00000000000000000000000demo")


def good(shell: Shell) -> None:
    """The trace as it is."""
    heading("1. A good trace")
    say(f"{TRACE}: a support desk answers a customer.\nNine spans, traced by opentelemetry-instrumentation-genai-openai 1.3b0.")
    shell.run("convert", str(TRACE), "--out", f"{shell.out}/good")
    cassette = f"{shell.out}/good/*.cassette.jsonl"
    _compare(cassette)
    say("\nIt is sealed: verify says whether anybody changed it since, and who signed it.")
    shell.run("verify", cassette)
    say("\nWhat happened:")
    shell.run("show", cassette)
    say("\nThe call that failed, in full:")
    shell.run("show", cassette, "--event", "5")
    say("\nWhat the trace did not hold:")
    shell.run("report", cassette)


def _compare(cassette: str) -> None:
    """Count what must not be in a cassette, on both sides."""
    trace, recorded = TRACE.read_text(encoding="utf-8"), only(cassette).read_text(encoding="utf-8")
    say("\nThe default policy was applied before anything was written:\n")
    for text in PRIVATE:
        say(f"  {text[:26]:<26}  {trace.count(text):>2} times in the trace, {recorded.count(text)} in the cassette")


def damaged(shell: Shell) -> None:
    """The trace after three accidents."""
    heading("2. The same run, damaged on the way")
    say(
        "The last model call without its content, one tool span lost, one long value\n"
        "cut. otelreplay fills in what other spans show, says so, and invents nothing."
    )
    trace = shell.out / "support-desk-damaged.jsonl"
    trace.write_text(damage(TRACE.read_text(encoding="utf-8")), encoding="utf-8")
    shell.run("convert", str(trace), "--out", f"{shell.out}/damaged")
    for command in ("verify", "show", "report"):
        shell.run(command, f"{shell.out}/damaged/*.cassette.jsonl")
