"""Learning over processes: one worker, two workers, and this process as a whole (jobs=None), on the same machine.

codl        the expectation step: 1,000 references labelled under the 12 rules of the task, and counted
taught      the same with a CRF: labelled, and 20 iterations of a fit to 20 labelled references and these
crf         a gradient of a CRF on the training split of umass
discovery   the scores of all candidates on the training split of cora, eight times over

Parts stay with the workers, so starting them is not measured; what travels in a pass is. Two workers need two free
cores. What a worker returns is printed beside what it holds.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import espalier as es
from codl import corpora
from common import Row, arguments, compare, interleaved, labelled, parsed, wall_time, write_json
from crf import TEMPLATES
from espalier.corpus import Corpus
from espalier.distributed import guess_in_parts, likelihood_in_parts, score_in_parts
from espalier.distributed.guesses import PoolInParts, label_and_count
from espalier.estimators.crf import training_set
from espalier.features.extract import FeatureExtractor
from espalier.learning.codl import PoolLabelling, label_pool, pseudo_labelled
from espalier.learning.discovery_clauses import ClauseCounter
from espalier.learning.likelihood import ChainLikelihood
from espalier.models.hmm import HMMCounts
from espalier.models.linear import Pairs
from espalier.rules.generators import count_templates, relation_templates
from espalier.tasks.task import load_task

ROUNDS = 5


def rows_of(name: str, whole: Callable[[], object], one: Callable[[], object], two: Callable[[], object]) -> list[Row]:
    """Time the three ways in turn."""
    for work in (whole, one, two):
        work()  # kernels loaded, parts in place
    seconds = interleaved(ROUNDS, *(lambda work=work: wall_time(work) for work in (whole, one, two)))
    return [
        compare(f"{name}: 2 workers", "s", seconds[2], seconds[1], "1 worker"),
        compare(f"{name}: 2 workers", "s", seconds[2], seconds[0], "jobs=None, threads"),
    ]


def few_and_pool(data: Path) -> tuple[Corpus, Corpus]:
    """Return 20 labelled references and the pool, of cora."""
    train, pool = corpora(data, "cora", "train")
    few = train[sorted(random.Random(0).sample(range(len(train)), 20))]
    return Corpus.from_tokens(list(few), few.all_labels(), vocabulary=load_task("cora").labels), pool


def bench_codl(data: Path) -> list[Row]:
    """Time a labelling of the pool and its counts."""
    task = load_task("cora")
    subset, pool = few_and_pool(data)
    model = es.CCM(es.HMM(transition_classes="punctuation"), task.rules).fit(subset)
    base = model.base.fit_with_pool(subset, None, pool)
    rho, tables = model.rules_.penalties, base.without_words()
    how = PoolLabelling(base.labels_, model.compiled_, True, None, "tokens", 1, "uniform", 1)

    def whole() -> HMMCounts:
        batch = base.potentials(pool)
        guess = label_pool(batch, model.compiled_, pool, k=1, weighting="uniform", threads=None)
        pseudo, weight = pseudo_labelled(pool, guess, base.labels_)
        return HMMCounts.from_labels(pseudo, base.vocabulary_, weight, "punctuation")

    with ExitStack() as stack:
        opened = (guess_in_parts(base, "interpolate", subset, None, pool, how, 0.9, 1.0, jobs) for jobs in (1, 2))
        one, two = (stack.enter_context(way).shards for way in opened)
        told("codl", one.replies(label_and_count, tables, rho), pool)
        ways = (lambda shards=shards: shards.total(label_and_count, tables, rho) for shards in (one, two))
        return rows_of("cora, codl, label and count the pool", whole, *ways)


def bench_taught(data: Path) -> list[Row]:
    """Time a cycle of CoDL with a CRF."""
    task = load_task("cora")
    subset, pool = few_and_pool(data)
    model = es.CCM(es.CRF(TEMPLATES, max_iterations=20), task.rules).fit(subset)
    base, rho = model.base_, model.rules_.penalties
    how = PoolLabelling(base.labels_, model.compiled_, True, None, "tokens", 1, "uniform", 1)

    def whole() -> es.CRF:
        batch = base.potentials(pool)
        guess = label_pool(batch, model.compiled_, pool, k=1, weighting="uniform", threads=None)
        guessed, weight = pseudo_labelled(pool, guess, base.labels_)
        return base.fit_guessed(subset, None, guessed, 0.1 * weight)

    def in_parts(guessed: PoolInParts) -> es.CRF:
        guessed.label(base, rho)
        return guessed.learn()

    with ExitStack() as stack:
        opened = (guess_in_parts(base, "pool", subset, None, pool, how, 0.9, 0.1, jobs) for jobs in (1, 2))
        ways = [partial(in_parts, stack.enter_context(way)) for way in opened]
        return rows_of("cora, codl, a cycle with a CRF", whole, *ways)


def bench_crf(data: Path) -> list[Row]:
    """Time a gradient."""
    corpus = Corpus.from_tokens(*labelled(data, "umass", "train", "bio_paths"))
    matrix = FeatureExtractor(TEMPLATES).fit_transform(corpus)[1]
    known = training_set(corpus, matrix, None)
    pairs = Pairs.observed(matrix, known.y, known.n_labels)
    problem: Any = (
        matrix,
        known.indptr,
        known.y,
        pairs,
        known.observed_transitions,
        known.start_allowed,
        known.allowed,
    )
    whole = ChainLikelihood(*problem)
    w = np.random.default_rng(0).normal(scale=0.1, size=whole.n_parameters)
    with ExitStack() as stack:
        one, two = (stack.enter_context(likelihood_in_parts(*problem, jobs=jobs)) for jobs in (1, 2))
        told("crf", [one(w)], problem)
        return rows_of("umass, crf, a gradient", lambda: whole(w), lambda: one(w), lambda: two(w))


def bench_discovery(data: Path) -> list[Row]:
    """Time the scores of all candidates; workers get their parts anew each time, as in `discover`."""
    corpus = Corpus.from_tokens(*labelled(data, "cora", "train"))
    corpus = corpus[np.tile(np.arange(len(corpus)), 8)]
    assert corpus.labels is not None
    guessed = corpus.with_labels(es.HMM().fit(corpus[:20], labels=corpus.labels.names).predict(corpus), corpus.labels)
    nodes = [rule.node for rule in (*count_templates(corpus.labels), *relation_templates(corpus.labels))]

    def whole() -> None:
        for counter in (ClauseCounter(corpus), ClauseCounter(guessed)):
            for node in nodes:
                counter.count(node)

    told("discovery", [score_in_parts(nodes, corpus, guessed, 1)], (corpus, guessed))
    ways = (lambda jobs=jobs: score_in_parts(nodes, corpus, guessed, jobs) for jobs in (1, 2))
    return rows_of(f"cora x 8, discovery, score {len(nodes)} candidates", whole, *ways)


def told(name: str, replies: Sequence[object], held: object) -> None:
    """Print what travels."""
    most = max(len(pickle.dumps(reply)) for reply in replies) / 1e6
    print(f"    {name}: a part returns {most:.2f} MB at most; all parts hold {len(pickle.dumps(held)) / 1e6:.2f} MB")


def main() -> None:
    """Run the parts."""
    parser = arguments(__doc__.split("\n")[0])
    benches = {"codl": bench_codl, "taught": bench_taught, "crf": bench_crf, "discovery": bench_discovery}
    parser.add_argument("--only", choices=benches, help="one part only")
    options = parsed(parser)
    rows = [row for name, bench in benches.items() if options.only in (None, name) for row in bench(options.data)]
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
