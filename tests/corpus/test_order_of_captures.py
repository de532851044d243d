"""Real captures give the same events, byte for byte, in whatever order, requests and files their records come, and how often.

An exporter is free to cut its records into requests as it likes, and sends a request again when it hears no answer. So
every record is put in a request at random, some requests are there twice, and the requests are dealt to two files. Equal log
records of one request are twins, not repeats: they stay in one request. The captures stand beside the project, not in it.
"""

import json
import os
import random
from itertools import groupby
from pathlib import Path

import pytest

from otelreplay.canonical import dumps
from otelreplay.cassette import Signer, read_cassette
from otelreplay.cassette.store import MemoryStore
from otelreplay.inputs import Tally
from otelreplay.pipeline.convert import convert
from otelreplay.pipeline.shelf import Shelf
from otelreplay.pipeline.spool import Spool
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
from otelreplay.report.event import event_json
from otelreplay.wiring.converting import batches

CAPTURES = Path(__file__).parents[3] / "shared" / "corpus" / "captures"
ALL = sorted(path.parent.name for path in CAPTURES.glob("*/otlp.jsonl"))
SIGNER, KEY = Signer(b"s" * 32), PseudonymKey(secret=b"k" * 32)
LEVELS = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ALL and os.environ.get("CI") != "true", reason="the captures are not beside the project"),
]


def records(requests):
    """Every record as a request of its own; equal log records of one request are together in one."""
    for request in requests:
        for kind, (scopes, leaves) in LEVELS.items():
            made = []
            for resource in request.get(kind, ()):
                for scope in resource[scopes]:
                    made += [{**resource, scopes: [{**scope, leaves: [leaf]}]} for leaf in scope[leaves]]
            made.sort(key=dumps)
            for _, equal in groupby(made, key=dumps):
                yield {kind: list(equal)}


def dealt(found, rng):
    """Requests with the records at random, about a third of the requests twice."""
    rng.shuffle(found)
    requests = []
    while found:
        request = {}
        for _ in range(rng.randint(1, 4)):
            for kind, resources in (found.pop() if found else {}).items():
                request.setdefault(kind, []).extend(resources)
        requests.append(request)
    requests += [again for again in requests if rng.random() < 0.34]
    rng.shuffle(requests)
    return requests


def written(path, requests):
    path.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
    return str(path)


def events(files, folder):
    """Lines of events by run."""
    store = MemoryStore()
    shelf = Shelf(store, signer=SIGNER, created=lambda: "2030-01-01T00:00:00Z", facts={})
    with Spool(folder) as spool:
        source = batches(files, lambda _: None, Tally())
        convert(source, redactor=compile_policy(default_policy(), key=KEY), spool=spool, shelf=shelf)
    held = (read_cassette(store.open(entry.name)) for entry in store.list())
    return {c.header.run_id: [dumps(event_json(e)) for e in c.events] for c in held}


@pytest.mark.parametrize("name", ALL)
def test_shuffled_repeated_and_split_records_give_the_same_bytes(name, tmp_path):
    straight = CAPTURES / name / "otlp.jsonl"
    requests = [json.loads(line) for line in straight.read_text(encoding="utf-8").splitlines() if line.strip()]
    rng = random.Random(name)
    mixed = dealt(list(records(requests)), rng)
    assert mixed != requests
    cut = rng.randint(1, len(mixed))
    files = [written(tmp_path / "a.jsonl", mixed[:cut]), written(tmp_path / "b.jsonl", mixed[cut:])]
    expected = events([str(straight)], tmp_path)
    assert any(expected.values())
    assert events(files if mixed[cut:] else files[:1], tmp_path) == expected
