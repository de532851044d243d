"""From what was received to sealed cassettes: when, of what, and what later spans change."""

import json
import random

import msgspec
import pytest

from otelreplay.errors import KeyringError, UsageError
from otelreplay.receiver.inbox import delivery
from otelreplay.report.event import event_json
from otelreplay.report.receiving import status_text
from otelreplay.spans import mark_twins
from otelreplay.testing.inboxes import sample_span
from otelreplay.wiring.converting import convert_files
from otelreplay.wiring.serving import open_inbox, seal_store, store_status
from otelreplay.wiring.settings import retention
from tests.cli import traces
from tests.inputs.otlp import plain_spans
from tests.receiver.posts import JSON, cassettes, partial, pending_spans, request, served
from tests.reconstruct.builders import ASK, CALL, DONE, TOLD, model

RUN = traces.agent_run()
SECRET = "jane.doe@example.org"


def lone(n, messages, reply, **more):
    return model(n, messages, reply, parent=None, trace=f"{n:032x}", **more)


def events(cassette):
    return [event_json(event) for event in cassette.events]


def only(folder):
    ((name, cassette),) = cassettes(folder).items()
    return name, cassette


def sealed(folder, *documents, name="store"):
    """The one cassette that these requests make."""
    with served(folder / name) as post:
        for document in documents:
            assert post.json(document)[0] == 200
    return only(folder / name)[1]


def test_a_run_is_sealed_when_its_root_has_ended_and_it_is_quiet(tmp_path):
    """And not before: what has no ended root stays pending until the end."""
    with served(tmp_path, quiet=0.3) as post:
        post.json(plain_spans(*RUN[1:]))
        post.json(traces.request(*traces.agent_run("ab" * 16)))
        post.until(lambda: post.status["pending"]["traces"] == 1)
        assert len(post.cassettes()) == 1
        assert post.status["pending"]["list"][0]["root_ended"] is False
        post.json(traces.request(RUN[0]))
        post.until(lambda: post.status["pending"]["traces"] == 0)
        assert len(post.cassettes()) == 2
        assert post.status["sealed"] == {"written": 2, "revised": 0, "unchanged": 0, "set_aside": 0}


def test_a_run_whose_root_never_comes_is_sealed_when_nothing_came_for_long(tmp_path):
    with served(tmp_path, quiet=0.1, idle=0.4) as post:
        post.json(traces.request(*RUN[1:]))
        post.until(lambda: len(post.cassettes()) == 1)


def test_the_end_seals_what_is_pending_and_what_has_not_ended_is_visibly_so(tmp_path):
    """C11: a span without an end is kept, and never taken for one that went well."""
    never = {**RUN[0], "endTimeUnixNano": "0"}
    missing = {k: v for k, v in RUN[0].items() if k != "endTimeUnixNano"}
    for number, root in enumerate((never, missing)):
        cassette = sealed(tmp_path, traces.request(root, *RUN[1:]), name=str(number))
        agent = cassette.events[0]
        assert (agent.kind, agent.end) == ("agent", None)
        assert any(mark.cause == "never_ended" for mark in (*agent.missing, *cassette.missing))


def test_the_same_request_twice_is_stored_once_and_another_content_is_kept_apart_and_flagged(tmp_path):
    """C7: a retry is none the wiser; a conflict is kept, and the run says so."""
    other = {**RUN[2], "name": "execute_tool other"}
    with served(tmp_path) as post:
        for document in (traces.request(*RUN), traces.request(*RUN), traces.request(other)):
            assert post.json(document) == (200, {})
        found = post.status
        assert (found["stored"]["spans"], found["duplicates"]["spans"], found["conflicts"]) == (5, 4, 1)
    _, cassette = only(tmp_path)
    assert len(cassette.events) == 4
    assert [note.code for note in cassette.notes] == ["conflict"]


def test_a_child_whose_parent_never_comes_is_kept_as_an_orphan(tmp_path):
    """C10."""
    cassette = sealed(tmp_path, traces.request(RUN[2]))
    assert [event.kind for event in cassette.events] == ["tool"]
    assert any(mark.cause == "span_not_received" for event in cassette.events for mark in event.missing) or cassette.missing


def test_a_parent_that_comes_later_is_linked(tmp_path):
    """C10: also when the child was sealed without it meanwhile."""
    whole = sealed(tmp_path, traces.request(*RUN), name="whole")
    with served(tmp_path / "parts") as post:
        post.json(traces.request(RUN[2]))
        assert len(seal_store(tmp_path / "parts", run="", policy=None, wait=20)["runs"]) == 1
        post.json(traces.request(*RUN[:2], RUN[3]))
    name, cassette = only(tmp_path / "parts")
    assert ".r2." in name
    assert events(cassette) == events(whole)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_order_the_cassette_is_the_same(tmp_path, seed):
    """C12: root last, split, repeated, one span long after the others; completeness is judged anew."""
    whole = sealed(tmp_path, traces.request(*RUN), name="whole")
    spans = [*RUN, *RUN]
    random.Random(seed).shuffle(spans)
    with served(tmp_path / "parts") as post:
        for number, span in enumerate(spans):
            post.json(traces.request(span))
            if number % 3 == 0:
                seal_store(tmp_path / "parts", run="", policy=None, wait=20)
    _, cassette = only(tmp_path / "parts")
    assert events(cassette) == events(whole)
    assert (cassette.seal.completeness, cassette.missing) == (whole.seal.completeness, whole.missing)


def test_late_spans_make_a_revision_and_equal_ones_make_none(tmp_path):
    with served(tmp_path) as post:
        for spans, revisions in ((RUN[:3], 1), (RUN[:3], 1), (RUN, 2), (RUN[2:], 2)):
            post.json(traces.request(*spans))
            seal_store(tmp_path, run="", policy=None, wait=20)
            assert only(tmp_path)[1].header.revision == revisions
        assert post.status["sealed"] == {"written": 1, "revised": 1, "unchanged": 0, "set_aside": 0}
    header = only(tmp_path)[1].header
    assert header.parent.reason == "spans that came after it was sealed"
    assert len(list((tmp_path / "superseded").iterdir())) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cassettes", "inbox", "superseded"]


def test_after_their_retention_spans_are_late_and_said_to_be(tmp_path):
    """The sender is told, and it is counted; a redelivery of what the run holds is none."""
    with served(tmp_path, quiet=0.1, retention=0.2) as post:
        post.json(traces.request(*RUN[:3]))
        post.until(lambda: len(post.cassettes()) == 1 and not pending_spans(post))
        status, answer = post.json(traces.request(*RUN))
        assert (status, answer["partialSuccess"]["rejectedSpans"]) == (200, "1")
        assert "too late" in answer["partialSuccess"]["errorMessage"]
        assert (post.status["late"]["spans"], post.status["duplicates"]["spans"]) == (1, 3)
    assert only(tmp_path)[1].header.revision == 1


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_pieces_of_a_run_are_joined_also_when_the_later_one_was_sealed_first(tmp_path, order):
    """A cassette whose run turns out to be a piece of another is set aside, not left beside it."""
    pieces = lone(2, ASK, CALL), lone(4, [*ASK, CALL, TOLD], DONE)
    with served(tmp_path) as post:
        for number in order:
            post.sent(pieces[number])
            seal_store(tmp_path, run="", policy=None, wait=20)
        assert post.status["sealed"]["set_aside"] == (1 if order == (1, 0) else 0)
    _, cassette = only(tmp_path)
    assert [event.kind for event in cassette.events] == ["model", "tool", "model"]
    assert len(list((tmp_path / "superseded").iterdir())) == 1


def test_a_run_is_sealed_on_demand_by_any_of_its_names(tmp_path):
    other = "ab" * 16
    with served(tmp_path) as post:
        post.json(traces.request(*RUN))
        post.json(traces.request(*traces.agent_run(other)))
        (first,) = seal_store(tmp_path, run=RUN[0]["traceId"], policy=None, wait=20)["runs"]
        assert (first["outcome"], list(post.cassettes())) == ("written", [first["cassette"]])
        assert seal_store(tmp_path, run=first["run_id"], policy=None, wait=20)["runs"] == []
        with pytest.raises(UsageError) as error:
            seal_store(tmp_path, run="cd" * 16, policy=None, wait=20)
        assert error.value.code == "seal.unknown_run"
        (second,) = seal_store(tmp_path, run="", policy=None, wait=20)["runs"]
        assert second["run_id"] != first["run_id"]


def left_by_a_crash(folder, *spans):
    """A store as a process that was killed leaves it: acknowledged spans in no cassette."""
    with served(folder):
        pass
    inbox = open_inbox(folder)
    inbox.put([delivery(list(spans), mark_twins([]))])
    inbox.close()


def test_what_a_killed_process_left_is_assembled_at_the_next_start(tmp_path):
    """At once and however it looks: also what never ended."""
    left_by_a_crash(tmp_path, sample_span(2), sample_span(3))
    with served(tmp_path) as post:
        post.until(lambda: len(post.cassettes()) == 1)


def test_a_store_that_nobody_serves_is_sealed_under_the_policy_of_then(tmp_path):
    left_by_a_crash(tmp_path, sample_span(1))
    assert store_status(tmp_path)["pending"]["traces"] == 1
    (run,) = seal_store(tmp_path, run="", policy=None, wait=1)["runs"]
    assert run["outcome"] == "written"
    assert only(tmp_path)[1].header.policy["name"] == "default"
    assert store_status(tmp_path)["pending"]["traces"] == 0


def test_a_damaged_frame_keeps_no_other_run_from_being_sealed(tmp_path):
    with served(tmp_path) as post:
        post.json(traces.request(*RUN))
        post.json(traces.request(*traces.agent_run("ab" * 16)))
        post.receiver._inbox._writer.execute("UPDATE frames SET checksum = 0 WHERE number = 1")
        answer = seal_store(tmp_path, run="", policy=None, wait=20)
        assert (len(answer["runs"]), len(answer["problems"])) == (1, 1)
        assert "inbox.frame" in post.said[0]
    assert len(cassettes(tmp_path)) == 1


def test_a_second_receiver_on_one_store_is_refused(tmp_path):
    with served(tmp_path), pytest.raises(UsageError) as error, served(tmp_path):
        pass
    assert error.value.code == "store.in_use"


def test_a_store_whose_key_is_elsewhere_gets_no_new_one(tmp_path, monkeypatch):
    """Equal values would get other pseudonyms, and nothing would say so."""
    with served(tmp_path / "store") as post:
        post.json(traces.request(*RUN))
    with served(tmp_path / "store"):
        pass
    monkeypatch.setenv("OTELREPLAY_KEYS", str(tmp_path / "other"))
    with pytest.raises(KeyringError) as error, served(tmp_path / "store"):
        pass
    assert error.value.code == "keyring.other_store"
    assert not list((tmp_path / "other").rglob("*.key"))


def test_nothing_that_the_policy_removes_reaches_a_file(tmp_path):
    """I1: not the inbox, its log, a cassette, an answer or the status; also of spans that are in no cassette."""
    with served(tmp_path) as post:
        post.json(traces.request(*traces.agent_run(question=f"I am {SECRET}", extra={"user": SECRET})))
        post.json(traces.request({**RUN[0], "spanId": SECRET}))
        said = json.dumps(post.status) + str(post.said)
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(files) >= 4
        for path in files:
            assert SECRET.encode() not in path.read_bytes()
        for spans, _ in (post.receiver._inbox.read([state.key]) for state in post.receiver._inbox.pending()):
            assert SECRET not in str(spans)
    assert SECRET not in said
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert SECRET.encode() not in path.read_bytes()


def test_the_same_trace_through_convert_and_through_the_wire_is_the_same_cassette(tmp_path):
    """I7, from end to end: every line between header and seal."""
    documents = [traces.request(*RUN), traces.request(*traces.agent_run("ab" * 16, question=f"I am {SECRET}"))]
    (tmp_path / "trace.jsonl").write_text(traces.lines(*documents))
    nothing = retention(purpose="", classification="", expires="")
    convert_files(
        [str(tmp_path / "trace.jsonl")],
        out=tmp_path / "out",
        policy="default",
        one_run=False,
        retention=nothing,
        progress=lambda _: None,
    )
    with served(tmp_path / "store") as post:
        for document in reversed(documents):
            post.json(document)

    def between(folder):
        return {path.name: path.read_bytes().splitlines()[1:-1] for path in folder.glob("*.cassette.jsonl")}

    assert len(between(tmp_path / "out")) == 2
    assert between(tmp_path / "store" / "cassettes") == between(tmp_path / "out")


def test_a_refusal_tells_what_was_refused_over_protobuf_too(post):
    rejected, message = partial(post.post(request(msgspec.structs.replace(sample_span(1), trace_id="0" * 32)))[2])
    assert (rejected, "all zero" in message) == (1, True)


def test_log_records_without_a_trace_are_sealed_as_the_run_of_their_session(tmp_path):
    """Sent one by one; the session, not the request, holds them together."""

    def record(at, session, name, **attributes):
        named = {"session.id": session, "event.name": f"codex.{name}", **attributes}
        values = [{"key": key, "value": {"stringValue": value}} for key, value in named.items()]
        one = {"timeUnixNano": str(10**18 + at), "attributes": values}
        return json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [one]}]}]}).encode()

    done = {"event.kind": "response.completed", "model": "m"}
    with served(tmp_path) as post:
        for at, session in ((1, "a"), (2, "b"), (3, "a")):
            assert post.post(record(at, session, "sse_event", **done), JSON, path="/v1/logs")[0] == 200
        assert (post.status["unplaced_logs"], post.status["stored"]["logs"]) == (0, 3)
    assert sorted(len(c.events) for c in cassettes(tmp_path).values()) == [1, 2]


def test_the_status_of_a_folder_says_whether_anything_serves_it(tmp_path):
    with served(tmp_path):
        assert store_status(tmp_path)["served"] is True
        assert status_text(store_status(tmp_path)).startswith("served        yes\n")
    assert store_status(tmp_path)["served"] is False
