"""Which API a request speaks."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.stubs.routes import Asked, NotFound, route


def asked(path, body=None, method="POST", headers=None):
    return route(method, path, headers or {}, json.dumps({} if body is None else body).encode())


@pytest.mark.parametrize(
    ("path", "body", "api", "model", "stream"),
    [
        ("/v1/chat/completions", {"model": "m"}, "openai.chat", "m", False),
        ("/openai/v1/chat/completions/", {"model": "m", "stream": True}, "openai.chat", "m", True),
        ("/azure/openai/deployments/dep%201/chat/completions?api-version=1", {}, "openai.chat", "dep 1", False),
        ("/openai/v1/responses", {"model": "m", "stream": False}, "openai.responses", "m", False),
        ("/v1/embeddings", {"model": "e", "input": "x"}, "openai.embeddings", "e", False),
        ("/anthropic/v1/messages?beta=true", {"model": "c", "stream": True}, "anthropic.messages", "c", True),
        ("/gemini/v1beta/models/g-1:generateContent", {}, "gemini.generate_content", "g-1", False),
        ("/v1beta/models/g-1:streamGenerateContent?alt=sse", {}, "gemini.generate_content", "g-1", True),
    ],
)
def test_an_api_is_known_by_how_its_path_ends(path, body, api, model, stream):
    got = asked(path, body)
    assert (api, model, stream) == (got.api, got.model, got.stream)
    assert body == got.body


def test_only_gemini_streams_without_events():
    assert asked("/v1beta/models/g:streamGenerateContent?alt=sse").sse
    assert not asked("/v1beta/models/g:streamGenerateContent").sse


@pytest.mark.parametrize(
    ("method", "path", "headers", "api"),
    [
        ("GET", "/openai/v1/models", {}, "openai.chat"),
        ("POST", "/v1/messages/count_tokens", {"anthropic-version": "1"}, "anthropic.messages"),
        ("POST", "/gemini/v1beta/models/g:countTokens", {}, "gemini.generate_content"),
        ("GET", "/v1/chat/completions", {}, "openai.chat"),
    ],
)
def test_what_is_no_request_to_a_model_is_refused_in_the_shape_of_its_api(method, path, headers, api):
    assert NotFound(api=api, what=f"{method} {path}") == asked(path, method=method, headers=headers)


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_object_is_said_to_be_none(body):
    got = route("POST", "/v1/responses", {}, body)
    assert NotFound(api="openai.responses", what="POST /v1/responses", unreadable=True) == got


@given(st.text(), st.text(), st.dictionaries(st.text(), st.text()), st.binary())
def test_any_request_is_one_or_the_other(method, path, headers, body):
    assert isinstance(route(method, f"/{path}".replace("[", "("), headers, body), Asked | NotFound)
