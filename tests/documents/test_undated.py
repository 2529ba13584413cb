"""Lines that look like a list and have no years are none."""

from __future__ import annotations

import pytest

from espalier.documents.cutting.finding import find_references
from espalier.documents.deciding.stray import Listed, undated
from espalier.documents.lines import PrintedText, TextLine
from espalier.documents.references import cut

DATED = ["Smith, J. (2001). On pears.", "Jones, K. On plums. https://example.org/plums"]
VERSES = ["In the orchard stands a tree,", "Under it the grass is long,", "Nobody has seen the bee."]


def several(texts: list[str], first: int = 5, *, sure: float = 0.9, noted: bool = False) -> list[Listed]:
    """Return texts as candidates of one unit each, one behind the other."""
    return [Listed(first + k, first + k + 1, text, noted, sure) for k, text in enumerate(texts)]


def labels_of(candidates: list[Listed], n: int = 60) -> list[str]:
    """Return labels of n units: text, but for the candidates."""
    labels = ["text"] * n
    for one in candidates:
        labels[one.first : one.behind] = ["ref"] + ["ref-cont"] * (one.behind - one.first - 1)
    return labels


def test_a_run_without_years_is_no_list_and_one_with_some_is() -> None:
    verses, works = several(VERSES), several([*DATED, "Brown, L. On figs."], 30)
    both = verses + works
    assert undated(labels_of(both), both) == {0, 1, 2}


@pytest.mark.parametrize("between", ["page", "text"])
def test_running_heads_do_not_part_a_run(between: str) -> None:
    both = several(VERSES[:1]) + several(DATED, 7)
    labels = labels_of(both)
    labels[6] = between
    assert undated(labels, both) == (set() if between == "page" else {0})


def test_headings_notes_and_texts_that_are_lists_speak_for_themselves() -> None:
    verses = several(VERSES)
    labels = labels_of(verses)
    assert undated(labels, several(VERSES, noted=True)) == set()
    assert undated(labels[:8], verses) == {0, 1, 2}
    labels[4] = "heading"
    assert undated(labels, verses) == set()
    assert undated(labels_of(several(VERSES, 0), 4), several(VERSES, 0)) == set()


def test_what_is_unsure_and_undated_goes_from_both_ends_of_a_list() -> None:
    ends = [several(VERSES[:1], 5, sure=0.5), several(DATED, 6), several(VERSES[1:2], 8, sure=0.5)]
    both = [one for part in ends for one in part]
    assert undated(labels_of(both), both) == {0, 3}
    middle = [*several(DATED[:1], 5), *several(VERSES[:1], 6, sure=0.5), *several(DATED[1:], 7)]
    assert undated(labels_of(middle), middle) == set()


def test_nothing_is_lost() -> None:
    """What is no reference is named among what was left out."""
    prose = "The trees of this garden were planted by people who liked shade, and nobody has counted them since then."
    code = [
        f"> orchard${name} <- ordered(orchard${name}, levels = c('small', 'large'))" for name in ("a", "b", "c", "d")
    ]
    printed = PrintedText.of([TextLine(text) for text in [*[prose] * 12, *code, *[prose] * 12]])
    found = find_references(printed)
    kept = "".join(one.text for one in found.references) + "".join(one.text for one in found.dropped)
    assert all(line.split()[1] in kept for line in code)
    assert not any("orchard$" in one.text for one in found.references)


def test_a_pasted_list_without_years_is_a_list() -> None:
    works = ["Smith, J. On pears. London: Tree.", "Jones, K. On plums. Rome: Leaf."]
    assert [one.text for one in cut("\n\n".join(works)).references] == works
