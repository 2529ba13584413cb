"""The product automaton of some rules: exact dynamic programming over (previous label, states of the machines).

Machines are split into independent parts (`Machine.parts`). Each part becomes a small table (`Component`), and a
breadth-first search finds which combinations of their states occur. Everything is arrays: a combination is one integer
(`Product`), offset[label] + Σ_p digit_p · stride[p, label], where digit_p counts only the states of part p that can
stand behind that label. So the next code is a sum of table entries, one a part, and thousands of states step at once.
The size of this code space, 1 + Σ_l Π_parts |states behind label l|, is known before the search, and it is often exact:
"each field once" over L plain labels has 1 + L·2^(L-1) states, and no others are reached.

Input symbols are *token classes*: which of the conditions that the rules look at hold, as a binary number. Cost
O(S C L parts) time, O(S C L) memory for S states and C classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.rules.forms import Machine

__all__ = [
    "MOST_CONDITIONS",
    "Automaton",
    "Component",
    "SizeError",
    "build_automaton",
    "tabulate",
    "token_classes",
]

MOST_CONDITIONS = 8
"""An automaton over more conditions, 2^8 token classes, is refused."""
SLACK = 16
"""Rules that share counts reach a fraction of the code space; beyond limit * SLACK the search is not even begun."""
MOST_TRANSITIONS = 200_000_000
"""Tables with more entries are refused."""
MOST_STEPS = 4_000_000
"""A component that takes more steps to tabulate is refused."""

Int = NDArray[np.int64]


class SizeError(InputError):
    """An automaton would be too large; `size` is the number of states it may need, None if there is no bound."""

    def __init__(self, message: str, size: int | None = None) -> None:
        """Keep the size beside the message."""
        self.size = size
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling between processes."""
        return (type(self), (str(self), self.size))


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """One small machine as tables, over its own token classes: class = Σ 2^b [condition bits[b] holds].

    State 0 is the beginning.

    next, increments : int64[states, classes, L + 1, L], by state, class, previous label (L: none) and label.
    final : int64[states].
    count : int64[L], how many states can stand behind a label; states : int64[L, R], which, in rising order.
    """

    bits: tuple[int, ...]
    next: Int
    increments: Int
    final: Int
    count: Int
    states: Int


def tabulate(machine: Machine, always: frozenset[int], L: int, limit: int) -> Component | None:
    """Return the tables of a machine, None if it reaches more than `limit` states or takes more than MOST_STEPS.

    always : conditions that hold everywhere; they make no class.
    """
    bits, holds = token_classes(machine, always)
    number: dict[Hashable, int] = {machine.initial: 0}
    todo: list[tuple[Hashable, int]] = [(machine.initial, -1)]  # states with the label they stand behind
    seen = set(todo)
    steps: list[tuple[int, int]] = []  # for each of these, class and label: the next state's number, the increment
    for state, i in todo:  # grows while it is read
        for row in holds:
            for j in range(L):
                after, charged = machine.step(state, row, i, j)
                steps.append((number.setdefault(after, len(number)), charged))
                if (after, j) not in seen:
                    seen.add((after, j))
                    todo.append((after, j))
        if len(number) > limit or len(steps) > MOST_STEPS:
            return None
    origin = np.array([(number[state], i) for state, i in todo], np.int64)
    return _laid_out(machine, bits, list(number), origin, np.array(steps, np.int64).reshape(-1, len(holds), L, 2))


def token_classes(machine: Machine, always: frozenset[int]) -> tuple[tuple[int, ...], list[list[bool]]]:
    """Return the conditions that make a class, and those of each class as `step` reads them: the others hold."""
    bits = tuple(bit for bit in machine.reads if bit not in always)
    rows = [[True] * (max(machine.reads, default=-1) + 1) for _ in range(1 << len(bits))]
    for c, row in enumerate(rows):
        for b, bit in enumerate(bits):
            row[bit] = bool(c >> b & 1)
    return bits, rows


def _laid_out(machine: Machine, bits: tuple[int, ...], order: list[Hashable], origin: Int, steps: Int) -> Component:
    """Lay out steps : int64[pairs, classes, L, 2] that begin at origin : int64[pairs, 2], (state, previous label)."""
    _, n_classes, L, _ = steps.shape
    following, increments = np.zeros((2, len(order), L + 1, n_classes, L), np.int64)
    following[origin[:, 0], origin[:, 1]] = steps[..., 0]
    increments[origin[:, 0], origin[:, 1]] = steps[..., 1]
    stands = np.zeros((L, len(order)), bool)
    stands[np.arange(L), steps[..., 0]] = True
    count = stands.sum(axis=1)
    states = np.argsort(~stands, axis=1, kind="stable")[:, : max(count.max(initial=0), 1)]
    final = np.array([machine.final(s) for s in order], np.int64)
    return Component(bits, following.swapaxes(1, 2), increments.swapaxes(1, 2), final, count, states)


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """P components that belong to n rules, over C token classes and L labels.

    owner : the rule of every component. offset : int64[L + 1]; stride : int64[P, L].
    own_class : int64[C] a component, its own class for every class of the product.
    code : int64[states, own classes, L + 1, L] a component, what it adds to the code of the next state.
    base : int64[n], the place value of each rule in an increment key Σ_k increment_k · base_k; worst : int64[n].
    """

    components: Sequence[Component]
    owner: Sequence[int]
    offset: Int
    stride: Int
    own_class: Sequence[Int]
    code: Sequence[Int]
    base: Int
    worst: Int

    @classmethod
    def of(cls, components: Sequence[Component], owner: Sequence[int], bits: Sequence[int], n: int, L: int) -> Product:
        """Lay out the codes; `bits` are the conditions that make the classes of the product."""
        count = np.array([component.count for component in components], np.int64).reshape(-1, L)
        below = np.concatenate([np.ones((1, L), np.int64), np.cumprod(count, axis=0)])
        stride, sizes = below[:-1], below[-1]
        worst = np.zeros(n, np.int64)
        for k, component in zip(owner, components, strict=True):
            worst[k] += component.increments.max()
        if prod(int(w) + 1 for w in worst) > np.iinfo(np.int64).max:
            raise InputError(
                f"{n} rules are too many for one automaton", hint="choose fewer, or decode with another method"
            )
        classes = np.arange(1 << len(bits))
        return cls(
            components,
            owner,
            np.concatenate([[1], 1 + np.cumsum(sizes)]),
            stride,
            [_own_class(classes, component, bits) for component in components],
            [_code(component, stride[p]) for p, component in enumerate(components)],
            np.concatenate([[1], np.cumprod(worst + 1)[:-1]])[:n],
            worst,
        )

    @property
    def L(self) -> int:
        """The number of labels."""
        return len(self.offset) - 1

    @property
    def n_classes(self) -> int:
        """C."""
        return len(self.own_class[0]) if self.own_class else 1

    def decode(self, codes: Int) -> tuple[Int, list[Int]]:
        """Return the label each code stands behind, -1 for the beginning, and the state of every component."""
        label = np.searchsorted(self.offset, codes, side="right") - 1
        rest = np.where(label < 0, 0, codes - self.offset[label])
        states = []
        for component, stride in zip(self.components, self.stride, strict=True):
            digit = rest // stride[label] % component.count[label]
            states.append(np.where(label < 0, 0, component.states[label, digit]))
        return label, states

    def step(self, codes: Int) -> tuple[Int, Int]:
        """Return the codes of the next states and the increment keys, int64[len(codes), C, L] each."""
        label, states = self.decode(codes)
        following = np.tile(self.offset[:-1], (len(codes), self.n_classes, 1))
        charged = np.zeros_like(following)
        for p, (component, state) in enumerate(zip(self.components, states, strict=True)):
            where = state[:, None], self.own_class[p], label[:, None]
            following += self.code[p][where]
            if component.increments.any():
                charged += component.increments[where] * self.base[self.owner[p]]
        return following, charged

    def increments(self, keys: Int) -> NDArray[np.int32]:
        """Return the increments of the rules behind each key, int32[len(keys), n]."""
        return (keys[:, None] // self.base % (self.worst + 1)).astype(np.int32)


def _own_class(classes: Int, component: Component, bits: Sequence[int]) -> Int:
    own = np.zeros_like(classes)
    for b, bit in enumerate(component.bits):
        own |= (classes >> bits.index(bit) & 1) << b
    return own


def _code(component: Component, stride: Int) -> Int:
    """Return digit · stride of the next state, int64[states, own classes, L + 1, L]."""
    L = len(stride)
    digit = np.zeros((L, len(component.final)), np.int64)
    for label in range(L):
        behind = component.states[label, : component.count[label]]
        digit[label, behind] = np.arange(len(behind))
    return digit[np.arange(L), component.next] * stride


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """S states, C token classes, L labels, n rules; state 0 is the beginning.

    rules : the numbers of the rules, in the order of the last axis of `final` and `increment_rows`.
    bits : the conditions that make a class: class = Σ 2^b [condition bits[b] holds].
    label : int16[S], the label a state stands behind, -1 at the beginning.
    next : int32[S, C, L], the state after reading a label at a token of a class.
    increment_ids : int32[S, C, L]; increment_rows : int32[U, n], the U distinct increments; row 0 is nothing.
    final : int32[S, n], what the end adds.
    """

    rules: tuple[int, ...]
    bits: tuple[int, ...]
    label: NDArray[np.int16]
    next: NDArray[np.int32]
    increment_ids: NDArray[np.int32]
    increment_rows: NDArray[np.int32]
    final: NDArray[np.int32]

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.label)

    def classes(self, bits: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the class of every token, int32[T], from the bits of a grounded sequence, bool[T, B]."""
        return (bits[:, list(self.bits)] @ (1 << np.arange(len(self.bits)))).astype(np.int32)


def build_automaton(
    rules: Sequence[tuple[int, str, Machine]], always: frozenset[int], L: int, max_states: int
) -> Automaton:
    """Build the product of the machines of some rules, given as (number, name, machine).

    Raises `SizeError`, which says what is too large.
    """
    names = [name for _, name, _ in rules]
    parts = [(k, name, part) for k, (_, name, machine) in enumerate(rules) for part in machine.parts()]
    components = [_component(part, name, always, L, max_states) for _, name, part in parts]
    bits = tuple(dict.fromkeys(bit for component in components for bit in component.bits))
    _check_conditions(len(bits), names)
    size = _size(components, L)
    if size > max_states * SLACK:
        raise _too_large(names, size, max_states)
    product = Product.of(components, [k for k, _, _ in parts], bits, len(rules), L)
    codes, following, charged = _search(product, size, max_states, names)
    label, states = product.decode(codes)
    final = np.zeros((len(codes), len(rules)), np.int32)
    for k, component, state in zip(product.owner, components, states, strict=True):
        final[:, k] += component.final[state].astype(np.int32)
    keys, ids = np.unique(charged, return_inverse=True)
    return Automaton(
        tuple(number for number, _, _ in rules),
        bits,
        label.astype(np.int16),
        following,
        ids.reshape(charged.shape).astype(np.int32),
        product.increments(keys),
        final,
    )


def _component(part: Machine, name: str, always: frozenset[int], L: int, max_states: int) -> Component:
    if part.states is None:
        raise SizeError(
            f"rule {name!r}: the number of its states grows with the length of the sequence (a difference of counts, "
            "or alternatives of unbounded degree); decode it with another method"
        )
    _check_conditions(len(set(part.reads) - always), [name])
    component = tabulate(part, always, L, max_states)
    if component is None:
        raise SizeError(
            f"rule {name!r} alone needs up to {part.states:,} states behind {L} labels, too many to tabulate; "
            f"the limit is {max_states:,}: raise max_states, or decode with another method",
            part.states,
        )
    return component


def _check_conditions(n: int, names: Sequence[str]) -> None:
    if n > MOST_CONDITIONS:
        raise SizeError(
            f"the automaton of {_listed(names)} looks at {n} conditions of a token, 2^{n} token classes; at most "
            f"{MOST_CONDITIONS} conditions are possible: choose fewer rules, or decode with another method"
        )


def _too_large(names: Sequence[str], size: int, max_states: int) -> SizeError:
    return SizeError(
        f"the automaton of {_listed(names)} needs up to {size:,} states; the limit is {max_states:,}: "
        "raise max_states, choose fewer rules, or decode with another method",
        size,
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more rules"


def _size(components: Sequence[Component], L: int) -> int:
    """1 + Σ_l Π_components |states behind l|, in Python integers: the product may be astronomical."""
    return 1 + sum(prod(int(component.count[label]) for component in components) for label in range(L))


def _search(product: Product, size: int, max_states: int, names: Sequence[str]) -> tuple[Int, NDArray[np.int32], Int]:
    """Return the codes of the reachable states, int64[S], their next states and increment keys, [S, C, L] each."""
    C, L = product.n_classes, product.L
    index = np.full(size, -1, np.int32)
    index[0] = 0
    frontier = np.zeros(1, np.int64)
    levels, steps, found = [frontier], [], 1
    while len(frontier):
        if found * C * L > MOST_TRANSITIONS:
            raise SizeError(
                f"the automaton of {_listed(names)} has {found:,} states or more and {C} token classes: too large", size
            )
        following, charged = product.step(frontier)
        steps.append((following, charged))
        fresh = np.zeros(size, bool)
        fresh[following[index[following] < 0]] = True
        frontier = np.flatnonzero(fresh)
        if found + len(frontier) > max_states:
            raise _too_large(names, size, max_states)
        index[frontier] = np.arange(found, found + len(frontier))
        found += len(frontier)
        levels.append(frontier)
    following = np.concatenate([codes for codes, _ in steps])
    return np.concatenate(levels), index[following], np.concatenate([charged for _, charged in steps])
