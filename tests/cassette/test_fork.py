"""Forks: what can be set, what follows from it, what is refused, and what a replay leaves of a draft and of a sealed fork."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay import canonical
from otelreplay.cassette import write_cassette
from otelreplay.cassette.fork import AGAIN, Edit, concluded, draft_lines, facts, forked, observation, observed
from otelreplay.errors import UsageError
from otelreplay.events import Event, Missing, Recording, Redaction
from otelreplay.matching import component_keys, request_hash
from tests.cassette import runs

CREATED = "2026-01-31T12:00:00Z"
LATER = "2026-02-01T12:00:00Z"


def model(said="It left.", **members):
    response = {"messages": [runs.text("assistant", said)], "finish_reasons": ["stop"], **members.pop("response", {})}
    request = {"model": "m", "messages": [runs.text("user", "Where is it?")]}
    return Event(seq=0, id=runs.span(0), kind="model", name="chat m", request=request, response=response,
                 spans=[runs.span(0)], **members)  # fmt: skip


def tool(**members):
    held = {"request": {"arguments": {"order": "A-1", "n": 4.0}}, "response": {"result": {"state": "sent", "at": [1, 2]}}}
    return Event(seq=1, id=runs.span(1), kind="tool", name="find", spans=[runs.span(1)], **held | members)


def sealed(*events):
    recording = Recording(run_id="ab12", trace_ids=(runs.TRACE,), events=events, span_count=len(events))
    return runs.read(runs.seal(recording, created=CREATED))


PARENT = sealed(model(), tool())


def fork(edits, *, parent=PARENT, seq=1, reason="was it lost?", clean=lambda event: event):
    return forked(
        parent, seq=seq, edits=[Edit(*edit) for edit in edits], reason=reason, created=LATER, clean=clean
    )  # fmt: skip


def edited(edits, *, parent=PARENT, seq=1, **more):
    _, held = fork(edits, parent=parent, seq=seq, **more)
    return next(event for event in held.events if event.seq == seq)


def refused(edits, **more):
    with pytest.raises(UsageError) as caught:
        fork(edits, **more)
    assert caught.value.next_step
    return caught.value


def draft_of(edits, **more):
    header, held = fork(edits, **more)
    return runs.read(draft_lines(write_cassette(held, header=header, signer=runs.SIGNER)))


def test_a_fork_names_parent_reason_and_edits_and_has_a_run_id_of_its_own():
    header, held = fork([("response.result.state", "lost")])
    assert (header.parent.kind, header.parent.root, header.parent.run_id) == ("fork", PARENT.seal.root, "ab12")
    assert header.parent.reason == "was it lost?"
    assert header.parent.model_dump()["edits"] == [{"seq": 1, "field": "response.result.state"}]
    assert header.run_id == held.run_id != "ab12"
    assert (header.revision, header.created) == (1, LATER)


def test_the_same_hypothesis_has_the_same_run_id_and_another_one_another():
    one = fork([("response.result.state", "lost")])[0].run_id
    assert one == fork([("response.result.state", "lost")])[0].run_id
    others = [
        fork([("response.result.state", "found")]), fork([("response.result.state", "lost")], reason="other"),
        fork([("response.result.seen", "lost")]),
    ]  # fmt: skip
    assert len({one, *(header.run_id for header, _ in others)}) == 4


def test_only_the_event_that_was_named_is_changed():
    _, held = fork([("response.result.state", "lost")])
    assert held.events[0] == PARENT.recording().events[0]
    assert held.events[1].response["result"] == {"state": "lost", "at": [1, 2]}
    assert held.events[1].request == PARENT.events[1].request


@pytest.mark.parametrize(
    ("field", "value", "result"),
    [
        ("response.result", "gone", "gone"),
        ("response.result.more.deep", 1, {"state": "sent", "at": [1, 2], "more": {"deep": 1}}),
        ("response.result.at[1]", 5, {"state": "sent", "at": [1, 5]}),
        ("response.result.at[2]", 3, {"state": "sent", "at": [1, 2, 3]}),
        ("response.result.list[0].a", 3, {"state": "sent", "at": [1, 2], "list": None}),
    ],
)
def test_a_value_is_put_where_the_field_says(field, value, result):
    if field.endswith("].a"):
        result = {**result, "list": [{"a": value}]}
    assert edited([(field, value)]).response["result"] == result


def test_a_response_that_is_not_there_is_made():
    parent = sealed(tool(response=None, missing=[Missing(field="response", cause="never_ended")]))
    event = edited([("response.result", "sent")], parent=parent)
    assert event.response == {"result": "sent"}
    assert event.missing == []


def test_what_was_set_is_marked_and_older_marks_about_it_go():
    marks = {
        "missing": [Missing(field="response.result.at", cause="truncated"), Missing(field="request.call_id", cause="redacted")],
        "redactions": [Redaction(field="response.result.at[0]", rule="r", action="mask")],
    }
    event = edited([("response.result.at", [])], parent=sealed(model(), tool(**marks)))
    assert [mark.field for mark in event.missing] == ["request.call_id"]
    assert event.redactions == []
    assert [(m.field, m.rule) for m in event.inferred] == [("response.result.at", "fork")]


def test_the_keys_of_the_changed_request_are_those_of_its_new_value():
    before, after = PARENT.events[1], edited([("request.arguments.order", "B-2")])
    assert after.request_keys == component_keys(after)
    assert after.request_hash == request_hash(after.request_keys)
    assert component_keys(before) != after.request_keys


def test_what_is_put_in_passes_the_parents_policy():
    def clean(event):
        return event.model_copy(update={"response": {"result": "<secret>"}})

    assert edited([("response.result", "sk-123")], clean=clean).response == {"result": "<secret>"}


@pytest.mark.parametrize("field", ["seq", "id", "kind", "parent", "marks", "[0]"])
def test_what_makes_the_event_itself_cannot_be_set(field):
    assert refused([(field, 7)]).code == "fork.field"


@pytest.mark.parametrize("field", ["response.result.at[7]", "response.result.state[0]", "response.result.at.name"])
def test_a_place_that_cannot_be_is_refused_and_named(field):
    error = refused([(field, 7)])
    assert error.code == "fork.field"
    assert field in str(error)


@pytest.mark.parametrize(
    "value", ["text", 7, [{"role": "user"}], [{"role": "user", "parts": "Hi"}], [{"parts": [{"n": 1}]}], ["Hi"]]
)
def test_messages_are_messages_with_parts(value):
    assert refused([("response.messages", value)], seq=0).code == "fork.type"
    assert refused([("request.messages", value)], seq=0).code == "fork.type"


def test_a_member_of_the_wrong_type_is_refused_and_named():
    error = refused([("effect", "explosion")])
    assert error.code == "fork.type"
    assert "effect" in str(error)


def test_an_event_that_is_not_there_and_a_draft_cannot_be_forked():
    assert refused([("response.result", 1)], seq=9).code == "cassette.no_such_event"
    assert refused([("response.result", 1)], parent=draft_of([("response.result", 2)])).code == "fork.unsealed"


def messages(said):
    return [{"role": "assistant", "parts": [{"type": "text", "content": said}]}]


def test_a_reply_that_is_one_text_is_set_as_message_and_result_alike():
    parent = sealed(model(response={"result": "It left.", "chunks": [{"text": "It "}, {"text": "left."}], "stream": True}))
    by_message = edited([("response.messages[0].parts[0].content", "Lost.")], parent=parent, seq=0).response
    by_result = edited([("response.result", "Lost.")], parent=parent, seq=0).response
    for response in (by_message, by_result):
        assert response["result"] == "Lost."
        assert response["messages"][0]["parts"] == [{"type": "text", "content": "Lost."}]
        assert not {"chunks", "stream"} & {*response}  # they join to the old text


def test_chunks_that_were_set_too_stay():
    parent = sealed(model(response={"result": "It left.", "chunks": ["It left."]}))
    made = edited([("response.result", "No."), ("response.chunks", ["N", "o."])], parent=parent, seq=0).response
    assert made["chunks"] == ["N", "o."]


@pytest.mark.parametrize(
    ("said", "new"),
    [
        ("another text", messages("Lost.")),
        ("It left.", [*messages("a"), *messages("b")]),
        ("It left.", [{"role": "assistant", "parts": [{"type": "tool_call", "name": "find"}]}]),
        ("It left.", [{"role": "assistant", "parts": []}]),
        ("It left.", [{"role": "assistant", "parts": [{"type": "text", "content": 7}]}]),
    ],
)
def test_a_result_that_is_not_the_text_of_the_reply_is_left_alone(said, new):
    parent = sealed(model(response={"result": said}))
    made = edited([("response.messages", new)], parent=parent, seq=0).response
    assert made["result"] == said
    assert made["messages"] == new


def test_a_result_that_is_no_text_any_more_leaves_the_message_alone():
    parent = sealed(model(response={"result": "It left."}))
    made = edited([("response.result", {"state": "lost"})], parent=parent, seq=0).response
    assert made["messages"] == messages("It left.")


def test_a_draft_is_no_sealed_cassette_and_says_what_it_comes_from():
    draft = draft_of([("response.result.state", "lost")])
    assert draft.seal is None
    assert draft.header.draft == {**PARENT.seal.completeness}
    assert facts(draft)["draft"] is True
    assert facts(draft)["parent"]["reason"] == "was it lost?"
    assert observation(draft) is None
    assert facts(PARENT) == {}


REPORT = {"outcome": "diverged", "exit_code": 1, "served": 2, "first_divergence": {"seq": 4}, "stdout": "left out"}


def sealed_fork(report=REPORT, fork_=None):
    held = fork_ or draft_of([("response.result.state", "lost")])
    header, recording, further = concluded(held, observed(report, created=LATER), created=LATER)
    return runs.read(list(write_cassette(recording, header=header, signer=runs.SIGNER, further=further)))


def test_the_first_replay_of_a_draft_seals_it_with_what_was_observed():
    draft, held = draft_of([("response.result.state", "lost")]), sealed_fork()
    assert held.seal is not None
    assert (held.header.run_id, held.header.draft) == (draft.header.run_id, None)
    assert held.recording().events == draft.recording().events
    seen = observation(held)
    assert (seen["outcome"], seen["served"], seen["first_divergence"]) == ("diverged", 2, {"seq": 4})
    assert "stdout" not in seen
    assert facts(held)["observed"] == {name: value for name, value in seen.items() if name != "type"}
    assert facts(held)["draft"] is False


def test_a_later_replay_makes_a_child_that_holds_only_its_own_observation():
    held = sealed_fork()
    child = sealed_fork({**REPORT, "outcome": "as_recorded", "exit_code": 0}, held)
    assert child.header.run_id not in {held.header.run_id, "ab12"}
    assert (child.header.parent.root, child.header.parent.run_id) == (held.seal.root, held.header.run_id)
    assert child.header.parent.reason == AGAIN
    assert observation(child)["outcome"] == "as_recorded"
    assert sum(line.startswith(b'{"type":"observed"') for line in child.further) == 1
    assert observation(held)["outcome"] == "diverged"


def test_the_same_observation_is_the_same_child_whenever_and_wherever_it_was_made():
    held = sealed_fork()

    def child(created, **members):
        return concluded(held, observed(REPORT | members, created=created), created=created)[0].run_id

    assert child(CREATED) == child(LATER, guard="seccomp") != child(CREATED, served=3)


@given(st.dictionaries(st.text(min_size=1, max_size=4).filter(str.isidentifier), st.integers() | st.text(), max_size=3))
def test_any_value_that_json_can_say_is_set_and_comes_back(value):
    draft = draft_of([("response.result", value)])
    assert draft.events[1].response["result"] == value
    assert canonical.dumps(draft.events[1].response["result"]) == canonical.dumps(value)


def test_part_of_an_error_can_be_set():
    parent = sealed(tool(response=None, error={"type": "LookupError", "message": "no such order"}))
    event = edited([("error.message", "try later")], parent=parent)
    assert event.error.model_dump(exclude_none=True) == {"type": "LookupError", "message": "try later"}
    assert event.response is None
