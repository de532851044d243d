"""Requests to a model are answered from a session, and what is none is refused."""

import json

import pytest

from otelreplay.replay.fixtures import Fixture
from otelreplay.spans import Scope
from otelreplay.stubs.host import Host
from otelreplay.stubs.reply import Reply
from otelreplay.stubs.server import Request
from tests.replay.builders import Tape, asks, call, result, text
from tests.replay.builders import session as session_over

CHAT = "/openai/v1/chat/completions"
TOOL = {"type": "function", "function": {"name": "lookup", "description": "d", "parameters": {"type": "object"}}}


SCHEMA = {"type": "function", "name": "lookup", "description": "d", "parameters": {"type": "object"}}


def recorded():
    """Two calls of a model with a tool's result between them."""
    tape, more = Tape(), {"system": "be brief", "model": "m-1", "tools": [SCHEMA], "params": {"temperature": 0}}
    opening, first = text("user", "where is jo@example.com?"), asks(("c1", "lookup", {"order": "A1"}))
    tape.model([opening], reply=first, **more)
    tape.tool("lookup", {"order": "A1"}, give="lost")
    tape.model([opening, first, result("c1", "lost")], reply="It is lost.", **more)
    return tape.cassette()


def body(*more, **changed):
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "where is jo@example.com?"}, *more]
    return {"model": "m-1", "temperature": 0, "messages": messages, "tools": [TOOL]} | changed


def post(host, held, path=CHAT):
    got = host.answer(Request(method="POST", path=path, headers={}, body=json.dumps(held).encode()))
    return got.status, json.loads(got.body)


@pytest.fixture
def session():
    return session_over(recorded())


def test_a_conversation_is_answered_in_the_shape_of_the_provider(session):
    host = Host(session)
    status, said = post(host, body())
    message = said["choices"][0]["message"]
    assert (200, "lookup") == (status, message["tool_calls"][0]["function"]["name"])
    session.call(session.live_of(call("tool", "lookup", arguments={"order": "A1"})))
    status, said = post(
        host, body(message, {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "lost"})
    )
    assert (200, "It is lost.") == (status, said["choices"][0]["message"]["content"])
    found = session.result()
    assert ("as_recorded", 3, 3) == (found.outcome, found.served, found.calls)


def test_the_same_conversation_over_another_api_is_the_same(session):
    """A program that moved to another SDK sends the same content in another shape."""
    host = Host(session)
    tool = {"name": "lookup", "description": "d", "input_schema": {"type": "object"}}
    asked = {"model": "m-1", "temperature": 0, "system": "be brief", "tools": [tool],
             "messages": [{"role": "user", "content": "where is jo@example.com?"}]}  # fmt: skip
    status, said = post(host, asked, "/anthropic/v1/messages")
    assert (200, {"order": "A1"}) == (status, said["content"][0]["input"])


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"temperature": 1}, "request.params.temperature"),
        ({"model": "m-2"}, "request.model"),
        ({"tools": []}, "request.tools[0]"),
        ({"messages": [{"role": "system", "content": "be long"}, {"role": "user", "content": "where is jo@example.com?"}]},
         "request.system[0].content"),
    ],
)  # fmt: skip
def test_a_request_that_matches_nothing_gets_an_error_that_is_final_and_says_why(session, changed, path):
    host = Host(session)
    got = host.answer(Request(method="POST", path=CHAT, headers={}, body=json.dumps(body(**changed)).encode()))
    said = json.loads(got.body)["error"]
    assert (400, "false") == (got.status, got.headers["x-should-retry"])
    assert "replay.request_changed" == said["code"]
    first = session.result().first_divergence
    assert first is not None
    assert ("request_changed", path) == (first.kind, first.path)
    assert first.line() in said["message"]


def test_the_same_refused_request_is_refused_again_without_another_divergence(session):
    host = Host(session)
    first, second = post(host, body(temperature=1)), post(host, body(temperature=1))
    assert first == second
    found = session.result()
    assert (1, ()) == (found.calls, tuple(d for d in found.others if d.kind == "request_changed"))


def test_the_same_served_request_once_more_is_a_call_too_many(session):
    host = Host(session)
    post(host, body())
    status, said = post(host, body())
    assert (400, "replay.unexpected_call") == (status, said["error"]["code"])


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/openai/v1/models", 404), ("POST", "/anthropic/v1/messages/count_tokens", 404), ("POST", CHAT, 400)],
)
def test_what_is_no_request_to_a_model_is_a_blocked_call(session, method, path, status):
    got = Host(session).answer(Request(method=method, path=path, headers={}, body=b"[]"))
    assert status == got.status
    found = session.result()
    assert (4, f"{method} {path}") == (found.exit_code, found.blocked[0].target)


def test_who_only_looks_whether_somebody_is_there_makes_no_call(session):
    got = Host(session).answer(Request(method="HEAD", path="/", headers={}, body=b""))
    assert 404 == got.status
    assert not session.diverged


def test_what_else_is_served_has_its_own_path(session):
    host = Host(session, {"/mcp": lambda request: Reply(body=request.path.encode())})
    asked = [host.answer(Request(method="POST", path=p, headers={}, body=b"")).body for p in ("/mcp", "/mcp/x?y")]
    assert [b"/mcp", b"/mcp/x?y"] == asked
    assert not session.diverged


def embedded(**more):
    tape = Tape()
    extra = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e-1"}
    tape.add("embeddings", "e-1", scope=Scope(name="some.package"), extra={"otelreplay.kind": "embeddings", **extra})
    return session_over(tape.cassette(), **more)


def test_embeddings_are_answered_from_a_fixture():
    session = embedded(fixtures={0: Fixture(response={"result": [0.5, 1.0]})})
    status, said = post(Host(session), {"model": "e-1", "input": "where?"}, "/v1/embeddings")
    assert (200, [0.5, 1.0]) == (status, said["data"][0]["embedding"])
    assert "as_recorded" == session.result().outcome


def test_embeddings_without_their_vectors_are_missing_data():
    session = embedded()
    status, said = post(Host(session), {"model": "e-1", "input": "where?"}, "/v1/embeddings")
    assert (400, "replay.response_missing") == (status, said["error"]["code"])
    assert 3 == session.result().exit_code
