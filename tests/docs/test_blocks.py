"""The runner of documents itself: it notices a document that is wrong."""

import pytest

from tests.docs.blocks import console, fits, problems, read, run


@pytest.mark.parametrize(
    ("expected", "output", "fit"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("a\n...\nc\n", "a\nb\nb\nc\n", True),
        ("id ...  ok\n", "id 17  ok\n", True),
        ("id ...  ok\n", "id 17  bad\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_dots_stand_for_anything_and_nothing_else_does(expected, output, fit):
    assert fits(expected, output) is fit


def test_commands_are_taken_apart_from_what_they_say():
    steps = console("$ a \\\n> b\nout\n$ c\n")
    assert [("a \\\nb", "out\n"), ("c", None)] == [(s.command, s.expected) for s in steps]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("```console\n$ export A=1\n$ echo $A\n1\n```\n", False),
        ("```console\n$ echo 1\n2\n```\n", True),
        ("```console\n$ false\n```\n", True),
        ("```console\n$ (exit 5)\n$ echo $?\n5\n```\n", False),
        ("```console\n$ (exit 5)\n$ echo $?\n6\n```\n", True),
        ("```console\n$ make no-such-target\n```\n", True),
        ("```python\nassert False\n```\n", True),
        ("```yaml a.yaml\na: 1\n```\n\n```console\n$ cat a.yaml\na: 1\n```\n", False),
        ("```console\n$ exit 0\n$ echo 1\n1\n```\n", True),
    ],
)
def test_a_document_that_says_what_does_not_happen_is_noticed(text, wrong, tmp_path):
    document = read(text)
    run(document, tmp_path)
    assert bool(problems(document)) is wrong
