"""The import contracts name the rooms that exist, and each of them breaks when it is breached."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.house import CASSETTE_IO, DIALECTS_SHARED, PACKAGE, ROOT, contract, name_of, rooms, sources


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    linter = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([str(linter), "--no-cache"], cwd=root, capture_output=True, text=True, check=False)


def test_the_imports_of_the_package_keep_every_contract():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_the_layers_are_exactly_the_rooms_that_exist():
    parts = [part.strip() for layer in contract("layers")["layers"] for part in layer.split("|")]
    required = {part for part in parts if not part.startswith("(")}
    assert required <= rooms() <= {part.strip("()") for part in parts}


def test_every_part_of_the_cassette_room_is_either_pure_by_contract_or_listed_as_disk():
    parts = {name_of(path) for path in sources() if name_of(path).startswith("otelreplay.cassette.")}
    direct = {".".join(part.split(".")[:3]) for part in parts}
    pure = {name for name in contract("pure-core")["source_modules"] if name.startswith("otelreplay.cassette.")}
    assert pure == {name for name in direct if name.split(".")[2] not in CASSETTE_IO}


def test_every_convention_is_held_independent_of_the_others():
    found = {".".join(name_of(p).split(".")[:3]) for p in sources() if name_of(p).startswith("otelreplay.dialects.")}
    conventions = {name for name in found if name.split(".")[2] not in DIALECTS_SHARED}
    if len(conventions) < 2:
        pytest.skip("independence needs two conventions")
    assert set(contract("dialects")["modules"]) == conventions


BREACHES = {
    "a lower room imports a higher one": ("spans/model.py", "import otelreplay.cassette\n", "Imports point one way"),
    "siblings of one layer know each other": ("events/model.py", "import otelreplay.spans.model\n", "Imports point one way"),
    "a room that no layer lists": ("attic/__init__.py", '"""New."""\n', "attic"),
    "the core reads the clock": ("matching/__init__.py", "import time\n", "The core does no I/O"),
    "the core opens a socket through a helper": ("canonical/planted.py", "import socket\n", "The core does no I/O"),
    "the cassette format opens the keyring": (
        "cassette/write.py",
        "import otelreplay.cassette.keyring\n",
        "The core does no I/O",
    ),
    "a convention reads another": ("dialects/mcp.py", "import otelreplay.dialects.genai\n", "A convention is one file"),
    "two files import each other": (
        "events/model.py",
        "import otelreplay.events.message\n",
        "No two siblings import each other",
    ),
}


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_is_refused(name, tmp_path):
    """Plants the breach in a copy of the package and sees the linter fail because of it."""
    file, line, said = BREACHES[name]
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(PACKAGE, tmp_path / "otelreplay", ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path / "otelreplay" / file
    target.parent.mkdir(exist_ok=True)
    target.write_text((target.read_text(encoding="utf-8") if target.exists() else "") + "\n" + line, encoding="utf-8")
    done = lint(tmp_path)
    assert done.returncode != 0
    assert said in done.stdout.partition("Broken contracts")[2] or said in done.stdout.splitlines()[-1]
