"""The code space of a product of components, and one step of many states at a time.

A product state is a label and one state of every component, written as one integer: offset[label] + Σ_p digit_p ·
stride[p, label], where digit_p counts only the states of component p that can stand behind that label. Code 0 is the
beginning. So the next code is a sum of table entries, one a component, and thousands of states step at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.rules.components import Component

__all__ = ["Product"]

Int = NDArray[np.int64]


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
            raise InputError(f"{n} rules are too many for one automaton; choose fewer, or decode with another method")
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
