"""The page of claims, in Markdown: one table of all claims, what fails first, and the reasons below it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple, TypeAlias

from espalier.papers.claims.claim import PAPERS, PaperClaim, Spot, read_claims
from espalier.papers.claims.judging import ClaimVerdict, Estimate, estimate, verdict
from espalier.papers.claims.kept import KeptPlace, kept_places, read_places, write_places
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Table
from espalier.papers.tables.registry import find_tables
from espalier.papers.tables.runner import Reproduction
from espalier.text_files import write_chunks

__all__ = ["ClaimLine", "claims_markdown", "lines_of", "spots_of", "tables_of", "write_claims"]

WIDTH = 120
HOW_TO_READ = """
Every claim is written as a gain, in points unless it says otherwise, so that more is better for the paper. *Ours,
like for like* is with the inputs of the paper as far as they are known; in brackets is the 95 % interval of the paired
gain. n is the number of training subsets (or orders) times that of test sequences, and the interval is over both.
A claim **holds** if the interval lies above 0 and our gain is at least half the paper's; it **fails** if the interval
lies below half the paper's gain (where the paper has words or a curve alone: not above 0); else it is **open**. That
two things are alike holds if the interval lies above what the claim allows, and fails below. `<` stands before a gain
that is smaller yet, because what was counted was cut off. *Ours at its best* is the same gain with our own inputs or
our own way, and in brackets the figure that it ends at; empty where nothing else was tried. Intervals are not
corrected for their number: of 40 that are 95 % sure, two miss.

What differs from each paper stands under its tables: [like for like](like-for-like.md), [with our
inputs](our-inputs.md), [at our best](bests.md). [How to compute a claim again](your-own-paper.md), for a paper of your
own, too.
"""

Figures: TypeAlias = "Mapping[str, Mapping[str, float | None]]"
"""The paper's figures of a table, by row and column."""

DIRECTIONS = {"": "", "<": "< ", ">": "> "}


class ClaimLine(NamedTuple):
    """A claim, the paper's gain, ours, the verdict, and the gain and the figure with our inputs."""

    claim: PaperClaim
    there: float | None
    ours: Estimate | None
    verdict: ClaimVerdict
    richer: tuple[float, float] | None


def spots_of(claims: Iterable[PaperClaim]) -> list[Spot]:
    """Return every place that the page has a figure of."""
    return list(dict.fromkeys(spot for claim in claims for spot in claim.all_spots))


def tables_of(claims: Iterable[PaperClaim]) -> list[Table]:
    """Return the tables that claims and their reasons have figures of."""
    names = dict.fromkeys(spot.table for spot in spots_of(claims))
    return find_tables(names) if names else []


def lines_of(claims: Sequence[PaperClaim], places: Mapping[Spot, KeptPlace]) -> list[ClaimLine]:
    """Judge all claims; those that fail come first, else the order is that of the list."""
    published = {table.name: table.published for table in tables_of(claims)}
    order = list(ClaimVerdict)
    lines = [_line(claim, places, published) for claim in claims]
    return sorted(lines, key=lambda line: order.index(line.verdict))


def _line(claim: PaperClaim, places: Mapping[Spot, KeptPlace], published: Mapping[str, Figures]) -> ClaimLine:
    there = claim.there if claim.there is not None else _published(claim, published)
    if claim.untestable:
        return ClaimLine(claim, there, None, ClaimVerdict.UNTESTABLE, None)
    if not all(spot in places for spot in claim.spots):
        return ClaimLine(claim, there, None, ClaimVerdict.AWAITED, None)
    ours = estimate(claim, places)
    return ClaimLine(claim, there, ours, verdict(claim, there, ours), _richer(claim, places))


def _published(claim: PaperClaim, published: Mapping[str, Figures]) -> float | None:
    """Return the gain that the paper's own figures make, None where one is missing."""
    known = {spot: published[spot.table][spot.row][spot.column] for spot in claim.spots}
    figures = {spot: value for spot, value in known.items() if value is not None}
    return claim.gain(figures) if figures and len(figures) == len(known) else None


def _richer(claim: PaperClaim, places: Mapping[Spot, KeptPlace]) -> tuple[float, float] | None:
    spots = claim.richer_spots
    if not spots or not all(spot in places for spot in spots):
        return None
    values = {spot: sum(places[spot].figures) / len(places[spot].figures) for spot in spots}
    return claim.richer_gain(values), values[spots[0]]


def write_claims(path: Path, tables: Sequence[Table], found: Reproduction, data: Data) -> None:
    """Write the page, and beside it as JSON the places that it is made from; those of other tables stay as they are."""
    claims, beside = read_claims(), path.with_suffix(".json")
    before = read_places(beside) if beside.exists() else {}
    wanted = spots_of(claims)
    places = {spot: one for spot, one in before.items() if spot in wanted}
    places |= kept_places(tables, found.done, data, wanted)
    write_places(beside, places)
    write_chunks(path, [claims_markdown(claims, places)], "utf-8")


def claims_markdown(claims: Sequence[PaperClaim], places: Mapping[Spot, KeptPlace]) -> str:
    """Return the page."""
    lines = lines_of(claims, places)
    counts = Counter(line.verdict for line in lines)
    said = ", ".join(f"{counts[one]} {_said(one, counts[one])}" for one in ClaimVerdict if counts[one])
    text = ["# What five papers claim, and what became of it here", "", f"{len(lines)} claims: {said}.", ""]
    text += [
        "| | claim | the paper's gain | ours, like for like | n | verdict | ours at its best | `espalier reproduce` |"
    ]
    text += ["|---|---|---|---|---|---|---|---|"]
    text += [_row(number, line) for number, line in enumerate(lines, 1)]
    text += [
        "",
        HOW_TO_READ.strip(),
        "",
        "Papers: " + "; ".join(f"{a}: {b}" for a, b in PAPERS.items()) + ".",
        "",
    ]
    text += [*_by_paper(lines), "", "## Reasons", ""]
    for number, line in enumerate(lines, 1):
        why = line.claim.reason(lambda spot: _level(spot, places))
        if why:
            text += wrap(f"{number}. {why}", WIDTH, subsequent_indent="   ")
    return "\n".join(text) + "\n"


def _by_paper(lines: Sequence[ClaimLine]) -> list[str]:
    """Return a table of how many claims of each paper became what."""
    counts = Counter((line.claim.paper, line.verdict) for line in lines)
    rows = [[paper, *(str(counts[paper, one] or "") for one in ClaimVerdict)] for paper in PAPERS]
    head = ["", *(one.value for one in ClaimVerdict)]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _level(spot: Spot, places: Mapping[Spot, KeptPlace]) -> str:
    """Write the figure of a place."""
    if spot not in places:
        return f"({ClaimVerdict.AWAITED.value})"
    return f"{sum(places[spot].figures) / len(places[spot].figures):.1f}"


def _said(one: ClaimVerdict, count: int) -> str:
    plural = {
        ClaimVerdict.FAILS: "fail",
        ClaimVerdict.OPEN: "are open",
        ClaimVerdict.HOLDS: "hold",
        ClaimVerdict.AWAITED: "are not computed yet",
    }
    many = plural | {ClaimVerdict.UNTESTABLE: "cannot be tested here"}
    return many[one] if count > 1 else "is " * (one in (ClaimVerdict.OPEN, ClaimVerdict.AWAITED)) + one.value


def _row(number: int, line: ClaimLine) -> str:
    claim = line.claim
    commands = " ".join(claim.tables) if claim.spots else ""
    richer = ClaimVerdict.AWAITED.value if claim.richer and line.ours else ""
    if line.richer is not None:
        richer = f"{_signed(line.richer[0])} ({line.richer[1]:.1f})"
    cells = [
        str(number), f"{claim.says} ({claim.paper}, {claim.where})", _there(claim, line.there), _ours(claim, line.ours),
        _n(line.ours), f"**{line.verdict.value}**", richer, f"`{commands}`" if commands else "",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _there(claim: PaperClaim, there: float | None) -> str:
    if claim.within is not None:
        return f"{'alike' if there is None else _signed(there)}, within {claim.within:g}"
    return "in words" if there is None else _signed(there)


def _ours(claim: PaperClaim, ours: Estimate | None) -> str:
    if ours is None:
        return ""
    between = f" [{_signed(ours.low)}, {_signed(ours.high)}]" if math.isfinite(ours.low) else ""
    return f"{DIRECTIONS[claim.sign]}{_signed(ours.gain)}{between}"


def _n(ours: Estimate | None) -> str:
    if ours is None:
        return ""
    if ours.sequences is None:
        return str(ours.runs)
    return f"{ours.runs} × {ours.sequences}" if ours.runs > 1 else str(ours.sequences)


def _signed(value: float) -> str:
    """Write a gain with its sign; what rounds to nothing has none."""
    text = f"{value:+.2f}" if abs(value) < 10 else f"{value:+.1f}"
    return text.replace("-", "−") if text.strip("+-0.") else text.lstrip("+-")
