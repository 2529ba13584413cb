"""From a file to records: places point to the original, hyphens are joined, and who waits may give up."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import espalier as es
from citation_models import tiny_model
from espalier.citations.parser import Parser
from espalier.citations.splitting import Reference
from espalier.documents.cutting.finding import FoundReference
from espalier.documents.pace import look, watched
from espalier.documents.reading.plain import printed_lines
from espalier.documents.references import cut_text, find_in

TEXT = """On espaliers

Rootstocks decide the growth of wall fruit, as everybody knows.

References
Jones, C. (1999). Water works of the old gardens and their root-
stocks. Berlin: Springer.
Müller, K. (2001). On espaliers and their pruning in the north.
Journal of Orchards, 3(2), 101-108.
Smith, A. B., & Jones, C. (2004). Soil salts and the growth of
wall fruit. Acta Horticulturae, 12(4), 33-39.
\fAppendix
"""


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Parser:
    path = tmp_path_factory.mktemp("parser") / "tiny.espalier"
    tiny_model().save(path)
    return Parser.from_file(path)


def test_places_point_to_the_original() -> None:
    printed = printed_lines(TEXT)
    found = find_in(printed).references
    assert [reference.text[:10] for reference in found] == ["Jones, C. ", "Müller, K.", "Smith, A. "]
    first = found[0]
    assert "rootstocks. Berlin" in first.text
    original = printed.text[first.start : first.end]
    assert original.startswith("Jones, C. (1999)")
    assert original.endswith("root-\nstocks. Berlin: Springer.")
    assert (first.page, first.line) == (1, 6)
    assert first.place().keys() >= {"page", "line", "start", "end", "confidence"}
    assert [one.place() for one in cut_text(TEXT).references] == [one.place() for one in found]
    lines = cut_text("\n".join(reference.text for reference in found * 2)).references
    assert {type(one) for one in lines} == {Reference}  # a line each: clear


def test_paths_bytes_and_open_files_are_the_same(parser: Parser, tmp_path: Path) -> None:
    path = tmp_path / "paper.txt"
    path.write_text(TEXT, encoding="utf-8")
    parsed = [
        es.parse_document(source, parser) for source in (path, str(path), TEXT.encode(), io.BytesIO(TEXT.encode()))
    ]
    assert len(parsed[0]) == 3
    for other in parsed:
        assert [record.text for record in other] == [reference.text for reference in parsed[0].references]
    assert parsed[0].warnings == ()


def test_a_document_without_a_list_is_empty(parser: Parser) -> None:
    found = es.parse_document(b"<html><p>Nothing is cited in this sentence.</p></html>", parser)
    assert (len(found), list(found), found.references) == (0, [], ())


def test_who_watches_may_give_up() -> None:
    def enough() -> None:
        raise TimeoutError

    with watched(enough), pytest.raises(TimeoutError):
        look()
    look()  # nobody watches any more


def test_a_long_list_is_read_with_the_clock_in_view() -> None:
    """A line of many megabytes was once one step of the clock."""
    looks = []
    text = "Smith, J. (1990). A title of a work. Journal 1, 2-3. " * 300
    with watched(lambda: looks.append(1)):
        assert len(list(cut_text(text).references)) > 100
    assert len(looks) >= 2


def test_a_text_that_is_too_long_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Smith, J. (1990). A title of a work. Journal 1, 2-3. " * 20
    assert {type(one) for one in cut_text(text).references} == {FoundReference}
    monkeypatch.setattr("espalier.documents.references.LONGEST_GUESSED", 500)
    assert {type(one) for one in cut_text(text).references} == {Reference}
