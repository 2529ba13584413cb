"""Certificates of whole batches: recomputed from the meaning, equal to those of single answers, refused if false."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_batch import PLAIN, RULES, TAGS, make

from espalier.decoders.base import Problem, Status, certify, evaluate
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import certify_batch, prove
from espalier.errors import EspalierError
from espalier.papers.decoders import exhaustive

DRAWN = (
    st.integers(0, 10**6), st.sampled_from([PLAIN, TAGS]),
    st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=5, unique=True), st.sampled_from([0.3, 2.0]),
    st.booleans(),
)  # fmt: skip


@settings(deadline=None, derandomize=True, max_examples=40)
@given(*DRAWN)
def test_a_batch_is_certified_as_its_sequences_are_one_by_one(seed, labels, names, scale, hard):
    batch, corpus, compiled, penalties = make(seed, labels, names, scale, hard)
    found = decode_batch(batch, compiled, corpus, penalties, max_rounds=int(seed % 3))
    certified = certify_batch(batch, compiled, corpus, found, penalties)
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        problem, certificate = Problem(batch[i], grounded, penalties), certified.certificates[i]
        best = exhaustive.decode(problem)
        if best.labels is None:
            assert certificate.status is Status.INFEASIBLE
            continue
        y = found.labels[batch.indptr[i] : batch.indptr[i + 1]]
        judged = evaluate(problem, y)
        assert certified.scores[i] == pytest.approx(judged.score, abs=1e-9)
        np.testing.assert_array_equal(certified.degrees[i], judged.degrees)
        assert certificate.status is certify(problem, y, float(found.bounds[i]), "test").certificate.status
        assert certificate.bound >= best.score - 1e-9
        assert (certificate.status is Status.OPTIMAL) == (judged.score >= best.score - 1e-9)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(*DRAWN)
def test_a_worse_labelling_under_the_same_bound_is_not_called_optimal(seed, labels, names, scale, hard):
    batch, corpus, compiled, penalties = make(seed, labels, names, scale, hard)
    found = decode_batch(batch, compiled, corpus, penalties)
    for i in range(len(batch)):
        a, b = batch.indptr[i], batch.indptr[i + 1]
        if a == b or found.labels[a] < 0:
            continue
        changed = found.labels.copy()
        changed[a] = (changed[a] + 1) % len(labels)
        certified = certify_batch(batch, compiled, corpus, replace(found, labels=changed), penalties)
        if certified.scores[i] < found.scores[i] - 1e-6:
            assert certified.certificates[i].status is not Status.OPTIMAL
            return


def test_a_bound_below_the_score_is_a_bug_that_is_told():
    batch, corpus, compiled, penalties = make(3, PLAIN, ["Once"], 2.0, False)
    found = decode_batch(batch, compiled, corpus, penalties)
    with pytest.raises(EspalierError, match="claims the bound"):
        certify_batch(batch, compiled, corpus, replace(found, bounds=found.bounds - 1.0), penalties)


@pytest.mark.parametrize(
    ("score", "bound", "heuristic", "status"),
    [
        (1.0, 1.0, False, Status.OPTIMAL),
        (1.0, 1.0 + 1e-10, True, Status.OPTIMAL),
        (1.0, 1.1, False, Status.BOUNDED),
        (1.0, 1.1, True, Status.HEURISTIC),
        (1.0, np.inf, False, Status.HEURISTIC),
        (-np.inf, -np.inf, False, Status.INFEASIBLE),
        (-np.inf, 3.0, False, Status.BOUNDED),
    ],
)
def test_what_is_proven(score, bound, heuristic, status):
    assert prove(score, bound, "test", heuristic=heuristic).status is status


def test_a_certificate_as_json_has_finite_numbers_only():
    assert prove(1.0, 1.5, "test").to_dict() == {"status": "bounded", "bound": 1.5, "gap": 0.5, "method": "test"}
    assert prove(-np.inf, -np.inf, "x").to_dict() == {"status": "infeasible", "bound": None, "gap": 0.0, "method": "x"}
