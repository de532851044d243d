"""A replay of events that are held aside is the same replay, to the last word of its report."""

import io

import pytest

from otelreplay.cassette import read_cassette, write_cassette
from otelreplay.cassette.aside import FileAside
from otelreplay.cassette.held import Shelf
from otelreplay.redaction import default_policy
from otelreplay.replay.comparison import Comparison
from tests.cassette.runs import SIGNER
from tests.replay import builders
from tests.replay.programs import PROGRAMS
from tests.replay.test_mutation import program


def both(name, monkeypatch):
    """The cassette of a program, read whole and held aside with room for next to nothing."""
    made = PROGRAMS[name]().cassette(default_policy())
    data = b"".join(write_cassette(made.recording(), header=made.header, signer=SIGNER))
    monkeypatch.setattr(Shelf.__init__, "__kwdefaults__", {"window": 2_000})
    return read_cassette(io.BytesIO(data)), read_cassette(io.BytesIO(data), aside=FileAside())


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_report_is_the_same(name, monkeypatch):
    whole, aside = (program(cassette) for cassette in both(name, monkeypatch))
    assert whole.run().as_json() == aside.run().as_json()
    mutants = list(zip(whole.mutants(), aside.mutants(), strict=True))
    for one, other in mutants[:: max(len(mutants) // 20, 1)]:
        assert whole.run(one).as_json() == aside.run(other).as_json()


def test_two_recordings_compare_the_same(monkeypatch):
    redactor = builders.compile_policy(default_policy(), key=builders.OTHER_KEY)
    first, second = (both(name, monkeypatch) for name in sorted(PROGRAMS)[:2])
    reports = [Comparison(a, b, redactor=redactor).compare().as_json() for a, b in zip(first, second, strict=True)]
    assert reports[0] == reports[1]


@pytest.mark.parametrize("most", [4, 40])
def test_a_replay_that_lets_go_of_what_it_saw_is_the_same_replay(most, monkeypatch):
    for place in ("otelreplay.replay.live", "otelreplay.replay.holes", "otelreplay.matching.keys"):
        monkeypatch.setattr(f"{place}._MESSAGES", most)
    steps = builders.desk(60)
    found = builders.play(builders.Player(builders.record(steps)), steps)
    assert (found.outcome, found.served, found.unused) == ("as_recorded", 121, 0)
    mails = [("model", "m", {"messages": [builders.text("user", f"Mail jo{n}@example.com.")]}, "sent") for n in range(60)]
    rules = builders.policy(("mail", "detector: email, action: pseudonym"))
    cassette = builders.record(mails, policy=rules)
    found = builders.play(builders.Player(cassette, rules), mails)
    assert (found.outcome, found.served) == ("as_recorded", 60)


def test_the_answers_that_are_looked_through_are_the_latest_and_every_origin_is_known(monkeypatch):
    monkeypatch.setattr("otelreplay.replay.situation.ANSWERS", 5)
    steps = builders.desk(20)
    player = builders.Player(builders.record(steps))
    found = builders.play(player, steps)
    assert list(player.session._situation.served) == [37, 38, 39, 40, 41]
    assert found.responses == ({"origin": "cassette", "from": 1, "to": 41},)
