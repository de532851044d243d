"""The written reference of the command line is what the command line says."""

import subprocess
import sys

import pytest

from tests.cli.reference import PAGE, commands, reference, stored

COMMANDS = list(commands())


def test_the_reference_in_the_documents_is_the_one_of_the_commands():
    """Write it anew with ``python -m tests.cli.reference``."""
    assert reference() == stored()


@pytest.mark.parametrize(("words", "command"), COMMANDS, ids=[" ".join(w) for w, _ in COMMANDS])
def test_every_command_option_and_argument_says_what_it_is(words, command):
    assert command.help
    assert [] == [p.name for p in command.params if not p.help]


@pytest.mark.parametrize(("words", "command"), COMMANDS, ids=[" ".join(w) for w, _ in COMMANDS])
def test_help_of_a_command_says_what_the_reference_says(words, command, desk):
    shown = " ".join(desk.run(*words, "--help").out.split())
    assert " ".join(command.help.split()) in shown
    assert [] == [p.name for p in command.params if " ".join(p.help.split())[:20] not in shown]


def test_every_command_that_reads_has_json():
    reading = {("list",), ("show",), ("events",), ("report",), ("grade",), ("verify",), ("keys", "list"), ("policy", "check")}
    assert reading <= {words for words, command in COMMANDS if any("--json" in p.opts for p in command.params)}


def test_every_exit_code_is_documented():
    page = PAGE.read_text(encoding="utf-8")
    assert [] == [code for code in (0, 1, 2, 3, 4, 5, 6, 70, 130, 141) if f"\n| {code} | " not in page]


def test_the_short_help_of_each_command_is_a_whole_sentence(desk):
    for group in ((), ("keys",), ("policy",)):
        assert "..." not in desk.run(*group, "--help").out.split("Commands:")[1]


def test_the_version_is_said(desk):
    assert desk.run("--version").out.startswith("otelreplay 0.")


def test_help_imports_nothing_heavy(desk):
    """What keeps `--help` from a cold start below a quarter of a second."""
    heavy = {
        "pydantic",
        "rich",
        "cryptography",
        "re2",
        "opentelemetry",
        "grpc",
        "yaml",
        "zstandard",
        "google",
        "msgspec",
        "asyncio",
    }
    script = (
        "import sys\nfrom otelreplay.cli.main import main\nsys.argv = ['otelreplay', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", script], env=desk.env(), capture_output=True, text=True, check=True)
    assert "Usage: otelreplay" in done.stdout
    assert heavy.isdisjoint(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["nonsense"], ["convert"], ["convert", "x.json"], ["show"], ["report", "--nonsense", "x"]])
def test_a_wrong_command_line_ends_with_2(words, desk):
    done = desk.run(*words, expect=2)
    assert "" == done.out
    assert done.err.startswith("Usage: otelreplay")
