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
OTHERS = (
    "adk*", "agentops*", "ai-sdk*", "autogen*", "claude-code*", "crewai*",
    "dspy*", "gemini-cli*", "hand*", "haystack*", "lang*", "llama*",
    "logfire*", "maf*", "mlflow*", "oai-agents*", "openai-agents*", "openinference*", "openlit*", "pydantic-ai*",
    "semantic-kernel*", "strands*", "traceloop*",
)  # fmt: skip
"""Families that are read whole; of their details some are not."""
CLI = f"{sys.executable} -m otelreplay"
FAMILIES = ("openai-v2*", "genai-*", "google-genai*", "damage--genai-*", "damage--openai-v2*")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not CORPUS.is_dir() and os.environ.get("CI") != "true", reason="the captures are not beside the project"
    ),
]


def scored(family, tmp_path):
    """The scorer's word on every capture of a family."""
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
    return result["total"]["details"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_is_lost_silent_invented_denied_or_misordered_and_every_detail_is_there(family, tmp_path):
    details = scored(family, tmp_path)
    assert (details["wrong"], details["recovered"]) == (0, details["recoverable"])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("family", OTHERS)
def test_of_every_other_convention_nothing_is_lost_silent_invented_denied_or_misordered(family, tmp_path):
    scored(family, tmp_path)
