"""Pictures of tables: what they show is what the figures say, worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from espalier.errors import InputError
from espalier.papers.tables.pictures import Picture, pictures
from espalier.papers.tables.protocol import Result, Table
from espalier.papers.tables.registry import TABLES, find_tables


def figures(rows: Mapping[str, Mapping[str, tuple[float, float | None]]]) -> list[Result]:
    """row -> column -> (ours, paper)."""
    return [
        Result("toy", row, column, paper, ours, None, 1)
        for row, columns in rows.items()
        for column, (ours, paper) in columns.items()
    ]


def toy(**charts: str) -> Table:
    return Table(
        name="toy", title="A toy", source="nobody", metric="points", minutes=1.0, needs=(), published={},
        settings=lambda row, column: {}, measure=lambda data, cell: 0.0, charts=charts,
    )  # fmt: skip


def bars(picture: Picture) -> list[str]:
    return re.findall(r"<title>(.*?)</title>", picture.drawing.file())


def test_gains_are_over_the_first_row() -> None:
    (one,) = pictures(
        toy(gains="points"),
        figures(
            {
                "None": {"sup": (50.0, 40.0), "semi": (60.0, None)},
                "A": {"sup": (55.0, 41.0), "semi": (59.0, 1.0)},
                "B": {"sup": (50.0, None)},
            }
        ),
    )
    assert one.name == "toy"
    assert bars(one) == ["+5.00", "-1.00", "+0.00"]
    assert one.drawing.file().count("◇") == 2  # 41 - 40, and the legend


def test_reduction_is_a_share_of_the_errors() -> None:
    found = pictures(
        toy(reduction="%"),
        figures({"x, M": {"5": (60.0, 50.0)}, "x, M-CCM": {"5": (80.0, 75.0)}, "y, other": {"5": (1.0, None)}}),
    )
    assert [picture.name for picture in found] == ["toy-x-errors"]
    assert bars(found[0]) == ["+50.00"]  # of 40 errors in a hundred, 20 are left


def test_losses_are_at_common_columns() -> None:
    found = pictures(
        toy(losses="points"),
        figures(
            {
                "x, all": {"5": (90.0, None), "9": (95.0, None)},
                "x, less": {"5": (88.5, None)},
                "y, all": {"5": (1.0, None)},
            }
        ),
    )
    assert [picture.name for picture in found] == ["toy-x-parts"]
    assert bars(found[0]) == ["+1.50"]


def test_curves_of_each_group_with_the_paper_dashed() -> None:
    rows = {
        "x, M": {"5": (1.0, 0.5), "20": (2.0, 1.5), "100": (3.0, None)},
        "x, short": {"5": (1.0, None)},
        "y, M": {"5": (1.0, None), "all": (7.0, None)},
    }
    (one,) = pictures(toy(curves="size"), figures(rows))
    drawn = one.drawing.file()
    assert one.name == "toy-x"
    assert [line.count(",") for line in re.findall(r'points="(.*?)"', drawn)] == [3, 2]
    assert drawn.count("stroke-dasharray") == 1
    assert [sign.name for sign in one.drawing.legend] == ["M", "M, paper"]


def test_figures_that_several_rows_stand_beside_are_drawn_once() -> None:
    (one,) = pictures(toy(curves="size"), figures({name: {"5": (1.0, 0.5), "9": (2.0, 0.7)} for name in "ab"}))
    assert [sign.name for sign in one.drawing.legend] == ["a", "b", "paper"]


def test_confusions_are_shares_of_rows() -> None:
    rows = {"a": {"a": (3.0, None), "b": (1.0, None)}, "b": {"a": (0.0, None), "b": (0.0, None)}}
    (one,) = pictures(toy(confusion="found"), figures(rows))
    shades = [float(shade) for shade in re.findall(r'fill-opacity="(.*?)"', one.drawing.file())]
    assert shades == pytest.approx([0.03 + 0.57 * share for share in (0.75, 0.25, 0.0, 0.0)], abs=1e-3)
    assert pictures(toy(confusion="found"), figures(rows)[:3]) == []  # a count is missing


def test_unknown_charts_are_named() -> None:
    with pytest.raises(InputError, match="a chart 'pies'; there are curves, gains"):
        pictures(toy(pies="size"), [])


@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_drawn(name: str) -> None:
    (table,) = find_tables([name])
    results = [
        Result(name, row, column, paper, 50.0 + k % 7, None, 1)
        for row, columns in table.published.items()
        for k, (column, paper) in enumerate(columns.items())
    ]
    drawn = pictures(table, results)
    assert len({picture.name for picture in drawn}) == len(drawn)
    assert bool(drawn) == bool(table.charts)
    assert pictures(table, []) == []
    assert pictures(replace(table, name="other"), results) == []
