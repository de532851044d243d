"""Every stable error code is documented, and no documentation outlives its code."""

import ast
import re

from tests.project.house import ROOT, sources, tree

CODE = re.compile(r"[a-z][a-z_]*(\.[a-z][a-z0-9_]*)+")
DOCUMENTED = re.compile(r"^### `([^`]+)`", re.M)


def codes(module):
    """(line, code) of every ``code=...`` of a call; None where the text cannot be read off the source."""
    for node in ast.walk(module):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "code":
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                yield keyword.value.lineno, value if isinstance(value, str) else None


def raised():
    return {code for path in sources() for _, code in codes(tree(path)) if code and CODE.fullmatch(code)}


def documented():
    return DOCUMENTED.findall((ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))


def test_every_code_that_is_raised_is_documented():
    assert raised() - set(documented()) == set()


def test_every_documented_code_is_raised():
    assert set(documented()) - raised() == set()


def test_codes_are_documented_once_and_in_order():
    assert documented() == sorted(set(documented()))
