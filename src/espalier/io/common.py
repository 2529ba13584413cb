"""What several formats share: tokenisers by name, sorted spans, and the refusal to lose anything silently."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from espalier.document import Document, Span, tokenise
from espalier.errors import Argument, Hint, InputError, Place, nearest, shortened

__all__ = ["DEPTH", "Offsets", "Tokeniser", "Writing", "build", "outermost", "sorted_spans", "tokeniser"]

Offsets = tuple[tuple[int, int], ...]
Tokeniser = str | Callable[[str], Iterable[tuple[int, int]]]
"""`"default"`, `"whitespace"`, or a function from text to token offsets."""

DEPTH = 20
"""Fields nested deeper than this are refused: no data has them, and every token inside has their whole path."""

LABEL = 200
"""Characters of a label, for the same reason."""

_WORD = re.compile(r"\S+")


def _whitespace(text: str) -> Offsets:
    return tuple(m.span() for m in _WORD.finditer(text))


_TOKENISERS: Mapping[str, Callable[[str], Offsets]] = {"default": tokenise, "whitespace": _whitespace}


def tokeniser(chosen: Tokeniser) -> Callable[[str], Offsets]:
    """Return the tokeniser of that name, or the given function."""
    if not isinstance(chosen, str):
        return lambda text: _offsets(chosen(text))
    if chosen not in _TOKENISERS:
        known = ", ".join(_TOKENISERS)
        raise InputError(f"unknown tokeniser {chosen!r}", hint=nearest(chosen, _TOKENISERS, f"known: {known}"))
    return _TOKENISERS[chosen]


def _offsets(found: Any) -> Offsets:
    """Return what a tokeniser gave, if it is offsets."""
    several = tuple(found)
    for one in several:
        if not isinstance(one, tuple | list) or len(one) != 2:
            hint = "expected (start, end) of each token, its place in the text"
            raise InputError(f"tokenise returned {one!r}", hint=hint)
    return several


def sorted_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans in reading order, outer ones before the inner ones that start at the same place."""
    return tuple(sorted(spans, key=lambda s: (s.start, -s.end, s.label.count("/"), s.label)))


def build(
    text: str,
    tokens: Offsets,
    spans: Iterable[Span] | None,
    *,
    unknown: Offsets = (),
    id: str = "",
    meta: Mapping[str, Any] | None = None,
) -> Document:
    """Make a document with sorted spans; an error names the record by its id if it has one."""
    ordered = None if spans is None else sorted_spans(spans)
    try:
        _check_paths(ordered or ())
        return Document(text, tokens, ordered, unknown, id, dict(meta or {}))
    except InputError as error:
        raise (error.within(f"record {id!r}") if id else error) from None


def _check_paths(ordered: Iterable[Span]) -> None:
    """Refuse labels that are too long or nested too deep."""
    around: list[int] = []
    for start, end, label in ((span.start, span.end, span.label) for span in ordered):
        if len(label) > LABEL:
            raise InputError(
                f"span {start}..{end} has a label of {len(label):,} characters", hint=f"there are at most {LABEL}"
            )
        while around and around[-1] <= start:
            around.pop()
        around.append(end)
        if max(len(around), label.count("/") + 1) > DEPTH:
            raise InputError(f"span {start}..{end} ({shortened(label, 60)!r}) is nested more than {DEPTH} deep")


def outermost(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans that lie in no other; these never overlap."""
    kept: list[Span] = []
    for span in sorted_spans(spans):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return tuple(kept)


class Writing:
    """One document on its way into a format; `loses` is the single place where loss is allowed or refused."""

    def __init__(self, document: Document, number: int, lossy: bool) -> None:
        """Remember the document, its number (from 0) for messages, and whether loss is accepted."""
        self.document, self.number, self.lossy = document, number, lossy
        self.place = Place(number, noun="document")

    def loses(self, what: str, instead: str, *ways: Hint) -> None:
        """Raise unless the caller accepts loss: `what` cannot be expressed, `lossy=True` would do `instead`.

        ways : what else the caller could do.
        """
        if not self.lossy:
            name = f" ({self.document.id!r})" if self.document.id else ""
            lossy = (Argument("write", "lossy", True), f" {instead}")
            raise InputError(self.place, f"{name}: {what}", hint=[*ways, lossy])

    def flat_spans(self) -> tuple[Span, ...]:
        """Return spans that do not overlap; nested ones give way to the outermost, if loss is accepted."""
        spans = sorted_spans(self.document.spans or ())
        flat = outermost(spans)
        if len(flat) < len(spans):
            outer, inner = next((a, b) for a, b in pairwise(spans) if b.start < a.end)
            self.loses(
                f"span {inner.label!r} {inner.start}..{inner.end} lies in "
                f"{outer.label!r} {outer.start}..{outer.end}, and this format is flat",
                "keeps the outermost spans",
            )
        return flat

    def nested_spans(self) -> tuple[Span, ...]:
        """Return all spans; each label must be the path of the spans around it, or loss must be accepted."""
        spans = sorted_spans(self.document.spans or ())
        around: list[Span] = []
        for span in spans:
            while around and around[-1].end <= span.start:
                around.pop()
            outer = around[-1].label if around else ""
            if span.label.rpartition("/")[0] != outer:
                self.loses(
                    f"span {span.label!r} {span.start}..{span.end} lies in {outer or 'no other span'!r}, "
                    "so nested tags would change its path",
                    "writes the last level of each label where it stands",
                )
            around.append(span)
        return spans

    def known_labels(self) -> None:
        """Refuse what a format without `unknown` and without unlabelled records cannot say."""
        if self.document.spans is None:
            self.loses("it is unlabelled, which this format cannot say", "writes it as if nothing were in a field")
        if self.document.unknown:
            a, b = self.document.unknown[0]
            self.loses(f"the label of {a}..{b} is unknown, which this format cannot say", "writes it as outside")
