"""`TypeMemory`: a corpus has the same attributes whatever the index has met before it."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features import memory
from espalier.features.declare import Call, TableField, Vectors
from espalier.features.extract import FeatureExtractor
from espalier.features.index import FeatureIndex

WORDS = ["Smith", ",", "J", ".", "On", "trees", "1998", "pp", "12-15", '"', "and", "In", "unseen"]
KIND = TableField("kind", {"on": ["in"], "in": ["in", "of"], "pp": ["page"], "and": ["join"]}, fold=True)
VECTORS = Vectors("v", ("Smith", "trees", "J"), np.array([[1.0, 0.5], [0.0, 2.0], [-1.0, 0.0]]))
TEMPLATES = [
    "bias", "edge", "flags", "lower[-1,0,1]", "shape", "suffix2", "lower[-1] & lower", "shape & table:kind",
    "table:kind[-1,0]", "vectors:v", "chunk(table:kind)", "chunk-1(shape)", "chunk(vectors:v)", "sentence(lower)*0.3",
    "chunkfirst(lower)", "chunklast-1(lower)", "before(table:kind)", "after(lower)", "chunkindex", "quoted",
    "chunk(lower) & shape", "chunk(shape)[-1]",
]  # fmt: skip

sequences = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=4)


def fitted(min_count: int = 1) -> FeatureIndex:
    trained = [
        ["Smith", ",", "J", ".", '"', "On", "trees", '"', ".", "1998", "."],
        ["In", "pp", ".", "12-15", ",", "J"],
    ]
    extractor = FeatureExtractor(TEMPLATES, min_count, definitions=[KIND, VECTORS])
    return extractor.fit(Corpus.from_tokens([*trained, ["on", "Trees", ",", "and", "1998"]]))


def rows(index: FeatureIndex, corpus: Corpus) -> np.ndarray:
    """The flat matrix: what the two levels mean."""
    return index.transform(corpus).to_csr().toarray()


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.lists(sequences, min_size=1, max_size=3), sequences)
def test_what_was_met_before_changes_nothing(earlier: list[list[list[str]]], now: list[list[str]]) -> None:
    index, corpus = fitted(), Corpus.from_tokens(now)
    for texts in earlier:
        index.transform(Corpus.from_tokens(texts))
    np.testing.assert_allclose(rows(index, corpus), rows(fitted(), corpus), rtol=0, atol=1e-15)


@settings(deadline=None, derandomize=True, max_examples=20)
@given(sequences)
def test_the_matrix_is_that_of_training(now: list[list[str]]) -> None:
    """An extractor that is fitted to the corpus itself computes every value anew, without a memory."""
    corpus = Corpus.from_tokens(now)
    index, matrix = FeatureExtractor(TEMPLATES, definitions=[KIND, VECTORS]).fit_transform(corpus)
    np.testing.assert_allclose(rows(index, corpus), matrix.to_csr().toarray(), rtol=0, atol=1e-15)


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST", 5)
    index, corpus = fitted(), Corpus.from_tokens([WORDS])
    expected = rows(fitted(), corpus)
    for word in WORDS:
        index.transform(Corpus.from_tokens([[word, word + "s"]]))
        assert len(index._memory._number) <= 5
    np.testing.assert_array_equal(rows(index, corpus), expected)  # more types than are ever kept


def test_copies_remember_nothing() -> None:
    index, corpus = fitted(), Corpus.from_tokens([WORDS])
    expected = rows(index, corpus)
    for other in (pickle.loads(pickle.dumps(index)), copy.deepcopy(index)):
        assert not other._memory._number
        np.testing.assert_array_equal(rows(other, corpus), expected)


def test_a_field_that_fails_leaves_the_memory_as_it_was() -> None:
    def picky(word: str) -> str:
        if word == "unseen":
            raise ValueError("no")
        return word[0]

    extractor = FeatureExtractor(["lower", "call:picky", "chunk(lower)"], definitions=[Call("picky", picky)])
    index = extractor.fit(Corpus.from_tokens([["Smith", "J"]]))
    index.transform(Corpus.from_tokens([["Smith"]]))
    for _ in range(2):
        with pytest.raises((InputError, ValueError)):
            index.transform(Corpus.from_tokens([["J", "unseen"]]))
    assert list(index._memory._number) == ["Smith"]
    corpus = Corpus.from_tokens([["J", "Smith", "J"]])
    np.testing.assert_array_equal(
        rows(index, corpus), rows(extractor.fit(Corpus.from_tokens([["Smith", "J"]])), corpus)
    )


def test_threads_share_it() -> None:
    index = fitted()
    corpora = [Corpus.from_tokens([[f"{w}{k}" for w in WORDS] + WORDS]) for k in range(24)]
    expected = [rows(fitted(), corpus) for corpus in corpora]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda corpus: rows(index, corpus), corpora))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
