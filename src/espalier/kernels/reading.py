"""One short text read and scored in one pass: what `features.single` says in Python, under the weights of a model.

A text is word types as *codes*, one after the other in an array, and the type of each token. The codes of a word:

    signs, e_0, ..., e_{C-1}, numbers...       column c has the numbers from e_{c-1} (0 for the first) to e_c

Templates are rows of integers (`features.program.TextProgram` writes them and says what they mean). The number of a
value, put into the template's part of `tables`, gives its attribute, -1 if it has none.
"""

from __future__ import annotations

import numpy as np

from espalier.kernels import njit

__all__ = ["score_text"]

QUOTED, BRACKETED, EDGE, POSITION, BEFORE, AFTER = range(6)
ALL, FIRST, LAST, INDEX, LENGTH = range(5)


@njit(cache=True, nogil=True)
def _add(attribute, weights, row):
    """Add the weights of an attribute, if it is one."""
    ptr, label, w = weights
    if attribute >= 0:
        for p in range(np.uint64(ptr[attribute]), np.uint64(ptr[attribute + 1])):  # nothing counts from the end
            row[np.uint64(label[p])] += w[p]


@njit(cache=True, nogil=True)
def _numbers(codes, at, n_columns, column):
    """Return where the numbers of a column begin and end; at : where the word begins."""
    base = at + 1 + n_columns
    return base + (codes[at + column] if column else 0), base + codes[at + 1 + column]


@njit(cache=True, nogil=True)
def _met(number, buffer, n):
    """Is a number among the first n of a buffer?"""
    for k in range(n):  # noqa: SIM110 (a generator is slow here)
        if buffer[k] == number:
            return True
    return False


@njit(cache=True, nogil=True)
def _is_inside(signs, marks, what):
    """Return which tokens lie between two quotation marks or brackets, bool[T]; see `features.spans`."""
    T, quote, opening, closing = len(signs), marks[5], marks[6], marks[7]
    inside, before, after = np.zeros(T, np.bool_), 0, 0
    for t in range(T):
        after += signs[t] & (quote if what == QUOTED else closing) != 0
    for t in range(T):
        if what == QUOTED:
            mark = signs[t] & quote != 0
            inside[t] = not mark and before % 2 == 1 and before < after
            before += mark
        elif signs[t] & (opening | closing):
            after -= signs[t] & closing != 0
            before = max(before + (signs[t] & opening != 0) - (signs[t] & closing != 0), 0)
        else:
            inside[t] = before > 0 and after > 0
    return inside


@njit(cache=True, nogil=True)
def _read_places(codes, at, signs, n_columns, program, weights, unary):
    """Add what depends on the place of a token: markers, edges, positions, quotations, what comes before and after."""
    markers, places, marks, tables = program[0], program[1], program[4], program[5]
    T = len(unary)
    for m in range(len(markers)):
        for t in range(T):
            if not 0 <= t + markers[m, 1] < T:
                _add(markers[m, 0], weights, unary[t])
    row, buffer = np.zeros(unary.shape[1]), np.empty(len(codes), np.int64)
    for q in range(len(places)):
        what, parameter, offset, base = places[q]
        if what <= BRACKETED:
            inside = _is_inside(signs, marks, what)
        row[:] = 0.0
        n = 0
        for s in range(T):
            u = T - 1 - s if what == AFTER else s
            t = u - offset
            if what <= BRACKETED:
                if inside[u] and 0 <= t < T:
                    _add(tables[base], weights, unary[t])
            elif what == EDGE:
                if 0 <= t < T:
                    _add(tables[base] if u == 0 else -1, weights, unary[t])
                    _add(tables[base + 1] if u == T - 1 else -1, weights, unary[t])
            elif what == POSITION:
                if 0 <= t < T:
                    _add(tables[base + parameter * u // T], weights, unary[t])
            else:
                if n and 0 <= t < T:
                    for j in range(len(row)):
                        unary[t, j] += row[j]
                lo, hi = _numbers(codes, at[u], n_columns, parameter)
                for k in range(lo, hi):
                    if not _met(codes[k], buffer, n):
                        buffer[n] = codes[k]
                        n += 1
                        _add(tables[base + codes[k]], weights, row)


@njit(cache=True, nogil=True)
def _borders(signs, marks, unit):
    """Return where the stretches of a kind begin, and T; see `features.spans.borders`."""
    T, end, bare, stop, abbreviated = len(signs), marks[unit], marks[2], marks[3], marks[4]
    first, n, before, ended = np.empty(T + 1, np.int64), 0, 0, True
    for t in range(T):
        sign = signs[t]
        ends = sign & end != 0 and not (sign & stop != 0 and before & abbreviated != 0)
        if t == 0 or (ended and not (ends and sign & bare != 0)):
            first[n] = t
            n += 1
        before, ended = sign, ends
    first[n] = T
    return first[: n + 1]


@njit(cache=True, nogil=True)
def _read_stretches(codes, at, signs, n_columns, program, weights, unary):
    """Add what depends on the chunk or the sentence of a token."""
    templates, marks, tables, bins = program[2], program[4], program[5], program[8]
    buffer = np.empty(len(codes), np.int64)
    for unit in range(2):
        first = _borders(signs, marks, unit)
        S = len(first) - 1
        rows = np.zeros((S, unary.shape[1]))
        for q in range(len(templates)):
            own, what, shift, column, base = templates[q]
            if own != unit:
                continue
            for s in range(max(shift, 0), S + min(shift, 0)):
                row, a, b = rows[s - shift], first[s], first[s + 1]
                if what == INDEX:
                    _add(tables[base + min(s, column)], weights, row)
                elif what == LENGTH:
                    n = 0  # bins that are not longer; a search of NumPy's would bring half of Numba with it
                    while n < len(bins) and bins[n] <= b - a:
                        n += 1
                    _add(tables[base + n - 1], weights, row)
                else:
                    n = 0
                    for t in range(b - 1 if what == LAST else a, a + 1 if what == FIRST else b):
                        lo, hi = _numbers(codes, at[t], n_columns, column)
                        for k in range(lo, hi):
                            if not _met(codes[k], buffer, n):
                                buffer[n] = codes[k]
                                n += 1
                                _add(tables[base + codes[k]], weights, row)
        for s in range(S):
            for t in range(first[s], first[s + 1]):
                for j in range(unary.shape[1]):
                    unary[t, j] += rows[s, j]


@njit(cache=True, nogil=True)
def _place_of(key, keys, lo, hi):
    """Return where a key stands in keys[lo:hi], which rise, counted from lo; -1 if it does not."""
    a, b = lo, hi
    while a < b:
        middle = (a + b) // 2
        if keys[middle] < key:
            a = middle + 1
        else:
            b = middle
    return a - lo if a < hi and keys[a] == key else -1


@njit(cache=True, nogil=True)
def _read_conjunctions(codes, at, n_columns, program, weights, unary):
    """Add the attributes of neighbouring words together; see `features.extract`."""
    joins, parts, keys = program[3], program[6], program[7]
    T = len(unary)
    found, wider = np.empty(64, np.int64), np.empty(64, np.int64)
    for q in range(len(joins)):
        first, last, start = joins[q]
        for t in range(T):
            n = 1
            found[0] = 0
            for p in range(first, last):
                column, offset, size, lo, hi = parts[p]
                u, n_wider = t + offset, 0
                inside = 0 <= u < T
                a, b = _numbers(codes, at[u], n_columns, column) if inside else (0, 1)
                if n * (b - a) > len(wider):
                    wider = np.empty(n * (b - a), np.int64)
                for i in range(n):
                    for k in range(a, b):
                        place = _place_of(found[i] * size + (codes[k] if inside else size - 1), keys, lo, hi)
                        if place >= 0:
                            wider[n_wider] = place
                            n_wider += 1
                found, wider, n = wider, found, n_wider
                if n == 0:
                    break
            for i in range(n):
                _add(start + found[i], weights, unary[t])


@njit(cache=True, nogil=True)
def score_text(codes, n_columns, ids, words, offsets, program, weights, unary):
    """Write the scores of a text into unary : float64[T, L], all zeros before.

    codes : int32, of U word types; ids : int32[T]; words : float64[U K, L], the scores of each type at K offsets;
    program : the arrays of a `TextProgram`; weights : ptr, label, w (`models.linear.Pairs`).
    """
    T, K = len(ids), len(offsets)
    starts, n = np.empty(len(ids) + 1, np.int64), 0
    place = 0
    while place < len(codes):
        starts[n] = place
        n += 1
        place += 1 + n_columns + (codes[place + n_columns] if n_columns else 0)
    at, signs = np.empty(T, np.int64), np.empty(T, np.int64)
    for t in range(T):
        at[t] = starts[ids[t]]
        signs[t] = codes[at[t]]
        for k in range(K):
            u = t + offsets[k]
            if 0 <= u < T:
                word = words[ids[u] * K + k]
                for j in range(unary.shape[1]):
                    unary[t, j] += word[j]
    _read_places(codes, at, signs, n_columns, program, weights, unary)
    _read_conjunctions(codes, at, n_columns, program, weights, unary)
    _read_stretches(codes, at, signs, n_columns, program, weights, unary)
