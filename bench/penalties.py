"""Penalties learned for hundreds of rules: the count rules of Anzaroot et al. (2014) on the UMass development set.

perceptron, svm   seconds a pass over the 657 usable sequences, decoded in batches, against one by one
degrees           violation degrees of all rules for all sequences, on arrays against sequence by sequence
"""

from __future__ import annotations

import time

import espalier as es
from common import Row, arguments, compare, cpu_time, labelled, parsed, wall_time, write_json
from crf import TEMPLATES
from decode import important
from espalier.corpus import Corpus
from espalier.decoders.certify import degree_matrix
from espalier.learning.penalty_training import HeldOut, train_perceptron_penalties, train_svm_penalties
from espalier.rules.compile import Compiled, compile_rules, degrees_of
from espalier.rules.ruleset import RuleSet

SAMPLE = 10
"""Sequences that the slow way is timed on."""


def bench_degrees(part: HeldOut, compiled: Compiled) -> list[Row]:
    """Count violations on arrays, and one sequence after the other."""
    grounded = compiled.ground_corpus(part.corpus)
    ends = part.corpus.indptr.tolist()

    def one_by_one() -> None:
        for i, one in enumerate(grounded):
            degrees_of(one, part.y[ends[i] : ends[i + 1]])

    n = len(part.corpus)
    ours = 1e6 * cpu_time(lambda: degree_matrix(compiled, part.corpus, part.y), 3) / n
    return [compare(f"degrees of {compiled.K} rules", "µs/seq", ours, 1e6 * cpu_time(one_by_one, 2) / n, "one by one")]


def bench_training(part: HeldOut, compiled: Compiled, epochs: int, planes: int) -> list[Row]:
    """Train penalties; sequence by sequence only on a sample."""
    n = len(part.corpus)
    sample = next(part.batches(SAMPLE))
    slow = wall_time(lambda: train_perceptron_penalties([sample], compiled, epochs=1, batch=1)) * n / SAMPLE
    began = time.perf_counter()
    rho = train_perceptron_penalties([part], compiled, epochs=epochs)
    each = (time.perf_counter() - began) / epochs
    print(f"    perceptron, {epochs} epochs: {each * epochs:.1f} s, {int((rho > 0).sum())} of {compiled.K} rules on")
    rows = [compare(f"perceptron, {compiled.K} rules, {n} sequences", "s/epoch", each, slow, "one by one")]
    began = time.perf_counter()
    rho = train_svm_penalties([part], compiled, C=0.01, max_planes=planes)
    each = (time.perf_counter() - began) / planes
    print(f"    svm, {planes} planes: {each * planes:.1f} s, {int((rho > 0).sum())} of {compiled.K} rules on")
    return [*rows, compare(f"svm, {compiled.K} rules, {n} sequences", "s/plane", each, slow, "one by one")]


def main() -> None:
    """Train the base, keep the important rules, and time what learns their penalties."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--planes", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=40, help="of the CRF that makes the potentials")
    options = parsed(parser, epochs=1, planes=1, iterations=10)
    model = es.CRF(TEMPLATES, l2=1.0, max_iterations=options.iterations)
    model.fit(*labelled(options.data, "umass", "train", "bio_paths"))
    tokens, gold = labelled(options.data, "umass", "dev", "bio_paths")
    rules = RuleSet(important(model, tokens, gold))
    compiled = compile_rules(rules.with_penalties(dict.fromkeys(rules.names)), model.labels_)
    usable = [i for i, y in enumerate(gold) if all(label in model.labels_ for label in y)]
    corpus = Corpus.from_tokens([tokens[i] for i in usable], [gold[i] for i in usable], vocabulary=model.labels_)
    part = HeldOut.of(model.potentials(corpus), corpus, compiled)
    print(f"{'':<58} {'ours':>12} {'peer':>12} {'unit':<10} {'ratio':>8}")
    rows = bench_degrees(part, compiled) + bench_training(part, compiled, options.epochs, options.planes)
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
