"""``make demo`` does what the README promises, and shows nothing that the policy takes out."""

import subprocess
import sys

import pytest

from tests.project.house import ROOT

PRIVATE = ("customer.1001@example.com", "202-555-0143", "sk-proj-NotARealKey")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    command = [sys.executable, "-m", "examples.demo", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, out


def test_the_demo_shows_a_full_and_a_partial_recording(demo):
    said, out = demo
    assert [len(list((out / name).glob("*.cassette.jsonl"))) for name in ("good", "damaged")] == [1, 1]
    assert "full: " in said
    assert "partial: " in said


def test_the_demo_names_the_cause_of_each_accident(demo):
    second = demo[0].split("damaged on the way")[1].split("An agent of your own")[0]
    assert all(cause in second for cause in ("content_not_captured", "truncated", "inferred"))


def test_the_demo_records_an_agent_over_otlp_and_replays_it_without_a_live_call(demo):
    said, out = demo
    recorded, replayed = said.split("3. An agent of your own")[1].split("4. Replay it")
    assert len(list((out / "store" / "cassettes").glob("*.cassette.jsonl"))) == 1
    assert recorded.count("[shop] paid 129.00 EUR") == 1
    assert "[shop]" not in replayed, "a write of the original run was done again"
    same, changed = replayed.split("5. Change the agent")
    assert "as_recorded" in same
    assert "Writes of the original run" in same
    assert "diverged" in changed
    assert "request.system[0].content" in changed


def test_no_file_that_otelreplay_wrote_holds_what_the_policy_takes_out(demo):
    _, out = demo
    written = [p for p in out.rglob("*") if p.is_file() and p.name != "support-desk-damaged.jsonl"]
    assert len(written) >= 3
    assert [p.name for p in written if any(text.encode() in p.read_bytes() for text in PRIVATE)] == []


def test_the_demo_fits_a_terminal_of_80_columns(demo):
    """Paths are as long as the folder they are in, and a digest is one word; nothing else may be wider."""
    said, out = demo
    assert [line for line in said.splitlines() if len(line) > 80 and str(out) not in line and "sha256:" not in line] == []
