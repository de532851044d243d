"""Globs over event fields and attribute names.

A field glob is written as fields are named everywhere: ``request.arguments.email``, ``request.messages[*].parts[0].content``.
A key with dots is quoted: ``attributes["app.user"]``. ``*`` is one step, ``[*]`` any index, ``**`` any number of steps;
inside a step ``*`` stands for any characters (``*_email``). An attribute glob is matched against the whole attribute name;
its ``*`` also crosses dots.
"""

from __future__ import annotations

import fnmatch
import json
import re
from typing import Final

import msgspec

Path = tuple[str | int, ...]

_STEP: Final = re.compile(r'\[(\*|[0-9]+)\]|(?:^|\.)([^.\[\]]+)|\["((?:[^"\\]|\\.)*+)"\]')
ROOTS: Final = (
    "request", "response", "error", "name", "agent", "attributes", "versions", "effect", "idempotency_key", "**", "*",
)  # fmt: skip
"""What a field glob may begin with."""


class Glob(msgspec.Struct, frozen=True):
    """A compiled field glob."""

    source: str
    steps: tuple[str | int, ...]
    """``"**"``, ``"*"``, ``"[*]"``, an index, or a pattern for one key."""

    def covers(self, path: Path) -> bool:
        """Whether ``path`` is what the glob names, or lies inside it."""
        return _match(self.steps, path, inside=True)

    def names(self, path: Path) -> bool:
        """Whether ``path`` is exactly what the glob names."""
        return _match(self.steps, path, inside=False)


def parse_glob(source: str) -> Glob:
    """Compile a field glob; ValueError says what is wrong."""
    steps: list[str | int] = []
    at = 0
    while at < len(source):
        match = _STEP.match(source, at)
        if match is None:
            raise ValueError(f"cannot be read from character {at + 1} on")
        if match[1] is not None:
            steps.append("[*]" if match[1] == "*" else int(match[1]))
        elif match[2] is not None:
            steps.append(match[2])
        else:
            steps.append(str(json.loads(f'"{match[3]}"')))
        at = match.end()
    if not steps:
        raise ValueError("is empty")
    if steps[0] not in ROOTS:
        raise ValueError(f"must begin with one of {', '.join(ROOTS)}")
    return Glob(source, tuple(steps))


def attribute_pattern(source: str) -> re.Pattern[str]:
    """Compile an attribute glob; ValueError says what is wrong."""
    if not source.strip() or source != source.strip():
        raise ValueError("is empty or has white space around it")
    if source.count("[") != source.count("]"):
        raise ValueError("has an unclosed [")
    return re.compile(fnmatch.translate(source))


def _match(steps: tuple[str | int, ...], path: Path, *, inside: bool) -> bool:
    if not steps:
        return inside or not path
    if steps[0] == "**":
        return any(_match(steps[1:], path[n:], inside=inside) for n in range(len(path) + 1))
    if not path or not _fits(steps[0], path[0]):
        return False
    return _match(steps[1:], path[1:], inside=inside)


def _fits(step: str | int, part: str | int) -> bool:
    if isinstance(part, int):
        return step in ("[*]", "*", "**") or step == part
    if isinstance(step, int) or step == "[*]":
        return False
    return step in ("*", "**") or step == part or ("*" in step and fnmatch.fnmatchcase(part, step))
