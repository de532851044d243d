"""``--self-check``: programs that depend on what they should not are caught, with the setting and the place."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.run.recorded import ENVIRON

pytestmark = pytest.mark.slow

FAULTS = """
import asyncio, concurrent.futures, locale, os, sys, threading, time
import otelreplay

@otelreplay.tool
def lookup(word):
    return word.upper()

@otelreplay.tool
async def fetch(word):
    return word.upper()

@otelreplay.model
def chat(messages, **params):
    return "fine"

def say(text):
    return chat([{"role": "user", "content": text}])

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]

@otelreplay.agent
def by_hash():
    return say(" ".join({*WORDS}))

@otelreplay.agent
def by_zone():
    return say(time.strftime("It is %d %H:%M.", time.localtime(86400)))

@otelreplay.agent
def by_locale():
    return say(f"Speak {os.environ.get('LC_ALL')}.")

@otelreplay.agent
async def by_schedule():
    done = []
    async def one(word):
        done.append(await fetch(word))
    await asyncio.gather(*map(one, WORDS))
    return say(" ".join(done))

@otelreplay.agent
def by_threads():
    done = []
    def one(word):
        done.append(lookup(word))
    threads = [threading.Thread(target=otelreplay.copy_context(one), args=(word,)) for word in WORDS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return say(" ".join(done))

@otelreplay.agent
def by_order():
    for word in {*WORDS}:
        lookup(word)
    return say("done")

@otelreplay.agent
def by_output():
    print(*{*WORDS})
    return say("done")

@otelreplay.agent
async def steady():
    found = await asyncio.gather(*map(fetch, sorted({*WORDS})))
    print(*found)
    return say(" ".join(found))
"""

_RECORD = """
import asyncio, inspect
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_tracer_provider
spans, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
set_tracer_provider(provider)
import faults
for name, agent in list(vars(faults).items()):
    if name == "steady" or name.startswith("by_"):
        made = agent()
        if inspect.isawaitable(made):
            async def run():
                return await made
            asyncio.run(run())
        with open(name + ".pb", "wb") as file:
            file.write(encode_spans(spans.get_finished_spans()).SerializeToString())
        spans.clear()
"""


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    base = {"OTELREPLAY_KEYS": str(folder / "keys"), "PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    environ = ENVIRON | base
    (folder / "faults.py").write_text(FAULTS, encoding="utf-8")
    (folder / "record.py").write_text(_RECORD, encoding="utf-8")
    subprocess.run([sys.executable, "record.py"], cwd=folder, env=environ, check=True, capture_output=True, timeout=120)
    for file in sorted(folder.glob("*.pb")):
        convert = [sys.executable, "-m", "otelreplay", "convert", file.name, "--out", file.stem]
        subprocess.run(convert, cwd=folder, env=environ, check=True, capture_output=True, timeout=120)
        (made,) = (folder / file.stem).glob("*.cassette.jsonl")
        made.rename(folder / f"{file.stem}.cassette.jsonl")
    return folder


def check(desk, faults, name, *, expect):
    for file in ("faults.py", f"{name}.cassette.jsonl"):
        shutil.copy(faults / file, desk.folder)
    shutil.rmtree(desk.folder / "keys")
    shutil.copytree(faults / "keys", desk.folder / "keys")
    words = ["replay", f"{name}.cassette.jsonl", "--agent", f"faults:{name}", "--self-check", "--json"]
    return json.loads(desk.run(*words, expect=expect).out)["self_check"]


@pytest.mark.parametrize(
    ("name", "told_of"),
    [
        ("by_hash", ("hash seed", "outcome", "request.messages")),
        ("by_zone", ("time zone", "outcome", "request.messages")),
        ("by_locale", ("locale", "outcome", "request.messages")),
        ("by_schedule", ("schedule", "outcome", "request.messages")),
        ("by_order", ("hash seed", "order", "")),
        ("by_output", ("hash seed", "output", "")),
    ],
)
def test_a_fault_is_caught_and_the_setting_named(desk, faults, name, told_of):
    setting, what, path = told_of
    found = check(desk, faults, name, expect=1)
    assert found["steady"] is False
    assert found["not_varied"] == [] or name != "by_locale"
    (told,) = found["unsteady"]
    assert list(told["setting"]) == [setting]
    assert told["what"] == what
    assert told["path"].startswith(path)
    assert (told["seq"] is None) == (what == "output")


def test_a_race_of_threads_is_caught(desk, faults):
    found = check(desk, faults, "by_threads", expect=1)
    assert found["steady"] is False
    # A race needs no setting of ours: it may show in the same settings again, or under any of them.
    assert found["unsteady"]
    assert {told["what"] for told in found["unsteady"]} == {"outcome"}
    assert all(told["path"].startswith("request.messages") for told in found["unsteady"])


def test_a_steady_program_is_green(desk, faults):
    found = check(desk, faults, "steady", expect=0)
    assert (found["steady"], found["unsteady"]) == (True, [])
    assert len(set(found["digests"])) == 1
    assert found["replays"] == len(found["digests"]) == len(found["settings"]) >= 3


def test_a_replay_that_diverges_is_no_green_self_check(desk):
    desk.agent(replace=("refund(order, 4.0", "refund(order, 5.0"))
    words = ["replay", "desk.cassette.jsonl", "--agent", "agent:desk", "--self-check"]
    done = desk.run(*words, expect=1)
    assert "request.arguments.amount" in done.err
    assert "all ended alike" in done.err


def test_what_cannot_be_replayed_ends_as_a_replay_does(desk):
    for name, more, code in (("desk", "agent:nobody", 2), ("dark", "agent:desk", 3), ("none", "agent:desk", 6)):
        said = desk.run("replay", f"{name}.cassette.jsonl", "--agent", more, "--self-check", expect=code).err
        assert said.startswith("otelreplay: ")
