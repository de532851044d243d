"""The report as SARIF and JUnit XML: valid, complete, and with every recorded text as data."""

import importlib
import json
from xml.etree import ElementTree

import pytest

from otelreplay.cli.reporting import FORMATS, rendered, reporting
from otelreplay.errors import UsageError
from otelreplay.replay import KINDS
from otelreplay.report.junit import junit_xml, place_of
from otelreplay.report.sarif import MEANS, sarif
from tests.report.mistakes import MISTAKES, played

CHANGED = {
    "code": "replay.request_changed", "kind": "request_changed", "seq": 4, "boundary": "tool", "operation": "refund",
    "agent": "desk",
    "where": "src/desk.py:12", "path": "request.arguments.amount", "change": "changed", "expected": 4, "received": 5,
    "last_agreed": 3, "agreed": 3, "cause": "code",
}  # fmt: skip
GAP = {
    "code": "replay.response_missing",
    "kind": "response_missing",
    "seq": 1,
    "path": "response.result",
    "detail": "not recorded",
}
DIVERGED = {"outcome": "diverged", "exit_code": 1, "served": 3, "unused": 1, "guard": "seccomp", "first_divergence": CHANGED,
            "others": [GAP]}  # fmt: skip
GREEN = {"outcome": "as_recorded", "exit_code": 0, "served": 4, "unused": 0, "first_divergence": None, "others": []}
MISSING = {"outcome": "missing_data", "exit_code": 3, "first_divergence": GAP, "others": []}
LATE = {"outcome": "timed_out", "exit_code": 1, "first_divergence": None}
ALL = [("a.cassette.jsonl", DIVERGED), ("b/b.cassette.jsonl", GREEN), ("/abs/c d.jsonl", MISSING), ("d", LATE)]
EVIL = '\x1b[31m\u202e<&>"]]>{0}[x](http://evil)\x00\ud800\n[bold]'


def log(replays):
    return sarif(replays, version="1.2.3")


def suites(replays):
    return ElementTree.fromstring(junit_xml(replays))


def test_sarif_has_a_result_for_each_divergence_and_the_first_is_the_error():
    (run,) = log(ALL)["runs"]
    said = [(r["ruleId"], r["level"], r["properties"]["first"] if "properties" in r else None) for r in run["results"]]
    assert said == [
        ("replay.request_changed", "error", True), ("replay.response_missing", "warning", False),
        ("replay.response_missing", "error", True), ("replay", "error", None),
    ]  # fmt: skip
    assert [i["exitCode"] for i in run["invocations"]] == [1, 0, 3, 1]
    for result in run["results"]:
        if "ruleIndex" in result:
            assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_points_at_the_line_of_the_program_and_else_at_the_cassette():
    results = log(ALL)["runs"][0]["results"]
    places = [r["locations"][0]["physicalLocation"] for r in results]
    assert [(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places] == [
        ("src/desk.py", 12), ("a.cassette.jsonl", 1), ("file:///abs/c%20d.jsonl", 1), ("d", 1)
    ]  # fmt: skip
    assert results[0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.cassette.jsonl"
    assert results[0]["message"]["text"].splitlines() == [
        "replay.request_changed: event 4, tool refund, in agent desk", "request.arguments.amount (changed)", "expected: 4",
        "received: 5",
    ]  # fmt: skip


def test_a_divergence_keeps_its_fingerprint_while_its_values_change():
    def print_of(**more):
        found = log([("a", {**DIVERGED, "first_divergence": {**CHANGED, **more}})])["runs"][0]["results"][0]
        return found["partialFingerprints"]["divergence/v1"]

    assert print_of(received=7, seq=9) == print_of()
    assert print_of(path="request.arguments.other") != print_of()


def test_every_kind_is_a_rule():
    assert [*MEANS] == [*KINDS]
    assert [r["id"] for r in log([])["runs"][0]["tool"]["driver"]["rules"]] == [f"replay.{kind}" for kind in KINDS]


def test_sarif_is_what_its_schema_asks_for():
    model = importlib.import_module("pydantic_sarif.model")
    for replays in ([], ALL, hostile(), [(name, played(name).as_json()) for name in list(MISTAKES)[:3]]):
        model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate(json.loads(rendered("sarif", replays)))


def test_junit_counts_suites_and_tells_failures_from_what_could_not_be_judged():
    whole = suites(ALL)
    assert (whole.get("tests"), whole.get("failures"), whole.get("errors")) == ("4", "1", "2")
    assert [s.get("name") for s in whole] == [name for name, _ in ALL]
    assert [[child.tag for child in s.find("testcase")] for s in whole] == [["failure"], [], ["error"], ["error"]]


def test_a_junit_failure_says_what_where_and_all_the_rest():
    case = suites(ALL)[0].find("testcase")
    assert (case.get("name"), case.get("file"), case.get("line")) == ("replay", "src/desk.py", "12")
    failure = case.find("failure")
    assert failure.get("type") == "replay.request_changed"
    assert failure.get("message") == (
        "replay.request_changed: event 4, tool refund, in agent desk; request.arguments.amount (changed); "
        "expected: 4; received: 5"
    )
    assert "First divergence" in failure.text


def hostile():
    names = [*CHANGED, "function", "detail", "remedy", "accept", "reproduce", "origin", "received_agent", "page"]
    evil = {**dict.fromkeys(names, EVIL), "kind": "request_changed", "last_agreed": 1, "agreed": 2, "seq": 3}
    return [(EVIL, {**DIVERGED, "guard": EVIL, "outcome": EVIL, "first_divergence": evil, "others": [evil, EVIL]})]


def test_recorded_text_is_data_in_xml_and_in_sarif():
    text = junit_xml(hostile())
    ElementTree.fromstring(text)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<&>" not in text
    message = log(hostile())["runs"][0]["results"][0]["message"]["text"]
    assert "\x1b" not in message
    assert "{{0}}" in message
    assert "\\[x](" in message
    assert json.loads(rendered("sarif", hostile()))["version"] == "2.1.0"


@pytest.mark.parametrize(
    ("where", "place"),
    [("a/b.py:12", ("a/b.py", 12)), ("b.py:0", ("b.py", 1)), ("/x.py:3 in f", ("/x.py", 3)), ("", ("", 1)), ("curl", ("", 1)),
     ("x:y", ("", 1)), ("x.py:" + "9" * 40, ("", 1)), (":5", ("", 1))],
)  # fmt: skip
def test_a_place_in_the_source_is_a_file_and_a_line(where, place):
    assert place_of({"where": where}) == place


def test_a_form_that_is_none_is_refused_before_anything_runs(tmp_path):
    assert {*FORMATS} == {"text", "json", "sarif", "junit"}
    for wrong in ({"format": "xml"}, {"format": "sarif", "json": True}):
        with pytest.raises(UsageError) as raised:
            reporting(output=None, report=None, **wrong)
        assert raised.value.code == "output.format"
    with pytest.raises(UsageError):
        reporting(format="sarif", output=tmp_path, report=None)
    assert reporting(format="text", output=None, report=None, json=True).takes_stdout
    assert not reporting(format="sarif", output=tmp_path / "x", report=None).takes_stdout
