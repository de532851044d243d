"""The short ways say "nothing here" only where the careful way changes nothing."""

import base64
import json
import urllib.parse

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otelreplay.events import Event, Message, Missing, Note, Recording, Redaction
from otelreplay.redaction import is_placeholder
from otelreplay.redaction.memory import Memory
from otelreplay.redaction.recording import EventPass
from otelreplay.spans import Resource, Scope, Span
from tests.redaction.samples import B62, CARD, EMAIL, PASSWORD, PII, SECRETS, redactor, rules

RESOURCE = Resource(attributes={"service.name": "agent"})
SCOPE = Scope(name="instrumentation", version="2.3")
WALLET = "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"
FINDS = st.sampled_from(
    [
        *SECRETS.values(),
        *PII.values(),
        WALLET,
        f"password={PASSWORD}",
        f"Bearer {B62[:40]}",
        f"https://u:{PASSWORD}@host/x",
        f"https://h/?sig={B62[:30]}",
        "4111 1111 1111 1111",
        "born on 27.10.1998",
        "DNI: X06222719W",
        "call me at 0121 496 0123",
        "[REDACTED:secret]",
        "aaaaaaaaaaaaaaaa@email.invalid",
        "[card#aaaaaaaaaaaaaaaa]",
        "[DROPPED:x]",
        "[TRUNCATED:x]",
    ]
)
WORDS = st.sampled_from(
    [
        "the order is amber",
        "",
        'a list: ["a", "b"]',
        "key: value",
        "call_0123456789abcdef",
        "chatcmpl-35bf992dc9e9c616612e",
        "CamelCaseIdentifierOfSorts",
        "a == b",
        "2026-11-30 21:53:04",
        "x\ny\tz",
        "é\ud800",
        '{"a": [1, 2]}',
        "#",
        "[",
        ".invalid",
        "the \"text\" and 'content'",
        "1.5 2.25 1000000000",
        "pass the token",
        "basic concepts",
        '"d" "p"',
        "api.example.com",
    ]
)
ENCODINGS = st.sampled_from(
    [
        lambda t: t,
        lambda t: "\n" + t,
        lambda t: json.dumps({"a": "\t" + t}),
        lambda t: json.dumps({"a": json.dumps(["x\n" + t])}),
        lambda t: json.dumps({"a": json.dumps({"b": json.dumps(t, ensure_ascii=False)})}),
        lambda t: base64.b64encode(_bytes(t)).decode(),
        lambda t: "see " + base64.urlsafe_b64encode(_bytes(t)).decode().rstrip("=") + "\nend",
        lambda t: urllib.parse.quote(t, safe="", errors="replace"),
        lambda t: "".join(f"\\u{ord(c):04x}" for c in t),
        lambda t: "".join(f"\\x{ord(c):02x}" if ord(c) < 256 else c for c in t),
        lambda t: t.replace("/", "\\/"),
        lambda t: json.dumps({"content": t[: len(t) // 2]}) + "\n" + json.dumps({"content": t[len(t) // 2 :]}),
        lambda t: json.dumps([t[: len(t) // 2], t[len(t) // 2 :]]),
    ]
)


def _bytes(text):
    return text.encode("utf-8", "replace")


TEXTS = st.one_of(WORDS, WORDS, st.builds(lambda a, t, b, e: e(f"{a} {t} {b}".strip()), WORDS, FINDS, WORDS, ENCODINGS), FINDS)
KEYS = st.sampled_from(["x", "path", "content", "text", "value", "name", "password", "phone", "location", "data", "id", EMAIL])
LEAVES = st.one_of(TEXTS, st.integers(0, 10**6), st.sampled_from([int(CARD), float(CARD), 12345678, None, True, 0.5, b"t\xff"]))
TREES = st.recursive(LEAVES, lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(KEYS, v, max_size=3)), max_leaves=5)


def _split(text, at):
    return [{"type": "text", "content": text[:at]}, {"type": "text", "content": text[at:]}]


PARTS = st.one_of(
    TEXTS.map(lambda t: [{"type": "text", "content": t}]),
    st.builds(_split, TEXTS, st.integers(1, 12)),
    TREES.map(lambda v: [{"type": "tool_call", "id": "call_0123456789abcdef", "name": "f", "arguments": v}]),
    TREES.map(lambda v: [{"type": "tool_call_response", "id": "call_0123456789abcdef", "response": v}]),
)
MESSAGES = st.builds(lambda role, parts: {"role": role, "parts": parts}, st.sampled_from(["user", "tool", "assistant"]), PARTS)
RUNS = st.lists(st.lists(MESSAGES, min_size=1, max_size=2), min_size=1, max_size=4)
STYLES = st.sampled_from([{}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"sort_keys": True}])
PADDING = {"role": "system", "parts": [{"type": "text", "content": "plain words and no more. " * 24}]}


def plain(value):
    """Bytes have no JSON."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value


def spans(run, style, note):
    """One span a turn; the history grows."""
    history = [PADDING]
    for n, turn in enumerate(run):
        history = history + plain(turn)
        yield span(
            **{"gen_ai.input.messages": json.dumps(history, **style), "n": n, "note": note, "reasons": ["stop"]},
            **{"gen_ai.output.messages": json.dumps(plain(turn), **style), "id": f"chatcmpl-{n:024x}"},
        )


def span(**attributes):
    return Span(trace_id="a", span_id="b", name="chat", attributes=attributes, resource=RESOURCE, scope=SCOPE)


def careful():
    """A redactor that takes no short way."""
    ready = redactor()
    ready._walker._quick = None
    ready._scanner.walk = lambda *_: False
    return ready


def quick():
    """A redactor that has seen spans of this kind before, so that its short way is open."""
    ready = redactor()
    for _ in range(2):
        for one in spans([[{"role": "user", "parts": []}]], {}, "x"):
            assert ready.span(one) is one
    return ready


@given(RUNS, STYLES, TEXTS)
@settings(max_examples=200, deadline=None)
def test_the_short_way_of_spans_gives_what_the_careful_way_gives(run, style, note):
    short, long = quick(), careful()
    for one in spans(run, style, note):
        assert short.span(one) == long.span(one)


@given(st.lists(TEXTS, max_size=4))
@settings(max_examples=200, deadline=None)
def test_texts_that_are_silent_together_stay_each_by_itself(texts):
    short, long = redactor(), careful()
    if short._scanner.silent(texts):
        for text in texts:
            assert long.text(text) == text
            assert long.text(json.dumps({"x": text})) == json.dumps({"x": text})


@given(TREES)
@settings(max_examples=200, deadline=None)
def test_a_tree_of_texts_that_all_stay_stays(value):
    texts: list[str] = []
    if redactor()._gatherer.walk(value, texts, set()) and all(careful().text(t) == t for t in texts):
        assert careful().value(value) is value


@given(RUNS, TREES, TEXTS)
@settings(max_examples=150, deadline=None)
def test_the_short_way_of_events_gives_what_the_careful_way_gives(run, value, text):
    events, history = [], [Message(PADDING)]
    for n, turn in enumerate(run):
        history = history + [Message(m) for m in turn]
        events.append(
            Event(
                seq=2 * n,
                id=f"t/{n}",
                kind="model",
                name="chat",
                agent="coder",
                attributes={"a": value, "n": n},
                request={"messages": history, "tools": [{"name": "f", "description": text}], "model": "gpt-5"},
                response={"messages": [Message(turn[0])], "id": f"chatcmpl-{n:024x}"},
            )
        )
        events.append(
            Event(seq=2 * n + 1, id=f"t/{n}#c", kind="tool", name="f", request={"arguments": value}, response={"result": text})
        )
    recording = Recording(
        run_id="0", trace_ids=("t",), events=tuple(events), notes=(Note(code="x", message=text),), resources=({"a": value},)
    )
    short, table = redactor().recording_with_placeholders(recording)
    long, full = unhurried(recording)
    assert table == full
    assert short == long
    for one, other in zip(short.events, long.events, strict=True):
        assert [m.marks for m in one.request.get("messages", ())] == [m.marks for m in other.request.get("messages", ())]


def unhurried(recording):
    """The recording by the careful way alone."""
    ready = careful()
    run = EventPass(
        judge=ready._judge,
        structure=ready._structure,
        rules=ready._rules,
        mails=ready._mails,
        too_deep="[REDACTED:unwalkable]",
        gatherer=ready._gatherer,
    )
    run._untouched = None
    return run.recording(recording), tuple(sorted(run.found.values()))


def test_a_clean_run_is_taken_the_short_way():
    """Else all of this would prove nothing."""
    ready = quick()
    ready._walker._careful = None
    run = [[{"role": "user", "parts": [{"type": "text", "content": "where is my parcel"}]}]] * 3
    for one in spans(run, {}, "x"):
        assert ready.span(one) is one


def test_a_clean_recording_keeps_its_events_and_asks_the_gates_once_an_event(monkeypatch):
    asked = []
    ready = redactor()
    real = ready._scanner.silent
    monkeypatch.setattr(ready._scanner, "silent", lambda texts: asked.append(texts) or real(texts))
    history, events = [], []
    for n in range(5):
        history = [*history, Message({"role": "user", "parts": [{"type": "text", "content": f"question {n}"}]})]
        events.append(Event(seq=n, id=f"t/{n}", kind="model", name="chat", request={"messages": history}))
    done = ready.recording(Recording(run_id="0", trace_ids=("t",), events=tuple(events)))
    assert all(a is b for a, b in zip(done.events, events, strict=True))
    assert len(asked) == 5 + 1, "one for each event, one for the rest"
    assert sum("question 0" in texts for texts in asked) == 1


def test_a_history_that_was_changed_goes_on_from_its_redacted_beginning(monkeypatch):
    ready = quick()
    secret = {"role": "user", "parts": [{"type": "text", "content": f"use {SECRETS['github']}"}]}
    turns = [[secret], *([{"role": "user", "parts": [{"type": "text", "content": f"and then {n}"}]}] for n in range(3))]
    first, *others = spans(turns, {}, "x")
    ready.span(first)
    monkeypatch.setattr(ready._scanner, "text", None)
    for one in others:
        done = ready.span(one).attributes["gen_ai.input.messages"]
        assert SECRETS["github"] not in done
        assert json.loads(done)[1]["parts"][0]["content"] == "use [REDACTED:secret]"
        assert json.loads(done)[2:] == json.loads(one.attributes["gen_ai.input.messages"])[2:]


def test_what_follows_a_known_beginning_is_not_taken_for_its_end():
    """The known text ends before a bracket; more may follow the bracket."""
    ready = redactor()
    start = json.dumps([PADDING])
    ready.text(start)
    for rest in (f"] {SECRETS['github']}", f', {{"role": "user", "parts": ["{SECRETS["github"]}"]}}]', f"]{EMAIL}]"):
        assert ready.text(start[:-1] + rest) == redactor().text(start[:-1] + rest) != start[:-1] + rest


def test_what_is_removed_whole_is_listed_though_the_history_is_known():
    deep = "x " + SECRETS["github"]
    for _ in range(14):
        deep = json.dumps([deep])
    ready = quick()
    turn = [{"role": "user", "parts": [{"type": "text", "content": deep}]}]
    for one in spans([turn, [{"role": "user", "parts": []}]], {}, "x"):
        done = ready.span(one)
        assert SECRETS["github"] not in str(done)
        assert "attributes.gen_ai.input.messages" in {r.path for r in done.removed}


def test_a_name_that_needs_redaction_is_not_passed_over():
    ready = quick()
    one = span(x="fine")
    for name in (f"mail to {EMAIL}", f"mail to {EMAIL}", "fine"):
        done = ready.span(Span(trace_id="a", span_id="b", name=name, attributes=one.attributes, resource=RESOURCE, scope=SCOPE))
        assert EMAIL not in done.name
    secret = span(x=f"key {SECRETS['npm']}")
    assert ready.span(secret).attributes == {"x": "key [REDACTED:secret]"} == ready.span(secret).attributes


def test_missing_marks_and_their_texts_are_judged_in_events_without_messages():
    mark = Missing(field="response", cause="truncated", detail=f"cut after {SECRETS['github']}")
    done = redactor().recording(
        Recording(run_id="0", trace_ids=("t",), events=(Event(seq=0, id="a", kind="tool", name="f", missing=[mark]),))
    )
    assert done.events[0].missing[0].detail == "cut after [REDACTED:secret]"


def test_a_placeholder_in_a_clean_event_gets_its_mark():
    for held in ("[REDACTED:x]", "a [card#aaaaaaaaaaaaaaaa] b", "aaaaaaaaaaaaaaaa@email.invalid"):
        event = Event(seq=0, id="a", kind="tool", name="f", response={"result": held})
        (done,) = redactor().recording(Recording(run_id="0", trace_ids=("t",), events=(event,))).events
        assert [type(m) for m in done.redactions] == [Redaction], held
        assert is_placeholder(held) or "#" in held


@pytest.mark.parametrize("number", ["4111 1111 1111 1111", "4242 4242 4242 4242", "4111111111111111", "4242-4242-4242-4242"])
def test_card_numbers_of_two_digits_are_found(number):
    assert redactor().text(f"card {number} ok") != f"card {number} ok"
    assert redactor().value({"n": int("".join(c for c in number if c.isdigit()))}) != {"n": number}


def test_memories_are_bounded_by_what_they_hold():
    """Not only by entries: a history of a megabyte counts as one."""
    held: Memory[str, str] = Memory(entries=1000, characters=1000, weigh=lambda k, v: len(k) + len(v))
    for n in range(100):
        held.put(str(n), "x" * 100)
    assert len(held.young) + len(held._old) <= 22
    held.put("big", "x" * 300)
    assert held.get("big") is None
    ready = redactor()
    ready._scanner.members._last._characters = 20_000
    for n in range(50):
        ready.text(json.dumps([{"role": "user", "parts": [f"{n} " + "plain words " * 100]}]))
    last = ready._scanner.members._last
    assert sum(len(k.text) for k in (*last.young.values(), *last._old.values())) <= 2 * 20_000 + 2_000


def test_path_rules_close_the_short_way():
    ready = redactor(rules("id: p, path: request.arguments.customer, action: mask"))
    assert ready._walker._quick is None


def test_a_secret_in_two_items_of_a_list_is_not_silent():
    token = SECRETS["github"]
    for text in (json.dumps([token[:3], token[3:]]), json.dumps({"a": json.dumps([token[:3], token[3:]])})):
        assert not redactor()._scanner.silent([text])
        assert redactor().text(text) != text
