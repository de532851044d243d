"""The tables of docs/providers.md are the tables of the code."""

import json

import pytest

from otelreplay.providers import anthropic_messages, gemini, openai_chat, openai_responses
from tests.project.house import ROOT

MODULES = (openai_chat, openai_responses, anthropic_messages, gemini)
DOC = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")


def code(text):
    return f"`{text}`"


def fields(name):
    """One row a GenAI name: where each API has it."""
    names = dict.fromkeys(ours for module in MODULES for _, ours in getattr(module, name))
    for ours in names:
        cells = [[code(".".join(path)) for path, n in getattr(module, name) if n == ours] for module in MODULES]
        yield f"| {code(ours)} | " + " | ".join(", ".join(cell) for cell in cells) + " |"


def neutral(module):
    values = {**module.NEUTRAL, **{f"{module.USAGE_KEY}.{k}": v for k, v in module.NEUTRAL_USAGE.items()}}
    return [f"| {code(module.API)} | {code(key)} | {code(json.dumps(value))} |" for key, value in values.items()]


def reasons(module):
    return [f"| {code(module.API)} | {code(word)} | {code(ours)} |" for word, ours in module.FINISH.items()]


ROWS = {
    "parameters": list(fields("PARAMS")),
    "usage": list(fields("USAGE")),
    "reasons": [row for module in MODULES for row in reasons(module)],
    "neutral values": [row for module in MODULES for row in neutral(module)],
}


@pytest.mark.parametrize("table", ROWS)
def test_each_row_of_the_code_is_a_row_of_the_document(table):
    lines = set(DOC.splitlines())
    assert [row.replace("|  |", "| |") for row in ROWS[table] if " ".join(row.split()) not in lines] == []
