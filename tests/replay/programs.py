"""Recorded programs of several shapes, for tests that run them again with a change."""

from tests.replay.builders import OWN, Tape, asks, result, text

TOOLS = [
    {
        "type": "function",
        "name": "find",
        "description": "Find an order by its number.",
        "parameters": {
            "type": "object",
            "properties": {"order": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
            "required": ["order", "limit"],
        },
    },
    {"type": "function", "name": "mail", "description": "Send a mail.", "parameters": {"type": "object", "properties": {}}},
]
FOREIGN = type(OWN)(name="opentelemetry.instrumentation.genai.openai", version="1.0")


def two_tools_at_once(scope=OWN, *, about="order A-1"):
    """Model, two tools at once, model; all that a conversation can carry."""
    tape = Tape()
    agent = tape.agent(input={"q": about, "n": 2, "deep": {"tags": ["a", "b"], "on": True, "ratio": 0.5}}, output="done")
    question = [text("user", f"Where is {about}? It is late.")]
    params = {"temperature": 0.5, "max_tokens": 400, "stop_sequences": ["END", "STOP"]}
    asked = asks(("c1", "find", {"order": "A-1", "limit": 5}), ("c2", "find", {"order": "A-2", "limit": 5}), said="I look.")
    more = {"system": "Be brief. Be kind.", "params": params, "tools": TOOLS, "scope": scope}
    tape.model(question, asked, parent=agent, **more)
    start = tape.now
    tape.tool(
        "find", {"order": "A-1", "limit": 5}, {"state": "late"}, parent=agent, call_id="c1", at=start, took=500, scope=scope
    )
    tape.tool(
        "find", {"order": "A-2", "limit": 5}, {"state": "lost"}, parent=agent, call_id="c2", at=start + 9, took=500, scope=scope
    )
    tape.now += 1_000
    told = [*question, asked, result("c1", {"state": "late", "days": 3}), result("c2", "lost")]
    tape.model(told, "done", parent=agent, **more)
    return tape


def every_kind():
    """Each kind of boundary that a decorator records, and an agent inside an agent."""
    tape = Tape()
    outer = tape.agent("outer", input={"q": "all"}, output="all done")
    tape.made("clock", 1_790_000_000.5, parent=outer)
    tape.made("random", 0.25, parent=outer)
    tape.made("id", "0b6b6ae0-1d8a-4e0c-9d6a-0f8f6f6b7a01", parent=outer)
    tape.add("retrieval", "docs", query="returns of parcels", done={"otelreplay.result": '["doc 1"]'}, parent=outer)
    tape.add("state", "cart", arguments={"key": "size", "value": [1, 2]}, done={"otelreplay.result": "3"}, parent=outer)
    inner = tape.agent("inner", input={"q": "part"}, output=["x"], parent=outer)
    tape.tool("find", {"order": "A-1", "notes": {"k": None, "on": False, "list": [1, 2.5, "x"]}}, 1, parent=inner)
    tape.tool("mail", {"to": "desk", "body": "Dear all,\n  see below."}, "sent", parent=inner)
    tape.tool("ping", {}, "pong", parent=outer)
    return tape


def twins():
    """Calls that cannot be told apart, one after the other and at once, and one that is like them."""
    tape = Tape()
    agent = tape.agent(input={"q": "twins"}, output="done")
    for n in range(3):
        tape.tool("poll", {"job": 7}, f"after {n}", parent=agent)
    start = tape.now
    for n in range(2):
        tape.tool("find", {"order": "A-1"}, f"row {n}", parent=agent, at=start + n, took=500)
    tape.now += 1_000
    tape.tool("find", {"order": "A-2"}, "other", parent=agent)
    return tape


def long_conversation(turns=4):
    """A history that grows, with words that come back."""
    tape = Tape()
    agent = tape.agent(input={"q": "long"}, output="done")
    history = [text("user", "Count with me.")]
    for n in range(turns):
        asked = asks((f"c{n}", "count", {"n": n}), said="Next.")
        tape.model(list(history), asked, parent=agent, system="Count.", params={"temperature": 0})
        tape.tool("count", {"n": n}, n + 1, parent=agent, call_id=f"c{n}")
        history += [asked, result(f"c{n}", n + 1), text("user", "Go on.")]
    tape.model(list(history), "done", parent=agent, system="Count.", params={"temperature": 0})
    return tape


PROGRAMS = {
    "two tools at once": two_tools_at_once,
    "another package": lambda: two_tools_at_once(FOREIGN),
    "something private": lambda: two_tools_at_once(about="the order of jane.roe@acme-mail.com"),
    "every kind": every_kind,
    "twins": twins,
    "long conversation": long_conversation,
}
