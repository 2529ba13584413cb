"""Bars have the lengths of their values, and drawings are files that stand alone."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.errors import InputError
from espalier.pages import Bars, Line, draw_bars, draw_lines

SVG = "{http://www.w3.org/2000/svg}"
names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), min_size=1, max_size=12)
values = st.none() | st.floats(-1e3, 1e3).filter(lambda value: abs(value) > 1.0)


def bars_of(tree: ElementTree.Element) -> list[tuple[float, float]]:
    """The left end and the width of every bar; the background is no bar."""
    found = [rect for rect in tree.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    return [(float(rect.get("x", "")), float(rect.get("width", ""))) for rect in found]


def test_bars_grow_from_zero_to_both_sides() -> None:
    tree = ElementTree.fromstring(
        draw_bars("t", ["up", "down"], [Bars("a", [4.0, -2.0]), Bars("b", [None, 1.0])]).file()
    )
    (up, wide), (down, half), (right, quarter) = bars_of(tree)
    assert (half, quarter) == (pytest.approx(wide / 2, abs=0.2), pytest.approx(wide / 4, abs=0.2))
    assert up == right == pytest.approx(down + half, abs=0.11)  # all begin at 0


def test_given_figures_are_marked() -> None:
    chart = draw_bars("t", ["one", "two"], [Bars("a", [1.0, 2.0], [1.5, None])], given="paper").file()
    assert chart.count("◇") == 2  # the mark, and its entry in the legend
    assert "paper" in chart
    assert "◇" not in draw_bars("t", ["one"], [Bars("a", [1.0])], given="paper").file()


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.lists(names, min_size=1, max_size=6), st.data(), names)
def test_files_are_well_formed_and_name_everything(groups: list[str], data: st.DataObject, title: str) -> None:
    row = st.lists(values, min_size=len(groups), max_size=len(groups)).filter(lambda found: any(found))
    series = [Bars(data.draw(names), data.draw(row)) for _ in range(data.draw(st.integers(1, 9)))]
    tree = ElementTree.fromstring(draw_bars(title, groups, series, x="<&>").file())
    assert tree.tag == f"{SVG}svg"
    assert len(bars_of(tree)) == sum(value is not None for bars in series for value in bars.values)
    said = "\n".join("".join(text.itertext()) for text in tree.iter(f"{SVG}text"))
    assert all(name in said for name in (title, "<&>", *groups, *(bars.name for bars in series)))


def test_a_legend_takes_the_lines_it_needs() -> None:
    def height(n: int) -> float:
        lines = [Line(f"a series with quite a long name {k}", [(0.0, 1.0), (1.0, k)]) for k in range(n)]
        return float(ElementTree.fromstring(draw_lines("t", lines).file()).get("height", ""))

    assert height(1) == height(2) < height(3) < height(6)


def test_lines_alike_have_one_colour() -> None:
    lines = [Line("a", [(0, 1.0)]), Line("b", [(0, 2.0)]), Line("a, paper", [(0, 3.0)], dashed=True, like=0)]
    drawn = list(ElementTree.fromstring(draw_lines("t", lines).file()).iter(f"{SVG}polyline"))
    assert drawn[0].get("stroke") == drawn[2].get("stroke") != drawn[1].get("stroke")
    assert [line.get("stroke-dasharray") is not None for line in drawn] == [False, False, True]


@pytest.mark.parametrize("wrong", [Bars("a", [1.0, 2.0]), Bars("a", [1.0], [1.0, 2.0])])
def test_bars_of_other_groups_are_refused(wrong: Bars) -> None:
    with pytest.raises(InputError, match="'t' has 1 groups; 'a' has another number"):
        draw_bars("t", ["one"], [wrong])


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_charts_without_finite_bars_are_refused(value: float | None) -> None:
    with pytest.raises(InputError, match="the chart 't' has"):
        draw_bars("t", ["one"], [Bars("a", [value])])
