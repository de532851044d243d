"""Recorded errors raise in the SDK what they raised, refusals say their text there, and neither is tried again."""

import asyncio
import json

import anthropic
import openai
import pytest
from google import genai

from otelreplay.events import Failure
from otelreplay.stubs.refusals import refusal
from otelreplay.stubs.replies import reply_for
from tests.stubs.builders import Asking, calls, served, text
from tests.stubs.serving import serving
from tests.stubs.test_python_sdks import CHAT, CONTENTS, MESSAGES, RESPONSES, anthropic_client, gemini_client, openai_client

pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

# ---- how each SDK is called --------------------------------------------------------------------------------------------


def chat(server, stream):
    with openai_client(server) as client:
        got = client.chat.completions.create(**CHAT, stream=stream)
        return list(got) if stream else got


def responses(server, stream):
    with openai_client(server) as client:
        got = client.responses.create(**RESPONSES, stream=stream)
        return list(got) if stream else got


def embeddings(server, stream):
    with openai_client(server) as client:
        return client.embeddings.create(model="emb", input="a")


def messages(server, stream):
    with anthropic_client(server) as client:
        got = client.messages.create(**MESSAGES, stream=stream)
        return list(got) if stream else got


def contents(server, stream):
    with gemini_client(server) as client:
        return list(client.models.generate_content_stream(**CONTENTS)) if stream else client.models.generate_content(**CONTENTS)


def chat_async(server, stream):
    async def run():
        async with openai_client(server, openai.AsyncOpenAI) as client:
            got = await client.chat.completions.create(**CHAT, stream=stream)
            return [chunk async for chunk in got] if stream else got

    return asyncio.run(run())


def messages_async(server, stream):
    async def run():
        async with anthropic_client(server, anthropic.AsyncAnthropic) as client:
            got = await client.messages.create(**MESSAGES, stream=stream)
            return [event async for event in got] if stream else got

    return asyncio.run(run())


def contents_async(server, stream):
    async def run():
        async with gemini_client(server).aio as client:
            if stream:
                return [chunk async for chunk in await client.models.generate_content_stream(**CONTENTS)]
            return await client.models.generate_content(**CONTENTS)

    return asyncio.run(run())


CALLS = {
    "chat": ("openai.chat", chat, openai),
    "chat, asynchronous": ("openai.chat", chat_async, openai),
    "responses": ("openai.responses", responses, openai),
    "embeddings": ("openai.embeddings", embeddings, openai),
    "messages": ("anthropic.messages", messages, anthropic),
    "messages, asynchronous": ("anthropic.messages", messages_async, anthropic),
    "contents": ("gemini.generate_content", contents, genai.errors),
    "contents, asynchronous": ("gemini.generate_content", contents_async, genai.errors),
}


def raised(reply, call, stream):
    """(the exception that the SDK raises on a reply, how often it had asked)."""
    with serving(reply) as server:
        try:
            call(server, stream)
        except Exception as error:
            return error, len(server.asked)
    raise AssertionError("nothing was raised")


# ---- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_is_raised_at_once_with_its_text(name, stream):
    api, call, module = CALLS[name]
    error, asked = raised(
        refusal(api, "unexpected_call at seq 3: no such call was recorded", code="unexpected_call"), call, stream
    )
    assert type(error).__module__.split(".")[0] == module.__name__.split(".")[0]
    assert "unexpected_call at seq 3: no such call was recorded" in str(error)
    assert asked == 1


@pytest.mark.parametrize("name", ["chat", "messages"])
def test_even_a_status_that_is_tried_again_is_not(name):
    api, call, _ = CALLS[name]
    _, asked = raised(refusal(api, "no", status=503, code="x"), call, False)
    assert asked == 1


# ---- recorded errors ---------------------------------------------------------------------------------------------------

OPENAI_CLASSES = (
    "BadRequestError", "AuthenticationError", "PermissionDeniedError", "NotFoundError", "ConflictError",
    "UnprocessableEntityError", "RateLimitError", "InternalServerError", "APIStatusError",
)  # fmt: skip
ANTHROPIC_CLASSES = (
    *OPENAI_CLASSES, "RequestTooLargeError", "ServiceUnavailableError", "OverloadedError", "DeadlineExceededError",
    "ContentTooLargeError", "GatewayTimeoutError", "PaymentRequiredError", "RequestTimeoutError",
)  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in ("chat", "responses", "chat, asynchronous") for kind in OPENAI_CLASSES]
    + [("messages", kind) for kind in ANTHROPIC_CLASSES if hasattr(anthropic, kind)],
)
def test_of_a_class_alone_the_sdk_makes_an_exception_of_that_class(name, kind, stream):
    api, call, module = CALLS[name]
    reply = reply_for(Asking(api, stream=stream), served(error=Failure(type=f"{module.__name__}.{kind}", message="as it was")))
    error, asked = raised(reply, call, stream)
    assert type(error) is getattr(module, kind)
    assert "as it was" in str(error)
    assert asked == 1
    assert any(said.startswith("status: ") for said in reply.assumed)


ERROR = {"message": "Slow down.", "type": "requests", "param": None, "code": "rate_limit_exceeded"}


@pytest.mark.parametrize(
    "failure",
    [
        Failure(type="openai.RateLimitError", message=f"Error code: 429 - {{'error': {ERROR!r}}}"),
        Failure.model_validate({"type": "RateLimitError", "message": "x", "fields": {"status_code": 429, "body": ERROR}}),
    ],
    ids=["its text", "its fields"],
)
def test_status_word_and_code_are_those_that_were_recorded(failure):
    reply = reply_for(Asking("openai.chat"), served(error=failure))
    error, _ = raised(reply, chat, False)
    assert isinstance(error, openai.RateLimitError)
    assert (error.status_code, error.code, error.type, error.body) == (429, "rate_limit_exceeded", "requests", ERROR)
    assert reply.assumed == ()


def test_an_exception_of_anthropic_comes_back_with_its_body():
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"}
    reply = reply_for(Asking("anthropic.messages"), served(error=Failure(message=f"Error code: 529 - {body!r}")))
    error, _ = raised(reply, messages, False)
    assert (type(error).__name__, error.status_code, error.body) == ("OverloadedError", 529, body)


def test_an_exception_of_google_comes_back_with_its_body():
    body = {"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED"}}
    reply = reply_for(
        Asking("gemini.generate_content"),
        served(error=Failure(type="ClientError", message=f"429 RESOURCE_EXHAUSTED. {body!r}")),
    )
    error, asked = raised(reply, contents, False)
    assert (type(error).__name__, error.code, error.status, error.details) == ("ClientError", 429, "RESOURCE_EXHAUSTED", body)
    assert asked == 1


def test_a_status_on_the_span_is_the_status():
    reply = reply_for(
        Asking("openai.chat"),
        served(error=Failure(type="SomeError", message="m"), attributes={"http.response.status_code": 422}),
    )
    assert (reply.status, reply.assumed) == (422, ("error.type",))


def test_what_filtered_content_says_is_kept():
    error = {
        "message": "Filtered.",
        "code": "content_filter",
        "param": "prompt",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
    reply = reply_for(Asking("openai.chat"), served(error=Failure(message=f"Error code: 400 - {{'error': {error!r}}}")))
    got, _ = raised(reply, chat, False)
    assert isinstance(got, openai.BadRequestError)
    assert (got.code, got.body) == ("content_filter", error)


@pytest.mark.parametrize("api", ["openai.chat", "anthropic.messages", "gemini.generate_content"])
def test_an_error_of_another_api_keeps_its_status_and_message(api):
    recorded = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}}
    reply = reply_for(Asking(api), served(error=Failure(message=f"Error code: 429 - {recorded!r}")))
    assert reply.status == 429
    assert json.loads(reply.body)["error"]["message"] == "Slow down."


def test_a_lost_connection_becomes_an_error_that_says_so():
    reply = reply_for(Asking("openai.chat"), served(error=Failure(type="openai.APITimeoutError", message="Request timed out.")))
    error, asked = raised(reply, chat, False)
    assert (type(error).__name__, asked) == ("InternalServerError", 1)
    assert "no answer had come then" in reply.assumed[0]


def test_an_error_of_the_program_on_reading_a_whole_answer_does_not_take_the_answer_away():
    response = text("not json", finish_reasons=["stop"])
    reply = reply_for(Asking("openai.chat"), served(response, error=Failure(type="ValidationError", message="no")))
    assert json.loads(reply.body)["choices"][0]["message"]["content"] == "not json"


@pytest.mark.parametrize("name", ["chat", "chat, asynchronous", "responses", "messages", "messages, asynchronous", "contents"])
def test_an_error_in_the_midst_of_a_stream_comes_after_what_was_said(name):
    api, call, module = CALLS[name]
    failure = Failure(type=f"{module.__name__}.InternalServerError", message="the stream broke")
    reply = reply_for(Asking(api, stream=True), served(text("half an"), error=failure))
    assert reply.status == 200
    assert b"half" in b"".join(reply.chunks)
    error, asked = raised(reply, call, True)
    assert type(error).__module__.split(".")[0] == module.__name__.split(".")[0]
    assert "the stream broke" in str(error)
    assert asked == 1


def test_a_stream_that_broke_says_nothing_of_an_end():
    reply = reply_for(Asking("openai.chat", stream=True), served(calls(("look", {})), error=Failure(type="APIError")))
    sent = b"".join(reply.chunks)
    assert b"[DONE]" not in sent
    assert b'"finish_reason":"' not in sent
