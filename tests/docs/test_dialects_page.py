"""The page on dialects names every dialect, rule and note that the code has, and no other."""

import re
from pathlib import Path

from otelreplay.dialects import DIALECTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "dialects.md").read_text(encoding="utf-8")
ROOMS = ("dialects", "reconstruct", "pipeline")
CODE = "\n".join(p.read_text(encoding="utf-8") for r in ROOMS for p in sorted((ROOT / "otelreplay" / r).glob("*.py")))


def table_under(heading):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return set(re.findall(r"(?m)^\| `([a-z_]+)` \|", section))


def test_every_dialect_is_described():
    assert {d.name for d in DIALECTS} == set(re.findall(r"(?m)^\| `([a-z-]+)`", PAGE.split("## ")[0]))


def test_every_rule_of_inference_is_described_and_no_other():
    assert table_under("Rules of inference") == set(re.findall(r'rule="(\w+)"', CODE))


def test_every_note_is_described_and_no_other():
    assert table_under("Notes") == set(re.findall(r'code="(\w+)"', CODE))
