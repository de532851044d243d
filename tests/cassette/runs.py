"""Recordings and cassettes for these tests."""

import base64
import io

from otelreplay import canonical
from otelreplay.cassette import Signer, TrustStore, header_for, read_cassette, verify_cassette, write_cassette
from otelreplay.cassette.forms import blob_id
from otelreplay.cassette.merkle import MerkleTree
from otelreplay.cassette.seal import DOMAIN
from otelreplay.events import Event, Inferred, Message, Missing, Note, Recording, Redaction

SIGNER = Signer(bytes(range(32)))
TRUST = TrustStore([SIGNER.public])
TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(number):
    return f"{TRACE}/{number:016x}"


def text(role, said, *marks):
    return Message({"role": role, "parts": [{"type": "text", "content": said}]}, marks)


def digest(value):
    return canonical.digest_value(value)


def chat(turns, *, size=300):
    """An agent whose every model call repeats the history and asks for one tool."""
    tools = [{"type": "function", "name": f"tool_{n}", "description": f"{n} " + "does things " * 8} for n in range(3)]
    system = [{"type": "text", "content": "You are an order desk. " * 20}]
    history, events = [text("user", "Where is my order? ")], []
    for turn in range(turns):
        call = {"type": "tool_call", "id": f"call_{turn}", "name": "tool_1", "arguments": {"order": f"A-{turn}", "n": 4.0}}
        asked = Message({"role": "assistant", "parts": [call]})
        result = f"{turn} " + "x" * size
        keys = {"model": digest("m"), "system": digest(system), "messages": digest(turn), "params.temperature": digest(0.5)}
        events.append(Event(
            seq=2 * turn, id=span(2 * turn), kind="model", name="chat m", spans=[span(2 * turn)], agent="order-desk",
            after=[2 * turn - 1] if turn else [], start=str(1_790_000_000_000_000_000 + turn), request_keys=keys,
            request={"model": "m", "params": {"temperature": 0.5}, "system": system, "messages": list(history), "tools": tools},
            response={"messages": [asked], "finish_reasons": ["tool_call"], "usage": {"input_tokens": turn}},
            request_hash=canonical.digest_value(keys), attributes={"server.address": "api.example.com", "server.port": 443},
        ))  # fmt: skip
        events.append(Event(
            seq=2 * turn + 1, id=span(2 * turn + 1), kind="tool", name="tool_1", spans=[span(2 * turn + 1)], after=[2 * turn],
            request={"arguments": call["arguments"], "call_id": call["id"]}, response={"result": result}, effect="read",
        ))  # fmt: skip
        history += [asked, text("tool", result)]
    return Recording(run_id="ab12", trace_ids=(TRACE,), events=tuple(events), span_count=2 * turns)


def marked():
    """A small run with one of everything that a cassette keeps."""
    asked = text("user", "To <email-1>", Redaction(field="parts[0].content", rule="email", action="pseudonym"))
    lost = text("user", "", Missing(field="parts[0].content", cause="truncated", remedy="raise the limit"),
                Inferred.model_validate({"field": "role", "from": span(9), "rule": "r", "later": 1}))  # fmt: skip
    gap = Missing(field="response", cause="content_not_captured", detail="no content", remedy="set SWITCH " * 12)
    events = (
        Event(seq=0, id=span(0), kind="agent", name="desk", request={"input": asked}, spans=[]),
        Event(seq=3, id=span(1), kind="model", name="chat", request={"messages": [asked, lost]}, missing=[gap], parent=0,
              response={"messages": []}, error={"type": "TimeoutError"}, spans=[span(1), span(2)], later={"x": [1]}),
        Event(seq=4, id=span(2), kind="model", name="chat", request={"messages": [asked, lost, lost]}, missing=[gap],
              request_keys={"model": digest("m")},
              inferred=[Inferred.model_validate({"field": "x", "from": "y", "rule": "z"})]),
        Event(seq=5, id=span(3), kind="tool", name="t", request={"arguments": {"$ref": "x"}}, response={"result": None},
              missing=[gap], attributes={"$ref": 1, "b": b"\x00\xff", "n": 2**70, "t": (1, "\ud83e")}),
    )  # fmt: skip
    return Recording(
        run_id="cd34", trace_ids=(TRACE, "ff"), events=events, span_count=4, log_count=2, continues="session-1",
        missing=(Missing(field="model", cause="span_not_received"),), notes=(Note(code="n", message="m", spans=(span(1),)),),
        resources=({"service.name": "desk", "blob": b"\x01"},), scopes=("lib 1.0",),
    )  # fmt: skip


def seal(recording, signer=SIGNER, **members):
    """The lines of a sealed cassette; ``members`` are changes to its header."""
    return list(write_cassette(recording, header=header_for(recording, **members), signer=signer))


def read(lines, **options):
    return read_cassette(io.BytesIO(b"".join(lines)), **options)


def verify(data, **options):
    return verify_cassette(io.BytesIO(data if isinstance(data, bytes) else b"".join(data)), **{"trust": TRUST, **options})


def blob(body):
    """(id, line) of a blob with these stored bytes."""
    name = blob_id(body)
    return name, b'{"type":"blob","id":"%s",%s\n' % (name.encode(), body)


def event(seq, **members):
    """An event line with these raw members."""
    head = {"type": "event", "seq": seq, "id": "t/s", "kind": "tool", "name": "n"}
    return canonical.dumps(head | members) + b"\n"


HEADER = seal(chat(0))[0]


def resealed(lines, /, signer=SIGNER, **changed):
    """Put a genuine seal over any lines: what a hostile but well-equipped writer would do."""
    tree = MerkleTree()
    checks = "".join(tree.add(line)[:3].hex() for line in lines)
    counted = [sum(line.startswith(b'{"type":"%s"' % kind) for line in lines) for kind in (b"event", b"blob")]
    members = {
        "type": "seal", "lines": len(lines), "events": counted[0], "blobs": counted[1], "root": tree.root(), "checks": checks,
        "completeness": {}, **changed, "signer": signer.key_id, "public": signer.public.hex(),
    }  # fmt: skip
    signed = canonical.dumps(members)
    text = base64.b64encode(signer.sign(DOMAIN + signed))
    return [*lines, signed[:-1] + b',"signature":"%s"}\n' % text]
