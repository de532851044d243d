"""Replays as SARIF 2.1.0, for code scanning: one result for each divergence, the first of each replay marked as such.

A result points at the line of the program that made the call; where that is not known, at the cassette. It always has a place,
since GitHub shows no result without one. The text of the run in a message is data: no link, no placeholder of SARIF's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

from otelreplay.canonical import digest_value
from otelreplay.replay.divergence import KINDS, page_of
from otelreplay.report.headline import headline, says
from otelreplay.report.junit import place_of
from otelreplay.report.text import escape

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LINK: Final = re.compile(r"\[(?=[^\]]*\]\()")
_PLACEHOLDER: Final = re.compile(r"\{[0-9]+\}")
MEANS: Final[dict[str, str]] = {
    "request_changed": "The expected call was made with other content.",
    "unexpected_call": "The program made a call that the recording does not have.",
    "missing_call": "A recorded call was left out.",
    "order_violation": "A call was made before the reply that asked for it.",
    "response_missing": "The cassette does not hold the answer to this call.",
    "tool_not_registered": "The program does not have a recorded tool.",
    "version_drift": "The request is as recorded, and was made by another version.",
    "live_call_blocked": "The program tried to go live, and was stopped.",
    "events_unused": "The program ended before it came to this event.",
}


def sarif(replays: Iterable[tuple[str, Mapping[str, Any]]], *, version: str) -> dict[str, Any]:
    """A SARIF log of (name of the cassette, JSON report) pairs: one run of the tool over all of them."""
    results: list[dict[str, Any]] = []
    invocations = []
    for name, report in replays:
        found = [report["first_divergence"]] if report.get("first_divergence") else []
        found += report.get("others") or []
        results += [_result(name, one, first=n == 0) for n, one in enumerate(found) if isinstance(one, Mapping)]
        outcome = str(report.get("outcome"))
        if outcome != "as_recorded" and not found:
            results.append(_unnamed(name, outcome))
        code = report.get("exit_code")
        invocations.append({"executionSuccessful": True, "exitCode": code if isinstance(code, int) else 0,
                            "exitCodeDescription": escape(outcome), "properties": {"cassette": escape(name)}})  # fmt: skip
    driver = {"name": "otelreplay", "version": version, "rules": [*map(_rule, KINDS)]}
    run = {
        "tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "invocations": invocations, "results": results,
    }  # fmt: skip
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(kind: str) -> dict[str, Any]:
    return {
        "id": f"replay.{kind}",
        "name": "".join(word.title() for word in kind.split("_")),
        "shortDescription": {"text": MEANS[kind]},
        "help": {"text": f"{MEANS[kind]} See {page_of(kind)}."},
        "defaultConfiguration": {"level": "error"},
    }


def _result(name: str, found: Mapping[str, Any], *, first: bool) -> dict[str, Any]:
    kind, code = str(found.get("kind")), str(found.get("code"))
    made: dict[str, Any] = {"ruleId": f"replay.{kind}" if kind in KINDS else "replay"}
    if kind in KINDS:
        made["ruleIndex"] = KINDS.index(kind)
    made |= {
        "level": "error" if first else "warning",
        "message": {"text": _message(found)},
        "locations": [_location(name, found)],
    }
    if made["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] != _uri(name):
        made["relatedLocations"] = [{"id": 1, "message": {"text": "the recording"}, **_file(name, 1)}]
    steady = [name, code, *(found.get(n) for n in ("boundary", "operation", "path"))]
    made["partialFingerprints"] = {"divergence/v1": digest_value(steady).removeprefix("sha256:")[:32]}
    made["properties"] = {"first": first, "divergence": dict(found)}
    return made


def _message(found: Mapping[str, Any]) -> str:
    """The headline and what differs, without anything that SARIF would read as a link or a placeholder."""
    text = "\n".join(escape(line) for line in [headline(found), *says(found)] if line)
    return _PLACEHOLDER.sub(lambda seen: f"{{{seen[0]}}}", _LINK.sub(r"\\\g<0>", text))


def _unnamed(name: str, outcome: str) -> dict[str, Any]:
    text = f"The replay ended as {outcome.replace('_', ' ')}, and no divergence was seen."
    return {"ruleId": "replay", "level": "error", "message": {"text": text}, "locations": [_file(name, 1)]}


def _location(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    file, line = place_of(found)
    made = _file(file, line) if file else _file(name, 1)
    place = "/".join(str(found[n]) for n in ("agent", "boundary", "operation") if found.get(n))
    if place:
        made["logicalLocations"] = [{"fullyQualifiedName": escape(place), "kind": "member"}]
    return made


def _file(name: str, line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(name)}, "region": {"startLine": line}}}


def _uri(name: str) -> str:
    path = quote(name.encode("utf-8", "surrogatepass"), safe="/._-~")
    return f"file://{path}" if path.startswith("/") else path or "unknown"
