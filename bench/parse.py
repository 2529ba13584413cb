"""The reference parser: references a second, cold start, memory; the peers are the targets that we set ourselves.

labelled  references a second with fields, confidences and certificates, on one core
bibtex    references a second from text to BibTeX, on one core
cold      one reference through `python -m espalier parse`, in a new process, kernels compiled before
memory    the largest resident set of a process that parses a generated file of `--memory` references, to BibTeX and to
          JSON lines, and of one that parses a tenth of it: what grows are the keys that were given, which must differ
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

from common import arguments, compare, write_json
from espalier.citations.formats import write
from espalier.citations.parser import Parser
from espalier.extract.extractor import BATCH
from espalier.loading import load

ONE = "L. O. Andersen. Program analysis and specialization for the C programming language. PhD thesis, DIKU, 1994."
# A child's peak begins with what its parent holds, so a process that holds next to nothing has to start it.
WATCH = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
sys.stderr.write(f"\\n{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}")
sys.exit(code)
"""
TARGETS = {"labelled": 5000.0, "bibtex": 3000.0, "cold": 1.5, "memory": 500.0}


def texts(data: Path, n: int) -> list[str]:
    """Return n different references: those of the shared set, or made ones where it is not there."""
    path = data / "unlabelled_refs" / "normalised" / "unlabelled.jsonl.gz"
    if not path.exists():
        return list(islice(numbered([ONE]), n))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line)["text"] for line in islice(file, n)]


def numbered(references: list[str]) -> Iterator[str]:
    """Yield the references again and again, each time with another word in them: new text for ever."""
    for n, text in enumerate(cycle(references)):
        yield f"{text} Note {n}."


def rate(
    fresh: Callable[[], Parser], work: Callable[[Parser, list[str]], object], references: list[str], batch: int = BATCH
) -> float:
    """Return references a second of CPU time: of every batch its best time of three rounds, and then the sum.

    Every round has a new parser, which has met other references than those that are timed: what it remembers of words
    it has from the batches before, as in a long file.
    """
    starts = range(batch, len(references), batch)
    best = [float("inf")] * len(starts)
    for _ in range(3):
        parser = fresh()
        work(parser, references[:batch])  # compile, and lay out the weights
        for i, start in enumerate(starts):
            before = time.thread_time()
            work(parser, references[start : start + batch])
            best[i] = min(best[i], time.thread_time() - before)
    return (len(references) - batch) / sum(best)


def cold_start(command: list[str], rounds: int) -> float:
    """Return the best wall-clock time of a new process that parses one reference, with bytecode as installed."""
    best = float("inf")
    with tempfile.TemporaryDirectory() as directory:
        surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        surroundings["PYTHONPYCACHEPREFIX"] = directory
        for _ in range(rounds + 1):  # the first one writes the bytecode
            before = time.perf_counter()
            subprocess.run(command, input=ONE.encode(), check=True, stdout=subprocess.DEVNULL, env=surroundings)
            best = min(best, time.perf_counter() - before)
    return best


def peak_memory(command: list[str], references: list[str], lines: int) -> float:
    """Return the largest resident set, in MB, of a process that parses a file of so many lines."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "references.txt"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in islice(numbered(references), lines))
        watched = [sys.executable, "-c", WATCH, *command, str(path)]
        done = subprocess.run(watched, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return int(done.stderr.split()[-1]) / 1024


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--model", metavar="FILE", help="a model file; the bundled one if not given")
    parser.add_argument("--references", type=int, default=4096, help="how many to time")
    parser.add_argument("--memory", type=int, default=100_000, metavar="N", help="lines of the file; 0 leaves it out")
    options = parser.parse_args()
    if options.references <= BATCH:
        parser.error(f"--references: the first {BATCH} are not timed, so give more")

    def fresh() -> Parser:
        chosen = load("citations") if options.model is None else Parser.from_file(options.model)
        chosen.threads = 1
        for part in (chosen.model, getattr(chosen.model, "base_", None)):
            if part is not None:
                part.threads = 1
        return chosen

    def to_bibtex(parser: Parser, part: list[str]) -> None:
        for _ in write(parser.parse_many(part), "bibtex"):
            pass

    references = texts(options.data, options.references)
    labelled = rate(fresh, lambda parser, part: list(parser.parse_many(part)), references)
    bibtex = rate(fresh, to_bibtex, references)
    rows = [
        compare("parse: text to fields", "refs/s", labelled, TARGETS["labelled"], "target", higher_is_better=True),
        compare("parse: text to BibTeX", "refs/s", bibtex, TARGETS["bibtex"], "target", higher_is_better=True),
    ]
    command = [sys.executable, "-m", "espalier", "parse"]
    command += [] if options.model is None else ["--model", options.model]
    cold = cold_start([*command, "--format", "bibtex", "-"], 7)
    rows.append(compare("parse: one reference, new process", "s", cold, TARGETS["cold"], "target"))
    for lines in (options.memory // 10, options.memory):
        for format in ("bibtex", "jsonl") if lines else ():
            memory = peak_memory([*command, "--format", format], references, lines)
            name = f"parse: memory, {lines:,} lines to {format}"
            rows.append(compare(name, "MB", memory, TARGETS["memory"], "target"))
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
