"""``replay`` and ``run`` give their report in every form, and go on after a divergence where that is asked for."""

import json
import sys
from xml.etree import ElementTree

import jsonschema

from otelreplay.report.schema import report_schema
from tests.run.test_unprepared import PYTHON, converted, trace

CHANGED = {"replace": ('refund(order, 4.0, key="k-1")', 'refund(order, 5.0, key="k-1")')}


def test_a_form_other_than_text_goes_to_stdout_and_the_programs_output_to_stderr(desk):
    done = desk.agent(**CHANGED).replay("desk", None, "--format", "sarif", expect=1)
    (result,) = json.loads(done.out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert ("replay.request_changed", "agent.py") == (result["ruleId"], place["artifactLocation"]["uri"])
    assert place["region"]["startLine"] > 1
    jsonschema.Draft202012Validator(report_schema()).validate(done.report)
    assert "desk.cassette.jsonl" == done.report["cassette"]


def test_with_output_the_form_goes_to_the_file_and_the_text_to_stderr(desk):
    done = desk.agent(**CHANGED).replay("desk", None, "--format", "junit", "--output", "out.xml", expect=1)
    assert "First divergence" in done.err
    (suite,) = ElementTree.parse(desk.folder / "out.xml").getroot()
    assert ("desk.cassette.jsonl", "1") == (suite.get("name"), suite.get("failures"))
    assert "" == done.out


def test_observe_goes_to_the_end_of_the_program_and_is_not_green(desk):
    replaced = ("lookup(order)\n    said = chat", 'lookup("other")\n    said = chat')
    done = desk.agent(replace=replaced, middle='chat([{"role": "user", "content": "again"}])').replay(
        "desk", None, "--observe", expect=1
    )
    found = [done.report["first_divergence"], *done.report["others"]]
    assert ["lookup", "chat"] == [one["function"].rpartition(":")[2] for one in found][:2]
    assert "--observe" in found[0]["reproduce"]
    assert (True, 0) == (done.report["observe"], done.report["child_exit"])
    assert "answer: refund it\n" == done.out
    assert [entry for entry in done.report["assumed"] if entry["reason"] == "origin assumed"]


def test_a_form_that_is_none_is_refused_before_the_program_starts(desk):
    done = desk.replay("desk", None, "--format", "xml", expect=2)
    assert "output.format" in done.err
    assert "answer" not in done.out


def test_a_program_that_nobody_prepared_is_reported_in_the_same_forms_and_observed_to_its_end(desk):
    cassette = converted(desk, trace())
    desk.write("agent.py", PYTHON.replace('"temperature": 0.5', '"temperature": 0.9'))
    asked = ("--observe", "--format", "junit", "--report", "report.json")
    done = desk.run("run", cassette, *asked, "--", sys.executable, "agent.py", expect=1)
    (suite,) = ElementTree.fromstring(done.out)
    assert "replay.request_changed" == suite.find("testcase/failure").get("type")
    report = json.loads((desk.folder / "report.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(report_schema()).validate(report)
    found = [report["first_divergence"], *report["others"]]
    assert ["request.params.temperature"] * 2 == [one["path"] for one in found]
    assert (2, 0, "diverged", 0) == (report["served"], report["unused"], report["outcome"], report["child_exit"])
    assert "Bye." in done.err
    assert "--observe" in report["first_divergence"]["reproduce"]
