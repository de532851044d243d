"""The providers' own Python SDKs read what the stubs send as the objects of what was recorded."""

import asyncio
import json

import anthropic
import openai
import pytest
from google import genai

from otelreplay.providers import CODECS
from otelreplay.replay.fixtures import Fixture
from otelreplay.stubs.replies import reply_for
from tests.stubs.answers import ARGUMENTS, BODIES, CODEC_NAMES
from tests.stubs.builders import Asking, served
from tests.stubs.serving import serving

# google-genai's asynchronous client is made in a way that aiohttp warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

CHAT = {"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}]}
RESPONSES = {"model": "gpt-x", "input": "hi"}
MESSAGES = {"model": "claude-x", "max_tokens": 64, "messages": [{"role": "user", "content": "hi"}]}
CONTENTS = {"model": "gemini-x", "contents": "hi"}


def recorded_of(api):
    """The response of an event whose telemetry held the whole body of this API."""
    name = CODEC_NAMES.get(api, api)
    response = CODECS[name].decode_response(BODIES[api])
    return response | ({"extra": {name: response["extra"]}} if "extra" in response else {})


def of(api):
    """What a server answers whose recording holds the body of this API."""
    recorded = recorded_of(api)

    def answer(path, body):
        stream = "stream" in path or body.get("stream") is True
        return reply_for(Asking(api, stream=stream, body=body, sse="alt=sse" in path), served(recorded))

    return answer


def openai_client(server, kind=openai.OpenAI):
    return kind(base_url=f"{server.url}/v1", api_key="none")


def anthropic_client(server, kind=anthropic.Anthropic):
    return kind(base_url=server.url, api_key="none")


def gemini_client(server):
    return genai.Client(api_key="none", http_options={"base_url": server.url})


def written(model):
    return model.model_dump(mode="json", exclude_unset=True, by_alias=True)


def without(value, *names):
    """Without these keys and without nulls, at any depth."""
    if isinstance(value, dict):
        return {k: without(v, *names) for k, v in value.items() if k not in names and v is not None}
    return [without(item, *names) for item in value] if isinstance(value, list) else value


def test_a_chat_completion_is_what_was_recorded():
    with serving(of("openai.chat")) as server, openai_client(server) as client:
        assert written(client.chat.completions.create(**CHAT)) == BODIES["openai.chat"]


def test_a_streamed_chat_completion_comes_together_as_what_was_recorded():
    with (
        serving(of("openai.chat")) as server,
        openai_client(server) as client,
        client.chat.completions.stream(**CHAT, stream_options={"include_usage": True}) as stream,
    ):
        kinds = [event.type for event in stream]
        final = written(stream.get_final_completion())
    expected = BODIES["openai.chat"]
    assert without(final, "parsed", "parsed_arguments", "index") == without(expected, "index")
    assert {
        "content.delta",
        "content.done",
        "refusal.done",
        "tool_calls.function.arguments.done",
        "logprobs.content.delta",
    } <= set(kinds)


def test_the_chunks_of_a_chat_come_in_the_order_of_the_api():
    with serving(of("openai.chat")) as server, openai_client(server) as client:
        chunks = list(client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True}))
        bare = list(client.chat.completions.create(**CHAT, stream=True))
    first, *_, last = chunks
    assert first.choices[0].delta.role == "assistant"
    assert (last.choices, written(last.usage)) == ([], BODIES["openai.chat"]["usage"])
    assert [c.usage for c in bare] == [None] * len(bare)
    assert [c.choices[0].finish_reason for c in bare if c.choices[0].finish_reason] == ["tool_calls", "stop"]
    called = [call for c in bare for call in c.choices[0].delta.tool_calls or ()]
    opening = [(call.index, call.id, call.function.name) for call in called if call.id]
    assert opening == [(0, "c1", "look"), (1, "c2", "wait")]
    assert "".join(call.function.arguments for call in called if call.index == 0) == ARGUMENTS


def test_a_response_is_what_was_recorded():
    with serving(of("openai.responses")) as server, openai_client(server) as client:
        assert without(written(client.responses.create(**RESPONSES))) == without(BODIES["openai.responses"])


def test_a_streamed_response_comes_together_as_what_was_recorded():
    with (
        serving(of("openai.responses")) as server,
        openai_client(server) as client,
        client.responses.stream(**RESPONSES) as stream,
    ):
        events = list(stream)
        final = written(stream.get_final_response())
    assert without(final, "parsed", "parsed_arguments") == without(BODIES["openai.responses"])
    kinds = [event.type for event in events]
    assert (kinds[0], kinds[1], kinds[-1]) == ("response.created", "response.in_progress", "response.completed")
    assert [e.sequence_number for e in events] == list(range(len(events)))
    said = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert said == "Hello there, look"
    assert [e.arguments for e in events if e.type == "response.function_call_arguments.done"] == [ARGUMENTS]


def test_a_message_is_what_was_recorded():
    with serving(of("anthropic.messages")) as server, anthropic_client(server) as client:
        assert written(client.messages.create(**MESSAGES)) == BODIES["anthropic.messages"]


def test_a_streamed_message_comes_together_as_what_was_recorded():
    with (
        serving(of("anthropic.messages")) as server,
        anthropic_client(server) as client,
        client.messages.stream(**MESSAGES) as stream,
    ):
        kinds = [event.type for event in stream]
        final = written(stream.get_final_message())
    assert without(final) == without(BODIES["anthropic.messages"])
    assert {"text", "thinking", "signature", "citation", "input_json"} <= set(kinds)


def test_generated_content_is_what_was_recorded():
    with serving(of("gemini.generate_content")) as server, gemini_client(server) as client:
        got = client.models.generate_content(**CONTENTS)
    assert without(written(got), "sdkHttpResponse", "automaticFunctionCallingHistory") == BODIES["gemini.generate_content"]


def test_streamed_content_joins_to_what_was_recorded():
    with serving(of("gemini.generate_content")) as server, gemini_client(server) as client:
        chunks = list(client.models.generate_content_stream(**CONTENTS))
    parts = [part for c in chunks for part in c.candidates[0].content.parts]
    assert "".join(p.text for p in parts if p.text and not p.thought) == "Hello there, look"
    assert [p.function_call.name for p in parts if p.function_call] == ["look", "wait"]
    assert [c.candidates[0].finish_reason for c in chunks if c.candidates[0].finish_reason] == ["STOP"]
    assert written(chunks[-1].usage_metadata) == BODIES["gemini.generate_content"]["usageMetadata"]


def test_asynchronous_clients_read_the_same():
    async def read(servers):
        chat, responses, messages, contents = servers
        async with openai_client(chat, openai.AsyncOpenAI) as client:
            whole = await client.chat.completions.create(**CHAT)
            async with client.chat.completions.stream(**CHAT) as stream:
                joined = await stream.get_final_completion()
        assert written(whole) == BODIES["openai.chat"]
        assert joined.choices[0].message.content == "Hello there"
        async with openai_client(responses, openai.AsyncOpenAI) as client, client.responses.stream(**RESPONSES) as stream:
            assert (await stream.get_final_response()).id == "resp_7"
        async with anthropic_client(messages, anthropic.AsyncAnthropic) as client:
            assert written(await client.messages.create(**MESSAGES)) == BODIES["anthropic.messages"]
            async with client.messages.stream(**MESSAGES) as stream:
                assert without(written(await stream.get_final_message())) == without(BODIES["anthropic.messages"])
        async with gemini_client(contents).aio as client:
            got = await client.models.generate_content(**CONTENTS)
            assert got.candidates[0].content.parts[1].text == "Hello there, look"
            chunks = [chunk async for chunk in await client.models.generate_content_stream(**CONTENTS)]
            assert chunks[-1].candidates[0].finish_reason == "STOP"

    apis = ("openai.chat", "openai.responses", "anthropic.messages", "gemini.generate_content")
    with serving(of(apis[0])) as a, serving(of(apis[1])) as b, serving(of(apis[2])) as c, serving(of(apis[3])) as d:
        asyncio.run(read((a, b, c, d)))


@pytest.mark.parametrize("asked", list(BODIES))
@pytest.mark.parametrize("recorded", list(BODIES))
def test_what_one_api_answered_can_be_served_by_another(recorded, asked):
    """A trace may have come through a gateway, or the program has changed its SDK: the reply's text is the same."""
    response = recorded_of(recorded)
    reply = reply_for(Asking(asked), served(response))
    assert "Hello there" in json.dumps(json.loads(reply.body))


def test_without_server_sent_events_gemini_streams_one_array():
    response = recorded_of("gemini.generate_content")
    reply = reply_for(Asking("gemini.generate_content", stream=True, sse=False), served(response))
    items = json.loads(b"".join(reply.chunks))
    assert (reply.headers["content-type"], items[-1]["responseId"]) == ("application/json", "r-7")


@pytest.mark.parametrize("encoding", ["float", "base64", None])
def test_vectors_of_a_fixture_are_served_as_they_are_asked_for(encoding):
    def answer(path, body):
        fixture = Fixture(response={"result": [[0.5, -1.0], [2.0, 0.25]]})
        return reply_for(
            Asking("openai.embeddings", model="emb", body=body),
            served({"usage": {"input_tokens": 5}}, kind="embeddings", fixture=fixture),
        )

    with serving(answer) as server, openai_client(server) as client:
        more = {"encoding_format": encoding} if encoding else {}
        got = client.embeddings.create(model="emb", input=["a", "b"], **more)
    vectors = [item.embedding for item in got.data]
    if encoding == "base64":
        assert vectors[0] == "AAAAPwAAgL8="
    else:
        assert vectors == [[0.5, -1.0], [2.0, 0.25]]
    assert (got.model, got.usage.prompt_tokens) == ("emb", 5)
