"""One event, for people and as JSON."""

import importlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otelreplay.canonical import dumps
from otelreplay.events import Event, Failure
from otelreplay.report.event import event_json, event_text
from otelreplay.report.text import escape
from tests.report.runs import BASE, EVENTS

GOLDEN = """\
event 1  model  gpt-4o-mini

  id       t/a1
  parent   0
  started  2026-09-21T14:13:20.003000000Z, 3 ms into the run
  took     1.10 s

request
  messages:
    - role: "user"
      parts:
        - type: "text"
          content: "Where is it?"

response
  messages:
    - role: "assistant"
      parts:
        - type: "text"
          content: |
            Let me see.
            One moment.
  usage:
    input_tokens: 320
    output_tokens: 45

redacted
  request.messages[0].parts[0].content
    rule    email
    action  pseudonym
"""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)) | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=3),
    max_leaves=8,
)


def tool(**given):
    return Event(**{"seq": 0, "id": "t/0", "kind": "tool", "name": "f", **given})


def test_an_event_in_full_shows_everything_that_it_holds():
    assert GOLDEN == event_text(EVENTS[1], origin=BASE)


def test_the_marks_of_messages_are_written_out_under_full_names():
    assert [{"field": "request.messages[0].parts[0].content", "rule": "email", "action": "pseudonym"}] == event_json(EVENTS[1])[
        "redactions"
    ]


def test_an_inferred_field_says_from_where_under_the_name_that_json_has():
    assert "t/a3:gen_ai.input.messages[2].parts[0]" == event_json(EVENTS[2])["inferred"][0]["from"]


@pytest.mark.parametrize(
    ("response", "said"), [(None, "(none was recorded)"), ({}, "(recorded, and empty)"), ({"result": ""}, 'result: ""')]
)
def test_absence_and_emptiness_are_told_apart(response, said):
    assert said in event_text(tool(response=response))


def test_after_a_failure_no_response_is_expected():
    assert "(none was recorded)" not in event_text(tool(error=Failure(type="LookupError", message="no such order")))


@given(VALUES)
def test_any_payload_is_shown_without_anything_that_steers_a_terminal(value):
    shown = event_text(tool(response={"result": value}))
    assert [] == [line for line in shown.split("\n") if line != escape(line)]


@given(VALUES)
def test_any_payload_is_one_line_of_json(value):
    line = dumps(event_json(tool(response={"result": value})))
    assert b"\n" not in line
    assert "tool" == json.loads(line)["kind"]


def test_members_of_later_versions_are_kept():
    assert 7 == event_json(tool(novelty=7))["novelty"]


def test_the_json_of_an_event_fits_the_published_schema():
    jsonschema = importlib.import_module("jsonschema")
    schema = Event.model_json_schema(by_alias=True)
    for event in EVENTS:
        jsonschema.validate(json.loads(dumps(event_json(event))), schema)
