"""Real traces of real packages, converted by the command line and scored against what crossed the wire.

The captures stand beside the project, not in it; without them these tests are skipped, except where CI says that they must be
there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
CLI = f"{sys.executable} -m otelreplay"
FAMILIES = ("openai-v2*", "genai-*", "google-genai*", "damage--genai-*", "damage--openai-v2*")

pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir() and os.environ.get("CI") != "true", reason="the captures are not beside the project"
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_lost_silent_invented_denied_or_misordered(family, tmp_path):
    """The scorer's word on every capture of a family, and on every detail beside the content."""
    environment = {**os.environ, "OTELREPLAY_KEYS": str(tmp_path / "keys")}
    command = [
        sys.executable,
        str(CORPUS / "score.py"),
        "--all",
        str(CORPUS / "captures"),
        "--only",
        family,
        "--cli",
        CLI,
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=580, env=environment, check=False)
    assert done.stdout, done.stderr
    result = json.loads(done.stdout)
    imperfect = {
        r["capture"]: {k: v for k, v in r.items() if v} for r in result["rows"] if r["trouble"] or r["lost"] or r["silent"]
    }
    assert not imperfect
    assert result["total"]["captures"] > 0
    assert result["total"]["perfect"] == result["total"]["captures"]
    details = result["total"]["details"]
    assert (details["wrong"], details["recovered"]) == (0, details["recoverable"])
