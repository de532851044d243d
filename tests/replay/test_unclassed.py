"""A recorded error of which only the message is known: the gap is named where a program fails on it, and a fixture fills it."""

from otelreplay.events import Failure
from tests.replay.builders import Player, Tape, cassette_of


def recorded():
    """A tool that failed, and one that was called after it."""
    tape = Tape()
    agent = tape.agent(input={}, output=None)
    tape.tool("find", {"q": 1}, parent=agent, error=("x",))
    tape.tool("tell", {}, "done", parent=agent)
    recording, _ = tape.recording()
    for event in recording.events:
        if event.error is not None:
            event.__dict__["error"] = Failure(message="no A-1")
    return cassette_of(recording)


def player(**more):
    made = Player(recorded(), **more)
    token = made.enter(input={})
    error = made.call("tool", "find", arguments={"q": 1}, parent=token).error
    return made, token, error


def test_a_program_that_ends_at_such_an_error_lacked_its_class():
    made, _, error = player()
    assert ("RecordedError", ("no A-1",)) == (type(error).__name__, error.args)
    done = made.result(child_exit=1)
    first = done.first_divergence
    assert (3, "response_missing", 1, "error.type") == (done.exit_code, first.kind, first.seq, first.path)
    assert "class of the error" in first.detail
    assert done == made.result(child_exit=1), "asking twice changes nothing"


def test_a_program_that_goes_on_as_it_did_lacked_nothing():
    made, token, _ = player()
    assert "done" == made.get("tool", "tell", parent=token)
    made.leave(token)
    assert 0 == made.result(child_exit=0).exit_code


def test_a_fixture_gives_the_error_its_class():
    made, token, error = player(fixtures={1: {"error": {"type": "LookupError", "message": "no A-1"}}})
    assert (LookupError, ("no A-1",)) == (type(error), error.args)
    made.get("tool", "tell", parent=token)
    made.leave(token)
    done = made.result(child_exit=0)
    assert (0, {"fixture": 1, "cassette": 1}) == (done.exit_code, dict(done.origins))


def test_with_a_fixture_what_a_program_leaves_out_is_its_own_doing():
    made, _, _ = player(fixtures={1: {"error": {"type": "LookupError", "message": "no A-1"}}})
    assert 1 == made.result(child_exit=1).exit_code
