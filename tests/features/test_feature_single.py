"""One text has the attributes that it has among others, with kernels and without, whatever the memory remembers."""

from __future__ import annotations

import numpy as np
import pytest

from espalier import kernels
from espalier.corpus import Corpus
from espalier.features import index as indices
from espalier.features import memory
from espalier.features.declare import Call, Lexicon, RegexField, SequenceCall, TableField, Vectors
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


@pytest.fixture(params=[False, True], ids=["NumPy", "compiled"], autouse=True)
def loaded(request, monkeypatch):
    """Read texts without kernels, then with them."""
    monkeypatch.setattr(kernels, "are_loaded", lambda n: request.param)


@pytest.mark.parametrize("seed", range(8))
def test_a_single_text_has_the_attributes_that_it_has_among_others(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    chosen = [template for template in TEMPLATES if seed == 0 or rng.random() < 0.6] or TEMPLATES
    learned, corpus = corpus_of(rng, 40), corpus_of(rng, 25)
    index, matrix = FeatureExtractor(chosen, min_count=1 + seed % 3, definitions=NAMED).fit_transform(learned)
    assert same(index.transform(learned).to_csr(), matrix.to_csr())
    together = index.transform(corpus).to_csr()
    with monkeypatch.context() as patch:
        patch.setattr(indices, "FEW", 0)
        assert same(index.transform(corpus).to_csr(), together)  # in bundles
    for i in range(len(corpus)):
        a, b = corpus.indptr[i : i + 2]
        assert same(index.transform(corpus[[i]]).to_csr(), together[a:b])


def test_a_memory_that_is_full_starts_again(monkeypatch):
    monkeypatch.setattr(memory, "MOST", 7)
    rng = np.random.default_rng(1)
    corpus = corpus_of(rng, 20)
    index, matrix = FeatureExtractor(TEMPLATES, definitions=NAMED).fit_transform(corpus)
    for i in range(len(corpus)):
        a, b = corpus.indptr[i : i + 2]
        assert same(index.transform(corpus[[i]]).to_csr(), matrix.to_csr()[a:b])
        assert len(index._memory._number) <= max(7, len(set(corpus.tokens(i))))


@pytest.mark.parametrize(
    ("template", "field"),
    [
        ("call:size", Call("size", lambda word: {"size": float(len(word))})),
        ("sequence:at", SequenceCall("at", lambda tokens: [{"t": float(t)} for t in range(len(tokens))])),
        ("sentence(call:size)", Call("size", lambda word: {"size": float(len(word))})),
        ("sentence(lower)*0.3", RegexField("a", "a")),
        ("before(lower)*0.3", RegexField("a", "a")),
        ("chunk(vectors:v)", Vectors("v", ("a", "bb"), np.array([[1.0, 2.0], [0.5, 0.0]]))),
    ],
)
def test_weights_are_those_that_training_saw(template, field):
    corpus = Corpus.from_tokens([["a", ".", "bb"], ["ccc", "a", "a"]])
    index, matrix = FeatureExtractor([template, "lower"], definitions=[field]).fit_transform(corpus)
    assert same(index.transform(corpus).to_csr(), matrix.to_csr())
    assert same(index.transform(corpus[[1]]).to_csr(), matrix.to_csr()[3:])
