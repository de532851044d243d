"""The command reference of ``docs/cli.md``, made from the very options that ``--help`` shows.

``python -m tests.cli.reference`` writes it anew.
"""

import inspect
import textwrap

import typer

from otelreplay.cli.main import app
from tests.project.house import ROOT

PAGE = ROOT / "docs" / "cli.md"
START, END = "<!-- reference: start -->\n", "<!-- reference: end -->\n"


def commands(group=None, path=()):
    """(words, command) of every command that does something."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def entry(parameter):
    if parameter.param_type_name == "argument":
        label = parameter.metavar
    else:
        label = ", ".join(parameter.opts) + ("" if parameter.is_flag else f" {parameter.metavar}")
    default = parameter.default
    said = f" Default: `{default}`." if isinstance(default, str) and default else " Required." if parameter.required else ""
    return textwrap.fill(f"- `{label}`: {parameter.help}{said}", 120, subsequent_indent="  ", break_on_hyphens=False)


def reference():
    parts = []
    for words, command in commands():
        title = " ".join(("otelreplay", *words))
        help_text = "\n\n".join(textwrap.fill(" ".join(p.split()), 120) for p in inspect.cleandoc(command.help).split("\n\n"))
        options = "\n".join(entry(p) for p in command.params)
        parts.append(f"### `{title}`\n\n{help_text}\n" + (f"\n{options}\n" if options else ""))
    return "\n".join(parts)


def stored():
    return PAGE.read_text(encoding="utf-8").split(START)[1].split(END)[0].strip("\n") + "\n"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    PAGE.write_text(f"{before}{START}\n{reference()}\n{END}{rest.split(END)[1]}", encoding="utf-8")
