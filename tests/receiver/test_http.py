"""OTLP/HTTP as the specification has it: what is taken, what is refused, and in which words."""

import contextlib
import gzip
import http.client
import json
import socket
import threading
import time
import zlib
from unittest.mock import Mock

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from otelreplay.errors import InputError
from otelreplay.inputs import read_batches
from otelreplay.inputs.gather import LISTED
from otelreplay.testing.inboxes import TRACE, sample_span
from tests.inputs import otlp
from tests.receiver.posts import JSON, PROTOBUF, cassettes, partial, pending_spans, request, served, status_of

SPAN = sample_span(1)
BODIES = {PROTOBUF: request(SPAN), JSON: json.dumps(otlp.document([SPAN])).encode()}
ENCODINGS = {"identity": lambda body: body, "gzip": gzip.compress, "deflate": zlib.compress}


@pytest.mark.parametrize("suffix", ["", "; charset=utf-8", ";charset=UTF-8"])
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("media", BODIES)
def test_every_form_is_taken_and_answered_in_kind(post, media, encoding, suffix):
    """C4: gzip and a charset are no reason to refuse."""
    body = ENCODINGS[encoding](BODIES[media])
    status, headers, answer = post.post(body, media + suffix, Content_Encoding=encoding)
    assert (status, headers["content-type"], answer) == (200, media, b"{}" if media == JSON else b"")
    assert pending_spans(post) == {SPAN.span_id: SPAN}


@pytest.mark.parametrize(
    ("body", "media", "headers", "expected"),
    [
        (BODIES[JSON], "text/plain", {}, 415),
        (BODIES[JSON], None, {}, 415),
        (BODIES[PROTOBUF], PROTOBUF, {"Content_Encoding": "br"}, 415),
        (b"\xff\xfe garbage", PROTOBUF, {}, 400),
        (BODIES[PROTOBUF][:-3], PROTOBUF, {}, 400),
        (b"garbage", JSON, {}, 400),
        (BODIES[JSON][:-3], JSON, {}, 400),
        (b"[]", JSON, {}, 400),
        (b"", JSON, {}, 400),
        (BODIES[JSON] + b"x", JSON, {}, 400),
        (b"no gzip", JSON, {"Content_Encoding": "gzip"}, 400),
        (gzip.compress(BODIES[PROTOBUF], mtime=0)[:-9], PROTOBUF, {"Content_Encoding": "gzip"}, 400),
        (b"", PROTOBUF, {"Content_Encoding": "gzip"}, 200),
        (b"", PROTOBUF, {}, 200),
        (b"{}", JSON, {}, 200),
        (b'{"resourceSpans": []}', JSON, {}, 200),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(post, body, media, headers, expected):
    """C4: each cause has its status, and the body is a google.rpc.Status in the form of the request."""
    status, sent, answer = post.post(body, media, **headers)
    assert status == expected
    if status == 200:
        return
    if sent["content-type"] == PROTOBUF:
        code, message, details = status_of(answer)
        violations = details["BadRequest"].field_violations
    else:
        found = json.loads(answer)
        code, message, violations = found["code"], found["message"], found["details"][0]["fieldViolations"]
    assert code == 3
    assert len(violations) == 1
    assert message.startswith("the ")
    assert b"garbage" not in answer
    assert post.status["refused"] == {"bad_data" if status == 400 else "unsupported": 1}


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/v1/traces", 405),
        ("PUT", "/v1/logs", 405),
        ("POST", "/", 404),
        ("POST", "/v1/spans", 404),
        ("POST", "/status", 405),
    ],
)
def test_a_wrong_place_or_method_is_named(post, method, path, expected):
    """An endpoint for one signal is used as it is, without a path: a sender that posts to / is told where to."""
    status, headers, answer = post.post(BODIES[JSON] if method != "GET" else None, JSON, path=path, method=method)
    assert status == expected
    assert headers.get("allow") == ({405: "GET" if path == "/status" else "POST"}.get(expected))
    assert expected != 404 or "/v1/traces" in json.loads(answer)["message"]


def test_a_span_with_only_required_fields_is_stored(post):
    """C5: what is not written has its default; nothing is dropped behind a 200."""
    status, answer = post.json(otlp.plain_spans({"traceId": TRACE, "spanId": "00000000000000aa", "name": "x"}))
    assert (status, answer) == (200, {})
    assert pending_spans(post)["00000000000000aa"].kind == 0


@pytest.mark.parametrize("media", [PROTOBUF, JSON])
def test_one_impossible_span_costs_only_itself(post, media):
    """C6: the others are stored, and it is named in the answer, in the status and among the counts."""
    good = [sample_span(n) for n in range(1, 21)]
    if media == JSON:
        bad = otlp.json_span(sample_span(99)) | {"startTimeUnixNano": "never"}
        body = otlp.document(good)
        body["resourceSpans"].append(otlp.plain_spans(bad)["resourceSpans"][0])
        status, answer = post.json(body)
        rejected, message = int(answer["partialSuccess"]["rejectedSpans"]), answer["partialSuccess"]["errorMessage"]
        assert f"{99:016x}" in message
    else:
        data = TracesData.FromString(otlp.traces_data([*good, sample_span(99)]))
        data.resource_spans[20].scope_spans[0].spans[0].span_id = b"short"
        status, _, raw = post.post(data.SerializeToString())
        rejected, message = partial(raw)
        assert "element 20" in message
    assert (status, rejected) == (200, 1)
    assert len(pending_spans(post)) == 20
    assert post.status["refused"] == {"record": 1}
    assert post.status["recent_refusals"] == [message]


def test_a_small_body_that_unpacks_to_a_gigabyte_is_refused(tmp_path):
    """C8: the limit holds for what is inside, and no more than the limit is ever unpacked."""
    bomb = gzip.compress(b"\0" * (300 << 20), 9)
    assert len(bomb) < 400_000
    with served(tmp_path / "store", limit=8 << 20) as post:
        for media in (PROTOBUF, JSON):
            status, _, answer = post.post(bomb, media, Content_Encoding="gzip")
            assert status == 413
            assert str(8 << 20) in str(answer)
        assert post.status["refused"] == {"too_large": 2}
        assert post.post(BODIES[PROTOBUF])[0] == 200


def test_a_large_body_is_refused_before_it_is_taken_in(tmp_path):
    """By what it declares, or as soon as there is too much; the answer says both sizes."""
    with served(tmp_path / "store", limit=1 << 20) as post:
        body = bytes(3 << 20)
        status, _, answer = post.post(body)
        assert (status, status_of(answer)[0]) == (413, 8)
        assert str(3 << 20) in status_of(answer)[1]
        assert str(1 << 20) in status_of(answer)[1]
        chunks = (body[at : at + 65536] for at in range(0, len(body), 65536))
        assert post.post(chunks)[0] == 413
        assert post.receiver._budget.held == 0


def test_a_chunked_body_is_taken(post):
    assert post.post(iter([BODIES[PROTOBUF][:5], BODIES[PROTOBUF][5:]]))[0] == 200
    assert len(pending_spans(post)) == 1


def test_odd_text_is_stored_beside_good_spans(post):
    """C9: a lone surrogate or a NUL in one text breaks nothing and comes back as it was."""
    odd = {"surrogate": "\ud83e", "nul": "a\x00b"}
    body = json.dumps(otlp.document([sample_span(1), sample_span(2, attributes=odd)])).encode()
    assert post.post(body, JSON)[::2] == (200, b"{}")
    assert pending_spans(post)[f"{2:016x}"].attributes == odd


def test_text_that_is_not_utf_8_is_stored_beside_good_spans(post):
    """C9: on the binary wire, with the bad bytes visibly replaced."""
    body = request(sample_span(1), sample_span(2, attributes={"text": "XXXX"})).replace(b"XXXX", b"a\xff\xfeb")
    assert post.post(body)[0] == 200
    assert pending_spans(post)[f"{2:016x}"].attributes == {"text": "a\ufffd\ufffdb"}


def test_ids_of_any_case_are_one_id_and_others_are_refused_by_name(post):
    """C2: upper case is the same id; base64 and text in place of bytes are said to be that."""
    upper = otlp.json_span(sample_span(1)) | {"traceId": TRACE.upper(), "spanId": f"{10:016X}"}
    base64 = otlp.json_span(sample_span(2)) | {"traceId": "CvdlGRbNQ92ESOslHIAxnA=="}
    status, answer = post.json(otlp.plain_spans(upper, base64))
    assert (status, list(pending_spans(post))) == (200, [f"{10:016x}"])
    assert "base64" in answer["partialSuccess"]["errorMessage"]


def test_metrics_are_accepted_and_dropped_with_a_count(post):
    body = otlp.metrics_data("a", "b")
    assert post.post(body, path="/v1/metrics")[0] == 200
    assert post.json({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "x"}]}]}]}, path="/v1/metrics") == (200, {})
    assert post.status["metrics_dropped"] == 3


def test_logs_of_no_trace_are_accepted_and_counted(post):
    """No run could take them."""
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "1", "body": {}}]}]}]}).encode()
    assert post.post(body, JSON, path="/v1/logs")[0] == 200
    assert (post.status["unplaced_logs"], post.status["stored"]["logs"]) == (1, 0)


def test_no_room_is_said_in_a_way_that_makes_senders_try_again(tmp_path):
    with served(tmp_path / "store", memory=1000) as post:
        post.receiver._budget.take(1000)
        for media in (PROTOBUF, JSON):
            status, headers, _ = post.post(BODIES[media], media)
            assert (status, headers["retry-after"]) == (429, "1")
        post.receiver._budget.give(1000)
        assert post.post(BODIES[PROTOBUF])[0] == 200


def test_a_sender_that_hangs_up_leaves_nothing_behind(post):
    with socket.create_connection(("127.0.0.1", post.receiver.http.port)) as raw:
        raw.sendall(
            b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 900\r\n\r\nabc"
        )
    post.until(lambda: post.status["refused"] == {"hung_up": 1})
    assert post.receiver._budget.held == 0


def test_what_is_no_http_is_refused(post):
    with socket.create_connection(("127.0.0.1", post.receiver.http.port)) as raw:
        raw.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert raw.recv(100).startswith(b"HTTP/1.1 400")
    assert post.post(BODIES[PROTOBUF])[0] == 200


def test_many_requests_on_one_connection_and_many_connections_at_once(post):
    def send(base):
        for number in range(20):
            assert post.post(request(sample_span(base + number)))[0] == 200

    threads = [threading.Thread(target=send, args=(1 + 100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pending_spans(post)) == 80


TOKENS = {"a-token-of-some-length": "acme", "another-token-of-length": "other"}


def test_a_token_names_the_tenant_and_without_one_nothing_is_taken(tmp_path):
    with served(tmp_path / "store", tokens=TOKENS) as post:
        assert post.post(BODIES[PROTOBUF])[0] == 401
        assert post.post(BODIES[PROTOBUF], Authorization="Bearer wrong")[0] == 401
        assert post.post(BODIES[PROTOBUF], Authorization="Basic a-token-of-some-length")[0] == 401
        assert post.post(None, None, path="/status", method="GET")[0] == 401
        for token in TOKENS:
            assert post.post(BODIES[PROTOBUF], Authorization=f"Bearer {token}")[0] == 200
    assert len(cassettes(tmp_path / "store")) == 2


def test_the_wire_and_a_file_are_read_alike(post):
    """One truth: the readers of trace files read requests too."""
    import io

    span = sample_span(3, attributes={"n": 2**53 + 1, "d": 0.1, "b": b"\0", "list": [1, "a", None], "map": {"k": {"x": True}}})
    (batch,) = read_batches(io.BytesIO(request(span)), name="x")
    for media, body in ((PROTOBUF, request(span)), (JSON, json.dumps(otlp.document([span])).encode())):
        assert post.post(body, media)[0] == 200
    assert list(pending_spans(post).values()) == list(batch.spans)
    assert post.status["duplicates"]["spans"] == 1


def test_more_refusals_than_are_listed_are_counted(post):
    """The sender and the status are told of every one."""
    span = {"traceId": TRACE, "spanId": "short"}
    status, answer = post.json(otlp.plain_spans(*[span] * (LISTED + 500)))
    found = answer["partialSuccess"]
    assert (status, found["rejectedSpans"]) == (200, str(LISTED + 500))
    assert found["errorMessage"].endswith(f"; and {LISTED + 495} more")
    assert post.status["refused"] == {"record": LISTED + 500}


HALF = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Ty"
WHOLE = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize("before", [b"", HALF, WHOLE + HALF])
def test_a_connection_that_never_says_what_it_wants_is_closed(post, monkeypatch, before):
    """Also one that sends a byte now and then, also after a request; one that waits for its answer is not."""
    monkeypatch.setattr("otelreplay.receiver.connections.HEADER_SECONDS", 0.5)
    with socket.create_connection(("127.0.0.1", post.receiver.http.port), timeout=10) as raw:
        raw.sendall(before)
        end, got = time.monotonic() + 8, b""
        raw.settimeout(0.1)
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < end:
                with contextlib.suppress(TimeoutError):
                    got += (part := raw.recv(1000))
                    if not part:
                        break
                if before:
                    raw.sendall(b"x")
        assert time.monotonic() < end
        assert got.startswith(b"HTTP/1.1 200") == before.startswith(WHOLE)


def test_a_slow_answer_and_a_rest_between_requests_are_no_reason_to_close(post, monkeypatch):
    monkeypatch.setattr("otelreplay.receiver.connections.HEADER_SECONDS", 0.2)
    real = post.receiver.http._server.config.app._door.take

    def slow(request):
        time.sleep(0.5)
        return real(request)

    monkeypatch.setattr(post.receiver.http._server.config.app._door, "take", slow)
    connection = http.client.HTTPConnection("127.0.0.1", post.receiver.http.port, timeout=10)
    connection.connect()
    held = connection.sock
    for number in range(2):
        connection.request("POST", "/v1/traces", request(sample_span(number + 1)), {"Content-Type": PROTOBUF})
        assert connection.getresponse().read() == b""
        time.sleep(0.5)
    assert connection.sock is held
    connection.close()


def test_too_many_connections_are_closed_and_the_rest_served(post, monkeypatch):
    monkeypatch.setattr(post.receiver.http._server.config.http_protocol_class, "allowed", 5)
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", post.receiver.http.port), timeout=10))
        assert raw.recv(1) == b""
    post.until(lambda: post.post(BODIES[PROTOBUF])[0] == 200)


def test_bodies_that_are_declared_and_never_come_take_no_room(tmp_path):
    """Memory is counted by what is there."""
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 900000\r\n\r\n"
    with served(tmp_path / "store", limit=1 << 20, memory=1 << 20) as post, contextlib.ExitStack() as stack:
        for _ in range(4):
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", post.receiver.http.port)))
            raw.sendall(head + b"x")
        assert post.post(BODIES[PROTOBUF])[0] == 200


def test_records_that_stand_before_their_resource_are_refused_as_such_when_they_are_too_many(tmp_path):
    """Not as a fault of ours."""
    spans = json.dumps(
        otlp.plain_spans(*[otlp.json_span(sample_span(n)) for n in range(1, 200)])["resourceSpans"][0]["scopeSpans"]
    )
    body = f'{{"resourceSpans": [{{"x": {{"y": -0}}, "scopeSpans": {spans}, "resource": {{}}}}]}}'.encode()
    with served(tmp_path / "store", limit=len(body)) as post:
        status, answer = post.post(body, JSON)[::2]
        assert status == 400
        assert b"bug" not in answer


EMPTY_PARTS = {
    "elements": (PROTOBUF, b"\x0a\x00" * 1_000_000),
    "attributes": (PROTOBUF, b"\x0a\x84\x84\x7a\x12\x80\x84\x7a" + b"\x12\x00" * 1_000_000),
    "spans": (JSON, b'{"resourceSpans": [{"scopeSpans": [{"spans": [' + b"{}," * 600_000 + b"{}]}]}]}"),
}


@pytest.mark.parametrize("name", EMPTY_PARTS)
def test_a_body_of_nothing_but_empty_parts_is_refused_before_it_grows(post, name):
    """Each takes two bytes on the wire and a hundred in memory."""
    media, body = EMPTY_PARTS[name]
    began = time.monotonic()
    status, _, answer = post.post(gzip.compress(body), media, Content_Encoding="gzip")
    assert (status, b"empty parts" in answer) == (400, True)
    assert time.monotonic() - began < 2


def test_very_many_members_of_gzip_cost_no_more_than_their_size(post):
    body = gzip.compress(BODIES[PROTOBUF][:10]) + gzip.compress(b"") * 5000 + gzip.compress(BODIES[PROTOBUF][10:])
    assert post.post(body, PROTOBUF, Content_Encoding="gzip")[0] == 200
    began = time.monotonic()
    assert post.post(gzip.compress(b"") * 500_000, PROTOBUF, Content_Encoding="gzip")[0] == 400
    assert time.monotonic() - began < 3


def test_a_damaged_inbox_makes_senders_try_again(post, monkeypatch):
    """It can be restored from a backup: what is sent meanwhile need not be lost."""
    damaged = InputError("the inbox is damaged", code="inbox.corrupt", next_step="restore it from a backup")
    monkeypatch.setattr(post.receiver._committer, "put", Mock(side_effect=damaged))
    assert post.post(request(sample_span(1)))[0] == 503
    assert post.status["refused"]["unavailable"] == 1
