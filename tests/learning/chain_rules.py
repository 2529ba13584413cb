"""Small problems of rules as expectations, and their answers by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from espalier.corpus import Corpus
from espalier.learning.expectations import ChainFeatures
from espalier.potentials import ChainBatch, Potentials
from espalier.rules.compile import compile_rules
from espalier.rules.ruleset import RuleSet

LABELS = ("a", "b", "O")
RULES = (
    'X: token in "x" -> a',
    "First: first in a, b",
    'Change: change only after "."',
    "Once: each field once",
    "Some: count(a) >= 1",
    "Balance: count(a) - count(b) == 0",
    "Tokens: tokens(b) <= 1",
    'Gated: if any token in "y" then count(b) <= 1',
    'After: token in "x" -> next b',
)
"""One rule each: local ones of one label and of two, counts of segments and of tokens, one with a gate."""

WORDS = ("x", "y", ".")


rule_sets = st.lists(st.sampled_from(RULES), min_size=1, max_size=4, unique=True).map("\n".join)
sentences = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=3)


def grounded_of(text, tokens, labels=LABELS):
    """The features of a rule text on token lists."""
    features = ChainFeatures.of(compile_rules(RuleSet.from_text(text), labels))
    return features.ground(Corpus.from_tokens(tokens))


def random_batch(seed, tokens, L=3, classes=1, forbid=False):
    """Potentials of token lists, with some transition classes."""
    rng = np.random.default_rng(seed)
    indptr = np.append(0, np.cumsum([len(words) for words in tokens])).astype(np.int64)
    trans = rng.normal(size=(classes, L, L))
    if forbid:
        trans[:, 0, 1] = -np.inf
    of_token = rng.integers(0, classes, indptr[-1]).astype(np.int32)
    return ChainBatch(indptr, rng.normal(size=(indptr[-1], L)), trans, of_token, rng.normal(size=L), rng.normal(size=L))


def every_labelling(grounded, i, L=3):
    """All labellings of sequence i with their features, [L^T, T] and float64[L^T, J], one by one."""
    T = int(np.diff(grounded.indptr)[i])
    whole = np.zeros(grounded.indptr[-1], np.int64)
    ys, values = [], []
    for y in product(range(L), repeat=T):
        whole[grounded.indptr[i] : grounded.indptr[i + 1]] = y
        ys.append(y)
        values.append(grounded.values(whole)[i])
    return ys, np.array(values)


def log_scores(potentials: Potentials, ys):
    """Scores of labellings."""
    return np.array([potentials.score(np.array(y, int)) for y in ys])
