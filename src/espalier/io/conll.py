"""Columns: one token a line, a blank line between sequences, the tag in one of the columns.

Columns are separated by tabs if the line has one, else by spaces. The format keeps tokens and flat tags;
text between tokens becomes one space. A sequence whose lines have a single column is unlabelled.
A line `-DOCSTART-` starts the next document, numbered in `meta["doc"]`. Tags may follow any scheme of
`espalier.io.schemes`, named or detected over the whole file; written tags are IOB2.

`comments` is the prefix of comment lines, none by default because `#` is also a token; a comment
`id = x` names the sequence that follows, and other comments go to `meta["comments"]`.
`unknown` is the tag that stands for an unknown label, for example `?`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from espalier.document import Document, Span
from espalier.errors import Argument, Hint, InputError, Place
from espalier.io.common import Writing, build
from espalier.io.lines import Lines
from espalier.io.schemes import SCHEMES, detect, parse
from espalier.tags import OUTSIDE

__all__ = ["read", "write"]

_DOCSTART = "-DOCSTART-"
_BLANKS = re.compile(r"[ \t]+")


@dataclass(slots=True)
class _Sequence:
    """The lines of one sequence, and the length of its text; line numbers are kept for messages."""

    words: list[str] = field(default_factory=list)
    tags: list[str | None] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    length: int = 0
    id: str = ""
    meta: dict[str, Any] = field(default_factory=dict)


def read(
    lines: Lines,
    *,
    token: int = 0,
    tag: int | None = -1,
    scheme: str | None = None,
    separator: str | None = None,
    comments: str = "",
    unknown: str = "",
    repair: bool = False,
) -> Iterator[Document]:
    """Yield one document a sequence.

    `token` and `tag` choose columns, counted from 0 or from the end; `tag=None` reads no labels.
    With a `scheme` the file is streamed; without one it is read whole and the scheme detected.
    Tags that do not obey the scheme are an error, or with `repair=True` read leniently and reported.
    """
    sequences: Iterable[_Sequence] = _sequences(lines, token, tag, separator, comments, unknown)
    if scheme is None:
        sequences = list(sequences)
        scheme = detect([sequence.tags for sequence in sequences])
    elif scheme not in SCHEMES:
        parse([], scheme)
    for sequence in sequences:
        with lines.at(sequence.numbers[0]):
            yield _document(lines, sequence, scheme, repair)


def _document(lines: Lines, sequence: _Sequence, scheme: str, repair: bool) -> Document:
    segments, faults = parse(sequence.tags, scheme)
    for t, what in faults:
        if not repair:
            repairing = (Argument("read", "repair", True), " reads it as most tools do")
            hint: list[Hint] = [("name another ", Argument("read", "scheme")), repairing]
            raise lines.error(f"{what} (scheme {scheme.upper()})", sequence.numbers[t], hint)
        lines.report(f"{what} (scheme {scheme.upper()}); read as most tools do", sequence.numbers[t])
    bare = Document.from_tokens(sequence.words)
    at = bare.tokens
    spans = [Span(at[s.start][0], at[s.end - 1][1], s.label) for s in segments] if sequence.tags else None
    blanks = tuple(at[t] for t, tag in enumerate(sequence.tags) if tag is None)
    return build(bare.text, at, spans, unknown=blanks, id=sequence.id, meta=sequence.meta)


def _sequences(
    lines: Lines, token: int, tag: int | None, separator: str | None, comments: str, unknown: str
) -> Iterator[_Sequence]:
    """Group lines into sequences; documents and comments are noted in their meta."""
    sequence = _Sequence()
    doc = -1
    for number, line in lines.numbered(aside=False):
        if comments and line.startswith(comments):
            if sequence.words:
                raise lines.error("a comment inside a sequence; comments stand before it", number)
            _comment(sequence, line.removeprefix(comments).strip())
            continue
        blank = not line.strip(" \t")
        docstart = not blank and _columns(line, separator)[0] == _DOCSTART
        if not (blank or docstart):
            _add(lines, sequence, number, _columns(line, separator), token, tag, unknown)
            continue
        if sequence.words:
            yield _numbered(sequence, doc)
            sequence = _Sequence()
        doc += docstart
    if sequence.words:
        yield _numbered(sequence, doc)


def _numbered(sequence: _Sequence, doc: int) -> _Sequence:
    if doc >= 0:
        sequence.meta["doc"] = doc
    return sequence


def _comment(sequence: _Sequence, comment: str) -> None:
    key, equals, value = comment.partition("=")
    if equals and key.strip() == "id":
        sequence.id = value.strip()
    else:
        sequence.meta.setdefault("comments", []).append(comment)


def _columns(line: str, separator: str | None) -> list[str]:
    if separator is not None:
        return line.split(separator)
    return line.split("\t") if "\t" in line else _BLANKS.split(line.strip(" "))


def _add(
    lines: Lines, sequence: _Sequence, number: int, columns: list[str], token: int, tag: int | None, unknown: str
) -> None:
    width = len(columns)
    for which, column in (("token", token), ("tag", tag)):
        if column is not None and not -width <= column < width:
            raise lines.error(f"{width} columns, but the {which} should be in column {column}", number)
    word = columns[token]
    if not word:
        raise lines.error("the token is empty", number)
    single = width == 1 and tag == -1
    if sequence.words and bool(sequence.tags) != (tag is not None and not single):
        raise lines.error(
            f"{width} column{'s' * (width > 1)}: some lines of this sequence have a tag, others not", number
        )
    if tag is not None and not single:
        if not columns[tag]:
            raise lines.error("the tag is empty", number)
        sequence.tags.append(None if unknown and columns[tag] == unknown else columns[tag])
    sequence.words.append(word)
    sequence.numbers.append(number)
    sequence.length += len(word) + 1
    if sequence.length - 1 > lines.longest:
        what = f"a sequence of more than {lines.longest:,.0f} characters: is there no blank line between sequences?"
        raise lines.error(what, sequence.numbers[0], ("else pass ", Argument("read", "longest")))


def write(
    documents: Iterable[Document], *, comments: str = "", unknown: str = "", lossy: bool = False
) -> Iterator[str]:
    """Yield token TAB tag lines in IOB2; an unlabelled document has no tag column.

    With `comments="# "` ids are written too. Nested spans, spans that cut tokens, unknown labels without an
    `unknown` tag, and tokens that hold a line break or tab are refused unless `lossy`.
    """
    for number, document in enumerate(documents):
        writing = Writing(document, number, lossy)
        words = [_word(writing, word, comments) for word in document.words]
        if not words:
            writing.loses("it has no tokens, and a sequence needs one", "leaves it out")
            continue
        if comments and document.id:
            if "\n" in document.id or "\r" in document.id or document.id != document.id.strip():
                raise InputError(Place(number, noun="document"), f": the id {document.id!r} does not fit in a comment")
            yield f"{comments}id = {document.id}\n"
        tags = _tags(writing, unknown)
        yield (
            "".join(f"{word}\n" for word in words)
            if tags is None
            else "".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True))
        )
        yield "\n"


def _word(writing: Writing, word: str, comments: str) -> str:
    """Return the token, refused or altered where a reader would not take it for one."""
    breaks = "\t\n\r" if writing.document.spans is not None else "\t\n\r "
    if any(sign in word for sign in breaks):
        writing.loses(f"token {word!r} holds a separator", "writes _ for it")
        word = re.sub(f"[{breaks}]", "_", word)
    if word == _DOCSTART or (comments and word.startswith(comments)):
        writing.loses(
            f"token {word!r} would be read as a {'comment' if comments else 'document start'}", "adds _ to it"
        )
        word = "_" + word
    return word


def _tags(writing: Writing, unknown: str) -> list[str] | None:
    document = writing.document
    if document.spans is None:
        if document.unknown:
            writing.loses("it is unlabelled and yet has unknown stretches", "leaves them out")
        return None
    tags = [OUTSIDE] * len(document.tokens)
    starts = [a for a, _ in document.tokens]
    ends = {b for _, b in document.tokens}
    for span in writing.flat_spans():
        first, after = bisect_left(starts, span.start), bisect_left(starts, span.end)
        if span.start not in starts[first : first + 1] or span.end not in ends:
            writing.loses(
                f"span {span.label!r} {span.start}..{span.end} cuts a token or starts or ends between tokens",
                "gives the label to the tokens that start in it",
            )
        if first < after:
            label = _label(writing, span.label)
            tags[first:after] = [f"B-{label}", *[f"I-{label}"] * (after - first - 1)]
    if unknown in tags:
        raise InputError(writing.place, f": {unknown!r} is a tag, so it cannot also mean unknown")
    for t in _unknown_tokens(writing):
        if not unknown:
            tag = ("pass ", Argument("write", "unknown"), " to name a tag for that")
            writing.loses("a token's label is unknown", "writes O", tag)
        else:
            tags[t] = unknown
    return tags


def _unknown_tokens(writing: Writing) -> list[int]:
    """Return the tokens whose label is unknown; each must be one whole stretch."""
    document = writing.document
    at = {pair: t for t, pair in enumerate(document.tokens)}
    tags = document.tags or []
    if any(pair not in at or tags[at[pair]] is not None for pair in document.unknown):
        writing.loses("an unknown stretch is not one token without a label", "keeps the tokens that start in it")
    return [t for t, tag in enumerate(tags) if tag is None]


def _label(writing: Writing, label: str) -> str:
    if any(sign in label for sign in "\t\n\r"):
        writing.loses(f"label {label!r} holds a separator", "writes _ for it")
        return re.sub("[\t\n\r]", "_", label)
    return label
