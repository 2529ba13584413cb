"""What commands say: results on stdout, everything else on stderr, in the words of the command line.

Options stand for arguments of functions, records count from 1, and it is one record but two records.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

from espalier.document import CUT
from espalier.errors import Argument, EspalierError, Part, Place, ResultWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = [
    "STDOUT",
    "Pace",
    "Stopped",
    "complain",
    "counted",
    "in_options",
    "note",
    "plain_table",
    "progress",
    "say",
    "say_json",
    "show_warnings",
    "stdout_console",
]

STDOUT = "<stdout>"
"""What stdout is called in messages."""

_WIDTH = 100  # where the output is no terminal
_WIDEST = 120  # longer lines are hard to read


def stdout_console() -> Console:
    """Return the console for results: as wide as the terminal, within reason."""
    from rich.console import Console

    console = Console(highlight=False)
    console.width = min(console.width, _WIDEST) if console.is_terminal and sys.stdout.isatty() else _WIDTH
    return console


def say(*results: RenderableType) -> None:
    """Show results on stdout."""
    console = stdout_console()
    with console.capture() as shown:
        for result in results:
            console.print(result)
    # Rich fills the lines of a table with blanks.
    sys.stdout.write("\n".join(line.rstrip() for line in shown.get().split("\n")))


def plain_table(*columns: str, whole: bool = False) -> Table:
    """Return a table without lines; `>` in front of a name moves its column to the right.

    whole : columns on the right are never wrapped.
    """
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in columns:
        right = name[:1] == ">"
        table.add_column(name.removeprefix(">"), justify="right" if right else "left", no_wrap=right and whole)
    return table


def say_json(value: Any) -> None:
    """Write one JSON value on stdout, for machines."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def complain(what: str) -> None:
    """Write one line on stderr: what went wrong, or what was left out."""
    _stderr_line("espalier:", what, "bold red")


@contextmanager
def show_warnings() -> Iterator[None]:
    """Write the library's warnings about results as lines on stderr, each once."""
    said: set[str] = set()
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, ResultWarning):
                others(message, category, *place, **more)
            elif str(message) not in said:
                said.add(str(message))
                complain(str(message))

        warnings.simplefilter("always", ResultWarning)
        warnings.filterwarnings("ignore", f"documents.*{CUT}", ResultWarning)  # told with its file by who reads it
        warnings.showwarning = show
        yield


def note(what: str, *, always: bool = False) -> None:
    """Tell a person at a terminal what was done; nobody else, unless it is to be said always."""
    if sys.stderr.isatty():
        _stderr_line("✓", what, "bold green")
    elif always:
        _stderr_line("espalier:", what, "")


def _stderr_line(head: str, what: str, style: str) -> None:
    if not sys.stderr.isatty():
        sys.stderr.write(f"{head} {what}\n")
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, highlight=False).print(Text.assemble((head, style), " ", what), soft_wrap=True)


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show a moving sign on stderr with the time and the latest news; silent where stderr is no terminal.

    Yields a function that takes the news. `quiet` silences it, for results that go to the same terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda news: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), TextColumn("{task.fields[news]}")
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, news="")
        yield lambda news: bar.update(task, news=news)


class Stopped(Exception):
    """Somebody stopped a command (Ctrl-C); the message says what was kept and how to go on."""


class Pace:
    """Counts from when it is made; `what` is counted."""

    def __init__(self, what: str) -> None:
        """Start the clock."""
        self._what, self._begin = what, monotonic()

    def news(self, done: int, share: float | None = None) -> str:
        """Return how many are done and how many a second; if the share of all is known (0 to 1), also the time left."""
        seconds = max(monotonic() - self._begin, 1e-9)
        left = ""
        if share:
            left = f", {timedelta(seconds=round(seconds * max(0.0, 1 - share) / share))} left"
        return f"{done:,} {self._what}, {done / seconds:,.0f} a second{left}"


# What stands for an argument of a function; {} is its value.
_OPTIONS: Mapping[tuple[str, str], str] = {
    ("read", "encoding"): "--encoding {}",
    ("read", "format"): "--from {}",
    ("read", "labels"): "from Python, es.read can be told a label for it",
    ("read", "repair"): "'espalier convert --repair'",
    ("write", "lossy"): "--lossy",
    ("fit", "labels"): "give a --task that lists it",
    ("fit", "rules"): "add --rules FILE",
    ("add", "no rules"): "add --rules none",
    ("add", "rules"): "add --rules FILE",
    ("add", "unlabelled"): "add --unlabelled FILE",
    ("method", "unlabelled_truth"): "--set method.unlabelled_truth={}",
    ("train", "start"): "--set prior",
}
# Where a command writes, the option that names the format.
_FORMAT_OPTION: Mapping[str, str] = {"label": "--format"}


def counted(n: int, what: str, several: str = "") -> str:
    """Return "1 record", "2 records"; `several` is a plural that does not just end in s."""
    return f"{n:,} {what if n == 1 else several or what + 's'}"


def in_options(error: EspalierError, command: str) -> str:
    """Return the message of an error as a user of that command should read it."""

    def words(part: Part) -> str | None:
        if isinstance(part, Place):
            return f"record {part.sequence + 1}" + ("" if part.token is None else f", token {part.token + 1}")
        if isinstance(part, Argument):
            return _option(part, command)
        return part

    return error.told(words)


def _option(argument: Argument, command: str) -> str | None:
    """Return the option that stands for an argument; None if there is none."""
    function, name, value, _ = argument
    if (function, name) in _OPTIONS:
        return _OPTIONS[function, name].format(value)
    if (function, name) == ("write", "format"):
        return f"{_FORMAT_OPTION.get(command, '--to')} {value}"
    if (function, name) == ("train", "tags"):
        return "--tags" if value else "--plain"
    if function == "set":
        return f"--set {name}" + ("" if value is ... else f"={value if isinstance(value, str) else json.dumps(value)}")
    if function in command.split():  # what Python and the command line call alike
        return f"--{name}" + ("" if value is ... else f" {value}")
    return None
