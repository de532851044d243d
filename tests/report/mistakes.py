"""The order desk of the examples with one thing wrong with it, again and again: what a replay says of each.

``python -m tests.report.mistakes [NAME…]`` prints the reports.
"""

# ruff: noqa: E501

import contextlib
import importlib
import io
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from otelreplay import boundary
from otelreplay.redaction import PseudonymKey, compile_policy, default_policy
from otelreplay.replay import ReplayInterceptor, Session
from tests.examples.recorded import cassette_of, recording
from tests.project.house import ROOT

QUESTION = "My order A-1001 has not arrived. Is a refund due? Write to ada.byron@example.com."
DESK = ROOT / "examples" / "order_desk"
COMMAND = "otelreplay replay incident.cassette.jsonl --agent examples.order_desk:answer"

MISTAKES = {
    "prompt: a word": ("agent.py", "Use the tools.", "Use the tools wisely."),
    "prompt: a blank": ("agent.py", "Use the tools.", "Use the  tools."),
    "prompt: a line": ("agent.py", "{policies}\"\"\"", "{policies}\nNever pay twice.\"\"\""),
    "model: another": ("agent.py", '"scripted-1"', '"scripted-2"'),
    "model: temperature": ("agent.py", "temperature=0.0", "temperature=0.7"),
    "schema: a description": ("shop.py", '"Pay money back to the customer.", order', '"Refund the customer.", order'),
    "schema: another type": ("shop.py", 'amount="number"', 'amount="string"'),
    "schema: one tool less": ("shop.py", '    _definition("track_parcel"', '    # _definition("track_parcel"'),
    "schema: a tool more": (
        "shop.py", "DEFINITIONS = [", 'DEFINITIONS = [\n    _definition("escalate", "Ask a person.", why="string"),',
    ),
    "history: a message more": (
        "agent.py", '    while True:', '    messages.insert(1, {"role": "user", "content": "Be quick."})\n    while True:',
    ),
    "history: a message less": ("agent.py", '        messages.append(message)\n', '        pass\n'),
    "history: turned round": ("agent.py", "    while True:", "    messages.reverse()\n    while True:"),
    "argument: changed": ("agent.py", "    return shop", '    arguments["order_id"] = "A-1002"\n    return shop', ),
    "argument: retyped": ("agent.py", "    return shop", '    arguments = {k: str(v) for k, v in arguments.items()}\n    return shop'),
    "argument: query": ("agent.py", '"refund for a late delivery"', '"late refund policy"'),
    "tool: left out": ("agent.py", "            result = use(", '            if call["function"]["name"] == "track_parcel":\n                messages.append({"role": "tool", "tool_call_id": call["id"], "content": \'{"where": "unknown"}\'})\n                continue\n            result = use('),
    "tool: called twice": ("agent.py", "            result = use(", '            use(call["function"]["name"], json.loads(call["function"]["arguments"]))\n            result = use('),
    "tool: one put in": ("agent.py", "    today =", '    shop.track_parcel("P-1")\n    today ='),
    "tool: result dropped": ("agent.py", '"content": json.dumps(result)', '"content": json.dumps({**result, "note": ""})'),
    "clock: read twice": ("agent.py", "    today =", "    otelreplay.clock()\n    today ="),
    "clock: not read": ("agent.py", "datetime.fromtimestamp(otelreplay.clock(), UTC)", "datetime(2020, 1, 2)"),
    "id: made twice": ("agent.py", '        arguments["request_id"]', '        otelreplay.new_id()\n        arguments["request_id"]'),
    "id: made up": ("agent.py", "= otelreplay.new_id()", '= "6f1b4b36-0a3e-4f8a-9d2e-111111111111"'),
    "order: search late": ("agent.py", "    return work(question, shop.search_policies(\"refund for a late delivery\"))", '    found = work(question, shop.POLICIES)\n    shop.search_policies("refund for a late delivery")\n    return found'),
    "end: another answer": ("agent.py", 'return str(message["content"])', 'return str(message["content"]).upper()'),
    "end: it fails": ("agent.py", 'return str(message["content"])', 'raise ValueError("no answer")'),
    "end: too early": ("agent.py", "        for call in", '        if len(messages) > 4:\n            return "done"\n        for call in'),
}  # fmt: skip
"""File, what stands there, and what stands there instead."""


def patched(folder, package, file="", old="", new=""):
    """A copy of the order desk, named ``package``, with that change."""
    (folder / package).mkdir()
    for source in DESK.glob("*.py"):
        text = source.read_text(encoding="utf-8").replace("examples.order_desk", package)
        if source.name == file:
            assert old in text, old
            text = text.replace(old, new, 1)
        (folder / package / source.name).write_text(text, encoding="utf-8")


@cache
def recorded():
    """The cassette of the desk as it is."""
    module = importlib.import_module("examples.order_desk")
    with pytest.MonkeyPatch.context() as patch, recording(patch) as made, contextlib.redirect_stdout(io.StringIO()):
        module.answer(QUESTION)
    with tempfile.TemporaryDirectory() as folder:
        return cassette_of(made, Path(folder))[0]


def played(name="", *, cassette=None, agent="answer", blocked=None, **more):
    """The result of a replay of the desk with this mistake. ``blocked``: an attempt that a guard stopped before it began."""
    package = f"desk_{''.join(c if c.isalnum() else '_' for c in name)}"
    cassette = cassette or recorded()
    redactor = compile_policy(default_policy(), key=PseudonymKey(secret=b"a key for no more than one replay"))
    session = Session(
        cassette, redactor=redactor, **{"command": COMMAND, "registered": lambda: boundary.declared("tool"), **more}
    )
    if blocked is not None:
        session.blocked(blocked)
    with tempfile.TemporaryDirectory() as folder:
        patched(Path(folder), package, *MISTAKES.get(name, ()))
        sys.path.insert(0, folder)
        boundary.install(ReplayInterceptor(session))
        code = 0
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                getattr(importlib.import_module(package), agent)(QUESTION)
        except (boundary.ReplayStopped, Exception):
            code = 1
        finally:
            boundary.install(None)
            sys.path.remove(folder)
            for module in [m for m in sys.modules if m.split(".")[0] == package]:
                del sys.modules[module]
    return session.result(child_exit=code, guard="none (a test)")


def main(names):
    from otelreplay.report.replay import replay_text

    columns = int(os.environ.get("COLUMNS", "80"))
    for name in names or MISTAKES:
        print(f"═══ {name} " + "═" * (columns - len(name) - 5))
        print(replay_text(played(name).as_json(), columns=columns))


if __name__ == "__main__":
    main(sys.argv[1:])
