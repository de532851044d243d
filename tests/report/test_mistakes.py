"""What a replay says of thirty mistakes in one program: where, what, expected, found, what next, and nothing twice."""

import pytest

from otelreplay.report.replay import replay_text
from otelreplay.report.text import width
from tests.report.mistakes import COMMAND, MISTAKES, played

SAYS = {
    "prompt: a word": ("request_changed", 3, "request.system[0].content", "prompt"),
    "prompt: a blank": ("request_changed", 3, "request.system[0].content", "prompt"),
    "prompt: a line": ("request_changed", 3, "request.system[0].content", "prompt"),
    "model: another": ("request_changed", 3, "request.model", "model options"),
    "model: temperature": ("request_changed", 3, "request.params.temperature", "model options"),
    "schema: a description": ("request_changed", 3, "request.tools[2].description", "tool schema"),
    "schema: another type": ("request_changed", 3, "request.tools[2].parameters.properties.amount.type", "tool schema"),
    "schema: one tool less": ("request_changed", 3, "request.tools[1]", "tool schema"),
    "schema: a tool more": ("request_changed", 3, "request.tools[0]", "tool schema"),
    "history: a message more": ("request_changed", 3, "request.messages[0]", "prompt"),
    "history: a message less": ("request_changed", 5, "request.messages[1]", "prompt"),
    "history: turned round": ("request_changed", 3, "request.system", "prompt"),
    "argument: changed": ("request_changed", 4, "request.arguments.order_id", "code"),
    "argument: retyped": ("request_changed", 9, "request.arguments.amount", "code"),
    "argument: query": ("request_changed", 1, "request.query", "code"),
    "tool: left out": ("missing_call", 6, "", "code"),
    "tool: called twice": ("unexpected_call", 5, "", "code"),
    "tool: one put in": ("unexpected_call", 2, "", "code"),
    "tool: result dropped": ("request_changed", 5, "request.messages[2].parts[0].response.note", "tool result"),
    "clock: read twice": ("unexpected_call", 3, "", "clock"),
    "clock: not read": ("missing_call", 2, "", "clock"),
    "id: made twice": ("unexpected_call", 9, "", "random"),
    "id: made up": ("missing_call", 8, "", "random"),
    "end: another answer": ("request_changed", 0, "response.output", "code"),
    "end: it fails": ("request_changed", 0, "error.type", "code"),
    "end: too early": ("missing_call", 6, "", "code"),
}
"""Kind, event, field and class of cause; the search that only came late is as recorded."""


def said(name, columns=80):
    return replay_text(played(name).as_json(), columns=columns)


def test_every_mistake_is_judged():
    assert {*MISTAKES} - {*SAYS} == {"order: search late"}
    assert played("order: search late").first_divergence is None


@pytest.mark.parametrize("name", SAYS)
def test_a_mistake_is_found_at_its_event_field_and_cause(name):
    found = played(name).first_divergence
    assert (found.kind, found.seq, found.path, found.cause) == SAYS[name]


@pytest.mark.parametrize("name", SAYS)
def test_a_report_says_where_what_and_what_next_and_no_line_twice(name):
    text = said(name)
    block = text[text.index("First divergence") : text.index("    page  ")]
    assert f"replay.{SAYS[name][0]}: " in block
    assert "    --> " in block
    for label in ("agreed", "cause", "next", "accept"):
        assert f"    {label} " in block
    assert f"    again     {COMMAND}" in text
    kept = [line for line in block.splitlines() if line.strip()]
    assert len(kept) == len({*kept})


@pytest.mark.parametrize("columns", [60, 80, 140, 200])
def test_no_line_is_wider_than_the_terminal_but_a_command_to_copy(columns):
    for name in ("prompt: a word", "schema: a tool more", "history: turned round", "end: another answer"):
        wide = [line for line in said(name, columns).splitlines() if width(line) > columns]
        assert all("  again  " in line or "-->" in line for line in wide)


def test_what_a_stopped_program_did_not_come_to_is_a_number_and_no_list():
    assert "8 events unused" in said("prompt: a word")
    assert "Unused" not in said("prompt: a word")


def test_a_value_that_was_made_up_again_is_shown_where_it_stands():
    text = said("clock: not read")
    assert "not called; its value was expected in request.system[0].content" in text
    assert "2020-01-02" in text


def test_the_end_of_a_run_is_told_in_words():
    assert "the agent raised ValueError, where it had returned" in said("end: it fails")
    assert "the agent returned something else" in said("end: another answer")
    assert "the agent returned without calling it" in said("end: too early")
