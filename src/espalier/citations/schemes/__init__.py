"""Schemes: how the labels of an annotated set of references become ours, as data.

A scheme is a TOML file beside this one (`anystyle.toml`, `csl.toml`) that says up to four things:

    [labels]                 # a label of the set -> one of ours
    journal = "container-title"

    [[refine]]               # a field that the pattern is found in becomes one or more others
    label = "volume"         # or several labels
    pattern = '^\\d+ ()\\(\\d'   # every group marks where the next field begins
    fields = ["volume", "issue"]
    when = { label = "genre", pattern = "thesis" }     # only in records that have such a field; pattern optional
    unless = [{ label = "title" }, { label = "doi" }]  # only in records that have none of these; `when`: all of these
    when = { label = ["publisher", "location"] }       # several labels: only in records that have one of them
    other = { label = "date" }                         # only if another field of the record is such a one
    after = { label = "volume" }                       # only if the field before is such a one
    before = { label = "pages" }                       # only if the field after is such a one; several: in a row
    first = true                                       # only if no field is before it

    [gaps]                   # words between two fields
    last = 'eds?\\.?'         # belong to the field before, if its label is among `people`
    next = 'in|pp?|vol'      # belong to the field after; any other word is a field `other`
    people = ["editor"]

    then = "common"          # a file with refinements that follow: what is the same for several sets

Text outside all fields goes by one convention, whatever the set does: a mark belongs to the field it ends, an opening
bracket or quotation mark to the field it begins. So every character that is not white space ends up in exactly one
field. Then come the refinements in the order of the file, each applied to the result of the one before.

`reading.toml` has refinements alone: mistakes of labels that the labels beside them give away, mended before the fields
of a parsed reference are read (`load_refinements`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.resources import files
from typing import Any

from espalier.document import Document, Span
from espalier.errors import InputError, nearest

__all__ = ["OTHER", "Refinement", "Scheme", "load_refinements", "load_scheme", "merged"]

OTHER = "other"
"""The label of what has no home."""

_BRACKETS = frozenset("([{<")
_QUOTES = frozenset("“‘«„‚¿¡")
_STRAIGHT = frozenset("\"'`")
_NAMES = ("anystyle", "brill", "csl", "excite", "grobid", "linkedbooks", "plain", "publishers", "umass")
_REFINE = ("label", "pattern", "fields", "when", "unless", "other", "after", "before", "first")


@dataclass(frozen=True, slots=True)
class SchemeCondition:
    """Is there a field of one of these labels that the pattern is found in?"""

    labels: frozenset[str]
    pattern: re.Pattern[str]

    def holds(self, text: str, spans: Sequence[Span]) -> bool:
        """Look at some fields of a record."""
        return any(s.label in self.labels and self.pattern.search(text[s.start : s.end]) for s in spans)

    def may_hold(self, labels: Sequence[str]) -> bool:
        """Look at the labels of some fields."""
        return any(map(self.labels.__contains__, labels))


@dataclass(frozen=True, slots=True)
class Refinement:
    """A field of one of `labels` that the pattern is found in becomes `fields`, cut where the pattern's groups begin.

    when, unless : conditions on the record: all of the first must hold, and none of the second.
    other : conditions on the fields besides it.
    after, before : conditions on the fields beside it, the nearest first; first : there is none before it.
    at_front : the pattern can be found nowhere but where the field begins.
    """

    labels: frozenset[str]
    pattern: re.Pattern[str]
    fields: tuple[str, ...]
    when: tuple[SchemeCondition, ...] = ()
    unless: tuple[SchemeCondition, ...] = ()
    other: tuple[SchemeCondition, ...] = ()
    after: tuple[SchemeCondition, ...] = ()
    before: tuple[SchemeCondition, ...] = ()
    first: bool = False
    at_front: bool = False

    def __post_init__(self) -> None:
        """Check that there is a group for every cut."""
        if not self.fields or self.pattern.groups != len(self.fields) - 1:
            raise InputError(
                f"refine {', '.join(sorted(self.labels))!r}: {len(self.fields)} fields need "
                f"{max(len(self.fields) - 1, 0)} groups in the pattern, one for each place where a field begins",
                hint=f"{self.pattern.pattern!r} has {self.pattern.groups}",
            )

    def places(self, labels: Sequence[str]) -> tuple[int, ...]:
        """Return which fields give an occasion, as far as labels can tell."""
        if not all(one.may_hold(labels) for one in self.when):
            return ()
        if any(not one.pattern.pattern and one.may_hold(labels) for one in self.unless):
            return ()
        return tuple(k for k in range(len(labels)) if self._is_meant(labels, k))

    def _is_meant(self, labels: Sequence[str], k: int) -> bool:
        """Tell whether field k has the label, and the labels beside it are such as are asked for."""
        if labels[k] not in self.labels or (self.first and k) or k < len(self.after):
            return False
        beside = [(one, k - n) for n, one in enumerate(self.after, 1)]
        beside += [(one, k + n) for n, one in enumerate(self.before, 1)]
        return all(at < len(labels) and labels[at] in one.labels for one, at in beside) and all(
            one.may_hold([*labels[:k], *labels[k + 1 :]]) for one in self.other
        )

    def apply(self, text: str, spans: Sequence[Span], places: Sequence[int] | None = None) -> list[Span] | None:
        """Return the fields of a record, refined; None if they stay as they are.

        places : of these labels, where they are known.
        """
        if places is None:
            places = self.places([span.label for span in spans])
        found = {k: cuts for k in places if (cuts := self._cuts(text, spans, k))}
        if not found or not all(one.holds(text, spans) for one in self.when):
            return None
        if any(one.holds(text, spans) for one in self.unless):
            return None
        return [piece for k, span in enumerate(spans) for piece in self._pieces(text, span, found.get(k))]

    def _cuts(self, text: str, spans: Sequence[Span], k: int) -> list[int]:
        """Return where field k is cut, its two ends included; none where it stays."""
        span = spans[k]
        look = self.pattern.match if self.at_front else self.pattern.search
        match = look(text[span.start : span.end])
        if match is None:
            return []
        beside = [(one, spans[k - n]) for n, one in enumerate(self.after, 1)]
        beside += [(one, spans[k + n]) for n, one in enumerate(self.before, 1)]
        others = [*spans[:k], *spans[k + 1 :]] if self.other else []
        held = all(one.holds(text, [near]) for one, near in beside)
        if not held or not all(one.holds(text, others) for one in self.other):
            return []
        return [span.start, *(span.start + match.start(n) for n in range(1, len(self.fields))), span.end]

    def _pieces(self, text: str, span: Span, cuts: list[int] | None) -> Iterator[Span]:
        """Yield a field, or what becomes of it."""
        if cuts is None:
            yield span
            return
        for label, a, b in zip(self.fields, cuts, cuts[1:], strict=False):
            if text[a:b].strip():
                yield Span(a, b, label)


@dataclass(frozen=True, slots=True)
class Scheme:
    """A table of labels, refinements, and the words between fields: see the module."""

    name: str
    labels: Mapping[str, str]
    refinements: tuple[Refinement, ...] = ()
    last: re.Pattern[str] | None = None
    next: re.Pattern[str] | None = None
    people: frozenset[str] = frozenset()

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any]) -> Scheme:
        """Make a scheme of a TOML table."""
        unknown = [key for key in table if key not in ("labels", "refine", "gaps")]
        if unknown:
            known = ("labels", "refine", "gaps")
            raise InputError(f"scheme {name!r}: unknown key {unknown[0]!r}", hint=nearest(unknown[0], known))
        gaps = table.get("gaps", {})
        try:
            return cls(
                name,
                dict(table["labels"]),
                tuple(_refinement(row) for row in table.get("refine", ())),
                _pattern(gaps["last"]) if "last" in gaps else None,
                _pattern(gaps["next"]) if "next" in gaps else None,
                frozenset(gaps.get("people", ())),
            )
        except KeyError as error:
            raise InputError(f"scheme {name!r}: {error} is missing") from None
        except re.error as error:
            raise InputError(f"scheme {name!r}: {error.pattern!r} is not a regular expression: {error}") from None

    def convert(self, document: Document) -> Document:
        """Return the document with our labels and the default tokens; every token is in exactly one field."""
        if document.spans is None:
            raise InputError(f"document {document.id!r} has no labels to convert")
        text, spans = document.text, [self._renamed(span, document) for span in sorted(document.spans)]
        spans = list(self._covered(text, spans))
        for refinement in self.refinements:
            spans = merged(text, spans)
            spans = refinement.apply(text, spans) or spans
        return Document.from_text(text, merged(text, spans), id=document.id, meta=document.meta)

    def _renamed(self, span: Span, document: Document) -> Span:
        if span.label not in self.labels:
            near = nearest(span.label, self.labels, f"known: {', '.join(self.labels)}")
            where = f"document {document.id!r}" if document.id else f"in {document.text[:30]!r} ..."
            raise InputError(f"scheme {self.name!r} has no label {span.label!r} ({where})", hint=near)
        return Span(span.start, span.end, self.labels[span.label])

    def _covered(self, text: str, spans: Sequence[Span]) -> Iterator[Span]:
        """Yield fields and, between them, the text that no field had, given to one of its neighbours."""
        end, last = 0, None
        for span in [*spans, None]:
            start = len(text) if span is None else span.start
            yield from self._gap(text, end, start, last, None if span is None else span.label)
            if span is not None:
                yield span
                end, last = span.end, span.label

    def _gap(self, text: str, a: int, b: int, last: str | None, following: str | None) -> Iterator[Span]:
        """Yield text[a:b], which lies between two fields, in up to three parts: of the last, of none, of the next."""
        if not text[a:b].strip():
            return
        if last in self.people and self.last is not None:
            role = re.match(rf"[^\w]*(?:{self.last.pattern})\b[^\w\s]*", text[a:b], re.IGNORECASE)
            if role is not None:
                yield Span(a, a + role.end(), str(last))
                a += role.end()
        cut = _border(text, a, b, closing=last, opening=following)
        words = re.findall(r"\w+", text[cut:b])
        known = all(self.next is not None and self.next.fullmatch(word) for word in words)
        yield Span(a, cut, last or following or OTHER)
        yield Span(cut, b, (following or last or OTHER) if known else OTHER)


def _border(text: str, a: int, b: int, closing: str | None, opening: str | None) -> int:
    """Return where the marks that end a field stop and those that begin the next one start, in text[a:b].

    Straight quotation marks look both ways: they belong to the title beside them, else they open what they touch.
    """
    titles = [label is not None and label.endswith("title") for label in (closing, opening)]
    for i in range(a, b):
        sign, leads = text[i], text[i + 1 : i + 2].isalnum()
        if sign.isalnum() or sign in _BRACKETS or (sign in _QUOTES and leads):
            return i
        opens = titles[1] if titles[0] != titles[1] else leads and not text[i - 1 : i].isalnum()
        if sign in _STRAIGHT and opening is not None and opens:
            return i
    return b


def merged(text: str, spans: Sequence[Span]) -> list[Span]:
    """Trim white space, and make one field of neighbours with the same label."""
    found: list[Span] = []
    for span in spans:
        piece = text[span.start : span.end]
        if not piece.strip():
            continue
        start = span.start + len(piece) - len(piece.lstrip())
        end = span.end - (len(piece) - len(piece.rstrip()))
        if found and found[-1].label == span.label:
            start = found.pop().start
        found.append(Span(start, end, span.label))
    return found


def load_scheme(name: str) -> Scheme:
    """Return a scheme that comes with the library, by name."""
    if name not in _NAMES:
        raise InputError(f"no scheme is named {name!r}", hint=nearest(name, _NAMES, f"known: {', '.join(_NAMES)}"))
    tables: list[dict[str, Any]] = []
    file: str | None = name
    while file is not None:
        tables.append(_table(file))
        file = tables[-1].pop("then", None)
    return Scheme.from_table(
        name, {**tables[0], "refine": [row for table in tables for row in table.get("refine", ())]}
    )


def load_refinements(name: str) -> tuple[Refinement, ...]:
    """Return the refinements of a file that has nothing else; patterns with "^" have it before all they look for."""
    rows = map(_refinement, _table(name)["refine"])
    return tuple(replace(row, at_front=row.pattern.pattern.startswith("^")) for row in rows)


def _table(name: str) -> dict[str, Any]:
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found: dict[str, Any] = tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    return found


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def _conditions(row: Mapping[str, Any], key: str) -> tuple[SchemeCondition, ...]:
    """Return what stands at a key: nothing, a condition, or several."""
    found = row.get(key, ())
    several = (found,) if isinstance(found, Mapping) else found
    return tuple(SchemeCondition(_labels(one["label"]), _pattern(one.get("pattern", ""))) for one in several)


def _labels(found: str | Sequence[str]) -> frozenset[str]:
    return frozenset([found] if isinstance(found, str) else found)


def _refinement(row: Mapping[str, Any]) -> Refinement:
    unknown = [key for key in row if key not in _REFINE]
    if unknown:
        raise InputError(f"refine: unknown key {unknown[0]!r}", hint=nearest(unknown[0], _REFINE))
    when, unless, other, after, before = (
        _conditions(row, key) for key in ("when", "unless", "other", "after", "before")
    )
    pattern, fields, first = _pattern(row.get("pattern", "")), tuple(row["fields"]), bool(row.get("first", False))
    return Refinement(_labels(row["label"]), pattern, fields, when, unless, other, after, before, first)
