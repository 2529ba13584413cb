"""Columns: one token a line, a blank line between sequences, the tag in one of the columns.

Columns are separated by tabs if the line has one, else by spaces. The format keeps tokens and flat tags;
text between tokens becomes one space. A sequence whose lines have a single column is unlabelled.
A line `-DOCSTART-` starts the next document, numbered in `meta["doc"]`. Tags may follow any scheme of
`espalier.io.conll`, named or detected over the whole file; written tags are IOB2.

`comments` is the prefix of comment lines, none by default because `#` is also a token; a comment
`id = x` names the sequence that follows, and other comments go to `meta["comments"]`.
`unknown` is the tag that stands for an unknown label, for example `?`.

Tags follow one of these schemes:

    IOB1    B- only where a segment touches another of the same label; I- otherwise
    IOB2    B- at every start, I- inside
    IOBES   IOB2, with E- at the last token and S- for single tokens
    BILOU   the same, with L- for the last and U- for single tokens
    plain   labels without marks; a run of one label is one segment

Which one, all sequences together tell: no marks at all is plain; L- or U- is BILOU; E- or S- is IOBES; B- and I- alone
are IOB2 if they obey it, else IOB1. Whatever the marks, the tags must then obey the scheme.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from espalier.document import Document, Span
from espalier.errors import Argument, Hint, InputError, Place, nearest
from espalier.io.common import Writing, build
from espalier.tags import OUTSIDE, Segment
from espalier.text_files import Lines

__all__ = ["SCHEMES", "Fault", "detect", "parse", "read", "write"]

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
    With a `scheme` the file is streamed; without one its lines are kept and read twice, first to detect the scheme.
    Tags that do not obey the scheme are an error, or with `repair=True` read leniently and reported.
    """
    numbered = lines.numbered(aside=False)
    if scheme is None:  # kept as text: short sequences would take a hundred times as much
        text = "".join(f"{line}\n" for _, line in numbered)
        found = _sequences(lines, _lines_of(text), token, tag, separator, comments, unknown)
        scheme = detect(sequence.tags for sequence in found)
        numbered = _lines_of(text)
    elif scheme not in SCHEMES:
        parse([], scheme)
    for sequence in _sequences(lines, numbered, token, tag, separator, comments, unknown):
        with lines.at(sequence.numbers[0]):
            yield _document(lines, sequence, scheme, repair)


def _lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers and lines of a text."""
    return enumerate((line.removesuffix("\n") for line in io.StringIO(text, newline="\n")), 1)


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
    lines: Lines,
    numbered: Iterable[tuple[int, str]],
    token: int,
    tag: int | None,
    separator: str | None,
    comments: str,
    unknown: str,
) -> Iterator[_Sequence]:
    """Group lines into sequences; documents and comments are noted in their meta."""
    sequence = _Sequence()
    doc = -1
    for number, line in numbered:
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


SCHEMES = ("iob1", "iob2", "iobes", "bilou", "plain")

_MARKED = re.compile(r"([BIESLU])-(.+)", re.DOTALL)
_MARKS = {"iob1": "BI", "iob2": "BI", "iobes": "BIES", "bilou": "BILU"}
_LAST = {"E": "E", "L": "E", "S": "S", "U": "S"}

Tags = Sequence[str | None]


class Fault(NamedTuple):
    """Token t does not obey the scheme."""

    t: int
    what: str


def parse(tags: Tags, scheme: str) -> tuple[list[Segment], list[Fault]]:
    """Return the segments of one sequence and every place where it does not obey the scheme.

    A faulty sequence still has segments, as most tools read them: an inner mark with nothing to continue
    opens a segment, and a segment that is not closed ends where the next one starts. None is unknown.
    """
    if scheme not in SCHEMES:
        raise InputError(f"unknown scheme {scheme!r}", hint=nearest(scheme, SCHEMES, f"known: {', '.join(SCHEMES)}"))
    return _runs(tags) if scheme == "plain" else _marked(tags, scheme)


def _runs(tags: Tags) -> tuple[list[Segment], list[Fault]]:
    found: list[Segment] = []
    for t, tag in enumerate(tags):
        if tag is None or tag == OUTSIDE:
            continue
        if found and found[-1].end == t and found[-1].label == tag:
            found[-1] = found[-1]._replace(end=t + 1)
        else:
            found.append(Segment(t, t + 1, tag))
    return found, []


def _marked(tags: Tags, scheme: str) -> tuple[list[Segment], list[Fault]]:
    found: list[Segment] = []
    faults: list[Fault] = []
    closes = scheme in ("iobes", "bilou")  # does the scheme mark last tokens?
    start, label = -1, ""  # the open segment; start -1 if there is none

    def close(end: int) -> None:
        nonlocal start
        if start >= 0:
            found.append(Segment(start, end, label))
            if closes:
                last = "E-" if scheme == "iobes" else "L-"
                faults.append(Fault(end - 1, f"{tags[end - 1]!r} should end the segment, with {last}{label}"))
        start = -1

    for t, tag in enumerate(tags):
        match = _MARKED.fullmatch(tag) if tag is not None else None
        if match is None or match[1] not in _MARKS[scheme]:
            close(t)
            if tag is not None and tag != OUTSIDE:
                faults.append(Fault(t, f"{tag!r} is not a tag of {scheme.upper()}"))
            continue
        mark, name = _LAST.get(match[1], match[1]), match[2]
        goes_on = start >= 0 and name == label and mark in "IE"
        if not goes_on:
            touches = start >= 0 and name == label
            close(t)
            if mark in "IE" and scheme != "iob1":
                faults.append(Fault(t, f"{tag!r} continues nothing"))
            if mark == "B" and scheme == "iob1" and not touches:
                faults.append(Fault(t, f"{tag!r} starts a segment that touches no other {name!r}, which IOB1 marks I-"))
            start, label = t, name
        if mark in "ES":
            found.append(Segment(start, t + 1, label))
            start = -1
    close(len(tags))
    return found, sorted(faults)


def detect(sequences: Iterable[Tags]) -> str:
    """Return the scheme of all sequences together; only the marks decide, `parse` then finds the faults."""
    marks: dict[str | None, str] = {None: "", OUTSIDE: ""}
    found: set[str] = set()
    faults = {"iob2": 0, "iob1": 0}
    for tags in sequences:
        for tag in tags:
            if tag not in marks:
                match = _MARKED.fullmatch(tag or "")
                marks[tag] = match[1] if match else ""
        here = {marks[tag] for tag in tags} - {""}
        found |= here
        if here and found <= {"B", "I"}:  # what has no mark is a fault in both
            for scheme in faults:
                faults[scheme] += len(parse(tags, scheme)[1])
    if not found:
        return "plain"
    if found & {"L", "U"}:
        return "bilou"
    return "iobes" if found & {"E", "S"} else min(faults, key=lambda scheme: faults[scheme])
