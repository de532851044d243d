"""A text that was streamed in chunks is judged as one text, wherever it was cut (I1)."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.canonical import dumps, loads
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
from otelreplay.spans import Span

REDACTOR = compile_policy(default_policy(), key=PseudonymKey(secret=b"k" * 32, epoch=1, tenant=""))
MAIL = "ada.lovelace@example.com"
SECRET = "sk-" + "proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3"


def redacted(text):
    span = Span(trace_id="a" * 32, span_id="b" * 16, attributes={"otelreplay.chunks": text})
    return REDACTOR.span(span).attributes["otelreplay.chunks"]


def chunks_of(value):
    return json.loads(redacted(json.dumps(value)))


@given(cuts=st.lists(st.integers(1, len(MAIL) - 1), min_size=1, max_size=4, unique=True), secret=st.booleans())
def test_no_piece_of_what_is_removed_stays_wherever_the_chunks_were_cut(cuts, secret):
    private = SECRET if secret else MAIL
    text = f"Write to {private} today"
    at = [0, *(9 + c for c in sorted(cuts)), len(text)]
    pieces = [text[a:b] for a, b in pairwise(at)]
    said = "".join(chunks_of(pieces))
    assert said.startswith("Write to ")
    assert said.endswith(" today")
    kept = said.removeprefix("Write to ").removesuffix(" today")
    assert not any(private[n : n + 4] in kept for n in range(len(private) - 3))
    assert len(chunks_of(pieces)) == len(pieces)


def test_the_second_piece_alone_looking_like_an_address_hides_no_first_one():
    assert "ada.love" not in json.dumps(chunks_of(["ada.love", "lace@example.com"]))


@pytest.mark.parametrize("depth", [1, 2])
def test_chunks_that_are_objects_are_joined_place_by_place(depth):
    def chunk(text):
        delta = {"content": text, "role": "assistant"}
        return {"choices": [{"delta": delta}]} if depth == 2 else delta

    said = json.dumps(chunks_of([chunk("ada.love"), chunk("lace@example.com and so on")]))
    assert "ada.love" not in said
    assert "and so on" in said
    assert said.count("assistant") == 2


def test_chunks_without_anything_to_remove_stay_byte_for_byte():
    text = '["It is ",  "late.", 1, null]'
    span = Span(trace_id="a" * 32, span_id="b" * 16, attributes={"otelreplay.chunks": text})
    assert REDACTOR.span(span).attributes["otelreplay.chunks"] == text


def test_redacting_chunks_again_changes_nothing():
    once = chunks_of(["to ada.love", "lace@example.com"])
    assert chunks_of(once) == once


@pytest.mark.parametrize(
    "form",
    [
        lambda text: text.encode(),
        lambda text: json.dumps({"choices": [{"delta": {"content": text}}]}),
        lambda text: f"data: {json.dumps({'delta': {'text': text}})}\n\n",
        lambda text: f"data: {json.dumps({'delta': {'text': text}})}\n\n".encode(),
    ],
    ids=["bytes", "JSON", "a server's events", "bytes of them"],
)
def test_chunks_in_the_form_of_a_provider_are_joined_at_what_they_carry(form):
    given_ = [form(text) for text in ("to ada.love", "lace@example.com", " today")]
    said = loads(redacted(dumps(given_).decode()))
    shown = b"|".join(c if isinstance(c, bytes) else c.encode() for c in said)
    assert b"ada.love" not in shown
    assert b"lace@" not in shown
    assert b".invalid" in shown
    assert form(" today") == said[2]
    assert [type(c) for c in given_] == [type(c) for c in said]


def test_an_event_of_a_server_may_itself_be_cut():
    said = "".join(
        chunks_of(['data: {"delta":{"content":"ada', '.love"}}\n\ndata: {"delta":{"content":"lace@example.com"}}\n\n'])
    )
    assert ".love" not in said
    assert "lace@" not in said


def test_what_only_looks_like_bytes_is_kept():
    assert chunks_of([{"$otelreplay": "bytes", "base64": "!"}, "a"]) == [{"$otelreplay": "bytes", "base64": "!"}, "a"]
