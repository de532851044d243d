"""How commands end: the right exit code, one clear line, never a traceback, never the text of a payload."""

import errno
import os
import subprocess
import sys

import pytest
import typer

from otelreplay.cli.exits import BUG, INTERRUPTED, PIPE_CLOSED, ending, outcome, say
from otelreplay.errors import (
    CassetteFormatError,
    InputError,
    IntegrityError,
    LimitError,
    MissingDataError,
    PolicyError,
    UsageError,
)

SECRET = "sk-live-canary-000"


def raising(error):
    def body():
        raise error

    return body


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (UsageError, 2),
        (PolicyError, 2),
        (MissingDataError, 3),
        (IntegrityError, 5),
        (InputError, 6),
        (CassetteFormatError, 6),
        (LimitError, 6),
    ],
)
def test_an_error_ends_with_the_code_of_its_kind_and_says_what_where_and_what_next(kind, code, capsys):
    error = kind("it is broken", code="tests.broken", where="file x, line 3", next_step="mend it")
    assert code == ending(raising(error))
    assert "otelreplay: file x, line 3: it is broken. Mend it [tests.broken]\n" == capsys.readouterr().err


def test_a_bug_ends_with_its_own_code_and_a_place_and_never_quotes_the_error(capsys):
    assert BUG == ending(raising(KeyError(SECRET)))
    err = capsys.readouterr().err
    assert SECRET not in err
    assert err.startswith("otelreplay: this is a bug in otelreplay: KeyError at otelreplay.cli.exits:")
    assert 1 == err.count("\n")


def test_an_interrupt_ends_with_130(capsys):
    assert INTERRUPTED == 130 == ending(raising(KeyboardInterrupt()))
    assert "otelreplay: interrupted\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "advice"), [(errno.ENOSPC, "Make room"), (errno.EACCES, "Check the path"), (errno.EROFS, "Check the path")]
)
def test_an_error_of_the_system_names_the_path_and_what_to_do(number, advice):
    code, sentence = outcome(OSError(number, os.strerror(number), "/some/where"))
    assert 2 == code
    assert sentence.startswith(f"/some/where: {os.strerror(number)}. {advice}")
    assert f"[system.{errno.errorcode[number].lower()}]" in sentence


def test_too_little_memory_is_said_to_be_so():
    assert 2 == outcome(MemoryError())[0]


@pytest.mark.parametrize("error", [typer.Exit(3), typer.BadParameter("x"), typer.Abort()])
def test_endings_of_the_command_line_itself_pass_through(error):
    with pytest.raises(type(error)):
        ending(raising(error))


def test_what_is_said_cannot_steer_the_terminal(capsys):
    say("cannot read a\x1b[2Jb\n")
    assert "otelreplay: cannot read a\\x1b[2Jb\\n\n" == capsys.readouterr().err


def test_a_result_of_a_command_is_its_exit_code():
    assert (0, 0, 5) == (ending(lambda: None), ending(lambda: 0), ending(lambda: 5))


def test_a_reader_that_stops_reading_ends_the_command_quietly():
    write = "[print('x' * 100) for _ in range(10**5)]"
    script = f"import sys; from otelreplay.cli.exits import ending\nsys.exit(ending(lambda: {write} and None))"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert b"" == process.stderr.read()
    process.stderr.close()
    assert PIPE_CLOSED == process.wait()
