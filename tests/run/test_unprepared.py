"""Programs that nobody prepared, in any language: their requests to a model are answered, and everything else is blocked."""

import json
import os
import shutil
import sys

import pytest

from otelreplay.errors import UsageError
from otelreplay.run import tools
from otelreplay.run.environment import NO_CREDENTIAL
from otelreplay.run.providers import towards, without_detours
from otelreplay.run.supervisor import HOOKS, LANDLOCK, LEVELS
from otelreplay.wiring.replaying import open_for_replay
from otelreplay.wiring.running import Options
from otelreplay.wiring.running import run as start

QUESTION, REPLY = "Where is A1? I am jo@example.com.", "It left for jo@example.com."


def attributes(**named):
    return [{"key": k, "value": {"doubleValue": v} if isinstance(v, float) else {"stringValue": v}} for k, v in named.items()]


def message(role, content, **more):
    return {"role": role, "parts": [{"type": "text", "content": content}], **more}


def chat(number, messages, reply):
    held = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m-1",
        "gen_ai.request.temperature": 0.5, "gen_ai.response.model": "m-1-2026", "gen_ai.response.id": f"r-{number}",
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "be brief"}]),
        "gen_ai.input.messages": json.dumps(messages),
        "gen_ai.output.messages": json.dumps([message("assistant", reply, finish_reason="stop")]),
    }  # fmt: skip
    return span(f"{number:016x}", "chat m-1", number * 1000, parent="f" * 16, attributes=attributes(**held))


def span(number, name, start, **more):
    parent = more.pop("parent", "")
    return {"traceId": "ab" * 16, "spanId": number, "parentSpanId": parent, "name": name, "kind": 3,
            "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 100), **more}  # fmt: skip


def trace():
    asked = [message("user", QUESTION)]
    spans = [
        span("f" * 16, "invoke_agent desk", 500, attributes=attributes(**{"gen_ai.operation.name": "invoke_agent"})),
        chat(1, asked, REPLY),
        chat(2, [*asked, message("assistant", REPLY), message("user", "Thanks.")], "Bye."),
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "some.package"}, "spans": spans}]}]}


PYTHON = """
import json, os, urllib.request
def ask(*messages, path="/chat/completions", base=os.environ["OPENAI_BASE_URL"], **changed):
    body = {"model": "m-1", "temperature": 0.5, "messages": [{"role": "system", "content": "be brief"}, *messages]} | changed
    request = urllib.request.Request(base + path, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]
asked = {"role": "user", "content": "Where is A1? I am jo@example.com."}
first = ask(asked)
print(first["content"])
print(ask(asked, {"role": "assistant", "content": first["content"]}, {"role": "user", "content": "Thanks."})["content"])
"""
NODE = """
const ask = async (...messages) => {
  const answer = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
    method: "POST", headers: {"content-type": "application/json", authorization: "Bearer " + process.env.OPENAI_API_KEY},
    body: JSON.stringify({model: "m-1", temperature: 0.5, messages: [{role: "system", content: "be brief"}, ...messages]})});
  return (await answer.json()).choices[0].message;
};
const asked = {role: "user", content: "Where is A1? I am jo@example.com."};
const first = await ask(asked);
console.log(first.content);
console.log((await ask(asked, first, {role: "user", content: "Thanks."})).content);
"""
SHELL = """
ask() { curl --silent --fail-with-body -H 'content-type: application/json' -d "$1" "$OPENAI_BASE_URL/chat/completions"; }
system='{"role": "system", "content": "be brief"}, {"role": "user", "content": "Where is A1? I am jo@example.com."}'
first=$(ask '{"model": "m-1", "temperature": 0.5, "messages": ['"$system"']}' | sed 's/.*"content":"\\([^"]*\\)".*/\\1/')
echo "$first"
ask '{"model": "m-1", "temperature": 0.5, "messages": ['"$system"', {"role": "assistant", "content": "'"$first"'"},
  {"role": "user", "content": "Thanks."}]}' | grep -q 'Bye' && echo Bye.
"""
PROGRAMS = {
    "python": (("agent.py", PYTHON), (sys.executable, "agent.py")),
    "node": (("agent.mjs", NODE), ("node", "agent.mjs")),
    "a shell with curl": (("agent.sh", SHELL), ("sh", "agent.sh")),
}


def converted(desk, trace):
    desk.write("trace.json", json.dumps(trace))
    desk.run("convert", "trace.json", "--out", "made")
    (made,) = (desk.folder / "made").glob("*.cassette.jsonl")
    return str(made)


@pytest.fixture
def cassette(desk):
    return converted(desk, trace())


def replayed(desk, cassette, command, *more, expect=0):
    done = desk.run("run", cassette, "--report", "report.json", *more, "--", *command, expect=expect)
    return done, json.loads((desk.folder / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_any_language_runs_from_its_cassette(name, desk, cassette):
    (file, text), command = PROGRAMS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    desk.write(file, text)
    done, report = replayed(desk, cassette, command)
    assert ("as_recorded", 2, 0, []) == (report["outcome"], report["served"], report["unused"], report["blocked"])
    first, second = done.out.splitlines()
    assert "Bye." == second
    assert first.startswith("It left for ")
    assert "jo@example.com" not in first + json.dumps(report)


@pytest.mark.parametrize(
    "levels",
    [LEVELS, frozenset({"seccomp"}), frozenset({"landlock"}), frozenset()],
    ids=["all", "seccomp", "landlock", "hooks"],
)
def test_the_stub_and_nothing_else_can_be_reached_at_any_level(levels, allowed, server, desk, cassette):
    if not levels - {LANDLOCK} <= {*allowed}:
        pytest.skip(f"this machine allows only {', '.join(allowed)}")
    desk.write(
        "agent.py",
        PYTHON
        + f"""
import socket
try:
    socket.create_connection(("127.0.0.1", {server.port}))
except OSError as error:
    print("refused")
""",
    )
    agent = str(desk.folder / "agent.py")
    found = start(open_for_replay(cassette), [sys.executable, agent], options=Options(), levels=levels)
    assert ("live_call_blocked", 4, 2) == (found.outcome, found.exit_code, found.report["served"])
    assert {f"127.0.0.1:{server.port}"} == {b["target"] for b in found.report["blocked"]}
    assert 2 == found.report["blocked"][0]["after"]
    assert 0 == server.hits


def test_a_changed_request_is_named_in_the_answer_and_in_the_report(desk, cassette):
    desk.write("agent.py", PYTHON.replace("first = ask(asked)", """
import urllib.error
try:
    first = ask(asked, temperature=0.7)
except urllib.error.HTTPError as error:
    print(error.code, json.load(error)["error"]["message"])
    raise SystemExit(1)"""))  # fmt: skip
    done, report = replayed(desk, cassette, (sys.executable, "agent.py"), expect=1)
    first = report["first_divergence"]
    assert ("request_changed", "request.params.temperature", 0.5, 0.7) == tuple(
        first[name] for name in ("kind", "path", "expected", "received")
    )
    assert done.out.startswith("400 otelreplay: seq 1 ")
    assert "request.params.temperature is 0.7, recorded was 0.5" in done.out


def test_a_provider_that_is_named_in_the_code_is_blocked_and_the_remedy_says_what_to_do(desk, cassette):
    desk.write("agent.py", PYTHON.replace('os.environ["OPENAI_BASE_URL"]', '"https://api.openai.com/v1"'))
    _, report = replayed(desk, cassette, (sys.executable, "agent.py"), expect=4)
    assert "api.openai.com" in report["blocked"][0]["target"]
    assert "OPENAI_BASE_URL" in report["first_divergence"]["remedy"]


def test_a_program_that_fails_where_the_recorded_one_did_not_ends_otherwise(desk, cassette):
    desk.write("agent.py", PYTHON + "raise SystemExit(3)\n")
    _, report = replayed(desk, cassette, (sys.executable, "agent.py"), expect=1)
    assert (3, 2) == (report["child_exit"], report["served"])


def test_a_program_that_asks_for_nothing_is_not_as_recorded(desk, cassette):
    _, report = replayed(desk, cassette, (sys.executable, "-c", ""), expect=1)
    assert ("events_unused", 2) == (report["first_divergence"]["kind"], report["unused"])


def test_a_command_that_is_not_there_is_no_replay(desk, cassette):
    _, report = replayed(desk, cassette, ("no-such-program",), expect=1)
    assert 127 == report["child_exit"]


def test_tools_of_the_cassette_that_nothing_stands_in_for_are_listed_before_the_start(desk):
    made = trace()
    spans = made["resourceSpans"][0]["scopeSpans"][0]["spans"]
    held = attributes(**{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up"})
    spans.append(span("3" * 16, "execute_tool look_up", 1500, parent="f" * 16, attributes=held))
    cassette = converted(desk, made)
    desk.write("agent.py", "open('ran', 'w')")
    done = desk.run("run", cassette, "--tool", "agent:other", "--", sys.executable, "agent.py", expect=2)
    assert ("look_up", True) == (next(w for w in ("look_up", "other") if w in done.err), "run.tools_uncovered" in done.err)
    assert not (desk.folder / "ran").exists()


# ---- the environment ---------------------------------------------------------------------------------------------------


def test_every_spelling_of_a_base_url_leads_to_the_stub():
    got = towards("http://h:1/T")
    assert {"http://h:1/T"} == {"/".join(v.split("/")[:4]) for n, v in got.items() if not n.endswith("KEY")}
    assert ("http://h:1/T/openai/v1", "http://h:1/T/anthropic") == (got["OPENAI_BASE_URL"], got["ANTHROPIC_BASE_URL"])


def test_keys_are_made_up_for_the_providers_of_the_recording_alone():
    one = {n for n in towards("b", providers=["anthropic"]) if n.endswith("API_KEY")}
    azure = {n for n in towards("b", providers=["azure.ai.openai"]) if n.endswith("API_KEY")}
    none = {n for n in towards("b") if n.endswith("API_KEY")}
    assert ({"ANTHROPIC_API_KEY"}, {"AZURE_OPENAI_API_KEY"}) == (one, azure)
    assert {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"} == none


def test_a_key_that_is_there_is_not_put_beside_another():
    got = towards("b", providers=["gcp.gemini"], environ={"GEMINI_API_KEY": NO_CREDENTIAL})
    assert "GOOGLE_API_KEY" not in got


def test_ways_around_the_provider_are_taken_out():
    kept = without_detours({"https_proxy": "p", "HTTP_PROXY": "p", "CLAUDE_CODE_USE_BEDROCK": "1", "PATH": "x"})
    assert {"PATH": "x"} == kept


# ---- tools -------------------------------------------------------------------------------------------------------------


def test_a_tool_is_named_by_its_function_unless_told_otherwise():
    got = tools.parse(["desk.tools:lookup", "refund=desk.tools:Tools.pay", "a=b=m:f"])
    assert [("lookup", "desk.tools:lookup"), ("refund", "desk.tools:Tools.pay"), ("a=b", "m:f")] == [
        (t.name, t.target) for t in got
    ]


@pytest.mark.parametrize("text", ["", "lookup", "desk:", ":f", "=m:f", "a="])
def test_what_names_no_tool_is_refused(text):
    with pytest.raises(UsageError):
        tools.parse([text])


def test_the_base_url_of_this_process_is_not_changed():
    assert "OTELREPLAY_RUN_STUB" not in os.environ
    assert HOOKS not in LEVELS
