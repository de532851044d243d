"""What ``outbox status`` and ``outbox send`` say. Never payload: spans are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otelreplay.instrument.left import Left, Sent
from otelreplay.report.text import plural


def status_json(folder: str, outboxes: Sequence[Left]) -> dict[str, Any]:
    """Every outbox, and the sums."""
    return {
        "folder": folder,
        "spans": sum(each.spans for each in outboxes),
        "lost": sum(sum(each.lost.values()) for each in outboxes),
        "outboxes": [
            {
                "file": str(each.file), "url": each.url, "protocol": each.protocol, "headers": list(each.headers),
                "process": "living" if each.living else "gone", "spans": each.spans, "open": each.open, "bytes": each.size,
                "lost": dict(each.lost), "damaged": each.damaged,
            }
            for each in outboxes
        ],
    }  # fmt: skip


def status_text(found: Mapping[str, Any]) -> str:
    """The same for people."""
    lines = [f"{found['folder']}: {_spans(found['spans'])} in {plural(len(found['outboxes']), 'outbox', 'outboxes')}"]
    for each in found["outboxes"]:
        state = "damaged" if each["damaged"] else f"process {each['process']}"
        said = [f"{_spans(each['spans'])} wait", f"{each['open']} open", *_lost(each["lost"])]
        lines.append(f"  {each['url']} ({each['protocol']}), {state}: {', '.join(said)}")
    if any(each["process"] == "gone" for each in found["outboxes"]):
        lines.append("`otelreplay outbox send` sends what processes that are gone have left")
    return "\n".join(lines) + "\n"


def sending_json(done: Sequence[Sent]) -> dict[str, Any]:
    """What came of it, by destination."""
    return {
        "sent": sum(each.sent for each in done),
        "pending": sum(each.pending for each in done),
        "destinations": [
            {"url": each.url, "sent": each.sent, "pending": each.pending, "lost": dict(each.lost), "error": each.error or None}
            for each in done
        ],
    }


def sending_text(found: Mapping[str, Any]) -> str:
    """The same for people."""
    if not found["destinations"]:
        return "nothing waits that a living process does not send itself\n"
    lines = []
    for each in found["destinations"]:
        said = [f"{_spans(each['sent'])} sent", *_lost(each["lost"])]
        if each["pending"]:
            said.append(f"{each['pending']} still wait{_why(each['error'])}")
        lines.append(f"{each['url']}: {', '.join(said)}")
    return "\n".join(lines) + "\n"


def _why(error: str | None) -> str:
    if error == "headers":
        return ": its headers are not known here; give them with --header or OTEL_EXPORTER_OTLP_HEADERS"
    return f" ({error})" if error else ""


def _spans(number: int) -> str:
    return f"{number} span{'' if number == 1 else 's'}"


def _lost(lost: Mapping[str, int]) -> list[str]:
    return [f"{number} lost ({reason})" for reason, number in sorted(lost.items())]
