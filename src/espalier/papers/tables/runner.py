"""Run cells: those that are kept are read, the others computed, on several processes if wanted.

Every cell is computed by one process and kept by that process, so an interrupted run loses nothing but
the cells it was at. Figures never depend on how many processes there are, nor on which cells were kept. Processes are
joblib's (loky) where it is installed, else those of the standard library.

Cells of equal settings and run learn the same models, whatever table they are in, and a process remembers those; so
they go to one process, one after the other. The longest bundle is handed out first, so that all processes end at about
the same time: no later than 4/3 of the best schedule (Graham, 1969).
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from typing import NamedTuple, TypeAlias

from espalier.errors import EspalierError, InputError
from espalier.papers.tables.cache import Cache, Outcome, configuration
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import RUNS, Cell, Place, Result, Table, results_of

__all__ = [
    "FailedCell", "Job", "Reproduction", "bundles", "compute", "expected_minutes", "expected_seconds", "reproduce",
]  # fmt: skip

Job: TypeAlias = "tuple[Table, Cell, Data, Cache | None]"


class FailedCell(NamedTuple):
    """A cell that raised, and what it said."""

    cell: Cell
    what: str


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What came of a run: results in the order of the tables, failed cells, and notices worth reading.

    seconds : what the cells took when they were computed, table by table.
    """

    results: tuple[Result, ...]
    failures: tuple[FailedCell, ...]
    notices: tuple[str, ...]
    seconds: Mapping[str, float]


def reproduce(
    tables: Sequence[Table],
    data: Data,
    *,
    runs: int = RUNS,
    jobs: int = 1,
    quick: bool = False,
    cache: Cache | None = None,
    kept_only: bool = False,
    news: Callable[[str], None] | None = None,
) -> Reproduction:
    """Compute tables, all their cells and then the summaries; `news` hears of every finished cell.

    runs : training subsets a figure is the mean of. quick : only the columns that a table declares quick.
    kept_only : compute nothing; a figure is the mean of the runs that are kept.
    """
    for name, value in (("runs", runs), ("jobs", jobs)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name} is {value!r}", hint="expected a whole number of at least 1")
    data.check(split for table in tables for split in table.needs)
    todo: list[Job] = []
    done: list[tuple[Cell, Outcome]] = []
    notices: list[str] = []
    for table in tables:
        for cell in table.to_run(runs, quick=quick):
            kept, why = (None, "") if cache is None else cache.load(configuration(table, cell, data))
            if why:
                notices.append(why)
            if kept is not None:
                done.append((cell, kept))
            elif not kept_only:
                todo.append((table, cell, data, cache))
    total, failures = len(todo) + len(done), []
    for cell, outcome in _computed(todo, jobs):
        if isinstance(outcome, str):
            failures.append(FailedCell(cell, outcome))
        else:
            done.append((cell, outcome))
        if news is not None:
            news(f"{len(done) + len(failures)} of {total} cells; last {cell}")
    heard = Counter((cell.table, note) for cell, outcome in sorted(done, key=_order) for note in outcome.notes)
    notices += [f"{table}: {note}" + (f" ({n} cells)" if n > 1 else "") for (table, note), n in heard.items()]
    return _summed_up(tables, done, failures, notices)


def _order(finished: tuple[Cell, Outcome]) -> tuple[str, str, str, int]:
    cell = finished[0]
    return cell.table, cell.row, cell.column, cell.run


def _summed_up(
    tables: Iterable[Table], done: Iterable[tuple[Cell, Outcome]], failures: list[FailedCell], notices: list[str]
) -> Reproduction:
    figures: dict[str, dict[Place, dict[int, float]]] = {}
    seconds: dict[str, float] = {}
    for cell, outcome in done:
        seconds[cell.table] = seconds.get(cell.table, 0.0) + outcome.seconds
        for place, value in outcome.figures.items():
            figures.setdefault(cell.table, {}).setdefault(place, {})[cell.run] = value
    results = [result for table in tables for result in results_of(table, figures.get(table.name, {}))]
    return Reproduction(tuple(results), tuple(failures), tuple(notices), seconds)


def compute(job: Job) -> tuple[Cell, Outcome | str]:
    """Compute one cell and keep it; an error of the cell comes back as text, so that the others go on.

    Its seconds are processor time, which other programs on the machine change little.
    """
    table, cell, data, cache = job
    begin = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            measured = table.measure(data, cell)
    except Exception as error:  # whatever it is, it concerns this cell alone
        what = str(error) if isinstance(error, EspalierError) else f"{type(error).__name__}: {error}"
        return cell, what
    figures = measured if isinstance(measured, Mapping) else {(cell.row, cell.column): measured}
    figures = {place: float(value) for place, value in figures.items()}
    wrong = next((place for place in figures if place not in table.places), None)
    if wrong is not None or not all(map(math.isfinite, figures.values())):
        return cell, f"it measured {figures}, which are not finite figures of places of the table"
    notes = tuple(dict.fromkeys(str(warning.message) for warning in heard))
    outcome = Outcome(figures, time.process_time() - begin, notes)
    if cache is not None:
        cache.store(configuration(table, cell, data), outcome)
    return cell, outcome


def _computed(todo: Sequence[Job], jobs: int) -> Iterator[tuple[Cell, Outcome | str]]:
    """Compute the cells, in this process or in several, and yield them as they finish."""
    jobs = min(jobs, len(todo))
    if jobs <= 1:
        yield from map(compute, todo)
        return
    try:
        for finished in _in_processes(bundles(todo), jobs):
            yield from finished
    except BrokenExecutor as error:
        advice = "finished cells are kept: run again with fewer jobs"
        raise EspalierError("a process died, perhaps for want of memory", hint=f"{advice}") from error


def _compute_all(bundle: Sequence[Job]) -> list[tuple[Cell, Outcome | str]]:
    return [compute(job) for job in bundle]


def _in_processes(todo: Sequence[Sequence[Job]], jobs: int) -> Iterator[list[tuple[Cell, Outcome | str]]]:
    if find_spec("joblib") is not None:
        from joblib import Parallel, delayed

        with warnings.catch_warnings():
            # Workers keep data sets and fitted bases, and loky replaces one that has grown: nothing to worry about.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
            yield from Parallel(n_jobs=jobs, backend="loky", batch_size=1, return_as="generator_unordered")(
                delayed(_compute_all)(bundle) for bundle in todo
            )
    else:
        # Not forked: a child of a process with threads may inherit a lock that nobody will open.
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            for future in as_completed([pool.submit(_compute_all, bundle) for bundle in todo]):
                yield future.result()


# Which cells one process computes, and in which order.


def bundles(todo: Sequence[Job]) -> list[list[Job]]:
    """Return the cells in bundles, each for one process, those that take longest first."""
    found: dict[str, list[Job]] = {}
    for job in todo:
        found.setdefault(_shared(job[0], job[1]), []).append(job)
    # Cells of one bundle but for the first cost little where they share everything; the sum is an upper bound.
    return sorted(found.values(), key=lambda bundle: -sum(map(expected_seconds, bundle)))


def _shared(table: Table, cell: Cell) -> str:
    """Return what a cell has in common with those that learn the same."""
    return table.together or json.dumps([cell.settings, cell.run], sort_keys=True)


def expected_minutes(tables: Iterable[Table], data: Data, cache: Cache) -> dict[str, float]:
    """Return what each table takes on one core, by name: from the cells that are kept, as far as there are any."""
    return {
        table.name: sum(expected_seconds((table, cell, data, cache)) for cell in table.to_run()) / 60.0
        for table in tables
    }


def expected_seconds(job: Job) -> float:
    """Return what a cell took when it was last computed, by whatever code; else its share of what the table takes."""
    table, cell, data, cache = job
    kept = None if cache is None else Cache(cache.directory, stale=True).load(configuration(table, cell, data))[0]
    return 60.0 * table.minutes / max(sum(1 for _ in table.to_run()), 1) if kept is None else kept.seconds
