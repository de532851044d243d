"""Files and functions stay small enough to be read at once, and everything public says what it is."""

import ast
import statistics

import pytest

from tests.project.house import ROOT, functions, sources, tree

LONGEST_FILE, MEDIAN_FILE, LONGEST_FUNCTION = 600, 120, 70


def length(path):
    return path.read_text(encoding="utf-8").count("\n")


def test_no_file_is_longer_than_600_lines():
    assert {str(p.relative_to(ROOT)): length(p) for p in sources() if length(p) > LONGEST_FILE} == {}


def test_the_median_file_has_at_most_120_lines():
    """Files that hold more than a docstring count."""
    assert statistics.median(n for n in map(length, sources()) if n > 1) <= MEDIAN_FILE


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_function_is_longer_than_70_lines(path):
    lengths = {f.name: (f.end_lineno or f.lineno) - f.lineno + 1 for f in functions(tree(path))}
    assert {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION} == {}


def undocumented(body, owner=""):
    """Public classes and functions without a docstring, methods of public classes included."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            overload = any("overload" in ast.unparse(d) or "setter" in ast.unparse(d) for d in node.decorator_list)
            if not ast.get_docstring(node) and not overload:
                yield owner + node.name
            if isinstance(node, ast.ClassDef):
                yield from undocumented(node.body, f"{owner}{node.name}.")


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(ROOT)))
def test_everything_public_has_a_docstring(path):
    module = tree(path)
    assert ast.get_docstring(module)
    if "# ruff: noqa: D101" not in path.read_text(encoding="utf-8"):  # a schema whose docstring names its source
        assert list(undocumented(module.body)) == []


def test_a_missing_docstring_would_be_noticed():
    assert list(undocumented(ast.parse("class A:\n    'x'\n    def b(self): ...\ndef _c(): ...").body)) == ["A.b"]
