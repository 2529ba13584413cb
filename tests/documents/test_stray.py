"""What stands before a list, or behind its last number, and is no reference."""

from __future__ import annotations

import pytest

from espalier.documents.cutting.finding import find_references
from espalier.documents.deciding.stray import Listed, stray, undated
from espalier.documents.lines import PrintedText, TextLine

NAMES = ("Abel", "Baker", "Carter", "Dunn", "Evans", "Foster", "Grant")
WORKS = [f"{name}, J. ({1980 + n}). Wires and walls. Journal of Orchards, {n}, 4-9." for n, name in enumerate(NAMES)]
PLACES = ["Institute for Fruit, Ely", "Chair of Pears, 51373 Leverkusen, Germany"]


def several(
    texts: list[str], first: int, *, style: str = "", sure: float = 0.95, page: int = 1, noted: bool = False
) -> list[Listed]:
    """Return texts as candidates of one unit each, one behind the other."""
    return [Listed(first + k, first + k + 1, text, noted, sure, style, page) for k, text in enumerate(texts)]


def labels_of(candidates: list[Listed], heading: int = -1) -> list[str]:
    labels = ["text"] * 60
    for one in candidates:
        labels[one.first] = "ref"
    if heading >= 0:
        labels[heading] = "heading"
    return labels


@pytest.mark.parametrize(("page", "lost"), [(1, {0}), (3, set())])
def test_where_a_paper_was_printed_is_no_reference_if_a_list_follows(page: int, lost: set[int]) -> None:
    both = several(["Annals of Fruit 7 (2012), pp. 1-11"], 5, page=page) + several(WORKS, 21, page=9)
    assert stray(labels_of(both, 20), both) == lost
    assert stray(labels_of(both), both) == set()  # nothing says that the others are a list
    doubtful = several(PLACES, 5, sure=0.4, page=page) + several(WORKS, 21, page=9)
    assert stray(labels_of(doubtful, 20), doubtful) == {0, 1}


def test_addresses_of_authors_are_no_notes_that_cite() -> None:
    works = several(WORKS, 21, page=9)
    for texts, lost in ((PLACES, {0, 1}), ([PLACES[0], "Abel, Wires, S. 12"], set())):
        both = several(texts, 5, style="n", noted=True) + works
        assert stray(labels_of(both, 20), both) == lost


@pytest.mark.parametrize("style", ["[n]", "n.", "[k]"])
def test_a_list_with_numbers_ends_with_the_last_of_them(style: str) -> None:
    entries = several(WORKS, 21, style=style)
    behind = several(["Put your declaration here. Ely, June 2018", "A. Abel & B. Baker"], 28, sure=0.6, page=2)
    both = entries + behind
    assert stray(labels_of(both, 20), both) == {7, 8}
    for lost in (several(WORKS[:1], 28, page=2), several(WORKS[:1], 28, sure=0.6)):  # its number was not read
        both = entries + lost
        assert stray(labels_of(both, 20), both) == set()
    bare = several(WORKS, 21) + behind
    assert stray(labels_of(bare, 20), bare) == set()


def test_what_is_doubtful_and_undated_at_the_end_of_a_list_goes() -> None:
    both = several(WORKS, 21) + several(["print(summary) plot(frame) step(threshold)"], 28, sure=0.4)
    assert undated(labels_of(both, 20), both) == {7}
    first = several(["print(summary) plot(frame) step(threshold)"], 21, sure=0.4) + several(WORKS, 22)
    assert undated(labels_of(first, 20), first) == set()


def test_the_end_of_a_citation_in_a_sentence_is_no_reference() -> None:
    prose = "The orchard was pruned in winter because the frost had come early, and we have seen that it was good."
    note = [
        "2 Note that there are ways that differ from",
        "each other (Bolker, 2015; Gelman, 2005). The definition",
        "here is the one that is most useful to us.",
    ]
    printed = PrintedText.of([TextLine(text) for text in [*[prose] * 8, *note, *[prose] * 8, "References", *WORKS]])
    assert [one.text for one in find_references(printed).references] == WORKS
