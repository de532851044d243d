"""Public trace files of other formats, by the command line: each converts, or is refused with the reason.

They stand beside the project, not in it; without them these tests are skipped, except where CI says that they must be there.
"""

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.command import Desk

FOREIGN = Path(__file__).parents[3] / "shared" / "foreign"
FILES = sorted(FOREIGN.rglob("*.json")) if FOREIGN.is_dir() else []
REFUSED = {
    "histories_customer-service-workflow-history.json": "input.form_not_read",
    "fixtures_opencode-B.doStream.json": "input.no_ids",
    "fixtures___openinference_client_span_tool_calls.json": "input.no_ids",
    "fixtures___otel_genai_client_span_tool_calls.json": "input.no_ids",
    "forge-attempt_attribution.json": "trace.nothing_readable",
}
"""Every other file converts."""


@pytest.mark.skipif(not FILES and os.environ.get("CI") != "true", reason="the files are not beside the project")
def test_the_files_are_there():
    assert len(FILES) > 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_foreign_file_converts_or_is_refused_with_the_reason(path, tmp_path):
    desk = Desk(tmp_path)
    code = REFUSED.get(path.name)
    done = desk.run("convert", path, "--out", "out", "--json", expect=6 if code else 0)
    if code:
        assert re.fullmatch(rf"otelreplay: [^\n]+ \[{re.escape(code)}\]\n", done.err)
        assert not desk.cassettes()
        return
    result = json.loads(done.out)
    assert result["spans"] > 0
    assert result["rejected"] == []
    assert sum(run["events"] for run in result["runs"]) > 0
