"""Small recordings for these tests: written as spans of decorated functions and read by the real reconstruction."""

import json
from dataclasses import replace

from otelreplay import canonical
from otelreplay.boundary import Call, ReplayStopped
from otelreplay.cassette import Cassette, header_for
from otelreplay.events import Recording
from otelreplay.pipeline.stamp import with_keys
from otelreplay.reconstruct import reconstruct
from otelreplay.redaction import PseudonymKey, compile_policy, load_policy, off_policy
from otelreplay.replay import ReplayInterceptor, Session
from otelreplay.spans import Scope, Span

TRACE = "ab" * 16
KEY = PseudonymKey(secret=b"the key of the recording side 00")
OTHER_KEY = PseudonymKey(secret=b"an ephemeral key for a replay 00")
OWN = Scope(name="otelreplay", version="0.1")


def dumps(value):
    return canonical.dumps(value).decode()


def text(role, content):
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def asks(*calls, said=None):
    """An assistant message that asks for tools: (id, name, arguments)."""
    parts = [{"type": "text", "content": said}] if said else []
    return {
        "role": "assistant",
        "parts": parts + [{"type": "tool_call", "id": i, "name": n, "arguments": a} for i, n, a in calls],
    }


def result(call_id, value):
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": value}]}


def attributes(kind, name, **fields):
    """The attributes that a call of a decorated function has at its start."""
    out = {"otelreplay.kind": kind}
    if kind == "tool":
        out |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
        if "call_id" in fields:
            out["gen_ai.tool.call.id"] = fields["call_id"]
        out["gen_ai.tool.call.arguments"] = dumps(fields.get("arguments", {}))
    elif kind == "model":
        out |= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "demo",
            "gen_ai.request.model": fields.get("model", "m"),
        }
        out["gen_ai.input.messages"] = json.dumps(fields.get("messages", []))
        if "system" in fields:
            out["gen_ai.system_instructions"] = json.dumps([{"type": "text", "content": fields["system"]}])
        if "tools" in fields:
            out["gen_ai.tool.definitions"] = json.dumps(fields["tools"])
        out |= {f"gen_ai.request.{key}": value for key, value in fields.get("params", {}).items()}
    elif kind == "agent":
        out |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        if "input" in fields:
            out["otelreplay.input"] = dumps(fields["input"])
    elif kind == "retrieval":
        out |= {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.data_source.id": name,
            "gen_ai.retrieval.query.text": fields["query"],
        }
    elif kind == "state":
        out["otelreplay.arguments"] = dumps(fields.get("arguments", {}))
    if "version" in fields:
        out["otelreplay.version"] = fields["version"]
    return out


def call(kind, name, *, parent=None, where="agent.py:7", stream=False, **fields):
    """A live call of a decorated function."""
    return Call(
        kind=kind, name=name, attributes=attributes(kind, name, **fields), parent=parent, function=f"agent:{name}", where=where,
        stream=stream,
    )  # fmt: skip


class Tape:
    """Writes the spans of a run in order. Each boundary starts after the one before it unless ``at`` says otherwise."""

    def __init__(self):
        self.spans = []
        self.now = 1_000

    def add(
        self, kind, name, *, parent=None, at=None, took=50, ended=True, done=None, error=None, scope=OWN, extra=None, **fields
    ):
        n = len(self.spans) + 1
        start = self.now if at is None else at
        self.now = max(self.now, start) + (1 if kind == "agent" else 100)
        held = attributes(kind, name, **fields) | (done or {}) | (extra or {})
        if error is not None:
            held |= {"error.type": error[0]}
            if len(error) > 1:
                held["otelreplay.error"] = dumps(error[1])
        self.spans.append(
            Span(
                trace_id=TRACE,
                span_id=f"{n:016x}",
                parent_span_id="" if parent is None else f"{parent:016x}",
                name=f"{kind} {name}",
                start=start,
                end=(10**9 if kind == "agent" else start + took) if ended else 0,
                attributes=held,
                scope=scope,
                status_code=0 if error is None else 2,
            )
        )
        return n

    def agent(self, name="desk", output=None, **more):
        done = {} if output is None else {"otelreplay.output": dumps(output)}
        return self.add("agent", name, done=done, **more)

    def model(self, messages, reply=None, **more):
        done = {}
        if reply is not None:
            if not isinstance(reply, str):
                done["otelreplay.result"] = dumps(more.pop("give", reply))
            reply = text("assistant", reply) if isinstance(reply, str) else reply
            done["gen_ai.output.messages"] = json.dumps([{**reply, "finish_reason": "stop"}])
        return self.add("model", "m", messages=messages, done=done, **more)

    def tool(self, name, arguments=None, give=None, **more):
        done = {} if more.get("error") else {"gen_ai.tool.call.result": dumps(give)}
        return self.add("tool", name, arguments=arguments or {}, done=done, **more)

    def made(self, kind, give, **more):
        """A clock, random number or id."""
        return self.add(kind, kind, done={"otelreplay.result": dumps(give)}, **more)

    def recording(self, policy=None):
        redactor = compile_policy(policy or off_policy(), key=KEY)
        made = reconstruct([redactor.span(span) for span in self.spans])
        recording, placeholders = redactor.recording_with_placeholders(made)
        return with_keys(recording), placeholders

    def cassette(self, policy=None, **changes):
        recording, placeholders = self.recording(policy)
        return cassette_of(
            replace(recording, **changes), placeholders=[{f: getattr(p, f) for f in p.__struct_fields__} for p in placeholders]
        )


def cassette_of(recording, **members):
    """A cassette as reading gives it, without the writing."""
    return Cassette(
        header=header_for(recording, **members), events=recording.events, missing=recording.missing, notes=recording.notes
    )


def run_of(events, **more):
    return Recording(run_id="ab12", trace_ids=(TRACE,), events=tuple(events), **more)


def session(cassette, policy=None, **more):
    """A session as a replay makes it: the same policy, another key."""
    return Session(cassette, redactor=compile_policy(policy or off_policy(), key=OTHER_KEY), **more)


class Player:
    """A replay with its messages; calls give values or raise what was recorded."""

    def __init__(self, cassette, policy=None, **more):
        self.session = session(cassette, policy, **more)
        self.messages = []
        self.hook = ReplayInterceptor(self.session, self.messages.append)

    def call(self, kind, name, **fields):
        return self.hook.call(call(kind, name, **fields))

    def get(self, kind, name, **fields):
        answer = self.call(kind, name, **fields)
        if hasattr(answer, "error") and not hasattr(answer, "chunks"):
            raise answer.error
        return answer.value

    def enter(self, name="desk", **fields):
        return self.hook.enter(call("agent", name, **fields))

    def leave(self, token, value=None, **more):
        self.hook.leave(token, value=value, **more)

    def result(self, **more):
        return self.session.result(**more)


def policy(*rules):
    """A policy of these rules, in the words of YAML: ``detector: email, action: mask``."""
    lines = [f"  - {{id: {name}, {rule}}}" for name, rule in rules]
    return load_policy("\n".join(["version: 1", "name: test", "rules:", *lines]), "test")


def desk(turns=2, *, params=None):
    """The calls of an agent that asks a model, runs the tool that it names, and tells it the result: (kind, name, fields)."""
    history, steps = [text("user", "Where are my orders?")], []
    for n in range(turns):
        asked = asks((f"call_{n}", "find", {"order": f"A-{n}", "limit": 5}))
        steps.append(
            ("model", "m", {"messages": list(history), "system": "Be brief.", "params": params or {"temperature": 0.5}}, asked)
        )
        steps.append(
            ("tool", "find", {"arguments": {"order": f"A-{n}", "limit": 5}, "call_id": f"call_{n}"}, {"state": f"s{n}"})
        )
        history += [asked, result(f"call_{n}", {"state": f"s{n}"})]
    steps.append(
        ("model", "m", {"messages": list(history), "system": "Be brief.", "params": params or {"temperature": 0.5}}, "done")
    )
    return steps


def record(steps, *, output="done", policy=None, agent_ended=True, **more):
    """The cassette of an agent that makes these calls one after the other."""
    tape = Tape()
    agent = tape.agent(input={"q": "orders"}, output=output, ended=agent_ended)
    for kind, name, fields, gave in steps:
        if kind == "model":
            tape.model(parent=agent, reply=gave, **fields)
        elif kind == "tool":
            tape.tool(name, give=gave, parent=agent, **fields)
        else:
            tape.made(kind, gave, parent=agent, **fields)
    return tape.cassette(policy, **more)


def play(player, steps, *, output="done"):
    """The program makes these calls until it is stopped; its result."""
    try:
        token = player.enter(input={"q": "orders"})
        for n, (kind, name, fields, _) in enumerate(steps):
            player.get(kind, name, parent=token, where=f"agent.py:{n + 1}", **fields)
        player.leave(token, output)
    except ReplayStopped:
        pass
    return player.result()


def first(cassette, steps, **more):
    """The first divergence of a program that makes these calls."""
    return play(Player(cassette, **more), steps).first_divergence
