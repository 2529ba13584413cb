"""What managers and citation processors are shown: each value once, in the place where they look for it."""

from __future__ import annotations

import pytest

from espalier.citations.bibliographies import read_entries
from espalier.citations.formats import write
from espalier.citations.formats.bibtex import entry as bibtex
from espalier.citations.formats.ris import entry as ris
from espalier.citations.formats.tei import entry as tei
from espalier.citations.record import Field, Record
from espalier.citations.work import Name, Work
from espalier.errors import InputError


def record(*parts: tuple[str, str]) -> Record:
    """Make a record of labelled texts, a space between them."""
    text, fields = "", []
    for label, part in parts:
        text = f"{text} {part}" if text else part
        fields.append(Field(label, part, len(text) - len(part), len(text), 1.0))
    return Record(text, tuple(fields), 1.0, certificate=None)


@pytest.mark.parametrize("undated", ["n.d.", "(n.d.)", "[s. d.]", "o. J.", "no date", "s.f."])
def test_no_date_is_no_date(undated: str) -> None:
    found = record(("author", "Doe, J."), ("date", undated), ("title", "A thing."))
    assert found.work.issued is None
    assert found.work.unread == ()
    assert "DA  -" not in found.to("ris")
    assert "issued" not in found.to_csl()


def test_a_date_to_come_is_kept() -> None:
    assert record(("author", "Doe, J."), ("date", "in press"), ("title", "A thing.")).to_csl()["issued"] == {
        "literal": "in press"
    }


def test_others_are_kept_where_they_can_be() -> None:
    found = record(("author", "Doe J, Roe K, et al."), ("title", "A thing."), ("date", "2001"))
    assert found.to_csl()["author"][-1] == {"literal": "others"}
    assert "AU  - et al.\n" in found.to("ris")
    assert "author = {Doe, J. and Roe, K. and others}" in found.to_bibtex()


@pytest.mark.parametrize("format", ["csl", "ris", "bibtex", "endnote"])
def test_others_come_back(format: str) -> None:
    found = record(("author", "Doe J, Roe K, et al."), ("title", "A thing."), ("date", "2001"))
    (back,) = read_entries("".join(write([found], format)))
    assert back.work.others == frozenset({"author"})
    assert [name.family for name in back.work.authors] == ["Doe", "Roe"]


@pytest.mark.parametrize(
    ("genre", "kept", "number"),
    [
        ("US Patent 7 845 221.", "US Patent", "7 845 221"),
        ("U.S. Patent No. 7,845,221.", "U.S. Patent", "7,845,221"),
    ],
)
def test_the_number_of_a_patent_stands_once(genre: str, kept: str, number: str) -> None:
    found = record(("author", "Doe, J."), ("title", "A thing."), ("genre", genre), ("date", "2001"))
    assert (found.work.type, found.work.genre, found.work.number) == ("patent", kept, number)
    assert found.to_bibtex().count(number) == 1
    assert found.to("csl").count(number) == 1


@pytest.mark.parametrize(
    "genre", ["Tesi di laurea", "Dissertação (Mestrado)", "Tesis de maestría", "Mémoire de master", "硕士学位论文"]
)
def test_a_smaller_thesis_is_no_doctors(genre: str) -> None:
    assert bibtex(Work(type="thesis", genre=genre)).startswith("@mastersthesis{")


@pytest.mark.parametrize(
    ("kind", "plain", "biblatex"),
    [
        ("dataset", "misc", "dataset"),
        ("software", "misc", "software"),
        ("patent", "misc", "patent"),
        ("legal_case", "misc", "jurisdiction"),
        ("article-journal", "article", "article"),
    ],
)
def test_types_that_only_biblatex_knows(kind: str, plain: str, biblatex: str) -> None:
    assert bibtex(Work(type=kind)).startswith(f"@{plain}{{")
    assert bibtex(Work(type=kind), dialect="biblatex").startswith(f"@{biblatex}{{")


def test_a_dialect_that_is_none() -> None:
    with pytest.raises(InputError, match="no dialect of BibTeX"):
        bibtex(Work(), dialect="natbib")


def test_a_mark_that_told_the_type_is_no_noise() -> None:
    found = record(("author", "Doe, J."), ("title", "Wires"), ("genre", "[J]."), ("container-title", "Acta,"))
    assert found.work.unread == ()
    assert "annote" not in found.to_bibtex()


def test_initials_are_as_printed() -> None:
    work = Work(authors=(Name("Smith", "A. B."),), title="Wires")
    for text, first in (("Smith AB. Wires", "A"), ("Smith, A. B. Wires", "A."), ("A.B. Smith. Wires", "A.")):
        assert f'<forename type="first">{first}</forename><forename type="middle">B' in tei(work, text=text)
    assert ris(work).count("A. B.") == 1
