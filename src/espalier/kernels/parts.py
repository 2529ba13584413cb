"""Small machines that read a labelling from left to right, as tables in one array: what they charge for labellings.

Part q has states 0.. (0: the beginning) and reads, at each token, a class c of conditions, the label i before (L: none)
and the label j. Entry ptr[q] + ((state n_classes[q] + c)(L + 1) + i) L + j of the arrays `after` and `paid` is the
next state and what the step costs. The arrays are `layout.Tables`.
"""

from __future__ import annotations

from espalier.kernels import njit

__all__ = ["charge_part", "charge_parts", "part_entry"]


@njit(cache=True, nogil=True, inline="always")
def part_entry(first, n_classes, L, state, c, i, j):
    """The place of a step in the tables of a part that begin at `first`; i, j : labels, not states of the chain."""
    return first + ((state * n_classes + c) * (L + 1) + i) * L + j


@njit(cache=True, nogil=True)
def charge_part(q, path, pattern, parts):
    """Return what the steps of part q cost for a labelling, and where the end stands in `ending`."""
    after, paid, class_of, label_of = parts.after, parts.paid, parts.class_of, parts.label_of
    L, first, n = parts.n_labels, parts.ptr[q], parts.n_classes[q]
    state, i, total = 0, L, 0.0
    for t in range(len(path)):
        j = label_of[path[t]]
        entry = part_entry(first, n, L, state, class_of[pattern[t], q], i, j)
        total += paid[entry]
        state, i = after[entry], j
    return total, parts.end_ptr[q] + state


@njit(cache=True, nogil=True)
def charge_parts(indptr, path, pattern, parts, charged):
    """charged[k, q] = what part q charges for the labelling of sequence k; inf where nobody knows.

    indptr : int64[N + 1]; path : int16[M]; pattern : int64[M].
    """
    for k in range(len(indptr) - 1):
        a, b = indptr[k], indptr[k + 1]
        for q in range(len(parts.ptr)):
            total, end = charge_part(q, path[a:b], pattern[a:b], parts)
            charged[k, q] = total + parts.closing[end]
