"""Two recordings of which one says less than the other, or says it in another package's form."""

import copy

from otelreplay.events import Failure, Missing
from otelreplay.redaction import compile_policy, off_policy
from otelreplay.replay.comparison import Comparison
from otelreplay.spans import Scope
from tests.replay.builders import OTHER_KEY, Tape, asks, desk, record, text

PACKAGE = Scope(name="some.instrumentor", version="1.0")


def compare(one, other):
    return Comparison(one, other, redactor=compile_policy(off_policy(), key=OTHER_KEY)).compare().as_json()


def states(report):
    return [(row["boundary"], row["state"]) for row in report["timeline"]]


def foreign(*, agent="desk", params=None, tools=("find",), scope=PACKAGE, own=False):
    tape = Tape()
    held = {"scope": scope} if not own else {}
    parent = tape.agent(agent, input={"q": "orders"}, output="done", **held) if agent else None
    tape.model([text("user", "Hello")], "fine", parent=parent, params=params or {}, **held)
    for name in tools:
        tape.tool(name, {"n": 1}, give=2, parent=parent, **held)
    return tape.cassette()


def without(cassette, change):
    """The cassette with each event changed."""
    fields = {name: getattr(cassette, name) for name in cassette.__dataclass_fields__}
    return cassette.__class__(**{**fields, "events": tuple(change(event) for event in cassette.events)})


def test_agents_of_another_package_are_known_by_their_name():
    found = compare(foreign(), foreign())
    assert found["outcome"] == "equal"
    assert ("agent", "equal") in states(found)
    assert "recorded by another package, in another form" in {u["reason"] for u in found["unchecked"]}


def test_an_agent_of_another_name_is_added_and_the_first_one_is_gone():
    found = compare(foreign(), foreign(agent="other"))
    assert ("agent", "added") in states(found)
    assert found["exit_code"] == 1


def test_an_agent_that_only_one_recording_holds_is_unchecked():
    found = compare(foreign(agent=None), foreign())
    assert found["outcome"] == "equal"
    assert ("request.input", "one recording holds no agent") in {(u["field"], u["reason"]) for u in found["unchecked"]}


def lost(field):
    def change(event):
        if event.kind != "model":
            return event
        gone = field.removeprefix("request.")
        request = {name: value for name, value in event.request.items() if name != gone}
        keys = {name: key for name, key in event.request_keys.items() if name != gone}
        mark = Missing(field=field, cause="content_not_captured")
        return event.model_copy(update={"request": request, "request_keys": keys, "missing": [mark]})

    return change


def test_what_one_recording_lost_of_a_request_is_unchecked_on_either_side():
    whole = record(desk(1))
    partial = without(whole, lost("request.system"))
    for one, other in ((whole, partial), (partial, whole)):
        found = compare(one, other)
        assert found["outcome"] == "equal"
        assert "request.system" in {u["field"] for u in found["unchecked"]}
    assert "not carried by the other recording" in {u["reason"] for u in compare(whole, partial)["unchecked"]}


def test_what_both_hold_is_compared_all_the_same():
    steps = copy.deepcopy(desk(1))
    for step in steps:
        if step[0] == "model":
            step[2]["params"] = {"temperature": 0.9}
    found = compare(record(desk(1)), without(record(steps), lost("request.system")))
    told = found["first_divergence"]
    assert (told["path"], told["expected"], told["received"]) == ("request.params.temperature", 0.5, 0.9)


def test_what_a_package_never_carries_is_no_difference():
    found = compare(foreign(params={"temperature": 0.5}), foreign())
    assert found["outcome"] == "equal"
    assert "request.params.temperature" in {u["field"] for u in found["unchecked"]}
    assert compare(foreign(params={"temperature": 0.5}), foreign(params={"temperature": 0.6}))["outcome"] == "different"


def test_another_version_of_a_tool_is_a_difference():
    def run(version):
        steps = desk(1)
        steps[1][2]["version"] = version
        return record(steps)

    found = compare(run("1"), run("2"))
    assert (found["first_divergence"]["kind"], found["first_divergence"]["seq"]) == ("version_drift", 2)
    assert ("tool", "changed") in states(found)
    assert compare(run("1"), run("1"))["outcome"] == "equal"


def test_calls_whose_order_changed_are_told_as_that():
    steps = [("tool", name, {"arguments": {"n": 1}}, name) for name in ("read", "write", "close")]
    tape, other = Tape(), Tape()
    for held, order in ((tape, (0, 1, 2)), (other, (1, 0, 2))):
        agent = held.agent(input={"q": "orders"}, output="done")
        for n in order:
            asked = asks((f"c{n}", steps[n][1], {"n": 1}))
            held.model([text("user", f"step {n}")], asked, parent=agent)
            held.tool(steps[n][1], {"n": 1}, give=n, parent=agent, call_id=f"c{n}")
    found = compare(tape.cassette(), other.cassette())
    assert {state for _, state in states(found)} <= {"equal", "order"}


def test_of_a_changed_request_what_did_not_differ_before_is_named_first():
    steps = copy.deepcopy(desk(2))
    for n, step in enumerate(steps):
        if step[0] == "model":
            step[2]["messages"][0] = text("user", "Where is my parcel?")
            if n == 4:
                step[2]["messages"].append(text("user", "Hurry."))
    found = compare(record(desk(2)), record(steps))
    told = {row["seq"]: row for row in [found["first_divergence"], *found["others"]]}
    assert told[1]["path"] == "request.messages[0].parts[0].content"
    assert told[3]["follows"] == 1
    assert (told[5]["path"], told[5].get("follows")) == ("request.messages[5]", None)


def told(one, other):
    return compare(one, other)["first_divergence"]


def answered(**members):
    """A run of one tool whose event has these members instead."""
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output="done")
    tape.tool("find", {"n": 1}, give=2, parent=agent)
    return without(tape.cassette(), lambda e: e.model_copy(update=members) if e.kind == "tool" else e)


def failed(kind, message="no such order"):
    return answered(response=None, error=Failure(type=kind, message=message))


def test_the_same_error_from_another_module_is_the_same_and_another_message_is_not():
    assert compare(failed("shop.errors:Missing"), failed("Missing"))["outcome"] == "equal"
    assert told(failed("Missing"), failed("Other"))["path"] == "error.type"
    assert told(failed("Missing"), failed("Missing", "gone"))["path"] == "error.message"
    assert told(failed("Missing"), answered())["code"] == "diff.answer_changed"


def test_texts_that_came_in_other_pieces_are_the_same_answer_and_objects_are_compared_one_by_one():
    def pieces(*chunks):
        return answered(response={"chunks": list(chunks)})

    assert compare(pieces("It ", "left."), pieces("It left", "."))["outcome"] == "equal"
    assert told(pieces("It ", "left."), pieces("It ", "stayed."))["path"] == "response.chunks"
    assert compare(pieces({"n": 1}), pieces({"n": 1}))["outcome"] == "equal"
    assert told(pieces({"n": 1}, {"n": 2}), pieces({"n": 1}, {"n": 3}))["path"] == "response.chunks[1].n"
