"""What stands in place of what was removed."""

import json

import pytest

from otelreplay.redaction import find_placeholders, is_placeholder
from otelreplay.spans import LogRecord, Removal, Span
from tests.redaction.samples import EMAIL, SECRETS, redactor, rules

TOKEN = SECRETS["github"]


def span(**attributes):
    return Span(trace_id="a", span_id="b", attributes=attributes)


@pytest.mark.parametrize(
    ("action", "form", "seen"),
    [
        ("mask", r"[REDACTED:x]", "mask"),
        ("drop", r"[DROPPED:x]", "drop"),
        ("pseudonym", None, "pseudonym"),
        ("hash", None, "hash"),
    ],
)
def test_each_action_leaves_a_placeholder_that_is_known_on_sight(action, form, seen):
    done = redactor(rules(f"id: x, detector: github_token, action: {action}")).text(f"a {TOKEN} b")
    made = done[2:-2]
    assert is_placeholder(made)
    assert form in (None, made)
    (found,) = find_placeholders(done)
    assert (found.rule, found.action, found.text, done[found.start : found.end]) == ("x", seen, made, made)


def test_truncate_keeps_the_beginning_once():
    ready = redactor(rules("id: t, attribute: note, action: truncate, keep: 5"))
    once = ready.span(span(note="0123456789", other="0123456789"))
    assert once.attributes == {"note": "01234[TRUNCATED:t]", "other": "0123456789"}
    assert ready.span(once) is once
    assert ready.span(span(note="01234")).attributes == {"note": "01234"}
    assert ready.span(span(note={"a": ["0123456789"], "n": 12345678})).attributes["note"] == {
        "a": ["01234[TRUNCATED:t]"],
        "n": 12345678,
    }


def test_an_email_keeps_its_format_and_may_stand_where_addresses_stand():
    done = redactor().text(f"mailto:{EMAIL}")
    assert done.startswith("mailto:")
    assert done.endswith("@email.invalid")
    assert len(done) == len("mailto:") + 16 + len("@email.invalid")


def test_a_real_address_under_another_domain_is_no_placeholder():
    assert find_placeholders("aaaaaaaaaaaaaaaa@email.invalid.example.org x aaaaaaaaaaaaaaaa@email.invalidated") == []
    assert not is_placeholder("x@email.invalid")
    assert find_placeholders("no placeholder [here] or there") == []


def test_a_dropped_attribute_is_told_from_one_that_never_was():
    ready = redactor(rules("id: d, attribute: 'app.*', action: drop"))
    done = ready.span(span(**{"app.secret": 1, "b": 2}))
    assert done.attributes == {"b": 2}
    assert done.removed == (Removal("attributes.app.secret", "d", "drop"),)
    assert ready.span(done) == done


@pytest.mark.parametrize("action", ["mask", "pseudonym", "hash"])
def test_a_whole_attribute_becomes_one_placeholder(action):
    ready = redactor(rules(f"id: w, attribute: a, action: {action}"))
    for value in ("text", 5, 2.5, ["x", {"y": 1}], {"k": "v"}, True, float("nan"), b"\xff", (1, "a")):
        done = ready.span(span(a=value))
        assert is_placeholder(done.attributes["a"])
        assert ready.span(done) is done
    assert ready.span(span(a=None, b="x")).attributes == {"a": None, "b": "x"}


def test_equal_values_have_equal_pseudonyms_and_others_do_not():
    ready = redactor(rules("id: w, attribute: a, action: pseudonym"))
    one, two, other = (ready.span(span(a=v)).attributes["a"] for v in ({"x": 1, "y": 2}, {"y": 2, "x": 1}, {"x": 1, "y": 3}))
    assert one == two != other


def test_keep_shields_an_attribute_from_all_that_follows():
    ready = redactor(rules("id: k, attribute: 'app.ok', action: keep", "id: s, detectors: [secrets], action: mask"))
    done = ready.span(span(**{"app.ok": TOKEN, "app.not": TOKEN}))
    assert done.attributes == {"app.ok": TOKEN, "app.not": "[REDACTED:s]"}


def test_a_dropped_log_body_is_none_and_listed():
    ready = redactor(rules("id: b, attribute: body, action: drop"))
    done = ready.log(LogRecord(body={"a": 1}))
    assert done.body is None
    assert done.removed == (Removal("body", "b", "drop"),)


def test_two_keys_that_become_one_placeholder_lose_no_entry():
    done = redactor().value({SECRETS["github"]: 1, SECRETS["gitlab"]: 2, SECRETS["npm"]: 3})
    assert done == {"[REDACTED:secret]": 1, "[REDACTED:secret] 2": 2, "[REDACTED:secret] 3": 3}
    held = redactor().span(span(**{SECRETS["github"]: 1, SECRETS["gitlab"]: 2, SECRETS["npm"]: 3}))
    assert sorted(held.attributes.values()) == [1, 2, 3]


def test_odd_keys_of_a_dict_are_scanned():
    done = redactor().value({(TOKEN, 1): 1, TOKEN.encode(): 2, 5: 3})
    assert TOKEN not in str(done)
    assert done[5] == 3


def test_what_lies_too_deep_is_removed_and_reported():
    value = TOKEN
    for _ in range(150):
        value = [value]
    deep = {"a": value}
    for _ in range(150):
        deep = {"a": deep}
    done = redactor().span(span(x=value, y=deep))
    assert TOKEN not in str(done)
    assert {r.path for r in done.removed} == {"attributes.x", "attributes.y"}
    assert {r.rule for r in done.removed} == {"unwalkable"}


def test_more_layers_than_are_followed_are_removed_and_reported():
    text = TOKEN
    for _ in range(14):
        text = json.dumps([text])
    done = redactor().span(span(x=text))
    assert TOKEN not in done.attributes["x"]
    assert done.removed == (Removal("attributes.x", "unwalkable", "mask"),)


def test_a_text_beyond_the_bound_is_removed(monkeypatch):
    monkeypatch.setattr("otelreplay.redaction.scan.MAX_TEXT", 100)
    ready = redactor()
    done = ready.span(Span(trace_id="a", span_id="b", status_message="x" * 101))
    assert done.status_message == "[REDACTED:unwalkable]"
    assert done.removed[0].path == "status_message"
