"""`Raw`: the values that a field gives to each row, before any vocabulary: distinct strings and their numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from espalier.errors import InputError
from espalier.features.columns import Column

__all__ = ["Raw", "Result", "intern"]

Result = str | Iterable[str] | Mapping[str, float] | None
"""What a field says of one row: a value, several, several with weights, or nothing."""


class Raw(NamedTuple):
    """Distinct values, in order of first appearance, and for each row the numbers of its values."""

    values: Sequence[str]
    column: Column

    def rows(self) -> list[list[str]]:
        """Return the values of each row."""
        ends, found = self.column.indptr.tolist(), [self.values[k] for k in self.column.ids.tolist()]
        return [found[a:b] for a, b in pairwise(ends)]


def intern(results: Sequence[Result], where: Callable[[int], str] = str) -> Raw:
    """Number the values of R rows.

    A row's value listed twice counts once; a weight of zero is an absent value; a weight must be finite.
    `where` names a row in errors.
    """
    if set(map(type, results)) <= {str, type(None)}:
        index: defaultdict[Any, int] = defaultdict()
        index.default_factory = index.__len__  # a new value gets the next number
        ids = np.fromiter(map(index.__getitem__, results), np.int64, len(results))
        column = Column.of_one(ids)
        if None in index:
            # None took a number of its own; take it out and close the gap.
            table = np.arange(len(index))
            table[index[None] :] -= 1
            table[index.pop(None)] = -1
            column = column.mapped(table)
        return Raw(list(index), column)
    known: dict[Any, int] = {}
    numbers, weights, indptr = [], [], [0]
    for r, result in enumerate(results):
        if result is not None:
            for value, weight in _pairs(result, r, where):
                numbers.append(known.setdefault(value, len(known)))
                weights.append(weight)
        indptr.append(len(numbers))
    given = np.asarray(weights, np.float64)
    column = Column(np.asarray(indptr, np.int64), np.asarray(numbers, np.int64), None if (given == 1).all() else given)
    return Raw(list(known), column)


def _pairs(result: Any, row: int, where: Callable[[int], str]) -> Iterator[tuple[str, float]]:
    """Return the (value, weight) pairs of one row that has some; raise if it is something else."""
    if isinstance(result, str):
        yield result, 1.0
    elif isinstance(result, Mapping):
        for value, weight in result.items():
            if not isinstance(value, str) or not isinstance(weight, (int, float, np.number)):
                raise InputError(f"{where(row)}: expected names with numbers, found {value!r}: {weight!r}")
            if not math.isfinite(weight):
                raise InputError(f"{where(row)}: the value of {value!r} is {weight}, which is not finite")
            if weight:
                yield value, float(weight)
    elif isinstance(result, Iterable):
        for value in dict.fromkeys(result):
            if not isinstance(value, str):
                raise InputError(f"{where(row)}: values must be strings; found {value!r}")
            yield value, 1.0
    else:
        raise InputError(
            f"{where(row)}: expected a string, a list of strings, a mapping from names to numbers or None; "
            f"found {result!r}"
        )
