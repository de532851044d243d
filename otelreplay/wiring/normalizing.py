"""Normalisers from what a user gives: words of a command line, and a file of them."""

from __future__ import annotations

from collections.abc import Iterable

from otelreplay.errors import UsageError
from otelreplay.replay.declared import declared, lines_of
from otelreplay.wiring.files import opened, shown

_MOST = 1 << 20


def normalizers_named(given: Iterable[str], file: str = "") -> tuple[str, ...]:
    """The normalisers of a command line and of a file, as :func:`declared` takes them. Raises UsageError if one is none."""
    specs = (*given, *(_of_file(file) if file else ()))
    declared(specs)
    return specs


def options(given: Iterable[str], file: str = "") -> list[str]:
    """The same as options, for a command that does this again."""
    return [*(word for spec in given for word in ("--normalizer", spec)), *(("--normalizers", file) if file else ())]


def _of_file(name: str) -> tuple[str, ...]:
    try:
        with opened(name) as stream:
            return lines_of(stream.read(_MOST).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError("the normalizers are not UTF-8 text", code="replay.normalizer", where=shown(name)) from None
