"""An agent that was recorded once, by the decorators themselves; tests replay it, or a changed one."""

import os
import subprocess
import sys

AGENT = """
import asyncio
import os
import sys
import threading

import otelreplay

@otelreplay.tool
def lookup(order):
    open("lookup-ran", "w").close()
    return {"order": order, "state": "lost"}

@otelreplay.tool(effect="write", idempotency_key="key")
def refund(order, amount, key):
    open("refund-ran", "w").close()
    return {"ok": True}

@otelreplay.model
def chat(messages, temperature=0.0):
    return "refund it"

@otelreplay.agent
def desk(question, order="A1"):
    pass  # at the start
    found = lookup(order)
    said = chat([{"role": "user", "content": question}, {"role": "user", "content": str(found)}])
    pass  # in the middle
    refund(order, 4.0, key="k-1")
    pass  # at the end
    print("answer:", said)
    return said

@otelreplay.agent
async def talk(*questions, tone="kind"):
    pass  # at the start
    found = lookup(questions[0])
    await asyncio.sleep(0)
    return [found["state"], tone, len(questions)]

@otelreplay.agent
def count(upto):
    for n in range(upto):
        yield lookup(n)["order"]

@otelreplay.agent
def fail(order):
    lookup(order)
    raise LookupError("no such order")

class Desk:
    @otelreplay.agent
    def serve(self, order):
        return lookup(order)["state"]

def plain(question):
    return question
"""

_RECORD = '''
import asyncio, contextlib, sys
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_tracer_provider
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
set_tracer_provider(provider)
import agent
RUNS = {
    "desk": lambda: agent.desk("where is the parcel of jo@example.com?"),
    "talk": lambda: asyncio.run(agent.talk("B1", "B2", tone="curt")),
    "count": lambda: list(agent.count(3)),
    "fail": lambda: agent.fail("C1"),
    "serve": lambda: agent.Desk().serve("D1"),
}
def without(request, span_name, attribute, file):
    """The same run by telemetry that did not hold this attribute."""
    request = type(request).FromString(request.SerializeToString())
    for scope in request.resource_spans[0].scope_spans:
        for span in scope.spans:
            if span.name == span_name:
                kept = [a for a in span.attributes if a.key != attribute]
                del span.attributes[:]
                span.attributes.extend(kept)
    with open(file + ".pb", "wb") as out:
        out.write(request.SerializeToString())

for name, run in RUNS.items():
    with contextlib.suppress(LookupError):
        run()
    request = encode_spans(spans.get_finished_spans())
    with open(name + ".pb", "wb") as file:
        file.write(request.SerializeToString())
    if name == "desk":
        without(request, "execute_tool lookup", "gen_ai.tool.call.result", "gap")
        without(request, "invoke_agent desk", "otelreplay.input", "dark")
    spans.clear()
'''

RUNS = ("desk", "talk", "count", "fail", "serve", "gap", "dark")


def record(folder, environ):
    """One cassette for each run, and the keys that sealed them, in a folder."""
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "record.py").write_text(_RECORD, encoding="utf-8")
    subprocess.run([sys.executable, "record.py"], cwd=folder, env=environ, check=True, capture_output=True, timeout=120)
    for name in RUNS:
        convert = [sys.executable, "-m", "otelreplay", "convert", f"{name}.pb", "--out", name]
        subprocess.run(convert, cwd=folder, env=environ, check=True, capture_output=True, timeout=120)
        (made,) = (folder / name).glob("*.cassette.jsonl")
        made.rename(folder / f"{name}.cassette.jsonl")


def changed(**lines):
    """The agent with lines put in: ``start``, ``middle``, ``end``; ``top`` for the module; ``replace`` for (old, new)."""
    text = AGENT
    for place, mark in (("start", "at the start"), ("middle", "in the middle"), ("end", "at the end")):
        if place in lines:
            indented = lines[place].replace("\n", "\n    ")
            text = text.replace(f"    pass  # {mark}", f"    {indented}")
    if "replace" in lines:
        old, new = lines["replace"]
        assert old in text
        text = text.replace(old, new)
    return lines.get("top", "") + text


ENVIRON = {k: v for k, v in os.environ.items() if not k.startswith(("OTELREPLAY_", "OTEL_", "COV_"))}
