"""A small task and the learners that count it over processes, for their tests."""

from __future__ import annotations

import numpy as np
import pytest

import espalier as es
from espalier.corpus import Corpus
from espalier.distributed.shards import ShardsHere
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


def sizes_of_replies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the size of every reply of a part, in bytes, from now on."""
    sizes: list[int] = []
    ask = ShardsHere._ask

    def listening(self, request):
        for reply in ask(self, request):
            sizes.append(len(reply))
            yield reply

    monkeypatch.setattr(ShardsHere, "_ask", listening)
    return sizes


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

TEMPLATES = ["lower[-1,0]", "shape", "lower[-1]&lower"]
TIGHT = {"epsilon": 1e-6, "delta": 0.0, "max_iterations": 100}
"""The minimum itself, so that it does not matter where a search stops."""


def crf(**options) -> es.CRF:
    """Return a small CRF."""
    return es.CRF(TEMPLATES, **{"l2": 0.5, **TIGHT, **options})


CRF_LEARNERS = {
    "codl": es.CoDL(es.CCM(crf(), RULES), update="pool", cycles=3),
    "codl, k best": es.CoDL(
        es.CCM(crf(), RULES), update="pool", cycles=2, k=3, weighting="score", relearn_penalties=True, pool_weight=0.3
    ),
    "codl, no rules": es.CoDL(crf(warm_start=True, transitions="all"), update="pool", cycles=2),
    "pr": es.PosteriorRegularization(crf(), USABLE, iterations=2),
    "pr, corpus": es.PosteriorRegularization(crf(), USABLE, scope="corpus", iterations=2),
}


def short_of(name: str, most: int):
    """A learner of a CRF with so many iterations, and two cycles."""
    learner = fresh(CRF_LEARNERS[name])
    limits = [key for key in learner.get_params() if key.endswith(("iterations", "cycles"))]
    return learner.set_params(**{key: most if "max" in key else 2 for key in limits})


def learn(learner, jobs, pool=POOL):
    """Fit a copy of a learner with so many jobs."""
    model = fresh(learner).set_params(jobs=jobs)
    return model.fit(FEW, labels=LABELS, unlabelled=pool)


def base_of(model):
    """The model inside."""
    return model.model_.base_ if isinstance(model.model_, es.CCM) else model.model_


def figures(model) -> list[np.ndarray]:
    """All that was learned."""
    rules = [model.model_.rules_.penalties] if isinstance(model.model_, es.CCM) else []
    hmm = base_of(model)
    if isinstance(hmm, es.CRF):
        return [*rules, hmm.weights_.w, hmm.weights_.trans, hmm.weights_.pairs.label]
    return [*rules, hmm.parameters_.start, hmm.parameters_.trans, hmm.parameters_.emission]
