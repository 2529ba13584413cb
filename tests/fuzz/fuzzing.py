"""Playing random and damaged inputs against an entrance: small budgets by default, minutes on request.

`fuzz` gives every input that a strategy draws to a function, which says whether the input was accepted or refused.
Anything else, another exception or an input that takes longer than `LONGEST` seconds, fails the test, and Hypothesis
shrinks the input. In the ordinary suite inputs are the same each time. With `ESPALIER_FUZZ=minutes` (`make fuzz`) the
tests share that many minutes and draw new inputs each time; the run prints its seed, and `ESPALIER_FUZZ_SEED` repeats
it.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

T = TypeVar("T")

LONGEST = 20.0
"""Seconds that one small input may take: far more than any needs, far less than a hang."""

LAP = 200
"""Inputs between two looks at the clock."""


@dataclass(slots=True)
class Tally:
    """How many inputs an entrance was given, and how many of them it accepted."""

    inputs: int = 0
    accepted: int = 0


@dataclass(slots=True)
class Campaign:
    """One run of the fuzz tests: the time for each test, the seed, and what was counted."""

    seconds: float = 0.0
    seed: int = 0
    tallies: dict[str, Tally] = field(default_factory=dict)

    @classmethod
    def from_environment(cls, tests: int) -> Campaign:
        """Share the minutes that the environment asks for among so many tests."""
        minutes = float(os.environ.get("ESPALIER_FUZZ") or 0.0)
        chosen = os.environ.get("ESPALIER_FUZZ_SEED")
        return cls(60.0 * minutes / max(tests, 1), int(chosen) if chosen else random.SystemRandom().randrange(10**6))

    def fuzz(self, entrance: str, strategy: st.SearchStrategy[T], accepts: Callable[[T], bool], few: int = 50) -> None:
        """Give inputs to `accepts`: `few` of them, the same each time, or as many as the time allows."""
        tally = self.tallies.setdefault(entrance, Tally())

        def play(value: T) -> None:
            with limited(LONGEST):
                tally.inputs += 1
                tally.accepted += accepts(value)

        options: dict[str, Any] = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
        options["phases"] = (Phase.generate, Phase.shrink)  # explaining a failure traces every line, at a price
        if not self.seconds:
            settings(max_examples=few, derandomize=True, **options)(given(strategy)(play))()
            return
        end, lap = time.monotonic() + self.seconds, 0
        while time.monotonic() < end:
            start = self.seed + 1_000_003 * lap
            settings(max_examples=LAP, **options)(seed(start)(given(strategy)(play)))()
            lap += 1

    def lines(self) -> Iterator[str]:
        """Yield the counts, an entrance a line."""
        for entrance, tally in sorted(self.tallies.items()):
            yield f"{entrance:<28} {tally.inputs:>9,} inputs {tally.accepted:>9,} accepted"
        yield f"{'in all':<28} {sum(tally.inputs for tally in self.tallies.values()):>9,} inputs"


class TooLong(BaseException):
    """An input took longer than it may; no handler of the code under test catches it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer, where the system has a clock for that."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooLong(f"an input took longer than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def attempt(call: Callable[[], T], *refusals: type[BaseException]) -> tuple[T | None, str]:
    """Return what a call returns, or the message of a refusal; any other exception is a finding."""
    try:
        return call(), ""
    except refusals as error:
        return None, str(error)
