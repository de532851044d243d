"""The missing-data report: the verdict first, each gap with cause and remedy, equal ones together."""

from otelreplay.events import Missing, assess
from otelreplay.report.completeness import completeness_json, completeness_text
from otelreplay.report.text import width
from tests.report.runs import EVENTS, NOTES, RUN_LEVEL, SWITCH

GOLDEN = """\
partial: some of what crossed the boundaries is not in the telemetry

  run       abc
  events    5 (1 agent, 2 model, 2 tool)
  content   7 recorded, 1 inferred, 1 absent
  gaps      2
  redacted  3 places

Missing from the run

  span_not_received
    one call was asked for, and no span shows it
    tool
    Remedy: send it

Missing from events

  content_not_captured
    the span has no content
    4  model  gpt-4o-mini  response.messages
    Remedy: set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only

Notes
  clock_skew: the tool's clock is 5 s behind
"""


def gap(field, detail="", cause="truncated", remedy=SWITCH):
    return Missing(field=field, cause=cause, detail=detail, remedy=remedy)


def report(*gaps):
    """The text for a run with these gaps in its last event."""
    events = [EVENTS[0], EVENTS[4].model_copy(update={"missing": list(gaps)})]
    return completeness_text(assess(events), events=events)


def test_the_report_puts_the_verdict_first_and_every_gap_with_its_remedy():
    assert GOLDEN == completeness_text(assess(EVENTS, RUN_LEVEL), events=EVENTS, notes=NOTES, about=[("run", "abc")])


def test_a_complete_run_has_nothing_but_its_numbers():
    shown = completeness_text(assess(EVENTS[:2]), events=EVENTS[:2])
    assert shown.startswith("full: every boundary has its request and its response\n")
    assert "Missing" not in shown
    assert "Notes" not in shown


def test_gaps_of_one_cause_and_remedy_stand_together_and_say_the_remedy_once():
    shown = report(gap("request.messages", "cut at 100"), gap("response", "cut at 200"))
    assert 1 == shown.count("Remedy:") == shown.count("truncated")
    assert shown.index("cut at 100") < shown.index("cut at 200")


def test_gaps_of_one_cause_and_different_remedies_stand_apart():
    shown = report(gap("request.messages"), gap("response", remedy="raise the limit"))
    assert 2 == shown.count("Remedy:") == shown.count("truncated")


def test_a_long_group_is_cut_in_text_and_whole_in_json():
    gaps = [gap(f"request.messages[{n}]") for n in range(40)]
    assert "and 28 more (--json lists them all)" in report(*gaps)
    events = [EVENTS[4].model_copy(update={"missing": gaps})]
    assert 40 == len(completeness_json(assess(events), events=events)["gaps"])


def test_a_gap_without_remedy_claims_none():
    assert "Remedy" not in report(gap("response", remedy=""))


def test_recorded_names_cannot_steer_the_terminal():
    assert "\x1b" not in report(gap("request.arguments.\x1b[2J", "\x1b]0;x\x07"))


def test_the_json_report_holds_every_member_of_every_gap():
    found = completeness_json(assess(EVENTS, RUN_LEVEL), events=EVENTS, notes=NOTES, about={"run_id": "abc"})
    assert "run_id" == next(iter(found))
    assert [RUN_LEVEL[0].model_dump()] == found["missing"]
    assert [(4, "model", "response.messages", SWITCH)] == [
        (g["seq"], g["kind"], g["field"], g["remedy"]) for g in found["gaps"]
    ]
    assert {"recorded": 7, "inferred": 1, "absent": 1} == found["fields"]
    assert [{"code": "clock_skew", "message": "the tool's clock is 5 s behind", "spans": ["t/a2"]}] == found["notes"]


def test_the_report_fits_the_terminal_but_for_words_that_stay_whole():
    shown = completeness_text(assess(EVENTS, RUN_LEVEL), events=EVENTS, notes=NOTES, columns=60)
    assert max(width(line) for line in shown.splitlines() if "OTEL_" not in line) <= 68
