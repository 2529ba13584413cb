"""The files of `corpus.py` through every entrance: an answer or an error of ours, in bounded time and memory."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus import FORMS, corpus

from citation_models import tiny_parser
from espalier.citations.bibliographies import read_bibliography
from espalier.citations.splitting import read_references
from espalier.cli import main
from espalier.documents.parsing import parse_document
from espalier.documents.reading import read_document
from espalier.errors import EspalierError, FormatError
from espalier.io import FORMATS, read

SECONDS = 10.0
MEGABYTES = 300
MOST = 100_000

FILES = corpus()


def peak() -> int:
    """Return the most memory that this process has had, in megabytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most >> (20 if sys.platform == "darwin" else 10)


def through(entrance: Callable[[str, bytes], object], files: dict[str, tuple[str, bytes]]) -> None:
    """Give all files to an entrance; one that takes too long, or too much, is named."""
    for name, (file, data) in files.items():
        before, start, message = peak(), time.process_time(), ""
        try:
            entrance(file, data)
        except EspalierError as error:
            message = str(error)
        except Exception as error:
            raise AssertionError(f"{name}: {error!r}") from error
        assert len(message) < 2_000, name
        spent, more = time.process_time() - start, peak() - before
        assert spent < SECONDS, f"{name}: {spent:.1f} seconds"
        assert more < MEGABYTES, f"{name}: {more} MB"


def stream(file: str, data: bytes) -> io.BytesIO:
    found = io.BytesIO(data)
    found.name = file  # type: ignore[attr-defined]
    return found


def of_form(*forms: str) -> dict[str, tuple[str, bytes]]:
    """Return the files of some forms, and those that have no form."""
    others = tuple(f"{form}, " for form in FORMS if form not in forms)
    return {name: file for name, file in FILES.items() if not name.startswith(others)}


def test_the_files_are_small() -> None:
    assert len(FILES) > 1500
    assert all(len(data) <= MOST for _, data in FILES.values())


_FORMS = {"jsonl": "jsonl", "doccano": "jsonl", "prodigy": "jsonl", "label_studio": "label_studio", "plain": "text"}
_FORMS |= {"inline": "inline", "hierarchical": "inline", "tei": "tei", "conll": "conll"}


@pytest.mark.parametrize("format", FORMATS)
def test_readers_of_records(format: str) -> None:
    def entrance(file: str, data: bytes) -> None:
        refused: list[FormatError] = []
        read(stream(file, data), format, problems=[], refused=refused)

    through(entrance, of_form(_FORMS[format], "xml"))


def test_readers_of_records_by_a_guess() -> None:
    through(lambda file, data: read(stream(file, data), problems=[], refused=[]), of_form("jsonl", "inline", "text"))


def test_bibliographies() -> None:
    def entrance(file: str, data: bytes) -> None:
        list(read_bibliography(stream(file, data), refused=[]))

    forms = ("bibtex", "bibtex names", "ris", "nbib", "refer", "csl", "endnote", "mods")
    through(entrance, of_form(*forms))


def test_splitting() -> None:
    through(lambda file, data: list(read_references(stream(file, data), refused=[])), of_form("text", "marked text"))


def test_documents() -> None:
    through(lambda file, data: read_document(data, file), of_form("html", "html list", "latex", "latex list"))


_SOME = ("<a ", "{", "\n", ". ", "[1] ", "1990\n", "Elm, A. (1990). ", "[1] Elm, A. (1990). W. ", "a ", "; ")


@pytest.mark.parametrize("form", ["html list", "latex list", "text"])
def test_documents_to_records(form: str) -> None:
    parser = tiny_parser()
    some = {
        name: (file, data[:20_000]) for name, (file, data) in FILES.items() if name in {f"{form}, {u!r}" for u in _SOME}
    }
    assert len(some) == len(_SOME)
    through(lambda file, data: parse_document(data, parser, name=file), some)


@pytest.fixture
def labels(tmp_path: Path) -> Callable[[str, bytes], list[str]]:
    """Run `espalier convert` in this process; return the texts that come out."""

    def run(file: str, data: bytes) -> list[str]:
        path, out = tmp_path / file, tmp_path / "out.jsonl"
        path.write_bytes(data)
        out.unlink(missing_ok=True)
        code = main(["convert", str(path), str(out), "--from", "label_studio"])
        assert code in (0, 1, 2)
        return [json.loads(line)["text"] for line in out.read_text().splitlines()] if out.exists() else []

    return run


def test_bad_tasks_through_the_command_line(labels: Callable[[str, bytes], list[str]]) -> None:
    names = ("a bad record behind a good one", "a bad record first", "a list that never ends")
    for name in names:
        assert labels(*FILES[name]).count("a") <= 1, name
