"""Every stable error code is documented, and no documentation outlives its code."""

import ast
import re
from functools import cache

import pytest

from tests.project.house import ROOT, sources, tree

CODE = re.compile(r"[a-z][a-z_]*\.[a-z][a-z0-9_]*")
DOCUMENTED = re.compile(r"^### `([^`]+)`$", re.M)
ATTRIBUTES = {"input.value", "output.value"}
"""Names of a convention's attributes that look like codes."""
QUOTED = re.compile(r"\[([a-z_]+\.[a-z_]+)\]")


def documented():
    return DOCUMENTED.findall((ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))


def texts(node):
    """String constants below a node, wherever they stand in it."""
    return (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def codes(module):
    """Codes that a module can raise: texts of ``code=`` arguments, and codes that a sentence ends with in brackets."""
    for node in ast.walk(module):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "code":
                yield from filter(CODE.fullmatch, texts(keyword.value))
    for text in texts(module):
        yield from QUOTED.findall(text)


def family(code):
    return code.partition(".")[0]


@cache
def raised():
    """Codes of the package, also those that are passed on by position: whatever looks like a code of a known family."""
    found = {code for path in sources() for code in codes(tree(path))}
    families = {family(code) for code in found}
    passed_on = {t for path in sources() for t in texts(tree(path)) if CODE.fullmatch(t) and family(t) in families}
    return found | passed_on - ATTRIBUTES


def test_every_code_that_is_raised_is_documented():
    assert raised() - set(documented()) == set()


def test_every_documented_code_is_raised():
    assert set(documented()) - raised() == set()


def test_codes_are_documented_once_and_in_order():
    assert documented() == sorted(set(documented()))


@pytest.mark.parametrize(
    "source",
    ["raise E('x', code='a.b')", "E('x', code='a.b' if c else d)", "say('no memory [a.b]')", "say(f'{x} is bad [a.b]')"],
)
def test_a_code_is_found_wherever_it_is_given(source):
    assert list(codes(ast.parse(source))) == ["a.b"]
