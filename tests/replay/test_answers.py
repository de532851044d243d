"""What a call is answered with: values, errors, streams, fixtures; and what is never made up."""

import asyncio
import collections
import dataclasses
import enum
import sys

import pytest

from otelreplay import canonical
from otelreplay.boundary import Raised, ReplayStopped, Returned, Streamed
from otelreplay.errors import UsageError
from otelreplay.events import Event, Failure, Missing
from otelreplay.redaction import default_policy
from otelreplay.replay import Fixture, read_fixtures
from otelreplay.replay.answers import answer, text_of
from otelreplay.replay.fixtures import fixtures_of
from otelreplay.replay.revive import Reviver
from tests.replay.builders import Player, Tape, dumps, play, record, text


@dataclasses.dataclass
class Row:
    order: str
    count: int


class Color(enum.Enum):
    RED = 1


Point = collections.namedtuple("Point", "x y")


class OrderError(ValueError):
    def __init__(self, order, *, code):
        super().__init__(f"no {order}")
        self.code = code


class OddError(Exception):
    __slots__ = ("fixed",)

    @property
    def code(self):
        return 1


def one(gave=None, **more):
    """A cassette with one tool call."""
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    tape.tool("find", {}, gave, parent=agent, **more)
    return tape.cassette()


def asked(cassette, kind="tool", name="find", *, policy=None, **more):
    player = Player(cassette, policy)
    token = player.enter(input={"q": "orders"})
    return player, player.call(kind, name, parent=token, **more)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        [],
        {},
        0,
        -0.0,
        float("inf"),
        2**70,
        (1, 2),
        {1, 2},
        b"\x00",
        {1: 2},
        "\ud800",
        Row("A", 1),
        Color.RED,
        Point(1, Row("B", 2)),
    ],
    ids=repr,
)
def test_a_typed_result_comes_back_as_it_was(value):
    _, got = asked(one(value))
    assert isinstance(got, Returned)
    assert (type(got.value), got.value) == (type(value), value)


def test_an_instance_of_a_class_that_is_not_loaded_is_given_as_its_fields_and_said_so():
    value = canonical.decode({"$otelreplay": "dataclass", "class": "no.such:Thing", "fields": {"a": 1}})
    player, got = asked(one(value))
    assert got.value == value
    assert "no.such" not in sys.modules
    assert any("the class no.such:Thing is not loaded" in entry["reason"] for entry in player.result().assumed)


def test_a_class_that_is_no_data_is_not_made_whatever_the_cassette_says():
    value = canonical.decode({"$otelreplay": "dataclass", "class": "subprocess:Popen", "fields": {"args": "true"}})
    assert isinstance(Reviver().value(value), canonical.Tagged)


def test_a_recorded_error_is_raised_again_as_the_same_kind_with_its_fields():
    said = {"class": f"{__name__}:OrderError", "args": ["no A-1"], "fields": {"code": 7}}
    player, got = asked(one(error=("OrderError", said)))
    assert isinstance(got, Raised)
    assert type(got.error) is OrderError
    assert (got.error.args, got.error.code) == (("no A-1",), 7)
    assert player.result().assumed == ()


@pytest.mark.parametrize(
    ("name", "kind", "assumed"),
    [
        ("KeyError", KeyError, True),
        ("asyncio.exceptions.CancelledError", asyncio.CancelledError, True),
        (f"{__name__}.OrderError", OrderError, True),
        ("UnicodeDecodeError", Exception, True),
    ],
)
def test_an_error_of_which_only_the_name_is_known_is_of_that_class(name, kind, assumed):
    player, got = asked(one(error=(name,)))
    assert isinstance(got.error, kind)
    assert type(got.error).__name__ == name.rpartition(".")[2]
    assert bool(player.result().assumed) is assumed


def test_an_error_of_a_class_that_is_not_loaded_is_made_up_under_its_name():
    _, first = asked(one(error=("vendor.RateLimitError",)))
    player, got = asked(one(error=("vendor.RateLimitError",)))
    assert type(got.error).__name__ == "RateLimitError"
    assert type(got.error) is type(first.error)
    assert any("made up" in entry["reason"] for entry in player.result().assumed)


@pytest.mark.parametrize("name", ["SystemExit", "builtins:KeyboardInterrupt", "int", "os:getpid", "x y:z", "a:b.c", ":"])
def test_what_is_no_exception_of_a_program_is_never_raised_as_itself(name):
    error, assumed = Reviver().error(Event(seq=0, id="x", kind="tool", name="t"), Failure.model_validate({"class": name}))
    assert isinstance(error, Exception)
    assert "made up" in assumed


def test_fields_that_cannot_be_set_are_left_out():
    said = {"class": f"{__name__}:OddError", "args": [], "fields": {"code": 7, "fixed": 3, "more": 1}}
    error, _ = Reviver().error(Event(seq=0, id="x", kind="tool", name="t"), Failure.model_validate(said))
    assert (type(error), *(getattr(error, name) for name in ("code", "fixed", "more"))) == (OddError, 1, 3, 1)


def test_an_error_without_a_name_is_a_recorded_error():
    error, _ = Reviver().error(Event(seq=0, id="x", kind="tool", name="t"), Failure())
    assert (type(error).__name__, error.args) == ("RecordedError", ())


def stream(end="returned", chunks=("a", "b"), *, kind="tool", value=None, sent=None, error=None, policy=None):
    """A cassette with one streamed call."""
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    done = {"otelreplay.chunks": dumps(list(chunks)), "otelreplay.stream.end": end}
    if sent is not None:
        done["otelreplay.sent"] = dumps(sent)
    if kind == "tool":
        if value is not None:
            done["gen_ai.tool.call.result"] = dumps(value)
        tape.add("tool", "find", parent=agent, done=done, error=error)
    else:
        tape.add("model", "m", messages=[text("user", "q")], parent=agent, done=done, error=error)
    return tape.cassette(policy)


def test_a_stream_gives_its_chunks_one_by_one_and_then_its_value():
    _, got = asked(stream(value="end"), stream=True)
    assert isinstance(got, Streamed)
    assert (got.chunks, got.end, got.value, got.error) == (["a", "b"], "returned", "end", None)


def test_a_stream_that_failed_gives_what_came_before_and_raises_the_same_kind():
    _, got = asked(stream("raised", error=("TimeoutError",)), stream=True)
    assert (got.chunks, got.end, type(got.error)) == (["a", "b"], "raised", TimeoutError)


def test_a_consumer_that_asks_for_more_than_was_recorded_gets_missing_and_not_a_quiet_end():
    player, got = asked(stream("stopped"), stream=True, where="agent.py:3")
    assert (got.chunks, got.end) == (["a", "b"], "stopped")
    assert player.result().exit_code == 0
    stopped = got.asked_for_more()
    assert isinstance(stopped, ReplayStopped)
    done = player.result()
    assert (done.exit_code, done.first_divergence.kind, done.first_divergence.where) == (3, "response_missing", "agent.py:3")
    assert "after 2 chunks" in done.first_divergence.detail
    assert [m["type"] for m in player.messages] == ["served", "divergence"]


def test_values_sent_into_a_generator_are_compared():
    player, got = asked(stream(sent=[[1, {"go": True}]]), stream=True)
    assert got.sent == [(1, {"go": True})]
    got.on_sent(1, {"go": True})
    assert player.result().exit_code == 0
    with pytest.raises(ReplayStopped):
        got.on_sent(1, {"go": False})
    assert player.result().first_divergence.path == "response.stream.sent[1].go"
    with pytest.raises(ReplayStopped):
        got.on_sent(2, None)
    assert player.result().others[0].change == "added"


def test_a_text_of_a_model_is_cut_into_pieces_that_join_to_it():
    said = "  Your order A-1\nis on its way.  "
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=None)
    tape.model([text("user", "q")], said, parent=agent)
    player, got = asked(tape.cassette(), "model", "m", messages=[text("user", "q")], stream=True)
    assert len(got.chunks) > 3
    assert "".join(got.chunks) == said
    assert any("cut so that they join" in entry["reason"] for entry in player.result().assumed)


def test_a_list_is_streamed_by_its_items_and_anything_else_as_one_chunk():
    for value, chunks in (([1, 2], [1, 2]), (7, [7])):
        player, got = asked(one(value), stream=True)
        assert (got.chunks, bool(player.result().assumed)) == (chunks, True)


def test_a_stream_that_is_read_as_one_value_is_joined_if_it_is_text():
    player, got = asked(stream())
    assert (got.value, player.result().assumed[0]["reason"]) == ("ab", "the chunks joined")
    for cassette in (stream(chunks=(1, 2)), stream("stopped")):
        with pytest.raises(ReplayStopped):
            asked(cassette)
    _, got = asked(stream("raised", error=("TimeoutError",)))
    assert isinstance(got, Raised)


def test_an_error_of_a_call_that_is_streamed_now_comes_before_the_first_chunk():
    _, got = asked(one(error=("TimeoutError",)), stream=True)
    assert (got.chunks, got.end, type(got.error)) == ([], "raised", TimeoutError)


LOST = Missing(field="response.result", cause="truncated", detail="cut after 100 characters", remedy="raise the limit")


def without_answer(mark=LOST):
    cassette = one("x")
    events = tuple(
        e.model_copy(update={"response": None, "missing": [mark]}) if e.kind == "tool" else e for e in cassette.events
    )
    return type(cassette)(header=cassette.header, events=events)


def test_an_answer_that_is_missing_is_said_with_its_cause_and_remedy():
    player = Player(without_answer())
    token = player.enter(input={"q": "orders"})
    with pytest.raises(ReplayStopped):
        player.get("tool", "find", parent=token)
    done = player.result()
    found = done.first_divergence
    assert (found.kind, done.exit_code, found.cause, found.remedy) == ("response_missing", 3, "truncation", "raise the limit")
    assert "cut after 100 characters" in found.detail


@pytest.mark.parametrize("key", [1, "1", "ID"])
def test_a_fixture_fills_it_and_is_listed(key):
    cassette = without_answer()
    key = cassette.events[1].id if key == "ID" else key
    player = Player(cassette, fixtures={key: {"result": {"a": (1,)}}})
    token = player.enter(input={"q": "orders"})
    assert player.get("tool", "find", parent=token) == {"a": (1,)}
    done = player.result()
    assert (done.exit_code, done.origins) == (1 if done.first_divergence else 0, {"fixture": 1})
    assert any(entry["reason"] == "origin fixture" for entry in done.assumed)


def test_fixtures_may_be_errors_or_whole_responses():
    for fixture, seen in (
        ({"error": {"type": "TimeoutError", "message": "late"}}, "late"),
        ({"response": {"result": 5}}, 5),
        (5, 5),
        (Fixture(response={"result": 5}), 5),
    ):
        player = Player(without_answer(), fixtures={1: fixture})
        got = player.call("tool", "find", parent=player.enter(input={"q": "orders"}))
        assert seen in (getattr(got, "value", None), *getattr(getattr(got, "error", None), "args", ()))


def test_a_fixture_for_what_was_recorded_is_not_used_and_one_for_nothing_is_noted():
    player, got = None, None
    player = Player(one("x"), fixtures={1: 5, 99: 6})
    got = player.call("tool", "find", parent=player.enter(input={"q": "orders"}))
    assert got.value == "x"
    notes = player.result().notes
    assert "the fixture of seq 1 was not used: its answer is recorded" in notes
    assert any("name no event" in note for note in notes)


def test_the_file_of_fixtures_is_json_with_typed_values():
    made = read_fixtures('{"3": {"result": {"$otelreplay": "tuple", "items": [1]}}, "t/1": {"error": {"type": "E"}}}')
    assert made[3].response == {"result": (1,)}
    assert made["t/1"].error.type == "E"


@pytest.mark.parametrize("bad", ["", "[1]", "{", '{"3": {}}', '{"3": {"result": 1, "error": {}}}', '{"3": {"error": 5}}',
                                 '{"3": {"error": {"type": 5}}}', '{"a/b": {"nothing": 1}}',
                                 '{"3": {"response": 1}}'])  # fmt: skip
def test_a_fixture_that_says_nothing_is_refused(bad):
    with pytest.raises(UsageError) as caught:
        read_fixtures(bad)
    assert caught.value.code == "replay.fixture"


def test_fixtures_of_python_values_are_results():
    assert fixtures_of({2: [1]})[2].response == {"result": [1]}


def event(**members):
    return Event(seq=0, id="t/1", kind=members.pop("kind", "tool"), name="t", **members)


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (event(), "content_not_captured"),
        (event(missing=[Missing(field="response", cause="span_not_received")]), "span_not_received"),
        (event(response={"result": 1}, missing=[Missing(field="response.result.a", cause="undecodable")]), "undecodable"),
        (event(response={"usage": {}}, missing=[Missing(field="response.result", cause="redacted")]), "redacted"),
        (event(kind="embeddings"), "not_carried_by_convention"),
        (event(kind="model", response={"messages": []}), "not_carried_by_convention"),
        (event(kind="model", response={"messages": [{"parts": [{"type": "tool_call"}]}]}), "not_carried_by_convention"),
    ],
)  # fmt: skip
def test_an_answer_is_never_made_up(given, cause):
    assert answer(given, None, stream=False).mark.cause == cause


def test_what_was_delivered_before_a_program_stopped_reading_is_an_answer():
    left = event(response={"result": "x"}, missing=[Missing(field="response.chunks", cause="never_ended")])
    assert answer(left, None, stream=False).value == "x"


def test_a_result_that_was_read_elsewhere_is_inferred():
    found = answer(
        event(response={"result": 1}, inferred=[{"field": "response.result", "from": "t/2:x", "rule": "r"}]), None, stream=False
    )
    assert found.origin == "inferred"


@pytest.mark.parametrize(
    "messages", [None, [], [1], [{}], [{"parts": 1}], [{"parts": [{"type": "text"}]}], [{"parts": []}], [{}, {}]]
)
def test_only_one_message_of_texts_has_a_text(messages):
    assert text_of(messages) is None
    assert text_of([{"parts": [{"type": "text", "content": "a"}, {"type": "text", "content": "b"}]}]) == "ab"


def test_odd_recordings_of_streams_are_read_as_far_as_they_go():
    got = answer(
        event(response={"chunks": (1,), "stream": {"end": 5, "sent": [[0, 1], [1], "x", ["a", 2]]}}), None, stream=True
    )
    assert (got.end, got.sent) == ("returned", ((0, 1),))
    assert answer(event(response={"chunks": [1], "stream": 3}), None, stream=True).end == "returned"


def test_the_whole_is_played():
    assert (
        play(Player(record([("tool", "find", {"arguments": {}}, 1)])), [("tool", "find", {"arguments": {}}, 1)]).exit_code == 0
    )


@pytest.mark.parametrize("returned", [None, "written to ada@example.com"])
def test_a_private_value_sent_into_a_generator_is_compared_under_the_policy(returned):
    sent = [[0, "ada@example.com"], [1, "thanks, ada@example.com"]]
    recorded = stream(sent=sent, value=returned, policy=default_policy())
    player, got = asked(recorded, policy=default_policy(), stream=True)
    got.on_sent(0, "ada@example.com")
    got.on_sent(1, "thanks, ada@example.com")
    assert player.result().exit_code == 0
    with pytest.raises(ReplayStopped):
        got.on_sent(1, "thanks, bob@example.com")
    assert player.result().first_divergence.path == "response.stream.sent[1]"


@pytest.mark.parametrize(
    ("end", "read", "thrown", "noted"),
    [
        ("returned", 1, False, "read all 2 chunks to the end of seq 1, and this one stopped after 1"),
        ("stopped", 1, False, "stopped reading after 2 chunks of seq 1, and this one stopped after 1"),
        ("raised", 2, False, "read all 2 chunks to the end of seq 1, and this one stopped after 2"),
        ("stopped", 2, False, None),
        ("raised", 2, True, None),
    ],
)
def test_a_consumer_that_reads_less_than_the_recorded_one_is_noted(end, read, thrown, noted):
    error = {"error": ("TimeoutError",)} if end == "raised" else {}
    player, got = asked(stream(end, **error), stream=True)
    got.on_left(read, thrown)
    assert [noted in note for note in player.result().notes] == ([] if noted is None else [True])
