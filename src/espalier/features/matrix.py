"""`FeatureMatrix`: which attributes each token has, in two levels: tokens -> bundles -> attributes.

Most attributes of a token depend on one word type alone (its shape, its suffixes, the lower form of its
left neighbour ...), so the same set of attributes returns wherever the word does. Such a set is stored
once, as a *bundle*; a token refers to a handful of bundles and to the few attributes of its own. Scores of
bundles are computed once a pass, gradients flow back through the same two levels. The product is exactly
the flat token x attribute matrix (`to_csr`), several times smaller.

`GivenIndex` is the vocabulary for people who bring their own attributes, as one does for CRFsuite: a token is a list of
names, or a mapping from name to value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, Place

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Attributes", "FeatureMatrix", "GivenIndex"]

Attributes = Iterable[Sequence[Iterable[str] | Mapping[str, float]]]
"""Sequences of tokens, each token its attributes."""

_NO_VALUES = np.zeros(0)


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

    @classmethod
    def trusted(cls, n_attributes: int, *arrays: NDArray[Any]) -> FeatureMatrix:
        """Return a matrix without values whose arrays have the right types and are known to be in order."""
        made = object.__new__(cls)
        names = ("token_indptr", "token_refs", "bundle_indptr", "bundle_ids", "token_values", "bundle_values")
        object.__setattr__(made, "n_attributes", n_attributes)
        for name, array in zip(names, (*arrays, _NO_VALUES, _NO_VALUES), strict=True):
            object.__setattr__(made, name, array)
        return made

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
                    pairs, weighted = attributes.items(), True
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
