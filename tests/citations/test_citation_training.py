"""The training material: schemes that convert labels, keys, parts, evaluation and calibration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citation_models import tiny_parser
from espalier.citations.evaluation import evaluate, fields_of
from espalier.citations.record import LABELS, Field, Record
from espalier.citations.schemes import Scheme, load_scheme
from espalier.citations.training import (
    RARE,
    SOURCES,
    Example,
    Source,
    compacted,
    divide,
    key_of,
    part_of,
    plain_tags,
    read_sources,
)
from espalier.document import Document, Span
from espalier.errors import InputError
from espalier.estimators.crf import CRF
from espalier.extract.calibrating import isotonic

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)


def tagged(*fields: tuple[str, str]) -> Document:
    """Fields in order, joined by one space; a label "" leaves the text unlabelled."""
    text, spans = "", []
    for label, content in fields:
        text += " " * bool(text)
        if label:
            spans.append(Span(len(text), len(text) + len(content), label))
        text += content
    return Document.from_text(text, spans)


def shown(document: Document) -> list[tuple[str, str]]:
    return [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]


def converted(scheme: str, *fields: tuple[str, str]) -> list[tuple[str, str]]:
    return shown(load_scheme(scheme).convert(tagged(*fields)))


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ("12,", [("volume", "12,")]),
        ("23(6),", [("volume", "23"), ("issue", "(6),")]),
        ("Vol. 81, No. 5,", [("volume", "Vol. 81,"), ("issue", "No. 5,")]),
        ("vol.4, n°13,", [("volume", "vol.4,"), ("issue", "n°13,")]),
        ("n°22.", [("issue", "n°22.")]),
        ("51/13,", [("volume", "51/"), ("issue", "13,")]),
        ("2000;355(9222):", [("date", "2000;"), ("volume", "355"), ("issue", "(9222):")]),
        ("45 (1930),", [("volume", "45"), ("date", "(1930),")]),
        ("86(11):2278–2324,", [("volume", "86"), ("issue", "(11):"), ("pages", "2278–2324,")]),
        ("36(6),693-695.", [("volume", "36"), ("issue", "(6),"), ("pages", "693-695.")]),
        ("Vol. 12/13, No. 4/1", [("volume", "Vol. 12/13,"), ("issue", "No. 4/1")]),
        ("vol 79-3,", [("volume", "vol 79-3,")]),
        ("(Vol. 3, Part A,", [("volume", "(Vol. 3, Part A,")]),
    ],
)
def test_anystyle_volumes_are_divided(volume: str, expected: list[tuple[str, str]]) -> None:
    found = converted("anystyle", ("journal", "Acta,"), ("volume", volume))
    assert found == [("container-title", "Acta,"), *expected]


@pytest.mark.parametrize(
    ("note", "label"),
    [
        ("[Accessed 5 May 2015]", "accessed"),
        ("Retrieved March 23, 2016, from Nowhere:", "accessed"),
        ("Retrieved from", "url"),
        ("Available:", "url"),
        ("Retirado de", "url"),
        ("Link:", "url"),
        ("Cited 76 times.", "note"),
        ("in press.", "note"),
        ("(Unpublished doctoral dissertation).", "genre"),
    ],
)
def test_anystyle_notes(note: str, label: str) -> None:
    found = load_scheme("anystyle").convert(tagged(("title", "On it."), ("note", note), ("url", "http://x.org")))
    assert plain_tags(found)[3] == label


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([("genre", "Technical Report"), ("note", "96-2,")], [("genre", "Technical Report 96-2,")]),
        ([("genre", "Planning Report"), ("volume", "No. 162.")], [("genre", "Planning Report No. 162.")]),
        ([("genre", "PhD thesis,"), ("note", "12 copies.")], [("genre", "PhD thesis,"), ("note", "12 copies.")]),
        ([("note", "Press release.")], [("genre", "Press release.")]),
        ([("publisher", "Press Release.")], [("genre", "Press Release.")]),
        ([("publisher", "Ely Press.")], [("publisher", "Ely Press.")]),
        ([("note", "US Patent 12")], [("genre", "US Patent 12")]),
        ([("publisher", "Dissertation, Ely.")], [("genre", "Dissertation,"), ("institution", "Ely.")]),
        ([("note", "[Online]."), ("url", "http://x.org")], [("genre", "[Online]."), ("url", "http://x.org")]),
        ([("url", "[Online]. Available: x.org")], [("genre", "[Online]."), ("url", "Available: x.org")]),
        ([("note", "ELY-TDR-19,")], [("genre", "ELY-TDR-19,")]),
        ([("note", "ELY -PAS-OAK-16-002")], [("genre", "ELY -PAS-OAK-16-002")]),
        ([("collection-title", "(ELY Policy brief).")], [("genre", "(ELY Policy brief).")]),
    ],
)
def test_genres_and_their_numbers(fields: list[tuple[str, str]], expected: list[tuple[str, str]]) -> None:
    assert converted("anystyle", ("author", "A."), ("title", "On it."), *fields)[2:] == expected


def test_a_genre_behind_the_title_is_no_part_of_it() -> None:
    assert converted("anystyle", ("title", "On oaks [DVD]."))[1:] == [("genre", "[DVD].")]
    assert converted("anystyle", ("title", "On oaks [sic]."))[1:] == []


@pytest.mark.parametrize(
    ("author", "label"),
    [
        ("E. Oak (ed.),", "editor"),
        ("Oak, E., and A. Elm, eds.", "editor"),
        ("Oak E. (Hrsg.)", "editor"),
        ("Oak, E., comp.", "editor"),
        ("Oak ED.", "author"),  # initials
        ("Oak, E. (Director).", "author"),
        ("Dir. E. Oak.", "author"),
    ],
)
def test_whoever_edits_is_an_editor(author: str, label: str) -> None:
    assert converted("anystyle", ("author", author), ("title", "On it.")) == [(label, author), ("title", "On it.")]


def test_editors_have_their_cue_words() -> None:
    found = converted("grobid", ("booktitle", "Woods"), ("", ", sous la direction de"), ("editor", "A. Elm"))
    assert found == [("title", "Woods ,"), ("editor", "sous la direction de A. Elm")]
    assert converted("anystyle", ("editor", "(A. Elm, Trans.)")) == [("translator", "(A. Elm, Trans.)")]
    assert converted("anystyle", ("editor", "(A. Elm, Ed. and Trans.)")) == [("editor", "(A. Elm, Ed. and Trans.)")]
    found = converted("grobid", ("title", "Woods"), ("note", "(D. F. Elm, Trans.)."))
    assert found[-1] == ("translator", "(D. F. Elm, Trans.).")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            [("web", "http://x.org"), ("", "[Consulté le"), ("date", "2 janvier 2016].")],
            [("url", "http://x.org"), ("accessed", "[Consulté le 2 janvier 2016].")],
        ),
        ([("note", "(assessed Aug. 25, 2020).")], [("accessed", "(assessed Aug. 25, 2020).")]),
        (
            [("date", "2 Aug. 2001."), ("note", "23 Jan. 2002"), ("web", "<http://x.org>.")],
            [("date", "2 Aug. 2001."), ("accessed", "23 Jan. 2002"), ("url", "<http://x.org>.")],
        ),
        ([("", "Retirado de"), ("web", "http://x.org")], [("url", "Retirado de http://x.org")]),
        ([("", "URLhttp"), ("web", "://x.org")], [("url", "URLhttp ://x.org")]),
        ([("web", "DOI: https://doi.org/10.1/x.")], [("url", "DOI: https://doi.org/10.1/x.")]),
        ([("identifier", "doi:http://dx.doi.org/10.1/x.")], [("url", "doi:http://dx.doi.org/10.1/x.")]),
        ([("identifier", "doi:10.1/x.")], [("doi", "doi:10.1/x.")]),
        ([("web", "https://doi.org/10.1/x.")], [("url", "https://doi.org/10.1/x.")]),
        (
            [("identifier", "arXiv:1305.1602,doi:10.1002/and.2013.")],
            [("note", "arXiv:1305.1602,"), ("doi", "doi:10.1002/and.2013.")],
        ),
    ],
)
def test_what_announces_an_address_belongs_to_it(
    fields: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    assert converted("grobid", ("title", "Oaks"), *fields)[1:] == expected


SERIES = "Lecture Notes in Botany,"
BOOK = [("author", "A."), ("title", "Oaks."), ("publisher", "Ely Press,")]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        # a book in a series, whatever the set calls it
        ([("journal", SERIES)], [("collection-title", SERIES)]),
        ([("series", SERIES), ("volume", "7")], [("collection-title", SERIES), ("volume", "7")]),
        ([("series", "Schriften 7")], [("collection-title", "Schriften"), ("volume", "7")]),
        ([("journal", "J. Oak Series,")], [("container-title", "J. Oak Series,")]),
        # what has the pages of the work is what it appeared in
        ([("series", SERIES), ("pages", "5-9")], [("container-title", SERIES), ("pages", "5-9")]),
        ([("series", SERIES), ("pages", "x+383 pp.")], [("collection-title", SERIES), ("pages", "x+383 pp.")]),
        ([("series", "In Oak Series,")], [("container-title", "In Oak Series,")]),
        # the book that a chapter is in, and its series
        (
            [("booktitle", "Woods."), ("series", SERIES), ("pages", "5-9")],
            [("container-title", "Woods."), ("collection-title", SERIES), ("pages", "5-9")],
        ),
        ([("journal", "Proc. Woods. LNCS")], [("container-title", "Proc. Woods."), ("collection-title", "LNCS")]),
        (
            [("journal", "Woods (Ely Oak Series).")],
            [("container-title", "Woods"), ("collection-title", "(Ely Oak Series).")],
        ),
        (
            [("journal", "Bulletin (series 7)"), ("pages", "5-9")],
            [("container-title", "Bulletin (series 7)"), ("pages", "5-9")],
        ),
        (
            [("volume", "volume 7"), ("journal", "of Oak Notes")],
            [("volume", "volume 7"), ("collection-title", "of Oak Notes")],
        ),
        ([("volume", "vol. 7"), ("journal", "of Obras")], [("volume", "vol. 7"), ("container-title", "of Obras")]),
        # ISBD has the series in brackets, after the number of pages
        ([("pages", "179 p."), ("note", "(Dominos).")], [("pages", "179 p."), ("collection-title", "(Dominos).")]),
        ([("pages", "5-9."), ("note", "(in press).")], [("pages", "5-9."), ("note", "(in press).")]),
        ([("note", "(Bibliothèque d’Ely, 300).")], [("collection-title", "(Bibliothèque d’Ely,"), ("volume", "300).")]),
        # a volume of a book is that of its series, unless it is a journal's or that of the work which the title is in
        (
            [("journal", "Ely Contributions"), ("volume", "7.")],
            [("collection-title", "Ely Contributions"), ("volume", "7.")],
        ),
        ([("journal", "Ely Review"), ("volume", "7.")], [("container-title", "Ely Review"), ("volume", "7.")]),
        (
            [("journal", "Ely Contributions"), ("volume", "7,"), ("pages", "5-9.")],
            [("container-title", "Ely Contributions"), ("volume", "7,"), ("pages", "5-9.")],
        ),
    ],
)
def test_series(fields: list[tuple[str, str]], expected: list[tuple[str, str]]) -> None:
    assert converted("grobid", *BOOK, *fields)[3:] == expected


def test_a_work_in_several_volumes_has_two_titles() -> None:
    found = converted("grobid", ("author", "A."), ("series", "On Oaks,"), ("volume", "vol. 2:"), ("title", "Acorns."))
    assert [label for label, _ in found] == ["author", "title", "volume", "title"]


def test_a_series_alone_is_a_title() -> None:
    assert converted("grobid", ("author", "A."), ("series", "Oaks")) == [("author", "A."), ("title", "Oaks")]


def test_books_that_a_work_is_in() -> None:
    found = converted("grobid", ("author", "A."), ("", "in:"), ("editor", "E. Oak (Ed.),"), ("booktitle", "Woods"))
    assert [label for label, _ in found] == ["author", "editor", "container-title"]
    found = converted(
        "grobid", ("author", "A."), ("", "in"), ("series", "Oak Ser."), ("volume", "7,"), ("booktitle", "Woods")
    )
    assert [label for label, _ in found] == ["author", "collection-title", "volume", "container-title"]


def test_refinements_look_at_neighbours_and_at_the_record() -> None:
    """Every condition alone, on one field "x" between others."""
    table: dict[str, Any] = {"labels": {k: k for k in "abx"}, "refine": [{"label": "x", "fields": ["y"]}]}
    cases: list[tuple[dict[str, Any], str, bool]] = [
        ({}, "axb", True),
        ({"after": {"label": "a"}}, "axb", True),
        ({"after": {"label": "a"}}, "bax", True),
        ({"after": {"label": "a"}}, "abx", False),
        ({"after": {"label": "a"}}, "xa", False),
        ({"before": {"label": "b"}}, "axb", True),
        ({"before": {"label": "b"}}, "bxa", False),
        ({"before": {"label": "b", "pattern": "^b$"}}, "xb", True),
        ({"before": {"label": "b", "pattern": "^c"}}, "xb", False),
        ({"when": [{"label": "a"}, {"label": "b"}]}, "axb", True),
        ({"when": [{"label": "a"}, {"label": "b"}]}, "ax", False),
        ({"unless": [{"label": "a"}, {"label": "b"}]}, "bx", False),
        ({"unless": [{"label": "a"}, {"label": "b"}]}, "x", True),
        ({"when": {"label": ["a", "b"]}}, "bx", True),
        ({"when": {"label": ["a", "b"]}}, "x", False),
    ]
    for conditions, fields, changed in cases:
        scheme = Scheme.from_table("my", {**table, "refine": [table["refine"][0] | conditions]})
        found = [label for label, _ in shown(scheme.convert(tagged(*zip(fields, fields, strict=True))))]
        assert found == list(fields.replace("x", "y") if changed else fields), (conditions, fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            [("title", "On Oaks, Ph.D. Thesis for the School of Trees,"), ("publisher", "Ely,")],
            [("title", "On Oaks,"), ("genre", "Ph.D. Thesis for the School of Trees,"), ("institution", "Ely,")],
        ),
        (
            [("title", "Thesis: On Oaks,"), ("publisher", "University of Ely,")],
            [("genre", "Thesis:"), ("title", "On Oaks,"), ("institution", "University of Ely,")],
        ),
        (
            [("journal", "Ely Institute Planning Report"), ("volume", "No. 125."), ("publisher", "Ely Institute,")],
            [("genre", "Ely Institute Planning Report No. 125."), ("institution", "Ely Institute,")],
        ),
        ([("title", "Oaks"), ("note", "ELY-TR-2017-002")], [("title", "Oaks"), ("genre", "ELY-TR-2017-002")]),
        ([("title", "Oaks"), ("note", "PMC-12-345")], [("title", "Oaks"), ("note", "PMC-12-345")]),
        ([("genre", "Masters Theses."), ("note", "Paper 127.")], [("genre", "Masters Theses. Paper 127.")]),
        ([("title", "About oaks [Online].")], [("title", "About oaks"), ("genre", "[Online].")]),
        ([("title", "Oaks. Working Paper #23.")], [("title", "Oaks."), ("genre", "Working Paper #23.")]),
        (
            [("title", "Oaks (Studies in Forestry 10)."), ("publisher", "Ely Press.")],
            [
                *[("title", "Oaks"), ("collection-title", "(Studies in Forestry"), ("volume", "10).")],
                ("publisher", "Ely Press."),
            ],
        ),
    ],
)
def test_genres_and_series_inside_other_fields(fields: list[tuple[str, str]], expected: list[tuple[str, str]]) -> None:
    assert converted("anystyle", *fields) == expected


def test_institutions_are_those_of_theses_and_reports() -> None:
    house = ("publisher", "University of Ely.")
    assert converted("anystyle", ("title", "T."), house)[-1][0] == "publisher"
    assert converted("anystyle", ("title", "T."), ("genre", "PhD thesis,"), house)[-1][0] == "institution"
    body = ("institution", "University of Ely")
    assert converted("grobid", ("author", "A"), ("title", "T"), ("tech", "PhD thesis"), body)[-1][0] == "institution"
    assert converted("grobid", ("author", "A"), ("title", "T"), body)[-1][0] == "publisher"
    assert converted("grobid", ("title", "T"), body)[-1][0] == "author"


def test_grobid_marks_go_to_the_field_they_end() -> None:
    """Worked by hand: marks end a field, brackets and quotation marks open one, cue words lead to what follows."""
    text = 'Lee, J. "On trees," In K. Roe (Ed.), Woods, vol. 3, pp. 5-9 (1990).'
    pieces = [
        *[("author", "Lee, J."), ("title", "On trees"), ("editor", "K. Roe"), ("booktitle", "Woods")],
        *[("volume", "3"), ("pages", "5-9"), ("date", "1990")],
    ]
    spans, at = [], 0
    for label, piece in pieces:
        at = text.index(piece, at)
        spans.append(Span(at, at + len(piece), label))
        at += len(piece)
    assert shown(load_scheme("grobid").convert(Document.from_text(text, spans))) == [
        ("author", "Lee, J."),
        ("title", '"On trees,"'),
        ("editor", "In K. Roe (Ed.),"),
        ("container-title", "Woods,"),
        ("volume", "vol. 3,"),
        ("pages", "pp. 5-9"),
        ("date", "(1990)."),
    ]


@pytest.mark.parametrize(
    ("identifier", "label"),
    [
        ("10.1016/j.apgeog.2015.08.002", "doi"),
        ("https://doi.org/10.1/x", "url"),
        ("arXiv:1702.08605", "note"),
        ("ISBN 978-1-941643-00-6", "isbn"),
        ("978-1-60558-905-3", "isbn"),
        ("1234-567X", "issn"),
        ("0901.0657", "note"),
        ("3GPP TS 23.287", "genre"),
        ("PMCID:PMC2671603", "note"),
    ],
)
def test_grobid_identifiers_by_form(identifier: str, label: str) -> None:
    assert converted("grobid", ("title", "T"), ("identifier", identifier))[-1][0] == label


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            [("volume", "제27권,"), ("issue", "제1호,"), ("", "pp."), ("pages", "199-224.")],
            [("volume", "제27권,"), ("issue", "제1호,"), ("pages", "pp. 199-224.")],
        ),
        (
            [("", "제53집, 제1호, pp."), ("pages", "191-214.")],
            [("volume", "제53집,"), ("issue", "제1호,"), ("pages", "pp. 191-214.")],
        ),
        ([("", "第23页.")], [("pages", "第23页.")]),
        ([("", "總第159期,")], [("issue", "總第159期,")]),
        ([("", "Vol43, No."), ("issue", "1.")], [("volume", "Vol43,"), ("issue", "No. 1.")]),
        ([("pages", "117"), ("", "ff")], [("pages", "117 ff")]),
        ([("", "Jg."), ("volume", "34,")], [("volume", "Jg. 34,")]),
        ([("date", "1999"), ("", "(a),")], [("date", "1999 (a),")]),
        ([("", "Nov."), ("date", "2016.")], [("date", "Nov. 2016.")]),
        ([("", "9. Auflage.")], [("edition", "9. Auflage.")]),
        ([("note", "Troisième édition.")], [("edition", "Troisième édition.")]),
        ([("note", "arXiv:1504.00679"), ("", "[hep-ph].")], [("note", "arXiv:1504.00679 [hep-ph].")]),
        ([("pages", "chap. 5, pp. 195–239.")], [("note", "chap. 5,"), ("pages", "pp. 195–239.")]),
        ([("identifier", "379-392. doi: 10.5194/npg-21.")], [("pages", "379-392."), ("doi", "doi: 10.5194/npg-21.")]),
        ([("", "inAdvanced"), ("booktitle", "Oaks")], [("container-title", "inAdvanced Oaks")]),
    ],
)
def test_words_that_annotators_of_grobid_left_between_fields(
    fields: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    assert converted("grobid", ("title", "Trees."), *fields)[1:] == expected


def test_grobid_books_and_what_works_appear_in() -> None:
    assert converted("grobid", ("author", "A"), ("booktitle", "Woods"))[-1] == ("title", "Woods")
    assert converted("grobid", ("title", "T"), ("booktitle", "Woods"))[-1] == ("container-title", "Woods")
    assert converted("grobid", ("author", "A"), ("booktitle", "Proc. Woods"))[-1] == ("container-title", "Proc. Woods")


def test_books_chapters_and_series_of_brill() -> None:
    found = converted("brill", ("author", "A"), ("booktitle", "Esra"), ("title", "HAT"), ("volume", "1"))
    assert [label for label, _ in found] == ["author", "title", "collection-title", "volume"]
    found = converted("brill", ("author", "A"), ("title", "Salt"), ("booktitle", "Festschrift"), ("pages", "1-9"))
    assert [label for label, _ in found] == ["author", "title", "container-title", "pages"]
    found = converted("brill", ("author", "A"), ("booktitle", "Esra"), ("date", "1949"))
    assert [label for label, _ in found] == ["author", "title", "date"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            [("journal", "Phys . Rev . E"), ("volume", "74 ,"), ("number", "036104"), ("year", "( 2006 ) .")],
            [("container-title", "Phys . Rev . E"), ("volume", "74 ,"), ("pages", "036104"), ("date", "( 2006 ) .")],
        ),
        (
            [("journal", "Appl ."), ("volume", "4 ,"), ("number", "no . 2 ,"), ("year", "2006 .")],
            [("container-title", "Appl ."), ("volume", "4 ,"), ("issue", "no . 2 ,"), ("date", "2006 .")],
        ),
        (
            [("journal", "Appl ."), ("volume", "4 ,"), ("number", "2 ,"), ("pages", "7 - 9 .")],
            [("container-title", "Appl ."), ("volume", "4 ,"), ("issue", "2 ,"), ("pages", "7 - 9 .")],
        ),
        (
            [("volume", "110 ( 3 ) :"), ("pages", "1 - 3")],
            [("volume", "110"), ("issue", "( 3 ) :"), ("pages", "1 - 3")],
        ),
        ([("volume", "111/4 ,"), ("pages", "1 - 3")], [("volume", "111/"), ("issue", "4 ,"), ("pages", "1 - 3")]),
        (
            [("title", "Algebras ,"), ("edition", "3rd"), ("publisher", "ed . , Pomona Press .")],
            [("title", "Algebras ,"), ("edition", "3rd ed . ,"), ("publisher", "Pomona Press .")],
        ),
        (
            [("journal", "Proc . Natl . Acad . Sci ."), ("address", "USA"), ("volume", "82")],
            [("container-title", "Proc . Natl . Acad . Sci . USA"), ("volume", "82")],
        ),
        (
            [("author", "A. King ,"), ("booktitle", "Apples of Old ,"), ("publisher", "Pomona Press .")],
            [("author", "A. King ,"), ("title", "Apples of Old ,"), ("publisher", "Pomona Press .")],
        ),
    ],
)
def test_umass_labels_follow_the_conventions(fields: list[tuple[str, str]], expected: list[tuple[str, str]]) -> None:
    assert converted("umass", *fields) == expected


def test_unknown_words_between_fields_are_other() -> None:
    found = converted("grobid", ("title", "T"), ("", "quux,"), ("pages", "5-9"))
    assert found == [("title", "T"), ("other", "quux,"), ("pages", "5-9")]


PIECES = st.lists(
    st.tuples(st.sampled_from(["", *load_scheme("grobid").labels]), st.text("aB1 .,(“\"'é", min_size=1, max_size=8)),
    min_size=1,
    max_size=6,
)


@PROPERTY
@given(PIECES, st.sampled_from(["grobid", "anystyle"]))
def test_every_character_ends_up_in_one_field(pieces: list[tuple[str, str]], name: str) -> None:
    scheme = load_scheme(name)
    known = [(label if label in scheme.labels else "", text.strip()) for label, text in pieces if text.strip()]
    found = scheme.convert(tagged(*known))
    assert "".join(text for _, text in shown(found)).replace(" ", "") == found.text.replace(" ", "")
    assert {label for label, _ in shown(found)} <= set(LABELS)
    assert len(plain_tags(found, LABELS)) == len(found.tokens)


def test_mistakes_in_schemes_are_named() -> None:
    with pytest.raises(InputError, match="no scheme is named 'anystile'; did you mean 'anystyle'"):
        load_scheme("anystile")
    with pytest.raises(InputError, match="unknown key 'lables'"):
        Scheme.from_table("my", {"lables": {}})
    with pytest.raises(InputError, match="'labels' is missing"):
        Scheme.from_table("my", {})
    with pytest.raises(InputError, match="refine: unknown key 'befor'; did you mean 'before'"):
        Scheme.from_table("my", {"labels": {}, "refine": [{"label": "a", "fields": ["b"], "befor": {"label": "c"}}]})
    with pytest.raises(InputError, match="2 fields need 1 groups"):
        Scheme.from_table("my", {"labels": {}, "refine": [{"label": "a", "fields": ["b", "c"]}]})
    with pytest.raises(InputError, match="not a regular expression"):
        Scheme.from_table("my", {"labels": {}, "refine": [{"label": "a", "pattern": "(", "fields": ["b"]}]})
    with pytest.raises(InputError, match=r"no label 'autor'.*did you mean 'author'"):
        converted("anystyle", ("autor", "A"))
    with pytest.raises(InputError, match="no labels to convert"):
        load_scheme("grobid").convert(Document.from_text("A"))
    with pytest.raises(InputError, match="'foo', which the task does not know"):
        plain_tags(tagged(("foo", "A")), LABELS)


def test_keys_ignore_marks_case_and_the_number_in_the_list() -> None:
    one = tagged(("citation-number", "[13]"), ("author", "S. E. Han,"), ("title", "Nano-Lett."))
    two = tagged(("author", "s e han"), ("title", "Nano Lett"))
    assert key_of(one) == key_of(two) == "sehannanolett"


def test_parts_never_change() -> None:
    """Recorded once: a change would move test references into training."""
    expected = ["train", "dev", "dev", "test", "dev", "test", "train", "train"]
    assert [part_of(key) for key in "abcdefgh"] == expected
    shares = np.unique([part_of(str(i)) for i in range(4000)], return_counts=True)
    assert dict(zip(*shares, strict=True)) == {"dev": pytest.approx(400, rel=0.2), "test": pytest.approx(600, rel=0.2),
                                               "train": pytest.approx(3000, rel=0.05)}  # fmt: skip


def test_sources_are_read_once_each(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<dataset><sequence><title>On oaks.</title></sequence></dataset>", encoding="utf-8")
    lines = [{"text": text, "spans": [[0, len(text), "title"]]} for text in ("On Oaks", "On elms", "On ash")]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    sources = (Source("a", "a.xml", "anystyle"), Source("b", "b.jsonl", "grobid", 0.5))
    found = read_sources(tmp_path, sources, exclude=["onash"])
    assert [(e.source.name, e.key) for e in found] == [("a", "onoaks"), ("b", "onelms")]
    parts = divide(found)
    assert sorted(e.key for part in parts.values() for e in part) == ["onelms", "onoaks"]
    with pytest.raises(InputError, match=r"the set 'c' is missing: there is no c\.xml"):
        read_sources(tmp_path, (Source("c", "c.xml", "anystyle"),))


def test_real_sources_convert_without_rest(data_dir: Path) -> None:
    """The first references of every set, as they are: all labels known, no key in two parts."""
    for source in SOURCES:
        if not (data_dir / source.file).exists():
            pytest.skip(f"{source.file} is not there")
    examples = read_sources(data_dir, SOURCES[:2])
    assert len(examples) > 2000
    for example in examples[::10]:
        plain_tags(example.document, LABELS)


def test_fields_are_judged_without_the_marks_around_them() -> None:
    words = ["(", "1990", ")", ".", "On", "oaks", "."]
    gold = ["date", "date", "date", "date", "title", "title", "title"]
    moved = ["title", "date", "date", "title", "title", "title", "title"]
    assert fields_of(words, gold) == [("date", 1, 2), ("title", 4, 6)]
    assert fields_of(words, ["other"] * 4 + ["title"] * 3) == [("other", 1, 2), ("title", 4, 6)]
    found = evaluate([words], [gold], [moved])
    assert (found.fields.f1, found.exact, found.references) == (1.0, 1.0, 1)
    assert found.tokens == pytest.approx(5 / 7)


def test_references_with_rare_fields_count_more() -> None:
    source = Source("some", "some.xml", "anystyle", weight=0.5)
    plain, thesis = tagged(("author", "A."), ("title", "T.")), tagged(("title", "T."), ("genre", "Thesis."))
    series = tagged(("genre", "Thesis."), ("collection-title", "Trees."))
    weights = [Example(document, source, "key").weight for document in (plain, thesis, series)]
    assert weights == [0.5, 0.5 * RARE["genre"], 0.5 * RARE["collection-title"]]
    assert RARE["collection-title"] > RARE["genre"] > 1
    assert RARE.keys() <= set(LABELS)


def test_evaluation_by_hand() -> None:
    words = [["A", "B", "C"], ["D"]]
    found = evaluate(words, [["author", "title", "note"], ["date"]], [["author", "title", "title"], ["date"]])
    assert (found.fields.precision, found.fields.recall) == (2 / 3, 2 / 4)  # of A, BC, D; of A, B, C, D
    assert found.exact == 0.5
    assert found.core.f1 == 2 / 3  # author and date of author, title and date; the note does not count
    assert found.per_field["title"].f1 == 0
    assert found.per_field["author"].f1 == 1
    assert evaluate([["C"]], [["note"]], [["genre"]]).exact == 1  # neither is judged
    assert found.to_dict()["field_f1"] == pytest.approx(4 / 7)


@PROPERTY
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=40))
def test_isotonic_is_the_monotone_fit(answers: list[tuple[int, bool]]) -> None:
    """Against scikit-learn, before the pull towards the mean; blocks of equal values are one point."""
    isotonic_regression = pytest.importorskip("sklearn.isotonic").isotonic_regression
    p = np.array([k / 20 for k, _ in answers])
    right = np.array([hit for _, hit in answers], float)
    curve = isotonic(p, right, least=1)
    raw, values = curve.raw.tolist(), curve.calibrated.tolist()
    levels, inverse = np.unique(p, return_inverse=True)
    n, s = np.bincount(inverse), np.bincount(inverse, right)
    fit = isotonic_regression(s / n, sample_weight=n)
    blocks = [np.flatnonzero(fit == v) for v in np.unique(fit)]
    assert raw == pytest.approx([np.average(levels[b], weights=n[b]) for b in blocks], abs=1e-5)
    expected = [(s[b].sum() + right.mean()) / (n[b].sum() + 1) for b in blocks]
    assert values == pytest.approx(np.maximum.accumulate(expected), abs=1e-5)


def test_isotonic_joins_small_blocks_and_refuses_nothing() -> None:
    curve = isotonic(np.linspace(0, 1, 100), np.linspace(0, 1, 100) > 0.5, least=30)
    assert len(curve.raw) <= 4
    assert np.all(np.diff(curve.calibrated) >= 0)
    with pytest.raises(InputError, match="at least one"):
        isotonic([], [])


def record(text: str, *fields: tuple[str, int, int, float], sure: float = 0.5) -> Record:
    return Record(text, tuple(Field(label, text[a:b], a, b, p) for label, a, b, p in fields), sure, None)


def test_fields_and_records_are_judged() -> None:
    gold = tagged(("title", "On oaks."), ("date", "1990"))
    right = record(gold.text, ("title", 0, 7, 0.9), ("date", 7, 13, 0.8))  # the full stop is with the date
    wrong = record(gold.text, ("title", 0, 8, 0.7), ("pages", 9, 13, 0.6), sure=0.2)
    found = tiny_parser().judge([right, wrong], [gold, gold])
    assert found["field"].sure.tolist() == [0.9, 0.8, 0.7, 0.6]
    assert found["field"].right.tolist() == [True, True, True, False]
    assert found["record"].sure.tolist() == [0.5, 0.2]
    assert found["record"].right.tolist() == [True, False]
    with pytest.raises(InputError, match="another text"):
        tiny_parser().judge([right], [tagged(("title", "On elms."))])


def test_compacted_models_say_nearly_the_same() -> None:
    X = [["On", "oaks", "1990"], ["On", "elms", "1991"], ["Oaks", "2001"]]
    y = [["title", "title", "date"], ["title", "title", "date"], ["title", "date"]]
    model = CRF(l2=0.1).fit(X, y)
    small = compacted(model, least=0.05)
    assert len(small.weights_.w) < len(model.weights_.w)
    assert np.abs(small.weights_.w).min() >= 0.04
    assert small.predict(X) == model.predict(X) == y
    for one, other in zip(small.predict_marginals(X), model.predict_marginals(X), strict=True):
        assert np.abs(one - other).max() < 0.1


def test_compacted_models_drop_attributes_without_weight_and_say_the_same() -> None:
    X = [["On", "oaks", "1990"], ["On", "elms", "1991"], ["Oaks", "2001"], ["Elms", "and", "oaks", "77"]]
    y = [["title", "title", "date"], ["title", "title", "date"], ["title", "date"], ["title", "title", "title", "date"]]
    model = CRF(["lower[-1,0,1]", "shape & lower[1]", "suffix2", "lower[-1] & lower & shape[1]"], l2=0.1).fit(X, y)
    kept = np.abs(model.weights_.w) >= 0.05
    model.weights_.w[~kept] = 0.0
    small = compacted(model, least=0.05)
    names = set(small.index_.names())
    assert len(names) < len(model.index_.names())
    assert list(small.index_.names()) == [name for name in model.index_.names() if name in names]
    texts = [*X, ["Oaks", "and", "pears", "1990", "On"], ["On"]]
    for one in (texts, *([text] for text in texts)):
        np.testing.assert_allclose(small.potentials(one).unary, model.potentials(one).unary, atol=0.02)
