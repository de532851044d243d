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


def read(stream, files, *counts, error=None, runs=0):
    """Read so many bytes and rebuild so many runs while people look at ``stream``."""
    with contextlib.redirect_stderr(stream), Progress(files) as bar:
        for count in counts:
            bar(count)
        for done in range(runs + 1 if runs else 0):
            bar.runs(done, runs)
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


def test_when_all_is_read_a_bar_counts_the_runs_that_are_rebuilt(terminal, large):
    """Which takes most of the time: a bar that stood still at its end would tell of nothing."""
    read(terminal, [large], LARGE, runs=7)
    _, _, after = terminal.getvalue().partition("rebuilding runs")
    assert "reading" not in after
    assert "0/7" in after
    assert "7/7" in after
    assert after.count(SHOW_CURSOR) == 1


def test_runs_of_small_and_fast_input_are_not_counted(terminal, tmp_path):
    (tmp_path / "small").write_bytes(b"x")
    read(terminal, [str(tmp_path / "small")], 1, runs=7)
    assert "" == terminal.getvalue()


def test_runs_of_input_that_was_read_fast_are_counted_when_they_are_slow(terminal, tmp_path, monkeypatch):
    (tmp_path / "small").write_bytes(b"x")
    with contextlib.redirect_stderr(terminal), Progress([str(tmp_path / "small")]) as bar:
        bar(1)
        monkeypatch.setattr(bar, "_due", 0.0)
        bar.runs(3, 7)
    assert "reading" not in terminal.getvalue()
    assert "3/7" in terminal.getvalue()
