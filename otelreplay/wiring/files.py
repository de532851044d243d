"""Files by the names that a user gives; ``-`` is standard input."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from otelreplay.errors import InputError

STDIN = "-"


def shown(name: str) -> str:
    """How a file is called in messages."""
    return "standard input" if name == STDIN else name


@contextlib.contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """The bytes of a file. Raises InputError with the reason when it cannot be opened."""
    if name == STDIN:
        if sys.stdin is None:
            raise InputError("it is closed", code="input.closed", where=shown(name), next_step="name a file, or pipe one in")
        yield sys.stdin.buffer
        return
    with _open(Path(name), name) as stream:
        yield stream


def _open(path: Path, name: str) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise InputError("there is no such file", code="input.not_found", where=name, next_step="check the path") from None
    except IsADirectoryError:
        raise InputError(
            "this is a folder, not a file", code="input.is_a_folder", where=name, next_step="name the files in it"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "the name holds what no file name can"
        raise InputError(
            f"the file cannot be read ({reason})",
            code="input.unreadable",
            where=name,
            next_step="check the path and its permissions",
        ) from None
