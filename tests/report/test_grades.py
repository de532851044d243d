"""The grade of a run: each content field in its state, and the share of them that is in hand."""

import pytest

from otelreplay.events import Event, Failure, Inferred, Missing
from otelreplay.report.grades import grades_json, grades_text
from otelreplay.report.grading import ASSUMED, FileGrade, Grades, grade_run
from otelreplay.report.text import width
from tests.report.runs import BASE, EVENTS, RUN_LEVEL, SWITCH, text


def tool(*, missing=(), inferred=(), **more):
    members = {"request": {"arguments": {"a": 1}}, "response": {"result": 2}, **more}
    return Event(
        seq=0, id="t/s", kind="tool", name="f", start=str(BASE), inferred=list(inferred), missing=list(missing), **members
    )


def gap(field, cause="content_not_captured"):
    return Missing(field=field, cause=cause, remedy=SWITCH)


def mark(field, rule="result_from_next_request"):
    return Inferred.model_validate({"field": field, "from": "t/x:y", "rule": rule})


def graded(*events, missing=()):
    return grade_run("r1", "partial", events, missing)


def fields(event):
    (boundary,) = graded(event).boundaries
    return {each.field: (each.state, each.in_part, each.rules, each.causes) for each in boundary.fields}


RESULT = "response.result"


@pytest.mark.parametrize(
    ("event", "expected", "grade"),
    [
        (tool(), ("recorded", False, (), ()), 1.0),
        (tool(response=None), ("absent", False, (), ()), 0.5),
        (tool(response=None, missing=[gap("response")]), ("absent", False, (), ("content_not_captured",)), 0.5),
        (tool(inferred=[mark(RESULT)]), ("inferred", False, ("result_from_next_request",), ()), 1.0),
        (tool(inferred=[mark(RESULT, min(ASSUMED))]), ("assumed", False, (min(ASSUMED),), ()), 0.75),
        (
            tool(inferred=[mark(RESULT, min(ASSUMED)), mark("response")]),
            ("inferred", False, (min(ASSUMED), "result_from_next_request"), ()),
            1.0,
        ),
        (tool(missing=[gap(RESULT, "truncated")]), ("recorded", True, (), ("truncated",)), 0.75),
        (tool(missing=[gap("response.result.rows[1]")]), ("recorded", True, (), ("content_not_captured",)), 0.75),
        (tool(missing=[gap("response.results")]), ("recorded", False, (), ()), 1.0),
        (tool(response=None, error=Failure(type="E")), ("recorded", False, (), ()), 1.0),
    ],
    ids=["recorded", "nothing", "gap", "inferred", "assumed", "both", "cut", "a piece", "another field", "failure"],
)
def test_a_field_has_its_state_its_rules_and_its_causes(event, expected, grade):
    assert expected == fields(event)[RESULT]
    assert pytest.approx(grade) == graded(event).grade


def test_marks_of_messages_count_as_those_of_the_event():
    asked = text("user", "x", mark("", "request_from_later_history"))
    event = Event(seq=0, id="t/s", kind="model", name="m", request={"messages": [asked]}, response={"messages": []})
    assert ("inferred", False, ("request_from_later_history",), ()) == fields(event)["request.messages"]


def test_a_gap_that_no_event_can_hold_counts_as_two_absent_fields():
    run = graded(tool(), missing=[gap("model", "span_not_received")])
    assert 0.5 == run.grade
    assert (("model", "span_not_received"),) == run.missing


def test_what_is_not_owed_counts_neither_way():
    agent = Event(seq=0, id="t/s", kind="agent", name="a")
    assert graded(agent).grade is None
    assert 1.0 == graded(agent, tool()).grade
    assert graded().grade is None


def test_the_number_of_several_runs_is_that_of_all_their_fields():
    files = (
        FileGrade(name="a", runs=(graded(tool(), tool(), tool()),)),
        FileGrade(name="b", runs=(graded(tool(response=None)),)),
    )
    assert 7 / 8 == Grades(files=files).grade


def test_the_exit_code_is_that_of_list():
    broken = [FileGrade(name="x", problem="p", exit_code=code) for code in (6, 5)]
    assert 5 == Grades(files=tuple(broken)).exit_code
    assert 6 == Grades(files=(broken[0], FileGrade(name="y"))).exit_code
    assert 0 == Grades(files=(FileGrade(name="y"),)).exit_code


GOLDEN = """\
file     grade  events    rec   inf   asm    abs
a.jsonl   72 %       5      7     1     0      3

seq  boundary               request    response
  0  agent  order-desk      recorded   -
  1  model  gpt-4o-mini     recorded   recorded
  2  tool  lookup_order     recorded   inferred
       response.result: quoted_result
  3  tool  send\\x1b[2Jmail  recorded   recorded
  4  model  gpt-4o-mini     recorded   absent
       response.messages: content_not_captured
of the run: tool: span_not_received, counted as 2 absent fields

grade: the share of content fields that are recorded or inferred; an assumed one
counts half, one that is held in part half of its own. -: not owed, and nothing
is said of it
"""


def test_one_file_is_shown_boundary_by_boundary():
    run = grade_run("r1", "partial", EVENTS, RUN_LEVEL)
    assert GOLDEN == grades_text(Grades(files=(FileGrade(name="a.jsonl", runs=(run,)),)))


def test_a_folder_is_a_table_with_what_could_not_be_read():
    name = "deep/" * 20 + "\x1b[31mend.json"
    files = (
        FileGrade(name=name, runs=(graded(tool()), graded(tool(response=None)))),
        FileGrade(name="b", problem="this is no trace [input.unrecognised]", exit_code=6),
    )
    shown = grades_text(Grades(files=files, folder=True))
    assert "boundary" not in shown
    assert "\\x1b[31mend.json  100 %       1      2     0     0      0\n" in shown
    assert "\n  and r1" in shown
    assert " 75 %\n" in shown
    assert "\nb: this is no trace [input.unrecognised]\n" in shown
    assert "\x1b" not in shown
    assert all(width(line) <= 80 for line in shown.splitlines())


def test_only_what_is_whole_is_a_hundred_percent():
    run = graded(*[tool()] * 400, tool(response=None))
    assert " 99 %" in grades_text(Grades(files=(FileGrade(name="a", runs=(run,)),)))


def test_the_json_holds_every_field_with_its_rules():
    run = graded(tool(inferred=[mark(RESULT)]), missing=[gap("model", "span_not_received")])
    found = grades_json(
        Grades(files=(FileGrade(name="a", runs=(run,), refused=1), FileGrade(name="b", problem="p", exit_code=6)))
    )
    assert 0.5 == found["grade"]
    assert [{"file": "b", "problem": "p"}] == found["files"][1:]
    (shown,) = found["files"][0]["runs"]
    assert {"recorded": 1, "inferred": 1, "assumed": 0, "absent": 0} == shown["fields"]
    assert [{"field": "model", "cause": "span_not_received"}] == shown["missing"]
    assert {
        "field": RESULT, "state": "inferred", "in_part": False, "rules": ["result_from_next_request"], "causes": [],
    } == shown["boundaries"][0]["fields"][1]  # fmt: skip


def test_nothing_to_grade_is_said():
    assert "no files here\n" == grades_text(Grades(files=(), folder=True))
