"""Marks of messages, written out for whoever reads a single event."""

from otelreplay.events import Event, Inferred, Message, Missing, Redaction, assess, expand

MARKED = Message(
    {"role": "user", "parts": []},
    [
        Missing(field="parts[0].content", cause="truncated"),
        Inferred(field="", source="a/b:c", rule="r"),
        Redaction(field="[x]", rule="email", action="mask"),
    ],
)


def model(*messages):
    return Event(seq=4, id="a/b", kind="model", name="m", request={"messages": list(messages)}, response={"messages": [MARKED]})


def test_marks_of_messages_get_full_names():
    event = expand(model(Message({"role": "user", "parts": []}), MARKED))
    assert [mark.field for mark in event.missing] == [
        "request.messages[1].parts[0].content",
        "response.messages[0].parts[0].content",
    ]
    assert [mark.field for mark in event.inferred] == ["request.messages[1]", "response.messages[0]"]
    assert [mark.field for mark in event.redactions] == ["request.messages[1][x]", "response.messages[0][x]"]


def test_what_is_no_message_has_no_marks_and_hides_none():
    assert [mark.field for mark in expand(model("text", {"role": "user"}, MARKED)).inferred] == [
        "request.messages[2]",
        "response.messages[0]",
    ]


def test_an_event_without_marked_messages_is_itself():
    event = Event(seq=0, id="a/b", kind="agent", name="m", request={"input": [Message({})]}, response={"output": "text"})
    assert expand(event) is event


def test_marks_of_messages_count_wherever_the_message_stands():
    found = assess([model("text", MARKED), model(MARKED, MARKED)])
    assert (found.recorded, found.inferred, found.absent, found.redactions) == (1, 3, 0, 5)
    assert [gap.field for _, gap in found.gaps] == [
        "request.messages[1].parts[0].content",
        "response.messages[0].parts[0].content",
        "request.messages[0].parts[0].content",
        "request.messages[1].parts[0].content",
        "response.messages[0].parts[0].content",
    ]
    assert found.verdict == "partial"
