"""Operations on columns, compiled and in NumPy, against the same on lists of lists."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from espalier import kernels
from espalier.features.matrix import Column, Laid, Places, cross, frequent, lay, pile, stack

RANDOM = settings(
    deadline=None, derandomize=True, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(params=[False, True], ids=["NumPy", "compiled"], autouse=True)
def loaded(request, monkeypatch):
    """Do without kernels, then with them."""
    monkeypatch.setattr(kernels, "are_loaded", lambda n: request.param)


Rows = list[dict[int, float]]
numbers = st.one_of(st.integers(0, 6), st.integers(10**6, 10**6 + 3))  # few and dense, or far apart
row = st.dictionaries(numbers, st.sampled_from([1.0, 0.5, -2.0]), max_size=4)
rows = st.lists(row, max_size=5)
pairs = st.integers(0, 5).flatmap(
    lambda n: st.tuples(st.lists(row, min_size=n, max_size=n), st.lists(row, min_size=n, max_size=n))
)


def column(rows: Rows) -> Column:
    indptr = np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int64)
    weights = np.array([w for row in rows for w in row.values()], np.float64)
    ids = np.array([k for row in rows for k in row], np.int64)
    return Column(indptr, ids, None if (weights == 1).all() else weights)


def lists(column: Column) -> list[list[tuple[int, float]]]:
    weights = np.ones(len(column.ids)) if column.weights is None else column.weights
    entries = list(zip(column.ids.tolist(), weights.tolist(), strict=True))
    return [entries[a:b] for a, b in zip(column.indptr[:-1], column.indptr[1:], strict=True)]


@RANDOM
@given(rows, st.lists(st.integers(-1, 4), max_size=8), st.integers(-1, 3))
def test_take(rows: Rows, index: list[int], outside: int) -> None:
    index = [i for i in index if i < len(rows)]
    beyond = [(outside, 1.0)] if outside >= 0 else []
    taken = column(rows).take(np.array(index, np.int64), outside=outside)
    assert lists(taken) == [list(rows[i].items()) if i >= 0 else beyond for i in index]


@RANDOM
@given(rows, st.lists(numbers, unique=True))
def test_located(rows: Rows, keys: list[int]) -> None:
    keys = sorted(keys)
    located = column(rows).located(Places(np.array(keys, np.int64)))
    assert lists(located) == [[(keys.index(k), w) for k, w in row.items() if k in keys] for row in rows]


@RANDOM
@given(rows, st.integers(1, 4), st.booleans())
def test_frequent(rows: Rows, min_count: int, weighted: bool) -> None:
    uses = [r % 3 for r in range(len(rows))] if weighted else [1] * len(rows)
    counts = Counter({k: 0 for row in rows for k in row})
    for n, row in zip(uses, rows, strict=True):
        counts.update(dict.fromkeys(row, n))
    found = frequent(column(rows), np.array(uses, np.int64) if weighted else None, min_count)
    assert found.tolist() == sorted(k for k, n in counts.items() if n >= min_count)


@RANDOM
@given(pairs)
def test_cross(both: tuple[Rows, Rows]) -> None:
    a, b = both
    size = 10**7
    crossed = lists(cross(column(a), column(b), size))
    truth = [[(i * size + j, v * w) for i, v in x.items() for j, w in y.items()] for x, y in zip(a, b, strict=True)]
    assert crossed == truth


@RANDOM
@given(pairs, st.lists(st.integers(-1, 4), min_size=4, max_size=4), st.integers(-1, 3), st.sets(st.integers(0, 99)))
def test_cross_of_other_rows_with_places(
    both: tuple[Rows, Rows], index: list[int], outside: int, numbers: set[int]
) -> None:
    a, b = both
    chosen = [index[r % 4] if index[r % 4] < len(b) else -1 for r in range(len(a))]
    size, lonely = 10**7, {outside: 1.0} if outside >= 0 else {}
    truth = [
        [(i * size + j, v * w) for i, v in x.items() for j, w in (b[k] if k >= 0 else lonely).items()]
        for x, k in zip(a, chosen, strict=True)
    ]
    rows = np.array(chosen, np.int64)
    assert lists(cross(column(a), column(b), size, rows, outside=outside)) == truth
    every = [number for row in truth for number, _ in row]
    keys = sorted({number for n, number in enumerate(every) if n % 2} | numbers)
    places = Places(np.array(keys, np.int64))
    found = lists(cross(column(a), column(b), size, rows, outside=outside, places=places))
    assert found == [[(keys.index(n), w) for n, w in row if n in keys] for row in truth]


@RANDOM
@given(pairs)
def test_stack_and_pile(both: tuple[Rows, Rows]) -> None:
    a, b = both
    beside = [[*x.items(), *y.items()] for x, y in zip(a, b, strict=True)]
    assert lists(stack([Laid(column(a), None), Laid(column(b), None)], len(a))) == beside
    assert lists(pile([column(a), column(b)])) == [list(row.items()) for row in a + b]


@RANDOM
@given(
    st.lists(
        st.tuples(rows, st.lists(st.integers(-1, 4), min_size=3, max_size=3), st.integers(0, 9), st.booleans()),
        max_size=4,
    )
)
def test_lay(parts: list[tuple[Rows, list[int], int, bool]]) -> None:
    chosen, truth = [], list[list[tuple[int, float]]]([[], [], []])
    for rows, index, shift, through in parts:
        at = [i if i < len(rows) else -1 for i in index]
        most = max((k for row in rows for k in row), default=-1)
        table = np.array([k - 1 if k % 3 else -1 for k in range(min(most, 10**5) + 1)], np.int64)
        through = through and most < len(table)
        chosen.append(Laid(column(rows), np.array(at, np.int64), shift, table if through else None))
        for r, i in enumerate(at):
            pairs = rows[i].items() if i >= 0 else ()
            number = {k: int(table[k]) if through else k for k, _ in pairs}
            truth[r] += [(number[k] + shift, w) for k, w in pairs if number[k] >= 0]
    indptr, ids, weights = lay(chosen, 3)
    assert lists(Column(indptr, ids.astype(np.int64), weights if len(weights) else None)) == truth


@RANDOM
@given(st.lists(st.lists(st.sets(st.integers(0, 6), max_size=3), max_size=6), max_size=4), st.booleans())
def test_beyond(sequences: list[list[set[int]]], backwards: bool) -> None:
    rows = [dict.fromkeys(numbers, 1.0) for sequence in sequences for numbers in sequence]
    borders = np.append(0, np.cumsum([len(sequence) for sequence in sequences])).astype(np.int64)
    truth = [
        sorted(set().union(*(sequence[t + 1 :] if backwards else sequence[:t])))
        for sequence in sequences
        for t in range(len(sequence))
    ]
    found = column(rows).beyond(borders, backwards=backwards)
    assert [[number for number, _ in row] for row in lists(found)] == truth


def test_nothing_at_all() -> None:
    assert lists(stack([], 2)) == [[], []]
    assert lists(pile([])) == []
    assert lists(Column.of_one(np.array([3, -1, 0]))) == [[(3, 1.0)], [], [(0, 1.0)]]
