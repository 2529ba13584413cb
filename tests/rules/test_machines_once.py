"""The machine of rules that count segments once, against the definition: Σ_g max(0, n_g - 1)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.rules.forms import SeenOnce


def degree(groups: list[list[list[int]]], y: list[int]) -> int:
    """What opens more than once, group by group; row -1 is that of the first label."""
    counts = [sum(group[i][j] for i, j in zip([-1, *y], y, strict=False)) for group in groups]
    return sum(max(0, count - 1) for count in counts)


def read(machine: SeenOnce, y: list[int]) -> int:
    state, total = machine.initial, 0
    for i, j in zip([-1, *y], y, strict=False):
        state, increment = machine.step(state, (), i, j)
        total += increment
    return total + machine.final(state)


@given(st.data(), st.integers(1, 4), st.integers(1, 5))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_degrees_are_those_of_the_definition(data: st.DataObject, L: int, n_groups: int) -> None:
    row = st.lists(st.integers(0, 3), min_size=L, max_size=L)
    groups = [data.draw(st.lists(row, min_size=L + 1, max_size=L + 1)) for _ in range(n_groups)]
    y = data.draw(st.lists(st.integers(0, L - 1), max_size=8))
    assert read(SeenOnce(groups), y) == degree(groups, y)


def test_more_groups_than_a_machine_word_has_bits() -> None:
    L = 70
    groups = [[[int(j == g) for j in range(L)] for _ in range(L + 1)] for g in range(L)]
    machine = SeenOnce(groups)
    assert machine.masks[0][69] == 1 << 69
    assert [read(machine, y) for y in ([69, 68, 69], [0, 64, 0, 64, 1], list(range(L)))] == [1, 2, 0]
