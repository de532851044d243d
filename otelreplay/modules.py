"""Names of modules that mean the same in another process. Light: decorating a function imports this."""

from __future__ import annotations

import re
import sys
from typing import Final

_STARTED: Final = ("__main__", "__mp_main__")
"""What the file that Python was started with calls itself, there and in a process that multiprocessing spawned."""


def module_name(module: str) -> str:
    """The module under the name by which another process can import it.

    The file that Python was started with calls itself ``__main__``, in every program. A recording is read in another process,
    where it is the module that its file is named after, or that ``python -m`` was given.
    """
    if module not in _STARTED:
        return module
    main = sys.modules.get("__main__")
    name = getattr(getattr(main, "__spec__", None), "name", None)
    if isinstance(name, str):
        return name
    file = getattr(main, "__file__", None)
    stem = re.split(r"[/\\]", file)[-1].removesuffix(".py") if isinstance(file, str) else ""
    return stem if stem.isidentifier() else module
