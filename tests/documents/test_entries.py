"""Entries of lists with bullets or numbers stay, whatever they say; what is left out of a list is known."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.documents.deciding.marks import LEAST_COUNTED, STEP, counting, list_marks
from espalier.documents.references import cut

WORKS = (
    "Plum, Anna: Vom Schnitt der alten Bäume, Ely 1990, S. 12-15.",
    "Quitte, Bernd: Die Mauer und ihr Schatten, Berlin: Apfel 2004, S. 7.",
    "Rowan, Dora: Über das Pfropfen im Winter, in: Annalen des Obstbaus 9 (1992), S. 31-44.",
    "Zeder, Carl: Nadeln und Zapfen, München: Wald 1999, S. 90.",
)


@pytest.mark.parametrize("odd", ["12 O.R.C. § 44 (2011).", "Ebd., S. 7.", "Plum 1990, S. 13.", "Homer: Odyssee."])
@pytest.mark.parametrize("mark", ["• ", "- ", "{} "])
def test_an_odd_entry_stays_one(odd: str, mark: str) -> None:
    texts = [*WORKS[:2], odd, *WORKS[2:], odd.replace("7", "8")]
    raw = "\n".join(mark.format(k) + text for k, text in enumerate(texts, 1))
    found = cut(raw)
    assert [one.text for one in found.references] == texts
    assert [one.mark for one in found.references] == [mark.format(k).strip() for k in range(1, len(texts) + 1)]
    assert [one.text for one in cut(raw).references] == texts
    assert found.left_out == ()


@pytest.mark.parametrize("lead", ["Vgl. ", ""])
@pytest.mark.parametrize("remark", ["Das ist hier nicht weiter zu verfolgen.", "Dank an alle, die dabei waren.", "Ja."])
def test_every_line_is_in_a_reference_or_left_out(lead: str, remark: str) -> None:
    texts = [lead + WORKS[0], *WORKS[1:3], remark, WORKS[3], remark, WORKS[0]]
    found = cut("\n".join(f"{k} {text}" for k, text in enumerate(texts, 1)))
    lines = [line for one in found.references for line in one.lines]
    assert sorted(lines + [one.line for one in found.left_out]) == list(range(1, 8))
    assert [one.text for one in found.references if one.text != remark] == [*WORKS, WORKS[0]]


def test_a_remark_is_left_out_and_known() -> None:
    texts = [f"Vgl. {WORKS[0]}", WORKS[1], "Das ist hier nicht weiter zu verfolgen.", f"Siehe dazu {WORKS[2]}"]
    found = cut("\n".join(f"{k} {text}" for k, text in enumerate(texts, 1)))
    assert [one.text for one in found.references] == list(WORKS[:3])
    assert [(one.line, one.text) for one in found.left_out] == [(3, f"3 {texts[2]}")]


def test_a_sentence_below_an_entry_is_no_part_of_it() -> None:
    raw = "\n".join(f"• {text}" for text in (*WORKS, "Homer: Odyssee."))
    found = cut(f"{raw}\nI hope that nobody minds that the list is as short as it is.")
    assert [one.text for one in found.references] == [*WORKS, "Homer: Odyssee."]
    assert [one.line for one in found.left_out] == [6]


def test_headings_page_numbers_and_running_heads_are_not_left_out() -> None:
    lines = [f"• {text}" for text in WORKS * 2]
    head = "Annalen des Obstbaus 12 (2004)"
    raw = "\n".join(["Literatur", *lines[:3], "117", head, *lines[3:6], "118", head, *lines[6:]])
    found = cut(raw)
    assert {one.text for one in found.dropped} == {"Literatur", "117", "118", head}
    assert found.left_out == ()


def test_of_a_document_nothing_is_left_out() -> None:
    prose = "The orchard was pruned in winter because the frost had come early, and we have seen that it was good.\n"
    found = cut(prose * 30 + "Literatur\n\n" + "\n".join(f"• {text}" for text in WORKS))
    assert [one.text for one in found.references] == list(WORKS)
    assert found.left_out == ()
    assert len(found.dropped) > 30


def test_numbers_that_do_not_count_are_no_marks() -> None:
    raw = """Literatur

Birnbaum, Anna: Vom Schnitt der alten Bäume und von den
Wegen, auf denen er gelehrt wurde. Ely: Medlar, 1990.
100 Jahre Obstbau in der Mark und an den Ufern der Oder.
Potsdam: Verlag der Gärtner, 2012.
Quitte, Bernd: Die Mauer und ihr Schatten. Ein Versuch
über Wärme. Berlin: Apfel Verlag, 2004.
Zeder, Carl: Nadeln. München: Wald, 1999."""
    found = cut(raw).references
    assert [one.text.split()[0] for one in found] == ["Birnbaum,", "100", "Quitte,", "Zeder,"]
    assert [one.mark for one in found] == [""] * 4


def test_a_number_is_a_mark_if_its_neighbours_say_so() -> None:
    texts = ["1 Plum", "2 Quince", "3 17 O.R.C. § 44", "4 Rowan", "5 https://ely.org"]
    assert [mark for mark, _ in list_marks(texts)] == [("n", k) for k in range(1, 6)]
    assert [texts[2][after:] for _, after in list_marks(texts)][2] == " 17 O.R.C. § 44"
    assert list_marks(["Plum", "100 Jahre", "Quince", "50 Years"]) == [(None, 0)] * 4
    assert list_marks(["Plum", "[17] Jahre", "Quince"])[1][0] == ("[n]", 17)


@given(st.lists(st.none() | st.tuples(st.sampled_from(["n", "n."]), st.integers(1, 30)), max_size=9))
def test_counting_is_what_the_longest_way_says(marks: list[tuple[str, int] | None]) -> None:
    """A bare number is a mark if it is one of enough numbers of its style that count up."""
    expected = set()
    for size in range(1, len(marks) + 1):
        for chosen in combinations(range(len(marks)), size):
            some = [marks[k] for k in chosen]
            counts = all(
                a is not None and b is not None and a[0] == b[0] and 0 < b[1] - a[1] <= STEP for a, b in pairwise(some)
            )
            if None not in some and counts and (size >= LEAST_COUNTED or 2 * size >= len(marks)):
                expected.update(chosen)
    assert [k for k, counts in enumerate(counting(marks)) if counts] == sorted(expected)
