"""The tables of `experts.py`: means over runs, paired differences with their intervals, and what is missing.

An interval of few labels is Student's, over the draws: it says how far another draw may differ. With all labels there
is one draw, and the interval is a bootstrap over the test sequences, the counts of all seeds of the net added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["MODELS", "Figures", "Place", "print_tables"]

MODELS = ("crf", "net", "product")
KINDS = {"": "labels", "rules": "labels, rules", "raw": "labels, raw text", "rules+raw": "labels, rules, raw text"}
TITLES = {"f1": "Field F1, %", "accuracy": "Token accuracy, %"}
STUDENT = {2: 4.303, 3: 3.182, 4: 2.776}
RESAMPLES = 4000
RAW = ("cora", "ads")
"""Sets with raw text left when all labels are used."""


class Place(NamedTuple):
    """A cell of the study: kind is a key of KINDS."""

    set: str
    size: str
    model: str
    kind: str


Figures = Mapping[Place, Mapping[int, Mapping[str, Any]]]
"""What is known: by place and run, "f1", "accuracy" (or None), "counts" (of each test sequence) and "seconds"."""


class Difference(NamedTuple):
    """A paired difference in points, and the interval that holds it with 95 %; None where nothing can be said."""

    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:+.1f}"
        bold = "**" if self.low > 0 or self.high < 0 else ""
        return f"{bold}{self.value:+.1f}{bold} ({self.low:+.1f} to {self.high:+.1f})"


def print_tables(figures: Figures, sets: Sequence[str], sizes: Sequence[str], runs: int, accuracy: set[str]) -> None:
    """Print every table, and name the cells that are missing."""
    for kind, title in KINDS.items():
        if any(place.kind == kind for place in figures):
            print(f"\n### From {title}\n")
            _models_table(figures, sets, sizes, kind, "f1")
    print(f"\n### {TITLES['accuracy']}, all kinds\n")
    for kind in KINDS:
        if any(place.kind == kind and place.set in accuracy for place in figures):
            _models_table(figures, [one for one in sets if one in accuracy], sizes, kind, "accuracy")
    for kind, title in list(KINDS.items())[1:]:
        if any(place.kind == kind for place in figures):
            print(f"\n### What is gained over labels alone by: {title}\n")
            _gains_table(figures, sets, sizes, kind)
    _seconds_table(figures, sets, sizes)
    _speed_table(figures, sets)
    _missing(figures, sets, sizes, runs)


def _models_table(figures: Figures, sets: Sequence[str], sizes: Sequence[str], kind: str, measure: str) -> None:
    """Print models side by side."""
    rows = []
    for one in sets:
        for size in sizes:
            places = [Place(one, size, model, kind) for model in MODELS]
            if not any(place in figures for place in places):
                continue
            cells = [_mean(figures, place, measure, _common(figures, places)) for place in places]
            cells += [_cell(difference(figures, places[0], other, measure)) for other in places[1:]]
            rows.append([f"{one}, {size}", *cells])
    name = f"{TITLES[measure]}, {KINDS[kind]}"
    _print([name, "CRF", "net", "product", "net - CRF", "product - CRF"], rows)


def _gains_table(figures: Figures, sets: Sequence[str], sizes: Sequence[str], kind: str) -> None:
    """Print what rules, raw text or both add to each model, in points of F1."""
    rows = []
    for one in sets:
        for size in sizes:
            pairs = [(Place(one, size, model, ""), Place(one, size, model, kind)) for model in MODELS]
            found = [difference(figures, *pair, "f1") for pair in pairs]
            if any(found):
                rows.append([f"{one}, {size}", *map(_cell, found)])
    _print(["points of field F1", "CRF", "net", "product"], rows)


def _seconds_table(figures: Figures, sets: Sequence[str], sizes: Sequence[str]) -> None:
    rows = []
    for one in sets:
        for size in sizes:
            places = [Place(one, size, model, kind) for model in MODELS for kind in ("", "raw")]
            times = [[run["seconds"] for run in figures.get(place, {}).values()] for place in places]
            if any(times):
                rows.append([f"{one}, {size}", *(f"{mean(t):.1f}" if t else "-" for t in times)])
    print("\n### Seconds to learn, one core\n")
    _print(["", *(f"{model}{more}" for model in MODELS for more in ("", ", raw text"))], rows)


def _speed_table(figures: Figures, sets: Sequence[str]) -> None:
    """Print how fast models of all labels answer, on one core, and how large their files are."""
    rows = []
    for one in sets:
        found = [list(figures.get(Place(one, "all", model, ""), {}).values()) for model in MODELS]
        if all(found):
            rows.append([one, *(f"{mean(run['speed'] for run in runs) / 1000:.0f}" for runs in found)])
            rows[-1] += [f"{mean(run['bytes'] for run in runs) / 1e6:.2f}" for runs in found]
    print("\n### Speed in thousands of tokens a second, and files in MB\n")
    _print(["", *(f"{model}, {what}" for what in ("speed", "MB") for model in MODELS)], rows)


def _missing(figures: Figures, sets: Sequence[str], sizes: Sequence[str], runs: int) -> None:
    """Name the cells with fewer runs than asked for."""
    print("\n### Runs that are there, where some are missing\n")
    for kind in KINDS:
        gaps: dict[str, list[str]] = {}
        for model in MODELS:
            few = []
            for one, size in product(sets, sizes):
                wanted = 1 if size == "all" and model == "crf" else runs
                known = len(figures.get(Place(one, size, model, kind), {}))
                if known < wanted and not (size == "all" and "raw" in kind and one not in RAW):
                    few.append(f"{one} {size}: {known} of {wanted}")
            if few:
                gaps.setdefault(", ".join(few), []).append(model)
        for text, models in gaps.items():
            print(f"* {KINDS[kind]}; {' and '.join(models)}: {text}")


def _common(figures: Figures, places: Sequence[Place]) -> set[int]:
    """Return the runs that all of these places have which have any: means of other runs could not be compared."""
    known = [{*figures[place]} for place in places if place in figures]
    return set.intersection(*known) if places[0].size != "all" else set.union(*known)


def _mean(figures: Figures, place: Place, measure: str, runs: set[int]) -> str:
    known = figures.get(place, {})
    values = [known[run][measure] for run in sorted(runs & {*known}) if known[run].get(measure) is not None]
    if not values:
        return "-"
    return f"{mean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def difference(figures: Figures, a: Place, b: Place, measure: str) -> Difference | None:
    """Return b - a over the runs that both have; None where there are none."""
    first, second = figures.get(a, {}), figures.get(b, {})
    if a.size == "all" and len(first) == 1:
        first = dict.fromkeys(second, next(iter(first.values())))  # the CRF has no seed
    common = sorted({*first} & {*second})
    found = [second[run][measure] - first[run][measure] for run in common if first[run].get(measure) is not None]
    if not found:
        return None
    if a.size == "all":
        low, high = _resampled([first[run] for run in common], [second[run] for run in common], measure)
        return Difference(mean(found), low, high)
    if len(found) < 3:  # an interval of two draws would say nothing
        return Difference(mean(found), None, None)
    half = STUDENT.get(len(found) - 1, 1.96) * stdev(found) / len(found) ** 0.5
    return Difference(mean(found), mean(found) - half, mean(found) + half)


def _resampled(a: Iterable[Any], b: Iterable[Any], measure: str) -> tuple[float | None, float | None]:
    """Return the interval of the difference over resamples of the test sequences."""
    before, after = (_counts(runs, measure) for runs in (a, b))
    if before is None or after is None:
        return None, None
    N = len(before)
    chosen = np.random.default_rng(0).multinomial(N, np.full(N, 1 / N), RESAMPLES)
    found = [_ratio(chosen @ counts, measure) for counts in (before, after)]
    low, high = np.quantile(found[1] - found[0], [0.025, 0.975]).tolist()
    return low, high


def _counts(runs: Iterable[Any], measure: str) -> NDArray[np.int64] | None:
    """Return the counts of each test sequence, added up over runs."""
    found = [run.get("counts") for run in runs]
    if not found or any(counts is None for counts in found):
        return None
    total = np.sum([np.array(counts, np.int64) for counts in found], axis=0)
    return total[:, :3] if measure == "f1" else total[:, 3:]


def _ratio(sums: NDArray[np.int64], measure: str) -> NDArray[np.float64]:
    """Return F1 (from right, predicted and gold segments) or accuracy (right and all tokens), in percent."""
    if measure == "f1":
        return 200.0 * sums[:, 0] / np.maximum(sums[:, 1] + sums[:, 2], 1)
    return 100.0 * sums[:, 0] / np.maximum(sums[:, 1], 1)


def _cell(found: Difference | None) -> str:
    return "-" if found is None else str(found)


def _print(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"| {' | '.join(header)} |")
    print("|" + "---|" * len(header))
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()
