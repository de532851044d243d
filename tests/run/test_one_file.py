"""An agent in one file, started as ``python desk.py``: its own classes come back in a replay as what they are."""

import subprocess
import sys

import pytest

from tests.run.conftest import Replayer
from tests.run.recorded import ENVIRON

PROGRAM = '''
import dataclasses
import otelreplay

@dataclasses.dataclass
class Order:
    id: str
    total: float

class Refused(Exception):
    pass

@otelreplay.tool
def look_up(order_id):
    return Order(order_id, 4.5)

@otelreplay.tool
def pay(order):
    raise Refused("no")

@otelreplay.agent
def other(order):
    return 1

@otelreplay.agent
def answer(order):
    found = look_up(order.id)
    try:
        pay(found)
    except Refused:
        pass
    return Order(order.id, order.total + found.total)

def lines(said):
    """A function of its own that streams where it is told to."""
    return (word for word in said.split()) if said else said

@otelreplay.model
def ask(messages, stream=False):
    return lines("it is paid" if stream else "")

@otelreplay.tool
def follow(order_id):
    return (state for state in ("sent", "lost"))

@otelreplay.agent
def talk(stream):
    return [*ask([{"role": "user", "content": "?"}], stream=stream), *follow("A1")]

if __name__ == "__main__":
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    exporter = InMemorySpanExporter()
    trace.set_tracer_provider(TracerProvider())
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
    order = Order("A1", 1.0)
    RUNS = {"one": lambda: answer(order), "two": lambda: (other(1), answer(order)), "talk": lambda: talk(True)}
    for name, run in RUNS.items():
        run()
        with open(name + ".pb", "wb") as file:
            file.write(encode_spans(exporter.get_finished_spans()).SerializeToString())
        exporter.clear()
'''


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one-file")
    (folder / "desk.py").write_text(PROGRAM, encoding="utf-8")
    subprocess.run([sys.executable, "desk.py"], cwd=folder, env=ENVIRON, check=True, timeout=60)
    desk = Replayer(folder)
    for name in ("one", "two", "talk"):
        desk.run("convert", f"{name}.pb", "--out", name, "--one-run")
        (made,) = (folder / name).glob("*.cassette.jsonl")
        made.replace(folder / f"{name}.cassette.jsonl")
    return desk


def replayed(desk, name, agent, expect=0):
    return desk.run("replay", f"{name}.cassette.jsonl", "--agent", agent, expect=expect).err


def test_arguments_results_and_errors_are_of_the_program_s_own_classes(recorded):
    said = replayed(recorded, "one", "desk:answer")
    assert "as_recorded" in said
    assert "Assumed" not in said


def test_the_agent_that_was_named_is_called_also_from_another_module(recorded):
    recorded.write("elsewhere.py", "import desk\nanswer = desk.answer\n")
    said = replayed(recorded, "two", "elsewhere:answer", expect=1)
    assert "served   2 calls" in said
    assert "event 0  agent other" in said.partition("Unused")[2]


def test_a_class_that_is_not_there_is_named(recorded):
    recorded.write("renamed.py", PROGRAM.replace("Order", "Purchase"))
    said = " ".join(replayed(recorded, "one", "renamed:answer", expect=1).split())
    assert "the class desk:Order is not loaded; its instance is given as its fields" in said


def test_no_line_of_ours_is_named_as_the_caller_of_the_agent(recorded):
    recorded.write("richer.py", PROGRAM.replace("return Order(order.id, order.total", "return (order.id, order.total"))
    said = replayed(recorded, "one", "richer:answer", expect=1)
    assert "agents.py" not in said


def test_a_plain_function_that_gave_a_stream_gives_one_again(recorded):
    """One is a model that is asked for it, the other a tool that always does."""
    assert "as_recorded" in replayed(recorded, "talk", "desk:talk")


def test_a_function_that_is_asked_for_one_value_where_a_stream_was_recorded_is_given_one(recorded):
    recorded.write("whole.py", PROGRAM.replace("[*ask([{\"role\": \"user\", \"content\": \"?\"}], stream=stream)",
                                               "[*ask([{\"role\": \"user\", \"content\": \"?\"}]).split()"))  # fmt: skip
    said = replayed(recorded, "talk", "whole:talk", expect=1)
    assert "served   2 calls" in said
    assert "the chunks joined" in said


def test_a_program_that_configures_when_it_is_imported_is_told_that_this_is_a_replay(recorded):
    recorded.write("eager.py", "import otelreplay\notelreplay.configure()\nfrom desk import answer\n")
    assert "recording nothing: this is a replay" in replayed(recorded, "one", "eager:answer")


def test_an_agent_that_fails_now_and_did_not_then_shows_its_own_traceback(recorded):
    recorded.write("broken.py", PROGRAM.replace("found = look_up(order.id)", "raise LookupError('gone')"))
    said = replayed(recorded, "one", "broken:answer", expect=1)
    assert "broken.py" in said
    assert "LookupError: gone" in said
    assert "ReplayStopped" not in said
