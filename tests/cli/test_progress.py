"""The progress bar: for people on a terminal who wait, and for nobody else."""

import contextlib
import io

import pytest

from otelreplay.cli import progress
from otelreplay.cli.progress import LARGE, Progress

SHOW_CURSOR = "\x1b[?25h"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


@pytest.fixture
def large(tmp_path):
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(LARGE)
    return str(path)


def read(stream, files, *counts, error=None):
    """Read so many bytes while people look at ``stream``."""
    with contextlib.redirect_stderr(stream), Progress(files) as bar:
        for count in counts:
            bar(count)
        if error:
            raise error


def test_large_input_on_a_terminal_has_a_bar_from_the_start(terminal, large):
    read(terminal, [large], LARGE // 2, LARGE // 2)
    assert "reading" in terminal.getvalue()


def test_small_and_fast_input_has_none(terminal, tmp_path):
    (tmp_path / "small").write_bytes(b"x")
    read(terminal, [str(tmp_path / "small")], 1)
    assert "" == terminal.getvalue()


def test_small_and_slow_input_gets_one(terminal, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "SLOW", -1.0)
    (tmp_path / "small").write_bytes(b"x")
    read(terminal, [str(tmp_path / "small")], 1)
    assert "reading" in terminal.getvalue()


def test_where_nobody_watches_there_is_none(large):
    stream = io.StringIO()
    read(stream, [large], LARGE)
    assert "" == stream.getvalue()


def test_a_pipe_has_no_size_and_no_measure(terminal, monkeypatch):
    monkeypatch.setattr(progress, "SLOW", -1.0)
    read(terminal, ["-"], 5)
    assert "reading" in terminal.getvalue()


def test_the_bar_ends_with_the_work_even_if_that_fails(terminal, large):
    with pytest.raises(ValueError, match="no"):
        read(terminal, [large], 1, error=ValueError("no"))
    assert SHOW_CURSOR in terminal.getvalue()


def test_input_that_is_not_there_is_no_error_here(terminal):
    read(terminal, ["not-there"], 1)
