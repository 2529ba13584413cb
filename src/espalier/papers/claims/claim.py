"""A claim of a paper: where it stands, what it says in figures, and which places of which tables are ours for it.

A claim is a gain, so that more is better for whoever made it: what some places have more than others, perhaps over a
number. Places are written `row`, `row @ column` or `table | row @ column`; without a column all those of `at` are
meant, and the gain is the mean over them. `reduction` is the share of errors that one place has less than another, less
that of a second pair.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from statistics import mean
from typing import Any, NamedTuple

from espalier.errors import FormatError

__all__ = ["PAPERS", "PaperClaim", "Spot", "awaited_tables", "read_claims"]

PAPERS = {
    "CCM12": "Chang, Ratinov & Roth 2012",
    "CoDL07": "Chang, Ratinov & Roth 2007",
    "SDD14": "Anzaroot, Passos, Belanger & McCallum 2014",
    "SR10": "Singh, Yao, Riedel & McCallum 2010",
    "ILP14": "Fersini, Messina, Felici & Roth 2014",
}


IN_BRACES = re.compile(r"\{([^{}]+)\}")


class Spot(NamedTuple):
    """A place of a table."""

    table: str
    row: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperClaim:
    """A row of `claims.toml`.

    there : the paper's gain where its tables do not give it; without either the claim is in words or a curve alone.
    plus : a number that is added to the gain, such as the 2 of "fewer than two". within : of a claim that two things
    are alike, by how much ours may be below. sign : how a censored figure stands to the true one, "<" or ">".
    richer : the table whose figures, of the same rows, are ours at our best; or with rows of its own (`richer_more`).
    because : what a run says about the outcome, with places in braces. untestable : why there is nothing to compute.
    """

    says: str
    paper: str
    where: str
    table: str = ""
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    at: tuple[str, ...] = ("",)
    reduction: tuple[str, ...] = ()
    plus: float = 0.0
    there: float | None = None
    within: float | None = None
    sign: str = ""
    richer: str = ""
    richer_more: tuple[str, ...] = ()
    richer_less: tuple[str, ...] = ()
    because: str = ""
    untestable: str = ""

    @property
    def spots(self) -> list[Spot]:
        """The places that our gain is made of, each once."""
        several = (*self.more, *self.less, *self.reduction)
        return list(dict.fromkeys(spot for text in several for spot in self._spots(text, self.table)))

    @property
    def richer_spots(self) -> list[Spot]:
        """The places that our best gain is made of; none if nothing richer was tried."""
        if not self.richer:
            return []
        several = (*(self.richer_more or self.more), *(self.richer_less or self.less), *self.reduction)
        return list(dict.fromkeys(spot for text in several for spot in self._spots(text, self.richer)))

    @property
    def reason_spots(self) -> list[Spot]:
        """The places whose figures stand in the reason."""
        return [self._spots(text, self.table)[0] for text in IN_BRACES.findall(self.because + self.untestable)]

    def reason(self, figure: Callable[[Spot], str]) -> str:
        """Return the reason with its figures."""
        return IN_BRACES.sub(
            lambda found: figure(self._spots(found[1], self.table)[0]), self.because or self.untestable
        )

    @property
    def all_spots(self) -> list[Spot]:
        """Every place that the page has a figure of, for this claim."""
        return list(dict.fromkeys([*self.spots, *self.richer_spots, *self.reason_spots]))

    @property
    def tables(self) -> list[str]:
        """The names of the tables that have its places."""
        return list(dict.fromkeys(spot.table for spot in self.spots))

    def gain(self, values: Mapping[Spot, float]) -> float:
        """Return the gain that figures of its places make."""
        return self._gain(values, self.table, self.more, self.less)

    def richer_gain(self, values: Mapping[Spot, float]) -> float:
        """Return the gain that figures of its richer places make."""
        return self._gain(values, self.richer, self.richer_more or self.more, self.richer_less or self.less)

    def _gain(self, values: Mapping[Spot, float], table: str, more: Sequence[str], less: Sequence[str]) -> float:
        def at(text: str) -> list[float]:
            found = [values[spot] for spot in self._spots(text, table)]
            return found * len(self.at) if len(found) == 1 else found

        if self.reduction:
            with_, without, other, bare = (at(text) for text in self.reduction)
            kept = zip(with_, without, other, bare, strict=True)
            return mean(_reduction(a, b) - _reduction(c, d) for a, b, c, d in kept)
        columns = zip(*(at(text) for text in more), strict=True) if more else [()] * len(self.at)
        against = zip(*(at(text) for text in less), strict=True) if less else [()] * len(self.at)
        return self.plus + mean(math.fsum(a) - math.fsum(b) for a, b in zip(columns, against, strict=True))

    def _spots(self, text: str, table: str) -> list[Spot]:
        """Read a place: in every column of `at` unless it names its own."""
        named, _, rest = text.rpartition(" | ")
        row, _, column = rest.partition(" @ ")
        where = named or table
        return [Spot(where, row, one) for one in ([column] if column else self.at)]


def _reduction(ours: float, before: float) -> float:
    """Return the share of errors that are gone, in percent."""
    return 100.0 * (ours - before) / (100.0 - before)


def read_claims() -> list[PaperClaim]:
    """Return the claims in the order of the file."""
    return [_claim(row) for row in _file()["claim"]]


def awaited_tables() -> list[str]:
    """Return the tables of which the file says that their figures are not all kept yet."""
    return list(_file()["awaited"])


def _file() -> dict[str, Any]:
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found: dict[str, Any] = tomllib.loads(files(__package__).joinpath("claims.toml").read_text(encoding="utf-8"))
    return found


def _claim(row: dict[str, Any]) -> PaperClaim:
    """Make a claim of a row, and say which row is wrong."""
    try:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        found = PaperClaim(**given)
    except TypeError as error:
        raise FormatError(f"claim {row.get('says', '')!r}: {error}", path="claims.toml") from None
    if found.paper not in PAPERS or bool(found.untestable) == bool(found.spots):
        what = "needs a paper of the list, and either places or a reason why it cannot be tested"
        raise FormatError(f"claim {found.says!r} {what}", path="claims.toml")
    return found
