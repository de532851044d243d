"""``replay DIR``: many cassettes, each on its own, failures grouped."""

import contextlib
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def many(desk, *more, expect=0, agent="agent:desk"):
    done = desk.run("replay", "all", "--agent", agent, "--json", *more, expect=expect)
    return json.loads(done.out)


@pytest.fixture
def folder(desk):
    """The same run four times, one of them deeper."""
    (desk.folder / "all" / "deeper").mkdir(parents=True)
    for name in ("one", "two", "three", "deeper/four"):
        shutil.copy(desk.folder / "desk.cassette.jsonl", desk.folder / "all" / f"{name}.cassette.jsonl")
    return desk


def test_all_as_recorded_is_0(folder):
    found = many(folder)
    assert (found["replayed"], found["passed"], found["failed"], found["groups"]) == (4, 4, 0, [])
    said = folder.run("replay", "all", "--agent", "agent:desk", "--jobs", "2").out
    assert said == "4 replays: 4 as recorded, 0 not\n"


def test_failures_are_grouped_by_their_first_divergence(folder):
    folder.agent(replace=("refund(order, 4.0", "refund(order, 5.0"))
    shutil.copy(folder.folder / "talk.cassette.jsonl", folder.folder / "all")
    found = many(folder, expect=1)
    first, second = found["groups"]
    assert (first["count"], first["code"], first["path"]) == (4, "replay.request_changed", "request.arguments.amount")
    assert first["common"]["tool"] == ["lookup", "refund"]
    assert first["reproduce"].startswith("otelreplay replay all/")
    assert (second["count"], second["cassettes"]) == (1, ["all/talk.cassette.jsonl"])
    text = folder.run("replay", "all", "--agent", "agent:desk", expect=1).out
    assert "1. replay.request_changed: tool refund, request.arguments.amount (4 runs)" in text


def test_one_bad_cassette_does_not_stop_the_others_and_decides_the_exit_code(folder):
    bad = folder.folder / "all" / "two.cassette.jsonl"
    bad.write_bytes(bad.read_bytes().replace(b'"lookup"', b'"loopup"', 1))
    folder.write("all/none.cassette.jsonl", b"nothing\n")
    found = many(folder, expect=5)
    assert (found["passed"], found["failed"]) == (3, 2)
    assert {group["code"] for group in found["groups"]} == {"cassette.altered", "cassette.not_a_cassette"}
    bad.unlink()
    assert many(folder, expect=6)["passed"] == 3


def test_what_only_the_failing_runs_have_is_told(folder):
    """The agent without a tool is another agent of the same file; it passes where nothing else is asked."""
    folder.agent(replace=('{"order": order, "state": "lost"}', '{"order": order, "state": "lost"}'))
    shutil.copy(folder.folder / "gap.cassette.jsonl", folder.folder / "all")
    found = many(folder, expect=3)
    (group,) = found["groups"]
    assert (group["code"], group["cassettes"]) == ("replay.response_missing", ["all/gap.cassette.jsonl"])
    assert group["telling"] == {}
    assert found["passed"] == 4


def test_an_empty_folder_is_never_green(desk):
    (desk.folder / "all").mkdir()
    said = desk.run("replay", "all", "--agent", "agent:desk", expect=6).err
    assert "[input.no_cassettes]" in said


def test_a_report_for_each_or_one_for_all(folder):
    (folder.folder / "reports").mkdir()
    many(folder, "--report", "reports")
    names = {str(p.relative_to(folder.folder / "reports")) for p in (folder.folder / "reports").rglob("*.json")}
    assert names == {"summary.json", *(f"{n}.cassette.json" for n in ("one", "two", "three", "deeper/four"))}
    many(folder, "--report", "all.json")
    assert json.loads((folder.folder / "all.json").read_bytes())["replayed"] == 4


def test_an_interrupt_ends_every_process(folder):
    folder.agent(start="__import__('time').sleep(300)")
    words = folder.command("replay", "all", "--agent", "agent:desk", "--jobs", "2")
    process = subprocess.Popen(words, cwd=folder.folder, env=folder.env(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while len(alive(folder)) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert alive(folder) == []


def alive(desk):
    """Processes that replay here."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cwd").readlink() == desk.folder and b"otelreplay.run.child" in (entry / "cmdline").read_bytes():
                found.append(entry.name)
    return found
