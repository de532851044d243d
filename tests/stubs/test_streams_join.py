"""Whatever a response is, its stream joins to it; and no event, however hostile, makes the stubs raise."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.events import Failure
from otelreplay.providers import CODECS, assemble
from otelreplay.replay.answers import Served
from otelreplay.replay.wire import response_of
from otelreplay.stubs.replies import reply_for
from otelreplay.stubs.streams import anthropic, chat, gemini, responses
from tests.providers import strategies
from tests.stubs.builders import Asking, event

PIECES = {
    "openai.chat_completions": lambda body: chat.pieces(body, usage=True),
    "openai.responses": responses.pieces,
    "anthropic.messages": anthropic.pieces,
    "gemini.generate_content": gemini.pieces,
}
APIS = ("openai.chat", "openai.responses", "openai.embeddings", "anthropic.messages", "gemini.generate_content")


def as_sent(value):
    return json.loads(json.dumps(value))


def joined_texts(value):
    """Neighbouring texts of one kind as one: a stream of Gemini does not tell them apart."""
    for candidate in value.get("candidates", ()):
        content = candidate.get("content") if isinstance(candidate, dict) else None
        parts = content.get("parts") if isinstance(content, dict) else None
        out = []
        for part in parts if isinstance(parts, list) else ():
            beside = {k: v for k, v in part.items() if k != "text"} if isinstance(part, dict) else None
            last = out[-1] if out and isinstance(out[-1], dict) else {}
            texts = beside is not None and isinstance(part.get("text"), str) and isinstance(last.get("text"), str)
            if texts and beside == {k: v for k, v in last.items() if k != "text"}:
                out[-1] = {**part, "text": last["text"] + part["text"]}
            else:
                out.append(part)
        if isinstance(parts, list):
            content["parts"] = out
    return value


@pytest.mark.parametrize("name", strategies.APIS)
@settings(max_examples=60)
@given(data=st.data())
def test_a_stream_joins_to_the_response_that_it_was_cut_from(name, data):
    codec = CODECS[name]
    body, _ = codec.encode_response(data.draw(strategies.responses(strategies.APIS[name])))
    events = as_sent(PIECES[name](body))
    found = assemble(events)
    assert found is not None
    assert found[0] == name
    assert codec.decode_response(joined_texts(found[1])) == codec.decode_response(joined_texts(as_sent(body)))


SERVED = st.fixed_dictionaries({
    "response": st.one_of(
        st.none(),
        st.dictionaries(
            st.sampled_from(("messages", "finish_reasons", "usage", "id", "model", "extra", "result", "chunks", "stream")),
            strategies.hostile,
        ),
    ),
    "error": st.one_of(st.none(), st.builds(Failure, type=st.one_of(st.none(), strategies.words), message=strategies.words)),
    "attributes": st.dictionaries(
        st.sampled_from(("otelreplay.also", "otelreplay.error", "http.status_code")), strategies.hostile
    ),
})  # fmt: skip


@settings(max_examples=150)
@given(
    api=st.sampled_from(APIS),
    stream=st.booleans(),
    recorded=SERVED,
    asked=st.dictionaries(st.sampled_from(("stream_options", "encoding_format", "tools", "metadata")), strategies.hostile),
)
def test_no_event_makes_a_reply_raise(api, stream, recorded, asked):
    """Values of other types than an event has are what a forged cassette may hold."""
    response, error, attributes = recorded["response"], recorded["error"], recorded["attributes"]
    held = event(error=error, attributes=attributes)
    served = Served(
        seq=0, kind="model", name="chat", origin="cassette", error=error, event=held,
        response=None if response is None else response_of(response),
    )  # fmt: skip
    reply = reply_for(Asking(api, stream=stream, body=asked), served)
    assert (reply.chunks is None) == (not stream or reply.status != 200 or api == "openai.embeddings")
    if reply.chunks is None:
        json.loads(reply.body)


TEXTS = st.sampled_from(
    (
        "Error code: 429 - {'error': ",
        "Error code: 500",
        "429 X. {",
        "{'a': [" * 300,
        "status_code: 429, body: {",
        "\ud800",
        "500 ",
    )
)


@settings(max_examples=100)
@given(api=st.sampled_from(APIS), start=TEXTS, rest=st.text(max_size=30))
def test_no_text_of_an_exception_makes_a_reply_raise(api, start, rest):
    failure = Failure(type=rest, message=start + rest)
    served = Served(seq=0, kind="model", name="chat", origin="cassette", error=failure, event=event(error=failure))
    assert 400 <= reply_for(Asking(api), served).status <= 599
