"""``run`` with tools of the program: replaced, really running, found by no process, and the recording's clock."""

import json
import sys

import pytest

from tests.run.test_unprepared import attributes, converted, replayed, span

START = 1_000_000_000 * 10**9  # 2001-09-09T01:46:40Z
AGENT = "import tools\nfound = tools.mint('A')\nprint(found['id'])\nprint(tools.close(found['id']))\n"
TOOLS = """
import socket
def mint(order):
    return {"id": "fresh-4711"}
def close(ticket):
    return "really closed"
"""


def tool(number, name, arguments, result):
    held = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.arguments": json.dumps(arguments),
        "gen_ai.tool.call.result": json.dumps(result),
    }  # fmt: skip
    return span(f"{number:016x}", f"execute_tool {name}", START + number * 3600 * 10**9, attributes=attributes(**held))


@pytest.fixture
def cassette(desk):
    """A tool that mints an id, and one that is given it."""
    desk.write("agent.py", AGENT)
    desk.write("tools.py", TOOLS)
    spans = [
        tool(1, "mint", {"order": "A"}, {"id": "fresh-4711"}),
        tool(2, "close", {"ticket": "fresh-4711"}, "closed"),
    ]
    return converted(desk, {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "p"}, "spans": spans}]}]})


PYTHON = (sys.executable, "agent.py")


def test_tools_are_answered_under_guard(desk, cassette):
    """All of it together: kernel, hooks, host, stubs."""
    done, report = replayed(desk, cassette, PYTHON, "--tool", "tools:mint", "--tool", "tools:close")
    assert done.out.split("\n")[:2] == ["fresh-4711", "closed"]
    assert report["outcome"] == "as_recorded"
    assert report["served"] == 2
    assert report["notes"] == []


def test_every_tool_has_to_be_covered(desk, cassette):
    """Before anything starts, with the options to add."""
    done = desk.run("run", cassette, "--tool", "tools:mint", "--", *PYTHON, expect=2)
    assert "--tool close=module:function" in done.err.replace("\n", " ")
    assert done.out == ""


def test_a_live_tool_really_runs_and_is_listed(desk, cassette):
    """Its result is that of the world; the rest is the recording."""
    done, report = replayed(desk, cassette, PYTHON, "--tool", "tools:mint", "--live-tool", "tools:close")
    assert done.out.split("\n")[:2] == ["fresh-4711", "really closed"]
    assert report["origins"] == {"cassette": 1, "live": 1}
    assert any(entry.get("reason") == "origin live" for entry in report["assumed"])
    assert report["guard"] == "python hooks"


def test_a_live_tool_may_use_the_network_and_nothing_else_may(desk, cassette, server):
    """The same connection, made outside of it, is blocked."""
    reach = f"socket.create_connection(('127.0.0.1', {server.port})).close()"
    desk.write("tools.py", TOOLS.replace("    return", f"    {reach}\n    return", 1))
    more = ("--live-tool", "tools:mint", "--tool", "tools:close")
    done, _ = replayed(desk, cassette, PYTHON, *more)
    assert done.out.split("\n")[:2] == ["fresh-4711", "closed"]
    desk.write("agent.py", f"import tools\nimport socket\ntools.mint('A')\n{reach}")
    _, report = replayed(desk, cassette, PYTHON, *more, expect=4)
    assert server.hits == 2
    assert [attempt["target"] for attempt in report["blocked"]] == [f"127.0.0.1:{server.port}"]


def test_an_id_that_a_live_tool_minted_is_named_as_the_origin(desk, cassette):
    """Where a later request differs by it."""
    desk.write("tools.py", TOOLS.replace("fresh-4711", "other-1234"))
    _, report = replayed(desk, cassette, PYTHON, "--live-tool", "tools:mint", "--tool", "tools:close", expect=1)
    first = report["first_divergence"]
    assert first["kind"] == "request_changed"
    assert first["path"] == "request.arguments.ticket"
    assert first["origin"] == "event 0, tool (live)"
    assert first["cause"] == "tool result"


def test_a_tool_is_replaced_or_live(desk, cassette):
    """Not both."""
    done = desk.run(
        "run", cassette, "--tool", "tools:mint", "--live-tool", "tools:mint", "--tool", "tools:close", "--", *PYTHON, expect=2
    )
    assert "run.tool_name" in done.err


def test_a_tool_that_is_not_there_ends_the_run(desk, cassette):
    """Exit 2, with the name."""
    done = desk.run("run", cassette, "--tool", "mint=tools:minted", "--tool", "tools:close", "--", *PYTHON, expect=2)
    assert "has no minted" in done.err.replace("\n", " ")


def test_a_module_that_no_process_loads_is_noted(desk, cassette):
    """A name that was misspelt looks like a tool that is never called."""
    desk.write("agent.py", "print('nothing')")
    _, report = replayed(desk, cassette, PYTHON, "--tool", "mint=toolz:mint", "--tool", "tools:close", expect=1)
    assert report["notes"][:1] == ["no process of the run loaded the module of mint=toolz:mint"]


def test_the_clock_follows_what_is_served(desk, cassette):
    """Hours pass between two calls, as they did."""
    desk.write("agent.py", "import time, tools\nprint(time.gmtime().tm_hour)\ntools.mint('A')\nprint(time.gmtime().tm_hour)\n"
                           "tools.close('fresh-4711')\nprint(time.gmtime().tm_hour, time.gmtime().tm_year)\n")  # fmt: skip
    more = ("--tool", "tools:mint", "--tool", "tools:close")
    done, report = replayed(desk, cassette, PYTHON, *more, "--clock", "recorded")
    assert done.out.split("\n")[:3] == ["2", "2", "3 2001"]
    assert any("inferred" in note for note in report["notes"])
    done, _ = replayed(desk, cassette, PYTHON, *more)
    assert "2001" not in done.out
    done = desk.run("run", cassette, *more, "--clock", "sun", "--", *PYTHON, expect=2)
    assert "run.clock" in done.err
