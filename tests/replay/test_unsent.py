"""Values that a package writes for "not given" are not sent; what it fills in equals absence and itself, and nothing else."""

from dataclasses import replace

import pytest

from otelreplay.replay.divergence import Diverged
from otelreplay.replay.unsent import sent
from otelreplay.spans import Scope
from tests.replay.builders import Tape, call, session, text

FOREIGN, FILLING = Scope(name="some.package"), Scope(name="openlit.instrumentation.openai")


def replayed(recorded, live, scope):
    """(kind, path) of the first divergence; None where there is none."""
    tape = Tape()
    tape.model([text("user", "hello")], reply="hi", params=recorded, scope=scope)
    made = session(tape.cassette())
    asked = made.live_of(call("model", "m", messages=[text("user", "hello")], params=live))
    try:
        made.call(replace(asked, wire=True))
    except Diverged as diverged:
        return diverged.divergence.kind, diverged.divergence.path
    return None


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        ({"max_tokens": -1}, {}),
        ({"stop_sequences": [], "user": "", "streaming": True}, {}),
        ({"temperature": 0.0, "top_p": 1.0}, {"temperature": 0.0, "top_p": 1.0}),
    ],
)
def test_a_marker_of_any_package_is_no_value(recorded, live):
    assert replayed(recorded, live, FOREIGN) is None


@pytest.mark.parametrize("live", [{}, {"top_p": 1.0}, {"top_p": 1}])
def test_a_default_that_is_filled_in_equals_absence_and_itself(live):
    assert replayed({"top_p": 1.0, "temperature": 0.5}, {"temperature": 0.5, **live}, FILLING) is None


@pytest.mark.parametrize(
    ("scope", "recorded", "live", "path"),
    [
        (FILLING, {"top_p": 1.0}, {"top_p": 0.5}, "request.params.top_p"),
        (FILLING, {"max_tokens": -1}, {"max_tokens": 5}, "request.params.max_tokens"),
        (FOREIGN, {"top_p": 1.0}, {}, "request.params.top_p"),
        (FOREIGN, {"temperature": 0.0}, {"temperature": 1.0}, "request.params.temperature"),
    ],
)
def test_any_other_value_is_a_change(scope, recorded, live, path):
    assert ("request_changed", path) == replayed(recorded, live, scope)


def test_a_request_without_params_is_as_it_was():
    assert ({"params": None}, frozenset()) == sent({"params": None}, {})
    assert ({"params": {"a": 0, "b": False}}, frozenset()) == sent({"params": {"a": 0, "b": False}}, {})
