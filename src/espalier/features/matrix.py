"""Which attributes each token has: `FeatureMatrix`, in two levels, tokens -> bundles -> attributes, and its columns.

Most attributes of a token depend on one word type alone (its shape, its suffixes, the lower form of its
left neighbour ...), so the same set of attributes returns wherever the word does. Such a set is stored
once, as a *bundle*; a token refers to a handful of bundles and to the few attributes of its own. Scores of
bundles are computed once a pass, gradients flow back through the same two levels. The product is exactly
the flat token x attribute matrix (`to_csr`), several times smaller.

`GivenIndex` is the vocabulary for people who bring their own attributes, as one does for CRFsuite: a token is a list of
names, or a mapping from name to value.

`Column`: the numbers that stand in every row (a word type or a token), in CSR form; `Raw`: with their strings.

The whole of feature extraction is a few operations on columns: take rows, look numbers up in a locked list,
cross two columns, lay columns side by side. Those over all tokens are compiled (`espalier.kernels.columns`), or NumPy's
while no kernel is worth loading (`espalier.features.columns`); the others are a handful of NumPy calls.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from espalier import kernels
from espalier.errors import InputError, Place
from espalier.features import columns
from espalier.kernels import Levels

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "Attributes",
    "Column",
    "FeatureMatrix",
    "GivenIndex",
    "Laid",
    "Places",
    "Raw",
    "Result",
    "cross",
    "frequent",
    "intern",
    "lay",
    "pile",
    "side_by_side",
    "stack",
]

Ints = NDArray[np.int64]
Csr = tuple[Ints, Ints, NDArray[np.float64]]

_ALL_ONE = np.zeros(0)
_INT64 = np.dtype(np.int64)


class Column(NamedTuple):
    """R rows of numbers.

    Attributes
    ----------
    indptr : int64[R + 1]; row r holds ids[indptr[r]:indptr[r + 1]].
    ids : int64[nnz], never negative; no number stands twice in a row.
    weights : float64[nnz] beside ids; None if every weight is one.
    """

    indptr: Ints
    ids: Ints
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of_one(cls, ids: NDArray[np.integer]) -> Column:
        """Make a column with one number a row, none where it is -1."""
        keep = ids >= 0
        if keep.all():
            return cls(np.arange(len(ids) + 1), ids.astype(np.int64))
        return cls(_indptr(keep.astype(np.int64)), ids[keep].astype(np.int64))

    @classmethod
    def where(cls, holds: NDArray[np.bool_]) -> Column:
        """Make a column whose row r has the numbers k where holds[r, k]."""
        return cls(_indptr(holds.sum(axis=1)), np.ascontiguousarray(np.nonzero(holds)[1]))

    @property
    def n_rows(self) -> int:
        """R."""
        return len(self.indptr) - 1

    @property
    def lengths(self) -> Ints:
        """Numbers in each row, int64[R]."""
        return self.indptr[1:] - self.indptr[:-1]

    def rows(self) -> Ints:
        """Return the row of each entry, int64[nnz]."""
        return np.repeat(np.arange(self.n_rows), self.lengths)

    def take(self, index: NDArray[np.integer], *, outside: int = -1) -> Column:
        """Return the rows at `index`; the row -1 holds the number `outside`, or nothing if that is negative."""
        return self._like(_operations(len(index)).take_rows(*self._csr, _ints(index), outside))

    def mapped(self, table: NDArray[np.integer]) -> Column:
        """Replace each number by table[number]; drop what becomes -1."""
        return self._like(_operations(len(self.ids)).map_numbers(*self._csr, _ints(table)))

    def located(self, places: Places) -> Column:
        """Replace each number by its place; drop the numbers that have none."""
        if places.whole and self.ids.max(initial=-1) < len(places):
            return self
        return self._like(_operations(len(self.ids)).locate(*self._csr, *places.table))

    def beyond(self, sequences: Ints, *, backwards: bool) -> Column:
        """Return the numbers of all rows before each row (or after it) in its sequence, each once, in order.

        sequences : int64[N + 1], their borders. Weights are not looked at.
        """
        collect = _operations(self.n_rows).collect_beyond
        return Column(*collect(*self._csr[:2], _ints(sequences), backwards))

    def within(self, rows: Ints, borders: Ints) -> Column:
        """Return the numbers of row rows[t] for all t of each stretch, each once, in order; -1 has none.

        borders : int64[U + 1], where stretches begin and end. Weights are not looked at.
        """
        collect = _operations(len(rows)).collect_within
        return Column(*collect(*self._csr[:2], _ints(rows), _ints(borders)))

    @property
    def _csr(self) -> Csr:
        """What kernels take: weights are an empty array where all are one."""
        return _ints(self.indptr), _ints(self.ids), _ALL_ONE if self.weights is None else self.weights

    def _like(self, csr: Csr) -> Column:
        """Return what a kernel made of this column, with weights if it has some."""
        return Column(csr[0], csr[1], csr[2] if self.weights is not None and len(self.weights) else None)


def _operations(n: int) -> Any:
    """Return the operations on so many rows or numbers: compiled, unless kernels had to be loaded for few."""
    return _compiled() if kernels.are_loaded(n) else columns


@cache
def _compiled() -> Any:
    from espalier.kernels import columns as compiled

    return compiled


class Places:
    """The places of sorted, distinct numbers, none negative.

    keys : int64[n]; whole : are they 0..n-1?; table : what `kernels.columns.locate` takes. Numbers with the same upper
    bits are a bucket, of about one key, so that finding a number takes few steps.
    """

    __slots__ = ("keys", "table", "whole")

    def __init__(self, keys: Ints) -> None:
        """Lay out the buckets."""
        self.keys = _ints(keys)
        top = int(keys[-1]) if len(keys) else -1
        self.whole = top == len(keys) - 1
        shift = max(0, top.bit_length() - len(keys).bit_length() - 1)
        borders = np.arange((top >> shift) + 2) << shift
        self.table = (self.keys, np.searchsorted(self.keys, borders), shift)

    def __len__(self) -> int:
        """Count the keys."""
        return len(self.keys)


_NO_TABLE = (np.zeros(0, np.int64), np.zeros(0, np.int64), -1)


def frequent(column: Column, uses: Ints | None, min_count: int) -> Ints:
    """Return the numbers that occur at least `min_count` times, sorted; row r counts uses[r] times (None: once)."""
    if len(column.ids) == 0:
        return np.zeros(0, np.int64)
    weights = None if uses is None else uses[column.rows()]
    top = int(column.ids.max())
    if top <= 8 * len(column.ids) + 1024:  # a table of top + 1 places is cheap
        return np.flatnonzero(np.bincount(column.ids, weights) >= min_count)
    keys, inverse = np.unique(column.ids, return_inverse=True)
    kept: Ints = keys[np.bincount(inverse, weights) >= min_count]
    return kept


def cross(
    a: Column, b: Column, size: int, rows: Ints | None = None, *, outside: int = -1, places: Places | None = None
) -> Column:
    """Return every pair (i, j) of a row of a and of b as the number i * size + j; weights multiply. All j < size.

    rows : which row of b stands beside each row of a, by None the same; the row -1 holds the number `outside`, or
    nothing if that is negative. places : by which numbers are replaced at once; those without a place are dropped.
    """
    beside = np.arange(a.n_rows) if rows is None else _ints(rows)
    table = _NO_TABLE if places is None else places.table
    indptr, ids, weights = _operations(a.n_rows).cross_rows(*a._csr, *b._csr, beside, outside, size, *table)
    return Column(indptr, ids, None if a.weights is None and b.weights is None else weights)


class Laid(NamedTuple):
    """A part of rows that are laid side by side: numbers plus `shift` of row rows[r] of a column, none if -1.

    rows : None is every row in turn. table : table[number] stands for each number, which is dropped if that is -1.
    """

    column: Column
    rows: Ints | None
    shift: int = 0
    table: Ints | None = None

    def at(self, members: Ints) -> Laid:
        """Return the part whose row r is row members[r] of this one, none if that is -1."""
        rows = members if self.rows is None else np.where(members < 0, -1, self.rows[members])
        return Laid(self.column, rows, self.shift, self.table)

    @property
    def own(self) -> Column:
        """The rows as a column, without the shift."""
        column = self.column if self.rows is None else self.column.take(self.rows)
        return column if self.table is None else column.mapped(self.table)

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.column.n_rows if self.rows is None else len(self.rows)


def lay(parts: Sequence[Laid], n_rows: int) -> tuple[Ints, NDArray[np.int32], NDArray[np.float64]]:
    """Lay parts side by side: each row holds the numbers of all of them, in their order.

    Returns indptr, int64; ids, int32; weights, float64, empty if all are one.
    """
    weighted = any(part.column.weights is not None for part in parts)
    every = np.arange(n_rows)
    csr = [
        (
            *part.column._csr,
            every if part.rows is None else _ints(part.rows),
            part.shift,
            None if part.table is None else _ints(part.table),
        )
        for part in parts
    ]
    found: tuple[Ints, NDArray[np.int32], NDArray[np.float64]] = _operations(n_rows).lay(csr, n_rows, weighted)
    return found


def stack(parts: Sequence[Laid], n_rows: int) -> Column:
    """Lay parts side by side, as one column."""
    if len(parts) == 1 and not parts[0].shift:
        return parts[0].own
    indptr, ids, weights = lay(parts, n_rows)
    return Column(indptr, ids.astype(np.int64), weights if len(weights) else None)


def pile(columns: Sequence[Column]) -> Column:
    """Lay columns end to end: first all rows of the first, then all rows of the second ..."""
    lengths = np.concatenate([np.zeros(0, np.int64), *(c.lengths for c in columns)])
    ids = np.concatenate([np.zeros(0, np.int64), *(c.ids for c in columns)])
    if all(c.weights is None for c in columns):
        return Column(_indptr(lengths), ids)
    weights = np.concatenate([np.ones(len(c.ids)) if c.weights is None else c.weights for c in columns])
    return Column(_indptr(lengths), ids, weights)


def _indptr(lengths: Ints) -> Ints:
    """Return the borders of rows of these lengths."""
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def _ints(array: NDArray[np.integer]) -> Ints:
    """Return the numbers as kernels take them, whatever made them: one kind of array is one compilation."""
    if array.dtype == _INT64 and array.flags.carray:  # nearly all are, and asking is much quicker than `require`
        return cast(Ints, array)
    return np.require(array, np.int64, ("C", "W"))


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
                raise InputError(f"{where(row)}: values must be strings", hint=f"found {value!r}")
            yield value, 1.0
    else:
        raise InputError(
            f"{where(row)}: expected a string, a list of strings, a mapping from names to numbers or None",
            hint=f"found {result!r}",
        )


# The matrix.


Attributes = Iterable[Sequence[Iterable[str] | Mapping[str, float]]]
"""Sequences of tokens, each token its attributes."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMatrix:
    """M tokens x A attributes.

    Attributes
    ----------
    n_attributes : A.
    token_indptr : int64[M + 1]; token m refers to token_refs[token_indptr[m]:token_indptr[m + 1]].
    token_refs : int32; a number below A is that attribute, A + r is bundle r.
    bundle_indptr, bundle_ids : int64[R + 1] and int32; the attributes of bundle r.
    token_values, bundle_values : float64 beside token_refs and bundle_ids; empty if every value is one.
    """

    n_attributes: int
    token_indptr: NDArray[np.int64]
    token_refs: NDArray[np.int32]
    bundle_indptr: NDArray[np.int64]
    bundle_ids: NDArray[np.int32]
    token_values: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    bundle_values: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Fix the types and check the references: kernels follow them by address."""
        types = {"token_indptr": np.int64, "bundle_indptr": np.int64, "token_refs": np.int32, "bundle_ids": np.int32}
        for name in ("token_indptr", "token_refs", "bundle_indptr", "bundle_ids", "token_values", "bundle_values"):
            array = np.ascontiguousarray(getattr(self, name), dtype=types.get(name, np.float64))
            object.__setattr__(self, name, array)
        _check_level(self.token_indptr, self.token_refs, self.token_values, self.n_attributes + self.n_bundles, "token")
        _check_level(self.bundle_indptr, self.bundle_ids, self.bundle_values, self.n_attributes, "bundle")

    @property
    def levels(self) -> Levels:
        """Both levels as kernels take them."""
        tokens = (self.token_indptr, self.token_refs, self.token_values)
        return Levels(*tokens, self.bundle_indptr, self.bundle_ids, self.bundle_values)

    @property
    def n_tokens(self) -> int:
        """M."""
        return len(self.token_indptr) - 1

    @property
    def n_bundles(self) -> int:
        """R."""
        return len(self.bundle_indptr) - 1

    def to_csr(self) -> csr_array:
        """Return the flat token x attribute matrix: the meaning of the two levels (for tests and for SciPy)."""
        from scipy.sparse import csr_array, eye_array, vstack

        A, R = self.n_attributes, self.n_bundles
        token_values = self.token_values if len(self.token_values) else np.ones(len(self.token_refs))
        bundle_values = self.bundle_values if len(self.bundle_values) else np.ones(len(self.bundle_ids))
        tokens = csr_array((token_values, self.token_refs, self.token_indptr), shape=(self.n_tokens, A + R))
        bundles = csr_array((bundle_values, self.bundle_ids, self.bundle_indptr), shape=(R, A))
        flat = csr_array(tokens @ vstack([eye_array(A), bundles], format="csr"))
        flat.sum_duplicates()
        return flat

    @classmethod
    def from_attributes(cls, sequences: Attributes, vocabulary: dict[str, int], *, grow: bool = False) -> FeatureMatrix:
        """Build from ready attributes: per token a list of names or a mapping from name to value.

        With `grow` new names enter the vocabulary (training); without it they are ignored (prediction).
        """
        indptr: list[int] = [0]
        refs: list[int] = []
        values: list[float] = []
        weighted = False
        for i, sequence in enumerate(sequences):
            for t, attributes in enumerate(sequence):
                pairs: Iterable[tuple[str, Any]]
                if isinstance(attributes, Mapping):
                    pairs, weighted = _named(attributes), True
                elif isinstance(attributes, np.ndarray):
                    pairs, weighted = _numbered("vector", attributes), True
                elif isinstance(attributes, str):
                    raise InputError(Place(i, t), ": attributes must be a list or a mapping, not a string")
                else:
                    pairs = ((name, 1.0) for name in attributes)
                for name, value in pairs:
                    if isinstance(value, str):  # {"word": "the"} is the attribute "word=the", as in CRFsuite
                        name, value = f"{name}={value}", 1.0
                    k = vocabulary.setdefault(name, len(vocabulary)) if grow else vocabulary.get(name, -1)
                    if k >= 0:
                        refs.append(k)
                        values.append(_finite(value, Place(i, t), name))
                indptr.append(len(refs))
        token_values = np.asarray(values, np.float64) if weighted else np.zeros(0)
        if len(token_values) and (token_values == 1.0).all():
            token_values = np.zeros(0)
        return cls(
            len(vocabulary),
            np.asarray(indptr, np.int64),
            np.asarray(refs, np.int32),
            np.zeros(1, np.int64),
            np.zeros(0, np.int32),
            token_values,
        )


def _named(attributes: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the names and values of a mapping, each number of a vector by itself; the word is for templates."""
    for name, value in attributes.items():
        if isinstance(value, np.ndarray) and value.ndim:
            yield from _numbered(name, value)
        elif name != WORD:
            yield name, value


def _numbered(name: Any, vector: NDArray[Any]) -> Iterator[tuple[Any, Any]]:
    return ((f"{name}:{d}", value) for d, value in enumerate(vector.ravel().tolist()))


def _finite(value: Any, where: Place, name: str) -> float:
    """Return the value of an attribute as a float, or say where it is not a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        what = f": attribute {name!r} has the value {str(value)[:40]}"
        raise InputError(where, what, hint="expected a finite number, a string or a truth value")
    return number


def _check_level(
    indptr: NDArray[np.int64], refs: NDArray[np.int32], values: NDArray[np.float64], limit: int, what: str
) -> None:
    """Raise unless the rows cover the references and every reference exists."""
    if indptr[0] != 0 or indptr[-1] != len(refs) or (np.diff(indptr) < 0).any():
        raise InputError(f"the borders of the {what}s do not rise from 0 to {len(refs)}, the number of references")
    if len(refs) and not 0 <= refs.min() <= refs.max() < limit:
        raise InputError(f"a {what} refers to number {refs.max()} or {refs.min()}", hint=f"there are {limit}")
    if len(values) not in (0, len(refs)):
        raise InputError(f"{len(refs)} references of {what}s but {len(values)} values")


WORD = "token"
"""The entry of a mapping that is the word of its token."""


class GivenIndex:
    """Attribute names, locked after training: names that training did not see are ignored."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Number the names in their order."""
        self.vocabulary = {name: k for k, name in enumerate(names)}

    @classmethod
    def fit_transform(cls, sequences: Attributes, min_count: int = 1) -> tuple[GivenIndex, FeatureMatrix]:
        """Learn the names, and return the matrix too; min_count : names on fewer tokens are dropped."""
        index = cls()
        matrix = FeatureMatrix.from_attributes(sequences, index.vocabulary, grow=True)
        if min_count <= 1:
            return index, matrix
        often = np.bincount(matrix.token_refs, minlength=matrix.n_attributes) >= min_count
        index = cls(name for name, kept in zip(index.vocabulary, often.tolist(), strict=True) if kept)
        return index, index.transform(sequences)

    def transform(self, sequences: Attributes) -> FeatureMatrix:
        """Return the matrix of new sequences."""
        return FeatureMatrix.from_attributes(sequences, self.vocabulary)

    @property
    def n_attributes(self) -> int:
        """A."""
        return len(self.vocabulary)

    def names(self) -> tuple[str, ...]:
        """Return the name of each attribute."""
        return tuple(self.vocabulary)

    def to_state(self) -> dict[str, Any]:
        """Return the names as UTF-8 text and lengths in characters, for model files."""
        names = self.names()
        text = np.frombuffer("".join(names).encode("utf-8", "surrogatepass"), np.uint8)
        return {
            "features": {"given": True},
            "names/text": text,
            "names/lengths": np.array([len(n) for n in names], np.int64),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> GivenIndex:
        """Return the index that `to_state` described."""
        text = bytes(np.asarray(state["names/text"], np.uint8)).decode("utf-8", "surrogatepass")
        ends: NDArray[np.int64] = np.cumsum(np.asarray(state["names/lengths"], np.int64))
        starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        return cls(text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True))


def side_by_side(one: FeatureMatrix, other: FeatureMatrix) -> FeatureMatrix:
    """Return a matrix with the attributes of two, those of `one` first; `other` has no bundles."""
    A, B, M = one.n_attributes, other.n_attributes, one.n_tokens
    lengths = [np.diff(matrix.token_indptr) for matrix in (one, other)]
    indptr = np.append(0, np.cumsum(lengths[0] + lengths[1])).astype(np.int64)
    refs = np.empty(indptr[-1], np.int32)
    values = np.ones(indptr[-1])
    moved = np.where(one.token_refs >= A, one.token_refs + B, one.token_refs)  # bundles come after all attributes
    before = np.zeros(M, np.int64)
    for matrix, own, n in ((one, moved, lengths[0]), (other, other.token_refs + A, lengths[1])):
        place = np.repeat(indptr[:-1] + before - matrix.token_indptr[:-1], n) + np.arange(matrix.token_indptr[-1])
        refs[place] = own
        values[place] = matrix.token_values if len(matrix.token_values) else 1.0
        before = n
    weighted = len(one.token_values) or len(other.token_values)
    return FeatureMatrix(
        A + B, indptr, refs, one.bundle_indptr, one.bundle_ids, values if weighted else np.zeros(0), one.bundle_values
    )
