"""Each example is recorded over OTLP bytes: its cassette has every boundary once, and replays to the same end."""

import asyncio
import importlib.util
import json
import os

import pytest

from examples.agents import class_based, parallel_tools, plain_functions
from examples.order_desk import answer
from examples.order_desk.__main__ import QUESTION
from otelreplay.events import assess
from tests.examples.recorded import boundaries, cassette_of, otelreplay, recording

pytestmark = pytest.mark.slow

NAMES = ("openai", "opentelemetry.instrumentation", "opentelemetry.instrumentation.genai")
SDK = os.environ.get("CI") == "true" or all(map(importlib.util.find_spec, NAMES))
"""In CI what is not installed is a failure, not a test less."""


@pytest.fixture
def recorded(monkeypatch):
    with recording(monkeypatch) as made:
        yield made


EXAMPLES = {
    "plain_functions": (
        lambda: plain_functions.pack("ada"),
        "examples.agents.plain_functions:pack",
        [("state", "home_of"), ("tool", "forecast"), ("model", "ask")],
    ),
    "class_based": (
        lambda: class_based.Librarian().find("Engines"),
        "examples.agents.class_based:Librarian.find",
        [("model", "titles"), ("tool", "catalogue"), ("tool", "catalogue")],
    ),
    "parallel_tools": (
        lambda: asyncio.run(parallel_tools.plan(list(parallel_tools.PRICES))),
        "examples.agents.parallel_tools:plan",
        [("tool", "price")] * 3 + [("model", "chooser")],
    ),
    "order_desk": (
        lambda: answer(QUESTION),
        "examples.order_desk:answer",
        [
            ("retrieval", "policies"), ("clock", "clock"), ("model", "scripted-1"), ("tool", "lookup_order"),
            ("model", "scripted-1"), ("tool", "track_parcel"), ("model", "scripted-1"), ("id", "id"), ("tool", "refund"),
            ("model", "scripted-1"),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_recorded_with_every_boundary_once_and_replays(name, recorded, tmp_path):
    run, agent, wanted = EXAMPLES[name]
    said = run()
    cassette, path = cassette_of(recorded, tmp_path)
    assert boundaries(cassette) == wanted
    assert len(cassette.events) == len(wanted) + 1
    agents = [e for e in cassette.events if e.kind == "agent"]
    assert [e.parent for e in cassette.events] == [None] + [0] * len(wanted)
    assert agents[0].response["output"].split("[")[0][:9] == said[:9]
    assert assess(cassette.events, cassette.missing).verdict == "full"
    done = otelreplay("replay", path, "--agent", agent, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout[done.stdout.index("{") :])
    assert report["blocked"] == []
    assert report["served"] == len(wanted)
    assert "[shop] paid" not in done.stdout + done.stderr


def test_the_desk_that_reads_the_newest_policy_diverges_there(recorded, tmp_path):
    answer(QUESTION)
    _, path = cassette_of(recorded, tmp_path)
    done = otelreplay("replay", path, "--agent", "examples.order_desk:answer_by_newest_policy", "--json", folder=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    first = json.loads(done.stdout[done.stdout.index("{") :])["first_divergence"]
    assert (first["kind"], first["operation"]) == ("request_changed", "scripted-1")
    assert first["path"].startswith("request.system")


def test_the_incident_is_in_the_cassette_and_private_data_is_not(recorded, tmp_path, capsys):
    answer(QUESTION)
    assert "paid 129.00 EUR" in capsys.readouterr().out
    cassette, path = cassette_of(recorded, tmp_path)
    refund = next(e for e in cassette.events if e.name == "refund")
    made = next(e for e in cassette.events if e.kind == "id")
    assert (refund.effect, refund.request["arguments"]["amount"]) == ("write", 129.0)
    assert refund.idempotency_key == made.response["result"]
    assert "ada.byron@example.com" not in path.read_text(encoding="utf-8")


@pytest.mark.skipif(not SDK, reason="needs the openai SDK and its instrumentation")
class TestBesideAnotherPackage:
    TOOLS = ["lookup_order", "lookup_order", "track_parcel", "draft_refund"]

    @pytest.fixture(autouse=True)
    def instrumented(self, recorded, monkeypatch):
        from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

        monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "span_only")
        instrumentor = OpenAIInstrumentor()
        instrumentor.instrument(tracer_provider=recorded.provider)
        yield
        instrumentor.uninstrument()

    def test_a_decorated_and_instrumented_agent_gives_each_boundary_once(self, recorded, tmp_path):
        from examples.agents import decorated_and_instrumented as example

        example.answer("Is a refund due?")
        assert len([s for s in recorded.spans() if s.name.startswith("chat")]) == 8
        cassette, path = cassette_of(recorded, tmp_path)
        models = [e for e in cassette.events if e.kind == "model"]
        assert len(models) == 4
        assert [e.name for e in cassette.events if e.kind == "tool"] == self.TOOLS
        for event in models:
            assert (len(event.spans), event.name) == (2, "gpt-4o-mini")
            assert event.attributes["otelreplay.carries"] == ["messages"]
            assert event.request["params"]["temperature"] == 0.2
            assert event.response["result"].members["class"] == "openai.types.chat.chat_completion:ChatCompletion"
            assert event.response["usage"]["input_tokens"]
        done = otelreplay("replay", path, "--agent", "examples.agents.decorated_and_instrumented:answer", folder=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr

    def test_an_agent_that_only_configures_gives_each_boundary_once(self, recorded, tmp_path):
        from examples.agents import only_configure as example

        example.answer("Is a refund due?")
        cassette, _ = cassette_of(recorded, tmp_path)
        assert [e.name for e in cassette.events if e.kind == "tool"] == self.TOOLS
        assert len([e for e in cassette.events if e.kind == "model"]) == 4
        assert len(cassette.events) == 8
