"""Events that are held aside answer as events do, and only the latest are at hand."""

import io
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.cassette import header_for, read_cassette, write_cassette
from otelreplay.cassette.aside import LARGE, FileAside, aside_for
from otelreplay.cassette.held import Recent, Shelf
from otelreplay.cassette.limits import DEFAULT_LIMITS, Limits
from otelreplay.cassette.read import _event
from otelreplay.cassette.scan import Scan
from otelreplay.errors import CassetteFormatError, IntegrityError, LimitError
from otelreplay.events import Event, Recording, assess
from otelreplay.pipeline.stamp import with_keys
from tests.cassette import runs
from tests.golden.recordings import golden

GOLDEN = {name: b"".join(lines) for name, lines in golden().items()}


def eager(data, **more):
    return read_cassette(io.BytesIO(data), **more)


def held(data, **more):
    return read_cassette(io.BytesIO(data), aside=FileAside(), **more)


def shelf(data, *, window):
    made = Shelf(FileAside(), DEFAULT_LIMITS, _event, window=window)
    Scan(DEFAULT_LIMITS, keep=False, taker=made).run(io.BytesIO(data))
    return made, made.events()


@pytest.mark.parametrize("name", GOLDEN)
def test_every_field_of_every_event_is_the_same(name):
    whole, aside = eager(GOLDEN[name]), held(GOLDEN[name])
    assert len(aside.events) == len(whole.events)
    for one, other in zip(aside.events, whole.events, strict=True):
        for field in (*Event.model_fields, "model_extra", "model_fields_set"):
            got = getattr(one, field)
            assert (list(got) if field == "after" else got) == getattr(other, field), field
        assert one == other
        assert one == next(e for e in held(GOLDEN[name]).events if e.seq == one.seq)
        assert one.model_copy(update={"name": "x"}) != one
    assert aside.recording().missing == whole.recording().missing
    assert (aside.header, aside.seal, aside.further) == (whole.header, whole.seal, whole.further)


@pytest.mark.parametrize("window", [1, 2_000, 1 << 20])
def test_what_is_at_hand_is_bounded_by_the_window_whatever_is_asked_in_whatever_order(window):
    data = b"".join(runs.seal(runs.chat(120, size=400)))
    made, events = shelf(data, window=window)
    whole = eager(data).events
    at_hand = 0
    for place in [*range(240), *range(239, -1, -1), *range(0, 240, 7)]:
        assert events[place].request == whole[place].request
        at_hand = max(at_hand, made.at_hand)
    assert at_hand <= {1: 4, 2_000: 40, 1 << 20: 240}[window]
    assert window != 1 << 20 or at_hand == 240


def test_a_message_of_events_that_are_at_hand_is_one_object():
    _, events = shelf(b"".join(runs.seal(runs.chat(20))), window=1 << 20)
    one, other = events[36].request["messages"], events[38].request["messages"]
    assert all(a is b for a, b in zip(one, other, strict=False))


def test_it_is_read_from_several_threads_at_once():
    _, events = shelf(b"".join(runs.seal(runs.chat(40))), window=3_000)
    whole, wrong = eager(b"".join(runs.seal(runs.chat(40)))).events, []

    def read(step):
        wrong.extend(n for n in range(0, 80, step) if events[n].response != whole[n].response)

    threads = [threading.Thread(target=read, args=(step,)) for step in (1, 3, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_altered_cassette_is_refused_as_ever():
    data = bytearray(GOLDEN["history"])
    at = data.index(b'"type":"event"') + 60
    data[at] ^= 1
    with pytest.raises((IntegrityError, CassetteFormatError)):
        held(bytes(data))


def test_no_line_of_a_run_as_it_is_written_is_read_before_something_is_asked_of_it():
    data = b"".join(runs.seal(with_keys(runs.chat(20))))
    assert b'"request_keys":{"$like"' in data
    made, _ = shelf(data, window=1 << 20)
    assert made.at_hand == 0


def one_event(old, new):
    """An unsealed cassette of one event, with something in its line replaced."""
    event = Event(seq=0, id="t/1", kind="tool", name="x", start="1")
    lines = runs.seal(Recording(run_id="ab12", trace_ids=(), events=(event,), span_count=1))[:-1]
    assert sum(old in line for line in lines) == 1
    return b"".join(line.replace(old, new) for line in lines)


WRONG = {
    "start": (b'"start":"1"', b'"start":"' + b"9" * 5_000 + b'"'),
    "kind": (b'"kind":"tool"', b'"kind":"fool"'),
    "kind, of no text": (b'"kind":"tool"', b'"kind":["tool"]'),
    "kind, not there": (b'"kind":"tool"', b'"kynd":"tool"'),
    "id": (b'"id":"t/1"', b'"id":7'),
    "after": (b'"name":"x"', b'"name":"x","after":7'),
    "after, inside": (b'"name":"x"', b'"name":"x","after":[1,"a"]'),
    "parent": (b'"name":"x"', b'"name":"x","parent":"q"'),
    "effect": (b'"name":"x"', b'"name":"x","effect":5'),
    "attributes": (b'"name":"x"', b'"name":"x","attributes":5'),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_line_of_the_wrong_form_is_refused_in_the_same_words(wrong):
    data, told = one_event(*WRONG[wrong]), []
    for read in (eager, held):
        with pytest.raises(CassetteFormatError) as caught:
            read(data, allow_unsealed=True)
        told.append((str(caught.value), caught.value.code, caught.value.where))
    assert told[0] == told[1]
    assert told[0][1:] == ("cassette.event", "line 2")


def test_a_line_of_an_odd_form_that_is_read_as_ever_is_held_as_it_is_read():
    data = one_event(b'"name":"x"', b'"name":"x","parent":"3","after":["2"]')
    (whole,), (aside,) = eager(data, allow_unsealed=True).events, held(data, allow_unsealed=True).events
    assert (aside.parent, aside.after) == (whole.parent, whole.after) == (3, [2])


def test_a_name_that_stands_in_a_blob_is_the_name_of_the_event():
    name = "find " + "x" * 5_000
    events = tuple(Event(seq=n, id=f"t/{n}", kind="tool", name=name) for n in range(2))
    data = b"".join(runs.seal(Recording(run_id="ab12", trace_ids=(), events=events, span_count=2)))
    assert b'"name":{"$ref"' in data
    assert [event.name for event in held(data).events] == [name, name]


def test_a_wrong_form_further_in_is_told_with_its_line_when_it_is_read():
    data = one_event(b'"name":"x"', b'"name":"x","missing":[5]')
    (event,) = held(data, allow_unsealed=True).events
    with pytest.raises(CassetteFormatError, match="missing") as caught:
        event.request  # noqa: B018
    assert caught.value.where == "line 2"


def test_a_list_beyond_the_limit_is_refused():
    data = b"".join(runs.seal(runs.chat(30)))
    made = Shelf(FileAside(), Limits(expanded=10), _event)
    Scan(DEFAULT_LIMITS, keep=False, taker=made).run(io.BytesIO(data))
    with pytest.raises(LimitError):
        made.events()[-2].request  # noqa: B018


def test_only_a_large_cassette_is_held_aside():
    assert aside_for(io.BytesIO(b"x" * 100)) is None
    assert aside_for(io.BytesIO(b"x" * LARGE)) is not None
    packed = io.BytesIO(b"\x28\xb5\x2f\xfd" + b"x" * (LARGE // 8))
    assert aside_for(packed) is not None
    assert packed.tell() == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=60))
@settings(max_examples=50)
def test_what_was_asked_for_since_the_last_turn_is_there(steps):
    recent, asked = Recent(), set()
    for turn, key in steps:
        if turn:
            recent.turn()
            asked.clear()
        elif recent.get(key) is None:
            recent.put(key, key)
        if not turn:
            asked.add(key)
        assert all(recent.get(k) == k for k in asked)
        assert len(recent) <= 12


@pytest.mark.parametrize("name", GOLDEN)
def test_what_is_written_from_it_and_told_of_its_gaps_is_the_same(name):
    whole, aside = eager(GOLDEN[name]).recording(), held(GOLDEN[name]).recording()
    assert assess(aside.events, aside.missing) == assess(whole.events, whole.missing)
    one, other = (list(write_cassette(r, header=header_for(r), signer=runs.SIGNER)) for r in (whole, aside))
    assert one == other
