"""One short text is read and scored by a kernel: the scores that the arrays give it among others."""

from __future__ import annotations

import numpy as np
import pytest

import espalier.models.single as single
from espalier.corpus import Corpus
from espalier.features.declare import RegexField, TableField
from espalier.features.extract import FeatureExtractor
from espalier.features.index import FeatureIndex
from espalier.features.program import TextProgram
from espalier.models.linear import ChainModel, Pairs

numba = pytest.importorskip("numba")  # loaded: without it the kernels would not be asked

L = 5
WORDS = [
    *("The", "cat", "of", "Opal", "1998", "12-19", "pp", "Vol", "et", "al", "J", "J.", ".", ",", ";", '"', "(", ")"),
    *("“", "”", "[", "]", "!", "", "ß", "Ünit", "New", "York", "a-b", "X", "no", "..."),
]
NAMED = [
    RegexField("year", "(19|20)[0-9]{2}"),
    TableField("kind", {"vol": ("volume", "unit"), "pp": ("pages",), "of": (), "opal": ("name", "volume")}, fold=True),
]
TEMPLATES = [
    *("bias", "edge[-3,0,3]", "position3", "quoted[-1,0,1]", "bracketed[0,2]", "flags[-1,0]", "lower[-2,-1,0,1,2]"),
    *("shape", "prefix1-2", "regex:year[-1,0]", "table:kind[-1,0,1]", "lower & shape", "lower@-1 & lower"),
    *("table:kind@-1 & table:kind & lower@1", "flags@-2 & table:kind", "chunk(lower)", "chunk-1(table:kind)"),
    *("chunk+1(shape)", "chunkfirst(lower)", "chunklast-1(lower)", "sentencefirst+1(lower)", "sentence(table:kind)"),
    *("chunkindex", "chunklength", "sentenceindex", "sentencelength", "before(table:kind)", "after(flags)[-1,0]"),
    *("before(regex:year)", "after(table:kind)@2", "word@4"),
]


def corpus_of(rng: np.random.Generator, n: int) -> Corpus:
    """Return n random sequences, none of them empty."""
    return Corpus.from_tokens([rng.choice(WORDS, rng.integers(1, 30)).tolist() for _ in range(n)])


def model_of(rng: np.random.Generator, index: FeatureIndex) -> ChainModel:
    """Return weights of which no two sums are the same; some attributes have none."""
    sizes = rng.integers(0, L + 1, index.n_attributes)
    label = np.concatenate([np.zeros(0, np.int64), *(np.sort(rng.permutation(L)[:n]) for n in sizes)])
    pairs = Pairs.of(L, np.append(0, np.cumsum(sizes)), label.astype(np.int16))
    return ChainModel(pairs, rng.normal(size=len(pairs)), np.zeros((L, L)), np.zeros(L), np.zeros(L))


def check(index: FeatureIndex, model: ChainModel, corpus: Corpus) -> None:
    """Compare the scores of each text alone with those that it has beside a copy of itself."""
    for i in range(len(corpus)):
        reader = index.single(corpus[[i]])
        assert reader is not None
        alone = model.potentials_of_text(reader, corpus[[i]])
        twice = corpus[[i, i]]
        other = model.potentials(index.transform(twice), twice.indptr)
        np.testing.assert_allclose(alone.unary, other.unary[: len(alone.unary)], rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(8))
def test_a_single_text_has_the_scores_that_it_has_among_others(seed):
    rng = np.random.default_rng(seed)
    chosen = [template for template in TEMPLATES if seed == 0 or rng.random() < 0.6] or TEMPLATES
    index, _ = FeatureExtractor(chosen, min_count=1 + seed % 3, definitions=NAMED).fit_transform(corpus_of(rng, 40))
    assert TextProgram.reads(index.templates)
    check(index, model_of(rng, index), corpus_of(rng, 25))


@pytest.mark.parametrize("templates", [["edge", "chunk(lower)"], ["lower", "shape"], ["lower@-1 & lower"]])
def test_templates_of_one_kind_alone(templates):
    rng = np.random.default_rng(9)
    index, _ = FeatureExtractor(templates).fit_transform(corpus_of(rng, 20))
    check(index, model_of(rng, index), corpus_of(rng, 10))


def test_a_memory_that_is_full_starts_again(monkeypatch):
    monkeypatch.setattr(single, "MOST", 7)
    rng = np.random.default_rng(1)
    index, _ = FeatureExtractor(TEMPLATES, definitions=NAMED).fit_transform(corpus_of(rng, 20))
    model, corpus = model_of(rng, index), corpus_of(rng, 20)
    for i in range(len(corpus)):
        check(index, model, corpus[[i]])
        assert len(model._single[0]._kept) <= max(7, len(set(corpus.tokens(i))))


@pytest.mark.parametrize("template", ["quoted & lower", "chunkindex@-1", "chunkindex & chunklength"])
def test_other_templates_are_left_to_python(template):
    rng = np.random.default_rng(2)
    index, _ = FeatureExtractor([template, "lower"]).fit_transform(corpus_of(rng, 20))
    assert not TextProgram.reads(index.templates)
    check(index, model_of(rng, index), corpus_of(rng, 5))
