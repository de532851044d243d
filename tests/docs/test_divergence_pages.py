"""Every kind of divergence has a page, whose example is what happens."""

import pytest

from otelreplay.replay import KINDS
from otelreplay.replay.divergence import page_of
from tests.docs.divergence_pages import BLOCK, FOLDER, change_of, page, report_of
from tests.project.house import ROOT


def test_there_is_one_page_for_each_kind_and_none_besides():
    assert {path.stem for path in FOLDER.glob("*.md")} == {*KINDS}
    assert all((ROOT / page_of(kind)).exists() for kind in KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_page_is_what_happens(kind):
    text = page(kind).read_text(encoding="utf-8")
    assert text.startswith(f"# `replay.{kind}`\n")
    file, old, new = change_of(text)
    assert old != new, file
    assert BLOCK.findall(text)[1] == report_of(kind)
    assert "## What to do" in text


def test_the_overview_names_every_page():
    overview = (ROOT / "docs" / "divergences.md").read_text(encoding="utf-8")
    assert all(f"(divergences/{kind}.md)" in overview for kind in KINDS)
