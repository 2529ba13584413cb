"""The likelihood in parts is that of the whole, and a CRF that is trained on it finds the same minimum."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.distributed.chains import _labelled_value, likelihood_in_parts, own_rows
from espalier.distributed.shards import ShardsHere
from espalier.errors import InfeasibleError
from espalier.estimators.crf import training_set
from espalier.features.extract import FeatureExtractor
from espalier.features.matrix import GivenIndex
from espalier.learning.likelihood import ChainLikelihood
from espalier.models.linear import Pairs
from sharded_learners import FEW, LABELS, records

TEMPLATES = ["lower[-1,0,1]", "shape", "lower[-1]&lower"]


def problem(corpus, matrix, weight=None):
    data = training_set(corpus, matrix, weight)
    pairs = Pairs.observed(matrix, data.y, data.n_labels)
    return matrix, data.indptr, data.y, pairs, data.observed_transitions, data.start_allowed, data.allowed, weight


def features(corpus):
    return FeatureExtractor(TEMPLATES).fit_transform(corpus)[1]


def forgotten(corpus, share, seed):
    """Forget the labels of a share of the tokens."""
    y = [[None if np.random.default_rng((seed, i, t)).random() < share else name for t, name in enumerate(names)]
         for i, names in enumerate(corpus.all_labels())]  # fmt: skip
    return es.Corpus.from_tokens(list(corpus), y, vocabulary=corpus.labels)


def check(arguments, seed) -> None:
    whole = ChainLikelihood(*arguments)
    w = np.random.default_rng(seed).normal(size=whole.n_parameters)
    value, gradient = whole(w)
    with likelihood_in_parts(*arguments, jobs=1) as parts:
        ours, slope = parts(w)
        assert parts.n_parameters == whole.n_parameters
        assert np.array_equal(parts.from_label, whole.from_label)
    assert ours == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-5, atol=1e-5)  # marginals are kept in single precision


@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([0.0, 0.3]), st.booleans())
@settings(max_examples=25, derandomize=True, deadline=None)
def test_parts_add_up_to_the_whole(seed, n, share, weighted) -> None:
    corpus = records(n, seed)
    corpus = forgotten(corpus, share, seed) if share else corpus
    weight = np.random.default_rng(seed).random(n) if weighted else None
    check(problem(corpus, features(corpus), weight), seed)


def test_real_valued_attributes() -> None:
    corpus = records(30, 5)
    X = [[{word: 0.5 + t, "bias": 2.0} for t, word in enumerate(tokens)] for tokens in corpus]
    check(problem(corpus, GivenIndex.fit_transform(X)[1]), 0)


def test_a_part_has_the_rows_of_its_tokens_over_its_attributes() -> None:
    matrix = features(FEW)
    flat = matrix.to_csr().toarray()
    part, attributes = own_rows(matrix, 20, 60)
    assert np.array_equal(part.to_csr().toarray(), flat[20:60][:, attributes])
    assert not np.delete(flat[20:60], attributes, axis=1).any()
    assert part.n_bundles < matrix.n_bundles


def test_a_gradient_does_not_grow_with_its_part() -> None:
    def replies(corpus):
        arguments = problem(corpus, features(corpus))
        with likelihood_in_parts(*arguments, jobs=1) as parts:
            assert isinstance(parts._shards, ShardsHere)
            return max(
                map(len, map(pickle.dumps, parts._shards.replies(_labelled_value, np.zeros(parts.n_parameters))))
            )

    once, often = (FEW[np.zeros(n, int)] for n in (8, 800))  # eight parts of one sequence, and of a hundred like it
    assert replies(often) == replies(once)


TIGHT = {"epsilon": 1e-6, "delta": 0.0, "max_iterations": 300}


@pytest.mark.parametrize("options", [{}, {"l1": 0.3}, {"transitions": "all"}])
def test_a_crf_finds_the_same_minimum(options) -> None:
    whole, parts = (es.CRF(TEMPLATES, jobs=jobs, **TIGHT, **options).fit(FEW) for jobs in (None, 1))
    assert parts.minimum_.value == pytest.approx(whole.minimum_.value, rel=1e-9)
    assert parts.predict(FEW) == whole.predict(FEW)


def test_two_processes_find_the_same_bits() -> None:
    one, two = (es.CRF(TEMPLATES, jobs=jobs, max_iterations=8).fit(FEW) for jobs in (1, 2))
    assert np.array_equal(one.weights_.w, two.weights_.w)
    assert np.array_equal(one.weights_.trans, two.weights_.trans)
    assert one.minimum_.values == two.minimum_.values


def test_a_crf_with_a_prior_and_weights() -> None:
    prior = es.CRF(TEMPLATES).fit(records(30, 9), labels=LABELS).learned_
    weight = np.random.default_rng(0).random(len(FEW))
    whole, parts = (es.CRF(prior=prior, jobs=jobs, **TIGHT).fit(FEW, sample_weight=weight) for jobs in (None, 1))
    assert parts.minimum_.value == pytest.approx(whole.minimum_.value, rel=1e-9)


def test_a_model_file_does_not_say_how_many_processes_made_it(tmp_path) -> None:
    model = es.CRF(TEMPLATES, max_iterations=5, jobs=1).fit(FEW)
    model.save(tmp_path / "crf.espalier")
    again = es.load(tmp_path / "crf.espalier").model
    assert again.jobs is None
    assert again.predict(FEW) == model.predict(FEW)


def test_labels_that_are_not_allowed_are_named_with_their_place() -> None:
    matrix, indptr, y, pairs, learned, start, _, weight = problem(FEW, features(FEW))
    never = np.zeros_like(learned)
    with (
        likelihood_in_parts(matrix, indptr, y, pairs, learned, start, never, weight, jobs=1) as parts,
        pytest.raises(InfeasibleError, match=r"in the part that begins with sequence 0: sequence \d+: no labelling"),
    ):
        parts(np.zeros(parts.n_parameters))
