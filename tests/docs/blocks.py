"""Runs the code blocks of a document as a reader would: in order, in one shell, in a folder with the project's examples.

- ``console``: lines after ``$ `` are typed in; the lines below, if there are any, must be what comes out. ``...`` stands for
  any text of a line, alone on a line for any lines. A command may fail only if the next one is ``echo $?``.
- ``python``: run as a file. ``yaml NAME`` and ``json NAME``: written to the file NAME.
- ``text`` and ``mermaid`` are pictures; there is nothing to run.

``make`` in a document is answered by ``make --dry-run`` in the checkout: the target must exist. The targets themselves are what
runs the tests.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from tests.project.house import ROOT

BLOCK = re.compile(r"^```(\S*)(?: +(\S+))?\n(.*?)^```$", re.M | re.S)
MARK = "@@otelreplay-docs@@"


@dataclass
class Step:
    """One thing to run, and what must come out (None: whatever comes out)."""

    command: str
    expected: str | None = None
    output: str = ""
    status: int | None = None


@dataclass
class Document:
    """The blocks of one document, ready to run in a folder."""

    steps: list[Step] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    languages: list[str] = field(default_factory=list)


def read(text: str) -> Document:
    """Take a document's blocks apart."""
    found = Document()
    for number, match in enumerate(BLOCK.finditer(text)):
        language, name, body = match.groups()
        found.languages.append(language)
        if language == "console":
            found.steps += console(body)
        elif language == "python":
            found.files[f"block{number}.py"] = body
            found.steps.append(Step(f"python block{number}.py"))
        elif name and language in {"yaml", "json"}:
            found.files[name] = body
    return found


def console(body: str) -> list[Step]:
    """The commands of a console block, with the output that is shown below each."""
    steps: list[Step] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:]))
        elif line.startswith("> ") and steps[-1].expected is None:
            steps[-1].command += "\n" + line[2:]
        else:
            steps[-1].expected = (steps[-1].expected or "") + line + "\n"
    return steps


def run(document: Document, folder: Path) -> None:
    """Run the steps in one shell and keep what each of them said and how it ended."""
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / ".shims").mkdir()
    shim = folder / ".shims" / "make"
    shim.write_text(f'#!/bin/sh\nexec /usr/bin/env PATH="$SYSTEM_PATH" make --dry-run -C {shlex.quote(str(ROOT))} "$@"\n')
    shim.chmod(0o755)
    for name, body in document.files.items():
        (folder / name).write_text(body, encoding="utf-8")
    script = "".join(f'{s.command}\n__s=$?; echo "{MARK}$__s"; (exit $__s)\n' for s in document.steps)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {k: v for k, v in os.environ.items() if k != "OTELREPLAY_KEYS"} | {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "COLUMNS": "80",
        "SYSTEM_PATH": os.environ["PATH"],
        "PATH": f"{folder / '.shims'}{os.pathsep}{path}",
    }
    done = subprocess.run(
        ["bash", "-s"], input=script, cwd=folder, env=environment, text=True, timeout=240, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    parts = re.split(rf"{MARK}(\d+)\n", done.stdout)
    for step, output, status in zip(document.steps, parts[0::2], parts[1::2], strict=False):
        step.output, step.status = output, int(status)


def problems(document: Document) -> list[str]:
    """What did not happen as the document says, in words."""
    said = []
    for step, following in zip(document.steps, [*document.steps[1:], None], strict=True):
        failure_shown = following is not None and following.command == "echo $?"
        if step.status != 0 and not failure_shown:
            said.append(f"$ {step.command}\nended with {step.status}:\n{step.output}")
        elif step.expected is not None and not fits(step.expected, step.output):
            said.append(f"$ {step.command}\nshould say:\n{step.expected}\nsaid:\n{step.output}")
    return said


def fits(expected: str, output: str) -> bool:
    """Whether the output is what is shown, ``...`` standing for anything."""
    pattern = ""
    for line in expected.rstrip("\n").split("\n"):
        pattern += (
            r"(?:.*\n)*?" if line.strip() == "..." else ".*?".join(map(re.escape, line.rstrip().split("..."))) + r"[ ]*\n"
        )
    return re.fullmatch(pattern, output.rstrip("\n") + "\n") is not None
