"""Labels and Corpus: what goes in comes out, whatever the slicing."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import UNKNOWN, Corpus, Labels
from espalier.document import Document, Span
from espalier.errors import InputError, LabelError
from espalier.tags import may_follow, may_start

LAW = settings(deadline=None, derandomize=True, max_examples=80)

TOKENS = [["a", "b", "a"], [], ["c"]]
NAMES = [["X", None, "Y"], [], ["X"]]

tokens = st.text(max_size=3)
labels = st.none() | st.sampled_from(["X", "Y", "Z"])
labelled = st.lists(st.lists(st.tuples(tokens, labels), max_size=5), max_size=6)


def unzip(pairs: list[list[tuple[Any, Any]]]) -> tuple[list[list[Any]], list[list[Any]]]:
    return [[a for a, _ in s] for s in pairs], [[b for _, b in s] for s in pairs]


# Labels


def test_labels_are_a_locked_sequence() -> None:
    names = Labels(["b", "a", "c"])
    assert list(names) == ["b", "a", "c"]
    assert (len(names), names[1], names[-1], names[:2]) == (3, "a", "c", ("b", "a"))
    assert names.index("a") == 1
    assert "a" in names
    assert "z" not in names
    assert names == Labels(["b", "a", "c"])
    assert names != Labels(["a", "b", "c"])
    assert names != ["b", "a", "c"]
    assert hash(names) == hash(Labels(("b", "a", "c")))
    assert repr(names) == "Labels(['b', 'a', 'c'])"
    assert pickle.loads(pickle.dumps(names)) == names


def test_labels_of_what_occurs() -> None:
    assert Labels.of([["b", None], ["a", "b"]]).names == ("a", "b")
    assert Labels.of([]).names == ()


def test_encode_and_decode() -> None:
    names = Labels(["b", "a"])
    assert names.encode(["a", None, "b"]) == [1, UNKNOWN, 0]
    assert names.decode([1, -1, 0]) == ["a", None, "b"]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Labels(["a", "b", "a"]), "listed twice"),
        (lambda: Labels([""]), "a label is a non-empty string, not ''"),
        (lambda: Labels([1, 2]), "a label is a non-empty string, not 1"),
        (lambda: Labels(str(i) for i in range(40_000)), "40000 labels; at most 32767"),
        (lambda: Labels(["title", "date"]).encode(["titel"]), "token 0: unknown label 'titel'; did you mean 'title'"),
        (lambda: Labels(["a", "b"]).index("zzz"), "unknown label 'zzz'; known labels: a, b"),
        (lambda: Labels(map(str, range(20))).index("zzz"), r"known labels: 0, 1, .*, 18, 19$"),
    ],
)
def test_wrong_labels(build: Any, message: str) -> None:
    with pytest.raises(LabelError, match=message):
        build()


def test_allowed_transitions() -> None:
    names = Labels(["O", "B-x", "I-x", "B-x/B-y", "I-x/B-y", "I-x/I-y"])
    start, follow = names.allowed()
    assert start.tolist() == [may_start(name) for name in names]
    assert follow.tolist() == [[may_follow(a, b) for b in names] for a in names]
    assert start.tolist() == [True, True, False, True, False, False]


def test_unmarked_labels_may_do_anything() -> None:
    start, follow = Labels(["O", "x", "B-y"]).allowed()
    assert start.all()
    assert follow.all()
    start, follow = Labels([]).allowed()
    assert (start.shape, follow.shape) == ((0,), (0, 0))


# Corpus


def test_arrays_by_hand() -> None:
    corpus = Corpus.from_tokens(TOKENS, NAMES)
    assert corpus.indptr.tolist() == [0, 3, 3, 4]
    assert corpus.types == ("a", "b", "c")
    assert corpus.token_ids.tolist() == [0, 1, 0, 2]
    assert corpus.y is not None
    assert corpus.y.tolist() == [0, -1, 1, 0]
    assert corpus.labels == Labels(["X", "Y"])
    assert (corpus.indptr.dtype, corpus.token_ids.dtype, corpus.y.dtype) == (np.int64, np.int32, np.int16)
    assert (len(corpus), corpus.shape, corpus.n_tokens, corpus.lengths.tolist()) == (3, (3,), 4, [3, 0, 1])
    assert list(corpus) == TOKENS
    assert corpus.all_labels() == NAMES


@LAW
@given(labelled)
def test_round_trip(pairs: list[list[tuple[str, str | None]]]) -> None:
    words, names = unzip(pairs)
    corpus = Corpus.from_tokens(words, names)
    assert list(corpus) == words
    assert corpus.all_labels() == names
    assert Corpus.from_tokens(words).with_labels(names).all_labels() == names


@LAW
@given(labelled.filter(bool), st.data())
def test_slices_are_the_chosen_sequences(pairs: list[list[tuple[str, str | None]]], data: st.DataObject) -> None:
    words, names = unzip(pairs)
    corpus = Corpus.from_tokens(words, names)
    N = len(words)
    chosen = data.draw(st.lists(st.integers(-N, N - 1), max_size=8))
    part = corpus[np.array(chosen, dtype=np.int64)]
    assert list(part) == [words[i] for i in chosen]
    assert part.all_labels() == [names[i] for i in chosen]
    mask = data.draw(st.lists(st.booleans(), min_size=N, max_size=N))
    assert list(corpus[np.array(mask)]) == [s for s, keep in zip(words, mask, strict=True) if keep]
    one = data.draw(st.slices(N))
    assert list(corpus[one]) == words[one]
    i = data.draw(st.integers(-N, N - 1))
    assert list(corpus[i]) == [words[i]]


def test_an_index_outside_is_an_error() -> None:
    with pytest.raises(IndexError):
        Corpus.from_tokens(TOKENS)[3]


def test_a_fixed_vocabulary_of_labels() -> None:
    corpus = Corpus.from_tokens(TOKENS, NAMES, vocabulary=Labels(["Z", "Y", "X"]))
    assert corpus.y is not None
    assert corpus.y.tolist() == [2, -1, 1, 2]
    with pytest.raises(LabelError, match="sequence 0, token 2: unknown label 'Y'"):
        Corpus.from_tokens(TOKENS, NAMES, vocabulary=Labels(["X"]))


def test_from_documents() -> None:
    first = Document.from_text("Jo Li 12", [Span(0, 5, "name"), Span(0, 2, "name/first")])
    corpus = Corpus.from_documents([first, Document.from_text("free text")])
    assert corpus.all_labels() == [["B-name/B-first", "I-name", "O"], [None, None]]
    assert corpus.documents == (first, Document.from_text("free text"))
    assert corpus[1].documents == (Document.from_text("free text"),)
    plain = Corpus.from_documents([first], marks=False)
    assert plain.all_labels() == [["name/first", "name", "O"]]
    assert Corpus.from_documents([Document.from_text("free text")]).y is None
    assert len(Corpus.from_documents([])) == 0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Corpus.from_tokens(["a b"]), "sequence 0 is a string"),
        (lambda: Corpus.from_tokens([["a"], ["b", 3]]), "tokens must be strings; found 3 of type int"),
        (lambda: Corpus.from_tokens(TOKENS, NAMES[:2]), "3 sequences but 2 label lists"),
        (lambda: Corpus.from_tokens([["a"]], [["X", "Y"]]), "sequence 0 has 1 token but 2 labels"),
        (lambda: Corpus.from_tokens([["a"]], ["X"]), "the labels of sequence 0 are a string"),
        (lambda: Corpus.from_tokens([["a"]], documents=[]), "1 sequences but 0 documents"),
        (lambda: Corpus.from_tokens(TOKENS).all_labels(), "this corpus has no labels"),
    ],
)
def test_wrong_corpora(build: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_the_digest_depends_on_content_alone() -> None:
    corpus = Corpus.from_tokens([["a", "b"], ["c"]], [["X", "Y"], [None]])
    turned = Corpus.from_tokens([["c"], ["a", "b"]], [[None], ["X", "Y"]], vocabulary=corpus.labels)
    assert turned[[1, 0]].digest() == corpus.digest()  # other token ids, same content
    assert len(corpus.digest()) == 64


def test_digests_tell_contents_apart() -> None:
    corpora = [
        Corpus.from_tokens([["a", "b"]]),
        Corpus.from_tokens([["a"], ["b"]]),
        Corpus.from_tokens([["ab"]]),
        Corpus.from_tokens([["b", "a"]]),
        Corpus.from_tokens([["a\x1fb", "c"]]),
        Corpus.from_tokens([["a", "b\x1fc"]]),
        Corpus.from_tokens([["a", "b"]], [["X", "X"]]),
        Corpus.from_tokens([["a", "b"]], [["X", None]]),
        Corpus.from_tokens([["a", "b"]], [["Y", None]]),
        Corpus.from_tokens([["a", "\ud800"]]),
        Corpus.from_tokens([]),
    ]
    assert len({corpus.digest() for corpus in corpora}) == len(corpora)


@pytest.mark.filterwarnings("ignore:.*cuts a token")
def test_documents_follow_the_labels() -> None:
    document = Document.from_text("plum, Ely", [Span(0, 2, "cut")], id="7")
    corpus = Corpus.from_documents([document])
    assert corpus.documents == (document,)  # a span may say more than tags do
    for names in (["B-fruit", "O", "B-place"], ["fruit", "O", "place"]):
        relabelled = corpus.with_labels([names])
        expected = Document.from_text("plum, Ely", [Span(0, 4, "fruit"), Span(6, 9, "place")], id="7")
        assert relabelled.documents == (expected,)
        assert relabelled.to_documents() == (expected,)
    assert corpus.with_labels([[None] * 3]).documents == (
        Document.from_text("plum, Ely", [], id="7", unknown=((0, 4), (4, 5), (6, 9))),
    )
    with pytest.raises(InputError, match=r"sequence 0: .* has an empty label or level: 'a//b'"):
        corpus.with_labels([["a//b", "O", "O"]])


def test_documents_from_tokens_alone() -> None:
    corpus = Corpus.from_tokens(TOKENS, NAMES)
    assert corpus.to_documents() == (
        Document("a b a", ((0, 1), (2, 3), (4, 5)), (Span(0, 1, "X"), Span(4, 5, "Y")), ((2, 3),)),
        Document("", (), ()),
        Document("c", ((0, 1),), (Span(0, 1, "X"),)),
    )
    assert [d.spans for d in Corpus.from_tokens(TOKENS).to_documents()] == [None] * 3
    with pytest.raises(InputError, match="sequence 1: token 0"):
        Corpus.from_tokens([["a"], [""]]).to_documents()
