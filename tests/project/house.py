"""The house as the tests about the project see it: which rooms exist, which of them are the pure core, and their source."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "otelreplay"

CORE = (
    "errors", "canonical", "semconv", "spans", "events", "providers", "redaction", "dialects", "reconstruct", "matching",
    "cassette", "replay",
)  # fmt: skip
"""Rooms that take values and return values."""

CASSETTE_IO = ("aside", "directory", "keyring", "locks")
"""The parts of ``cassette`` that touch a disk: the store in a folder, the keys, and what says that a file's maker lives.

All else there belongs to the core.
"""

STUBS_PURE = ("failures", "fitting", "refusals", "replies", "reply", "streams", "vectors")
"""The parts of ``stubs`` that serve nothing: requests and answers as values."""

DIALECTS_SHARED = (
    "sequence",
    "blocks",
    "collecting", "flattened", "intern", "langchain", "packages", "reading", "spelled", "spoken", "toolio", "values", "wire",
)  # fmt: skip
"""The parts of ``dialects`` that are no convention: what all of them share."""


def config() -> dict[str, Any]:
    """pyproject.toml as a value."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def contract(identifier: str) -> dict[str, Any]:
    """One of the import contracts."""
    (found,) = (c for c in config()["tool"]["importlinter"]["contracts"] if c["id"] == identifier)
    return dict(found)


def rooms() -> set[str]:
    """Top-level packages and modules of otelreplay that hold code."""
    return {name_of(path).split(".")[1] for path in sources() if "." in name_of(path)}


def sources() -> list[Path]:
    """Every source file of the package."""
    return sorted(p for p in PACKAGE.rglob("*.py") if "__pycache__" not in p.parts)


def name_of(path: Path) -> str:
    """The dotted module name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_core(module: str) -> bool:
    """Whether a module belongs to the part that does no I/O."""
    room, _, rest = module.removeprefix("otelreplay.").partition(".")
    if room == "stubs":
        return rest.split(".")[0] in STUBS_PURE
    return room in CORE and not (room == "cassette" and rest.split(".")[0] in CASSETTE_IO)


def core_sources() -> list[Path]:
    """The source files of the pure core."""
    return [path for path in sources() if is_core(name_of(path))]


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a source file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(module: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function in a tree, nested ones and methods included."""
    return (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def tracked(*suffixes: str) -> list[Path]:
    """Files of the checkout that are the project's own: nothing hidden but ``.ci``, no environment, nothing generated."""
    made = {"__pycache__", "demo-out", "build", "dist", "htmlcov"}
    found = []
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") and part not in {".ci", ".gitignore"} for part in parts)
        if path.is_file() and not hidden and not made & set(parts):
            found.append(path)
    return sorted(p for p in found if not suffixes or p.suffix in suffixes)
