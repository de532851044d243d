"""Replays as JUnit XML, which GitLab, Jenkins and most actions of GitHub show beside the tests.

One ``testsuite`` for each cassette with one ``testcase``, the replay: its failure is the first divergence, with the headline as
message, the code as type and the whole report as text. What could not be judged (missing data, a time limit, a program that
left by the side door) is an ``error``. Text of the run in it is data: XML escapes it, and what XML cannot hold is an escape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from xml.etree import ElementTree

from otelreplay.report.headline import headline, says
from otelreplay.report.replay import replay_text
from otelreplay.report.text import escape, escape_lines

_UNJUDGED: Final = frozenset({"missing_data", "timed_out", "ended_early", "integrity"})


def junit_xml(replays: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """An XML document of (name of the cassette, JSON report) pairs."""
    suites = [_suite(name, report) for name, report in replays]
    whole = ElementTree.Element("testsuites", name="otelreplay")
    for count in ("tests", "failures", "errors"):
        whole.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    whole.extend(suites)
    ElementTree.indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(whole, encoding="unicode") + "\n"


def _suite(name: str, report: Mapping[str, Any]) -> ElementTree.Element:
    outcome = str(report.get("outcome"))
    first = report.get("first_divergence")
    bad, unjudged = outcome != "as_recorded", outcome in _UNJUDGED
    suite = ElementTree.Element(
        "testsuite", name=escape(name), tests="1", failures=str(int(bad and not unjudged)), errors=str(int(bad and unjudged)),
        skipped="0",
    )  # fmt: skip
    properties = ElementTree.SubElement(suite, "properties")
    for key in ("outcome", "exit_code", "run_id", "guard", "served", "unused"):
        if report.get(key) not in (None, ""):
            ElementTree.SubElement(properties, "property", name=key, value=escape(str(report[key])))
    case = ElementTree.SubElement(suite, "testcase", classname=escape(name), name="replay")
    file, line = place_of(first)
    if file:
        case.set("file", escape(file))
        case.set("line", str(line))
    if bad:
        message = "; ".join([headline(first), *says(first)[:3]]) if first else outcome.replace("_", " ")
        kind = str(first.get("code") or outcome) if isinstance(first, Mapping) else outcome
        failed = ElementTree.SubElement(case, "error" if unjudged else "failure", message=escape(message), type=escape(kind))
        failed.text = "\n".join(escape_lines(replay_text(report, columns=100)))
    return suite


def place_of(found: Any) -> tuple[str, int]:
    """(file, line) of the live call of a divergence; nothing and 1 where it is not known."""
    where = str(found.get("where") or "") if isinstance(found, Mapping) else ""
    file, colon, line = where.partition(" in ")[0].rpartition(":")
    if not colon or not line.isdecimal() or not file or len(line) > 9:
        return "", 1
    return file, max(int(line), 1)
