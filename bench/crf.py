"""The CRF against python-crfsuite (and Wapiti where `libwapiti` is installed), same features, in one interleaved run.

    pass      one evaluation of objective and gradient; the peer's is an L-BFGS iteration with one trial, by its own log
    run       training to CRFsuite's stopping point, features ready, loss compared
    tag       labels from ready features (the peer: a prebuilt ItemSequence)
    fit       from token lists, feature extraction included (the peer: a Python feature function)
    memory    how far `fit` raises the memory, at its peak, of a process that has imported everything and read the data

The `umass` corpus has its 37 innermost labels; `umass paths` the 138 marked paths (one pass only: CRFsuite needs more
than a second for it).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pycrfsuite

import espalier as es
import synthetic
from common import (
    Row,
    Sequences,
    arguments,
    compare,
    cpu_time,
    interleaved,
    labelled,
    parsed,
    unlabelled,
    wall_time,
    write_json,
)
from espalier.corpus import Corpus
from espalier.estimators.crf import CRF, TrainingSet
from espalier.learning.likelihood import ChainLikelihood, Twins
from espalier.models.linear import Pairs

TEMPLATES = (
    "bias", "word", "lower", "prefix1-4", "suffix1-4", "shape", "fullshape", "length", "flags", "position5",
    "lower[-2,-1,1,2]", "shape[-1,1]", "suffix2[-1,1]",
)  # fmt: skip

PEER = "python-crfsuite"


def word2features(tokens: list[str]) -> list[list[str]]:
    """Return the attributes of TEMPLATES the way people write them for CRFsuite: token by token, as strings."""
    low = [w.lower() for w in tokens]
    full = ["".join(map(_kind, w)) for w in tokens]
    short = [_collapse(s) for s in full]
    T = len(tokens)
    rows = []
    for t, word in enumerate(tokens):
        n = len(word)
        row = ["bias", f"word={word}", f"lower={low[t]}", f"shape={short[t]}", f"fullshape={full[t]}"]
        row += [f"prefix{k}={word[:k]}" for k in range(1, 5) if n >= k]
        row += [f"suffix{k}={word[-k:]}" for k in range(1, 5) if n >= k]
        row += [f"length={_length(n)}", f"position5={5 * t // T}"]
        row += [f"flags={flag}" for flag in _flags(full[t])]
        for o in (-2, -1, 1, 2):
            s = t + o
            if not 0 <= s < T:
                row.append(f"begin@{o}" if o < 0 else f"end@{o}")
                continue
            row.append(f"lower@{o}={low[s]}")
            if o in (-1, 1):
                row.append(f"shape@{o}={short[s]}")
                if len(tokens[s]) >= 2:
                    row.append(f"suffix2@{o}={tokens[s][-2:]}")
        rows.append(row)
    return rows


def _kind(c: str) -> str:
    return "X" if c.isupper() or c.istitle() else "x" if c.isalpha() else "0" if c.isdigit() else c


def _collapse(shape: str) -> str:
    return "".join(c for k, c in enumerate(shape) if k == 0 or shape[k - 1] != c)


def _length(n: int) -> str:
    return str(n) if n < 6 else "6-7" if n < 8 else "8-10" if n < 11 else "11-15" if n < 16 else "16+"


def _flags(shape: str) -> list[str]:
    upper, lower, digit = "X" in shape, "x" in shape, "0" in shape
    only = digit and set(shape) == {"0"}
    flags = {
        "digits": only, "hasdigit": digit and not only, "capitalised": lower and shape[0] == "X",
        "allcaps": upper and not lower, "lowercase": lower and not upper, "mixed": lower and "X" in shape[1:],
        "punctuation": not (upper or lower or digit), "hyphen": "-" in shape[1:-1],
        "dot": len(shape) > 1 and shape[-1] == ".",
    }  # fmt: skip
    return [name for name, holds in flags.items() if holds]


@dataclass(frozen=True)
class Problem:
    """A training set in both forms, and text to tag."""

    name: str
    tokens: list[list[str]]
    labels: list[list[str]]
    more: list[list[str]]
    attributes: list[list[list[str]]]
    data: TrainingSet

    @classmethod
    def of(cls, name: str, train: Sequences, more: list[list[str]]) -> Problem:
        """Build the features of both sides, and check that they are the same."""
        extractor = es.FeatureExtractor(TEMPLATES)
        corpus = Corpus.from_tokens(*train)
        _, matrix = extractor.fit_transform(corpus)
        attributes = [word2features(tokens) for tokens in train[0]]
        data = CRF.training_set(corpus, matrix, None)
        # CRFsuite forbids nothing: neither do we, here.
        L = data.n_labels
        data = TrainingSet(
            matrix,
            data.indptr,
            data.y,
            data.labels,
            np.ones(L, bool),
            np.ones((L, L), bool),
            data.observed_transitions,
            None,
        )
        names = {a for sequence in attributes for token in sequence for a in token}
        assert len(names) == matrix.n_attributes, (len(names), matrix.n_attributes)
        assert sum(len(t) for s in attributes for t in s) == matrix.to_csr().nnz
        return cls(name, *train, more, attributes, data)


def problems(data: Path, names: list[str]) -> list[Problem]:
    """Return the corpora of the benchmark that are asked for."""
    make: dict[str, Callable[[], Problem]] = {
        "cora": lambda: Problem.of("cora", labelled(data, "cora", "train"), unlabelled(data, "cora")),
        "umass": lambda: Problem.of("umass", labelled(data, "umass", "train"), labelled(data, "umass", "dev")[0]),
        "generated": lambda: Problem.of("generated", synthetic.corpus(2000, 0), synthetic.corpus(1000, 1)[0]),
    }
    return [make[name]() for name in make if name in names]


def peer_trainer(problem: Problem, **params: float) -> pycrfsuite.Trainer:
    """Return a trainer with the data appended."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 1.0, **params})
    for attributes, labels in zip(problem.attributes, problem.labels, strict=True):
        trainer.append(attributes, labels)
    return trainer


def likelihood(problem: Problem, threads: int) -> ChainLikelihood:
    """Return our objective on the same data."""
    d = problem.data
    matrix = Twins.merge(d.matrix).matrix
    pairs = Pairs.observed(matrix, d.y, d.n_labels)
    return ChainLikelihood(
        matrix, d.indptr, d.y, pairs, d.observed_transitions, d.start_allowed, d.allowed, None, threads
    )


def bench_pass(problem: Problem, rounds: int, iterations: int = 20) -> list[Row]:
    """Time one pass at weights of a usual size."""
    one, two = likelihood(problem, 1), likelihood(problem, 2)
    w = np.random.default_rng(0).normal(0, 0.3, one.n_parameters)

    def peer() -> float:
        trainer = peer_trainer(problem, max_iterations=iterations)
        with tempfile.TemporaryDirectory() as directory:
            trainer.train(os.path.join(directory, "model"))
        # An iteration with one line-search trial; its own log has milliseconds.
        return min(float(i["time"]) for i in trainer.logparser.iterations if int(i.get("linesearch_trials", 1)) == 1)

    times = interleaved(
        rounds, lambda: cpu_time(lambda: one(w), 20), lambda: wall_time(lambda: two(w), 20), peer
    )  # fmt: skip
    name = f"{problem.name}: pass"
    return [
        compare(f"{name}, 1 thread", "ms", times[0] * 1e3, times[2] * 1e3, PEER),
        compare(f"{name}, 2 threads", "ms", times[1] * 1e3, times[2] * 1e3, PEER),
    ]


def bench_wapiti(problem: Problem, rounds: int) -> list[Row]:
    """Time an iteration of Wapiti's L-BFGS, if its bindings are there; every (attribute, label) has a weight there."""
    try:
        import wapiti
    except ImportError:
        return []
    width = max(len(token) for sequence in problem.attributes for token in sequence)
    patterns = "\n".join(f"u{k}:%x[0,{k}]" for k in range(width)) + "\nb\n"
    lines = [
        "\n".join("\t".join([*token, *["_"] * (width - len(token)), label]) for token, label in zip(s, y, strict=True))
        for s, y in zip(problem.attributes, problem.labels, strict=True)
    ]
    ours = likelihood(problem, 1)
    w = np.random.default_rng(0).normal(0, 0.3, ours.n_parameters)

    def peer() -> float:
        model = wapiti.Model(patterns=patterns, algo="l-bfgs", rho1=0.0, rho2=1.0, maxiter=5, nthread=1, sparse=True)
        for line in lines:
            model.add_training_sequence(line)
        return cpu_time(model.train) / 5

    times = interleaved(rounds, lambda: cpu_time(lambda: ours(w), 20), peer)
    return [compare(f"{problem.name}: pass, 1 thread", "ms", times[0] * 1e3, times[1] * 1e3, "Wapiti")]


def bench_run(problem: Problem, rounds: int) -> list[Row]:
    """Time training to CRFsuite's default stop, and compare the losses."""
    losses: dict[str, float] = {}

    def ours(threads: int, timer: Callable[[Callable[[], object]], float]) -> float:
        estimator = es.CRF(l2=1.0, threads=threads, max_iterations=10_000)
        elapsed = timer(lambda: estimator.train(problem.data))
        losses["ours"] = estimator.minimum_.value
        return elapsed

    def peer() -> float:
        trainer = peer_trainer(problem)
        with tempfile.TemporaryDirectory() as directory:
            elapsed = cpu_time(lambda: trainer.train(os.path.join(directory, "model")))
        losses["peer"] = float(trainer.logparser.iterations[-1]["loss"])
        return elapsed

    times = interleaved(rounds, lambda: ours(1, cpu_time), lambda: ours(2, wall_time), peer)
    name = f"{problem.name}: run to the same stop"
    return [
        compare(f"{name}, 1 thread", "s", times[0], times[2], PEER),
        compare(f"{name}, 2 threads", "s", times[1], times[2], PEER),
        compare(f"{problem.name}: final loss", "nats", losses["ours"], losses["peer"], PEER),
    ]


def bench_tag(problem: Problem, rounds: int) -> list[Row]:
    """Time tagging from ready features; the labels must agree."""
    model = es.CRF(TEMPLATES, l2=1.0, threads=1, max_iterations=60).fit(problem.tokens, problem.labels)
    matrix, indptr = model.transform(problem.more)
    n_tokens = int(indptr[-1])
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "model")
        peer_trainer(problem, max_iterations=60).train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        items = [pycrfsuite.ItemSequence(word2features(tokens)) for tokens in problem.more]
        # Same stopping iteration but not the same weights to the last digit: nearly all labels agree.
        theirs = [y for item in items for y in tagger.tag(item)]
        ours = [model.labels_[i] for i in model.weights_.tag(matrix, indptr, 1)[0]]
        agree = float(np.mean([a == b for a, b in zip(ours, theirs, strict=True)]))
        times = interleaved(
            rounds,
            lambda: cpu_time(lambda: model.weights_.tag(matrix, indptr, 1), 5),
            lambda: wall_time(lambda: model.weights_.tag(matrix, indptr, 2), 5),
            lambda: cpu_time(lambda: [tagger.tag(item) for item in items]),
        )
    per = 1e9 / n_tokens
    name = f"{problem.name}: tag ({100 * agree:.2f}% agree)"
    return [
        compare(f"{name}, 1 thread", "ns/token", times[0] * per, times[2] * per, PEER),
        compare(f"{name}, 2 threads", "ns/token", times[1] * per, times[2] * per, PEER),
    ]


def bench_fit(problem: Problem, rounds: int) -> list[Row]:
    """Time `fit` from token lists to the default stop, feature extraction included."""

    def ours(threads: int, timer: Callable[[Callable[[], object]], float]) -> float:
        return timer(
            lambda: es.CRF(TEMPLATES, l2=1.0, threads=threads, max_iterations=10_000).fit(
                problem.tokens, problem.labels
            )
        )

    def peer_fit() -> None:
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c1": 0.0, "c2": 1.0})
        features = [word2features(tokens) for tokens in problem.tokens]
        for attributes, labels in zip(features, problem.labels, strict=True):
            trainer.append(attributes, labels)
        with tempfile.TemporaryDirectory() as directory:
            trainer.train(os.path.join(directory, "model"))

    times = interleaved(rounds, lambda: ours(1, cpu_time), lambda: ours(2, wall_time), lambda: cpu_time(peer_fit))
    return [
        compare(f"{problem.name}: fit from tokens, 1 thread", "s", times[0], times[2], PEER),
        compare(f"{problem.name}: fit from tokens, 2 threads", "s", times[1], times[2], PEER),
    ]


def bench_memory(name: str, data: Path) -> list[Row]:
    """Measure how far fitting raises the memory of a process at its peak, each side in a process of its own."""

    def grown(side: str) -> float:
        command = [sys.executable, __file__, "--data", str(data), "--memory-of", f"{side}:{name}"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdout.readline()  # imported, compiled, data read
            watched = psutil.Process(child.pid)
            before = peak = watched.memory_info().rss
            child.stdin.write("go\n")
            child.stdin.flush()
            while child.poll() is None:
                try:
                    peak = max(peak, watched.memory_info().rss)
                except psutil.NoSuchProcess:
                    break
                time.sleep(0.001)
        return (peak - before) / 2**20

    return [compare(f"{name}: peak memory added by fit", "MB", grown("ours"), grown("peer"), PEER)]


def memory_of(side: str, problem_name: str, data: Path) -> None:
    """Get ready, say so, and fit once when told to."""
    if problem_name == "generated":
        tokens, labels = synthetic.corpus(2000, 0)
    else:
        tokens, labels = labelled(data, problem_name, "train")
    es.CRF(TEMPLATES, max_iterations=2, threads=1).fit(tokens[:20], labels[:20])  # compiled, loaded, warm
    print("ready", flush=True)
    sys.stdin.readline()
    if side == "ours":
        es.CRF(TEMPLATES, max_iterations=10, threads=1).fit(tokens, labels)
        return
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 1.0, "max_iterations": 10})
    for sequence, y in zip(tokens, labels, strict=True):
        trainer.append(word2features(sequence), y)  # one sequence at a time: the leanest way to feed it
    with tempfile.TemporaryDirectory() as directory:
        trainer.train(os.path.join(directory, "model"))


def main() -> None:
    """Run the parts and print a table."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=["pass", "run", "tag", "fit", "memory"])
    parser.add_argument("--corpora", nargs="*", default=["cora", "umass", "generated"])
    parser.add_argument("--memory-of", help="(used by the script itself)")
    options = parsed(parser, rounds=1, corpora=["cora"])
    if options.memory_of:
        memory_of(*options.memory_of.split(":"), options.data)
        return
    started = time.time()
    print(f"{'':<58} {'ours':>12} {'peer':>12} {'unit':<10} {'ratio':>8}")
    rows: list[Row] = []
    for problem in problems(options.data, options.corpora):
        if "pass" in options.only:
            rows += bench_pass(problem, options.rounds)
            rows += bench_wapiti(problem, 1)
        if "run" in options.only:
            rows += bench_run(problem, options.rounds)
        if "tag" in options.only:
            rows += bench_tag(problem, options.rounds)
        if "fit" in options.only:
            rows += bench_fit(problem, options.rounds)
        if "memory" in options.only:
            rows += bench_memory(problem.name, options.data)
    if "pass" in options.only and "umass" in options.corpora:
        paths = Problem.of("umass paths", labelled(options.data, "umass", "train", "bio_paths"), [])
        rows += bench_pass(paths, 1, iterations=3)
    write_json(options.json, rows)
    print(f"{time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
