"""Recorded answers in the shape of the provider that was asked. Pure: values in, bytes out; never raises on any event.

What the event holds is written where the provider writes it, whichever API it was recorded from. What it does not hold but the
shape needs gets a neutral value (``docs/providers.md``) and is listed in :attr:`Reply.assumed`. A stream sends the chunks as
they were recorded where the event has them, else the answer cut into pieces that join to it.
"""

from __future__ import annotations

from typing import Any, Final

from otelreplay.providers import CODECS
from otelreplay.replay.answers import Served
from otelreplay.replay.wire import chunks_of
from otelreplay.stubs.failures import Known, known
from otelreplay.stubs.fitting import fitted
from otelreplay.stubs.refusals import midway
from otelreplay.stubs.reply import JSON, NO_RETRY, SSE, Asked, Reply, json_reply
from otelreplay.stubs.streams import anthropic, chat, framed, gemini, responses
from otelreplay.stubs.vectors import embeddings_body

__all__ = ["Asked", "Reply", "reply_for"]

CODEC_OF: Final = {"openai.chat": "openai.chat_completions"}
"""Names of APIs that the codecs have under another one."""

CUT: Final = "chunks: cut so that they join to what was recorded"


def reply_for(asked: Asked, served: Served) -> Reply:
    """The answer to a request, from what was recorded of it."""
    response = served.response or {}
    failure = served.error
    failed = known(asked.api, served.event, failure) if failure is not None and not answered(response) else None
    if asked.api == "openai.embeddings" and failed is None:
        body, assumed = embeddings_body(response, asked.body, asked.model)
        return json_reply(body, assumed=assumed)
    streams = asked.stream and asked.api != "openai.embeddings"
    if failed is not None and not (streams and "messages" in response):
        return json_reply(failed.body, status=failed.status, headers=NO_RETRY, assumed=failed.assumed)
    name = CODEC_OF.get(asked.api, asked.api)
    written, translated = fitted(response, name, served.event)
    body, assumed = CODECS[name].encode_response(written, defaults=_defaults(asked))
    assumed += translated
    if name == "openai.responses":
        repeated = {key: asked.body[key] for key in ECHOED if key in asked.body and key not in body}
        body, assumed = {**body, **repeated}, (*assumed, *repeated)
    if not asked.stream:
        return json_reply(body, assumed=assumed)
    return _streamed(asked, response, body, assumed, failed=failed, stopped=served.end == "stopped")


def answered(response: dict[str, Any]) -> bool:
    """Whether the provider had answered in full, so that an error came after it: of the program, on reading the answer."""
    words = response.get("finish_reasons")
    return "messages" in response and isinstance(words, list) and any(isinstance(word, str) for word in words)


ECHOED: Final = (
    "instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "previous_response_id", "reasoning", "store",
    "temperature", "text", "tool_choice", "tools", "top_p", "truncation", "user",
)  # fmt: skip
"""What a response of the Responses API repeats of its request."""


def _defaults(asked: Asked) -> dict[str, Any]:
    """What the request says is more likely than nothing: the model, and what the API repeats."""
    likely = dict.fromkeys(("model", "modelVersion"), asked.model) if asked.model else {}
    return {name: asked.body[name] for name in ECHOED if name in asked.body} | likely


def _streamed(
    asked: Asked,
    response: dict[str, Any],
    body: dict[str, Any],
    assumed: tuple[str, ...],
    *,
    failed: Known | None,
    stopped: bool,
) -> Reply:
    events = chunks_of(response, CODEC_OF.get(asked.api, asked.api))
    if events is not None:
        assumed = ()
    else:
        events, assumed = _pieces(asked, body, whole=failed is None), (*assumed, CUT)
    if failed is not None:
        events = [*events, midway(asked.api, failed.body, len(events))]
        assumed += failed.assumed
    # Gemini's SDKs ask for server-sent events; without ``alt=sse`` the API answers with one array.
    sse = not asked.api.startswith("gemini.") or bool(getattr(asked, "sse", True))
    chunks = framed(asked.api, events, sse=sse, done=failed is None and not stopped)
    return Reply(headers={"content-type": SSE if sse else JSON}, chunks=chunks, assumed=assumed)


def _pieces(asked: Asked, body: dict[str, Any], *, whole: bool) -> list[Any]:
    """The events of a stream; without those that say that it has ended, where it had not."""
    if asked.api == "openai.responses":
        return responses.pieces(body)[: None if whole else -1]
    if asked.api == "anthropic.messages":
        return anthropic.pieces(body)[: None if whole else -2]
    if asked.api == "gemini.generate_content":
        events = gemini.pieces(body)
        return events if whole else [_unended(event, "finishReason") for event in events]
    options = asked.body.get("stream_options")
    usage = isinstance(options, dict) and options.get("include_usage") is True
    events = chat.pieces(body, usage=usage and whole)
    return events if whole else [e for e in events if not any(c.get("finish_reason") for c in e["choices"])]


def _unended(event: dict[str, Any], key: str) -> dict[str, Any]:
    candidates = event.get("candidates")
    if not isinstance(candidates, list):
        return event
    return {**event, "candidates": [{k: v for k, v in c.items() if k != key} if isinstance(c, dict) else c for c in candidates]}
