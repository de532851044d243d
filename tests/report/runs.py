"""A small run for reports, with one of everything that they show."""

from otelreplay.events import Event, Failure, Inferred, Message, Missing, Note, Redaction

BASE = 1_790_000_000_000_000_000
SWITCH = "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"


def at(ms):
    return str(BASE + ms * 1_000_000)


def text(role, said, *marks):
    return Message({"role": role, "parts": [{"type": "text", "content": said}]}, marks)


ASKED = text("user", "Where is it?", Redaction(field="parts[0].content", rule="email", action="pseudonym"))
ANSWERED = text("assistant", "Let me see.\nOne moment.")
NOT_CAPTURED = Missing(field="response.messages", cause="content_not_captured", detail="the span has no content", remedy=SWITCH)

EVENTS = (
    Event(seq=0, id="t/a0", kind="agent", name="order-desk", start=at(0), end=at(2300), request={"input": [ASKED]}),
    Event(
        seq=1, id="t/a1", kind="model", name="gpt-4o-mini", parent=0, start=at(3), end=at(1103),
        request={"messages": [ASKED]},
        response={"messages": [ANSWERED], "usage": {"input_tokens": 320, "output_tokens": 45}},
    ),
    Event(
        seq=2, id="t/a1#call_1", kind="tool", name="lookup_order", parent=0, after=[1],
        request={"arguments": {"order": "A-17", "n": 4.0}}, response={"result": {"status": "shipped"}},
        inferred=[Inferred(field="response.result", source="t/a3:gen_ai.input.messages[2].parts[0]", rule="quoted_result")],
    ),
    Event(
        seq=3, id="t/a2", kind="tool", name="send\x1b[2Jmail", parent=0, after=[1], start=at(1150), end=at(1170),
        request={"arguments": {"to": "x"}}, error=Failure(type="TimeoutError", message="no answer"), effect="write",
    ),
    Event(
        seq=4, id="t/a3", kind="model", name="gpt-4o-mini", parent=0, start=at(1200), end=at(2290),
        request={"messages": [ASKED]}, response={"usage": {"input_tokens": 420}}, missing=[NOT_CAPTURED],
    ),
)  # fmt: skip

RUN_LEVEL = (
    Missing(field="tool", cause="span_not_received", detail="one call was asked for, and no span shows it", remedy="send it"),
)
NOTES = (Note(code="clock_skew", message="the tool's clock is 5 s behind", spans=("t/a2",)),)
