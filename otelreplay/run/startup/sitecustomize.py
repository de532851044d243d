"""Puts the guard of a replay into every Python that is started in it; then the program's own sitecustomize runs as ever.

Python imports this at its start because the folder stands first in PYTHONPATH. Nothing of otelreplay needs to be installed
for the Python that loads it.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - as few imports as can be
_NAME = "otelreplay.run.guard"


def _guard() -> None:
    if not os.environ.get("OTELREPLAY_RUN_PIPE") or _NAME in sys.modules:
        return
    path = os.path.join(os.path.dirname(_HERE), "guard.py")  # noqa: PTH118, PTH120
    spec = importlib.util.spec_from_file_location(_NAME, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module  # the one that `import otelreplay.run.guard` finds: there is one state a process
    spec.loader.exec_module(module)
    module.install()
    if os.environ.pop("OTELREPLAY_RUN_MAIN", "") != "1":
        module.refuse_boundaries()


def _next() -> None:
    """The sitecustomize that this one stands in front of."""
    places = [p for p in sys.path if os.path.abspath(p or ".") != _HERE]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", places)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_guard()
_next()
