"""The shipped trace is what its note says, and the damage is always the same."""

import json
from pathlib import Path

import pytest

from examples.damage import attribute, damage
from tests.project.house import ROOT

TRACES = ROOT / "examples" / "traces"
TRACE = (TRACES / "support-desk.jsonl").read_text(encoding="utf-8")


def spans(text):
    requests = map(json.loads, text.splitlines())
    return [
        (scope["scope"]["name"], span)
        for request in requests
        for resource in request["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def test_the_trace_was_made_by_the_packages_that_its_note_names():
    made_by = {scope for scope, _ in spans(TRACE)}
    assert made_by == {"opentelemetry.instrumentation.genai.openai", "opentelemetry.util.genai.handler"}
    assert len(spans(TRACE)) == 9
    assert len({span["traceId"] for _, span in spans(TRACE)}) == 1


def test_the_protobuf_file_holds_the_same_spans():
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    data = TracesData.FromString((TRACES / "support-desk.pb").read_bytes())
    ids = [s.span_id.hex() for r in data.resource_spans for scope in r.scope_spans for s in scope.spans]
    assert ids == [span["spanId"] for _, span in spans(TRACE)]


def test_the_trace_gives_redaction_something_to_do():
    assert all(text in TRACE for text in ("customer.1001@example.com", "+1 202-555-0143", "sk-proj-NotARealKey"))


def test_the_damage_is_one_call_without_content_one_span_lost_and_one_value_cut():
    before, after = ({span["spanId"]: span for _, span in spans(text)} for text in (TRACE, damage(TRACE)))
    lost = [attribute(before[i], "gen_ai.tool.call.id") for i in before.keys() - after.keys()]
    changed = [i for i in after if after[i] != before[i]]
    assert lost == ["call_0_1"]
    assert {attribute(before[i], "gen_ai.response.id") for i in changed} == {"chatcmpl-desk-2", "chatcmpl-desk-3"}
    longest = [max(len(a["value"].get("stringValue", "")) for a in span["attributes"]) for span in after.values()]
    assert sorted(longest)[-2:] == [1191, 1400]
    assert damage(TRACE) == damage(TRACE)
    assert damage(damage(TRACE)) == damage(TRACE)


@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "examples" / "capture").glob("*.py")))
def test_the_capture_scripts_can_be_read_by_python(name):
    """Their packages are not installed here; that they parse is what can be checked without them."""
    source = Path(ROOT / "examples" / "capture" / name).read_text(encoding="utf-8")
    compile(source, name, "exec")
