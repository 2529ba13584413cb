"""One training problem after another: a point is carried over weight by weight, and the optimum stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.corpus import Corpus
from espalier.estimators.crf import CRF
from espalier.estimators.joined import JoinedCRF

LABELLED = Corpus.from_tokens([["Ann", ",", "1990"], ["Bob", "p.", "7"]], [["n", "n", "y"], ["n", "p", "p"]])
POOL = Corpus.from_tokens([["Cy", ",", "1991"], ["Dee", "p.", "8"]])
GUESSES = np.array([0, 0, 1, 0, 2, 2], np.int16), np.array([0, 2, 2, 1, 0, 2], np.int16)


@pytest.fixture
def problem() -> JoinedCRF:
    crf = CRF(["lower", "shape"], l2=0.3, epsilon=1e-9, delta=0.0, threads=1)
    return JoinedCRF(crf, LABELLED, POOL, None, 1.0)


def test_weights_keep_their_names(problem: JoinedCRF) -> None:
    problem.guess(GUESSES[0])
    names, v = problem.names, np.arange(1.0, len(problem.names) + 1)
    assert len(set(names.tolist())) == len(names) == problem.likelihood.n_parameters
    before = dict(zip(names.tolist(), v.tolist(), strict=True))
    problem.guess(GUESSES[1])
    assert set(before) != set(problem.names.tolist())  # other guesses, other weights
    carried = dict(zip(problem.names.tolist(), problem.carried(names, v).tolist(), strict=True))
    assert carried == {name: before.get(name, 0.0) for name in problem.names.tolist()}


def test_where_the_search_begins_does_not_move_the_optimum(problem: JoinedCRF) -> None:
    problem.guess(GUESSES[0])
    names, v = problem.names, problem.fit(None)[1]
    problem.guess(GUESSES[1])
    cold, warm = problem.fit(None)[1], problem.fit(None, problem.carried(names, v))[1]
    np.testing.assert_allclose(warm, cold, atol=1e-5)
