"""`bench/works.py`: values are the same whoever wrote them, and a wrong value is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def works() -> Iterator[ModuleType]:
    sys.path.insert(0, str(BENCH))
    try:
        import works

        yield works
    finally:
        sys.path.remove(str(BENCH))


ARTICLE = {
    "author": [{"family": "Huene", "given": "F.", "non-dropping-particle": "von"}, {"family": "Lee", "given": "A."}],
    "title": "On pears [Internet]",
    "container-title": "Journal of Fruit",
    "volume": "48",
    "issue": "Suppl. 2",
    "page": "233-241",
    "issued": {"date-parts": [[1987, 4]]},
}
EXPECTED = (
    "authors=Huene, Friedrich von; Lee, Ann | title=On Pears | container=Journal of fruit | year=1987 | volume=vol. 48"
    " | issue=Supplement 2 | first=233 | last=41"
)


def rights(works: ModuleType, expected: str, csl: dict[str, Any]) -> dict[str, bool]:
    given = dict(part.partition("=")[::2] for part in expected.split(" | "))
    values, found = works._rare("", given, "").values, works.said(csl)
    return {name: works.is_right(name, wanted, found) for name, wanted in values.items()}


def test_ways_of_writing_do_not_count(works: ModuleType) -> None:
    assert all(rights(works, EXPECTED, ARTICLE).values())


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"title": "On apples"}, "title"),
        ({"volume": "49"}, "volume"),
        ({"page": "234-241"}, "first"),
        ({"page": "233-242"}, "last"),
        ({"issued": {"date-parts": [[1978]]}}, "year"),
        ({"issue": ""}, "issue"),
        ({"author": ARTICLE["author"][:1]}, "authors"),  # type: ignore[index]
        ({"author": [{"literal": "Huene von"}, {"family": "Lea", "given": "A."}]}, "authors"),
    ],
)
def test_a_wrong_value_is_wrong_and_no_other(works: ModuleType, change: dict[str, Any], wrong: str) -> None:
    found = rights(works, EXPECTED, ARTICLE | change)
    assert [name for name, right in found.items() if not right] == [wrong]


def test_what_should_not_be_there_is_wrong_and_what_is_open_is_not_judged(works: ModuleType) -> None:
    expected = "title=On Pears | year=1987 | container=? | authors=? | volume=? | issue=?"
    found = rights(works, expected, ARTICLE)
    assert found == {"title": True, "year": True, "first": False}


def test_editors_count_as_authors_where_there_are_none(works: ModuleType) -> None:
    book = {"editor": [{"family": "Lee", "given": "A."}], "title": "Pears"}
    assert rights(works, "authors=Lee, A. | title=Pears", book)["authors"]
    assert not rights(works, "authors=Lee, A.; Berg, B. | title=Pears", book)["authors"]


def test_the_rare_kinds_are_whole(works: ModuleType) -> None:
    found = works.rare(Path(), None)
    assert len(found) == 300
    assert len({one.text for one in found}) == 300
    for one in found:
        assert one.judged, one.text


def test_calibration_is_the_distance_between_promise_and_truth(works: ModuleType) -> None:
    assert works.calibration([0.85] * 10, [True] * 8 + [False] * 2) == pytest.approx(0.05)
    assert works.calibration([1.0, 0.0], [True, False]) == 0
