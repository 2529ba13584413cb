"""Recombined sequences: the same fields, marks and order, and words that fields of the same label have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.estimators.codl import CoDL
from espalier.estimators.crf import CRF
from espalier.estimators.generalized_expectation import GeneralizedExpectation
from espalier.learning.recombination import recombined
from espalier.tags import segments

Tags = Sequence[Sequence[str | None]]


def copies_of(X: list[list[str]], y: Tags, copies: int) -> tuple[list[list[str]], Tags]:
    corpus = Corpus.from_tokens(X, y)
    found, _ = recombined(corpus, copies, None, np.random.default_rng(3))
    assert found.labels == corpus.labels
    assert (list(found)[: len(X)], found.all_labels()[: len(X)]) == (X, y)  # the sequences themselves come first
    return list(found)[len(X) :], found.all_labels()[len(X) :]


def test_by_hand() -> None:
    X = [["Ada", "King", ",", "Notes", "."], ["Grace", "Hopper", ":", "Code", "!"]]
    y = [["B-who", "I-who", "I-who", "B-what", "I-what"]] * 2
    tokens, tags = copies_of(X, y, 2000)
    # Words move, marks stay; names of two words are also put together from parts, things of one word are not.
    ada, grace = ("Ada", "King"), ("Grace", "Hopper")
    names = {(*a[:m], *b[n:]) for a in (ada, grace) for b in (ada, grace) for m in range(3) for n in range(3)} - {()}
    for marks, chosen in ((",.", slice(0, None, 2)), (":!", slice(1, None, 2))):
        every = {(*name, marks[0], thing, marks[1]) for name in names for thing in ("Notes", "Code")}
        assert {tuple(x) for x in tokens[chosen]} == every
    assert tags == [["B-who", *["I-who"] * (len(x) - 3), "B-what", "I-what"] for x in tokens]


def test_what_stays() -> None:
    # Plain labels, a token outside, one that is unknown, a field of marks alone, digits, an empty sequence.
    X, y = [["(", "a", ")", "and", "?", "-", "1", "2"], []], [["x", "x", "x", "O", None, "z", "n", "n"], []]
    assert copies_of(X, y, 5) == (X * 5, y * 5)


MARKS = (",", ".", "(", ";")
WORDS = st.lists(st.sampled_from(["a", "B", "c7", "-", "Ö"]), min_size=1, max_size=4)
FIELD = st.tuples(st.sampled_from(["p", "q", "O"]), st.lists(st.sampled_from(MARKS), max_size=1), WORDS)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[list[str]], Tags]:
    X: list[list[str]] = []
    y: list[list[str | None]] = []
    for fields in draw(st.lists(st.lists(FIELD, max_size=4), min_size=1, max_size=4)):
        X.append([])
        y.append([])
        for label, mark, words in fields:
            tokens = [*words, *mark]
            X[-1] += tokens
            y[-1] += ["O"] * len(tokens) if label == "O" else [f"B-{label}", *[f"I-{label}"] * (len(tokens) - 1)]
    return X, y


def trimmed(tokens: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Marks, words and marks of a field: the longest stretches without a letter or digit are taken off both ends."""
    a, b = 0, len(tokens)
    while a < b and not any(c.isalnum() for c in tokens[a]):
        a += 1
    while b > a and not any(c.isalnum() for c in tokens[b - 1]):
        b -= 1
    return (tokens[:a], tokens[a:b], tokens[b:]) if a < b else ([], tokens, [])


@settings(deadline=None, derandomize=True, max_examples=60)
@given(corpora(), st.integers(1, 3))
def test_a_copy_has_the_fields_of_its_sequence_and_words_of_its_label(
    data: tuple[list[list[str]], Tags], copies: int
) -> None:
    X, y = data
    known: dict[str, list[list[str]]] = {}
    for x, z in zip(X, y, strict=True):
        for field in segments(z):
            known.setdefault(field.label, []).append(trimmed(x[field.start : field.end])[1])
    tokens, tags = copies_of(X, y, copies)
    for i, (x, z) in enumerate(zip(tokens, tags, strict=True)):
        before, after = segments(y[i % len(X)]), segments(z)
        assert [field.label for field in after] == [field.label for field in before]
        outside = [token for token, tag in zip(X[i % len(X)], y[i % len(X)], strict=True) if tag == "O"]
        assert [token for token, tag in zip(x, z, strict=True) if tag == "O"] == outside
        for old, new in zip(before, after, strict=True):
            left, _, right = trimmed(X[i % len(X)][old.start : old.end])
            whole = x[new.start : new.end]
            words = whole[len(left) : len(whole) - len(right)]
            assert whole == [*left, *words, *right]
            same = known[new.label]
            bare = [words for words in same if "c7" not in words]
            parts = [[*a[:m], *b[n:]] for a in bare for b in bare for m in range(len(a) + 1) for n in range(len(b) + 1)]
            assert words in same + parts
            assert trimmed(words)[1]


def test_copies_weigh_as_much_as_their_sequence() -> None:
    corpus = Corpus.from_tokens([["a"], ["b"]], [["x"], ["y"]])
    _, weight = recombined(corpus, 4, np.array([2.0, 0.5]), np.random.default_rng(0))
    assert weight.tolist() == [2.0, 0.5, *[0.5, 0.125] * 4]


def test_a_crf_learns_from_the_copies() -> None:
    X = [["Ada", ",", "Notes", "."], ["Grace", ":", "Code", "!"]]
    y = [["B-who", "I-who", "B-what", "I-what"]] * 2
    corpus = Corpus.from_tokens(X, y)
    examples, weight = recombined(corpus, 3, np.array([1.0, 2.0]), np.random.default_rng(0))
    plain = CRF(["lower", "lower@-1"]).fit(examples, sample_weight=weight)
    crf = CRF(["lower", "lower@-1"], copies=3).fit(corpus, sample_weight=[1.0, 2.0])
    assert crf.weights() == pytest.approx(plain.weights())
    assert crf.training_digest_ == corpus.digest()


def test_codl_learns_from_copies_of_its_guesses_not_from_the_guesses() -> None:
    X = [["Ada", "King", ",", "Notes", "."], ["Grace", "Hopper", ",", "Code", "."]]
    y = [["B-who", "I-who", "I-who", "B-what", "I-what"]] * 2
    pool = [["Mary", "Ward", ",", "Stars", "."], ["Jean", "Bartik", ",", "Notes", "."]]
    crf = CRF(["lower", "shape", "shape@1"], copies=2)
    taught = CoDL(crf, update="pool", cycles=1, pool_weight=0.25).fit(X, y, unlabelled=pool)
    guessed = crf.fit(X, y).predict(pool)
    both = Corpus.from_tokens(X + pool, y + guessed)
    examples, weight = recombined(both, 2, np.array([1.0, 1.0, 0.25, 0.25]), np.random.default_rng(0))
    kept = [0, 1, *range(4, 12)]
    alone = CRF(["lower", "shape", "shape@1"]).fit(examples[kept], sample_weight=weight[kept])
    assert isinstance(taught.model_, CRF)
    assert taught.model_.weights() == pytest.approx(alone.weights(), abs=1e-6)
    assert taught.model_.copies == 2


def test_what_cannot_be_copied() -> None:
    with pytest.raises(InputError, match="copies is -1; expected a whole number"):
        CRF(copies=-1).fit([["a"]], [["x"]])
    with pytest.raises(InputError, match="X has ready attributes; leave out copies"):
        CRF(copies=1).fit([[["w=a"]]], [["x"]])
    rules = "Who: who required"
    with pytest.raises(InputError, match="a CRF with copies learns from labels alone, or in CoDL"):
        GeneralizedExpectation(CRF(copies=1), rules).fit([["a"]], [["who"]], unlabelled=[["b"]])
    deep = Labels(["O", "B-who", "B-who/B-last"])
    with pytest.raises(InputError, match="'B-who/B-last' has several, so leave out copies"):
        CRF(copies=1).fit([["a"]], [["O"]], labels=deep.names)
