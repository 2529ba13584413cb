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
from itertools import combinations
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from espalier.cli.console import complain, counted, in_options, note
from espalier.document import CUT, Document, first_cut
from espalier.errors import EspalierError, InputError, ResultWarning, nearest
from espalier.several_files import source_name

if TYPE_CHECKING:
    from espalier.documents.sources import ReferenceFiles
    from espalier.several_files import Several

__all__ = [
    "STANDARD",
    "check_answers",
    "finish",
    "iter_documents",
    "keep_apart",
    "labelled_records",
    "opened",
    "output_format",
    "read_all",
    "reference_files",
    "reference_format",
    "refuse_stdout",
    "source_name",
    "summary",
    "tell_unsure",
    "told",
    "write_documents",
    "write_text",
]

STANDARD = Path("-")
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
    paths: Iterable[Path], format: str | None = None, encoding: str = "utf-8", each: Each | None = None
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
    wanted = ending.lower() in (".xlsx", ".xls", ".ods") and "csv" in known
    return f"write {instead}, which Excel and LibreOffice open" if wanted else ""


def write_documents(documents: Iterable[Document], path: Path, format: str, *, lossy: bool = False) -> None:
    """Write documents to a file or to stdout; loss is refused unless accepted."""
    from espalier.io import write

    # The native form never loses anything, so its writer has no such option.
    options: dict[str, Any] = {"lossy": True} if lossy and format != "jsonl" else {}
    write(documents, sys.stdout.buffer if path == STANDARD else path, format, **options)


def told(error: EspalierError, rest: str) -> None:
    """Say on stderr what is wrong with a record or a file; rest : what that means for the rest of the file."""
    complain(f"{in_options(error, '')}{rest}")


def reference_files(files: list[Path], layout: str = "auto", encoding: str = "utf-8") -> ReferenceFiles:
    """Return the references of files, of which `-` is stdin; what is bad among them is named on stderr."""
    from espalier.documents.sources import ReferenceFiles

    return ReferenceFiles(files, layout, encoding, tell=told, warn=complain, stream=sys.stdin.buffer)


def tell_unsure(sources: ReferenceFiles) -> None:
    """Say how many lines are no reference, how many references are perhaps cut at the wrong place, and where."""
    for count, places, what, hint in (
        (sources.left_out, sources.left_at, f"lines that are no reference: {sources.left_out}", ""),
        (
            sources.unsure,
            sources.doubtful,
            f"references that may begin or end at the wrong place: {sources.unsure} of {sources.read}",
            " (-f jsonl says how sure each cut is; --input lines takes every line as a reference)",
        ),
    ):
        if count:
            joint, between = "at" if len(places) == count else "such as at", "; " if hint else ", "
            complain(f"{what}, {joint} {between.join(places)}{hint}")


def check_answers(
    format: str, explain: bool, k: int, least: float, review: Path | None, raw_cells: bool,
    *, several: bool, cells: bool, more: str,
) -> None:  # fmt: skip
    """Refuse options that would do nothing in a format. several : it has a place for other readings, as `more` has;
    cells : it has cells."""
    if explain and format != "table":
        raise InputError("--explain draws for people", hint=f"it goes with --format table, not {format}")
    if k > 1 and not several and format != "table":
        raise InputError(f"-k {k}: {format} has no place for other readings", hint=f"use --format {more} or table")
    if raw_cells and not cells:
        raise InputError("--raw-cells is for --format csv", hint=f"{format} has no cells")
    if review is not None and not least:
        raise InputError("--review needs --min-confidence: how sure a record must be to need no review")


def summary(several: Several, done: str) -> str:
    """Return in words what was read and what was bad; done : what was done with those that were read."""
    what = several.thing
    records = f"; left out: {counted(several.bad_records, what)}" if several.bad_records else ""
    files = f"; files without {what}s, or not read to the end: {several.bad_files}" if several.bad_files else ""
    return f"{what}s {done}: {several.read}{records}{files} (named above)"


def finish(several: Several, low: int, review: Path | None, verb: str, done: str | None) -> None:
    """Say what came of records, `low` of which were not sure enough; if some were bad, exit with 1."""
    if low and review is None:
        complain(f"records below --min-confidence left out: {low} of {several.read}; --review FILE keeps them")
    if several.bad:
        complain(summary(several, verb))
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


def write_text(path: Path, chunks: Iterable[str]) -> None:
    """Write text to a file, all or nothing, or to stdout."""
    from espalier.text_files import write_chunks

    write_chunks(sys.stdout.buffer if path == STANDARD else path, chunks, "utf-8")


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
