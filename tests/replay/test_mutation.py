"""One change at a time, in anything that a recording carries, is caught at the event and the field where it is."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from otelreplay.cassette import Cassette, header_for
from otelreplay.inputs import Tally
from otelreplay.pipeline.stamp import with_keys
from otelreplay.reconstruct import reconstruct
from otelreplay.redaction import compile_policy, default_policy
from otelreplay.spans import lifted
from otelreplay.testing.mutation import Program
from otelreplay.wiring.converting import batches
from tests.replay.builders import KEY, OTHER_KEY
from tests.replay.programs import PROGRAMS

CAPTURES = Path(__file__).parents[3] / "shared" / "corpus" / "captures"
NAMES = sorted(
    meta.parent.name for meta in CAPTURES.glob("*/meta.json") if "replay" in json.loads(meta.read_text(encoding="utf-8"))
)
MUTATIONS = {
    "call left out", "call made twice", "another tool", "key added", "key missing", "key changed", "retyped", "list order",
    "message added", "message dropped", "part dropped", "item added", "item dropped", "whitespace", "tool schema",
    "result of another call",
}  # fmt: skip


def program(cassette):
    return Program(cassette, compile_policy(default_policy(), key=OTHER_KEY))


def captured(name):
    """The program of a capture, converted in memory with the default policy."""
    redactor = compile_policy(default_policy(), key=KEY)
    read = list(batches([str(CAPTURES / name / "otlp.jsonl")], lambda _: None, Tally()))
    spans = [redactor.span(span) for batch in read for span in map(lifted, batch.spans)]
    logs = [redactor.log(log) for batch in read for log in batch.logs]
    recording, placeholders = redactor.recording_with_placeholders(reconstruct(spans, logs))
    recording = with_keys(recording)
    table = [{field: getattr(p, field) for field in p.__struct_fields__} for p in placeholders]
    header = header_for(recording, placeholders=table)
    return program(
        Cassette(header=header, events=recording.events, missing=recording.missing, notes=recording.notes),
    )


def escaped(found, mutants):
    return [str(escape) for escape in map(found.escaped, mutants) if escape is not None]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_unchanged_program_is_green(name):
    found = program(PROGRAMS[name]().cassette(default_policy()))
    assert (0, len(found.steps)) == (found.run().exit_code, len(list(found.steps)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_change_is_caught_at_its_event_and_its_field(name):
    found = program(PROGRAMS[name]().cassette(default_policy()))
    mutants = list(found.mutants())
    assert len(mutants) > 20
    assert [] == escaped(found, mutants)


def test_the_mutants_are_of_every_sort_and_several_hundred():
    made = [m for name in PROGRAMS for m in program(PROGRAMS[name]().cassette(default_policy())).mutants()]
    assert len(made) > 400
    assert {m.what.partition(":")[0] for m in made} == MUTATIONS


def test_a_change_that_no_one_would_see_is_told_from_one_that_is_caught():
    """The measure itself: a program that asks the same thing is no mutant, and is reported as escaped."""
    found = program(PROGRAMS["twins"]().cassette(default_policy()))
    mutant = next(m for m in found.mutants() if m.what == "key changed")
    same = replace(mutant, steps=(found.steps[mutant.place],))
    assert found.escaped(same) is not None
    elsewhere = replace(mutant, paths=("request.arguments.other",))
    assert found.escaped(elsewhere) is not None


@pytest.mark.skipif(not CAPTURES.is_dir() and os.environ.get("CI") != "true", reason="the captures are not beside the project")
@pytest.mark.parametrize("name", NAMES[::10])
def test_of_every_tenth_capture_one_change_in_twenty_is_caught(name):
    found = captured(name)
    assert 0 == found.run().exit_code
    assert [] == escaped(found, list(found.mutants())[::20])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_of_every_capture_one_change_in_five_is_caught(name):
    found = captured(name)
    assert 0 == found.run().exit_code
    assert [] == escaped(found, list(found.mutants())[::5])
