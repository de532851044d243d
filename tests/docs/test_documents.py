"""What the documents show is what happens, and what they point to is there."""

import re

import pytest

from tests.docs.blocks import problems, read, run
from tests.project.house import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "divergences").glob("*.md"))]
RUN = [path for path in DOCUMENTS if read(path.read_text(encoding="utf-8")).steps]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")


@pytest.mark.parametrize("path", RUN, ids=lambda p: p.name)
def test_every_block_does_what_the_document_says(path, tmp_path):
    document = read(path.read_text(encoding="utf-8"))
    run(document, tmp_path)
    assert not problems(document), "\n\n".join(problems(document))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_every_block_names_its_language(path):
    """A block without a language would be run by nobody."""
    known = {"console", "python", "yaml", "json", "text", "mermaid"}
    assert set(read(path.read_text(encoding="utf-8")).languages) <= known


def test_the_readme_shows_nothing_that_is_not_run():
    assert set(read((ROOT / "README.md").read_text(encoding="utf-8")).languages) <= {"console", "python", "yaml"}


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "adr").glob("*.md"))],
                         ids=lambda p: p.name)  # fmt: skip
def test_every_link_inside_the_project_leads_somewhere(path):
    targets = [t for t, _ in LINK.findall(path.read_text(encoding="utf-8")) if "://" not in t]
    assert [t for t in targets if not (path.parent / t).exists()] == []
