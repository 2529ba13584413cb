"""A document: text, token offsets into it, and labelled character spans.

The spans are the truth; per-token tags are derived from them. So an annotation that cuts a token
survives every conversion, and a token takes the label of its first character wherever tokens are asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from espalier.errors import InputError, counted
from espalier.tags import OUTSIDE, segments

__all__ = ["CUT", "Document", "Span", "first_cut", "tokenise"]

# A run of letters, digits and inner hyphens or apostrophes; or one other visible character.
_SIMPLE = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")
# In these ranges nothing joins with what stands before it, and the simple pattern, thrice as fast, will do. (They are
# the smaller half: compiling a class takes a step for each character that it names.)
_MAY_JOIN = re.compile("[^\0-\u02ff\u2000-\u200b\u200e-\u20cf\u2100-\u2cee]")


def tokenise(text: str) -> tuple[tuple[int, int], ...]:
    """Return the offsets of the default tokens: words with inner hyphens, every other sign alone.

    What is drawn as one sign is one: a letter with its combining marks, an emoji of several joined ones, a flag.
    """
    pattern = _joining_pattern() if not text.isascii() and _MAY_JOIN.search(text) else _SIMPLE
    return tuple(map(re.Match.span, pattern.finditer(text)))  # no step of Python a token


@lru_cache(maxsize=1)
def _joining_pattern() -> re.Pattern[str]:
    """Compile the pattern of a token, when first needed: `re` has no class of marks, so it is listed here.

    After the first character every branch has one way to go on, so matching takes linear time.
    """
    # All marks are below U+20000, but for the second block of variation selectors; a few count as letters.
    signs = map(chr, range(0x300, 0x20000))
    marks = "".join(sign for sign in signs if unicodedata.category(sign)[0] == "M" and not sign.isalnum())
    marks += "\U000e0100-\U000e01ef"
    word = rf"\w+(?:[{marks}\u200c\u200d]+\w*)*"
    # What alters the sign before it: marks, skin tones, the tags that spell a region's flag.
    altered = rf"[{marks}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"
    return re.compile(rf"{word}(?:[-'’]{word})*|{flag}|[^\w\s]{altered}(?:\u200d[^\w\s\u200d]{altered})*")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters start..end-1 of the text are one `label`; nested levels are a path: `authors/person`."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Document:
    """One text with tokens and, if labelled, spans.

    Parameters
    ----------
    text : str
    tokens : offsets (start, end) of each token, in order, non-overlapping, non-empty.
    spans : labelled stretches, nested or disjoint; None where nothing is labelled.
    unknown : stretches whose label nobody knows (partial supervision).
    id, meta : provenance, kept by every conversion that has room for it.

    Examples
    --------
    >>> import espalier as es
    >>> document = es.Document.from_tokens(["Ann", "in", "Ulm"], ["B-who", "O", "B-where"])
    >>> document.text, [span.label for span in document.spans]
    ('Ann in Ulm', ['who', 'where'])
    >>> es.Document.from_text("Plum, 3 years").words
    ['Plum', ',', '3', 'years']
    """

    text: str
    tokens: tuple[tuple[int, int], ...]
    spans: tuple[Span, ...] | None = None
    unknown: tuple[tuple[int, int], ...] = ()
    id: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the offsets once, so that nobody else has to."""
        if self.spans is not None and not all(isinstance(span, Span) for span in self.spans):
            object.__setattr__(self, "spans", tuple(map(_as_span, self.spans)))
        end, length = 0, len(self.text)
        for t, (a, b) in enumerate(self.tokens):
            if not end <= a < b <= length:
                raise InputError(f"token {t} has offsets {a}..{b}, outside the text or before token {t - 1} ends")
            end = b
        enclosing: list[Span] = []
        for span in sorted(self.spans or (), key=_order):
            if not all(span.label.split("/")):
                raise InputError(f"span {span.start}..{span.end} has an empty label or level: {span.label!r}")
            while enclosing and enclosing[-1].end <= span.start:
                enclosing.pop()
            if enclosing and span.end > enclosing[-1].end:
                raise InputError(
                    f"spans {enclosing[-1].label!r} {enclosing[-1].start}..{enclosing[-1].end} and "
                    f"{span.label!r} {span.start}..{span.end} cross",
                    hint="spans must nest or be apart",
                )
            enclosing.append(span)
            if not 0 <= span.start < span.end <= len(self.text):
                raise InputError(
                    f"span {span.label!r} {span.start}..{span.end} is empty or outside the text "
                    f"of {len(self.text)} characters"
                )

    @property
    def words(self) -> list[str]:
        """The tokens as strings."""
        text = self.text
        return [text[a:b] for a, b in self.tokens]

    @classmethod
    def from_text(cls, text: str, spans: Sequence[Span] | None = None, **rest: Any) -> Document:
        """Make a document from running text with the default tokens.

        Parameters
        ----------
        text : any string.
        spans : labelled stretches of it, each a Span or (start, end, label); None: no labels.
        rest : other attributes of the document, as `id` and `meta`.

        Returns
        -------
        Document
        """
        if spans is None and not rest:
            return cls.from_offsets(text, tokenise(text))
        return cls(
            text, tokenise(text), None if spans is None else tuple(sorted(map(_as_span, spans), key=_order)), **rest
        )

    @classmethod
    def from_offsets(cls, text: str, tokens: tuple[tuple[int, int], ...]) -> Document:
        """Make a document without labels from a text and tokens that are right by construction.

        Nothing is checked, which would take as long as cutting.
        """
        document = object.__new__(cls)
        values: tuple[Any, ...] = (text, tokens, None, (), "", {})
        for name, value in zip(Document.__slots__, values, strict=True):
            object.__setattr__(document, name, value)
        return document

    @classmethod
    def from_tokens(
        cls,
        words: Sequence[str],
        tags: Sequence[str | None] | None = None,
        *,
        text: str | None = None,
        **rest: Any,
    ) -> Document:
        """Make a document from tokens and tags.

        Parameters
        ----------
        words : the tokens.
        tags : one for each token, None where unknown; None: no labels.
        text : that the tokens came from; without it they are joined by one space.
        rest : other attributes of the document, as `id` and `meta`.

        Returns
        -------
        Document
        """
        if tags is not None and len(tags) != len(words):
            raise InputError(f"{counted(len(words), 'token')} but {counted(len(tags), 'tag')}")
        offsets = _align(words, text) if text is not None else _join_offsets(words)
        text = " ".join(words) if text is None else text
        document = cls(text, offsets, None, **rest)
        return document if tags is None else document.with_tags(tags)

    def with_tags(self, tags: Sequence[str | None]) -> Document:
        """Return the document with the spans that one tag a token describes, and no others.

        Parameters
        ----------
        tags : marked at several levels, or plain labels, whose runs are the spans; None is unknown.

        Returns
        -------
        Document : text, tokens, id and meta stay.
        """
        if len(tags) != len(self.tokens):
            raise InputError(f"{counted(len(self.tokens), 'token')} but {counted(len(tags), 'tag')}")
        at = self.tokens
        spans = [Span(at[s.start][0], at[s.end - 1][1], s.label) for s in segments(tags)]
        unknown = tuple(at[t] for t, tag in enumerate(tags) if tag is None)
        return replace(self, spans=tuple(sorted(spans, key=_order)), unknown=unknown)

    @property
    def tags(self) -> list[str | None] | None:
        """The tag of each token, marked at every level; None for unlabelled documents and unknown tokens."""
        if self.spans is None:
            return None
        tags: list[str | None] = []
        opened: set[Span] = set()
        unknown = sorted(self.unknown, reverse=True)
        active: list[Span] = []
        waiting = sorted(self.spans, key=_order, reverse=True)
        for start, _ in self.tokens:
            while waiting and waiting[-1].start <= start:
                active.append(waiting.pop())
            active = [span for span in active if span.end > start]
            while unknown and unknown[-1][1] <= start:
                unknown.pop()
            marks: list[str] = []
            names: list[str] = []
            for span in active:
                path = span.label.split("/")
                # Levels that no outer span provides run with this one.
                inner = path[len(names) :] if path[: len(names)] == names else path[-1:]
                names += inner
                marks += [("I-" if span in opened else "B-") + name for name in inner]
                opened.add(span)
            nobody_knows = bool(unknown) and unknown[-1][0] <= start
            tags.append("/".join(marks) if marks else None if nobody_knows else OUTSIDE)
        return tags

    @property
    def straddling(self) -> list[int]:
        """Tokens that a span's border cuts in two (they take the label of their first character)."""
        borders = sorted({x for span in self.spans or () for x in (span.start, span.end)})
        cut, k = [], 0
        for t, (a, b) in enumerate(self.tokens):
            while k < len(borders) and borders[k] <= a:
                k += 1
            if k < len(borders) and borders[k] < b:
                cut.append(t)
        return cut


CUT = "the border of a field cuts a token, which takes the label of its first character"
"""What is said of tokens that straddle."""


def first_cut(documents: Sequence[Document]) -> tuple[int, str, int] | None:
    """Return the first document with a token that a span's border cuts, that token, and how many there are in all."""
    cut = [(i, t) for i, document in enumerate(documents) if document.spans for t in document.straddling]
    return (cut[0][0], documents[cut[0][0]].words[cut[0][1]], len(cut)) if cut else None


def _as_span(span: Any) -> Span:
    """Return a span that may have been given as a tuple."""
    if isinstance(span, Span):
        return span
    if isinstance(span, tuple) and [type(part) for part in span] == [int, int, str]:
        return Span(*span)
    raise InputError(f"a span is (start, end, label), not {span!r}", hint="two whole numbers and a string")


def _order(span: Span) -> tuple[int, int, int, str]:
    """Outer spans before the inner ones that start at the same place."""
    return (span.start, -span.end, span.label.count("/"), span.label)


def _join_offsets(words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    offsets, at = [], 0
    for word in words:
        offsets.append((at, at + len(word)))
        at += len(word) + 1
    return tuple(offsets)


def _align(words: Sequence[str], text: str) -> tuple[tuple[int, int], ...]:
    offsets, at = [], 0
    for t, word in enumerate(words):
        found = text.find(word, at)
        if found < 0 or text[at:found].strip():
            raise InputError(f"token {t} ({word!r}) is not where the text continues: {text[at : at + 30]!r}")
        offsets.append((found, found + len(word)))
        at = found + len(word)
    return tuple(offsets)
