"""Message lists: every spelling of a conversation has one digest, and another conversation has another."""

import base64
import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.events import Message
from otelreplay.matching import KeyMemo
from otelreplay.matching.keys import _LISTS
from tests.matching.reference import list_digest

ids = st.sampled_from([None, "", "a", "b", "call_1"])
contents = st.text(alphabet="ab{}1", max_size=3)
arguments = st.sampled_from([{}, {"a": 1}, None, "", "no json"])
responses = st.sampled_from(["r", "s", {"a": [1]}])


def shaped(kind, **fields):
    return st.fixed_dictionaries({"type": st.just(kind)} | fields)


parts = (
    shaped("text", content=contents)
    | shaped("tool_call", id=ids, name=st.sampled_from("fg"), arguments=arguments)
    | shaped("tool_call_response", id=ids, response=responses)
    | shaped("uri", modality=st.just("image"), uri=contents, mime_type=st.none())
    | shaped("odd", id=ids, value=st.none() | st.integers(0, 2))
)
messages = st.builds(
    lambda role, held, name: Message({"role": role, "parts": held, "name": name}),
    st.sampled_from(["user", "assistant", "tool", "developer"]),
    st.lists(parts, max_size=4),
    st.sampled_from([None, None, "n"]),
)
conversations = st.lists(messages, max_size=6)


def digest(messages):
    return KeyMemo().messages(messages)


def said(role, *parts, **extra):
    return {"role": role, "parts": [{"type": "text", "content": p} if isinstance(p, str) else p for p in parts]} | extra


def call(id, name="f", arguments=None, **extra):
    return {"type": "tool_call", "id": id, "name": name, "arguments": {} if arguments is None else arguments} | extra


def result(id, response="ok", **extra):
    return {"type": "tool_call_response", "id": id, "response": response} | extra


@given(conversations)
def test_the_digest_is_the_documented_one(messages):
    assert digest(messages) == list_digest(messages)


def test_the_digest_of_a_small_list_never_changes():
    """It is in cassettes for ever."""
    messages = [said("user", "hi"), said("assistant", call("x", "f", {"a": 4.0})), said("tool", result("x", "fine"))]
    assert digest([]) == "sha256:7578cf4e997cd32e554cf1817b06973890719b733b040cd6c4162d5f7fc6b590"
    assert digest(messages) == "sha256:3c8126f57730ce9e00718e193e0f79544fcf4ca26ec31a5450f287969718ea6b"


@given(st.lists(conversations, max_size=5), st.data())
def test_lists_that_continue_or_leave_another_are_digested_as_from_scratch(branches, data):
    """One memo sees many lists that share beginnings, in any order."""
    memo, seen = KeyMemo(), [[]]
    for branch in branches:
        start = data.draw(st.sampled_from(seen))
        cut = data.draw(st.integers(0, len(start)))
        longer = start[:cut] + branch
        seen.append(longer)
        assert memo.messages(longer) == list_digest(longer)
        assert memo.messages(start) == list_digest(start)


@given(conversations, st.permutations(["p", "q", "r"]))
def test_the_spelling_of_ids_does_not_matter(messages, names):
    renamed = copy.deepcopy(messages)
    spelling = dict(zip(["a", "b", "call_1"], names, strict=True))
    for message in renamed:
        for part in message["parts"]:
            if part.get("id"):
                part["id"] = spelling[part["id"]]
    assert digest(renamed) == digest(messages)


@given(conversations)
def test_arguments_as_json_text_equal_the_object(messages):
    spelled = copy.deepcopy(messages)
    for message in spelled:
        for part in message["parts"]:
            if isinstance(part.get("arguments"), dict):
                part["arguments"] = json.dumps(part["arguments"], indent=1)
            if isinstance(part.get("response"), dict):
                part["response"] = json.dumps(part["response"])
    assert digest(spelled) == digest(messages)


def answers(first, second):
    return [said("tool", result(first)), said("tool", result(second, "no"))]


def calls(first, second):
    return [call(first, "f", {"n": 4}), call(second, "g")]


ONE = [said("user", "go"), said("assistant", "now", *calls("a", "b")), *answers("a", "b")]
GO, NOW = ONE[:2]


@pytest.mark.parametrize(
    "other",
    [
        [GO, said("assistant", call("a", "f", {"n": 4.0}), call("b", "g"), "now"), *ONE[2:]],
        [GO, said("assistant", "n", "", "ow", call("a", "f", '{"n":4}'), call("b", "g", None)), *ONE[2:]],
        [GO, said("assistant", "now", *calls("b", "a")), said("tool", result("b"), result("a", "no"))],
        [GO, NOW, said("user", result("a"), result("b", "no"))],
        [GO, said("assistant", "now", *calls(None, "")), *answers(None, "")],
        [GO, NOW, *answers(None, None)],
        [GO, said("assistant", "now", *calls(None, None)), *answers("x", "y")],
        [GO, said("assistant", "now", *calls("a", "a")), *answers("a", "a")],
        [GO | {"name": None, "finish_reason": "stop", "id": "m1"}, NOW | {"finish_reason": "tool_call"}, *ONE[2:]],
        [{"role": "user", "content": "go"}, *ONE[1:]],
        [{"role": "user", "parts": "go"}, *ONE[1:]],
        [said("user", "g", {"type": "text", "content": "o"}, {"type": "text", "content": None}), *ONE[1:]],
        [{"role": "user", "parts": ["g", "o"]}, *ONE[1:]],
        [{"role": "user", "content": [{"type": "text", "content": "go", "cache_control": {}}]}, *ONE[1:]],
        [*ONE[:3], said("tool", {"type": "tool_call_response", "id": "b", "result": "no"})],
        [*ONE[:3], said("tool", result("b", [{"type": "text", "text": "n"}, {"type": "text", "content": "o"}]))],
        [*ONE[:3], said("tool", result("b", '"no"', name="g"))],
        [GO, said("assistant", "now"), said("assistant", *calls("a", "b")), *ONE[2:]],
        [
            GO,
            said("assistant", call("a", "f", {"n": 4})),
            said("assistant", "now", call("b", "g")),
            said("assistant"),
            *ONE[2:],
        ],
        [
            GO,
            said("assistant", "n"),
            said("assistant", ""),
            said("assistant", call("a", "f", {"n": 4}), "ow", call("b", "g")),
            *ONE[2:],
        ],
    ],
)
def test_the_same_conversation_in_another_spelling_has_the_same_digest(other):
    assert digest(other) == digest(ONE)


@pytest.mark.parametrize(
    "other",
    [
        ONE[:3],
        [ONE[1], ONE[0], *ONE[2:]],
        [said("user", "stop"), *ONE[1:]],
        [said("user", "go", name="eve"), *ONE[1:]],
        [said("assistant", "go"), *ONE[1:]],
        [ONE[0], said("assistant", "now", call("a", "f", {"n": 5}), call("b", "g")), *ONE[2:]],
        [ONE[0], said("assistant", "now", call("a", "f", {"n": "4"}), call("b", "g")), *ONE[2:]],
        [ONE[0], said("assistant", "now", call("b", "g"), call("a", "f", {"n": 4})), *ONE[2:]],
        [*ONE[:2], said("tool", result("b")), said("tool", result("a", "no"))],
        [*ONE[:2], said("tool", result("a")), said("tool", result("c", "no"))],
        [*ONE[:2], said("tool", result("a")), said("tool", result("a", "no"))],
        [*ONE, said("assistant")],
        [*ONE, 7],
        [*ONE[:3], said("tool", result("b", [{"type": "text", "text": 1}]))],
        [*ONE[:3], said("tool", result("b", [{"type": "json", "text": "no"}]))],
        [*ONE[:3], said("tool", result("b", None))],
    ],
)
def test_another_conversation_has_another_digest(other):
    assert digest(other) != digest(ONE)


def test_results_of_calls_before_this_list_are_told_apart_by_order():
    """The history is held by the server: only results are in the list."""
    assert digest([said("tool", result("x"), result("y"))]) == digest([said("tool", result("p"), result("q"))])
    assert digest([said("tool", result("x"), result("y"))]) != digest([said("tool", result("x"), result("x"))])


def test_bytes_and_their_base64_text_are_one():
    blob = {"type": "blob", "modality": "image", "mime_type": "image/png"}
    raw, text = (
        blob | {"content": b"\x89PNG"},
        blob | {"content": base64.b64encode(b"\x89PNG").decode(), "mime_type": "image/png"},
    )
    assert digest([said("user", raw)]) == digest([said("user", text)])
    assert digest([said("user", raw)]) != digest([said("user", blob | {"content": b"\x89PN"})])


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"role": "user", "parts": [{"type": "text"}]},
        {"role": []},
        {"role": "user", "parts": [7, None, {"type": []}, {"type": "text", "content": [1]}]},
        None,
        "text",
        {"role": "tool", "parts": [result({"a": 1})]},
        {"parts": {"a": 1}},
    ],
)
def test_malformed_messages_have_a_digest_too(odd):
    assert digest([odd]) == digest([copy.deepcopy(odd)])
    assert digest([odd]) != digest([])


def conversation(turns):
    """Lists of a run in which every call repeats the history."""
    history, lists = [Message(said("user", "go"))], []
    for n in range(turns):
        lists.append(list(history))
        history += [Message(said("assistant", call(f"c{n}", "f", {"n": n}))), Message(said("tool", result(f"c{n}", "r" * 50)))]
    return lists


def test_each_message_of_a_run_is_digested_once(monkeypatch):
    """Also with several conversations at once, each longer than the memo remembers lists."""
    seen = []
    monkeypatch.setattr("otelreplay.matching.keys.atoms_of", lambda message: seen.append(message) or ())
    memo = KeyMemo()
    lists = conversation(_LISTS + 10)
    for one in lists:
        memo.messages(one)
    assert len(seen) == len(lists[-1])
    assert len(memo._lists) == _LISTS


def test_a_list_that_continues_another_costs_what_is_new():
    steps = []

    class Counted(KeyMemo):
        def atoms(self, message):
            steps.append(message)
            return super().atoms(message)

    memo, lists = Counted(), conversation(50)
    for one in lists:
        memo.messages(one)
    assert len(steps) == len(lists[-1])
    assert memo.messages(list(lists[-1])) == list_digest(lists[-1])
    assert len(steps) == len(lists[-1])


def test_what_is_known_is_let_go_when_it_is_too_much_and_digests_stay_the_same(monkeypatch):
    monkeypatch.setattr("otelreplay.matching.keys._MESSAGES", 20)
    memo, lists = KeyMemo(), [one for _ in range(10) for one in conversation(12)]
    for one in lists:
        assert memo.messages(one) == list_digest(one)
        assert len(memo._atoms) <= max(20, 2 * len(one)) + len(one)


def test_two_ways_on_from_one_list_do_not_know_of_each_other():
    memo, base = KeyMemo(), [Message(said("assistant", call("x")))]
    left = [*base, Message(said("assistant", call("x"), call("y"))), Message(said("tool", result("x")))]
    right = [*base, Message(said("tool", result("y"), result("x"), result("x")))]
    for one in (
        base,
        left,
        right,
        base,
        [*left, Message(said("tool", result("y")))],
        [*right, Message(said("tool", result("y")))],
    ):
        assert memo.messages(one) == list_digest(one)


def test_lists_that_end_alike_do_not_continue_each_other():
    memo = KeyMemo()
    first, second, last = Message(said("user", "a")), Message(said("user", "b")), Message(said("user", "c"))
    for one in ([first, last], [second, last], [second, last, first], [first, last, second]):
        assert memo.messages(one) == list_digest(one)


def test_a_list_in_use_is_not_forgotten():
    memo, used = KeyMemo(), conversation(3)[-1]
    memo.messages(used)
    for _ in range(2):
        assert memo._longest_prefix([*used, 1])[0] == len(used)
        memo.messages(used)
        for n in range(_LISTS - 1):
            memo.messages([Message(said("user", str(n)))])
    assert memo._longest_prefix([*used, 1])[0] == len(used)


def test_a_text_may_go_on_in_two_ways():
    memo, base = KeyMemo(), [Message(said("user", "a"))]
    for more in ("", "b", "c", ""):
        one = [*base, Message(said("user", more))]
        assert memo.messages(base) == list_digest(base)
        assert memo.messages(one) == list_digest(one)
