"""`Labels` and `Corpus`: sequences as CSR arrays, with vocabularies that lock.

A corpus is data and nothing else: which token types stand where, and which label each token has
(-1 where nobody knows). Features live in `espalier.features`, because one corpus serves many models.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from espalier.document import CUT, Document, first_cut
from espalier.errors import (
    InputError,
    LabelError,
    Part,
    Place,
    ResultWarning,
    counted,
    in_order,
    listed,
    nearest,
)
from espalier.tags import is_tag, may_follow, may_start, path_of

__all__ = ["UNKNOWN", "Corpus", "Labels", "Tokens"]

UNKNOWN = -1
"""The label id of a token whose label nobody knows."""

Tokens = Sequence[Sequence[str]]
"""Sequences of tokens, as a user writes them."""


class Labels(Sequence[str]):
    """The label names of a task, in a fixed order; locked: a name that is not there is an error.

    Examples
    --------
    >>> import espalier as es
    >>> labels = es.Labels(["O", "who", "where"])
    >>> labels.encode(["who", "O"])
    [1, 0]
    >>> labels.names[2]
    'where'
    """

    __slots__ = ("_index", "names")

    def __init__(self, names: Iterable[str]) -> None:
        """Keep the names in the given order."""
        if isinstance(names, str):
            raise LabelError(f"the labels are a string, {names!r}", hint=f"pass a list: [{names!r}]")
        given = tuple(names)
        for name in given:
            if not isinstance(name, str) or not name:
                raise LabelError(f"a label is a non-empty string, not {name!r}")
        self.names = tuple(map(str.__str__, given))  # a string of NumPy is one
        self._index = {name: i for i, name in enumerate(self.names)}
        if len(self._index) != len(self.names):
            twice = next(name for i, name in enumerate(self.names) if self._index[name] != i)
            raise LabelError(f"label {twice!r} is listed twice")
        if len(self.names) > np.iinfo(np.int16).max:
            raise LabelError(f"{len(self.names)} labels", hint=f"at most {np.iinfo(np.int16).max} are possible")

    @classmethod
    def of(cls, sequences: Iterable[Iterable[str | None]]) -> Labels:
        """Collect the labels that occur, sorted."""
        several = list(sequences)
        try:
            seen: set[Any] = {name for sequence in several for name in sequence}
        except TypeError:  # a list among them, for instance
            seen = {0}
        if not all(name is None or isinstance(name, str) for name in seen):
            for i, sequence in enumerate(several):
                for t, one in enumerate(sequence):
                    if not isinstance(one, str | None):
                        raise LabelError(
                            Place(i, t), f": a label is a string, not {one!r}", hint="a label that nobody knows is None"
                        )
        return cls(sorted(name for name in seen if name is not None))

    def encode(self, sequence: Iterable[str | None], *, where: Place | None = None) -> list[int]:
        """Turn names into ids, None into UNKNOWN; an unknown name is an error with the nearest known one."""
        index = self._index
        ids = []
        for t, name in enumerate(sequence):
            i = UNKNOWN if name is None else index.get(name, -2)
            if i == -2:
                place: Part = f"token {t}" if where is None else where._replace(token=t)
                raise LabelError(place, f": unknown label {name!r}", hint=self._known(name))
            ids.append(i)
        return ids

    def _known(self, name: object) -> str:
        known = f"known labels: {listed(self.names)}"
        return nearest(str(name), self.names, known)

    def decode(self, ids: Iterable[int]) -> list[str | None]:
        """Turn ids into names, UNKNOWN into None."""
        return [None if i == UNKNOWN else self.names[i] for i in ids]

    def allowed(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which labels may start a sequence, bool[L], and which may follow which, bool[L, L].

        Marked tags obey IOB2 at every level of their hierarchy; unmarked labels may do anything.
        """
        if not all(is_tag(name) for name in self.names):
            return np.ones(len(self), bool), np.ones((len(self), len(self)), bool)
        start = np.array([may_start(name) for name in self.names], dtype=bool)
        follow = np.array([[may_follow(a, b) for b in self.names] for a in self.names], dtype=bool)
        return start.reshape(len(self)), follow.reshape(len(self), len(self))

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[str]: ...
    def __getitem__(self, i: int | slice) -> str | Sequence[str]:
        """Return a name by its id."""
        return self.names[i]

    def __len__(self) -> int:
        """Return the number of labels."""
        return len(self.names)

    def index(self, name: str, *_: Any) -> int:
        """Return the id of a name."""
        if name not in self._index:
            raise LabelError(f"unknown label {name!r}", hint=self._known(name))
        return self._index[name]

    def __contains__(self, name: object) -> bool:
        """Is the name one of the labels?"""
        return name in self._index

    def __eq__(self, other: object) -> bool:
        """Same names in the same order."""
        return isinstance(other, Labels) and self.names == other.names

    def __hash__(self) -> int:
        """Hash by names."""
        return hash(self.names)

    def __repr__(self) -> str:
        """Show the names."""
        return f"Labels({list(self.names)!r})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Corpus:
    """N sequences of M tokens in all.

    Attributes
    ----------
    indptr : int64[N + 1]; sequence i is tokens indptr[i]:indptr[i + 1].
    token_ids : int32[M]; token m is `types[token_ids[m]]`.
    types : the distinct tokens.
    y : int16[M], label ids, -1 where unknown; None if nothing is labelled.
    labels : the names behind y.
    documents : the documents the sequences came from, for offsets and display; None if there were none.
    given : what somebody says of each of the M tokens beside its word: a mapping, a list of names, a vector (see
        `from_tokens`); None if nobody says anything.

    One sample is one sequence: `corpus.shape == (N,)` and `corpus[indices]` is a Corpus, which is all
    that scikit-learn's cross-validation asks for.

    Examples
    --------
    >>> import espalier as es
    >>> corpus = es.Corpus.from_tokens([["Ann", "in", "Ulm"], ["Bob"]], [["who", "O", "where"], ["who"]])
    >>> len(corpus), corpus.n_tokens, corpus.labels.names
    (2, 4, ('O', 'where', 'who'))
    >>> corpus
    Corpus(2 sequences, 4 tokens, 3 labels)
    >>> corpus[1:].tokens(0)
    ['Bob']
    """

    indptr: NDArray[np.int64]
    token_ids: NDArray[np.int32]
    types: tuple[str, ...]
    y: NDArray[np.int16] | None = None
    labels: Labels | None = None
    documents: tuple[Document, ...] | None = None
    given: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        """Show the sizes."""
        known = "" if self.labels is None else f", {len(self.labels)} labels"
        return f"Corpus({len(self)} sequences, {self.n_tokens} tokens{known})"

    @classmethod
    def from_tokens(
        cls,
        sequences: Tokens,
        labels: Sequence[Sequence[str | None]] | None = None,
        *,
        vocabulary: Labels | None = None,
        documents: Sequence[Document] | None = None,
    ) -> Corpus:
        """Build a corpus from token lists and label lists.

        Parameters
        ----------
        sequences : lists of tokens. A token is a string; or, for features of your own, a mapping (`{"token": "Ann",
            "pos": "NNP", "vector": array}`, where "token" is the word that rules and templates see), a list of names or
            a vector, which have no word.
        labels : lists of labels, None for an unknown one; None: no labels at all.
        vocabulary : fixes the label ids; None: the labels that occur, sorted.
        documents : that the sequences come from, to be kept beside them.

        Returns
        -------
        Corpus
        """
        sequences = in_order(sequences, "sequences", "expected token lists; Document.from_text cuts a text")
        given = None
        if holds_given(sequences):
            given = tuple(token for sequence in sequences for token in sequence)
            sequences = [[_word(token, Place(i, t)) for t, token in enumerate(seq)] for i, seq in enumerate(sequences)]
        index: defaultdict[str, int] = defaultdict()
        index.default_factory = index.__len__  # a new token gets the next number
        number = index.__getitem__
        ids: list[int] = []
        lengths = np.zeros(len(sequences) + 1, np.int64)
        for i, sequence in enumerate(sequences):
            if isinstance(sequence, str):
                what = "Document.from_text cuts a text into tokens, and an Extractor takes texts"
                raise InputError(Place(i), " is a string, not a list of tokens", hint=what)
            before = len(ids)
            try:
                ids.extend(map(number, sequence))
            except TypeError as error:
                raise _no_strings(i, sequence, error) from None
            lengths[i + 1] = len(ids) - before
        types = tuple(index)
        if not all(type(token) is str for token in types):
            odd = next((token for token in types if not isinstance(token, str)), None)
            if odd is not None:
                raise InputError("tokens must be strings", hint=f"found {odd!r} of type {type(odd).__name__}")
            types = tuple(map(str.__str__, types))  # a string of NumPy is one
        if documents is not None and len(documents) != len(sequences):
            raise InputError(f"{len(sequences)} sequences but {len(documents)} documents")
        corpus = cls(
            np.cumsum(lengths),
            np.asarray(ids, np.int32),
            types,
            documents=None if documents is None else tuple(documents),
            given=given,
        )
        return corpus if labels is None else corpus._labelled(labels, vocabulary)

    @classmethod
    def from_documents(
        cls, documents: Iterable[Document], *, vocabulary: Labels | None = None, marks: bool = True
    ) -> Corpus:
        """Build a corpus from documents.

        Parameters
        ----------
        documents : their spans, if they have any, become labels.
        vocabulary : fixes the label ids; None: the labels that occur, sorted.
        marks : False gives labels that are paths without B- and I-.

        Returns
        -------
        Corpus

        Warns
        -----
        ResultWarning : the border of a field cuts a token.
        """
        documents = in_order(documents, "documents", "espalier.read gives documents of a file")
        for i, document in enumerate(documents):
            if not isinstance(document, Document):
                what = f"documents[{i}] is {type(document).__name__}, not a Document"
                raise InputError(what, hint="Document.from_text makes one of a text, Corpus.from_tokens takes tokens")
        if cut := first_cut(documents):
            i, token, n = cut
            remedy = "put the border between two tokens, or cut the text yourself: es.read(..., tokenise=...)"
            warnings.warn(f"documents[{i}], {token!r}: {CUT} ({n} in all); {remedy}", ResultWarning, stacklevel=2)
        tags = [document.tags for document in documents]
        words = [document.words for document in documents]
        if all(t is None for t in tags):
            return cls.from_tokens(words, documents=documents)
        filled = [t if t is not None else [None] * len(w) for t, w in zip(tags, words, strict=True)]
        if not marks:
            filled = [[None if tag is None else path_of(tag) for tag in t] for t in filled]
        return cls.from_tokens(words, filled, vocabulary=vocabulary, documents=documents)

    def with_labels(self, labels: Sequence[Sequence[str | None]], vocabulary: Labels | None = None) -> Corpus:
        """Return the same sequences with other labels; the documents get the spans that the labels describe.

        Parameters
        ----------
        labels : lists of labels, None for an unknown one.
        vocabulary : fixes the label ids; None: the labels that occur, sorted.

        Returns
        -------
        Corpus
        """
        corpus = self._labelled(labels, vocabulary)
        if self.documents is None:
            return corpus
        documents = []
        for i, (document, tags) in enumerate(zip(self.documents, labels, strict=True)):
            with _in_sequence(i):
                documents.append(document.with_tags(tags))
        return replace(corpus, documents=tuple(documents))

    def _labelled(self, labels: Sequence[Sequence[str | None]], vocabulary: Labels | None) -> Corpus:
        """Check and encode the labels; the documents stay, because a span may say more than tags do."""
        labels = in_order(labels, "the labels", "expected a list of labels for each sequence")
        if len(labels) != len(self):
            raise InputError(f"{len(self)} sequences but {len(labels)} label lists")
        for i, sequence in enumerate(labels):
            if isinstance(sequence, str):
                raise InputError("the labels of ", Place(i), " are a string, not a list", hint="split it first")
        vocabulary = vocabulary if vocabulary is not None else Labels.of(labels)
        y = np.empty(self.n_tokens, np.int16)
        for i, sequence in enumerate(labels):
            a, b = int(self.indptr[i]), int(self.indptr[i + 1])
            if len(sequence) != b - a:
                raise InputError(Place(i), f" has {counted(b - a, 'token')} but {counted(len(sequence), 'label')}")
            y[a:b] = vocabulary.encode(sequence, where=Place(i))
        return replace(self, y=y, labels=vocabulary)

    @property
    def n_tokens(self) -> int:
        """M, the number of tokens in all sequences."""
        return len(self.token_ids)

    @property
    def shape(self) -> tuple[int]:
        """(N,): one sample is one sequence."""
        return (len(self.indptr) - 1,)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens in each sequence, int64[N]."""
        return self.indptr[1:] - self.indptr[:-1]  # np.diff takes five times as long for one text

    def __len__(self) -> int:
        """Return N, the number of sequences."""
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[list[str]]:
        """Iterate over the sequences as lists of tokens."""
        return (self.tokens(i) for i in range(len(self)))

    def __getitem__(self, indices: Any) -> Corpus:
        """Return the sequences at an index array, boolean mask, slice or single index, as a Corpus."""
        chosen = np.arange(len(self))[indices]
        chosen = np.atleast_1d(chosen)
        lengths = self.lengths[chosen]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # Token positions: each chosen sequence's own range, laid end to end.
        positions = np.arange(indptr[-1]) + np.repeat(self.indptr[chosen] - indptr[:-1], lengths)
        return replace(
            self,
            indptr=indptr,
            token_ids=self.token_ids[positions],
            y=None if self.y is None else self.y[positions],
            documents=None if self.documents is None else tuple(self.documents[i] for i in chosen),
            given=None if self.given is None else tuple(self.given[m] for m in positions.tolist()),
        )

    def __add__(self, other: Corpus) -> Corpus:
        """Return the sequences of both, one after the other.

        Their labels stay if both are labelled, then with the same labels in the same order; so do documents of both.
        """
        if not isinstance(other, Corpus):
            return NotImplemented
        index = {word: k for k, word in enumerate(self.types)}
        numbers = np.array([index.setdefault(word, len(index)) for word in other.types], np.int32)
        both = Corpus(
            np.append(self.indptr, self.indptr[-1] + other.indptr[1:]),
            np.append(self.token_ids, numbers[other.token_ids]).astype(np.int32),
            tuple(index),
        )
        if (self.given is None) != (other.given is None) and len(self) and len(other):
            raise InputError("only one of two corpora has features of its own", hint="give them for both, or for none")
        if self.given is not None and other.given is not None:
            both = replace(both, given=(*self.given, *other.given))
        if self.documents is not None and other.documents is not None:
            both = replace(both, documents=(*self.documents, *other.documents))
        if self.y is None or other.y is None:
            return both
        if self.labels != other.labels:
            raise InputError(
                "corpora with different labels, or in another order, do not add up", hint="fit with labels="
            )
        return replace(both, y=np.concatenate([self.y, other.y]), labels=self.labels)

    def given_lists(self) -> list[list[Any]]:
        """Return what is said of the tokens, sequence by sequence."""
        given, ends = self.given or (), self.indptr.tolist()
        return [list(given[a:b]) for a, b in pairwise(ends)]

    def tokens(self, i: int) -> list[str]:
        """Return the tokens of a sequence.

        Parameters
        ----------
        i : number of the sequence.

        Returns
        -------
        list of strings.
        """
        types = self.types
        return [types[k] for k in self.token_ids[self.indptr[i] : self.indptr[i + 1]].tolist()]

    def label_names(self, i: int) -> list[str | None]:
        """Return the label names of a sequence.

        Parameters
        ----------
        i : number of the sequence.

        Returns
        -------
        list of names, None where unknown.
        """
        if self.y is None or self.labels is None:
            raise InputError("this corpus has no labels")
        return self.labels.decode(self.y[self.indptr[i] : self.indptr[i + 1]].tolist())

    def all_labels(self) -> list[list[str | None]]:
        """Return the label names of every sequence."""
        return [self.label_names(i) for i in range(len(self))]

    def to_documents(self) -> tuple[Document, ...]:
        """Return the documents, or where there are none new ones: tokens joined by a space, spans from the labels."""
        if self.documents is not None:
            return self.documents
        documents = []
        for i in range(len(self)):
            with _in_sequence(i):
                tags = None if self.y is None else self.label_names(i)
                documents.append(Document.from_tokens(self.tokens(i), tags))
        return tuple(documents)

    def moves(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which labels may stand first, bool[L], which may follow which, and which do, bool[L, L].

        Allowed are valid tags, and whatever the labels of this corpus do.
        """
        assert self.y is not None
        assert self.labels is not None
        starts, observed = np.zeros(len(self.labels), bool), np.zeros((len(self.labels),) * 2, bool)
        first = self.indptr[:-1][self.lengths > 0]
        starts[self.y[first][self.y[first] >= 0]] = True
        before, after = self.y[:-1], self.y[1:]
        inside = np.ones(self.n_tokens, bool)
        inside[first] = False
        known = inside[1:] & (before >= 0) & (after >= 0)
        observed[before[known], after[known]] = True
        start_allowed, allowed = self.labels.allowed()
        return start_allowed | starts, allowed | observed, observed

    def digest(self) -> str:
        """Return a SHA-256 over tokens and labels: the fingerprint kept in model files."""
        h = hashlib.sha256()
        h.update(self.indptr.astype("<i8").tobytes())
        for i in range(len(self)):
            h.update(_unambiguous(self.tokens(i)))
        if self.y is not None and self.labels is not None:
            h.update(_unambiguous(self.labels.names))
            h.update(self.y.astype("<i2").tobytes())
        return h.hexdigest()


@contextmanager
def _in_sequence(i: int) -> Iterator[None]:
    """Say in which sequence an error is."""
    try:
        yield
    except InputError as error:
        raise error.within(Place(i)) from None


def holds_given(X: Any) -> bool:
    """Is X a list of sequences whose tokens are features (a mapping, names, a vector) rather than strings?"""
    if isinstance(X, Corpus) or not hasattr(X, "__len__"):
        return False
    first = next((seq for seq in X if hasattr(seq, "__len__") and not isinstance(seq, str) and len(seq)), None)
    if isinstance(first, np.ndarray):
        return first.ndim == 2
    return isinstance(first, list | tuple) and isinstance(first[0], (list, tuple, set, frozenset, Mapping, np.ndarray))


def _word(token: Any, where: Place) -> str:
    """Return the word of a token that is features; one without has an empty word."""
    if isinstance(token, str):
        raise InputError(where, f": a word, {token!r}, among tokens that are features", hint="give all in one form")
    word = token.get("token", "") if isinstance(token, Mapping) else ""
    if not isinstance(word, str):
        raise InputError(where, f': "token" is {type(word).__name__}', hint="it is the word of the token, a string")
    return word


def _no_strings(i: int, sequence: Any, error: TypeError) -> InputError:
    """Say which token of a sequence is no string."""
    if not hasattr(sequence, "__iter__"):
        return InputError(Place(i), f" is {type(sequence).__name__}, not a list of tokens")
    t, token = next((t, token) for t, token in enumerate(sequence) if getattr(token, "__hash__", None) is None)
    what = f": a token is a {type(token).__name__}, not a string"
    if isinstance(token, Mapping):
        hint = "give all tokens as mappings, {'token': word, ...}, or all as words"
        return InputError(Place(i, t), what, hint=hint)
    return InputError(Place(i, t), what, hint="expected token lists, such as [['2', 'cups'], ['1', 'egg']]")


def _unambiguous(strings: Sequence[str]) -> bytes:
    """Lengths, then text: no separator that a token could hold itself."""
    lengths = np.array([len(string) for string in strings], "<i8").tobytes()
    return lengths + "".join(strings).encode("utf-8", "surrogatepass")
