"""What a receiver says, as text: the line when it is ready, its status, what it sealed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from otelreplay.report.text import escape


def ready_text(*, store: str, grpc: str, http: str) -> str:
    """The one line that says that a receiver takes requests, and where."""
    ways = " and ".join(f"{name} {address}" for name, address in (("grpc", grpc), ("http", http)) if address)
    return f"ready: {ways} -> {escape(store)}\n"


def status_text(status: Mapping[str, Any]) -> str:
    """The status in lines."""
    return "".join(f"{name:<14}{value}\n" for name, value in _status(status))


def _status(status: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "served" in status:  # of a folder; a receiver that answers is one
        yield "served", {True: "yes", False: "no", None: "not known"}[status["served"]]
    received, stored, duplicates = status["received"], status["stored"], status["duplicates"]
    yield "received", f"{received['spans']} spans, {received['logs']} log records in {received['requests']} requests"
    yield "stored", f"{stored['spans']} spans, {stored['logs']} log records"
    yield "duplicates", f"{duplicates['spans']} spans, {duplicates['logs']} log records"
    yield "conflicts", f"{status['conflicts']} spans came again with other content"
    yield "late", f"{status['late']['spans']} spans, {status['late']['logs']} log records"
    yield "dropped", f"{status['metrics_dropped']} metrics, {status['unplaced_logs']} log records of no trace"
    refused = ", ".join(f"{count} {escape(reason)}" for reason, count in status["refused"].items())
    yield "refused", refused or "nothing"
    sealed = status["sealed"]
    yield "sealed", f"{sealed['written']} runs, {sealed['revised']} revisions, {sealed['set_aside']} set aside"
    pending = status["pending"]
    yield "pending", f"{pending['traces']} traces with {pending['spans']} spans"
    for each in pending["list"]:
        ended = "root ended" if each["root_ended"] else "root not ended"
        yield "", f"{escape(each['trace_id'])}  {each['spans']} spans, {ended}"
    for sentence in status["recent_refusals"]:
        yield "", escape(sentence)


def sealed_text(answer: Mapping[str, Any]) -> str:
    """What was sealed, a run a line."""
    lines = [f"{run['cassette']}  {run['outcome']}, {run['verdict']}, {run['events']} events" for run in answer["runs"]]
    return "".join(f"{escape(line)}\n" for line in lines or ["nothing was pending"])
