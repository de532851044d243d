"""What was written once stays readable, verifies, and replays: for every format that there has been."""

import shutil
from pathlib import Path

import pytest

from otelreplay.cassette import read_cassette, verify_cassette
from otelreplay.cassette.fork import observation
from otelreplay.cassette.header import FORMAT
from tests.cassette.runs import TRUST
from tests.golden import make
from tests.golden.make import HERE, events_of
from tests.golden.recordings import MAIL, asked
from tests.replay.builders import Player, play

FILES = sorted(path for path in HERE.glob("*/*.cassette.jsonl*"))
NAMES = {"plain", "history", "packed", "marked", "kinds", "redacted", "revision", "draft", "fork"}


def name_of(path):
    return path.name.partition(".")[0]


def read(path):
    with path.open("rb") as stream:
        return read_cassette(stream)


def test_the_present_format_has_its_golden_cassettes():
    assert {name_of(path) for path in FILES if path.parent.name == FORMAT} == NAMES


def test_only_the_present_format_may_be_a_draft():
    assert [path.name for path in HERE.glob("*-draft") if path.name != FORMAT] == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_it_holds_the_events_that_it_held_when_it_was_made(path):
    assert events_of(read(path)) == (path.parent / f"{name_of(path)}.events.jsonl").read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_it_verifies_unless_it_is_a_draft(path):
    with path.open("rb") as stream:
        found = verify_cassette(stream, trust=TRUST)
    assert found.ok == (name_of(path) != "draft")


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda p: p.name)
def test_it_replays(folder):
    """Placeholders and all; and its fork gives what was set by hand, and says so."""
    done = play(Player(read(folder / "redacted.cassette.jsonl"), MAIL), asked())
    assert (done.outcome, done.unused) == ("as_recorded", 0)
    for name in ("draft", "fork"):
        forked = play(Player(read(folder / f"{name}.cassette.jsonl"), MAIL), asked())
        assert forked.origins["fork"] == 1
    assert observation(read(folder / "fork.cassette.jsonl"))["first_divergence"]["seq"] == 4
    assert read(folder / "fork.cassette.jsonl").header.parent.edits[0]["field"] == "response.result.state"
    assert read(folder / "revision.cassette.jsonl").header.parent.kind == "revision"


def test_a_frozen_format_is_never_made_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(make, "HERE", tmp_path)
    monkeypatch.setattr(make, "FORMAT", "1")
    (tmp_path / "1").mkdir()
    assert make.main([]) == 1
    assert "never made again" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "1")
    (tmp_path / "1-draft").mkdir()
    assert make.main([]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["1"]
    assert {Path(p).name.partition(".")[0] for p in (tmp_path / "1").glob("*.cassette.jsonl*")} == NAMES
