"""The HMM against hand-worked numbers, a naive implementation written from the formulas, and enumeration."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_hmm import CLUSTERS, NAMES, Naive, naive_class

from espalier.corpus import Corpus, Labels
from espalier.errors import InfeasibleError, InputError
from espalier.features.word_classes import WordClasses
from espalier.inference import Posterior, posterior, viterbi
from espalier.models.hmm import (
    HMMCounts,
    HMMParameters,
    Smoothing,
    Vocabulary,
    classes_of_transitions,
    estimate,
    interpolate,
)
from oracles import backwards, label_counts, labellings, pair_counts

relaxed = settings(deadline=None, derandomize=True, max_examples=40)
WORDS = ["Ann", "ann", "B", ".", ",", "(", "1998", "12", "7-9", "running", "Étude"]


@st.composite
def corpora(draw: st.DrawFn, *, labelled: bool = True, words: list[str] = WORDS) -> Corpus:
    """Draw 1..4 sequences of 0..5 tokens; some labels are unknown."""
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    tokens = [draw(st.lists(st.sampled_from(words), min_size=n, max_size=n)) for n in lengths]
    if not labelled:
        return Corpus.from_tokens(tokens)
    known = st.sampled_from([*NAMES, *NAMES, None])
    y = [draw(st.lists(known, min_size=n, max_size=n)) for n in lengths]
    return Corpus.from_tokens(tokens, y, vocabulary=Labels(NAMES))


CLASSES = WordClasses(tuple(CLUSTERS), (2, 3), np.array([*CLUSTERS.values()]), np.zeros((len(CLUSTERS), 1)))

smoothings = st.builds(
    Smoothing,
    st.sampled_from(["backoff", "additive"]),
    *[st.floats(0.05, 20.0, allow_subnormal=False) for _ in range(6)],
)


def fitted(corpus: Corpus, s: Smoothing, normalise: str = "classes", classes: str | None = None) -> HMMParameters:
    vocabulary = Vocabulary(normalise=normalise).extended(corpus)
    assert corpus.labels is not None
    return estimate(HMMCounts.from_labels(corpus, vocabulary, None, classes), s, corpus.labels)


# By hand.

HAND = Corpus.from_tokens([["a", "b", "a"], ["b"]], [["x", "y", "x"], ["x"]])


def test_counts_by_hand() -> None:
    counts = HMMCounts.from_labels(HAND, Vocabulary().extended(HAND))
    assert counts.vocabulary.words == ("a", "b")
    assert counts.start.tolist() == [2, 0]
    assert counts.trans.tolist() == [[[0, 1], [1, 0]]]
    assert counts.emission.tolist() == [[2, 0], [1, 1]]


def test_additive_probabilities_by_hand() -> None:
    model = fitted(HAND, Smoothing("additive", start=1, trans=0.5, emission=2))
    np.testing.assert_allclose(model.start, [3 / 4, 1 / 4])
    np.testing.assert_allclose(model.trans[0], [[0.5 / 2, 1.5 / 2], [1.5 / 2, 0.5 / 2]])
    # Three possible words with "unknown": x has 3 tokens, y has 1.
    np.testing.assert_allclose(model.emission, [[4 / 9, 2 / 7], [3 / 9, 3 / 7]])
    rows = model.emission_rows(Corpus.from_tokens([["never"]]))
    np.testing.assert_allclose(rows, [[2 / 9, 2 / 7]])


def test_backoff_probabilities_by_hand() -> None:
    model = fitted(HAND, Smoothing("backoff", backoff=1, classes=3))
    # Shape: both words are "x", the prior of that class (4 + 1) / (4 + 1 + 1) = 5/6, of all others 1/6.
    # P(shape | x) = (3 + 3 · 5/6) / 6 = 11/12, two words and one share for others: 11/36 each.
    # Suffix: "x a" and "x b", both with 2 tokens: prior 3/7 each, of all others 1/7.
    # P("x a" | x) = (2 + 9/7) / 6 = 23/42, P("x b" | x) = (1 + 9/7) / 6 = 16/42, one word and one share: half each.
    np.testing.assert_allclose(model.emission[:, 0], [
        (2 + (11 / 36 + 23 / 84) / 2) / 4,
        (1 + (11 / 36 + 16 / 84) / 2) / 4,
    ])  # fmt: skip
    # "c" has a known shape and a new suffix: P(new | x) = (3/7) / 6 = 1/14; "7" is new in both: (3 · 1/6) / 6 = 1/12.
    rows = model.emission_rows(Corpus.from_tokens([["c", "7"]]))
    np.testing.assert_allclose(rows[:, 0], [(11 / 36 + 1 / 14) / 2 / 4, (1 / 12 + 1 / 14) / 2 / 4])


def test_weights_and_unknown_labels_by_hand() -> None:
    corpus = Corpus.from_tokens([["a", "b", "c"], ["b", "a"]], [["x", None, "y"], ["y", "x"]])
    counts = HMMCounts.from_labels(corpus, Vocabulary().extended(corpus), np.array([1.0, 0.5]))
    assert counts.start.tolist() == [1, 0.5]
    assert counts.trans.tolist() == [[[0, 0], [0.5, 0]]]  # x ? y are no neighbours
    assert counts.emission.tolist() == [[1.5, 0], [0, 0.5], [0, 1]]


# Against the naive model.


@relaxed
@given(corpora(), corpora(), smoothings, st.sampled_from(["none", "lower", "classes"]), st.booleans(), st.data())
def test_potentials_are_the_naive_log_joint(
    train: Corpus, other: Corpus, s: Smoothing, normalise: str, by_class: bool, data: st.DataObject
) -> None:
    weight = data.draw(st.lists(st.floats(0, 3), min_size=len(train), max_size=len(train)))
    kind = "punctuation" if by_class else None
    vocabulary = Vocabulary(normalise=normalise).extended(train)
    counts = HMMCounts.from_labels(train, vocabulary, np.array(weight), kind)
    batch = estimate(counts, s, Labels(NAMES)).potentials(other)
    naive = Naive(train, s, normalise, by_class, weight)
    for i, tokens in enumerate(other):
        y = data.draw(st.lists(st.integers(0, 2), min_size=len(tokens), max_size=len(tokens)))
        expected = naive.log_joint(tokens, [NAMES[label] for label in y])
        assert batch[i].score(y) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@relaxed
@given(corpora(), corpora(words=[*WORDS, "Unseen", "other"]), smoothings, st.data())
def test_with_word_classes_too(train: Corpus, other: Corpus, s: Smoothing, data: st.DataObject) -> None:
    vocabulary = Vocabulary().classified(CLASSES).extended(train)
    assert vocabulary.words[: len(CLUSTERS)] == tuple(CLUSTERS)
    batch = estimate(HMMCounts.from_labels(train, vocabulary), s, Labels(NAMES)).potentials(other)
    naive = Naive(train, s, "classes", False, [1.0] * len(train), clusters=True)
    for i, tokens in enumerate(other):
        y = data.draw(st.lists(st.integers(0, 2), min_size=len(tokens), max_size=len(tokens)))
        expected = naive.log_joint(tokens, [NAMES[label] for label in y])
        assert batch[i].score(y) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_word_classes_of_another_making() -> None:
    with pytest.raises(InputError, match="normalise is 'none'; the word classes have 'classes'"):
        Vocabulary(normalise="none").classified(CLASSES)
    a, b = (Vocabulary(tuple(CLUSTERS), word_classes=classes).extended(HAND) for classes in (None, CLASSES))
    models = [estimate(HMMCounts.from_labels(HAND, v), Smoothing(), Labels(["x", "y"])) for v in (a, b)]
    with pytest.raises(InputError, match="do not mix"):
        interpolate(*models, 0.5)


@relaxed
@given(corpora(), smoothings, st.sampled_from([None, "punctuation", "sentences"]), st.booleans())
def test_probabilities_sum_to_one(train: Corpus, s: Smoothing, kind: str | None, clusters: bool) -> None:
    vocabulary = Vocabulary().classified(CLASSES if clusters else None).extended(train)
    model = estimate(HMMCounts.from_labels(train, vocabulary, None, kind), s, Labels(NAMES))
    np.testing.assert_allclose(model.start.sum(), 1)
    np.testing.assert_allclose(model.trans.sum(axis=2), 1)
    outside = sum(table.sum(axis=0) for table in model.unknown.values())
    np.testing.assert_allclose(model.emission.sum(axis=0) + outside, 1)


@relaxed
@given(corpora(), corpora(labelled=False), smoothings, st.sampled_from([None, "punctuation"]))
def test_tag_is_the_best_labelling(train: Corpus, other: Corpus, s: Smoothing, kind: str | None) -> None:
    model = fitted(train, s, classes=kind)
    labels, scores = model.tag(other)
    batch = model.potentials(other)
    for i in range(len(other)):
        y = labels[other.indptr[i] : other.indptr[i + 1]].tolist()
        best = labellings(batch[i]).best(backwards)
        assert best is not None
        assert scores[i] == pytest.approx(best[1])
        assert batch[i].score(y) == pytest.approx(best[1])


@pytest.mark.parametrize("threads", [1, 2])
def test_tag_of_many_chunks_is_the_plain_viterbi(threads: int) -> None:
    rng = np.random.default_rng(0)
    corpus = Corpus.from_tokens([rng.choice(WORDS, n).tolist() for n in rng.integers(0, 60, 600)])
    model = fitted(HAND, Smoothing())
    labels, scores = model.tag(corpus, threads)
    plain = viterbi(model.potentials(corpus))
    np.testing.assert_array_equal(labels, plain.labels)
    np.testing.assert_allclose(scores, plain.scores)


@relaxed
@given(corpora(), corpora(labelled=False), smoothings)
def test_expected_counts_by_enumeration(train: Corpus, pool: Corpus, s: Smoothing) -> None:
    vocabulary = Vocabulary().extended(train, pool)
    model = estimate(HMMCounts.from_labels(train, vocabulary), s, Labels(NAMES))
    batch = model.potentials(pool)
    counts = HMMCounts.from_marginals(pool, vocabulary, posterior(batch))
    start, trans, emission = np.zeros(3), np.zeros((3, 3)), Counter()
    for i, tokens in enumerate(pool):
        if not tokens:
            continue
        every = labellings(batch[i])
        marginal = every.expectation(label_counts(batch[i]))
        start += marginal[0]
        trans += every.expectation(pair_counts(batch[i])).sum(axis=0)
        for t, token in enumerate(tokens):
            for label in range(3):
                emission[naive_class(token), label] += marginal[t, label]
    np.testing.assert_allclose(counts.start, start, atol=1e-9)
    np.testing.assert_allclose(counts.trans[0], trans, atol=1e-9)
    for v, word in enumerate(vocabulary.words):
        np.testing.assert_allclose(counts.emission[v], [emission[word, label] for label in range(3)], atol=1e-9)


# Counts and parameters as values.


def test_counts_add_and_scale() -> None:
    vocabulary = Vocabulary().extended(HAND)
    one = HMMCounts.from_labels(HAND, vocabulary)
    twice = HMMCounts.from_labels(HAND, vocabulary, np.array([2.0, 2.0]))
    for made in (one + one, 2 * one, one * 2.0):
        for name in ("start", "trans", "emission"):
            np.testing.assert_array_equal(getattr(made, name), getattr(twice, name))
    with pytest.raises(InputError, match="at least 0"):
        one * -1.0
    with pytest.raises(InputError, match="at least 0"):
        one * math.nan


def test_counts_over_a_larger_vocabulary() -> None:
    small = Vocabulary().extended(HAND)
    pool = Corpus.from_tokens([["new", "b"]])
    large = small.extended(pool)
    assert large.words == ("a", "b", "new")
    counts = HMMCounts.from_labels(HAND, small)
    direct = HMMCounts.from_labels(HAND, large)
    assert direct.emission.tolist() == [[2, 0], [1, 1], [0, 0]]
    with pytest.raises(InputError, match="over one vocabulary"):
        counts + direct
    # The new word is one more of its class, and so the share for words outside shrinks.
    before, after = (estimate(c, Smoothing(), Labels(["x", "y"])) for c in (counts, direct))
    never = Corpus.from_tokens([["never"]])
    assert (after.emission_rows(never) < before.emission_rows(never)).all()


def test_interpolation_is_a_mixture() -> None:
    a = fitted(HAND, Smoothing(), classes="punctuation")
    vocabulary = a.vocabulary
    b = estimate(HMMCounts.from_labels(HAND[[1]], vocabulary, None, "punctuation"), Smoothing(), Labels(["x", "y"]))
    mixed = interpolate(a, b, 0.9)
    for name in ("start", "trans", "emission"):
        np.testing.assert_allclose(getattr(mixed, name), 0.9 * getattr(a, name) + 0.1 * getattr(b, name))
    for name, table in mixed.unknown.items():
        np.testing.assert_allclose(table, 0.9 * a.unknown[name] + 0.1 * b.unknown[name])
    for gamma in (-0.1, 1.1, math.nan):
        with pytest.raises(InputError, match="gamma"):
            interpolate(a, b, gamma)
    with pytest.raises(InputError, match="transition classes differ"):
        interpolate(a, fitted(HAND, Smoothing()), 0.5)
    with pytest.raises(InputError, match="do not mix"):
        interpolate(fitted(HAND, Smoothing("additive")), fitted(HAND, Smoothing()), 0.5)


def test_invalid_tags_are_impossible_unless_observed() -> None:
    labels = Labels(["B-x", "I-x", "O"])
    clean = Corpus.from_tokens([["a", "b"]], [["B-x", "O"]], vocabulary=labels)
    model = fitted(clean, Smoothing())
    assert (model.start == 0).tolist() == [False, True, False]
    assert (model.trans[0] == 0).tolist() == [[False] * 3, [False] * 3, [False, True, False]]
    np.testing.assert_allclose(model.trans[0].sum(axis=1), 1)
    odd = Corpus.from_tokens([["a", "b"], ["a"]], [["O", "I-x"], ["I-x"]], vocabulary=labels)
    model = fitted(odd, Smoothing(), classes="punctuation")
    assert (model.start > 0).all()
    assert (model.trans > 0).all()


def test_nothing_may_start() -> None:
    corpus = Corpus.from_tokens([["a", "b"]], [[None, "I-x"]])
    model = fitted(corpus, Smoothing())
    assert model.start.tolist() == [0]
    with pytest.raises(InfeasibleError, match="sequence 0"):
        model.tag(corpus)


def test_classes_of_transitions_by_hand() -> None:
    tokens = [["J", ".", "Doe", ",", "A", "(", "x"], [".", "b", "."], ["."], [], ["Q"], [".", "c"]]
    classes, n = classes_of_transitions(Corpus.from_tokens(tokens), "punctuation")
    assert n == 5
    # The class of a first token is not used; the full stop that begins a sequence does not see the one before.
    borders = np.cumsum([0] + [len(t) for t in tokens])
    after_first = [classes[a + 1 : b].tolist() for a, b in itertools.pairwise(borders)]
    assert after_first == [[0, 4, 0, 2, 0, 3], [1, 0], [], [], [], [1]]
    assert classes_of_transitions(Corpus.from_tokens([]), "punctuation")[0].shape == (0,)
    by_sentence = Corpus.from_tokens([["J", ".", "wow", "!", "?", "*PHONE*7*2", ",", "*", "..", "*7*", "x"]])
    assert classes_of_transitions(by_sentence, "sentences")[0][1:].tolist() == [0, 1, 0, 1, 1, 4, 2, 3, 3, 0]
    with pytest.raises(InputError, match="'punctuation'"):
        classes_of_transitions(HAND, "commas")


@pytest.mark.parametrize(
    ("normalise", "words"),
    [
        ("none", ("The", "the", "1998", "1999", "12", "345678", "3-5", "10-20", "x1")),
        ("lower", ("the", "1998", "1999", "12", "345678", "3-5", "10-20", "x1")),
        ("classes", ("the", "YYYY", "00", "00000", "0-0", "x1")),
    ],
)
def test_normalisation(normalise: str, words: tuple[str, ...]) -> None:
    corpus = Corpus.from_tokens([["The", "the", "1998", "1999", "12", "345678", "3-5", "10-20", "x1"]])
    vocabulary = Vocabulary(normalise=normalise).extended(corpus)
    assert vocabulary.words == words
    assert vocabulary.ids(["the", "unheard"]).tolist() == [words.index("the"), len(words)]


def test_vocabulary_holds_only_words_in_use() -> None:
    corpus = Corpus.from_tokens([["a"], ["b"]])
    assert Vocabulary().extended(corpus[[1]]).words == ("b",)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="normalise is 'upper'"):
        Vocabulary(normalise="upper")
    with pytest.raises(InputError, match="twice"):
        Vocabulary(("a", "a"))
    with pytest.raises(InputError, match="'backoff' or 'additive'"):
        Smoothing("none")
    for wrong in (0, -1, math.nan, math.inf, "1", True):
        with pytest.raises(InputError, match="'trans' is"):
            Smoothing(trans=wrong)  # type: ignore[arg-type]
    vocabulary = Vocabulary(("a",))
    with pytest.raises(InputError, match="'b' is not in the vocabulary"):
        HMMCounts.from_labels(HAND, vocabulary)
    with pytest.raises(InputError, match="no labels"):
        HMMCounts.from_labels(Corpus.from_tokens([["a"]]), vocabulary)
    counts = HMMCounts.from_labels(HAND, Vocabulary().extended(HAND))
    with pytest.raises(InputError, match="3 labels, but counts of 2"):
        estimate(counts, Smoothing(), Labels(["x", "y", "z"]))
    wrong_size = Posterior(np.zeros(1), np.zeros((3, 2)), np.zeros((1, 2, 2)), np.zeros(1))
    with pytest.raises(InputError, match="a posterior of 3 tokens"):
        HMMCounts.from_marginals(HAND, Vocabulary().extended(HAND), wrong_size)
