"""Pasted lists in layouts that people paste: every reference is cut out whole, whatever stands between them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from espalier.documents.cutting.pasted import plain_layout
from espalier.documents.reading.plain import printed_lines
from espalier.documents.references import cut, cut_text

REFERENCES = (
    "Plum, A. (1990). Wires and walls in old orchards: an account of twelve winters. Orchard Letters, 3(2), 12-15.",
    "Quince, B., & Medlar, C. (1991). A frame for fruit. Annals of Fruit, 7(1), 1-30.",
    "Rowan, D. (1992). On the pruning of old trees, with notes on the use of the saw. Ely: Medlar Press.",
    "Sloe, E., Thorn, F., & Wych, G. (1993). Hedges and what they keep out. Hedgerow Studies, 4, 77-91.",
    "Thorn, F. (1994). Mulch and soil. Ely: Medlar Press.",
    "Wych, G. (1995). The elm in winter: forms, frost and the growth of buds. Annals of Fruit, 9(2), 31-44.",
    "Yew, H., & Plum, A. (1996). Evergreens near walls. Orchard Letters, 9(1), 3-8.",
    "Zelkova, I. (1997). A late tree. In B. Quince (Ed.), Trees of the north (pp. 90-104). Ely: Medlar Press.",
)
Lay = Callable[[int, str], str]


def wrapped(text: str, first: str = "", rest: str = "", width: int = 64) -> str:
    return "\n".join(textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False))


LAYOUTS: dict[str, Lay] = {
    "[n]": lambda k, text: wrapped(f"[{k}] {text}"),
    "n. from 17": lambda k, text: wrapped(f"{k + 16}. {text}"),
    "a missing number": lambda k, text: wrapped(f"[{k + (k > 4)}] {text}"),
    "bare numbers": lambda k, text: wrapped(f"{k} {text}"),
    "bullets": lambda k, text: wrapped(f"• {text}"),
    "hanging": lambda k, text: wrapped(text, rest="    "),
    "first-line indent": lambda k, text: wrapped(text, first="    "),
    "wrapped": lambda k, text: wrapped(text),
    "one a line": lambda k, text: text,
    "blank lines": lambda k, text: wrapped(text) + "\n",
}


NUMBERS = {"[n]": "[{}] ", "n. from 17": "{}. "}
"""Layouts whose numbers say all, so that nothing is taken away."""


def expected(layout: str) -> list[str]:
    first = 17 if "17" in layout else 1
    return [NUMBERS.get(layout, "").format(k) + text for k, text in enumerate(REFERENCES, first)]


def laid_out(layout: str) -> str:
    return "\n".join(LAYOUTS[layout](k, text) for k, text in enumerate(REFERENCES, 1))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    assert [one.text for one in cut(laid_out(layout)).references] == expected(layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_heading_is_no_record(layout: str) -> None:
    found = cut("References\n\n" + laid_out(layout))
    assert [one.text for one in found.references] == expected(layout)
    assert [(one.kind, one.text) for one in found.dropped] == [("heading", "References")]


@pytest.mark.parametrize("mark", ["[{}] ", "{}. ", ""])
@pytest.mark.parametrize("end", ["", " doi:10.1000/abc.4x"])
def test_all_in_one_line(mark: str, end: str) -> None:
    """A number belongs to what follows it; an address may end a reference."""
    texts = [text + end for text in REFERENCES]
    found = cut(" ".join(mark.format(k) + text for k, text in enumerate(texts, 1))).references
    assert [one.text for one in found] == texts
    assert [one.mark for one in found] == [mark.format(k).strip() for k in range(1, len(texts) + 1)]


def test_names_and_a_year_begin_a_reference_behind_a_word() -> None:
    names = ["Plum, A.", "Quince, B., Medlar, C.", "Rowan, D., et al.", "Sloe, E., Thorn, F.", "Thorn, F.", "Wych, G."]
    ends = ["Wires and walls, Medlar University Press", "Annals of Fruit, 7, 30"]
    texts = [f"{name}, {1990 + k}, {ends[k % 2]}" for k, name in enumerate(names * 2)]
    assert [one.text for one in cut(" ".join(texts)).references] == texts


def test_running_heads_inside_a_list_are_dropped() -> None:
    lines = laid_out("[n]").split("\n")
    head = "Journal of Orchards 12 (2004)"
    raw = "\n".join([*lines[:5], "117", head, *lines[5:11], "118", head, *lines[11:]])
    found = cut(raw)
    assert [one.text for one in found.references] == list(REFERENCES)
    assert [one.text for one in found.dropped] == ["117", head, "118", head]


def test_marks_are_kept_beside_the_text_unless_the_layout_says_all() -> None:
    assert [one.mark for one in cut(laid_out("bare numbers")).references] == [str(k) for k in range(1, 9)]
    assert {one.mark for layout in NUMBERS for one in cut(laid_out(layout)).references} == {""}


@pytest.mark.parametrize(
    ("layout", "sure"),
    [("[n]", "numbered"), ("hanging", "hanging"), ("blank lines", "blocks"), ("one a line", "lines")],
)
def test_layouts_that_need_no_guessing(layout: str, sure: str) -> None:
    assert plain_layout(laid_out(layout).split("\n")) == sure


@pytest.mark.parametrize("layout", ["wrapped", "first-line indent", "a missing number", "bullets", "bare numbers"])
def test_a_guess_is_never_certain(layout: str) -> None:
    assert plain_layout(laid_out(layout).split("\n")) == ""
    assert all(one.confidence < 1 for one in cut(laid_out(layout)).references)


@pytest.mark.parametrize(
    "odd",
    [
        ["100 Years of Orchards in the North. London: Apple House, 2012.", "50 Gardens. Ed. Jane Roe. Ely: ALA, 2010."],
        ["17 O.R.C. § 108 (2012).", "Plum 1990, p. 60.", "Ibid., p. 52."],
    ],
)
def test_a_number_that_begins_a_title_hides_no_layout(odd: list[str]) -> None:
    lines = ["Bibliography", "", REFERENCES[0], *odd, *REFERENCES[1:3]]
    assert plain_layout(lines) == "lines"
    found = cut("\n".join(lines)).references
    assert [one.text for one in found] == lines[2:]
    assert [one.mark for one in found] == [""] * (len(lines) - 2)


def test_form_feeds_begin_pages() -> None:
    assert [line.page for line in printed_lines("a\fb\nc").lines] == [1, 2, 2]


@pytest.mark.parametrize(
    ("note", "lead", "text"),
    [
        ("Vgl. dazu Plum, A. (1990)", "Vgl. dazu", "Plum, A. (1990)"),
        ("See, for example, Plum", "See, for example,", "Plum"),
        ("See, J. (1990). Plums", "", "See, J. (1990). Plums"),
        ("Soziale Welt", "", "Soziale Welt"),
    ],
)
def test_words_before_a_work(note: str, lead: str, text: str) -> None:
    from espalier.documents.cutting.finding import without_lead

    assert without_lead(note) == (lead, text)


def test_a_line_that_is_no_reference_takes_no_other_with_it() -> None:
    """It is too long for one; the reference behind it is one all the same."""
    works = [f"Cleo Medlar ({year}). On the pruning of trees. Annals of Fruit 11: 160-169." for year in (1950, 1951)]
    text = f"{works[0]}\n{'x ' * 2999}\n{works[1]}"
    assert [one.text for one in cut(text).references][::2] == works
    assert [one.text for one in cut_text(text).references][::2] == works
