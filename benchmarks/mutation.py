"""Mutation score of replay: recorded programs run again with one change each; how many are caught where they are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import as_json, conversation
from benchmarks.harness import Row, Setting
from benchmarks.replaying import growing
from otelreplay.cassette import Cassette, header_for
from otelreplay.inputs import Tally
from otelreplay.pipeline.stamp import with_keys
from otelreplay.reconstruct import reconstruct
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
from otelreplay.spans import lifted
from otelreplay.testing.mutation import Program
from otelreplay.wiring.converting import batches

_EXAMPLES = Path(__file__).parents[1] / "examples" / "traces"
_FEWEST = 1_000
_MOST = 3_000
"""Mutants of one program; of more, every so many are taken."""


def bench(setting: Setting) -> Iterator[Row]:
    """Every mutant of the example, of a decorated agent, of a run of another package, and of the captures named."""
    tried = caught = green = 0
    programs = list(_programs(setting))
    for program in programs:
        green += program.run().exit_code == 0
        mutants = list(program.mutants())
        for mutant in mutants[:: 1 + len(mutants) // _MOST]:
            tried += 1
            escaped = program.escaped(mutant)
            caught += escaped is None
            if escaped is not None:
                yield Row("a mutant that was not caught where it is", str(escaped), "", "none", met=False)
    yield Row("recorded programs that replay green", f"{green} of {len(programs)}", "", "all", green == len(programs))
    met = caught == tried and tried >= _FEWEST
    yield Row("mutants caught at their event and field", f"{caught:,} of {tried:,}", "", "all", met)


def _programs(setting: Setting) -> Iterator[Program]:
    yield _program(growing(6))
    made = setting.folder / "made.jsonl"
    made.write_bytes(as_json(list(conversation(random.Random(1), calls=5, turn_bytes=172))) + b"\n")
    files = [_EXAMPLES / "support-desk.jsonl", made]
    if setting.captures is not None:
        replayable = [meta for meta in setting.captures.glob("*/meta.json") if '"replay"' in meta.read_text(encoding="utf-8")]
        files += sorted(meta.parent / "otlp.jsonl" for meta in replayable)
    for file in files:
        yield _program(_converted(file))


def _program(cassette: Cassette) -> Program:
    return Program(cassette, compile_policy(default_policy(), key=PseudonymKey(secret=b"an ephemeral key for a replay 00")))


def _converted(file: Path) -> Cassette:
    """All traces of a file as one run, under the default policy."""
    redactor = compile_policy(default_policy(), key=PseudonymKey(secret=b"the key of the recording side 00"))
    read = list(batches([str(file)], lambda _: None, Tally()))
    spans = [redactor.span(span) for batch in read for span in map(lifted, batch.spans)]
    logs = [redactor.log(log) for batch in read for log in batch.logs]
    recording, placeholders = redactor.recording_with_placeholders(reconstruct(spans, logs))
    recording = with_keys(recording)
    header = header_for(recording, placeholders=[{f: getattr(p, f) for f in p.__struct_fields__} for p in placeholders])
    return Cassette(header=header, events=recording.events, missing=recording.missing, notes=recording.notes)
