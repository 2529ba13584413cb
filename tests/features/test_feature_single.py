"""One short text is read word by word (`features.single`): the same attributes as the arrays give it among others."""

from __future__ import annotations

import numpy as np
import pytest

import espalier.features.single as single
from espalier.corpus import Corpus
from espalier.features.declare import Call, Lexicon, RegexField, SequenceCall, TableField
from espalier.features.extract import FeatureExtractor

WORDS = [
    *("The", "cat", "of", "Opal", "1998", "12-19", "pp", "Vol", "et", "al", "J", "J.", ".", ",", ";", '"', "(", ")"),
    *("“", "”", "[", "]", "!", "", "ß", "Ünit", "New", "York", "a-b", "X", "no", "..."),
]
NAMED = [
    RegexField("year", "(19|20)[0-9]{2}"),
    TableField("kind", {"vol": ("volume", "unit"), "pp": ("pages",), "of": (), "opal": ("name", "volume")}, fold=True),
    Lexicon("place", ["New York", "Opal"]),
    Lexicon("one", ["cat", "of"]),
]
TEMPLATES = [
    *("bias", "edge", "position3", "quoted[-1,0,1]", "bracketed", "flags[-1,0]", "length", "lower[-2,-1,0,1,2]"),
    *("shape", "fullshape", "prefix1-2", "suffix2", "word", "regex:year[-1,0]", "table:kind[-1,0,1]", "lexicon:place"),
    *("lexicon:place@-1", "lexicon:one", "lower & shape", "lower@-1 & lower", "table:kind@-1 & table:kind & lower@1"),
    *("flags & table:kind", "quoted & lower", "edge & quoted@1", "lexicon:place & lower", "chunk(lower)"),
    *("chunk-1(table:kind)", "chunk+1(shape)", "chunkfirst(lower)", "chunklast-1(lower)", "sentencefirst+1(lower)"),
    *("sentence(table:kind)", "chunkindex", "chunklength", "sentenceindex", "sentencelength", "before(table:kind)"),
    *("after(flags)", "before(regex:year)", "chunkindex & chunklength", "chunkindex & lower", "sentenceindex@-1"),
    *("chunkfirst(lower) & quoted", "edge[-3,3]", "word@4"),
]


def corpus_of(rng: np.random.Generator, n: int) -> Corpus:
    """Return n random sequences, none of them empty."""
    return Corpus.from_tokens([rng.choice(WORDS, rng.integers(1, 30)).tolist() for _ in range(n)])


def same(a, b) -> bool:
    """Are two matrices equal, attribute for attribute?"""
    return a.shape == b.shape and (a != b).nnz == 0


@pytest.mark.parametrize("seed", range(8))
def test_a_single_text_has_the_attributes_that_it_has_among_others(seed):
    rng = np.random.default_rng(seed)
    chosen = [template for template in TEMPLATES if seed == 0 or rng.random() < 0.6] or TEMPLATES
    index, _ = FeatureExtractor(chosen, min_count=1 + seed % 3, definitions=NAMED).fit_transform(corpus_of(rng, 40))
    corpus = corpus_of(rng, 25)
    for i in range(len(corpus)):
        alone, twice = index.transform(corpus[[i]]), index.transform(corpus[[i, i]])
        T = int(corpus.lengths[i])
        assert same(alone.to_csr(), twice.to_csr()[:T])


def test_a_memory_that_is_full_starts_again(monkeypatch):
    monkeypatch.setattr(single, "MOST", 7)
    rng = np.random.default_rng(1)
    index, _ = FeatureExtractor(TEMPLATES, definitions=NAMED).fit_transform(corpus_of(rng, 20))
    corpus = corpus_of(rng, 20)
    for i in range(len(corpus)):
        assert same(
            index.transform(corpus[[i]]).to_csr(), index.transform(corpus[[i, i]]).to_csr()[: corpus.lengths[i]]
        )
        assert len(index._single._kept) <= max(7, len(set(corpus.tokens(i))))


@pytest.mark.parametrize(
    "field",
    [
        Call("size", lambda word: {"size": float(len(word))}),
        SequenceCall("at", lambda tokens: [{"t": float(t)} for t in range(len(tokens))]),
    ],
)
def test_weights_are_left_to_the_arrays(field):
    templates = [field.text, "lower"]
    corpus = Corpus.from_tokens([["a", "bb"], ["ccc", "a", "a"]])
    index, matrix = FeatureExtractor(templates, definitions=[field]).fit_transform(corpus)
    assert not single.SingleIndex.reads(index.templates)
    assert same(index.transform(corpus[[1]]).to_csr(), matrix.to_csr()[2:])


def test_a_scaled_field_is_left_to_the_arrays():
    corpus = Corpus.from_tokens([["a", ".", "b"], ["b", "a"]])
    index, matrix = FeatureExtractor(["sentence(lower)*0.3", "lower"]).fit_transform(corpus)
    assert not single.SingleIndex.reads(index.templates)
    assert same(index.transform(corpus[[1]]).to_csr(), matrix.to_csr()[3:])
