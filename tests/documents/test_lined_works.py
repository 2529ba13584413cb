"""Lists that have a reference on each line get what documents get: works of a note are cut, dashes filled in."""

from __future__ import annotations

import pytest

from espalier.documents.cutting.lined_works import unled, works_in
from espalier.documents.references import cut, cut_text

NOTE = (
    '4. See Mary Rowan, "On Walls in Bed," The Gardener, March 3, 2015, https://www.thegardener.com/walls-bed; '
    "and Albert Medlar, A History of Pruning (New York: Viking, 1996), 149-61."
)


def test_works_of_a_note_are_cut() -> None:
    first, second = works_in(NOTE)
    assert NOTE[slice(*first)].endswith("/walls-bed")
    assert NOTE[slice(*second)] == "Albert Medlar, A History of Pruning (New York: Viking, 1996), 149-61."


@pytest.mark.parametrize(
    "whole",
    [
        "Plum, A.; Quince, B.; Medlar, C. (1991). A frame for fruit. Annals of Fruit, 7(1), 1-30.",
        "Ranga, S. R. (1931). The five laws of walls. Madras: Wall Association; London: Edward Goldston, 1931.",
        "Behr, D. and Plum, G. 1982. On the Other Wall; Figure in an Orchard. Computer Music Journal. 6, 3 (1982), 81.",
        "Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.",
    ],
)
def test_one_work_stays_one(whole: str) -> None:
    assert works_in(whole) == []


def test_words_that_lead_to_a_work() -> None:
    assert unled("4. See Mary Rowan, Walls") == ("See", "4. Mary Rowan, Walls")
    assert unled("[6] Vgl. auch Plum, A.: Obst") == ("Vgl. auch", "[6] Plum, A.: Obst")
    assert unled("See America First. Boston: Page, 1910.") == ("", "See America First. Boston: Page, 1910.")
    assert unled("4. See, J. Walls") == ("", "4. See, J. Walls")


def test_a_list_with_a_reference_a_line() -> None:
    lines = [
        "1. Rowan, J. K. Harry Potter and the Wall. London: Bloomsbury, 1997.",
        "2. ———. The Wall at Night. London: Bloomsbury, 1999.",
        "3. Quince, Robert. The Case for Plums. Ely: PublicAffairs, 2009.",
        NOTE,
    ]
    found = cut("\n".join(lines)).references
    assert [one.text[:2] for one in found] == ["1.", "2.", "3.", "4.", "Al"]
    assert found[1].text == "2. Rowan, J. K. The Wall at Night. London: Bloomsbury, 1999."
    assert (found[1].filled, found[3].lead) == ("Rowan, J. K.", "See")
    assert found[3].text.startswith("4. Mary Rowan,")
    assert found[4].text.startswith("Albert Medlar,")


def test_places_of_works_that_were_cut() -> None:
    raw = f"3. Quince, Robert. The Case for Plums. Ely: PublicAffairs, 2009.\n{NOTE}"
    found = list(cut_text(raw).references)
    lines = raw.split("\n")
    assert [(one.line, lines[one.line - 1][one.offset :][:6]) for one in found] == [
        (1, "3. Qui"), (2, "4. See"), (2, "Albert")
    ]  # fmt: skip
    assert [one.confidence for one in found] == [1.0, 0.9, 0.9]
    assert len(list(cut_text(raw, "lines").references)) == 2
