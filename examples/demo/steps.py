"""What the parts of the demo share: text, and commands that are shown as they are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def say(text: str = "") -> None:
    """Print a paragraph."""
    print(text, flush=True)


def heading(text: str) -> None:
    """A title with a line under it."""
    say(f"\n\n{text}\n{'-' * len(text)}")


def only(pattern: str) -> Path:
    """The one file that a pattern fits."""
    (found,) = Path(pattern).parent.glob(Path(pattern).name)
    return found


class Shell:
    """Runs commands and shows them as they would be typed. Everything they keep lies in one folder."""

    def __init__(self, out: Path) -> None:
        self.out = out
        own = {"OTELREPLAY_KEYS": out / "keys", "OTELREPLAY_OUTBOX": out / "outbox"}
        self.environment = os.environ | {name: str(path) for name, path in own.items()} | {"COLUMNS": "80"}

    def run(self, *arguments: str, expected: int = 0) -> None:
        """A command of otelreplay; ends the demo if it does not end with the code that was expected."""
        self._run(["-m", "otelreplay", *arguments], f"otelreplay {' '.join(arguments)}", expected, {})

    def python(self, module: str, **variables: str) -> None:
        """A program of the examples."""
        shown = [*(f"export {name}={value}" for name, value in variables.items()), f"python -m {module}"]
        self._run(["-m", module], "\n$ ".join(shown), 0, variables)

    def _run(self, arguments: list[str], shown: str, expected: int, variables: dict[str, str]) -> None:
        say(f"\n$ {shown}")
        typed = [str(only(a)) if "*" in a else a for a in arguments]  # as a shell would
        command = [sys.executable, *typed]
        done = subprocess.run(command, env=self.environment | variables, stderr=subprocess.STDOUT, check=False)
        if done.returncode != expected:
            sys.exit(f"demo: the command above ended with {done.returncode}, not with {expected}")
        if expected:
            say(f"(exit code {expected})")
