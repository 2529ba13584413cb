"""Data files as commands name them: `-` is stdin or stdout, and what a reader left out is said aloud.

No file may be read and written, and no two outputs may be one file (`keep_apart`). A file is replaced once its new
content is complete, so a command that was told to write where it reads would leave nothing of what it was given,
perhaps the only copy. Who types such a thing has made a slip.
"""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from espalier.cli.console import complain, counted, note
from espalier.document import CUT, Document, first_cut
from espalier.errors import FormatError, InputError, ResultWarning, nearest

__all__ = [
    "STANDARD",
    "UTF_8",
    "Bad",
    "Encoding",
    "From",
    "Least",
    "Lossy",
    "Model",
    "Output",
    "RawCells",
    "finish",
    "iter_documents",
    "keep_apart",
    "labelled_records",
    "opened",
    "output_format",
    "read_all",
    "reference_format",
    "refuse_stdout",
    "source_name",
    "write_documents",
]

STANDARD = Path("-")
UTF_8 = "utf-8"
Encoding = Annotated[
    str,
    typer.Option("--encoding", metavar="NAME", help="The encoding of the input, such as latin-1; by default utf-8."),
]
"""The option that every command with data to read has."""
From = Annotated[
    str | None, typer.Option("--from", metavar="FORMAT", help="The format of the records, if the guess is wrong.")
]
Model = Annotated[
    Path, typer.Option("--model", "-m", metavar="MODEL", help="A model file, or citations: the bundled one.")
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="Where to write; - is stdout.")]


def _between_0_and_1(given: float) -> float:
    if not 0 <= given <= 1:
        hint = f"did you mean {given / 100:g}?" if 1 < given <= 100 else ""
        raise InputError(f"--min-confidence {given:g}: a confidence is a number from 0 to 1", hint=hint)
    return given


Least = Annotated[
    float,
    typer.Option(
        "--min-confidence",
        metavar="P",
        callback=_between_0_and_1,
        help="Leave out records that are less sure than this, from 0 to 1.",
    ),
]
Lossy = Annotated[bool, typer.Option("--lossy", help="Accept what the output format cannot express.")]
RawCells = Annotated[
    bool, typer.Option("--raw-cells", help="Leave cells of csv as they are, also what a spreadsheet would run.")
]

Each = Callable[[list[Document]], list[Document]]

_MOST_PROBLEMS = 10


def iter_documents(path: Path, format: str | None = None, **options: Any) -> Iterator[Document]:
    """Yield the documents of a file or of stdin; what the reader repaired or left out goes to stderr."""
    from espalier.io import InputProblem, iter_read

    problems: list[InputProblem] = []
    source: Path | IO[bytes] = sys.stdin.buffer if path == STANDARD else path
    try:
        yield from iter_read(source, format, problems=problems, **options)
    finally:
        for problem in problems[:_MOST_PROBLEMS]:
            complain(f"{source_name(path)}:{problem.line}: {problem.what}")
        if len(problems) > _MOST_PROBLEMS:
            complain(f"{source_name(path)}: and {len(problems) - _MOST_PROBLEMS} more like these")


def read_all(
    paths: Iterable[Path], format: str | None = None, encoding: str = UTF_8, each: Each | None = None
) -> list[Document]:
    """Return the documents of all files; says so if a file has none or a span's border cuts a token.

    each : what is done with the documents of every file; an error of it names the file.
    """
    documents: list[Document] = []
    empty: list[str] = []
    for path in paths:
        own = list(iter_documents(path, format, encoding=encoding))
        if not own:
            empty.append(source_name(path))
        _tell_of_cuts(own, source_name(path))
        try:
            documents += each(own) if each is not None and own else own
        except InputError as error:
            raise error.within(source_name(path)) from None
    if empty and not documents:
        raise InputError(f"{', '.join(empty)}: there is no record to read")
    for name in empty:
        complain(f"{name}: there is no record in it")
    return documents


def _tell_of_cuts(documents: Sequence[Document], name: str) -> None:
    """Say so, once for a file, if a span's border cuts a token: where, and what to do."""
    if cut := first_cut(documents):
        i, token, n = cut
        what = f"{name}: record {i + 1}, {token!r}: {CUT} ({n} in all); put a space there, or the tag elsewhere"
        warnings.warn(what, ResultWarning, stacklevel=3)


def labelled_records(documents: Sequence[Document], name: str) -> list[Document]:
    """Return the documents that have labels to compare with; says so if some have none, and raises if all."""
    from espalier.recipes.judging import labelled_only

    try:
        labelled = labelled_only(documents)
    except InputError as error:
        raise error.within(name) from None
    if len(labelled) < len(documents):
        complain(f"{name}: records without labels, not counted: {len(documents) - len(labelled)}")
    return labelled


def source_name(path: Path) -> str:
    """Return what messages call a file that is read."""
    return "<stdin>" if path == STANDARD else str(path)


def output_format(path: Path, format: str | None, option: str, more: Sequence[str] = ()) -> str:
    """Return the format to write: the one asked for, else by the file's name, else JSON Lines on stdout.

    more : formats of the command's own, besides those of data.
    """
    from espalier.io import FORMATS, format_by_name

    known = [*FORMATS, *more]
    usual = "jsonl" if path == STANDARD else "csv" if path.suffix.lower() == ".csv" and "csv" in more else ""
    return _chosen(format, path, option, usual, known, format_by_name, lambda: f"known: {', '.join(known)}")


def reference_format(format: str | None, path: Path, option: str, shown: str = "") -> str:
    """Return the format of references to write: the one asked for, else by the file's name, else what suits stdout.

    shown : the name of what is no format but for people, written to a terminal and to files of text; "" for none.
    """
    from espalier.citations.formats import FORMATS, format_of_file, with_short_names

    more = [shown] if shown else []
    usual = shown if path.suffix.lower() == ".txt" else ""
    if path == STANDARD:
        usual = shown if shown and sys.stdout.isatty() else "jsonl"

    def listed() -> str:
        return f"there are {', '.join([*with_short_names(), *more])}"

    return _chosen(format, path, option, usual, [*FORMATS, *more], format_of_file, listed)


def _chosen(
    format: str | None, path: Path, option: str, usual: str, known: Sequence[str],
    by_name: Callable[[str], Any], listed: Callable[[], str],
) -> str:  # fmt: skip
    """Return the format that was asked for, else the usual one, "" for the one that the name of the file says.

    by_name : from the name of a file to its format; listed : says in a message which formats there are.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder", hint=f"name a file to write, such as {path / 'out.jsonl'}")
    if format is None and usual:
        return usual
    asked = None if format is None else format.lower()
    if asked is not None and asked in known:
        return asked
    found = by_name(path.name if asked is None else f"x.{asked}")  # as the end of a file's name says it: bib, json
    if found is not None:
        return str(found.name)
    if asked is not None:
        otherwise = _hint_of_table(f".{asked}", "csv", known) or listed()
        raise InputError(f"unknown format {asked!r}", hint=nearest(asked, known, otherwise))
    hint = _hint_of_table(path.suffix, path.with_suffix(".csv").name, known) or f"pass {option}: {', '.join(known)}"
    raise InputError(f"{path}: the name does not say which format to write", hint=hint)


def _hint_of_table(ending: str, instead: str, known: Sequence[str]) -> str:
    """Tell who wants a spreadsheet, by the end of a name, what to write instead; "" where that is not known."""
    from espalier.cli.slips import SPREADSHEETS

    wanted = ending.lower() in SPREADSHEETS and "csv" in known
    return f"write {instead}, which Excel and LibreOffice open" if wanted else ""


def write_documents(documents: Iterable[Document], path: Path, format: str, *, lossy: bool = False) -> None:
    """Write documents to a file or to stdout; loss is refused unless accepted."""
    from espalier.io import write

    # The native form never loses anything, so its writer has no such option.
    options: dict[str, Any] = {"lossy": True} if lossy and format != "jsonl" else {}
    write(documents, sys.stdout.buffer if path == STANDARD else path, format, **options)


@dataclass(slots=True)
class Bad:
    """How many records could not be read, and how many files had none or were not read to the end."""

    records: int = 0
    files: int = 0

    def __bool__(self) -> bool:
        """Say whether anything was bad."""
        return bool(self.records or self.files)

    def drain(self, refused: list[FormatError], words: Callable[[FormatError], str] = str) -> None:
        """Name and count records that could not be read, and forget them."""
        for error in refused:
            complain(words(error))
        self.records += len(refused)
        refused.clear()

    def told(self, what: str, read: int, done: str) -> str:
        """Return it in words; what : a record is called; done : what was done with those that were `read`."""
        records = f"; left out: {counted(self.records, what)}" if self.records else ""
        files = f"; files without {what}s, or not read to the end: {self.files}" if self.files else ""
        return f"{what}s {done}: {read}{records}{files} (named above)"


def finish(read: int, low: int, review: Path | None, failed: str | None, done: str | None) -> None:
    """Say what came of labelling `read` records, `low` of which were not sure enough; if some failed, exit with 1."""
    if low and review is None:
        complain(f"records below --min-confidence left out: {low} of {read}; --review FILE keeps them")
    if failed is not None:
        complain(failed)
        raise typer.Exit(1)
    if done is not None:
        note(done)
    if review is not None:
        note(f"{counted(low, 'record')} to review → {review}")


_STDIN, _STDOUT = 0, 1


def keep_apart(reads: Iterable[str | Path | None], writes: Mapping[str, Path | None]) -> None:
    """Refuse an output that is the same file as an input or as another output; call it before anything is read.

    writes : by the option or argument that names each. Links are followed, symbolic and hard, and `-` is the file that
    stdin or stdout was redirected to, if it was. Devices and pipes hold nothing that could be lost. What is not there
    is no input: a name may as well be that of a task or of a bundled model.
    """
    outputs = {option: path for option, path in writes.items() if path is not None}
    given = [Path(path) for path in reads if path is not None]
    inputs = {_identity(path, _STDIN): path for path in given if path == STANDARD or os.path.exists(path)}
    for option, path in outputs.items():
        source = inputs.get(_identity(path, _STDOUT))
        if source is not None:
            raise InputError(
                f"{option} {path} is the same file as {source}, which is read", hint="name another to write"
            )
    for (one, path), (other, second) in combinations(outputs.items(), 2):
        if _identity(path, _STDOUT) == _identity(second, _STDOUT):
            raise InputError(f"{one} {path} and {other} {second} are the same file", hint="name two")


def opened(path: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    """Open what is written besides: a file that is replaced only if all goes well, or stdout, or nothing."""
    from espalier.text_files import replacing

    if path is None:
        return nullcontext()
    return nullcontext(sys.stdout.buffer) if path == STANDARD else replacing(path)


def refuse_stdout(writes: Mapping[str, Path | None]) -> None:
    """Refuse `-` for outputs, by the option that names each, of a command whose stdout has something else to say."""
    for option, path in writes.items():
        if path == STANDARD:
            raise InputError(f"{option} -: the figures are written to stdout", hint="name a file for the page")


def _identity(path: Path, standard: int) -> object:
    """Return what all names of one file have in common; `standard` is the descriptor that `-` stands for."""
    try:
        found = os.fstat(standard) if path == STANDARD else os.stat(path)
    except OSError:  # not there yet
        return standard if path == STANDARD else os.path.realpath(path)
    if stat.S_ISREG(found.st_mode):
        return found.st_dev, found.st_ino
    return standard if path == STANDARD else object()
