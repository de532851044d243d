"""What a program records about its own functions and classes can be found by another process."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import dataclasses, json, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import otelreplay

@dataclasses.dataclass
class Order:
    id: str

class Refused(Exception):
    pass

class Desk:
    @otelreplay.tool
    def find(self, order):
        return Order(order)

@otelreplay.tool
def refuse():
    raise Refused("no")

if __name__ == "__main__":
    exporter = InMemorySpanExporter()
    trace.set_tracer_provider(TracerProvider())
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
    Desk().find("A1")
    try:
        refuse()
    except Refused:
        pass
    print(json.dumps([dict(span.attributes) for span in exporter.get_finished_spans()]))
"""


@pytest.mark.parametrize(
    ("started", "name"),
    [(["desk.py"], "desk"), (["sub/desk.py"], "desk"), (["-m", "sub.desk"], "sub.desk"), (["odd-name.py"], "__main__")],
)
def test_what_the_started_file_defines_is_named_as_the_module_that_it_is(started, name, tmp_path):
    (tmp_path / "sub").mkdir()
    for file in ("desk.py", "sub/desk.py", "odd-name.py"):
        (tmp_path / file).write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run([sys.executable, *started], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    found, refused = json.loads(done.stdout)
    assert (f"{name}:Desk.find", f"{name}:Desk") == (found["otelreplay.function"], found["otelreplay.self"])
    assert f"{name}:Order" == json.loads(found["gen_ai.tool.call.result"])["class"]
    assert (f"{name}:Refused", f"{name}.Refused") == (json.loads(refused["otelreplay.error"])["class"], refused["error.type"])
