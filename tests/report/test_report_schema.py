"""Every report is what the published schema says, and the schema knows every member of it."""

import json

import jsonschema
import pytest

from otelreplay.replay import Blocked, Divergence
from otelreplay.report.schema import DIVERGENCE, REPORT, report_schema, schema_text
from otelreplay.run.outcome import replayed
from tests.project.house import ROOT
from tests.report.mistakes import MISTAKES, played
from tests.run.test_outcome import EVENTS, TABLE

CHECK = jsonschema.Draft202012Validator(report_schema())


def strictly(report):
    """Valid, and without a member that the schema does not describe."""
    CHECK.validate(json.loads(json.dumps(report)))
    assert {*report} <= {*REPORT}
    for found in [report["first_divergence"] or {}, *report["others"]]:
        assert {*found} <= {*DIVERGENCE}


def test_the_published_schema_is_the_one_in_use():
    CHECK.check_schema(report_schema())
    assert (ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8") == schema_text()


@pytest.mark.parametrize("name", ["", *MISTAKES])
def test_the_report_of_every_mistake_is_valid(name):
    strictly(played(name, observe=len(name) % 2 == 0).as_json())


@pytest.mark.parametrize("name", TABLE)
def test_the_report_of_every_end_has_only_members_that_are_described(name):
    report = dict(replayed(TABLE[name][0], EVENTS).report)
    strictly(report)


def test_a_blocked_call_is_valid():
    strictly(played("", blocked=Blocked(what="connect", target="203.0.113.9:443", stack=("a.py:1",))).as_json())


def test_the_schema_has_every_member_of_a_divergence_and_no_other():
    assert {*Divergence(kind="missing_call").as_json()} == {*DIVERGENCE}


def test_what_is_no_report_is_refused():
    report = played("").as_json()
    for wrong in ({"outcome": "fine"}, {"served": -1}, {"first_divergence": {"code": "replay.other"}}, {"others": [{}]}):
        assert not CHECK.is_valid(report | wrong)
