"""What the benchmarks share: corpora, timing, the machine, and the JSON they write.

Every script takes `--json FILE` and writes a list of {"name", "unit", "ours", "peer", "peer_name", "ratio"}; a ratio
above 1 means that ours is better. Times are minima over interleaved rounds: CPU time on one thread, wall time on two.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
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
    return parser


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
    import gzip

    for path in (data / name / "normalised" / f"{split}.jsonl", data / name / "normalised" / f"{split}.jsonl.gz"):
        if path.exists():
            opener = gzip.open if path.suffix == ".gz" else open
            with opener(path, "rt", encoding="utf-8") as file:
                records = [json.loads(line) for line in file]
            return [r["tokens"] for r in records], [r[tags] for r in records]
    sys.exit(f"no {name}/{split} under {data}; pass --data or set ESPALIER_DATA")
