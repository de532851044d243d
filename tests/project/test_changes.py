"""Every fragment of the changelog can be moved into a release as it is."""

import pytest

from tests.project.house import ROOT

FRAGMENTS = sorted(p for p in (ROOT / "changes").glob("*.md") if p.name != "README.md")


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda p: p.name)
def test_a_fragment_says_its_kind_and_what_changed(path):
    kind, empty, text = path.read_text(encoding="utf-8").split("\n", 2)
    assert kind in {"added", "changed", "fixed", "removed", "security"}
    assert empty == ""
    assert text.strip()
    assert text.strip().endswith(".")
