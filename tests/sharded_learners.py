"""A small task and the learners that count it over processes, for their tests."""

from __future__ import annotations

import numpy as np

import espalier as es
from espalier.corpus import Corpus
from espalier.estimators.base import fresh

LABELS = ("name", "year", "place", "O")
WORDS = {
    "name": ("Ann", "Bob", "Cy", "Dee", "Eve"),
    "year": ("1990", "2001", "15"),
    "place": ("Ulm", "Bob", "Rome", "Pau"),
    "O": (",", ".", "in", "of"),
}
RULES = """
    Once:  each field once
    Year:  token ~ /\\d+/ -> year
    Mark:  token in ",", "." -> O
    First: first in name, place
    Order: name before year
"""
USABLE = "\n".join(RULES.splitlines()[:-2])  # without Order, which is no sum over a chain


def records(n: int, seed: int) -> Corpus:
    """Return n labelled sequences of three to nine tokens; words are noisy, so that no model is sure."""
    rng = np.random.default_rng(seed)
    tokens, labels = [], []
    for _ in range(n):
        y = rng.choice(LABELS, size=rng.integers(3, 10), p=(0.3, 0.2, 0.2, 0.3)).tolist()
        tokens.append([str(rng.choice(WORDS[name])) for name in y])
        labels.append(y)
    return Corpus.from_tokens(tokens, labels)


def unlabelled(corpus: Corpus) -> Corpus:
    """Return the text alone."""
    return Corpus(corpus.indptr, corpus.token_ids, corpus.types)


FEW, POOL = records(40, 1), unlabelled(records(120, 2))

LEARNERS = {
    "em": es.EM(es.HMM("additive"), iterations=4),
    "em, mixed": es.EM(es.HMM(transition_classes="punctuation"), iterations=3, gamma=0.5),
    "hard em": es.EM(es.HMM(), hard=True, iterations=4),
    "codl": es.CoDL(es.CCM(es.HMM(), RULES), cycles=4),
    "codl, k best": es.CoDL(
        es.CCM(es.HMM(), RULES), cycles=2, k=3, weighting="score", relearn_penalties=True, gamma=0.5
    ),
    "codl, no rules": es.CoDL(es.HMM(), cycles=3, gamma=0.3),
    "pr": es.PosteriorRegularization(es.HMM(), USABLE, iterations=3),
    "pr, corpus": es.PosteriorRegularization(es.HMM(), USABLE, scope="corpus", iterations=2),
}


def learn(learner, jobs, pool=POOL):
    """Fit a copy of a learner with so many jobs."""
    model = fresh(learner).set_params(jobs=jobs)
    return model.fit(FEW, labels=LABELS, unlabelled=pool)


def figures(model) -> list[np.ndarray]:
    """All that was learned."""
    model = model.model_
    rules = [model.rules_.penalties] if isinstance(model, es.CCM) else []
    hmm = model.base_ if isinstance(model, es.CCM) else model
    return [*rules, hmm.parameters_.start, hmm.parameters_.trans, hmm.parameters_.emission]
