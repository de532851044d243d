"""``docs/cassette-format.md`` is enough to read and verify a cassette: this reader knows nothing but the document.

It is written on purpose without anything of otelreplay: the standard library, and Ed25519 of ``cryptography``.
"""

import base64
import hashlib
import json
import re

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from otelreplay.canonical import encoding
from otelreplay.cassette import forms, header, limits, seal, unpack
from otelreplay.events import Event, Message, Missing, Note, Recording, Redaction
from tests.cassette import runs
from tests.project.house import ROOT

DOCUMENT = (ROOT / "docs" / "cassette-format.md").read_text(encoding="utf-8")
OBJECTS = ("request", "request_keys", "response", "attributes", "versions")


def example():
    """The recording of the document's example."""
    asked = runs.text("user", "Where is order A-17? Write to <email-1>.",
                      Redaction(field="parts[0].content", rule="email", action="pseudonym"))  # fmt: skip
    call = {"type": "tool_call", "id": "c1", "name": "lookup", "arguments": {"order": "A-17", "weight": 4.0}}
    wanted = Message({"role": "assistant", "parts": [call]})
    got = Message({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"$ref": "x"}}]})
    events = (
        Event(seq=0, id="0a/01", kind="model", name="chat m", spans=["0a/01"], request={"model": "m", "messages": [asked]},
              response={"messages": [wanted]}, start="1790000000000000000", end="1790000000250000000"),
        Event(seq=1, id="0a/02", kind="tool", name="lookup", spans=["0a/02"], after=[0], effect="read",
              request={"arguments": call["arguments"], "call_id": "c1"}, response={"result": {"$ref": "x"}},
              attributes={"raw": b"\x00\xff", "ratio": float("inf")}),
        Event(seq=2, id="0a/03", kind="model", name="chat m", spans=["0a/03", "0a/04"], after=[1],
              request={"model": "m", "messages": [asked, wanted, got]},
              missing=[Missing(field="response", cause="never_ended", remedy="flush at exit")]),
    )  # fmt: skip
    return Recording(run_id="5eed", trace_ids=("0a",), events=events, span_count=4,
                     missing=(Missing(field="tool", cause="span_not_received"),),
                     notes=(Note(code="clock_skew", message="a child began before its parent", spans=("0a/02",)),))  # fmt: skip


def example_lines():
    return runs.seal(example(), created="2026-01-31T12:00:00Z", retention={"expires": "2026-03-02T00:00:00Z"})


def test_the_example_is_what_the_writer_makes():
    """After a change of the writer: print ``example_lines()`` and put it there."""
    assert shown() == b"".join(example_lines())


def shown():
    (block,) = re.findall(r"```text\n(\{\"type\":\"header\".*?\n)```", DOCUMENT, re.DOTALL)
    return block.encode()


# --- the reader of the document -------------------------------------------------------------------------------------------


def sha256(data):
    return hashlib.sha256(data).digest()


def root_of(leaves):
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return sha256(b"\x01" + root_of(leaves[:split]) + root_of(leaves[split:]))


def checked(data):
    """The parsed lines, if the seal is over them."""
    lines = data.splitlines(keepends=True)
    *before, last = lines
    stated = json.loads(last)
    leaves = [sha256(b"\x00" + line) for line in before]
    assert stated["root"] == root_of(leaves).hex()
    assert stated["checks"] == "".join(leaf.hex()[:6] for leaf in leaves)
    cut = last.rindex(b',"signature":')
    public = bytes.fromhex(stated["public"])
    assert stated["signer"] == sha256(public).hex()[:32]
    key = Ed25519PublicKey.from_public_bytes(public)
    key.verify(base64.b64decode(stated["signature"]), b"otelreplay seal 1\n" + last[:cut] + b"}")
    kinds = [json.loads(line)["type"] for line in before]
    assert (stated["lines"], stated["events"], stated["blobs"]) == (len(before), kinds.count("event"), kinds.count("blob"))
    return before, stated


def plain(value):
    """Typed values, as far as the example has some."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$otelreplay" not in value:
        return {key: plain(item) for key, item in value.items()}
    if value["$otelreplay"] == "bytes":
        return base64.b64decode(value["base64"])
    return float(value["value"])


class Reader:
    """Blobs and lists, as the document has them."""

    def __init__(self):
        self.blobs, self.lists = {}, {}

    def blob(self, line):
        start = b'{"type":"blob","id":"'
        name, body = line[len(start) : len(start) + 32].decode(), line[len(start) + 34 : -1]
        assert name == sha256(body).hex()[:32]
        self.blobs[name] = json.loads(line)

    def named(self, name):
        found = self.blobs[name]
        return plain(found["message"] if "message" in found else found["value"])

    def slot(self, value):
        form = next(iter(value), "") if isinstance(value, dict) else ""
        if form == "$ref":
            return self.named(value["$ref"])
        if form == "$value":
            return plain(value["$value"])
        if form != "$list":
            return plain(value)
        base, added = value["$list"].get("base", ""), value["$list"].get("append", [])
        if not added:
            return self.lists[base]
        name = sha256((base + "".join(added)).encode()).hex()[:32]
        self.lists[name] = (self.lists[base] if base else []) + [self.named(item) for item in added]
        return self.lists[name]

    def members(self, value):
        form = next(iter(value), "")
        if form == "$ref":
            return self.named(value["$ref"])
        if form == "$like":
            name, changed = value["$like"]
            value = self.blobs[name]["object"] | changed
        elif form == "$value":
            value = value["$value"]
        return {name: self.slot(item) for name, item in value.items()}

    def event(self, line):
        found = {n: self.members(v) if n in OBJECTS else self.slot(v) for n, v in json.loads(line).items() if n != "type"}
        found.setdefault("spans", [found["id"]])
        if "request_hash" not in found and found.get("request_keys"):
            canonical = json.dumps(found["request_keys"], sort_keys=True, separators=(",", ":"))
            found["request_hash"] = "sha256:" + sha256(canonical.encode()).hex()
        return found


def read(data):
    lines, stated = checked(data)
    reader, events = Reader(), []
    for line in lines:
        kind = json.loads(line)["type"]
        if kind == "blob":
            reader.blob(line)
        elif kind == "event":
            events.append(reader.event(line))
    return json.loads(lines[0]), events, stated


def test_the_example_reads_as_the_document_says():
    head, events, stated = read(shown())
    assert (head["format"], head["run_id"], head["created"]) == (header.FORMAT, "5eed", "2026-01-31T12:00:00Z")
    assert [Event.model_validate(event) for event in events] == list(example().events)
    assert stated["completeness"]["missing"] == [{"field": "tool", "cause": "span_not_received"}]
    assert stated["completeness"]["notes"][0]["code"] == "clock_skew"


def test_a_long_run_reads_as_the_document_says():
    """With everything the example has no room for: prefixes of prefixes, shared members, hashes that are left out."""
    run = runs.chat(12, size=2000)
    data = b"".join(runs.seal(run))
    assert all(form in data for form in (b'"$ref"', b'"$list":{"base"', b'"$like"', b'"append"'))
    assert [Event.model_validate(event) for event in read(data)[1]] == list(run.events)


def test_an_altered_example_does_not_verify():
    for old, new in ((b'"lookup"', b'"loopup"'), (b'"never_ended"', b'"truncated__"'), (b'"clock_skew"', b'"clock_okay"')):
        with pytest.raises((AssertionError, InvalidSignature)):
            read(shown().replace(old, new))


# --- the document is complete ---------------------------------------------------------------------------------------------


def table(heading):
    """First cells of the table below a heading."""
    section = DOCUMENT.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [name for row in re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)]


def test_every_member_of_the_header_is_described():
    assert set(table("Line 1: the header")) == {"type", *header.Header.model_fields}


def test_every_member_of_the_seal_is_described():
    stated = json.loads(example_lines()[-1])
    assert table("The last line: the seal") == list(stated)


def test_every_typed_value_is_described():
    assert set(table("Typed values")) == set(re.findall(r"^    ``(\w+)``", encoding.__doc__, re.MULTILINE))


def test_every_form_is_described():
    assert set(re.findall(r"`\{\"(\$\w+)\":", DOCUMENT)) >= forms._FORMS
    assert OBJECTS == tuple(sorted(forms.OBJECTS, key=OBJECTS.index))
    assert all(f"`{name}`" in DOCUMENT for name in (*forms.OBJECTS, *forms.LISTS))


def test_every_limit_is_described_with_its_default():
    stated = dict(re.findall(r"^\| `(\w+)` \| ([\d ]+) \|", DOCUMENT.split("## Limits\n", 1)[1], re.MULTILINE))
    found = {name: getattr(limits.DEFAULT_LIMITS, name) for name in limits.Limits.__slots__}
    assert {name: int(number.replace(" ", "")) for name, number in stated.items()} == found


def test_the_constants_of_the_document_are_those_of_the_code():
    assert f"`{seal.DOMAIN.decode()[:-1]}`" in DOCUMENT
    assert f"`{header.FORMAT}`" in DOCUMENT
    assert unpack.BLOB_PREFIX.decode() in DOCUMENT
