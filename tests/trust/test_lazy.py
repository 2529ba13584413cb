"""`cached_property` without a lock: one value an instance, whoever asks first."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from trust_files import at_once

from espalier.lazy import cached_property


@dataclass(frozen=True)
class Circle:
    """Something with a property that is kept, although it is frozen."""

    radius: int
    gate: threading.Barrier | None = None

    @cached_property
    def area(self) -> list[int]:
        """About three times the square."""
        if self.gate is not None:
            self.gate.wait(timeout=20)  # so that all threads are inside: a lock would let one in alone, and time out
        return [3 * self.radius**2]


def test_a_value_is_computed_once() -> None:
    one, two = Circle(1), Circle(2)
    assert (one.area, two.area) == ([3], [12])
    assert one.area is one.area
    assert one == Circle(1)
    assert isinstance(Circle.area, cached_property)
    assert Circle.area.__doc__ == "About three times the square."


def test_threads_compute_together_and_get_one_value() -> None:
    circle = Circle(1, threading.Barrier(4))
    found = at_once(lambda _: circle.area)
    assert all(value is circle.area for value in found)
