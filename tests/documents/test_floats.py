"""Captions, tables and addresses in the way of a list, in documents that are made here."""

from __future__ import annotations

import pytest

from espalier.documents.cutting.finding import find_references
from espalier.documents.lines import Box, TextLine

NAMES = ("Abel", "Baker", "Carter", "Dunn", "Evans", "Foster", "Grant", "Hill", "Irving", "Jones", "Keller", "Lund")
HEAD = ("References", 0.0, 14.0)
CAPTION = [
    ("Figure 3: Growth of pear trees on two rootstocks, measured in each of the", 20.0, 9.0),
    ("years of the trial, with and without wires.", 0.0, 9.0),
]


def entry(number: int) -> list[str]:
    first = f"{NAMES[number]}, J. & Miller, A. ({1980 + number}). Wires, walls and the growth of pear trees"
    return [first, f"in cold years. Journal of Orchards, {number + 2}, {number + 4}-{number + 19}."]


def placed(rows: list[tuple[str, float, float]], page: int) -> list[TextLine]:
    """Return lines one below the other. rows : text, white space above or indent (if negative), size."""
    found, y = [], 60.0
    for text, space, size in rows:
        y += 12.0 + max(space, 0.0)
        x = 60.0 + max(-space, 0.0)
        found.append(TextLine(text, page, Box(x, y, x + 0.5 * size * len(text), y + size), size, size > 12, False, 0))
    return found


def listed(numbers: range) -> list[tuple[str, float, float]]:
    return [row for n in numbers for row in ((entry(n)[0], 0.0, 10.0), (entry(n)[1], -15.0, 10.0))]


def found_in(*pages: list[tuple[str, float, float]]) -> list[str]:
    lines = [line for number, rows in enumerate(pages, 1) for line in placed(rows, number)]
    return [one.text for one in find_references(lines).references]


def wanted(numbers: range) -> list[str]:
    return [" ".join(entry(n)) for n in numbers]


def test_a_table_above_the_rest_of_a_reference_is_no_part_of_it() -> None:
    table = [("Table 2: Trees that died in each of the years of the trial", 0.0, 9.0)]
    table += [(f"{1990 + n} {n}.5 {n}1.5 {n}0.3 {n + 3}.7", 8.0 * (n == 1), 9.0) for n in range(1, 6)]
    first = [HEAD, *listed(range(6))]
    rest = [(entry(5)[1], 20.0, 10.0), *listed(range(6, 12))]
    assert found_in(first[:-1], [*table, *rest]) == wanted(range(12))


def test_a_caption_behind_a_list_is_none_of_it() -> None:
    assert found_in([HEAD, *listed(range(8))], CAPTION) == wanted(range(8))


def test_a_table_behind_a_list_is_none_of_it() -> None:
    table = [("Height (m) Without wires With wires Died", 0.0, 10.0)]
    table += [(f"{n}.5 {n}/9 ({n}0%) {n}/8 ({n}5%) 1/7 (14%)", 4.0, 10.0) for n in range(1, 5)]
    assert found_in([HEAD, *listed(range(8))], table) == wanted(range(8))


def test_an_address_of_an_author_behind_a_list_is_none_of_it() -> None:
    address = [("Institute of Orchards, University of Cologne, 50923 Cologne, Germany", 16.0, 10.0)]
    address += [("E-mail address: abel@orchards.example", 0.0, 10.0)]
    assert found_in([HEAD, *listed(range(8)), *address]) == wanted(range(8))


def test_a_number_at_the_head_of_a_page_goes_on_with_its_entry() -> None:
    entries = [f"[{n + 1}] {entry(n)[0]} {entry(n)[1]}" for n in range(8)]
    rows = [(one, 0.0, 10.0) for one in entries]
    broken = [("[9] Standards Office (2020) Protecting trees in public gardens. Report SO 800-", 0.0, 10.0)]
    rest = [("171 Rev. 2, with updates as of January 28, 2021.", -20.0, 10.0)]
    more = [(f"[{n + 2}] {entry(n)[0]} {entry(n)[1]}", 0.0, 10.0) for n in range(8, 11)]
    found = found_in([HEAD, *rows, *broken], [*rest, *more])
    assert found[8].endswith("800-171 Rev. 2, with updates as of January 28, 2021.")
    assert len(found) == 12


@pytest.mark.parametrize("mark", ["[{}]", "{}."])
def test_entries_without_a_year_belong_to_a_list_whose_numbers_they_have(mark: str) -> None:
    sites = [
        "Pear Project: http://pears.example/",
        "Wires: http://wires.example/a.html",
        "Walls: http://walls.example/",
    ]
    texts = [*wanted(range(6)), *sites, *wanted(range(6, 9)), "Trees: http://trees.example/all/"]
    rows = [(f"{mark.format(n)} {text}", 0.0, 10.0) for n, text in enumerate(texts, 1)]
    assert found_in([HEAD, *rows]) == texts
