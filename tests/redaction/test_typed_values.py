"""Typed values are walked like what they hold, in the text of a span and as values of an event."""

import dataclasses

import pytest

from otelreplay import canonical
from otelreplay.canonical import Tagged
from otelreplay.events import Event, Failure, Recording, Redaction
from otelreplay.spans import Span
from tests.redaction.samples import EMAIL, SECRETS, redactor, rules


@dataclasses.dataclass(frozen=True)
class Customer:
    email: str
    tags: tuple[str, ...] = ()


def encoded(value):
    """As a decorated span carries it, and as its event holds it."""
    text = canonical.dumps(value).decode()
    return text, canonical.loads(text)


def first_pass(policy, value):
    span = Span(trace_id="a" * 32, span_id="b" * 16, attributes={"otelreplay.result": encoded(value)[0]})
    return canonical.loads(policy.span(span).attributes["otelreplay.result"])


def second_pass(policy, value):
    event = Event(seq=0, id="t/0", kind="tool", name="f", response={"result": encoded(value)[1]})
    (done,) = policy.recording(Recording(run_id="0" * 64, trace_ids=("t",), events=(event,))).events
    return done.response["result"], done.redactions


HOLDERS = {
    "dataclass": Customer(EMAIL),
    "tuple": (EMAIL, 1),
    "set": {EMAIL},
    "frozenset": frozenset({EMAIL}),
    "odd keys": {(1, 2): EMAIL, 3: "x"},
    "inside": [{"a": (Customer("x", (EMAIL,)),)}],
}


@pytest.mark.parametrize("value", HOLDERS.values(), ids=HOLDERS.keys())
def test_a_detector_replaces_the_leaf_and_keeps_the_type_around_it(value):
    before = encoded(value)[1]
    for done in (first_pass(redactor(), value), second_pass(redactor(), value)[0]):
        assert EMAIL not in repr(done)
        assert type(done) is type(before)
        assert done != before


@pytest.mark.parametrize("path", ["response.result.email", "response.*.email", "**.email"])
def test_a_path_rule_reaches_the_field_of_an_instance(path):
    policy = redactor(rules(f"id: who, path: '{path}', action: mask"))
    kept = Tagged("dataclass", {"class": f"{__name__}:Customer", "fields": {"email": "[REDACTED:who]", "tags": ("a",)}})
    done, found = second_pass(policy, Customer("ada", ("a",)))
    assert done == first_pass(policy, Customer("ada", ("a",))) == kept
    assert found == [Redaction(field="response.result.fields.email", rule="who", action="mask")]


def test_a_path_rule_reaches_the_values_of_a_dict_with_odd_keys():
    policy = redactor(rules("id: r, path: 'response.result.secret', action: mask"))
    value = {"secret": "a", 3: "b"}
    assert first_pass(policy, value) == second_pass(policy, value)[0] == {"secret": "[REDACTED:r]", 3: "b"}


def test_a_dropped_value_of_a_dict_with_odd_keys_goes_with_its_key():
    policy = redactor(rules("id: r, path: 'response.result.secret', action: drop"))
    assert first_pass(policy, {"secret": "a", 3: "b"}) == {3: "b"}


def test_a_value_under_keep_is_given_back_inside_an_instance():
    policy = redactor(rules("id: k, path: '**.email', action: keep", "id: e, detector: email, action: mask"))
    done, _ = second_pass(policy, Customer(EMAIL, (EMAIL,)))
    assert done.members["fields"]["email"] == EMAIL
    assert EMAIL not in done.members["fields"]["tags"]


def test_the_parts_of_a_failure_are_redacted_and_keep_their_types():
    more = {"class": "app:E", "args": [(SECRETS["github"],)], "fields": {"who": Tagged("dataclass", {"fields": {"a": EMAIL}})}}
    event = Event(seq=0, id="t/0", kind="tool", name="f", error=Failure.model_validate({"type": "E", "message": "m"} | more))
    (done,) = redactor().recording(Recording(run_id="0" * 64, trace_ids=("t",), events=(event,))).events
    assert SECRETS["github"] not in repr(done)
    assert EMAIL not in repr(done)
    assert type(done.error.model_extra["args"][0]) is tuple
    assert type(done.error.model_extra["fields"]["who"]) is Tagged


def test_a_rule_for_the_message_of_a_failure_takes_the_span_s_copy_of_it_too():
    policy = redactor(rules("id: r, path: error.message, action: drop"))
    held = {"otelreplay.error": canonical.dumps({"class": "app:E", "args": ["the name of Ada"]}).decode()}
    assert "Ada" not in repr(policy.span(Span(trace_id="a" * 32, span_id="b" * 16, attributes=held)).attributes)
