"""What ``show``, ``report`` and ``list`` say of a cassette."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from otelreplay.cassette import Cassette
from otelreplay.cassette.fork import facts as fork_facts
from otelreplay.errors import UsageError
from otelreplay.events import Event, assess
from otelreplay.report.cleaning import Clean, as_it_is, cleaned, cleaned_gaps, cleaned_outline
from otelreplay.report.completeness import completeness_json, completeness_text
from otelreplay.report.text import escape, fields, pad, plural, wrap
from otelreplay.report.timeline import headline, timeline_json, timeline_text


def report_json(cassette: Cassette, *, clean: Clean = as_it_is) -> dict[str, Any]:
    """The missing-data report; ``missing`` holds the run-level gaps, ``gaps`` those of events."""
    found = assess(cassette.events, cassette.missing)
    made = completeness_json(found, events=cassette.events, notes=cassette.notes, about=about(cassette))
    return made if clean is as_it_is else dict(cleaned(made, clean))


def report_text(cassette: Cassette, *, columns: int = 80, clean: Clean = as_it_is) -> str:
    """The same for people."""
    cassette = cleaned_outline(cassette, clean)
    found = cleaned_gaps(assess(cassette.events, cassette.missing), clean)
    return completeness_text(found, events=cassette.events, notes=cassette.notes, about=_labels(cassette), columns=columns)


def show_json(cassette: Cassette, *, clean: Clean = as_it_is) -> dict[str, Any]:
    """The timeline."""
    found = assess(cassette.events, cassette.missing)
    made = about(cassette) | {"verdict": found.verdict, "events": timeline_json(cassette.events)}
    return made if clean is as_it_is else dict(cleaned(made, clean))


def show_text(cassette: Cassette, *, columns: int = 80, clean: Clean = as_it_is) -> str:
    """The timeline for people."""
    cassette = cleaned_outline(cassette, clean)
    found = assess(cassette.events, cassette.missing)
    lost = f", with {plural(len(found.missing), 'gap')} of the run as a whole" if found.missing else ""
    facts = [*_labels(cassette), ("held", headline(cassette.events)), ("verdict", f"{found.verdict}{lost}")]
    return "\n".join([*fields(facts, columns=columns), "", timeline_text(cassette.events, columns=columns)])


def about(cassette: Cassette) -> dict[str, Any]:
    """Which recording this is, and where it comes from."""
    header = cassette.header
    return {
        "run_id": header.run_id,
        "revision": header.revision,
        "trace_ids": list(header.trace_ids),
        "spans": cassette.span_count,
        "logs": cassette.log_count,
        "created": header.created,
        "expires": header.retention.expires,
        "policy": (header.policy or {}).get("name"),
        "policy_digest": header.policy_digest,
        "signer": cassette.seal.signer if cassette.seal else None,
        "parent": header.parent.model_dump() if header.parent else None,
        "lineage": fork_facts(cassette) or None,
        "continues": header.continues,
        "source": header.source,
        "scopes": list(header.scopes),
    }


def _labels(cassette: Cassette) -> Iterator[tuple[str, str]]:
    facts = about(cassette)
    yield "run", facts["run_id"] + (f", revision {facts['revision']}" if facts["revision"] > 1 else "")
    yield (
        "from",
        f"{plural(facts['spans'], 'span')}, {plural(facts['logs'], 'log record')}: {', '.join(facts['scopes'])}".removesuffix(
            ": "
        ),
    )
    yield "policy", str(facts["policy"] or "")
    yield "expires", facts["expires"] or ""
    lineage = facts["lineage"] or {}
    yield "lineage", lineage_words(lineage)
    yield "observed", _observed(lineage.get("observed"))
    unsealed = (
        "no: a draft, which its first replay seals" if lineage.get("draft") else "no: this is what an unfinished cassette holds"
    )
    yield "sealed", f"by {facts['signer']}" if facts["signer"] else unsealed


def lineage_words(lineage: dict[str, Any]) -> str:
    """Where a recording comes from, in one line; nothing for a first one."""
    link = lineage.get("parent")
    if not link:
        return ""
    run = f" of run {link['run_id']}" if link.get("run_id") else ""
    edits = ", ".join(f"event {e.get('seq')} {e.get('field')}" for e in link.get("edits") or () if isinstance(e, dict))
    return f"{'draft of a ' if lineage.get('draft') else ''}{link['kind']}{run} ({link['root'][:12]}): {link['reason']}" + (
        f"; set by hand: {edits}" if edits else ""
    )


def _observed(seen: dict[str, Any] | None) -> str:
    """What the replay that sealed a fork came to."""
    if not seen:
        return ""
    first = seen.get("first_divergence") or {}
    place = f": event {first.get('seq')} {first.get('path') or first.get('operation') or ''}".rstrip() if first else ""
    return f"{seen.get('outcome')}{place}"


def event_of(cassette: Cassette, seq: int) -> Event:
    """One event; UsageError if there is none of this number."""
    for event in cassette.events:
        if event.seq == seq:
            return event
    last = cassette.events[-1].seq if cassette.events else None
    raise UsageError(
        f"there is no event {seq}",
        code="cassette.no_such_event",
        next_step="the cassette holds none"
        if last is None
        else f"they are numbered from 0 to {last}; `otelreplay show` lists them",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """One file of a folder: a cassette, or why it cannot be read as one."""

    name: str
    size: int
    """Bytes of the file."""
    cassette: Cassette | None = None
    problem: str = ""
    exit_code: int = 0
    """What a command that reads this file alone would end with."""


def inventory_code(items: Iterable[Inventory]) -> int:
    """What ``list`` ends with: 0 if every file is a cassette that can be read; else 5 before 6."""
    return min((item.exit_code for item in items if item.exit_code), default=0)


def inventory_json(item: Inventory) -> dict[str, Any]:
    """One line of ``list --json``."""
    if item.cassette is None:
        return {"cassette": item.name, "bytes": item.size, "problem": item.problem}
    found = assess(item.cassette.events, item.cassette.missing)
    facts = about(item.cassette)
    names = ("run_id", "revision", "created", "expires", "policy", "signer", "spans", "lineage")
    kept = {name: facts[name] for name in names}
    gaps = len(found.gaps) + len(found.missing)
    return {"cassette": item.name, "bytes": item.size, **kept, "verdict": found.verdict, "events": found.events, "gaps": gaps}


def inventory_text(items: list[Inventory], *, columns: int = 80) -> str:
    """A line a cassette, two for one that cannot be read."""
    if not items:
        return "no cassettes here\n"
    lines = []
    for item in items:
        row = inventory_json(item)
        lines.append(escape(item.name))
        if item.cassette is None:
            lines.append(f"  cannot be read: {escape(item.problem)}")
        else:
            said = f"{pad(row['verdict'], 14)}  {headline(item.cassette.events)}"
            lines.append("  " + pad(said, columns - 2).rstrip())
            if row["lineage"]:
                lines += wrap(lineage_words(row["lineage"]), columns, first="  ", rest="    ")
    return "\n".join(lines) + "\n"
