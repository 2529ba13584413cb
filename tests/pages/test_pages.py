"""Pages are well-formed, escape everything, and draw every point."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.errors import InputError
from espalier.pages import Line, draw_lines, heat_table, page, section, table

printable = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=12)
figures = st.floats(-1e6, 1e6)


def parsed(html: str) -> ElementTree.Element:
    """Read a piece as XML: stricter than any browser."""
    return ElementTree.fromstring(html.replace("&nbsp;", " "))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    printable,
    st.lists(
        st.tuples(printable, st.lists(st.tuples(figures, figures), min_size=1, max_size=9)), min_size=1, max_size=9
    ),
    st.booleans(),
)
def test_charts_are_well_formed_and_hold_every_point(title, series, evenly):
    lines = [Line(name, points) for name, points in series]
    tree = parsed(draw_lines(title, lines, x="<x>", y="&", evenly=evenly).figure())
    drawn = tree.findall(".//polyline")
    assert [len(line.get("points", "").split()) for line in drawn] == [len(points) for _, points in series]
    for line in drawn:
        for point in line.get("points", "").split():
            x, y = map(float, point.split(","))
            assert 50 <= x <= 550
            assert 30 <= y <= 280


def test_a_rising_line_rises_on_the_page():
    tree = parsed(draw_lines("t", [Line("a", [(1, 10.0), (2, 20.0), (3, 15.0)])]).figure())
    points = [tuple(map(float, p.split(","))) for p in tree.find(".//polyline").get("points").split()]
    assert points[0][0] < points[1][0] < points[2][0]
    assert points[1][1] < points[2][1] < points[0][1]


@pytest.mark.parametrize("points", [[], [(0.0, math.nan)], [(math.inf, 1.0)]])
def test_charts_of_nothing_are_refused(points):
    with pytest.raises(InputError, match="chart 'empty'"):
        draw_lines("empty", [Line("a", points)])


def test_pages_escape_their_texts():
    bad = "<script>alert(1)</script>"
    whole = page(bad, [section(bad, [table([bad], [[bad]], [["bad"]]), heat_table([bad], [[1]], bad)], note=bad)])
    assert "<script" not in whole
    assert whole.count("&lt;script&gt;") == 9  # title twice, section twice, table twice, names and corner of the last
    assert re.match(r"<!doctype html>", whole)


def test_heat_is_the_share_of_a_row():
    tree = parsed(heat_table(["a", "b"], [[3, 1], [0, 0]]))
    shades = [cell.get("style") for cell in tree.findall(".//td")]
    assert shades == [f"background:rgba(0,114,178,{s})" for s in ("0.450", "0.150", "0.000", "0.000")]
    assert [cell.text for cell in tree.findall(".//td")] == ["3", "1", None, None]
