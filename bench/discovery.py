"""Rules found in data, and two-stage inference with mined relations: how long they take.

umass     every count template and relation over 61 fields on the development split: time to count a candidate against
          compiling it and reading every sequence (on a sample of candidates), and how many are kept
cora      the same on 13 fields
two-stage inference under the mined relations, on sequences whose best labelling breaks one, against HiGHS
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import espalier as es
from common import Row, arguments, compare, cpu_time, labelled, parsed, write_json
from crf import TEMPLATES
from espalier.corpus import Corpus
from espalier.decoders.base import Problem
from espalier.errors import ResultWarning
from espalier.inference import viterbi
from espalier.learning.discovery import discover
from espalier.learning.discovery_clauses import ClauseCounter
from espalier.papers.two_stage.inference import solve
from espalier.papers.two_stage.mining import mine
from espalier.rules.compile import compile_rules, degrees_of
from espalier.rules.generators import COUNT_KINDS, count_templates, relation_templates
from espalier.rules.ruleset import Rule, RuleSet

SAMPLE = 25
KEPT = 628  # count rules that Anzaroot et al. (2014) keep


def bench_discovery(name: str, model: es.CRF, dev: Corpus) -> list[Row]:
    """Time the counting of candidates and the whole of `discover`."""
    assert model.labels_ is not None
    known = Corpus.from_tokens(list(dev), model.predict(dev), vocabulary=model.labels_)
    rules = [*count_templates(model.labels_), *relation_templates(model.labels_)]
    sample = [rules[k] for k in np.random.default_rng(0).permutation(len(rules))[:SAMPLE]]
    ours = cpu_time(lambda: count_all(known, rules), 2) / len(rules)
    theirs = cpu_time(lambda: read_all(known, sample)) / len(sample)
    rows = [compare(f"{name}: count a candidate", "ms", 1e3 * ours, 1e3 * theirs, "compiled, read one by one")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)  # labels that the training split lacks
        discover(dev[:100], model)  # kernels compiled, loaded, warm
        begin = time.perf_counter()
        found = discover(dev, model)
        seconds = time.perf_counter() - begin
        counts = discover(dev, model, COUNT_KINDS, cover=None, penalties=None, max_rules=0)
    print(f"    {name}: {found.rules.K} rules of {found.candidates} candidates, {found.important} important")
    print(f"    {name}: {counts.important} of {counts.candidates} count rules are important (umass, published: {KEPT})")
    rows.append(compare(f"{name}: discover", "s", seconds, theirs * found.candidates, "compiling all, extrapolated"))
    return rows


def count_all(corpus: Corpus, rules: list[Rule]) -> None:
    """Count the clauses of every rule."""
    counter = ClauseCounter(corpus)
    for rule in rules:
        counter.count(rule.node)


def read_all(corpus: Corpus, rules: list[Rule]) -> None:
    """Compile the rules and ask their degrees, sequence by sequence."""
    assert corpus.labels is not None
    assert corpus.y is not None
    for rule in rules:
        compiled = compile_rules(RuleSet([rule]), corpus.labels)
        for i, grounded in enumerate(compiled.ground_corpus(corpus)):
            degrees_of(grounded, corpus.y[corpus.indptr[i] : corpus.indptr[i + 1]])


def bench_two_stage(model: es.CRF, train: Corpus, dev: Corpus) -> list[Row]:
    """Time the second stage on sequences that break a relation; both solvers must find the same cost."""
    assert model.labels_ is not None
    rules = RuleSet(replace(found.rule, penalty=found.cost) for found in mine(train))
    compiled, batch = compile_rules(rules, model.labels_), model.potentials(dev)
    counter = ClauseCounter(replace(dev, y=viterbi(batch).labels, labels=model.labels_))
    broken = np.flatnonzero(sum((counter.count(rule.node).broken for rule in rules), np.zeros(len(dev))))
    seconds = {"search": 0.0, "ilp": 0.0}
    for i in broken[:SAMPLE].tolist():
        problem = Problem(batch[i], compiled.ground(dev.tokens(i)))
        costs = []
        for solver in seconds:
            begin = time.thread_time()
            costs.append(solve(problem, tau=0.99, count="violations", solver=solver).cost)
            seconds[solver] += time.thread_time() - begin
        assert abs(costs[0] - costs[1]) <= 1e-6, (i, costs)
    print(f"    cora: {len(broken)} of {len(dev)} best labellings break one of {rules.K} mined relations")
    each = 1e3 / min(SAMPLE, len(broken))
    return [compare("cora: second stage", "ms/seq", seconds["search"] * each, seconds["ilp"] * each, "HiGHS")]


def corpus_of(data: Path, name: str, split: str, tags: str) -> Corpus:
    """Read one split."""
    return Corpus.from_tokens(*labelled(data, name, split, tags))


def main() -> None:
    """Run the parts and print a table."""
    options = parsed(arguments(__doc__ or ""))
    print(f"{'':<58} {'ours':>12} {'peer':>12} {'unit':<10} {'ratio':>8}")
    train, dev = (corpus_of(options.data, "cora", split, "labels") for split in ("train", "dev"))
    model = es.CRF(TEMPLATES, l2=1.0).fit(train)
    rows = bench_discovery("cora", model, dev) + bench_two_stage(model, train, dev)
    train, dev = (corpus_of(options.data, "umass", split, "bio_paths") for split in ("train", "dev"))
    rows += bench_discovery("umass", es.CRF(TEMPLATES, l2=1.0, max_iterations=60).fit(train), dev)
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
