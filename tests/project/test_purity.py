"""What imports do not show: the core reads no file, environment or clock, and writes nothing."""

import ast

import pytest

from tests.project.house import ROOT, core_sources, name_of, tree

CALLS = {"open", "print", "input", "breakpoint", "exec", "eval", "__import__"}
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "rmdir", "touch", "iterdir", "rglob"}
CLOCKS = {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}
MODULES = {"time", "os", "sys", "pathlib", "io", "logging", "uuid"}
PATHS = ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")
HARMLESS = {
    ("os", "fspath"), ("os", "PathLike"), ("io", "BytesIO"), ("io", "StringIO"), ("io", "BufferedReader"), ("io", "RawIOBase"),
    ("sys", "maxsize"), ("sys", "getrecursionlimit"), ("sys", "modules"), ("sys", "float_info"), ("uuid", "UUID"),
    *(("pathlib", name) for name in PATHS),
}  # fmt: skip

SHIPPED = {("otelreplay.redaction.policy", ".read_text()")}
"""Reading a file that is part of the package, as its code is: the policies that are shipped."""


def breaches(module: ast.Module) -> list[tuple[int, str]]:
    """(line, what) of everything in a module that reaches outside the values it is given."""
    found = []
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in CALLS:
                found.append((node.lineno, f"{called.id}()"))
            if isinstance(called, ast.Attribute) and called.attr in METHODS:
                found.append((node.lineno, f".{called.attr}()"))
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
            if (owner, node.attr) in CLOCKS:
                found.append((node.lineno, f"{owner}.{node.attr}"))
            if isinstance(node.value, ast.Name) and owner in MODULES and (owner, node.attr) not in HARMLESS:
                found.append((node.lineno, f"{owner}.{node.attr}"))
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found += [(node.lineno, f"from {node.module} import {n.name}")
                      for n in node.names if (node.module, n.name) not in HARMLESS]  # fmt: skip
    return found


@pytest.mark.parametrize("path", core_sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_core_takes_values_and_returns_values(path):
    assert [what for _, what in breaches(tree(path)) if (name_of(path), what) not in SHIPPED] == []


@pytest.mark.parametrize(
    "code",
    [
        "open('x')",
        "def f():\n    print('x')",
        "import os\nos.environ['HOME']",
        "from os import getenv",
        "import datetime\ndef f(at=datetime.datetime.now()): ...",
        "from datetime import date\ndate.today()",
        "import time as t\nimport time\ntime.monotonic()",
        "def f(p): return p.read_text()",
        "import sys\nsys.stderr.write('x')",
        "from uuid import uuid4",
    ],
)
def test_reaching_outside_is_noticed(code):
    """The reader of syntax trees sees each way out that imports do not show."""
    assert breaches(ast.parse(code))
