"""What single lines say: marks, beginnings, ends, headings."""

from __future__ import annotations

import pytest

from espalier.documents.deciding.features import seen
from espalier.documents.deciding.marks import chains
from espalier.documents.deciding.model import shape_words
from espalier.documents.deciding.units import units_of
from espalier.documents.line_words import heading_kind, look, mark_of, sort_key
from espalier.documents.lines import TextLine


@pytest.mark.parametrize(
    ("text", "mark", "rest"),
    [
        ("[3] Plum, A.", ("[n]", 3), "Plum, A."),
        ("3. Plum, A.", ("n.", 3), "Plum, A."),
        ("(12) Plum, A.", ("(n)", 12), "Plum, A."),
        ("4) Plum", ("n)", 4), "Plum"),
        ("17 Plum, A.", ("n", 17), "Plum, A."),
        ("13 dos Santos, P.", ("n", 13), "dos Santos, P."),
        ("13 of Plums", None, "13 of Plums"),
        ("5Plum, A.", ("n^", 5), "Plum, A."),
        ("¹²Plum, A.", ("n^", 12), "Plum, A."),
        ("³ „Plum“, A.", ("n^", 3), "„Plum“, A."),
        ("¹⁹plum", None, "¹⁹plum"),
        ("[Plu90] Plum, A.", ("[k]", -1), "Plum, A."),
        ("• Plum, A.", ("•", -1), "Plum, A."),
        ("Plum, A. 1990", None, "Plum, A. 1990"),
        ("1990 Plum", None, "1990 Plum"),
        ("3.5 Plums", None, "3.5 Plums"),
        ("--- , 1991: Plums", None, "--- , 1991: Plums"),
    ],
)
def test_marks(text: str, mark: tuple[str, int] | None, rest: str) -> None:
    found, after = mark_of(text)
    assert found == mark
    assert text[after:].lstrip() == rest


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Plum, A. (1990)", "family-initial"),
        ("[2] Plum, A. (1990)", "family-initial"),
        ("A. Plum and B. Quince", "initial-family"),
        ("Plum AB, Quince C.", "vancouver"),
        ("Plum, Ada (1990)", "family-given"),
        ("Ada Plum and Ben Quince", "given-family"),
        ("of trees. Soil", "lower"),
        ("———, 1991", "dash"),
        ("Ders., Bäume", "dash"),
        ("(1990). Trees", "year"),
        ("12-15.", "digits"),
        ("„Bäume“", "quote"),
        ("Vgl. dazu Plum", "lead"),
    ],
)
def test_beginnings(text: str, kind: str) -> None:
    assert look(text).begin == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a frame and", "open"),
        ("demon-", "hyphen"),
        ("Plum,", "comma"),
        ("pp. 12-15.", "range-stop"),
        ("Ely, 1990.", "year-stop"),
        ("J.", "initial"),
    ],
)
def test_ends(text: str, kind: str) -> None:
    assert look(text).end == kind


@pytest.mark.parametrize(
    "text",
    [
        "References",
        "REFERENCES",
        "7. Literatur",
        "Literaturverzeichnis:",
        "L I T E R A T U R",
        "Quellen und Literatur",
        "参考文献",
        "VIII. Bibliography",
    ],
)
def test_headings_of_lists(text: str) -> None:
    assert heading_kind(text) == "references"


@pytest.mark.parametrize("text", ["Plum, A. (1990). References. Soil 3.", "This is a reference", "", "Introduction"])
def test_no_headings_of_lists(text: str) -> None:
    assert heading_kind(text) != "references"


def test_lists_are_sorted_without_particles_and_accents() -> None:
    assert sort_key("van der Älm, B.") == "alm"
    assert sort_key("12") == ""


def test_chains_count_marks_that_follow_each_other() -> None:
    marks = [("[n]", 1), None, ("[n]", 2), ("n.", 3), ("[n]", 3), ("[n]", 5), ("[n]", 9)]
    found = chains(marks)
    assert [None if c is None else (c.up, c.down) for c in found] == [
        (0, 3),
        None,
        (1, 2),
        (0, 0),
        (2, 1),
        (3, 0),
        (0, 0),
    ]


def test_sections_far_apart_are_no_list() -> None:
    marks: list[tuple[str, int] | None] = [("n.", 1), *[None] * 60, ("n.", 2)]
    assert [c for c in chains(marks) if c is not None and c.up + c.down] == []


@pytest.mark.parametrize(("text", "mark"), [("30.", ("n.", 30)), ("7", ("n|", 7)), ("2004", None), ("3.5", None)])
def test_a_number_on_a_line_of_its_own_is_a_mark(text: str, mark: tuple[str, int] | None) -> None:
    assert look(text).mark == mark


@pytest.mark.parametrize("apart", [4, 30])
def test_numbers_on_lines_of_their_own_count_references_if_they_are_near(apart: int) -> None:
    lines = [line for n in range(1, 12) for line in (str(n), *["On pears and wires of orchards"] * (apart - 1))]
    words = shape_words(seen(units_of([TextLine(line) for line in lines])))
    assert (words[5 * apart] == "next") == (apart == 4)
