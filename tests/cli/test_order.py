"""I7 from the outside: the order of arrival, repetition and splitting change no byte of the events."""

import random

import pytest

from tests.cli.traces import agent_run, attributes, chat, lines, log_request, request, said

TRACES = ("0af7651916cd43dd8448eb211c80319c", "1bf7651916cd43dd8448eb211c80319d")


def records(trace):
    return [
        {
            "traceId": trace,
            "spanId": "00000000000000a2",
            "timeUnixNano": str(1_790_000_000_000_000_000 + n),
            "eventName": "app.note",
            "body": {"stringValue": f"note {n}"},
            "attributes": attributes({"n": n}),
        }
        for n in range(3)
    ]


def everything():
    """Single requests, a span or a log record each."""
    spans = [s for n, trace in enumerate(TRACES) for s in agent_run(trace, question=f"Question {n}?")]
    spans.append(
        chat(
            TRACES[0],
            "00000000000000a5",
            parent="00000000000000a1",
            start=90,
            messages=[said("user", "x")],
            reply=said("assistant", "y"),
        )
    )
    return [request(s) for s in spans] + [log_request(r) for trace in TRACES for r in records(trace)]


def event_lines(desk, files, out):
    cassettes = desk.convert(*files, out=out)
    return {c.name: desk.run("events", c, "--json").out for c in cassettes}


@pytest.fixture
def expected(desk):
    desk.write("expected.jsonl", lines(*everything()))
    return event_lines(desk, ["expected.jsonl"], "expected")


@pytest.mark.parametrize("seed", range(4))
def test_shuffled_repeated_and_split_input_gives_the_same_bytes(seed, desk, expected):
    rng = random.Random(seed)
    parts = everything() + rng.sample(everything(), 5)
    rng.shuffle(parts)
    cut = rng.randrange(1, len(parts))
    desk.write("a.jsonl", lines(*parts[:cut]))
    desk.write("b.jsonl", lines(*parts[cut:]))
    assert expected == event_lines(desk, ["a.jsonl", "b.jsonl"], "out")


def test_one_request_with_everything_gives_the_same_bytes(desk, expected):
    spans = [s for r in everything() for x in r.get("resourceSpans", []) for y in x["scopeSpans"] for s in y["spans"]]
    notes = [s for r in everything() for x in r.get("resourceLogs", []) for y in x["scopeLogs"] for s in y["logRecords"]]
    desk.write("one.jsonl", lines({**request(*spans), **log_request(*notes)}))
    assert expected == event_lines(desk, ["one.jsonl"], "out")


def test_the_order_of_attributes_changes_no_event(desk, expected):
    turned = everything()
    for r in turned:
        for x in r.get("resourceSpans", []):
            for y in x["scopeSpans"]:
                for s in y["spans"]:
                    s["attributes"].reverse()
    desk.write("turned.jsonl", lines(*turned))
    assert expected == event_lines(desk, ["turned.jsonl"], "out")


def test_different_content_would_be_seen(desk, expected):
    changed = everything()
    changed[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] += attributes({"one.more": 1})
    desk.write("changed.jsonl", lines(*changed))
    assert expected != event_lines(desk, ["changed.jsonl"], "out")
