"""Compiled loops, arrays in and arrays out; here, how they are compiled and loaded, and how the arrays lie in memory.

Nothing outside this package imports Numba, and this file does so for the first kernel that is made (`njit`). Compiled
code is kept on disk, so each kind of work is compiled once after installing, and one line on stderr says so.
`ESPALIER_QUIET=1` leaves the line out.

Before Numba loads a function from the disk, it gets ready to compile: it imports everything that compiled code may
call, SciPy's linear algebra among it, and reads the tables of types. That takes a third of a second, and code that is
compiled needs none of it. So it is left out; who really compiles has it done by the compiler. That leans on the inside
of Numba, so it is done with versions that were tried, and any other one is left as it is.

`Lanes` lays sequences out in groups of eight of similar length, one lane each. Group g owns steps
group_ptr[g]..group_ptr[g + 1]-1; step s is rows 8 s .. 8 s + 7, row 8 s + k being lane k's token.
Sorting by length keeps the padding small; rows past the end of a sequence stand for nothing.

`Transitions` has the scores between labels in the form that these kernels take: 'a constant a column plus exceptions'.

    exp(trans[i, j]) = base[j] + δ(i, j),   δ = 0 except for listed pairs

A column from which nothing is forbidden has base 1: a transition never seen in training weighs 0, and only the
weighted ones are exceptions. A column with forbidden entries has base 0 and lists what is allowed. Base 1 subtracts
where a weight is negative; far below zero the difference would lose digits, so such a column gets base 0 too.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLOCK",
    "LANES",
    "LARGEST",
    "VEC_BYTES",
    "Averaged",
    "Lanes",
    "Levels",
    "References",
    "SplitRefs",
    "Steady",
    "Steps",
    "Transitions",
    "aligned",
    "are_compiled",
    "are_loaded",
    "cache_folder",
    "is_tried",
    "largest",
    "njit",
    "padded",
    "worth_loading",
]

QUIET = "ESPALIER_QUIET"
"""A variable of the environment; processes that are started later inherit it, so that one of them speaks for all."""

TRIED = (0, 60), (0, 68)
"""The first and the last version of Numba whose compiled code was loaded so, with the same answers."""

PATIENCE = 24_576
"""Tokens that are scored and decoded without kernels before they are loaded; each expert counts its own.

For so many, NumPy takes as long as loading does: about 120 references."""

COLD_PATIENCE = 32_768
"""The same where they have to be compiled first: about 600 references, which take five seconds without them."""

_seen = 0  # module state, on purpose: kernels are loaded once in a process

LANES = 8
"""Doubles in a Vec."""

VEC_BYTES = 8 * LANES

LARGEST = 250.0
"""Beyond this a product of two exponentials may leave the range of doubles: the log-space kernel takes over."""

BLOCK = 16
"""Labels summed at once: two Vecs, so that two additions are always under way."""

CANCELS_BELOW = -12.0
"""exp(-12) ≈ 6e-6 leaves ten good digits of sixteen after the subtraction."""


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator that compiles a function, as Numba's does; compiled code is loaded without the compiler."""
    numba = _numba()

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        cache: Any = getattr(dispatcher, "_cache", None)
        if options.get("cache") and hasattr(cache, "load_overload") and is_tried(numba.__version__):
            cache.load_overload = _Loader(cache.load_overload)
        return dispatcher

    return decorate


@cache
def _numba() -> Any:
    """Return Numba, which says from now on when it compiles the first kernel; what comes from the disk is no event."""
    import numba
    from numba.core import event

    class Teller(event.Listener):
        def on_start(self, event: Any) -> None:
            function = getattr(event.data.get("dispatcher"), "py_func", None)
            ours = (getattr(function, "__module__", None) or "").startswith("espalier.")
            if ours and not os.environ.get(QUIET):
                os.environ[QUIET] = "1"
                what = "compiling what this kind of work needs, up to half a minute; each kind is compiled once"
                sys.stderr.write(f"espalier: {what} ('espalier warm' compiles all kinds)\n")
                sys.stderr.flush()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Teller())
    return numba


def is_tried(version: str) -> bool:
    """Was a version of Numba tried?"""
    numbers = version.split(".")[:2]
    if not all(number.isdecimal() for number in numbers):
        return False
    return TRIED[0] <= tuple(map(int, numbers)) <= TRIED[1]


class _Loader:
    """Loads what a function has on disk; Numba calls it with its lock held, so that no thread sees the target so."""

    def __init__(self, load: Callable[[Any, Any], Any]) -> None:
        self._load = load

    def __call__(self, signature: Any, target: Any) -> Any:
        """Return the compiled code for a signature, None if there is none."""
        from numba.core.runtime import rtsys

        rtsys.initialize(target)  # what compiled code calls to allocate memory
        target.refresh = lambda: None  # hides the method of the class
        try:
            return self._load(signature, target)
        finally:
            vars(target).pop("refresh", None)


# When kernels are worth loading.


def worth_loading(n_tokens: int) -> bool:
    """Is it time to load the kernels for so many tokens more?

    Numba and a few kernels take half a second and 100 MB, NumPy a few milliseconds more for a short text. So a process
    that parses one reference never loads them, and one that parses for as long as loading takes does. Results do not
    depend on it.
    """
    global _seen
    _seen += n_tokens
    return "numba" in sys.modules or _seen > (PATIENCE if are_compiled() else COLD_PATIENCE)


def are_loaded(n_rows: int) -> bool:
    """Are kernels at hand, or is one pass over so many rows worth loading them?"""
    return "numba" in sys.modules or n_rows > PATIENCE


@cache
def are_compiled() -> bool:
    """Has anybody compiled kernels here before? Numba keeps them beside the sources, or where it is told to."""
    places = [cache_folder()] if os.environ.get("NUMBA_CACHE_DIR") else [cache_folder(), *_user_caches()]
    return any(next(place.rglob("*tagging*.nbi"), None) for place in places if place.is_dir())


def cache_folder() -> Path:
    """Return where compiled kernels are kept, if it can be written."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    return Path(given) if given else Path(__file__).parent / "__pycache__"


def _user_caches() -> list[Path]:
    """Where Numba keeps compiled code if it may not write beside the sources."""
    home = Path.home()
    local = os.environ.get("LOCALAPPDATA")
    found = [Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "numba", home / "Library" / "Caches" / "numba"]
    return [*found, *([Path(local) / "numba"] if local else [])]


# How arrays lie.


def padded(n_labels: int) -> int:
    """Return the row length for so many labels."""
    return (n_labels + BLOCK - 1) // BLOCK * BLOCK


def aligned(*shape: int, dtype: type = np.float64, empty: bool = False) -> np.ndarray:
    """Return zeros (or, `empty`, anything) that begin on a 64-byte border, so that no Vec straddles two cache lines."""
    size, item = math.prod(shape), np.dtype(dtype).itemsize
    raw: np.ndarray = (np.empty if empty else np.zeros)(size + 64 // item, dtype)
    skip = (-raw.ctypes.data % 64) // item
    return raw[skip : skip + size].reshape(shape)


class Levels(NamedTuple):
    """A feature matrix as kernels take it; see `FeatureMatrix`."""

    token_ptr: NDArray[np.int64]
    token_refs: NDArray[np.int32]
    token_values: NDArray[np.float64]
    bundle_ptr: NDArray[np.int64]
    bundle_ids: NDArray[np.int32]
    bundle_values: NDArray[np.float64]


class References(NamedTuple):
    """Rows that items refer to: item r adds those that refs[ptr[r]:ptr[r + 1]] name, times `values` (none: all one).

    address : int64, where the row of padded(L) doubles of each reference lies; 0 stands for an attribute whose few
    weights, w[pair_ptr[a]:pair_ptr[a + 1]] of the labels pair_label, are added one by one.
    """

    ptr: NDArray[np.int64]
    refs: NDArray[np.int32]
    values: NDArray[np.float64]
    address: NDArray[np.int64]
    pair_ptr: NDArray[np.int64]
    pair_label: NDArray[np.int16]
    w: NDArray[np.float64]


class SplitRefs(NamedTuple):
    """What items refer to, in two parts: rows of a dense table, and attributes whose weights are added one by one.

    dense_ptr, narrow_ptr : int64[n + 1]; dense_rows, narrow_refs : int32; the values beside them are empty if all are
    one.
    """

    dense_ptr: NDArray[np.int64]
    dense_rows: NDArray[np.int32]
    dense_values: NDArray[np.float64]
    narrow_ptr: NDArray[np.int64]
    narrow_refs: NDArray[np.int32]
    narrow_values: NDArray[np.float64]


class Averaged(NamedTuple):
    """Weights of attributes and labels, of transitions, of first and last labels, on their way.

    Each stands before its sum over steps of step times change, from which averages are made: *_u.
    """

    w: NDArray[np.float64]
    w_u: NDArray[np.float64]
    trans: NDArray[np.float64]
    trans_u: NDArray[np.float64]
    start: NDArray[np.float64]
    start_u: NDArray[np.float64]
    end: NDArray[np.float64]
    end_u: NDArray[np.float64]


def largest(scores: NDArray[np.float64]) -> float:
    """Return the largest of the finite scores, whatever its sign, 0 if there is none."""
    size = np.abs(scores)
    found = float(size.max(initial=0.0))
    return found if found < np.inf else float(size.max(where=size < np.inf, initial=0.0))


class Steady:
    """A function of arrays that are mostly the same ones again: its last four answers are kept.

    A model has the same transitions always; a cascade of experts has those of the first and of all, each at a
    temperature.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Begin with no answers."""
        self._function = function
        self._latest: tuple[tuple[tuple[bytes, ...], Any], ...] = ()

    def __call__(self, *arrays: NDArray[Any]) -> Any:
        """Return the function's answer, which nobody may write to."""
        key, known = tuple(array.tobytes() for array in arrays), self._latest  # one read: another thread may write
        for other, found in known:
            if other == key:
                return found
        found = self._function(*arrays)
        self._latest = (key, found), *known[:3]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """Where every sequence and token of a corpus lies.

    group_ptr : int64[G + 1]; lengths, sequence : int64[8 G], tokens and index of the sequence in each lane (0 and -1
    in empty lanes); row_of_token : int64[M]; token_of_row : int64[n_rows], -1 for padding.
    """

    group_ptr: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sequence: NDArray[np.int64]
    row_of_token: NDArray[np.int64]
    token_of_row: NDArray[np.int64]

    @classmethod
    def of(cls, indptr: NDArray[np.int64]) -> Lanes:
        """Arrange the sequences of a corpus; empty ones take no lane."""
        return _lanes_of_one(int(indptr[1])) if len(indptr) == 2 else cls._of(indptr)

    @classmethod
    def _of(cls, indptr: NDArray[np.int64]) -> Lanes:
        lengths = np.diff(indptr)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        n_groups = -(-len(order) // LANES)
        sequence = np.full(n_groups * LANES, -1, np.int64)
        sequence[: len(order)] = order
        lane_lengths = np.where(sequence >= 0, lengths[sequence], 0) if len(order) else sequence
        steps = lane_lengths.reshape(n_groups, LANES).max(axis=1) if n_groups else np.zeros(0, np.int64)
        group_ptr = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)

        # Token t of the sequence in lane k of group g is row 8 (group_ptr[g] + t) + k.
        lane = np.flatnonzero(sequence >= 0)
        first_row = np.zeros(len(lengths), np.int64)
        first_row[sequence[lane]] = LANES * group_ptr[lane // LANES] + lane % LANES
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        row_of_token = np.repeat(first_row, lengths) + LANES * within
        token_of_row = np.full(LANES * group_ptr[-1], -1, np.int64)
        token_of_row[row_of_token] = np.arange(len(row_of_token))
        return cls(group_ptr, lane_lengths, sequence, row_of_token, token_of_row)

    @property
    def n_groups(self) -> int:
        """G."""
        return len(self.group_ptr) - 1

    @property
    def n_rows(self) -> int:
        """Rows in all, padding included."""
        return len(self.token_of_row)


class Steps(NamedTuple):
    """Weights between labels, as `forward_backward_lanes` takes them: start, end, base : float64[L], and exceptions.

    in_ptr, source, in_delta : exceptions by target label; out_ptr, target, out_delta, slot : by source label, slot
    being the number of the exception in the order of targets.
    """

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    base: NDArray[np.float64]
    in_ptr: NDArray[np.int64]
    source: NDArray[np.int32]
    in_delta: NDArray[np.float64]
    out_ptr: NDArray[np.int64]
    target: NDArray[np.int32]
    out_delta: NDArray[np.float64]
    slot: NDArray[np.int64]


@lru_cache(maxsize=256)
def _lanes_of_one(n_tokens: int) -> Lanes:
    """Return the lanes of one sequence: most texts that are read one by one have a length that was met before."""
    return Lanes._of(np.array([0, n_tokens]))


def _has_base_one(trans: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns forbid nothing and subtract nothing that matters?  (-inf is below any bound.)"""
    return np.asarray(trans.min(axis=0) > CANCELS_BELOW)


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """One transition matrix, ready for `forward_backward_lanes`.

    trans : float64[L, L]; base : float64[L]; source, target : int32[n], the exceptions in column order;
    in_ptr : int64[L + 1] over them; out_ptr, out_target, out_slot : the same by row, out_slot being the index in
    column order.
    """

    trans: NDArray[np.float64]
    base: NDArray[np.float64]
    in_ptr: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    out_ptr: NDArray[np.int64]
    out_target: NDArray[np.int32]
    out_slot: NDArray[np.int64]

    @classmethod
    def of(cls, trans: NDArray[np.float64], always: NDArray[np.bool_] | None = None) -> Transitions:
        """Find bases and exceptions; `always` marks pairs to list even at weight 0 (those being learned)."""
        L = len(trans)
        one = _has_base_one(trans)
        listed = np.where(one[None, :], trans != 0, np.isfinite(trans))
        if always is not None:
            listed |= always & np.isfinite(trans)
        target, source = np.nonzero(listed.T)
        by_row = np.lexsort((target, source))
        return cls(
            trans,
            one.astype(np.float64),
            np.searchsorted(target, np.arange(L + 1)).astype(np.int64),
            source.astype(np.int32),
            target.astype(np.int32),
            np.searchsorted(source[by_row], np.arange(L + 1)).astype(np.int64),
            target[by_row].astype(np.int32),
            by_row.astype(np.int64),
        )

    def updated(self, trans: NDArray[np.float64], always: NDArray[np.bool_]) -> Transitions:
        """Exchange the weights; bases and exceptions are found anew only if a column's base must change.

        Only pairs of `always` may differ from the old weights.
        """
        if np.array_equal(_has_base_one(trans), self.base > 0):
            return replace(self, trans=trans)
        return Transitions.of(trans, always)

    def exponentials(self) -> NDArray[np.float64]:
        """e^w of every exception, in column order; cut off at `LARGEST`, beyond which no kernel looks at it."""
        return np.asarray(np.exp(np.minimum(self.trans[self.source, self.target], LARGEST)))

    def deltas(self) -> NDArray[np.float64]:
        """δ of every exception, in column order."""
        return self.exponentials() - self.base[self.target]

    def steps(self, start: NDArray[np.float64], end: NDArray[np.float64]) -> Steps:
        """Return them as the kernel takes them, with e to the scores of first and last labels."""
        delta = self.deltas()
        return Steps(
            start, end, self.base, self.in_ptr, self.source, delta,
            self.out_ptr, self.out_target, delta[self.out_slot], self.out_slot,
        )  # fmt: skip
