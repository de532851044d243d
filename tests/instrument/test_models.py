"""Calls of models: what is recognised of arguments, answers and chunks, and that nothing else is lost."""

import asyncio
import copy
import json

import pytest

import otelreplay
from otelreplay.canonical import loads
from otelreplay.providers import CODECS, assemble
from tests.instrument.sdk_answers import ANSWERS, CHAT, CHAT_CHUNKS, MESSAGE_CHUNKS, RESPONSE_CHUNKS

OUTPUT = "gen_ai.output.messages"


def content(span):
    """What a span says of the answer, without what only a stream has."""
    only = ("gen_ai.response.", "gen_ai.usage.", OUTPUT)
    return {k: v for k, v in span.attributes.items() if k.startswith(only) and k != "gen_ai.response.time_to_first_chunk"}


@pytest.mark.parametrize("api", ANSWERS)
def test_an_answer_is_the_same_whole_and_streamed(recorded, api):
    """Bug report A7: streamed calls record no tool name, id or arguments."""
    whole, chunks = ANSWERS[api]
    before = copy.deepcopy(chunks)

    @otelreplay.model
    def ask(messages):
        return whole

    @otelreplay.model
    def stream(messages):
        yield from chunks

    @otelreplay.model
    async def stream_later(messages):
        for chunk in chunks:
            yield chunk

    async def read():
        return [chunk async for chunk in stream_later("hi")]

    assert (whole, chunks, chunks) == (ask("hi"), list(stream("hi")), asyncio.run(read()))
    assert before == chunks
    first, second, third = recorded.all()
    assert content(first) == content(second) == content(third)
    (message,) = loads(first.attributes[OUTPUT])
    call = message["parts"][-1]
    assert ("look", {"a": 1, "b": "x"}) == (call["name"], call["arguments"])
    assert 3 == first.attributes["gen_ai.usage.input_tokens"] - (2 if api == "anthropic.messages" else 0)
    assert (whole, chunks) == (recorded_result(first), loads(second.attributes["otelreplay.chunks"]))
    assert (True, None) == (second.attributes["gen_ai.request.stream"], first.attributes.get("gen_ai.request.stream"))


def recorded_result(span):
    return loads(span.attributes["otelreplay.result"])


@pytest.mark.parametrize("api", ANSWERS)
def test_chunks_amount_to_the_body_of_the_unstreamed_answer(api):
    whole, chunks = ANSWERS[api]
    found, body = assemble(chunks)
    assert api == found
    decode = CODECS[api].decode_response
    assert decode(whole) == decode(body)


@pytest.mark.parametrize("api", ANSWERS)
def test_a_stream_that_was_left_gives_what_came_until_then(api):
    _, chunks = ANSWERS[api]
    for n in range(1, len(chunks)):
        found, body = assemble(chunks[:n])
        response = CODECS[api].decode_response(body)
        assert api == found
        texts = "".join(p.get("content", "") for m in response["messages"] for p in m["parts"] if p["type"] == "text")
        assert "Hello there".startswith(texts)
        assert ("finish_reasons" in response) <= (n >= len(chunks) - 2)


@pytest.mark.parametrize(
    "chunks", [[], ["a"], [{"x": 1}], [1, {"choices": []}], [{"choices": [{"delta": 1}]}], [{"type": "response."}]]
)
def test_chunks_of_no_api_are_nothing_and_odd_ones_do_no_harm(chunks):
    found = assemble(chunks)
    assert found is None or isinstance(found[1], dict)


def test_objects_of_the_openai_sdk_are_read_like_their_json(recorded):
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    made = ChatCompletion.model_validate(CHAT)
    chunks = [ChatCompletionChunk.model_validate(chunk) for chunk in CHAT_CHUNKS]
    assert otelreplay.model(lambda messages: made)("hi") is made

    @otelreplay.model
    def stream(messages):
        yield from chunks

    assert chunks == list(stream("hi"))
    first, second = recorded.all()
    assert content(first) == content(second)
    assert made == loads(first.attributes["otelreplay.result"], types=_types(made))


def _types(value):
    """The classes of the models in it."""
    inside = list(vars(value).values()) if hasattr(value, "model_fields_set") else value if isinstance(value, list) else []
    return {type(value)}.union(*map(_types, inside))


class FakeStream:
    """As the SDKs' streams are: an iterator that is also a context manager."""

    def __init__(self, chunks):
        self._iterator = iter(chunks)
        self.closed = False

    def __next__(self):
        return next(self._iterator)

    def __iter__(self):
        yield from self._iterator

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.closed = True


class FakeAsyncStream:
    def __init__(self, chunks):
        self._iterator = iter(chunks)

    async def __anext__(self):
        for chunk in self._iterator:
            return chunk
        raise StopAsyncIteration

    async def __aiter__(self):
        async for chunk in self:
            yield chunk

    async def close(self):
        pass


def test_a_stream_of_an_sdk_is_the_very_object_and_seen_as_it_is_read(recorded):
    made = FakeStream(CHAT_CHUNKS)

    @otelreplay.model
    def ask(messages):
        return made

    got = ask("hi")
    assert (True, True) == (got is made, isinstance(got, FakeStream))
    assert [] == recorded.all()
    assert CHAT_CHUNKS == list(got)
    assert CHAT_CHUNKS == recorded.payload("otelreplay.chunks")
    assert "look" == recorded.payload(OUTPUT)[0]["parts"][-1]["name"]


@pytest.mark.parametrize("way", ["with", "close", "drop", "fail"])
def test_a_stream_of_an_sdk_that_is_left_ends_its_call(recorded, way):
    def chunks():
        yield from CHAT_CHUNKS[:3]
        raise ConnectionError("reset")

    made = FakeStream(chunks())
    stream = otelreplay.model(lambda messages: made)("hi")
    if way == "with":
        with stream as inside:
            next(inside)
        assert made.closed
    elif way == "close":
        next(stream)
        stream.close()
    elif way == "drop":
        next(stream)
        del stream, made
    else:
        with pytest.raises(ConnectionError):
            list(stream)
    assert ("raised" if way == "fail" else "stopped") == recorded.one().attributes["otelreplay.stream.end"]


def test_an_asynchronous_stream_of_an_sdk_is_seen_too(recorded):
    made = FakeAsyncStream(CHAT_CHUNKS)

    @otelreplay.model
    async def ask(messages):
        return made

    async def read():
        return [chunk async for chunk in await ask("hi")]

    assert CHAT_CHUNKS == asyncio.run(read())
    assert CHAT_CHUNKS == recorded.payload("otelreplay.chunks")


def test_an_iterator_that_cannot_be_watched_is_a_loss_and_nothing_else(recorded):
    made = map(str, [1])
    assert otelreplay.model(lambda messages: made)("hi") is made
    assert ["1"] == list(made)
    assert [("result", "unencodable")] == recorded.losses()


REQUESTS = [
    ({"messages": [{"role": "user", "content": "hi"}]}, [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]),
    ({"prompt": "hi"}, [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]),
    ({"input": "hi"}, [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]),
    (
        {"contents": [{"role": "model", "parts": [{"text": "hi"}]}]},
        [{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}],
    ),
    (
        {"input": [{"type": "function_call_output", "call_id": "c", "output": "1"}]},
        [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "1"}]}],
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "1"}]}]},
        [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "t", "response": "1"}]}],
    ),
    (
        {"messages": [{"role": "user", "parts": [{"type": "text", "content": "as it is"}]}]},
        [{"role": "user", "parts": [{"type": "text", "content": "as it is"}]}],
    ),
    (
        {"body": {"messages": [{"role": "user", "content": "hi"}]}},
        [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}],
    ),
]


@pytest.mark.parametrize(("kwargs", "messages"), REQUESTS)
def test_messages_are_recognised_under_their_usual_names(recorded, kwargs, messages):
    otelreplay.model(lambda **_: "ok")(**kwargs)
    assert messages == recorded.payload("gen_ai.input.messages")
    assert "otelreplay.arguments" not in recorded.one().attributes


def test_a_request_is_spread_over_the_attributes_of_the_conventions(recorded):
    def look(a: int):
        """Looks."""

    @otelreplay.model(provider="openai")
    def ask(model, messages, *, system, tools, temperature, max_tokens, stop, retries, flag=None):
        return "ok"

    given = {"temperature": 0.5, "max_tokens": 10, "stop": "END", "retries": {"n": 3}}
    ask("gpt-x", [], system="Be brief.", tools=[look, {"type": "function", "function": {"name": "f"}}], **given)
    attributes = recorded.one().attributes
    assert ("chat gpt-x", "openai", "gpt-x") == (
        recorded.one().name, attributes["gen_ai.provider.name"], attributes["gen_ai.request.model"],
    )  # fmt: skip
    assert (0.5, 10, ("END",)) == tuple(
        attributes[f"gen_ai.request.{n}"] for n in ("temperature", "max_tokens", "stop_sequences")
    )
    assert [{"type": "text", "content": "Be brief."}] == recorded.payload("gen_ai.system_instructions")
    expected = [{"type": "function", "name": "look", "description": "Looks."}, {"type": "function", "name": "f"}]
    assert expected == recorded.payload("gen_ai.tool.definitions")
    assert {"retries": {"n": 3}, "flag": None} == recorded.payload("otelreplay.arguments")


@pytest.mark.parametrize(
    "odd", [{"messages": 7}, {"messages": [1]}, {"temperature": object()}, {"tools": [1]}, {"seed": 2**70}]
)
def test_what_is_not_recognised_stays_an_argument(recorded, odd):
    otelreplay.model(lambda **_: "ok")(**odd)
    assert list(odd) == list(recorded.payload("otelreplay.arguments"))


def test_mapping_functions_come_before_recognition(recorded):
    @otelreplay.model(
        request=lambda a: {"model": "m", "messages": [{"role": "user", "content": a["question"]}], "depth": a["depth"]},
        response=lambda r: {"messages": [{"role": "assistant", "content": r[0]}], "usage": {"input_tokens": 1}, "id": "r"},
    )
    def ask(question, depth):
        return ("answer", 0.9)

    assert ("answer", 0.9) == ask("why", 2)
    attributes = recorded.one().attributes
    assert ("m", 1, "r") == (
        attributes["gen_ai.request.model"], attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.response.id"],
    )  # fmt: skip
    assert "why" == recorded.payload("gen_ai.input.messages")[0]["parts"][0]["content"]
    assert ({"depth": 2}, ("answer", 0.9)) == (recorded.payload("otelreplay.arguments"), recorded.payload("otelreplay.result"))


def test_a_mapping_function_of_a_stream_gets_its_chunks(recorded):
    @otelreplay.model(response=lambda chunks: "".join(chunk["t"] for chunk in chunks))
    def ask(prompt):
        yield {"t": "a"}
        yield {"t": "b"}

    list(ask("x"))
    assert "ab" == recorded.payload(OUTPUT)[0]["parts"][0]["content"]


@pytest.mark.parametrize(
    ("value", "kept", "text"),
    [
        ("hi", False, "hi"),
        ("", False, ""),
        (None, True, None),
        ({"answer": 1}, True, '{"answer":1}'),
        (("a", 1), True, '["a",1]'),
    ],
)
def test_the_exact_result_is_kept_beside_its_text_unless_it_is_that_text(recorded, value, kept, text):
    otelreplay.model(lambda prompt: value)("x")
    attributes = recorded.one().attributes
    assert kept is ("otelreplay.result" in attributes)
    if kept:
        assert value == recorded.payload("otelreplay.result")
    said = json.loads(attributes[OUTPUT])[0]["parts"][0]["content"] if OUTPUT in attributes else None
    assert text == said


def test_chunks_of_a_stream_that_was_left_make_the_message_so_far(recorded):
    @otelreplay.model
    def stream(messages):
        yield from MESSAGE_CHUNKS

    made = stream("hi")
    for _ in range(9):
        next(made)
    made.close()
    (message,) = recorded.payload(OUTPUT)
    assert ["Hm, well", "Hello "] == [part["content"] for part in message["parts"]]


def test_reading_chunks_leaves_them_alone():
    before = copy.deepcopy(RESPONSE_CHUNKS[:-1])
    chunks = copy.deepcopy(before)
    assemble(chunks)
    assert before == chunks


def test_losses_inside_messages_say_on_which_side_they_are(recorded):
    odd = object()
    otelreplay.model(lambda messages: {"role": "assistant", "content": [{"type": "x", "y": odd}]})(
        [{"role": "user", "content": odd}]
    )
    assert [
        ("request.messages[0].parts[0].value", "unencodable"),
        ("response.messages[0].parts[0].y", "unencodable"),
        ("result.content[0].y", "unencodable"),
    ] == recorded.losses()
