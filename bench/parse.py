"""The reference parser: one reference, many references, cold start, memory.

labelled  references a second with fields, confidences and certificates, in batches, on one core
bibtex    references a second from text to BibTeX, in batches, on one core
one       milliseconds of processor for one call of `parser.parse`
CRF       the same three with the first expert of the bundled product alone, where the net is never asked
k=3       how much longer three readings of each reference take than one, in batches
cold      one reference through `python -m espalier parse`, in a new process, kernels compiled before: time and memory
memory    the largest resident set of a process that parses a generated file of `--memory` references, to BibTeX and to
          JSON lines, and of one that parses a tenth of it: what grows are the keys that were given, which must differ

The peers are the targets that we set ourselves. With `--old DIR`, a checkout of another version, the peer is that
version, measured in turns with this one; it runs on the Python of `DIR/.venv` if there is one, and on this one if not.

Times are those of the processor, all threads together, and every part of the model is told to use one.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from common import Row, arguments, compare, parsed, write_json
from espalier.extract.extractor import BATCH

ONE = "L. O. Andersen. Program analysis and specialization for the C programming language. PhD thesis, DIKU, 1994."
# One version of the package in a process of its own: it times pieces of work that it reads from its input.
WORKER = """
import json, sys, time
from itertools import islice
import espalier
references, model = json.load(open(sys.argv[1], encoding="utf-8")), sys.argv[2]
def parts_of(model):
    yield model
    for part in vars(model).values():
        for one in part if isinstance(part, list) else [part]:
            if hasattr(one, "threads"):
                yield from parts_of(one)
def first_alone(parser):
    base = getattr(parser.model, "base_", None)
    if hasattr(base, "experts_"):
        parser.model.base_ = base.experts_[0]
WORK = {
    "labelled": lambda parser, part: list(parser.parse_many(part)),
    "bibtex": lambda parser, part: [record.to_bibtex() for record in parser.parse_many(part)],
    "one": lambda parser, part: [parser.parse(text) for text in part],
    "k=3": lambda parser, part: list(parser.parse_many(part, k=3)),
}
for line in sys.stdin:
    work, alone, start, stop, fresh = json.loads(line)
    if fresh:
        parser = espalier.load(model)
        if not hasattr(parser, "parse_many"):  # a file of 0.1.0 does not say that it is for references
            from espalier.citations.parser import Parser
            parser = Parser.from_file(model)
        if alone:
            first_alone(parser)
        for part in parts_of(parser):
            part.threads = 1
    before = time.process_time()
    WORK[work](parser, references[start:stop])
    print(time.process_time() - before, flush=True)
"""
# A child's peak begins with what its parent holds, so a process that holds next to nothing has to start it.
WATCH = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
sys.stderr.write(f"\\n{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}")
sys.exit(code)
"""
FIRST = "CRF "
TARGETS = {
    "labelled": 3000.0, "bibtex": 3400.0, "one": 1.2, "k=3": 5.0, "cold": 0.6, "cold memory": 150.0, "memory": 500.0,
    "CRF labelled": 5600.0, "CRF bibtex": 3400.0, "CRF one": 1.2,
}  # fmt: skip


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


class Version:
    """One version of the package: its Python, its surroundings, and a process that times pieces of work."""

    def __init__(self, checkout: Path | None, model: str, references: Path) -> None:
        own = None if checkout is None else checkout / ".venv" / "bin" / "python"
        self.python = sys.executable if own is None or not own.exists() else str(own)
        self.surroundings = dict(os.environ)
        if checkout is not None:
            self.surroundings["PYTHONPATH"] = str(checkout / "src")
        self.process = subprocess.Popen(
            [self.python, "-c", WORKER, str(references), model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.surroundings,
        )

    def seconds(self, work: str, start: int, stop: int, fresh: bool = False) -> float:
        """Return the processor time that some of the references take; fresh : with a new parser.

        work : one of those of the process, after `CRF ` with the first expert alone.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = [work.removeprefix(FIRST), work.startswith(FIRST), start, stop, fresh]
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.python} ended with {self.process.wait()}")
        return float(answer)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def times(versions: list[Version], work: str, n: int, batch: int, rounds: int) -> list[float]:
    """Return seconds for each reference: of every batch the best time of some rounds, and then the sum.

    Every round has a new parser, which has met other references than those that are timed: what it remembers of words
    it has from the batches before, as in a long file. The versions take turns.
    """
    starts = range(batch, n, batch)
    best = [[float("inf")] * len(starts) for _ in versions]
    for _ in range(rounds):
        for version in versions:
            version.seconds(work, 0, batch, fresh=True)  # compile, and lay out the weights
        for i, start in enumerate(starts):
            for version, own in zip(versions, best, strict=True):
                own[i] = min(own[i], version.seconds(work, start, min(start + batch, n)))
    return [sum(own) / (n - batch) for own in best]


def cold_start(versions: list[Version], command: list[str], rounds: int) -> list[tuple[float, float]]:
    """Return the best wall-clock time of a new process that parses one reference, with bytecode as installed.

    And its largest resident set, in MB.
    """
    best = [(float("inf"), float("inf"))] * len(versions)
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(rounds + 1):  # the first one writes the bytecode
            for i, version in enumerate(versions):
                surroundings = {**version.surroundings, "PYTHONPYCACHEPREFIX": directory}
                surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
                before = time.perf_counter()
                memory = watched([version.python, *command, "-"], surroundings, ONE)
                best[i] = min(best[i][0], time.perf_counter() - before), min(best[i][1], memory)
    return best


def watched(command: list[str], surroundings: dict[str, str] | None = None, text: str = "") -> float:
    """Run a command and return its largest resident set, in MB."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", WATCH, *command],
        input=text,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=surroundings,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return int(done.stderr.split()[-1]) / 1024


def peak_memory(command: list[str], references: list[str], lines: int) -> float:
    """Return the largest resident set, in MB, of a process that parses a file of so many lines."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "references.txt"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in islice(numbered(references), lines))
        return watched([*command, str(path)])


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--model", metavar="FILE", help="a model file; the bundled one if not given")
    parser.add_argument("--old", type=Path, metavar="DIR", help="a checkout of another version, to compare with")
    parser.add_argument("--references", type=int, default=4096, help="how many to time")
    parser.add_argument("--memory", type=int, default=100_000, metavar="N", help="lines of the file; 0 leaves it out")
    options = parsed(parser, references=60, memory=20)
    sizes = Sizes(20, 20, 1, 1) if options.quick else Sizes(BATCH, 256, 3, 7)
    if options.references <= sizes.batch:
        parser.error(f"--references: the first {sizes.batch} are not timed, so give more")
    references = texts(options.data, options.references)
    model = options.model or "citations"
    with tempfile.TemporaryDirectory() as directory:
        given = Path(directory) / "references.json"
        given.write_text(json.dumps(references), encoding="utf-8")
        versions = [Version(None, model, given)]
        versions += [] if options.old is None else [Version(options.old.resolve(), model, given)]
        rows = measured(versions, len(references), sizes)
        command = ["-m", "espalier", "parse", *([] if options.model is None else ["--model", options.model])]
        cold = cold_start(versions, [*command, "--format", "bibtex"], sizes.cold)
        for version in versions:
            version.close()
    rows.append(row("one reference, new process", "s", "cold", [seconds for seconds, _ in cold]))
    rows.append(row("memory, one reference, new process", "MB", "cold memory", [memory for _, memory in cold]))
    for lines in (options.memory // 10, options.memory):
        for format in ("bibtex", "jsonl") if lines else ():
            memory = peak_memory([sys.executable, *command, "--format", format], references, lines)
            rows.append(row(f"memory, {lines:,} lines to {format}", "MB", "memory", [memory]))
    write_json(options.json, rows)


class Sizes(NamedTuple):
    """References in a batch and in a small one, and how often a batch and a new process are timed."""

    batch: int
    small: int
    rounds: int
    cold: int


def measured(versions: list[Version], n: int, sizes: Sizes) -> list[Row]:
    """Time the calls of Python: n references in batches, the first few one by one and with other readings."""
    rows = []
    few, small, rounds = min(n, 2 * sizes.batch), sizes.small, sizes.rounds
    for who, named in (("", ""), (FIRST, "CRF alone, ")):
        for work, name in (("labelled", "text to fields"), ("bibtex", "text to BibTeX")):
            found = [1 / seconds for seconds in times(versions, who + work, n, sizes.batch, rounds)]
            rows.append(row(named + name, "refs/s", who + work, found, higher_is_better=True))
        one = [1000 * seconds for seconds in times(versions, f"{who}one", few, small, rounds)]
        rows.append(row(f"{named}one call", "ms", f"{who}one", one))
    best, three = (times(versions, work, few, small, min(rounds, 3 - k)) for k, work in enumerate(("labelled", "k=3")))
    rows.append(row("k=3 over k=1", "times", "k=3", [b / a for a, b in zip(best, three, strict=True)]))
    return rows


def row(name: str, unit: str, key: str, found: list[float], *, higher_is_better: bool = False) -> Row:
    """Compare our figure with the old version's, if there is one, or with the target."""
    peer, peer_name = (found[1], "old version") if len(found) > 1 else (TARGETS[key], "target")
    return compare(f"parse: {name}", unit, found[0], peer, peer_name, higher_is_better=higher_is_better)


if __name__ == "__main__":
    main()
