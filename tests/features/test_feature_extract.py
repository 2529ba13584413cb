"""The extractor against the oracle, and the laws of a locked vocabulary."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_features import DEFINITIONS, FIELDS, FUNCTIONS, Spec, naive, naive_vocabulary, text_of

from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.features.declare import Call, RegexField, Vectors
from espalier.features.extract import FeatureExtractor
from espalier.features.fields import Lower, ShapeField, Template, Word, default_templates
from espalier.features.index import FeatureIndex
from espalier.features.matrix import FeatureMatrix
from feature_matrices import attributes_of

RANDOM = settings(deadline=None, derandomize=True, max_examples=60)

WORDS = [
    "New",
    "York",
    "new",
    "CITY",
    "City",
    "St",
    ".",
    "St.",
    "Louis",
    "A",
    "B.",
    "to",
    "May",
    "JUNE",
    "straße",
    "1999",
]
WORDS += [",", ":", ";", '"', '"', "”", "``", "!", "?", "pp", "dr.", "end.", "12", "314", "(", ")", "(", ")", "[", "}"]
WORDS += ["ß", "-", "x", "McNally-2", "aa", "a b", "", "ǅ", "Ⅷ", "²", "中文", "=", "&", "@-1"]
words = st.one_of(st.sampled_from(WORDS), st.text(alphabet="aAbB12.-é中 ", max_size=8))
sequences = st.lists(st.lists(words, max_size=7), max_size=5)
parts = st.tuples(st.sampled_from(FIELDS), st.integers(-3, 3))
specs = st.lists(
    st.lists(parts, min_size=1, max_size=3, unique=True), min_size=1, max_size=6, unique_by=lambda spec: tuple(spec)
)

BENCH = ["bias", "word[-2,-1,0,1,2]", "lower", "prefix1-4", "suffix1-4", "shape[-1,0,1]", "fullshape", "length"]
BENCH += ["flags", "position5", "suffix2[-1,1]"]
"""The 24 templates that speed is measured with."""


def named(matrix: FeatureMatrix, names: tuple[str, ...]) -> list[dict[str, float]]:
    """The flat matrix as dictionaries; a name that stands twice in a token is a mistake."""
    flat = matrix.to_csr()
    assert flat.shape == (matrix.n_tokens, len(names))
    found = []
    for m in range(matrix.n_tokens):
        row = slice(flat.indptr[m], flat.indptr[m + 1])
        pairs = [(names[k], v) for k, v in zip(flat.indices[row].tolist(), flat.data[row].tolist(), strict=True)]
        assert len(dict(pairs)) == len(pairs)
        found.append(dict(pairs))
    return found


def expected(sequences: list[list[str]], specs: list[Spec], known: set[str]) -> list[dict[str, float]]:
    tokens = [token for sequence in sequences for token in naive(sequence, specs)]
    return [{name: pytest.approx(w, rel=1e-12) for name, w in token.items() if name in known} for token in tokens]


@settings(RANDOM, max_examples=150)
@given(sequences, sequences, specs, st.integers(1, 3))
def test_fit_and_transform_equal_the_oracle(
    train: list[list[str]], new: list[list[str]], specs: list[Spec], min_count: int
) -> None:
    extractor = FeatureExtractor(map(text_of, specs), min_count, definitions=DEFINITIONS)
    index, matrix = extractor.fit_transform(Corpus.from_tokens(train))
    known = naive_vocabulary(train, specs, min_count)
    assert sorted(index.names()) == sorted(known)
    assert index.n_attributes == matrix.n_attributes == len(known)
    assert named(matrix, index.names()) == expected(train, specs, known)
    assert named(index.transform(Corpus.from_tokens(train)), index.names()) == expected(train, specs, known)
    assert named(index.transform(Corpus.from_tokens(new)), index.names()) == expected(new, specs, known)


@RANDOM
@given(sequences, sequences, specs, st.integers(1, 2))
def test_the_state_brings_the_index_back(
    train: list[list[str]], new: list[list[str]], specs: list[Spec], min_count: int
) -> None:
    index = FeatureExtractor(map(text_of, specs), min_count, definitions=DEFINITIONS).fit(Corpus.from_tokens(train))
    state = index.to_state()
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    assert set(state) - set(arrays) == {"features"}
    assert all(array.dtype.kind in "iuf" for array in arrays.values())
    again = FeatureIndex.from_state(
        arrays | {"features": json.loads(json.dumps(state["features"]))}, functions=FUNCTIONS
    )
    assert again.templates == index.templates
    assert again.names() == index.names()
    corpus = Corpus.from_tokens(new)
    assert named(again.transform(corpus), again.names()) == named(index.transform(corpus), index.names())


@RANDOM
@given(sequences, st.lists(words, max_size=7), specs)
def test_a_sequence_has_the_same_attributes_in_any_company(
    company: list[list[str]], sequence: list[str], specs: list[Spec]
) -> None:
    extractor = FeatureExtractor(map(text_of, specs), definitions=DEFINITIONS)
    index = extractor.fit(Corpus.from_tokens([*company, sequence]))
    alone = named(index.transform(Corpus.from_tokens([sequence])), index.names())
    first = named(index.transform(Corpus.from_tokens([sequence, *company])), index.names())
    sliced = named(index.transform(Corpus.from_tokens([*company, sequence])[len(company)]), index.names())
    assert alone == first[: len(sequence)] == sliced


@RANDOM
@given(st.lists(words, max_size=6), specs)
def test_attributes_of_lists_names(tokens: list[str], specs: list[Spec]) -> None:
    extractor = FeatureExtractor(map(text_of, specs), min_count=3, definitions=DEFINITIONS)
    truth = [sorted(token) for token in naive(tokens, specs)]
    assert [sorted(token) for token in attributes_of(extractor, tokens)] == truth
    index = replace(extractor, min_count=1).fit(Corpus.from_tokens([tokens]))
    assert [sorted(token) for token in attributes_of(index, tokens)] == truth


def test_a_worked_example() -> None:
    extractor = FeatureExtractor(["lower@-1", "shape", "lower@-1 & lower", "edge"])
    assert [sorted(token) for token in attributes_of(extractor, ["The", "Cat"])] == [
        ["begin@-1", "begin@-1 & lower=the", "edge=first", "shape=Xx"],
        ["edge=last", "lower@-1=the", "lower@-1=the & lower=cat", "shape=Xx"],
    ]


def test_brackets_by_hand() -> None:
    """The first `)` closes nothing, so `b` is inside all the same; `[` is never closed, so `f` is not."""
    tokens = ["a", ")", "(", "b", "(", "c", ")", "d", ")", "e", "[", "f"]
    inside = [
        token
        for token, found in zip(tokens, attributes_of(FeatureExtractor(["bracketed"]), tokens), strict=True)
        if found
    ]
    assert inside == ["b", "c", "d"]


def test_min_count_counts_tokens() -> None:
    corpus = Corpus.from_tokens([["a", "b", "a"], ["b", "c"]])
    index = FeatureExtractor(["word", "word@-1", "word@-1 & word"], min_count=2).fit(corpus)
    # a and b occur twice, c once; the pairs a b, b a, b c once each, so that b comes before a token twice, a once.
    assert sorted(index.names()) == ["begin@-1", "word=a", "word=b", "word@-1=b"]


def test_word_types_share_bundles() -> None:
    corpus = Corpus.from_tokens([["a", "b"], ["a", "c"]])
    _, matrix = FeatureExtractor(["word", "lower", "word@-1"]).fit_transform(corpus)
    # word=a and lower=a form the only bundle: b and c are used once, and word@-1 alone is its own reference.
    assert matrix.n_bundles == 1
    assert np.diff(matrix.token_indptr).tolist() == [2, 3, 2, 3]  # bundle and marker; two attributes and a neighbour
    assert (matrix.token_refs >= matrix.n_attributes).sum() == 2
    assert (matrix.token_refs.dtype, matrix.bundle_ids.dtype) == (np.int32, np.int32)
    assert len(matrix.token_values) == len(matrix.bundle_values) == 0


def test_types_that_a_slice_does_not_use_have_no_attributes() -> None:
    corpus = Corpus.from_tokens([["a"], ["b", "b"]])
    assert FeatureExtractor(["word"]).fit(corpus[[0]]).names() == ("word=a",)


def test_functions_of_a_word_are_called_once_a_type() -> None:
    seen: list[str] = []

    def spy(word: str) -> str:
        seen.append(word)
        return word

    FeatureExtractor([Call("spy", spy) @ o for o in (-1, 0, 1)]).fit_transform(Corpus.from_tokens([["a", "b"] * 50]))
    assert seen == ["a", "b"]


def test_long_conjunctions_do_not_overflow() -> None:
    n = 3000
    sequence = [f"w{i}" for i in range(n)]
    template = " & ".join(f"word@{o}" if o else "word" for o in range(8))  # 3001 ** 8 is far beyond int64
    index, matrix = FeatureExtractor([template]).fit_transform(Corpus.from_tokens([sequence]))
    assert matrix.n_attributes == n
    assert index.names()[0] == "word=w0 & " + " & ".join(f"word@{o}=w{o}" for o in range(1, 8))


def test_offsets_beyond_the_sequence() -> None:
    assert attributes_of(FeatureExtractor(["word@-1000", "word@1000"]), ["a"]) == [["begin@-1000", "end@1000"]]


def test_no_sequences_at_all() -> None:
    index, matrix = FeatureExtractor(default_templates()).fit_transform(Corpus.from_tokens([]))
    assert (matrix.n_tokens, matrix.n_attributes, index.names()) == (0, 0, ())
    matrix = index.transform(Corpus.from_tokens([["x"], []]))
    assert (matrix.n_tokens, len(matrix.token_refs)) == (1, 0)


def test_default_and_bench_templates_equal_the_oracle() -> None:
    sequences = [["L", ".", "Andersen", ".", "1994"], [], ["Program", "analysis", ".", "1994"], ["L"]]
    for templates in (FeatureExtractor(default_templates()), FeatureExtractor(BENCH)):
        specs = [[(part.field.text, part.offset) for part in template.parts] for template in templates.templates]
        index, matrix = templates.fit_transform(Corpus.from_tokens(sequences))
        assert named(matrix, index.names()) == expected(sequences, specs, set(index.names()))
    assert len(FeatureExtractor(BENCH).templates) == 24


def test_the_index_is_locked() -> None:
    index = FeatureExtractor(["word"]).fit(Corpus.from_tokens([["a"]]))
    with pytest.raises(FrozenInstanceError):
        index.min_count = 2  # type: ignore[misc]
    index.transform(Corpus.from_tokens([["b"]]))
    assert index.names() == ("word=a",)


@pytest.mark.parametrize(
    ("templates", "min_count", "message"),
    [
        ([], 1, "at least one template"),
        ("word", 1, "must be a list"),
        (["word", Word()], 1, "'word' is listed twice"),
        (["prefix1-3", "prefix2"], 1, "'prefix2' is listed twice"),
        ([RegexField("a", "x"), RegexField("a", "y") @ 1], 1, "two different fields have the name 'regex:a'"),
        ([3], 1, "3 is not a string"),
        (["word"], 0, "min_count must be a whole number of at least 1, not 0"),
        (["word"], True, "min_count"),
        (["word"], 1.5, "min_count"),
    ],
)
def test_bad_extractors(templates: list[str | Template], min_count: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FeatureExtractor(templates, min_count)


def test_python_form_and_text_form_are_equal() -> None:
    spelled = FeatureExtractor([Word(), Lower() @ -1, ShapeField() @ -1 & ShapeField() & ShapeField() @ 1])
    assert spelled == FeatureExtractor(["word", "lower@-1", "shape@-1 & shape & shape@+1"])


def test_loading_asks_for_functions_again() -> None:
    index = FeatureExtractor([FUNCTIONS[0], "word"]).fit(Corpus.from_tokens([["a"]]))
    with pytest.raises(InputError, match="your 'call:vowels', and functions are not stored; pass them again"):
        FeatureIndex.from_state(index.to_state())


def test_a_damaged_state_is_refused() -> None:
    vectors = Vectors("v", ("a",), np.ones((1, 2)))
    index = FeatureExtractor(["word", "word@-1 & word", vectors @ 0]).fit(Corpus.from_tokens([["a", "b"]]))
    state = index.to_state()
    for key in state:
        with pytest.raises(ModelFileError, match="incomplete"):
            FeatureIndex.from_state({k: v for k, v in state.items() if k != key})
    for key, wrong in {
        "joins/0/0": np.array([0, 7]),
        "joins/1/1": np.array([1, 0]),
        "values/0/lengths": np.array([1, 5], np.int32),
        "values/0/text": np.array([255, 255], np.uint8),
        "values/1/text": np.array([48, 48], np.uint8),
        "vectors/v": np.full((1, 2), np.nan),
    }.items():
        with pytest.raises(ModelFileError, match="damaged"):
            FeatureIndex.from_state(state | {key: wrong})
    for wrong in [{"templates": ["wrod"]}, {"markers": [1]}, {"markers": ["x"]}, {"min_count": "x"}, {"more": 1}]:
        with pytest.raises(ModelFileError, match="damaged"):
            FeatureIndex.from_state(state | {"features": state["features"] | wrong})


def test_a_state_reads_no_files() -> None:
    state = FeatureExtractor(["word"]).fit(Corpus.from_tokens([["a"]])).to_state()
    state["features"] |= {"lexicons": {"x": "words.txt"}}
    with pytest.raises(ModelFileError, match=r"a file .* is not accepted here"):
        FeatureIndex.from_state(state)
