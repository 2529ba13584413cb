"""Small machines that read a labelling from left to right, as tables in one array: what they charge for labellings.

Part q has states 0.. (0: the beginning) and reads, at each token, a class c of conditions, the label i before (L: none)
and the label j. Entry ptr[q] + ((state n_classes[q] + c)(L + 1) + i) L + j of the arrays `after` and `paid` is the
next state and what the step costs; ending[end_ptr[q] + state] is what the end costs, or less where that is not known;
closing is the same, but inf where it is not known. Kernels take all this as one tuple

    (ptr, n_classes, end_ptr : int64[Q]; after : int16[E]; paid : float64[E]; ending, closing : float64[S];
     class_of : int16[P, Q], the class of each pattern of conditions; label_of : int64[L'])

where label_of names the label behind each state of the chain, if labels are split into several (see
`decoders.batch`); without that it is 0, 1, ...
"""

from __future__ import annotations

from espalier.kernels import njit

__all__ = ["charge_parts", "part_entry"]


@njit(cache=True, nogil=True, inline="always")
def part_entry(first, n_classes, L, state, c, i, j):
    """The place of a step in the tables of a part that begin at `first`."""
    return first + ((state * n_classes + c) * (L + 1) + i) * L + j


@njit(cache=True, nogil=True)
def charge_parts(lo, hi, indptr, path, pattern, L, parts, charged):
    """charged[k, q] = what part q charges for the labelling of sequence k, lo <= k < hi.

    indptr : int64[N + 1]; path : int16[M]; pattern : int64[M]; L : the number of labels.
    """
    ptr, n_classes, end_ptr, after, paid, _, closing, class_of, label_of = parts
    for k in range(lo, hi):
        for q in range(len(ptr)):
            state, i, total = 0, L, 0.0
            for m in range(indptr[k], indptr[k + 1]):
                j = label_of[path[m]]
                entry = part_entry(ptr[q], n_classes[q], L, state, class_of[pattern[m], q], i, j)
                total += paid[entry]
                state, i = after[entry], j
            charged[k, q] = total + closing[end_ptr[q] + state]
