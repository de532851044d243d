"""Real captures, replayed by ``run`` with the very script that made them: nothing prepared, no provider, no tool that runs.

Each capture was made by running a script against a provider and three tools. Here the script runs from the trace alone.
It gives the answer that the provider gave; where the trace does not hold what that takes, the gap is named, and the exit code
is 3. The captures and the script stand beside the project; without them these tests are skipped.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared"
CAPTURES, RIG = SHARED / "corpus" / "captures", SHARED / "rig"
TOOLS = ("lookup_order", "search_policy", "draft_refund")
GAPS = frozenset({"missing data", "truncation", "redaction"})


def replayable():
    """(name of the capture, the script and its arguments)."""
    for meta in sorted(CAPTURES.glob("*/meta.json")):
        held = json.loads(meta.read_text(encoding="utf-8")).get("replay")
        if held:
            yield meta.parent.name, (held["script"], *held["args"])


ALL = dict(replayable())
KINDS = {words: name for name, words in reversed(ALL.items())}
"""One capture for each way in which the script was called."""
SAMPLE = sorted(KINDS.values())

pytestmark = pytest.mark.skipif(not ALL and os.environ.get("CI") != "true", reason="the captures are not beside the project")


def otelreplay(*words, folder, **more):
    environ = {**os.environ, "OTELREPLAY_KEYS": str(folder / "keys"), **more}
    command = [sys.executable, "-m", "otelreplay", *map(str, words)]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=180, check=False)


def replayed(name, folder):
    """(what the program printed, the report), having seen that no tool ran."""
    importlib.import_module({"anthropic": "anthropic", "gemini": "google.genai"}.get(ALL[name][1], "openai"))
    done = otelreplay("convert", CAPTURES / name / "otlp.jsonl", "--out", "made", "--one-run", folder=folder)
    (cassette,) = (folder / "made").glob("*.cassette.jsonl")
    truth, report = folder / "truth.jsonl", folder / "report.json"
    truth.touch()
    tools = [word for tool in TOOLS for word in ("--tool", f"order_tools:{tool}")]
    script, *arguments = ALL[name]
    words = ("run", cassette, *tools, "--report", report, "--", sys.executable, RIG / script, *arguments)
    done = otelreplay(*words, folder=folder, RIG_TRUTH=str(truth))
    assert "" == truth.read_text(encoding="utf-8"), "a tool really ran"
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["exit_code"] == done.returncode, done.stderr
    return done.stdout, found


def said(name):
    """Everything that the provider said to the model's last caller, as JSON text."""
    lines = (CAPTURES / name / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return json.dumps([r for r in map(json.loads, lines) if r.get("boundary") == "model"], ensure_ascii=False)


def judge(name, folder):
    printed, report = replayed(name, folder)
    assert [] == report["blocked"]
    if report["exit_code"] == 3:
        first = report["first_divergence"]
        assert "response_missing" == first["kind"]
        assert first["cause"] in GAPS
        assert first["path"] or first["detail"]
        return
    assert ("as_recorded", 0, None) == (report["outcome"], report["exit_code"], report["first_divergence"])
    assert 0 == report["unused"]
    assert json.dumps(printed.strip(), ensure_ascii=False)[1:-1] in said(name)
    assert printed.strip()


@pytest.mark.parametrize("name", SAMPLE[::8])
def test_a_capture_replays_with_the_script_that_made_it(name, tmp_path):
    judge(name, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ALL)
def test_every_capture_replays_or_names_what_it_lacks(name, tmp_path):
    judge(name, tmp_path)
