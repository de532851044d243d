"""Secrets planted in every place and every encoding: none of them comes out."""

import base64
import json
import re
import urllib.parse

import pytest

from otelreplay.events import Event, Failure, Message, Missing, Note, Recording
from otelreplay.spans import Link, LogRecord, Resource, Scope, Span, SpanEvent
from tests.redaction.samples import B62, PII, SECRETS, redactor

CANARIES = {**SECRETS, **{k: v for k, v in PII.items() if k in ("email", "card", "iban")}}


def escaped(text):
    return "".join(f"\\u{ord(c):04x}" if n % 2 else c for n, c in enumerate(text))


ENCODINGS = {
    "plain": str,
    "in a sentence": lambda s: f"I was told to use {s} for it.",
    "at a line": "first line\n{}\nlast".format,
    "json": lambda s: json.dumps({"a": [s]}),
    "json in json": lambda s: json.dumps({"a": json.dumps({"b": s})}),
    "json in json in json": lambda s: json.dumps([json.dumps({"a": json.dumps({"b": [1, s]})})]),
    "cut json": lambda s: json.dumps({"a": s, "b": [1, 2, 3]})[:-3],
    "json key": lambda s: json.dumps({s: 1}),
    "repr": lambda s: repr({"a": s, "b": ("x", s)}),
    "log line with literal escapes": "got\\n{}\\nthere".format,
    "base64": lambda s: base64.b64encode(f"value {s} end".encode()).decode(),
    "base64 without padding": lambda s: base64.urlsafe_b64encode(f"v:{s}".encode()).decode().rstrip("="),
    "base64 in json": lambda s: json.dumps({"encoding": "base64", "data": base64.b64encode(s.encode()).decode()}),
    "url query": lambda s: f"https://api.example.com/x?a=1&v={urllib.parse.quote(s, safe='')}&b=2",
    "every character percent-encoded": lambda s: "q=" + "".join(f"%{b:02X}" for b in s.encode()),
    "unicode escapes": lambda s: f'{{"a": "{escaped(s)}"}}',
    "unicode escapes in a text": lambda s: f"value {escaped(s)} end",
    "markdown": "Use this:\n\n```\n{}\n```\n".format,
    "xml": "<a><b>{}</b></a>".format,
    "terminal colours": "\x1b[94m{}\x1b[0m".format,
}


def decoded(text):
    """The text and what a reader gets who decodes it."""
    views, todo = [], [text]
    for _ in range(4):
        new = []
        for t in todo:
            views.append(t)
            new.append(urllib.parse.unquote(t))
            new.append(t.replace('\\"', '"').replace("\\\\", "\\"))
            new.append(re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), t))
            for run in t.replace('"', " ").replace("'", " ").replace(":", " ").split():
                try:
                    new.append(base64.b64decode(run.replace("-", "+").replace("_", "/") + "=" * (-len(run) % 4)).decode())
                except ValueError:
                    continue
        todo = [t for t in dict.fromkeys(new) if t not in views]
    return "\n".join(views)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("canary", CANARIES)
def test_no_encoding_hides_a_secret(encoding, canary):
    text = ENCODINGS[encoding](CANARIES[canary])
    held = redactor().span(Span(trace_id="a" * 32, span_id="b" * 16, attributes={"x": text}))
    assert CANARIES[canary] not in decoded(str(held.attributes["x"]))


def everywhere(secret):
    return Span(
        trace_id="a" * 32,
        span_id="b" * 16,
        trace_state=f"k={secret}",
        name=f"call {secret}",
        status_message=f"failed: {secret}",
        attributes={
            "text": secret,
            f"key {secret}": 1,
            "list": ["a", secret],
            "map": {"a": {"b": (secret, None)}, secret: True},
            "bytes": f"x {secret}".encode(),
            "latin": b"\xff\xfe\x00 " + secret.encode(),
            "utf16": f"x {secret}".encode("utf-16"),
            "none": None,
            "flag": True,
            "n": 1.5,
        },
        events=(
            SpanEvent(
                name=f"e {secret}", attributes={"exception.message": secret, "exception.stacktrace": f"raise X('{secret}')"}
            ),
        ),
        links=(Link(trace_state=secret, attributes={"a": secret}),),
        resource=Resource(attributes={"r": secret}),
        scope=Scope(name=f"lib {secret}", version=secret, attributes={"s": secret}, schema_url=f"https://x/{secret}"),
    )


@pytest.mark.parametrize("canary", CANARIES)
def test_no_place_of_a_span_keeps_a_secret(canary):
    secret = CANARIES[canary]
    done = redactor().span(everywhere(secret))
    assert secret not in str(done)
    for value in ("bytes", "latin", "utf16"):
        assert isinstance(done.attributes[value], bytes)
        assert secret.encode() not in done.attributes[value].replace(b"\0", b"")
    assert done.attributes["none"] is None
    assert done.attributes["n"] == 1.5


@pytest.mark.parametrize("canary", CANARIES)
def test_no_place_of_a_log_record_keeps_a_secret(canary):
    secret = CANARIES[canary]
    record = LogRecord(
        body={"content": secret, "tool_calls": [{"function": {"arguments": json.dumps({"k": secret})}}]},
        event_name=secret,
        severity_text=f"INFO {secret}",
        attributes={"a": [secret]},
        resource=Resource(attributes={"r": secret}),
        scope=Scope(name=secret),
    )
    assert secret not in str(redactor().log(record))


@pytest.mark.parametrize("canary", CANARIES)
def test_no_place_of_an_event_keeps_a_secret(canary):
    secret = CANARIES[canary]
    event = Event(
        seq=0,
        id="a/b",
        kind="model",
        name=f"chat {secret}",
        agent=f"agent {secret}",
        request={
            "messages": [Message({"role": "user", "parts": [{"type": "text", "content": f"use {secret} now"}]})],
            "params": {"stop": [secret]},
            "tools": [{"name": "f", "description": secret}],
            "system": [{"content": secret}],
        },
        response={"messages": [{"role": "assistant", "parts": [secret]}], "id": secret},
        error=Failure(type="E", message=f"bad {secret}"),
        idempotency_key=f"k-{secret}",
        versions={"prompt": secret},
        attributes={"left": {"over": secret}},
        missing=[Missing(field="response", cause="truncated", detail=f"after {secret}")],
    )
    run = Recording(
        run_id="0" * 64,
        trace_ids=("a",),
        events=(event,),
        missing=(Missing(field="model", cause="span_not_received", detail=secret),),
        notes=(Note(code="x", message=f"saw {secret}"),),
        resources=({"r": secret},),
        scopes=(f"lib {secret}",),
        continues=secret,
    )
    done = redactor().recording(run)
    assert secret not in str(done)
    assert secret not in done.events[0].model_dump_json()


@pytest.mark.parametrize("canary", SECRETS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_a_secret_split_over_chunks_is_gone_and_the_number_of_chunks_stays(canary, size):
    text = f"Sure, the key is {SECRETS[canary]} - anything else?"
    chunks = [text[n : n + size] for n in range(0, len(text), size)]
    deltas = [{"choices": [{"index": 0, "delta": {"content": c}}]} for c in chunks]
    parts = [{"type": "text", "content": c} for c in chunks]
    events = tuple(SpanEvent(name="chunk", attributes={"delta": c}) for c in chunks)
    held = redactor().span(
        Span(
            trace_id="a",
            span_id="b",
            events=events,
            attributes={
                "list": chunks,
                "sse": json.dumps(deltas),
                "parts": json.dumps([{"role": "assistant", "parts": parts}]),
            },
        )
    )
    sse = [d["choices"][0]["delta"]["content"] for d in json.loads(held.attributes["sse"])]
    new_parts = [p["content"] for p in json.loads(held.attributes["parts"])[0]["parts"]]
    streamed = [e.attributes["delta"] for e in held.events]
    listed = json.loads(redactor().text(json.dumps(chunks)))
    inside = json.loads(json.loads(redactor().text(json.dumps({"a": json.dumps(chunks)})))["a"])
    for pieces in (held.attributes["list"], sse, new_parts, streamed, listed, inside):
        assert len(pieces) == len(chunks)
        assert "".join(pieces) == "Sure, the key is [REDACTED:secret] - anything else?"


def test_a_password_whose_key_stands_in_an_earlier_chunk_is_found():
    pieces = ["My pass", "word is ", "Jun", "iper#310 ", "and I cannot log in"]
    held = redactor().value(pieces)
    assert "".join(held) == "My password is [REDACTED:secret] and I cannot log in"


@pytest.mark.parametrize(
    "given",
    [
        {"password": "nectar falcon onyx"},
        {"headers": [{"name": "Authorization", "value": f"Bearer {B62[:20]}"}]},
        {"headers": {"cookie": f"PHPSESSID={B62[:26].lower()}; lang=en"}},
        ["--token", B62[:20], "--verbose"],
        {"pin": 483920, "password": 12345678},
        {"ssn": 536221842},
        {"tel": "0121 4960 123", "card_number": "4111 1111 1111 1111"},
        {"date_of_birth": "04/16/1971"},
        {"location": "-50.681541, -16.632128"},
    ],
    ids=lambda v: next(iter(v)),
)
def test_a_key_tells_what_its_value_is(given):
    """Values that nothing but their key gives away, as values and as JSON text."""
    plain = json.dumps(given)
    secrets = [
        s
        for s in ("nectar", B62[:20], B62[:26].lower(), "483920", "12345678", "536221842", "0121", "4111", "1971", "50.68")
        if s in plain
    ]
    assert secrets
    for done in (json.dumps(redactor().value(given)), redactor().text(plain), redactor().text(json.dumps({"x": plain}))):
        assert [s for s in secrets if s in done] == []
