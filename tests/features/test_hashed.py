"""Hashed words: their ids are in model files, so they never change; what a word is made of."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from espalier.corpus import Corpus
from espalier.document import Document
from espalier.features.hashed import WORTH_ARRAYS, hashed_words, spaces_before

FACTORS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)


def bucket(number: int, kind: int, buckets: int) -> int:
    """The formula, in whole numbers of Python."""
    mixed = number * FACTORS[kind] % 2**32
    mixed ^= mixed >> 15
    return (mixed * 0x2C1B3C6D % 2**32) * buckets >> 32


def test_ids_are_what_model_files_say() -> None:
    found = hashed_words(["Smith", "1999", ","], 32768)
    assert found.sizes.tolist() == [[2, 2, 15], [2, 2, 12], [2, 2, 3]]
    assert found.ids[:7].tolist() == [30784, 23560, 26362, 3730, 23466, 18528, 28680]
    assert found.ids[-7:].tolist() == [27641, 4182, 19878, 5917, 19396, 24706, 30475]


def test_a_word_has_form_shape_and_pieces() -> None:
    pieces = ["<o", "ox", "x>", "<ox", "ox>", "<ox>"]
    parts = [(crc32(b"Ox"), 0), (crc32(b"ox"), 1), (crc32(b"Xx"), 2), (2, 3), *((crc32(p.encode()), 4) for p in pieces)]
    assert hashed_words(["Ox"], 997).ids.tolist() == [bucket(number, kind, 997) for number, kind in parts]
    many = hashed_words(["Ox"] * 100, 997)
    assert many.ids.tolist() == [bucket(number, kind, 997) for number, kind in parts] * 100


@given(st.lists(st.text(min_size=1, max_size=60), max_size=5), st.integers(1, 5000))
def test_any_word_has_ids_below_the_buckets_whatever_stands_beside_it(words: list[str], buckets: int) -> None:
    found = hashed_words(words, buckets)
    assert len(found.ids) == found.sizes.sum()
    assert ((found.ids >= 0) & (found.ids < buckets)).all()
    assert (found.sizes[:, 2] >= 1).all()
    apart = [hashed_words([word], buckets).ids for word in words]
    np.testing.assert_array_equal(found.ids, np.concatenate([np.zeros(0, np.int32), *apart]))


ASCII = st.text(st.characters(max_codepoint=127), max_size=40)


@given(st.lists(ASCII | st.text(max_size=40), min_size=WORTH_ARRAYS, max_size=60), st.integers(1, 40000))
def test_many_words_have_the_ids_that_they_have_alone(words: list[str], buckets: int) -> None:
    found, apart = hashed_words(words, buckets), [hashed_words([word], buckets) for word in words]
    np.testing.assert_array_equal(found.ids, np.concatenate([one.ids for one in apart]))
    np.testing.assert_array_equal(found.sizes, np.concatenate([one.sizes for one in apart]))


@given(st.lists(st.text("ab, .", max_size=12), min_size=2, max_size=4))
def test_spaces_of_one_text_are_those_among_others(texts: list[str]) -> None:
    documents = [Document.from_text(text) for text in texts]
    apart = [spaces_before(Corpus.from_documents([document])).tolist() for document in documents]
    assert spaces_before(Corpus.from_documents(documents)).tolist() == [kind for own in apart for kind in own]


def test_spaces_are_known_where_tokens_touch() -> None:
    texts = [Document.from_text("Lee, A. 1999"), Document.from_text("a b c")]
    assert spaces_before(Corpus.from_documents(texts)).tolist() == [2, 1, 2, 1, 2, 0, 0, 0]
    assert spaces_before(Corpus.from_tokens([["Lee", ","]])).tolist() == [0, 0]
