"""`ConvCRF`: how fast it labels and learns, what it holds in memory, and what rounding its weights costs.

label     references a second, words known, in batches, on one core
one       milliseconds of processor for the scores of one reference
train     references a second of one epoch that learns tokens, and of one that learns sequences: processor time on one
          thread, wall time on two
load      seconds until a model file is ready
memory    MB that a process holds at most that reads 60,000 references, has a teacher label them, and takes some steps
rounding  labels in a thousand that change where the weights are stored in one byte, or two, instead of four

The net is the default one. The peers are the targets that we set ourselves; 333 references a second are 60,000 in 20
epochs in an hour. References are those of CORA, repeated where more are wanted.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # must precede NumPy

import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path

import numpy as np

import espalier as es
from common import Row, arguments, compare, cpu_time, interleaved, labelled, parsed, wall_time, write_json
from espalier.corpus import Corpus
from espalier.estimators.conv_learned import lessons, with_soft_labels
from espalier.models.conv import Parameters

STEPS = 20
"""Steps of training that memory is measured after."""


def main() -> None:
    """Measure everything, or the memory of this process alone."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--references", type=int, default=1024, help="references to label and to learn from")
    parser.add_argument("--memory", type=int, default=60_000, help="references whose memory is measured")
    parser.add_argument("--memory-of", type=int, help="only measure this process, with so many references")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--channels", type=int, default=128)
    options = parsed(parser, references=64, memory=100, rounds=1, channels=16)
    corpus = references(options.data, options.memory_of or options.references)
    if options.memory_of:
        print(peak_of_training(corpus, options.channels))
        return
    model = es.ConvCRF(options.channels, epochs=2, crf_epochs=1, min_steps=0, threads=1).fit(corpus)
    rows = [*label_rows(model, corpus, options.rounds), *train_rows(model, corpus, options.rounds)]
    rows += file_rows(model, corpus)
    command = [sys.executable, __file__, "--memory-of", str(options.memory), "--channels", str(options.channels)]
    found = subprocess.run([*command, "--data", str(options.data)], capture_output=True, text=True, check=True)
    rows.append(compare(f"memory, {options.memory:,} references", "MB", float(found.stdout), 2000.0, "target"))
    write_json(options.json, rows)


def references(data: Path, n: int) -> Corpus:
    """Return n references with B- and I- tags, as texts."""
    X, y = labelled(data, "cora", "train", "bio")
    documents = [es.Document.from_tokens(x, tags) for x, tags in zip(X, y, strict=True)]
    return Corpus.from_documents(list(islice(cycle(documents), n)))


def label_rows(model: es.ConvCRF, corpus: Corpus, rounds: int) -> list[Row]:
    """Measure scores in batches and one by one."""
    some = [Corpus.from_documents([document]) for document in (corpus.documents or ())[:100]]
    model.threads = 1

    def one_by_one() -> None:
        for each in some:
            model.potentials(each)

    model.potentials(corpus)  # its words are known from now on
    many, single = interleaved(rounds, lambda: cpu_time(lambda: model.potentials(corpus)), lambda: cpu_time(one_by_one))
    return [
        compare("label, in batches", "refs/s", len(corpus) / many, 1200.0, "target", higher_is_better=True),
        compare("label, one reference", "ms", 1e3 * single / len(some), 2.5, "target"),
    ]


def train_rows(model: es.ConvCRF, corpus: Corpus, rounds: int) -> list[Row]:
    """Measure an epoch of each kind."""

    def epoch(threads: int, **kind: int) -> None:
        es.ConvCRF(model.channels, min_steps=0, threads=threads, **kind).fit(corpus)

    tokens, sequences = {"epochs": 1, "crf_epochs": 0}, {"epochs": 0, "crf_epochs": 1}
    found = []
    for name, kind in (("tokens", tokens), ("sequences", sequences)):
        one, two = interleaved(
            min(rounds, 2),
            lambda kind=kind: cpu_time(lambda: epoch(1, **kind)),  # type: ignore[misc]
            lambda kind=kind: wall_time(lambda: epoch(2, **kind)),  # type: ignore[misc]
        )
        for threads, seconds in ((1, one), (2, two)):
            what = f"train on {name}, {threads} thread{'s' * (threads > 1)}"
            found.append(compare(what, "refs/s", len(corpus) / seconds, 333.0, "target", higher_is_better=True))
    return found


def file_rows(model: es.ConvCRF, corpus: Corpus) -> list[Row]:
    """Measure files: how long they take to load, how large they are, and which labels change."""
    found = []
    exact = np.concatenate([np.asarray(tags) for tags in model.predict(corpus)])
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "net.espalier"
        for storage, most in (("int8", 4.0), ("float16", 8.0)):
            model.set_params(storage=storage).save(path)
            seconds = wall_time(lambda: es.load(path), repeat=3)
            again = es.load(path).model
            labels = np.concatenate([np.asarray(tags) for tags in again.predict(corpus)])
            found += [
                compare(f"file, {storage}", "MB", path.stat().st_size / 1e6, most, "target"),
                compare(f"load, {storage}", "s", seconds, 0.1, "target"),
            ]
            changed = 1e3 * float((labels != exact).mean())
            error = float(np.abs(again.potentials(corpus).unary - model.potentials(corpus).unary).max())
            print(f"rounding, {storage}: {changed:.2f} labels in a thousand change; no score by more than {error:.3f}")
    return found


class Enough(Exception):
    """Ends a run after some steps."""


def peak_of_training(corpus: Corpus, channels: int) -> float:
    """Return the most memory that this process has held, in MB, after a teacher and some steps of training."""
    teacher = es.HMM(threads=1).fit(corpus[:1000])
    model = es.ConvCRF(channels)
    assert corpus.labels is not None
    learned = with_soft_labels(lessons(corpus, None, 0, 0), len(corpus), None, teacher, 0.7)

    def stop(weights: Parameters, step: int) -> dict[str, np.ndarray]:
        if step == STEPS:
            raise Enough
        return {}

    with suppress(Enough):
        model.learn(learned, corpus.labels, term=stop)  # type: ignore[arg-type]
    status = Path("/proc/self/status").read_text().splitlines()  # the peak of rusage is also that of the parent
    return next(float(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
