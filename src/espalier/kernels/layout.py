"""Arrays that belong together, as the compiled decoders take them: a model, tokens, rules that count, machines.

M tokens in N sequences, L labels, C classes of transitions, P patterns of conditions, R rows of rules that count, and Q
machines. No kernel is here, so that whoever makes these arrays need not load Numba. Loops take what they read out of
the tuple first: each look into one counts a reference.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["ChainArrays", "ChargedRows", "Counting", "Lists", "Machines", "Tables", "Tokens"]


class ChainArrays(NamedTuple):
    """start, end : float64[L]; moves, matrices : float64[C, L + 1, L] and float64[C, L + 1, padded(L)].

    moves : the transitions by target, -inf on the diagonal, then the diagonal; matrices : the same by source, aligned.
    """

    start: Any
    end: Any
    moves: Any
    matrices: Any


class Tokens(NamedTuple):
    """unary : float64[M, L]; pattern : int64[M], which conditions hold at each token, as a number; kind : int32[M].

    charges : float64[P, padded(L)] and prices : float64[P] of each pattern.
    """

    unary: Any
    pattern: Any
    charges: Any
    prices: Any
    kind: Any


class ChargedRows(NamedTuple):
    """rows : float64[n, padded(L)], scores minus charges, labels beyond L not defined; change : float64[n], c.

    kind : int32[n], the matrix that leads into each row; pattern : int64[n].
    """

    rows: Any
    change: Any
    kind: Any
    pattern: Any


class Counting(NamedTuple):
    """label_ptr, label_row, label_open, label_token : the rows a segment and a token of each label count in, by label.

    bound : float64[R]; drift : int64[R], 1 where no coefficient is negative, -1 where none is positive, else 0.
    """

    label_ptr: Any
    label_row: Any
    label_open: Any
    label_token: Any
    bound: Any
    drift: Any


class Tables(NamedTuple):
    """Machines that read a labelling, see `parts`: ptr, n_classes, end_ptr : int64[Q]; after : int16[E].

    paid : float64[E]; ending : float64[S], what the end costs, or less where that is not known; closing : the same, but
    inf where it is not known. class_of : int16[P, Q], the class of each pattern; label_of : int64[L'], the label behind
    each state of the chain, if labels are split (see `decoders.batch`), else 0, 1, ...; n_labels : of the rules.
    """

    ptr: Any
    n_classes: Any
    end_ptr: Any
    after: Any
    paid: Any
    ending: Any
    closing: Any
    class_of: Any
    label_of: Any
    n_labels: Any


class Machines(NamedTuple):
    """active : int64[A], the parts that take part; shift : uint64[A + 1], the bits of a node's states that each has."""

    active: Any
    shift: Any
    parts: Any


class Lists(NamedTuple):
    """labels : int16[k, M]; scores : float64[N, k], -inf where there is none.

    rest : float64[N], what any labelling that is not listed scores at most: where it is above the k-th score, that one
    is not proven.
    """

    labels: Any
    scores: Any
    rest: Any
