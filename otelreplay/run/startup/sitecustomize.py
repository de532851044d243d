"""Puts a replay into every Python that is started in it: the guard, and in a run also what answers in place of its tools.

Then the program's own sitecustomize runs as ever.

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
    main = os.environ.pop("OTELREPLAY_RUN_MAIN", "") == "1"
    if not main and not os.environ.get("OTELREPLAY_RUN_STUB"):
        module.refuse_boundaries()


def _answers() -> None:
    """In a run, every process asks the host: the one that the run began with, and whatever that one starts."""
    if os.environ.get("OTELREPLAY_RUN_STUB"):
        if "otelreplay" not in sys.modules:  # this one, wherever it is installed: both ends of the line are of one version
            root = os.path.dirname(os.path.dirname(_HERE))  # noqa: PTH120
            place = os.path.join(root, "__init__.py")  # noqa: PTH118
            spec = importlib.util.spec_from_file_location("otelreplay", place, submodule_search_locations=[root])
            assert spec is not None
            assert spec.loader is not None
            sys.modules["otelreplay"] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        from otelreplay.run import inside

        inside.begin()


def _next() -> None:
    """The sitecustomize that this one stands in front of."""
    places = [p for p in sys.path if os.path.abspath(p or ".") != _HERE]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", places)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_guard()
_answers()
_next()
