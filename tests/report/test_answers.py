"""What ``convert``, ``verify``, ``list``, ``keys`` and ``policy`` say."""

from dataclasses import replace

import pytest

from otelreplay.cassette import Problem, Verification
from otelreplay.events import assess
from otelreplay.pipeline.result import ConvertedRun, ConvertResult
from otelreplay.redaction import PolicyCheck, default_policy, load_policy, off_policy
from otelreplay.report.cassette import Inventory, inventory_json, inventory_text
from otelreplay.report.completeness import completeness_text
from otelreplay.report.conversion import conversion_json, conversion_text
from otelreplay.report.keys import keys_text
from otelreplay.report.policy import policy_json, policy_text, policy_yaml
from otelreplay.report.verification import verification_json, verification_text
from otelreplay.spans import Rejected
from tests.report.runs import EVENTS

RUN = ConvertedRun(
    run_id="ab", revision=1, cassette="ab.cassette.jsonl", outcome="written", verdict="full", events=4, spans=3, missing=1
)
GOOD = Verification(
    ok=True,
    problems=(),
    sealed=True,
    signer="f" * 32,
    trusted=True,
    root="ab" * 32,
    run_id="cd",
    revision=1,
    events=1,
    blobs=2,
    bytes=3,
)


def test_a_conversion_is_told_a_run_at_a_time_and_then_as_a_whole():
    shown = conversion_text(ConvertResult(runs=(RUN,), spans=3, logs=1))
    assert "ab.cassette.jsonl\n  full, 4 events from 3 spans, 1 gap\n1 run from 3 spans and 1 log record\n" == shown


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (ConvertResult(runs=(), duplicates=2), "2 spans came more than once"),
        (ConvertResult(runs=(), input_notes=(("metrics_skipped", 3),)), "3: metrics, which hold no part of a run\n"),
        (ConvertResult(runs=(), conflicts=1), "1 span came again with other content"),
        (ConvertResult(runs=(), unplaced_logs=1), "1 log record without a trace id could not be placed"),
        (
            ConvertResult(runs=(), rejected=(Rejected("f, line 1", "bad\x1b"),), rejected_total=30),
            "  f, line 1: bad\\x1b\n  and 10 more",
        ),
        (ConvertResult(runs=(replace(RUN, outcome="unchanged"),)), "not written again"),
        (
            ConvertResult(runs=(replace(RUN, outcome="revised", revision=2, superseded="x"),)),
            "revision 2; the one before is now old/x",
        ),
        (ConvertResult(runs=(RUN,) * 25), "and 5 more (--json lists them all)"),
    ],
)
def test_what_is_odd_about_a_conversion_is_said(result, said):
    assert said in conversion_text(result, superseded="old/")


def test_an_ordinary_conversion_says_nothing_odd():
    assert 3 == conversion_text(ConvertResult(runs=(RUN,), spans=3)).count("\n")


def test_the_json_of_a_conversion_lists_everything():
    found = conversion_json(ConvertResult(runs=(RUN,) * 25, rejected=(Rejected("f, line 1", "bad"),), rejected_total=1))
    assert 25 == len(found["runs"])
    assert ("ab.cassette.jsonl", "written", 1) == tuple(found["runs"][0][k] for k in ("cassette", "outcome", "missing"))
    assert [{"where": "f, line 1", "reason": "bad"}] == found["rejected"]


def test_a_good_cassette_is_called_so():
    assert verification_text(GOOD).startswith("unaltered, and sealed by a trusted signer\n")
    assert verification_json(GOOD)["ok"] is True
    assert [] == verification_json(GOOD)["problems"]


def test_every_problem_is_named_with_its_place():
    problems = (
        Problem(code="cassette.altered", message="altered", line=3, offset=120, event=7),
        Problem(code="x.y", message="odd"),
    )
    shown = verification_text(replace(GOOD, ok=False, problems=problems))
    assert shown.startswith("NOT verified\n")
    assert "line 3, byte 120, event 7: altered [cassette.altered]" in shown
    assert "  odd [x.y]" in shown
    assert "keys trust" not in shown
    assert [3, None] == [p["line"] for p in verification_json(replace(GOOD, problems=problems))["problems"]]


def test_an_untrusted_signer_comes_with_the_way_to_trust_it():
    shown = verification_text(
        replace(GOOD, ok=False, trusted=False, problems=(Problem(code="cassette.untrusted", message="unknown"),))
    )
    assert "(not trusted)" in shown
    assert "otelreplay keys trust FILE" in shown


def test_an_expired_cassette_is_said_to_be_so():
    assert "expired" not in verification_text(GOOD)
    assert "--allow-expired" in verification_text(replace(GOOD, expired=True))


def test_a_file_that_cannot_be_read_is_listed_with_its_problem():
    item = Inventory(name="a\x1b.cassette.jsonl", size=3, problem="not sealed")
    assert "a\\x1b.cassette.jsonl\n  cannot be read: not sealed\n" == inventory_text([item])
    assert {"cassette": item.name, "bytes": 3, "problem": "not sealed"} == inventory_json(item)


def test_keys_are_listed_with_the_own_one_apart():
    shown = keys_text({"folder": "/k", "signing": "aa", "trusted": ["aa", "bb"], "pseudonym_epoch": None})
    assert "folder      /k\nseals with  aa\npseudonyms  no key yet\ntrusts      bb\n" == shown


def test_a_policy_is_shown_rule_by_rule():
    shown = policy_text(policy_json(default_policy(), PolicyCheck()))
    assert shown.startswith("the policy can be used\n")
    assert "  email        pseudonym  detector email\n" in shown
    assert "none: nothing is redacted" in policy_text(policy_json(off_policy(), PolicyCheck()))


def test_what_a_rule_covers_and_why_one_is_refused_is_shown():
    policy = load_policy("version: 1\nname: p\nrules:\n  - {id: a, attribute: x.y, action: mask}\n", "p")
    covered = policy_text(policy_json(policy, PolicyCheck(compiled=(("a", ("request.arguments",)),))))
    refused = policy_text(policy_json(policy, PolicyCheck(refused=(("a", "no such field"),))))
    assert "    covers request.arguments\n" in covered
    assert refused.startswith("the policy CANNOT be relied on")
    assert "  rule a: no such field\n" in refused


def test_a_policy_as_yaml_is_the_same_policy_again():
    again = load_policy(policy_yaml(default_policy()), "again")
    assert default_policy().digest() == again.digest()


def test_the_yaml_of_a_policy_holds_no_registered_secret():
    policy = load_policy("version: 1\nname: p\nrules:\n  - {id: a, secret: hunter2hunter2, action: mask}\n", "p")
    assert "hunter2" not in policy_yaml(policy) + policy_text(policy_json(policy, PolicyCheck()))


def test_a_full_report_says_how_much_of_it_is_inferred():
    shown = completeness_text(assess(EVENTS[1:3]), events=EVENTS)
    assert "full: every boundary has its request and its response, 1 of these inferred" == shown.splitlines()[0]
