"""Two events are compared with the eyes of a replay."""

import pytest

from otelreplay.events import Event, Failure
from otelreplay.replay import diff
from otelreplay.replay.diff import Difference
from tests.replay.builders import asks, result, text

MODEL = Event(
    seq=1, id="t/1", kind="model", name="m",
    request={
        "model": "m", "params": {"temperature": 0.5, "max_tokens": 10, "stream": True},
        "system": [{"type": "text", "content": "Be brief."}],
        "messages": [text("user", "hello"), asks(("c1", "find", {"order": 1})), result("c1", "lost")],
    },
    response={"messages": [text("assistant", "It is lost.")], "id": "r-1", "usage": {"input_tokens": 3}},
)  # fmt: skip
TOOL = Event(
    seq=2, id="t/2", kind="tool", name="find", request={"arguments": {"order": 1}, "call_id": "c1"}, response={"result": 5}
)


def request(event, **fields):
    return event.model_copy(update={"request": event.request | fields})


def paths(was, now, **more):
    return [(d.path, d.change) for d in diff(was, now, **more).differences]


def test_an_event_does_not_differ_from_itself_nor_by_what_is_never_compared():
    assert not diff(MODEL, MODEL)
    renamed = [text("user", "hello"), asks(("other", "find", {"order": 1})), result("other", "lost")]
    params = {"temperature": 0.5, "max_completion_tokens": 10, "stream": False}
    other = request(MODEL, params=params, messages=renamed)
    other = other.model_copy(
        update={"response": MODEL.response | {"id": "r-2", "usage": {}}, "seq": 9, "id": "t/9", "name": "gpt"}
    )
    assert paths(MODEL, other) == []


@pytest.mark.parametrize(
    ("now", "found", "cause"),
    [
        (request(MODEL, params=MODEL.request["params"] | {"temperature": 1}), [("request.params.temperature", "changed")],
         "model options"),
        (request(MODEL, messages=MODEL.request["messages"][1:]), [("request.messages[0]", "removed")], "prompt"),
        (request(TOOL, arguments={"order": 1, "more": 2}), [("request.arguments.more", "added")], "code"),
        (TOOL.model_copy(update={"name": "seek"}), [("name", "changed")], "code"),
        (TOOL.model_copy(update={"kind": "state"}), [("kind", "changed")], "code"),
        (TOOL.model_copy(update={"response": {"result": 6}}), [("response.result", "changed")], "tool result"),
        (TOOL.model_copy(update={"response": None}), [("response.result", "removed")], "tool result"),
        (TOOL.model_copy(update={"error": Failure(type="E")}), [("error.type", "changed")], "tool result"),
        (TOOL.model_copy(update={"versions": {"tool": "2"}}), [("versions.tool", "added")], "code"),
    ],
)  # fmt: skip
def test_what_differs_is_named_with_its_class(now, found, cause):
    was = MODEL if now.request.get("messages") else TOOL
    assert (paths(was, now), diff(was, now).cause) == (found, cause)


def test_an_error_of_the_same_type_differs_by_its_message():
    was, now = (TOOL.model_copy(update={"error": Failure(type="E", message=m)}) for m in ("a", "b"))
    assert diff(was, now).differences == (Difference("error.message", "a", "b", "changed"),)


def test_responses_are_left_out_on_request_and_pieces_of_streams_count_only_where_nothing_else_is():
    assert paths(TOOL, TOOL.model_copy(update={"response": {"result": 6}}), response=False) == []
    chunked = [TOOL.model_copy(update={"response": {"result": 5, "chunks": c}}) for c in ([5], [2, 3])]
    assert paths(*chunked) == []
    chunked = [TOOL.model_copy(update={"response": {"chunks": c}}) for c in ([5], [2, 5])]
    assert paths(*chunked) == [("response.chunks[0]", "added")]


def test_placeholders_of_two_recordings_are_equal_by_their_rule():
    was, now = (request(TOOL, arguments={"to": f"{n * 16}@email.invalid"}) for n in "ab")
    assert paths(was, now) == []


def test_differences_are_cut_at_the_bound_and_that_is_said():
    was, now = (request(TOOL, arguments={"items": list(range(n, n + 50))}) for n in (0, 100))
    found = diff(was, now, most=7)
    assert (len(found.differences), found.cut) == (7, True)
