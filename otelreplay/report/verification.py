"""What ``verify`` says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from otelreplay.cassette import Verification
from otelreplay.report.cleaning import Clean
from otelreplay.report.text import fields, wrap

_FACTS = ("ok", "sealed", "signer", "trusted", "expired", "run_id", "revision", "root", "lines", "events", "blobs", "bytes")


def cleaned_verification(found: Verification, clean: Clean) -> Verification:
    """The same with every text that could come from the file cleaned."""
    problems = tuple(replace(problem, message=clean(problem.message)) for problem in found.problems)
    return replace(found, problems=problems, run_id=found.run_id and clean(found.run_id))


def verification_json(found: Verification) -> dict[str, Any]:
    """The answer, its grounds, and every problem with its place."""
    problems = [
        {"code": p.code, "message": p.message, "line": p.line, "offset": p.offset, "event": p.event} for p in found.problems
    ]
    return {name: getattr(found, name) for name in _FACTS} | {"problems": problems}


def verification_text(found: Verification, *, columns: int = 80) -> str:
    """The answer first, then who sealed it, then what is wrong where."""
    answer = "unaltered, and sealed by a trusted signer" if found.ok else "NOT verified"
    facts = [
        ("run", found.run_id or ""),
        ("signer", (f"{found.signer} ({'trusted' if found.trusted else 'not trusted'})") if found.signer else ""),
        ("root", found.root or ""),
        ("holds", f"{found.events} events, {found.blobs} blobs, {found.bytes} bytes"),
        ("expired", "yes: commands refuse it unless --allow-expired is given" if found.expired else ""),
    ]
    lines = [answer, "", *fields(facts, columns=columns, indent="  ")]
    if found.problems:
        lines.append("")
    for problem in found.problems:
        place = f"{problem.where}: " if problem.where else ""
        lines += wrap(f"{place}{problem.message} [{problem.code}]", columns, first="  ", rest="    ")
    if any(p.code == "cassette.untrusted" for p in found.problems):
        lines += ["", *wrap("If you know the signer, take over the key: otelreplay keys trust FILE", columns, first="  ")]
    return "\n".join(lines) + "\n"
