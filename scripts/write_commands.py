"""`docs/cli.md`, made from the commands themselves: `python scripts/write_commands.py > docs/cli.md`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from espalier.cli.app import COMMANDS, GROUPS, command_of, help_of

__all__ = ["reference"]

_HEAD = """\
# The command line

This page is generated from the commands' own help: `python scripts/write_commands.py > docs/cli.md`.

`-` is stdin or stdout. Results go to stdout, everything else to stderr; progress is shown only on a terminal.
What a command reads it never writes: a command line that names one file for both, or one for two outputs, is refused.
A format may be named as the end of a file's name says it: `-f bib` is `-f bibtex`, `-f json` is `-f csl`.
`espalier --install-completion` lets your shell complete commands and options (bash, zsh, fish, PowerShell).
Input may be any format that `espalier convert` knows, gzipped or not; the format is guessed from name and content.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | done, but some records or files failed; each is named on stderr |
| 2 | wrong use, or an input that cannot be used, such as an empty file; a file that was to be written is as it was |
| 130 | interrupted |
"""


def reference() -> str:
    """Return the page: every command with its usage, arguments and options."""
    single = [_section(name, command_of(name)) for name in COMMANDS]
    grouped = [_section(f"{name} {part}", command_of(name, part)) for name, parts in GROUPS.items() for part in parts]
    return "\n".join([_HEAD, *single, *grouped])


def _section(called: str, command: Callable[..., None]) -> str:
    hints = get_type_hints(command, include_extras=True)
    rows, places = [], []
    for name, parameter in inspect.signature(command).parameters.items():
        kind, about = get_args(hints[name])
        if isinstance(about, ArgumentInfo):
            places.append(f"{about.metavar}..." if get_origin(kind) is list else str(about.metavar))
            names = [f"`{places[-1]}`"]
        else:
            # Typer keeps the first spelling where a default would stand if there were no `Annotated`.
            spelled = [s for s in (about.default, *(about.param_decls or ())) if isinstance(s, str)] or [f"--{name}"]
            names = [f"`{part}`" for spelling in spelled for part in spelling.split("/")]
            names[-1] += f" `{about.metavar}`" if about.metavar else ""
        rows.append(f"| {', '.join(names)} | {_description(about, kind, parameter.default)} |")
    usage = " ".join(["espalier", called, *places, "[OPTIONS]"])
    table = "\n".join(["| | |", "|---|---|", *rows])
    text, examples = help_of(command)
    shown = "\n".join(f"    {line}" for line in examples)
    return f"## espalier {called}\n\n{inspect.cleandoc(text)}\n\n    {usage}\n\n{shown}\n\n{table}\n"


def _description(about: ParameterInfo, kind: Any, default: Any) -> str:
    """Return the help, and which values there are or that one is needed."""
    text = (about.help or "").replace("\\[", "[")
    for part in (kind, *get_args(kind)):  # an option that may be left out has a type X | None
        if isinstance(part, type) and issubclass(part, Enum):
            usual = f"; by default `{default.value}`" if isinstance(default, Enum) else ""
            return f"{text} One of {', '.join(f'`{choice.value}`' for choice in part)}{usual}."
    return text + (" Required." if default is inspect.Parameter.empty and isinstance(about, OptionInfo) else "")


if __name__ == "__main__":
    sys.stdout.write(reference())
