"""The application: all commands, and the one place where errors become messages and exit codes.

0    done
1    done, but some records or files failed; each is named on stderr
2    wrong use, or an input that cannot be used; a file that was to be written is as it was
130  interrupted
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from espalier.cli.console import STDOUT, Stopped, complain, in_options, show_warnings
from espalier.errors import EspalierError, unopened

__all__ = ["COMMANDS", "GROUPS", "application", "command_of", "help_of", "run"]

COMMANDS = (
    "parse",
    "find",
    "train",
    "label",
    "evaluate",
    "calibrate",
    "compare",
    "convert",
    "info",
    "reproduce",
    "run",
    "serve",
    "api",
    "examples",
    "warm",
    "doctor",
)
"""The commands, each a function of the file that has its name."""

GROUPS = {"rules": ("check", "show", "discover")}
"""Commands of two words: the first, which is the name of their file, and what may follow it."""

_INTERRUPTED = 130

# Errors of writing that stdout alone may have without a name: who writes a file names it.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"espalier {import_module('espalier').__version__}")
        raise typer.Exit


def _espalier(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Pull fields out of text: train on few labels, label, evaluate, convert."""


class _Command(TyperCommand):
    """A command whose help names no types of Python."""

    def get_params(self, ctx: Any) -> Any:
        return _without_types(super().get_params(ctx))


class _Group(TyperGroup):
    """Commands, and options of their own without types of Python."""

    def get_params(self, ctx: Any) -> Any:
        return _without_types(super().get_params(ctx))


def _without_types(parameters: list[Any]) -> list[Any]:
    """Have no type shown for switches, and for arguments, whose name says what they are; newer versions of Typer do."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) or parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
    return parameters


def command_of(*words: str) -> Callable[..., None]:
    """Return the function of a command of one word, or of two."""
    command: Callable[..., None] = getattr(import_module(f"espalier.cli.{words[0]}"), words[-1])
    return command


def help_of(command: Callable[..., None]) -> tuple[str, list[str]]:
    """Return what the docstring of a command says, and the examples that it ends with."""
    text, _, examples = (command.__doc__ or "").partition("\n    Examples:\n")
    return text, [line.strip() for line in examples.splitlines() if line.strip()]


def application(commands: Sequence[str] = COMMANDS, groups: Sequence[str] = tuple(GROUPS)) -> typer.Typer:
    """Put commands and groups of them together."""
    made = typer.Typer(
        name="espalier",
        cls=_Group,
        no_args_is_help=True,
        add_completion=len(commands) > 1,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_espalier)
    for name in commands:
        _add(made, name)
    for name in groups:
        said = import_module(f"espalier.cli.{name}").ABOUT
        group = typer.Typer(name=name, cls=_Group, help=said, no_args_is_help=True, rich_markup_mode="rich")
        for part in GROUPS[name]:
            _add(group, name, part)
        made.add_typer(group)
    return made


def _add(to: typer.Typer, *words: str) -> None:
    """Add a command, with its examples at the end of its help."""
    command = command_of(*words)
    text, examples = help_of(command)
    to.command(cls=_Command, help=text, epilog="\n\n".join(["Examples:", *examples]))(_telling(command, words))


def _telling(command: Callable[..., None], words: Sequence[str]) -> Callable[..., None]:
    """Return a command that says what went wrong on purpose in one line on stderr, and ends with its exit code."""

    @wraps(command)
    def told(**options: Any) -> None:
        try:
            with show_warnings():
                command(**options)
            sys.stdout.flush()
            return
        except BrokenPipeError:  # the reader of our output went away (`| head`)
            _give_up_stdout()
            raise typer.Exit(1) from None
        except EspalierError as error:
            complain(in_options(error, " ".join(words)))
        except OSError as error:
            name = error.filename or (STDOUT if error.errno in _FULL else None)
            complain(str(unopened(error, str(name))) if name else str(error))
            if name == STDOUT:
                _give_up_stdout()
        except (Stopped, KeyboardInterrupt) as stopped:
            complain(str(stopped) or "stopped; a file that was to be written is as it was")
            raise typer.Exit(_INTERRUPTED) from None
        raise typer.Exit(2)

    return told


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; what Typer refuses it says itself."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if "" in arguments:  # as a path it would be the current directory
        complain(f"argument {arguments.index('') + 1} is empty; is a variable of the shell not set?")
        return 2
    if arguments[:1] == ["help"]:  # as many programs have it: `help`, `help parse`
        arguments = [*arguments[1:], "--help"]
    # Who names a command need not wait until the others are imported and read.
    named = [name for name in COMMANDS if [name] == arguments[:1]]
    command = typer.main.get_command(application(named, ()) if named else application())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what we write is UTF-8 on every platform, also into a pipe
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        command.main(args=arguments or ["--help"], prog_name="espalier")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


def _give_up_stdout() -> None:
    """Point stdout elsewhere, or Python tries once more at exit to write what could not be written, and complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
