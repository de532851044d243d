"""The tree belongs to nobody's machine."""

import re

import pytest

from tests.project.house import ROOT, tracked

PLACES = re.compile(rb"(?<![\w.])/(?:work|root|tmp|home/\w+|Users/\w+)/|pypi\.org|pythonhosted|deb\.debian|registry\.npmjs")
BINARY = {".pb", ".gz", ".zst", ".pyc"}


def places(text):
    return sorted({match.group().decode() for match in PLACES.finditer(text)})


@pytest.mark.parametrize("path", [p for p in tracked() if p.suffix not in BINARY], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_names_a_machine_path_or_a_registry_host(path):
    if path.name in {"test_tree.py", "LICENSE"}:
        return
    assert places(path.read_bytes()) == []


@pytest.mark.parametrize("text", [b"see /tmp/x", b"in /root/.config", b'"/home/me/a"', b"https://pypi.org/simple"])
def test_a_place_is_noticed(text):
    assert places(text)
