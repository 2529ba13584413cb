"""What the benchmarks share: corpora, timing, the machine, and the JSON they write.

Every script takes `--json FILE` and writes a list of {"name", "unit", "ours", "peer", "peer_name", "ratio"}; a ratio
above 1 means that ours is better. Times are minima over interleaved rounds: CPU time on one thread, wall time on two.

With `--quick` a script reads the first records of each data set and does one round. That takes seconds and shows that
it runs; its figures mean nothing. `tests/test_scripts.py` runs every script in this way.
"""

from __future__ import annotations

import argparse
import atexit
import gzip
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path

import numpy as np

import espalier as es

DATA = Path(os.environ.get("ESPALIER_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Row:
    """One comparison."""

    name: str
    unit: str
    ours: float
    peer: float
    peer_name: str
    ratio: float


def compare(name: str, unit: str, ours: float, peer: float, peer_name: str, *, higher_is_better: bool = False) -> Row:
    """Make a row whose ratio is above 1 where ours is better, and print it."""
    ratio = ours / peer if higher_is_better else peer / ours
    print(f"{name:<58} {ours:>12.4g} {peer:>12.4g} {unit:<10} {ratio:>7.2f}x  {peer_name}", flush=True)
    return Row(name, unit, ours, peer, peer_name, ratio)


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", metavar="FILE", help="write the rows as JSON")
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the shared data sets")
    parser.add_argument("--quick", action="store_true", help="a few records and one round, to see that it runs")
    return parser


def parsed(parser: argparse.ArgumentParser, **quick: object) -> argparse.Namespace:
    """Read the command line; with --quick the data are cut, and options take the values given here."""
    options = parser.parse_args()
    if options.quick:
        options.data = first_records(options.data)
        vars(options).update(quick)
    return options


def first_records(data: Path, n: int = 30) -> Path:
    """Copy the first n records of the data sets to a directory that is removed at the end."""
    directory = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    for name in ("ads", "conll04", "cora", "umass", "unlabelled_refs"):
        (directory / name / "normalised").mkdir(parents=True)
        for path in (data / name / "normalised").glob("*.jsonl*"):
            target = directory / name / "normalised" / path.name.removesuffix(".gz")
            target.write_text("".join(islice(lines_of(path), n)), encoding="utf-8")
    (directory / "cora" / "normalised" / "train25.json").write_text(json.dumps([list(range(25))]))
    return directory


def lines_of(path: Path) -> Iterator[str]:
    """Yield the lines of a file, gzipped or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        yield from file


def write_json(path: str | None, rows: Sequence[Row]) -> None:
    """Write the rows, and beside them (FILE.machine.json) what they were measured on."""
    if path is None:
        return
    Path(path).write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    Path(path).with_suffix(".machine.json").write_text(json.dumps(machine(), indent=1) + "\n")


def machine() -> dict[str, str]:
    """Describe the machine and the versions."""
    import numba

    model = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor(),
    )
    return {
        "cpu": model,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "espalier": es.__version__,
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def interleaved(rounds: int, *tasks: Callable[[], float]) -> list[float]:
    """Run the tasks in turn, several rounds; each returns its own time; return the minimum of each."""
    best = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for k, task in enumerate(tasks):
            best[k] = min(best[k], task())
    return best


def cpu_time(work: Callable[[], object], repeat: int = 1) -> float:
    """Return the CPU seconds of the calling thread, the best of `repeat`."""
    return _timed(work, repeat, time.thread_time)


def wall_time(work: Callable[[], object], repeat: int = 1) -> float:
    """Return the wall-clock seconds, the best of `repeat`."""
    return _timed(work, repeat, time.perf_counter)


def _timed(work: Callable[[], object], repeat: int, clock: Callable[[], float]) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


Sequences = tuple[list[list[str]], list[list[str]]]


def labelled(data: Path, name: str, split: str, tags: str = "labels") -> Sequences:
    """Read tokens and labels (`labels`, `bio`, `paths` or `bio_paths`) of a normalised data set."""
    records = list(records_of(data, name, split))
    return [r["tokens"] for r in records], [r[tags] for r in records]


def unlabelled(data: Path, name: str, n: int | None = None) -> list[list[str]]:
    """Read the tokens of the first n records without labels of a normalised data set, or of all."""
    return [r["tokens"] for r in islice(records_of(data, name, "unlabelled"), n)]


def records_of(data: Path, name: str, split: str) -> Iterator[dict[str, list[str]]]:
    """Yield the records of a split."""
    path = data / name / "normalised" / f"{split}.jsonl"
    path = path if path.exists() else path.with_suffix(".jsonl.gz")
    if not path.exists():
        sys.exit(f"no {name}/{split} under {data}; pass --data or set ESPALIER_DATA")
    return map(json.loads, lines_of(path))
