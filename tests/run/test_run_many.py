"""``run`` over a folder, and under other settings: the same as ``replay``."""

import json
import shutil

import pytest

pytestmark = pytest.mark.slow

TOOLS = ("--tool", "lookup=agent:lookup", "--tool", "refund=agent:refund")
PROGRAM = ("--", "python", "-c", "import agent; agent.desk('where is the parcel of jo@example.com?')")


def test_a_folder_is_run_once_for_each_cassette_and_failures_are_grouped(desk):
    (desk.folder / "all").mkdir()
    for name in ("one", "two"):
        shutil.copy(desk.folder / "desk.cassette.jsonl", desk.folder / "all" / f"{name}.cassette.jsonl")
    found = json.loads(desk.run("run", "all", "--json", *TOOLS, *PROGRAM).out)
    assert (found["replayed"], found["passed"]) == (2, 2)
    desk.agent(replace=("refund(order, 4.0", "refund(order, 5.0"))
    (group,) = json.loads(desk.run("run", "all", "--json", *TOOLS, *PROGRAM, expect=1).out)["groups"]
    assert (group["count"], group["path"]) == (2, "request.arguments.amount")


def test_a_self_check_sees_the_calls_of_any_program(desk):
    words = ("run", "desk.cassette.jsonl", "--self-check", "--json", *TOOLS)
    found = json.loads(desk.run(*words, *PROGRAM).out)["self_check"]
    assert (found["steady"], len(set(found["digests"]))) == (True, 1)
    desk.agent(top="import time\n", replace=('"content": question}', '"content": time.strftime("%H", time.localtime(0))}'))
    found = json.loads(desk.run(*words, *PROGRAM, expect=1).out)["self_check"]
    assert list(found["unsteady"][0]["setting"]) == ["time zone"]
