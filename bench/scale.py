"""Beyond one core: references a second, core seconds and memory of `espalier parse --jobs` and `espalier run`.

parse    one process, and as many as `--workers` says, text to JSON Lines
run      a Dask cluster of so many processes, text to Parquet, with the model loaded and the cluster started
cost     core seconds a million references, of the whole tree of processes; start-up is taken out by measuring two sizes
memory   the largest resident set of any process of the tree, at a tenth of the records and at all of them
size     of the output

The references are those of `examples/references.txt` with other names, titles, years and numbers in their places.
Times are of the wall and need a quiet machine; core seconds need none.
"""

from __future__ import annotations

import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from common import Row, arguments, compare, parsed, write_json

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "references.txt"
BUDGET = 1000.0
"""Core seconds a million references that we allow ourselves."""

_ONSETS = ("b", "br", "d", "f", "gr", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v", "w", "z")
_ENDS = ("an", "el", "er", "ias", "in", "ola", "on", "ov", "sen", "ski", "us", "wood")


def references(count: int, seed: int = 0) -> Iterator[str]:
    """Yield references: the examples, with every long word and every number replaced by one of the same shape."""
    rng = random.Random(seed)
    patterns = [line for line in EXAMPLES.read_text(encoding="utf-8").splitlines() if line.strip()]
    words = [
        "".join(rng.choice(_ONSETS) + rng.choice("aeiou") for _ in range(rng.randint(1, 2))) + rng.choice(_ENDS)
        for _ in range(50_000)
    ]

    def other(found: re.Match[str]) -> str:
        old = found[0]
        if old.isdigit():
            year = len(old) == 4 and "1500" <= old <= "2030"
            return str(rng.randint(1950, 2024)) if year else str(rng.randint(1, 10 ** len(old) - 1))
        # Half of the words stay, so that a reference still looks like one: Journal, Proceedings, the names of months.
        if rng.random() < 0.5:
            return old
        word = rng.choice(words)
        return word.capitalize() if old[0].isupper() else word

    for n in range(count):
        yield re.sub(r"\d+|\b[^\W\d_]{5,}\b(?!:/)", other, patterns[n % len(patterns)])


@dataclass(frozen=True)
class Measured:
    """Seconds of the wall and of all cores, and the largest process in MB."""

    wall: float
    cores: float
    memory: float


def measure(command: list[str]) -> Measured:
    """Run a command and watch its tree of processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    largest = [0.0]
    watcher = threading.Thread(target=_watch, args=(process.pid, largest))
    watcher.start()
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    wall = time.perf_counter() - begin
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(wall, cores, largest[0] / 1e6)


def _watch(pid: int, largest: list[float]) -> None:
    while True:
        try:
            top = psutil.Process(pid)
            sizes = [process.memory_info().rss for process in (top, *top.children(recursive=True))]
            largest[0] = max(largest[0], *sizes)
        except psutil.Error:
            if not psutil.pid_exists(pid):
                return
        time.sleep(0.2)


def commands(directory: Path, count: int, workers: int) -> tuple[list[str], list[str]]:
    """Return how to parse a file of so many references, and how to run a job on it."""
    path = directory / f"{count}.txt"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in references(count))
    job = directory / f"{count}-{workers}.toml"
    job.write_text(
        f'input = "{path.name}"\noutput = "out-{count}-{workers}-{time.monotonic_ns()}"\nmodel = "citations"\n'
        f"partition_bytes = {max(100_000, min(1_000_000, path.stat().st_size // 16))}\n"
    )
    program = [sys.executable, "-m", "espalier"]
    parse = [*program, "parse", str(path), "--input", "lines", "-f", "jsonl", "-o", os.devnull, "--jobs", str(workers)]
    return parse, [*program, "run", str(job), "--workers", str(workers)]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--records", type=int, default=50_000, help="references to parse")
    parser.add_argument("--only", nargs="*", choices=("parse", "run"), default=["parse", "run"])
    parser.add_argument("--workers", default="1,2", help="numbers of processes, as 1,2,4; the first is the peer")
    options = parsed(parser, records=100, workers="1")
    numbers = [int(number) for number in options.workers.split(",")]
    tenth = options.records // 10
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        for command in () if options.quick else commands(Path(name), 100, numbers[-1]):
            measure(command)  # kernels are compiled once a machine
        found: dict[tuple[str, int, int], Measured] = {}
        for count in (tenth, options.records):
            for number in numbers:
                for what, command in zip(("parse", "run"), commands(Path(name), count, number), strict=True):
                    if what in options.only:
                        found[what, count, number] = measure(command)
        for what in options.only:
            rows += compared(found, what, tenth, options.records, numbers)
        if "run" in options.only:
            rows.append(sizes(Path(name), options.records, numbers[0]))
    write_json(options.json, rows)


def compared(
    found: dict[tuple[str, int, int], Measured], what: str, few: int, many: int, numbers: list[int]
) -> list[Row]:
    """Compare sizes and numbers of processes; rates and costs are those between the two sizes, without the start."""
    rows = []

    def rate(number: int) -> float:
        return (many - few) / max(1e-9, found[what, many, number].wall - found[what, few, number].wall)

    for number in numbers:
        name = f"{what}: {number} {'process' if number == 1 else 'processes'}"
        rows.append(compare(name, "refs/s", rate(number), rate(numbers[0]), f"{numbers[0]}", higher_is_better=True))
    costs = {n: 1e6 * (found[what, many, n].cores - found[what, few, n].cores) / (many - few) for n in numbers}
    rows.append(compare(f"{what}: a million references", "core s", costs[numbers[0]], BUDGET, "budget"))
    for number in numbers[1:]:
        name = f"{what}: a million references, {number} processes"
        rows.append(compare(name, "core s", costs[number], costs[numbers[0]], f"{numbers[0]}"))
    for number in numbers:
        large, small = found[what, many, number].memory, found[what, few, number].memory
        rows.append(compare(f"{what}: largest process of {number}, {many:,}", "MB", large, small, f"{few:,}"))
    return rows


def sizes(directory: Path, count: int, workers: int) -> Row:
    """Compare the bytes of the Parquet files with those of the text."""
    written = sum(path.stat().st_size for path in directory.glob(f"out-{count}-{workers}-*/parts/*"))
    text = (directory / f"{count}.txt").stat().st_size
    return compare("run: a reference in Parquet", "bytes", written / count, text / count, "text")


if __name__ == "__main__":
    main()
