"""Responses rebuilt from the spans of real packages are those that the provider had sent, in every field that the spans carry.

Where a span says something else than the provider did, that is listed here with the reason; nothing else may differ. The
captures stand beside the project, not in it.
"""

import fnmatch
import os
import re

import pytest

from benchmarks import resurrection

SAID_OTHERWISE = (
    ("*", r"usage\..*", {"0", "", "[]"}, "counts that the provider did not send are written as nothing"),
    ("claude-code--*", r"usage\.(service_tier|speed|iterations|inference_geo)", None, "the program adds them to its record"),
    ("traceloop-anthropic--*", r"usage\.output_tokens", None, "of a stream the package counts by itself"),
    ("*", r".*\.functionCall\.id", None, "the provider sent none; the framework or the package made one"),
    ("traceloop-google--*--stream", r".*\.text", None, "of a stream only the last chunk is recorded"),
    ("litellm-otel--*--stream", r"choices\[0\]\.finish_reason", None, "of a stream the package always says stop"),
    ("*--stream*", r"choices\[0\]\.message\.content", {""}, "the package joins what it was sent: nothing is an empty text"),
    ("*", r"model", None, "one attribute for the model that was asked for and the one that answered"),
    ("traceloop-*--responses--*", r"output\[\d+\]\.call_id", None, "the id of the item stands where that of the call belongs"),
)
"""Captures, path, values (or any), reason."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not resurrection.CAPTURES.is_dir() and os.environ.get("CI") != "true", reason="the captures are not beside the project"
    ),
]


def excused(capture, path, made):
    return any(
        fnmatch.fnmatch(capture, pattern) and re.fullmatch(field, path) and (values is None or str(made) in values)
        for pattern, field, values, _ in SAID_OTHERWISE
    )


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTELREPLAY_KEYS", str(tmp_path_factory.mktemp("keys")))
        return [resurrection.score(capture) for capture in resurrection.captures()]


@pytest.mark.timeout(900)
def test_every_field_that_the_spans_carry_comes_back(scores):
    """Lost: the spans hold it, and it is not rebuilt. Wrong: it is rebuilt as something that stands nowhere."""
    assert [(s.capture, *leaf) for s in scores for leaf in s.listed if leaf[0] in ("lost", "wrong")] == []
    assert sum(s.leaves["equal"] for s in scores) > 10_000


@pytest.mark.timeout(900)
def test_where_a_span_says_something_else_the_reason_is_known(scores):
    unknown = [
        (s.capture, path, sent, made)
        for s in scores
        for name, path, sent, made in s.listed
        if name == "told" and not excused(s.capture, path, made)
    ]
    assert unknown == []


@pytest.mark.timeout(900)
def test_no_answer_is_left_out_without_a_cause(scores):
    """Either there is no event, since its span never came or belongs to no trace, or the event says what is missing."""
    causes = {why.partition(": ")[2] for s in scores for why in s.unanswered if why != "no event"}
    assert causes <= {"content_not_captured", "truncated", "not_carried_by_convention"}
