"""Makes the golden cassettes of the format that this version writes: ``python -m tests.golden.make``.

They are made once, when a format is frozen, and never again: what a released version wrote must stay readable as it is. So a
folder that is there already is refused, unless its format is a draft. Making those of a format removes those of its draft,
which was never released. The format stands in one place, ``FORMAT`` in ``otelreplay/cassette/header.py``; the example of
``docs/cassette-format.md`` and the name of the format there are written anew with ``--document``.
"""

import re
import shutil
import sys
from pathlib import Path

import zstandard

from otelreplay.canonical import dumps
from otelreplay.cassette.header import FORMAT
from otelreplay.report.event import event_json
from tests.cassette import runs
from tests.golden.recordings import golden

HERE = Path(__file__).parent
PACKED = "history"
"""Also stored compressed."""


def events_of(cassette):
    """The expected events, a line each."""
    return b"".join(dumps(event_json(event)) + b"\n" for event in cassette.events)


def make(folder):
    folder.mkdir()
    for name, lines in golden().items():
        data = b"".join(lines)
        (folder / f"{name}.cassette.jsonl").write_bytes(data)
        (folder / f"{name}.events.jsonl").write_bytes(events_of(runs.read(lines)))
        if name == PACKED:
            (folder / "packed.cassette.jsonl.zst").write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(data))
            (folder / "packed.events.jsonl").write_bytes(events_of(runs.read(lines)))


def document():
    """Write the example of the format's page, and the format's name there, anew."""
    from tests.cassette.test_format_document import DOCUMENT, example_lines
    from tests.project.house import ROOT

    lines = b"".join(example_lines()).decode()
    text = re.sub(
        r"(```text\n)\{\"type\":\"header\".*?\n(```)", lambda m: m[1] + lines + m[2], DOCUMENT, count=1, flags=re.DOTALL
    )
    known = FORMAT.partition("-")[0]
    text = re.sub(rf"\| `{known}(-draft)?`\. A reader", f"| `{FORMAT}`. A reader", text)
    (ROOT / "docs" / "cassette-format.md").write_text(text, encoding="utf-8")


def main(arguments):
    if "--document" in arguments:
        document()
        return 0
    folder = HERE / FORMAT
    if folder.exists() and "-" not in FORMAT:
        print(f"{folder} is there: golden cassettes of a frozen format are never made again", file=sys.stderr)
        return 1
    for old in (folder, HERE / f"{FORMAT}-draft"):
        shutil.rmtree(old, ignore_errors=True)
    make(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
