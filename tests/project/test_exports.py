"""What a package offers stands in ``__all__``: complete, and in the order that the linter keeps."""

import ast
import importlib

import pytest

import otelreplay
from tests.project.house import name_of, sources, tree

PACKAGES = [path for path in sources() if path.name == "__init__.py" and len(tree(path).body) > 1]


def offered(module):
    """Public names that a package's own source defines. (An import that is neither used nor listed is refused by ruff.)"""
    names = set()
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("path", PACKAGES, ids=name_of)
def test_what_a_package_offers_is_listed_and_exists(path):
    package = importlib.import_module(name_of(path))
    assert len(set(package.__all__)) == len(package.__all__)
    assert offered(tree(path)) <= set(package.__all__)
    assert [name for name in package.__all__ if not hasattr(package, name)] == []


def test_the_top_of_the_package_offers_few_names():
    assert 1 <= len(otelreplay.__all__) <= 12


def test_importing_the_package_brings_in_nothing_heavy():
    """The root is imported by every process that is instrumented: it stays free of the rest. Checkers may import it all."""
    imported = {node.module for node in tree(sources()[0]).body if isinstance(node, ast.ImportFrom)}
    assert imported <= {"__future__", "typing"}
