"""The MCP server over a cassette, without a transport: what is offered, what is answered, what is refused."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.stubs.mcp import jsonrpc, mcp_tools
from tests.replay.builders import policy, result
from tests.stubs.mcp_tapes import Calls, Desk, text

TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png"}
FIND = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}


def tape():
    calls = Calls()
    calls.method("initialize", **{"mcp.protocol.version": "2025-06-18"})
    calls.method("tools/list")
    calls.offers(("find", "Finds an order.", FIND), ("draft", "Drafts.", {"type": "object"}))
    calls.called("find", {"order": "A-1"}, {"state": "late"})
    calls.called("find", {"order": "A-2"}, {"state": "sent"})
    calls.called("draft", {"order": "A-1", "amount": 2.5}, text("drafted"))
    return calls


# ---- the handshake


def test_the_recorded_protocol_version_is_offered_back():
    """A client that speaks it goes on as it did then."""
    said = Desk(tape()).get("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
    assert said["protocolVersion"] == "2025-06-18"
    assert said["capabilities"] == {"tools": {}}


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-06-18"), (7, "2025-06-18")],
)
def test_a_client_gets_no_version_newer_than_its_own(asked, given):
    """What it does not know it gets offered another one for."""
    assert Desk(tape()).get("initialize", protocolVersion=asked)["protocolVersion"] == given


def test_without_a_recorded_version_the_clients_is_taken():
    """Any that is known."""
    calls = Calls()
    calls.called("find", {}, "x")
    assert Desk(calls).get("initialize", protocolVersion="2025-03-26")["protocolVersion"] == "2025-03-26"


def test_discovery_is_answered_unless_the_recorded_server_had_none():
    """A recorded version of the handshake says that the server did not know it."""
    assert Desk(tape()).ask("server/discover")["error"]["code"] == jsonrpc.NO_METHOD
    calls = Calls()
    calls.called("find", {}, "x")
    assert "2026-07-28" in Desk(calls).get("server/discover")["supportedVersions"]


def test_a_request_of_the_revision_without_handshake_is_answered_in_its_form():
    """Each result says that it is complete, lists how long they may be kept."""
    desk = Desk(tape())
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    listed = desk.get("tools/list", _meta=meta)
    assert (listed["resultType"], listed["ttlMs"], listed["cacheScope"]) == ("complete", 0, "private")
    called = desk.get("tools/call", _meta=meta, name="find", arguments={"order": "A-1"})
    assert called["resultType"] == "complete"
    newer = desk.ask("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2030-01-01"})
    assert newer["error"]["code"] == -32022
    assert "2026-07-28" in newer["error"]["data"]["supported"]


def test_a_recorded_introduction_is_given_as_it_was():
    """Name, version and instructions of the server; of its abilities, those that a recording can serve."""
    calls = Calls()
    info = {"name": "orders", "version": "3", "title": None}
    able = {"tools": {"listChanged": True}, "logging": {}, "prompts": None}
    calls.whole(
        "initialize", {"protocolVersion": "2025-03-26"},
        {"protocolVersion": "2025-03-26", "serverInfo": info, "capabilities": able, "instructions": "Be kind."},
    )  # fmt: skip
    said = Desk(calls).get("initialize", protocolVersion="2025-11-25")
    assert said == {
        "protocolVersion": "2025-03-26", "serverInfo": {"name": "orders", "version": "3"}, "capabilities": {"tools": {}},
        "instructions": "Be kind.",
    }  # fmt: skip


# ---- tools


def test_tools_are_listed_as_the_models_were_told_of_them():
    """In their order, with their schemas; nothing of that is assumed."""
    desk = Desk(tape())
    assert desk.get("tools/list")["tools"] == [
        {"name": "find", "description": "Finds an order.", "inputSchema": FIND},
        {"name": "draft", "description": "Drafts.", "inputSchema": {"type": "object"}},
    ]
    assert not [entry for entry in desk.session.result().assumed if "tools/list" in str(entry)]


def test_a_tool_of_which_no_model_was_told_takes_any_object_and_that_is_said():
    """Its schema is nowhere in the recording."""
    calls = Calls()
    calls.called("find", {"order": "A-1"}, "late")
    desk = Desk(calls)
    assert desk.get("tools/list")["tools"] == [{"name": "find", "inputSchema": {"type": "object"}}]
    (entry,) = desk.session.result().assumed
    assert "find" in str(entry)
    assert "inputSchema" in str(entry)


def test_tools_that_the_program_has_without_mcp_are_not_listed():
    """They are replaced in the program: listed too, the model would be told of them twice."""
    assert Desk(tape(), local=["draft"]).tools() == ["find"]


def test_a_recorded_list_is_given_as_it_was():
    """But for members that a library wrote as null; a null inside a schema is the server's own."""
    schema = {"type": "object", "properties": {"order": {"type": "string", "default": None}}}
    calls = tape()
    tool = {
        "name": "find",
        "title": None,
        "description": "As listed.",
        "inputSchema": schema,
        "annotations": {"readOnlyHint": True},
    }
    calls.whole("tools/list", None, {"meta": None, "nextCursor": None, "tools": [tool]})
    listed = Desk(calls).get("tools/list")
    assert "nextCursor" not in listed
    assert listed["tools"][0] == {
        "name": "find", "description": "As listed.", "inputSchema": schema, "annotations": {"readOnlyHint": True}
    }  # fmt: skip


def test_an_output_schema_without_recorded_structure_is_left_out():
    """Clients refuse a result that lacks what its schema promises."""
    calls = tape()
    schema = {"type": "object", "properties": {"state": {"type": "string"}}}
    tools = [{"name": n, "inputSchema": FIND, "outputSchema": schema} for n in ("find", "count")]
    calls.whole("tools/list", {}, {"tools": tools})
    calls.called("count", {}, {"content": [], "structuredContent": {"state": "7"}})
    listed = {tool["name"]: tool for tool in Desk(calls).get("tools/list")["tools"]}
    assert "outputSchema" not in listed["find"]
    assert listed["count"]["outputSchema"] == schema


@pytest.mark.parametrize("recorded", ["mcp__orders__find", "orders_find", "orders-find", "orders.find", "orders__find"])
def test_a_tool_that_a_framework_gave_its_servers_name_is_served_under_its_own(recorded):
    """The name that crosses the wire has no server in it; the recorded call is found all the same."""
    calls = Calls()
    calls.whole("initialize", {}, {"protocolVersion": "2025-06-18", "serverInfo": {"name": "orders", "version": "1"}})
    calls.offers((recorded, "Finds.", FIND))
    calls.tool(recorded, {"order": "A-1"}, "late")
    desk = Desk(calls, name="orders")
    assert desk.tools() == ["find"]
    assert desk.call("find", {"order": "A-1"})["result"] == text("late")
    assert desk.session.result().exit_code in (0, 1)
    assert desk.session.result().served == 1


# ---- several servers


def two_servers():
    calls = Calls()
    for name in ("orders", "stock"):
        calls.offers((f"mcp__{name}__find", f"Finds {name}.", FIND))
        calls.tool(f"mcp__{name}__find", {"order": "A-1"}, f"of {name}")
    return calls


def test_two_servers_with_a_tool_of_one_name_answer_each_for_itself():
    """The connection's name says whose tool is meant."""
    desk = Desk(two_servers())
    assert desk.call("find", {"order": "A-1"}, "stock")["result"] == text("of stock")
    assert desk.call("find", {"order": "A-1"}, "orders")["result"] == text("of orders")
    assert [desk.get("tools/list", name)["tools"][0]["description"] for name in ("stock", "orders")] == [
        "Finds stock.",
        "Finds orders.",
    ]


def test_a_server_is_known_by_the_results_that_name_it():
    """As they do since 2026-07-28; both have a tool of that name."""
    calls = Calls()
    for server, order in (("orders", "A-1"), ("stock", "B-1")):
        calls.called(
            "find", {"order": order}, text(f"of {server}") | {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": server}}}
        )
    desk = Desk(calls)
    assert [desk.tools("stock"), desk.tools("orders"), desk.tools("~third")] == [["find"], ["find"], []]
    assert desk.call("find", {"order": "B-1"}, "stock")["result"]["content"] == text("of stock")["content"]


def test_connections_without_a_known_name_are_the_recorded_servers_in_their_order():
    """And stay what they were first taken for."""
    desk = Desk(two_servers())
    assert desk.get("tools/list", "~first")["tools"][0]["description"] == "Finds orders."
    assert desk.get("tools/list", "~second")["tools"][0]["description"] == "Finds stock."
    assert desk.call("find", {"order": "A-1"}, "~second")["result"] == text("of stock")
    assert desk.get("tools/list", "~first")["tools"][0]["description"] == "Finds orders."


def test_where_no_server_is_known_the_first_connection_has_all_tools():
    """So that the joint list of a program with several servers is as it was; each may call what it likes."""
    desk = Desk(tape())
    assert [desk.tools("~a"), desk.tools("~b"), desk.tools("~a"), desk.tools("")] == [
        ["find", "draft"],
        [],
        ["find", "draft"],
        ["find", "draft"],
    ]
    assert desk.call("find", {"order": "A-1"}, "~b")["result"]["content"]


def test_equal_tools_of_servers_without_a_name_are_told_apart_by_their_arguments():
    """And where those are equal too, answered in the order of the recording."""
    calls = Calls()
    calls.called("find", {"q": 1}, "of the first")
    calls.called("find", {"q": 2}, "of the second")
    desk = Desk(calls)
    assert desk.call("find", {"q": 2}, "~b")["result"] == text("of the second")
    assert desk.call("find", {"q": 1}, "~a")["result"] == text("of the first")


# ---- results


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        (text("late"), text("late")),
        ({"content": [{"type": "text", "text": "a", "annotations": None}], "structuredContent": {"a": None}, "meta": None},
         {"content": [{"type": "text", "text": "a"}], "structuredContent": {"a": None}}),
        ([TEXT, IMAGE], {"content": [TEXT, IMAGE], "isError": False}),
        ({"type": "resource", "resource": {"uri": "a://b", "text": "c"}},
         {"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "c"}}], "isError": False}),
        ("plain", text("plain")),
        ({"type": "text"}, text('{"type": "text"}')),
        ({"content": "no list"}, text('{"content": "no list"}')),
        ([], text("[]")),
        (7, text("7")),
    ],
)  # fmt: skip
def test_a_result_has_the_form_of_mcp(recorded, given):
    """Recorded blocks as they were; anything else as text."""
    calls = Calls()
    calls.called("find", {}, recorded)
    assert Desk(calls).call("find", {})["result"] == given


def test_text_is_given_as_the_model_was_shown_it():
    """Its spaces are part of what the next request is compared by."""
    calls = tape()
    shown = '{\n  "state":   "late"\n}'
    calls.called("look", {}, {"state": "late"}, **{"gen_ai.tool.call.id": "call_7"})
    calls.model([result("call_7", shown)], "done")
    desk = Desk(calls)
    assert desk.call("look", {})["result"] == text(shown)
    assert not desk.session.result().assumed


def test_a_form_of_text_that_is_nowhere_recorded_is_said_to_be_assumed():
    """The value is recorded; how it was spelled is not."""
    desk = Desk(tape())
    assert desk.call("find", {"order": "A-2"})["result"] == text('{"state": "sent"}')
    (entry,) = desk.session.result().assumed
    assert "JSON text" in str(entry)


def test_a_servers_whole_answer_is_found_by_the_text_that_the_call_holds():
    """Packages that write the client's side with less than the server's."""
    whole = {"content": [{"type": "text", "text": '{"n":1}'}], "structuredContent": {"n": 1}, "isError": False}
    calls = Calls()
    calls.called("count", {}, {"n": 1})
    calls.span("ResponseStreamWriter", {"mcp.response.value": json.dumps(whole), "mcp.request.id": "3"})
    assert Desk(calls).call("count", {})["result"] == whole


# ---- failures


def test_a_recorded_failure_of_a_tool_is_a_result_that_says_so():
    """As servers give it."""
    calls = Calls()
    calls.called("find", {}, {"content": [{"type": "text", "text": "no such order"}], "isError": True}, error="tool_error")
    said = Desk(calls).call("find", {})["result"]
    assert said == {"content": [{"type": "text", "text": "no such order"}], "isError": True}


def test_a_recorded_exception_is_a_failure_with_its_message():
    """Where the answer itself was not recorded."""
    calls = Calls()
    calls.add(
        "tool", "find", arguments={}, error=("LookupError", {"class": "LookupError", "args": ["gone"], "message": "gone"})
    )
    desk = Desk(calls)
    assert desk.call("find", {})["result"] == text("gone") | {"isError": True}
    assert desk.session.result().assumed


def test_a_recorded_error_of_the_protocol_is_one_again():
    """With its code."""
    calls = Calls()
    calls.called("find", {}, error="-32602", **{"rpc.response.status_code": "-32602"})
    assert Desk(calls).call("find", {})["error"]["code"] == -32602


def test_changed_arguments_are_an_error_that_names_the_field():
    """A JSON-RPC error, which SDKs raise; a result would be told to the model."""
    desk = Desk(tape())
    error = desk.call("draft", {"order": "A-1", "amount": 3})["error"]
    assert error["code"] == jsonrpc.NOT_RECORDED
    assert "request.arguments.amount is 3, recorded was 2.5" in error["message"]
    assert error["data"] == {"code": "replay.request_changed"}
    assert desk.first() == "replay.request_changed"


def test_a_tool_that_was_not_recorded_is_unexpected():
    """Under the name that was asked for."""
    desk = Desk(tape())
    assert "erase" in desk.call("erase", {})["error"]["message"]
    assert desk.first() == "replay.unexpected_call"


def test_a_call_whose_answer_is_missing_names_the_gap():
    """The SDK's own spans hold neither arguments nor results."""
    calls = Calls()
    calls.span("MCP send tools/call find", {"mcp.method.name": "tools/call"})
    desk = Desk(calls)
    assert "not_carried_by_convention" in desk.call("find", {"any": 1})["error"]["message"]
    assert desk.first() == "replay.response_missing"


@pytest.mark.parametrize(
    "params", [{}, {"name": 7}, {"name": ""}, {"name": "find", "arguments": [1]}, {"name": "find", "arguments": "x"}]
)
def test_a_call_that_is_none_is_refused_and_costs_nothing(params):
    """Nothing is served, nothing is latched."""
    desk = Desk(tape())
    assert desk.ask("tools/call", **params)["error"]["code"] == jsonrpc.INVALID_PARAMS
    assert desk.first() == "replay.events_unused"
    assert desk.session.result().served == 0


def test_arguments_pass_the_policy_before_they_are_compared():
    """And the answer holds what the cassette holds."""
    rules = policy(("mail", "detector: email, action: pseudonym"))
    calls = Calls()
    calls.called("write", {"to": "ana@example.com"}, "written to ana@example.com")
    desk = Desk(calls, policy=rules)
    said = desk.call("write", {"to": "ben@example.org"})
    assert "ana@example.com" not in json.dumps(said)
    assert "result" in said


# ---- resources and prompts


def test_recorded_resources_and_prompts_are_given_as_they_were():
    """By what was asked for."""
    calls = Calls()
    calls.whole("resources/list", None, {"resources": [{"uri": "a://b", "name": "b", "title": None}]})
    calls.whole("resources/read", {"uri": "a://b", "meta": None}, {"contents": [{"uri": "a://b", "text": "held"}]})
    calls.whole("prompts/list", None, {"prompts": [{"name": "ask"}]})
    calls.whole(
        "prompts/get",
        {"name": "ask", "arguments": {"who": "Ana"}},
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]},
    )
    desk = Desk(calls)
    assert desk.get("initialize", protocolVersion="2025-11-25")["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}}
    assert desk.get("resources/list") == {"resources": [{"uri": "a://b", "name": "b"}]}
    assert desk.get("resources/read", uri="a://b") == {"contents": [{"uri": "a://b", "text": "held"}]}
    assert desk.get("prompts/list") == {"prompts": [{"name": "ask"}]}
    assert desk.get("prompts/get", name="ask", arguments={"who": "Ana"})["messages"][0]["role"] == "user"
    assert desk.first() in (None, "replay.events_unused")
    assert desk.ask("prompts/get", name="ask", arguments={"who": "Ben"})["error"]["code"] == jsonrpc.NOT_RECORDED
    assert desk.first() == "replay.unexpected_call"


def test_a_resource_of_which_only_a_span_is_left_is_missing():
    """It was read then, and what it held was not recorded."""
    calls = Calls()
    calls.method("resources/read", **{"mcp.resource.uri": "a://b"})
    desk = Desk(calls)
    assert "replay.response_missing" in desk.ask("resources/read", uri="a://b")["error"]["message"]
    assert desk.session.result().exit_code == 3


def test_a_list_that_was_not_recorded_is_no_method_of_this_server():
    """Clients that look around find a server without it; nothing is latched."""
    desk = Desk(tape())
    assert desk.ask("prompts/list")["error"]["code"] == jsonrpc.NO_METHOD
    assert desk.ask("sampling/createMessage")["error"]["code"] == jsonrpc.NO_METHOD
    assert desk.first() == "replay.events_unused"


# ---- messages


def test_ping_is_answered_and_notifications_are_not():
    """Cancellation and progress come too late for an answer that was given at once."""
    desk = Desk(tape())
    assert desk.get("ping") == {}
    for method in (
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/roots/list_changed",
    ):
        assert desk.server.answer(json.dumps({"jsonrpc": "2.0", "method": method, "params": {"requestId": 1}}).encode()) is None
    assert desk.server.answer(b'{"jsonrpc":"2.0","id":1,"result":{}}') is None


def test_a_batch_is_answered_as_one():
    """In its order; what wants no answer has none in it."""
    desk = Desk(tape())
    batch = [{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}, 7]
    said = json.loads(desk.server.answer(json.dumps(batch).encode()))
    assert [entry.get("id") for entry in said] == ["a", None]
    assert said[1]["error"]["code"] == jsonrpc.INVALID_REQUEST


BROKEN = {
    b"": jsonrpc.PARSE_ERROR,
    b"{": jsonrpc.PARSE_ERROR,
    b"\xff\xfe": jsonrpc.PARSE_ERROR,
    b"[" * 200_000: jsonrpc.PARSE_ERROR,
    b"9" * 5000: jsonrpc.PARSE_ERROR,
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}': jsonrpc.PARSE_ERROR,
    b"[]": jsonrpc.INVALID_REQUEST,
    b"null": jsonrpc.INVALID_REQUEST,
    b'{"id":1,"method":"ping"}': jsonrpc.INVALID_REQUEST,
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}': jsonrpc.INVALID_REQUEST,
    b'{"jsonrpc":"2.0","id":1}': jsonrpc.INVALID_REQUEST,
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}': jsonrpc.INVALID_PARAMS,
}


@pytest.mark.parametrize(("body", "code"), BROKEN.items(), ids=range(len(BROKEN)))
def test_what_is_no_message_is_answered_with_the_error_for_it(body, code):
    """And with no exception."""
    assert json.loads(Desk(tape()).server.answer(body))["error"]["code"] == code


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
METHODS = st.sampled_from(
    [
        "initialize",
        "ping",
        "tools/list",
        "tools/call",
        "resources/read",
        "prompts/get",
        "prompts/list",
        "server/discover",
        "x",
        "",
    ]
)


@given(st.binary(max_size=200) | JSON.map(lambda v: json.dumps(v).encode()))
def test_any_bytes_give_an_answer_or_none(body):
    """One line of JSON-RPC, whatever came in."""
    _is_jsonrpc(Desk(Calls()).server.answer(body))


@given(
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "id": st.integers() | st.text() | JSON, "method": METHODS | st.text()},
        optional={
            "params": JSON
            | st.dictionaries(st.sampled_from(["name", "arguments", "uri", "_meta", "protocolVersion"]), JSON | st.just("find"))
        },
    )
)
def test_any_message_gives_an_answer_or_none(message):
    """Also with parameters that are none."""
    _is_jsonrpc(Desk(tape(), name="~x").server.answer(json.dumps(message).encode()))


def _is_jsonrpc(answer):
    if answer is None:
        return
    assert b"\n" not in answer
    said = json.loads(answer)
    for entry in said if isinstance(said, list) else [said]:
        assert entry["jsonrpc"] == "2.0"
        assert ("result" in entry) != ("error" in entry)


# ---- several at once


def test_calls_from_many_threads_are_each_answered_once():
    """Whatever their order."""
    calls = Calls()
    for n in range(40):
        calls.called("find", {"n": n}, f"row {n}")
    desk = Desk(calls)
    bodies = [
        json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "find", "arguments": {"n": n}}})
        for n in range(40)
    ]
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda body: json.loads(desk.server.answer(body.encode(), server="~a")), reversed(bodies)))
    assert {entry["id"]: entry["result"]["content"][0]["text"] for entry in said} == {n: f"row {n}" for n in range(40)}
    assert desk.session.result().exit_code == 0


# ---- coverage


def test_the_tools_of_a_cassette_that_mcp_covers_are_those_that_crossed_it():
    """By their spans, or by their name; a plain tool is not among them."""
    calls = tape()
    calls.tool("mcp__stock__count", {}, 1)
    calls.tool("plain", {}, 1)
    assert mcp_tools(calls.cassette().events) == {"find", "draft", "mcp__stock__count"}
