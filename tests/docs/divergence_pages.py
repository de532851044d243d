"""The example of each page in ``docs/divergences``: a change of the order desk, and what a replay says of it.

``python -m tests.docs.divergence_pages`` writes the reports into the pages anew.
"""

import re
from dataclasses import replace

from otelreplay.events import Missing
from otelreplay.replay import KINDS, Blocked
from otelreplay.report.replay import replay_text
from tests.project.house import ROOT
from tests.report import mistakes

FOLDER = ROOT / "docs" / "divergences"
BLOCK = re.compile(r"^```text\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"`(agent|shop|model)\.py`")


def page(kind):
    return FOLDER / f"{kind}.md"


def change_of(text):
    """(file, what stands there, what stands there instead) from the first block of a page."""
    block = BLOCK.findall(text)[0]
    old, new = ("".join(line[2:] + "\n" for line in block.splitlines() if line[:1] in (side, " ")) for side in "-+")
    return f"{FILE.search(text)[1]}.py", old, new


def cassette_for(kind):
    """The recording, with what the page says of it."""
    cassette = mistakes.recorded()
    events = {event.name: event for event in cassette.events}
    changes = {}
    if kind == "response_missing":
        gap = Missing(field="response.result", cause="content_not_captured", remedy="set OTELREPLAY_CAPTURE_CONTENT=full")
        changes = {"track_parcel": {"response": None, "missing": [gap]}}
    elif kind == "version_drift":
        changes = {"lookup_order": {"versions": {"tool": "1"}}}
    elif kind == "events_unused":
        changes = {"order-desk": {"response": None}}
    assert {*changes} <= {*events}
    made = [event.model_copy(update=changes.get(event.name, {})) for event in cassette.events]
    return replace(cassette, events=tuple(made))


def report_of(kind):
    """The part of the report that the page shows."""
    name = f"page {kind}"
    text = page(kind).read_text(encoding="utf-8")
    more = {}
    if kind == "tool_not_registered":
        more["registered"] = lambda: {"lookup_order", "refund"}
    if kind == "live_call_blocked":
        more["blocked"] = Blocked(what="connect", target="203.0.113.9:443", where="agent.py:34")
    mistakes.MISTAKES[name] = change_of(text)
    try:
        result = mistakes.played(name, cassette=cassette_for(kind), **more)
    finally:
        del mistakes.MISTAKES[name]
    said = replay_text(result.as_json(), columns=100)
    shown = said[said.index("  replay.") : said.index("    page  ")]
    return "".join(line[2:] + "\n" for line in shown.replace("desk_page_" + kind, "order_desk").splitlines())


def main():
    for kind in KINDS:
        text = page(kind).read_text(encoding="utf-8")
        second = list(BLOCK.finditer(text))[1]
        page(kind).write_text(text[: second.start(1)] + report_of(kind) + text[second.end(1) :], encoding="utf-8")


if __name__ == "__main__":
    main()
