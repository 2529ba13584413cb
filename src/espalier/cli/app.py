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
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from espalier.cli.console import STDOUT, Stopped, complain, in_options, show_warnings
from espalier.errors import EspalierError

__all__ = ["COMMANDS", "GROUPS", "application", "command_of", "run"]

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
_STOPPED = "stopped; a file that was to be written is as it was"

# Errors of writing that stdout alone may have without a name: who writes a file names it.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO)

# Typer moved the base of its usage errors between packages; as an ancestor of BadParameter it is in all versions.
_CommandLineError: Any = typer.BadParameter.__mro__[2]


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
        made.command(cls=_Command)(command_of(name))
    for name in groups:
        about = import_module(f"espalier.cli.{name}").ABOUT
        group = typer.Typer(name=name, cls=_Group, help=about, no_args_is_help=True, rich_markup_mode="rich")
        for part in GROUPS[name]:
            group.command(cls=_Command)(command_of(name, part))
        made.add_typer(group)
    return made


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; what goes wrong on purpose is one line on stderr."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if "" in arguments:  # as a path it would be the current directory
        complain(f"argument {arguments.index('') + 1} is empty; is a variable of the shell not set?")
        return 2
    if arguments[:1] == ["help"]:  # as many programs have it: `help`, `help parse`
        arguments = [*arguments[1:], "--help"]
    if len(arguments) == 1 and (parts := GROUPS.get(arguments[0])):
        complain(f"{arguments[0]}: choose one of {', '.join(parts)} (see 'espalier {arguments[0]} --help')")
        return 2
    # Who names a command need not wait until the others are imported and read.
    named = [name for name in COMMANDS if [name] == arguments[:1]]
    command = typer.main.get_command(application(named, ()) if named else application())
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what we write is UTF-8 on every platform, also into a pipe
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with show_warnings():
            code = command.main(args=arguments or ["--help"], prog_name="espalier", standalone_mode=False)
        sys.stdout.flush()
        if code == _INTERRUPTED:  # Typer's word for Ctrl-C, of some versions
            complain(_STOPPED)
        return code if isinstance(code, int) else 0
    except BrokenPipeError:  # the reader of our output went away (`| head`)
        _give_up_stdout()
        return 1
    except EspalierError as error:
        complain(in_options(error, " ".join(_named_command(arguments))))
    except OSError as error:
        from espalier.cli.slips import unopened

        name = error.filename or (STDOUT if error.errno in _FULL else None)
        complain(str(unopened(error, str(name))) if name else str(error))
        if name == STDOUT:
            _give_up_stdout()
    except Stopped as stopped:
        complain(str(stopped))
        return _INTERRUPTED
    except (KeyboardInterrupt, typer.Abort):
        complain(_STOPPED)
        return _INTERRUPTED
    except _CommandLineError as error:
        from espalier.cli.slips import in_plain_words

        words = _named_command(arguments)
        own = command_of(*words) if words else None
        complain(in_plain_words(error, arguments, words, (*COMMANDS, *GROUPS), own))
    return 2


def _give_up_stdout() -> None:
    """Point stdout elsewhere, or Python tries once more at exit to write what could not be written, and complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _named_command(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the word or words of the command that a line names, none if it names none."""
    known: list[tuple[str, ...]] = [(name,) for name in COMMANDS]
    known += [(name, part) for name, parts in GROUPS.items() for part in parts]
    return next((words for words in known if tuple(arguments[: len(words)]) == words), ())
