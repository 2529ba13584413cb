"""Layouts that nobody names: how many references there are, and which, in small texts as people paste them."""

from __future__ import annotations

import io
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.splitting import read_references, split_references

APA = (
    "Plum, A. (1990). Wires and walls. Orchard Letters, 3(2), 12-15.",
    "Quince, B., & Medlar, C. (1991). A frame for fruit. Annals of Fruit, 7(1), 1-30.",
    "van der Sloe, D. (1992). On the pruning of old trees. Ely: Medlar Press.",
)
VANCOUVER = (
    "Plum AB, Quince C. Wires and walls. Orchard Lett 1990;3:12-5.",
    "Medlar D. A frame for fruit. Ann Fruit 1991;7:1-30.",
    "Sloe E, Damson F, et al. On the pruning of trees. Pomona 1992;12(3):7-19.",
)
PLAIN = (
    "A. Plum and B. Quince. Wires and walls. Orchard Letters, 3:12-15, 1990.",
    "C. Medlar. A frame for fruit. PhD thesis, University of Wye, 1991.",
    "D.-E. Sloe. On the pruning of trees. In Proceedings of the Pear Days, pages 7-19, 1992.",
)
FULL = (
    "Plum, Ada. Wires and Walls. Ely: Medlar Press, 1990.",
    "Quince, Ben, and Cleo Medlar. “A Frame for Fruit.” Orchard Letters 3 (1991): 12-15.",
    "Sloe, Dan. On the Pruning of Trees. Wye: Pear and Sons, 1992.",
)
STYLES = [APA, VANCOUVER, PLAIN, FULL]
NAMES = ["apa", "vancouver", "plain", "full"]


def texts(raw: str, layout: str = "auto") -> list[str]:
    return [reference.text for reference in split_references(raw, layout)]


def wrapped(reference: str, width: int = 34, indent: str = "") -> str:
    lines = textwrap.wrap(reference, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    return "\n".join(lines)


@pytest.mark.parametrize("style", STYLES, ids=NAMES)
def test_one_a_line(style: tuple[str, ...]) -> None:
    assert texts("\n".join(style)) == list(style)
    assert texts("\n\n".join(style)) == list(style)
    assert texts("\n\n\n".join(style) + "\n") == list(style)
    assert texts("".join(f"  {reference}\n" for reference in style)) == list(style)


@pytest.mark.parametrize("date", ["in press", "n.d.", "forthcoming", "to appear"])
def test_what_stands_for_a_year_is_one(date: str) -> None:
    lines = [
        "Plum, A. Wires and Walls. Translated by B. Sloe. Ely: Medlar Press, 1998.",
        f"Quince, B. ({date}). Mulch. Soil.",
    ]
    assert texts("\n".join(lines)) == lines


@pytest.mark.parametrize("style", STYLES, ids=NAMES)
def test_stanzas_of_whole_lines(style: tuple[str, ...]) -> None:
    assert texts("\n\n".join("\n".join(style) for _ in range(3))) == list(style) * 3
    one, two, three = style
    assert texts(f"{one}\n{two}\n\n{three}") == [one, two, three]
    assert texts(f"Trees\n\n{one}\n{two}\n\nWalls\n\n{three}") == ["Trees", one, two, "Walls", three]
    assert texts(f"Trees\n{one}\n{two}\n\nWalls\n{three}\n{one}") == ["Trees", one, two, "Walls", three, one]


@pytest.mark.parametrize("width", [28, 34, 45, 60])
@pytest.mark.parametrize("style", STYLES, ids=NAMES)
def test_wrapped_blocks(style: tuple[str, ...], width: int) -> None:
    assert texts("\n\n".join(wrapped(reference, width) for reference in style)) == list(style)


@pytest.mark.parametrize("style", STYLES, ids=NAMES)
def test_some_blocks_of_one_line_and_some_wrapped(style: tuple[str, ...]) -> None:
    one, two, three = style
    assert texts(f"{wrapped(one)}\n\n{two}\n\n{wrapped(three)}") == [one, two, three]
    assert texts(f"{one}\n\n{wrapped(two)}\n\n{three}") == [one, two, three]


@pytest.mark.parametrize("margin", ["", "  ", "\t"])
@pytest.mark.parametrize("style", STYLES, ids=NAMES)
def test_hanging_indents(style: tuple[str, ...], margin: str) -> None:
    hanging = [textwrap.indent(wrapped(reference, 40, "    "), margin) for reference in style]
    assert texts("\n".join(hanging)) == list(style)
    assert texts("\n\n".join(hanging)) == list(style)
    seldom = [margin + reference for reference in style] * 3 + hanging[:1]
    assert texts("\n".join(seldom)) == [*style * 3, style[0]]


@pytest.mark.parametrize(
    "marks", [("[1]", "[2]", "[3]"), ("1.", "2.", "3."), ("(1)", "(2)", "(3)"), ("[a]", "[b]", "[c]")]
)
@pytest.mark.parametrize("style", STYLES, ids=NAMES)
def test_numbered_lists(style: tuple[str, ...], marks: tuple[str, ...]) -> None:
    numbered = [f"{number} {reference}" for number, reference in zip(marks, style, strict=True)]
    assert texts("\n".join(numbered)) == numbered
    assert texts("\n\n".join(numbered)) == numbered
    for lines in ([wrapped(x) for x in numbered], [wrapped(x, 40, "    ") for x in numbered]):
        assert texts("\n".join(lines)) == numbered
        assert texts("\n\n".join(lines)) == numbered
    assert texts("\n".join([wrapped(numbered[0]), *numbered[1:]])) == numbered


@pytest.mark.parametrize("style", STYLES, ids=NAMES)
def test_a_heading_before_a_numbered_list(style: tuple[str, ...]) -> None:
    numbered = [f"[{number}] {reference}" for number, reference in enumerate(style, 1)]
    assert texts("References\n" + "\n".join(map(wrapped, numbered))) == ["References", *numbered]


@pytest.mark.parametrize("style", STYLES, ids=NAMES)
def test_a_pasted_reference(style: tuple[str, ...]) -> None:
    for reference in style:
        assert [(r.text, r.confidence) for r in split_references(wrapped(reference))] == [(reference, 1.0)]


@pytest.mark.parametrize("style", [APA, VANCOUVER, PLAIN], ids=NAMES[:3])
def test_wrapped_lines_without_anything_between(style: tuple[str, ...]) -> None:
    raw = "\n".join(wrapped(reference, 40) for reference in style)
    found = split_references(raw)
    assert [reference.text for reference in found] == list(style)
    assert {reference.confidence for reference in found} == {0.7}  # names and years alone tell them apart
    lines = raw.split("\n")
    assert [lines[reference.line - 1][reference.offset :][:9] for reference in found] == [x[:9] for x in style]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (
            "Plum, A. (1990). Wires and walls.\nOrchard Letters, 3(2), 12-15.\n\n"
            "Quince, B. (1991). A frame for fruit.\nAnnals of Fruit, 7(1),\n1-30.",
            [APA[0], "Quince, B. (1991). A frame for fruit. Annals of Fruit, 7(1), 1-30."],
        ),
        ("Plum, A. (1990). Wires and walls.\nOrchard Letters, 3(2), 12-15.", [APA[0]]),
        ("Plum, A. Wires and walls.\nOrchard Letters,\n1990.", ["Plum, A. Wires and walls. Orchard Letters, 1990."]),
        ("Plum, A. 1990. Wires.\nPears 3 (May 1990), 4.\n\nSloe, D. 1991. Walls.\nPears 4 (May 1991), 5.", 2),
        ("Plum, Ada. 1990.\n“Wires.” Pears 3: 4-5.\n\nSloe, Dan. 1991.\n“Walls.” Pears 4: 6-7.", 2),
        ("War and Peace\nMoby Dick\nThe Mill on the Floss", 3),
        ("10.1000/182\n10.1000/183\n10.1000/184", 3),
        ("doi:10.1000/182\nhttps://example.org/a\narXiv:2001.00001", 3),
        ("———. 1991. A frame. Wye.\n———. 1992. A tree. Wye.", 2),
        ("Plum, Ada. 1990. A wall. Wye.\n———. 1991. A frame. Wye.\n———. 1992. A tree. Wye.", 3),
        ("de Plum, A. Wires. Wye, 1990.\nvan Quince, B. Walls. Wye, 1991.\nla Sloe, C. Trees. Wye, 1992.", 3),
        ("1990 Plum. Wires.\n1991 Quince. Walls.\n1992 Sloe. Trees.", 3),
        ("12 Plum A. Wires. Wye; 1990.\n13 Quince B. Walls. Wye; 1991.", 2),
        ("[3] Plum, A. Wires. 1990.\n[7] Quince, B. Walls. 1991.\nSloe, C. Trees. 1992.", 3),
        ("Plum, A. Wires. Wye, 1990.\n  Quince, B. Walls. Wye, 1991.\n  Sloe, C. Trees. Wye, 1992.", 3),
        ("Plum, A. Wires. In print.\nQuince, B. Walls. No date.\nSloe, C. Trees. To appear.", 3),
        ("Plum, A. Wires. Wye, 1990\nQuince, B. Walls. Wye, 1991\nSloe, C. Trees. Wye, 1992", 3),
        ("梅. 針金と壁. 園芸, 3, 1990.\n桃. 果樹の枠. 園芸, 4, 1991.", 2),
        ("梅. 針金と壁,\n園芸, 3, 1990.\n\n桃. 果樹の枠,\n園芸, 4, 1991.", 2),
    ],
)
def test_by_hand(raw: str, expected: list[str] | int) -> None:
    found = texts(raw)
    assert found == expected if isinstance(expected, list) else len(found) == expected


def test_named_layouts_guess_nothing() -> None:
    raw = "\n".join(wrapped(reference, 40) for reference in PLAIN)
    assert texts(raw, "blocks") == [" ".join(PLAIN)]
    assert texts(raw, "lines") == raw.split("\n")
    assert {reference.confidence for reference in split_references(raw, "blocks")} == {1.0}


def test_the_layout_of_a_file_is_that_of_its_first_lines() -> None:
    raw = "\n\n".join(wrapped(reference) for reference in APA * 200)
    assert [reference.text for reference in read_references(io.BytesIO(raw.encode()))] == list(APA * 200)


@given(
    st.lists(st.sampled_from([reference for style in STYLES for reference in style]), min_size=2, max_size=8),
    st.integers(24, 50),
)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_any_list_wrapped_at_any_width(references: list[str], width: int) -> None:
    assert texts("\n\n".join(wrapped(reference, width) for reference in references)) == references
    assert texts("\n".join(wrapped(reference, width, "   ") for reference in references)) == references
    assert texts("\n".join(references)) == references
