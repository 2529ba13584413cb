"""Reading and writing data files: one function each way, one module for each format, and the table of formats.

    documents = read("refs.jsonl.gz")                           # the format is guessed from name and content
    documents = read("training.txt", "hierarchical", repair=True, problems=(seen := []))
    write(documents, "refs.conll", lossy=True)

Every reader yields `espalier.document.Document`. Files may be gzipped, UTF-8 with or without a byte order mark
(or any `encoding`), with LF or CRLF. A malformed file is a `FormatError` that names file and line. What a
reader repaired or left out goes to the list `problems`, or without one into a single `DataWarning`. With a
list `refused`, a bad record is left out and its error goes there, where the next record can be found. What a
format cannot express is an `InputError`, unless the writer is told `lossy=True`. `FORMATS` says what each one
keeps: a format that keeps no tokens is tokenised anew, by its option `tokenise`.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

from espalier.document import Document
from espalier.errors import Argument, FormatError, InputError, check_several, nearest
from espalier.text_files import EXPANSION, LONGEST, InputProblem, Lines, Source, open_lines, write_chunks

__all__ = [
    "FORMATS",
    "DataWarning",
    "Format",
    "HasDocuments",
    "InputProblem",
    "format_by_content",
    "format_by_name",
    "get_format",
    "iter_read",
    "read",
    "write",
]


@dataclass(frozen=True, slots=True)
class Format:
    """What a format is called and what it keeps.

    `extensions` name it for reading and writing (also with `.gz`); `nests`: overlapping spans; `tokens`: token
    borders; `text`: the text between tokens; `labels`: spans at all; `unknown`: unknown and unlabelled
    stretches; `ids`: document ids; `meta`: everything else; `streams`: read without holding the whole file (an XML
    document is always held, and columns are unless their scheme is named).
    """

    name: str
    summary: str
    extensions: tuple[str, ...] = ()
    nests: bool = False
    tokens: bool = False
    text: bool = True
    labels: bool = True
    unknown: bool = False
    ids: bool = False
    meta: bool = False
    streams: bool = True

    @property
    def module(self) -> ModuleType:
        """The module with `read` and `write`, imported on first use."""
        return import_module(f"espalier.io.{self.name}")


_JSON: dict[str, Any] = {"nests": True, "tokens": True, "unknown": True, "ids": True, "meta": True}

FORMATS: Mapping[str, Format] = {
    f.name: f
    for f in (
        Format("jsonl", "JSON Lines, the native form; keeps everything", (".jsonl", ".ndjson"), **_JSON),
        Format(
            "conll",
            "columns, one token per line; IOB1, IOB2, IOBES, BILOU or plain labels",
            (".conll", ".iob", ".iob2", ".bio"),
            tokens=True,
            text=False,
            streams=False,
        ),
        Format("inline", "flat tags in the text, one record per line or an XML document"),
        Format("hierarchical", "nested tags in the text, as in the UMass set", nests=True),
        Format(
            "tei",
            "TEI <bibl> elements, as GROBID has them",
            (".tei.xml", ".tei"),
            nests=True,
            ids=True,
            streams=False,
        ),
        Format("doccano", "doccano's JSON Lines", **_JSON),
        Format("prodigy", "Prodigy's JSON Lines", **_JSON),
        Format("label_studio", "Label Studio's JSON export", (".json",), **_JSON, streams=False),
        Format("plain", "text alone, one record per line or per block", (".txt",), labels=False),
    )
}
"""Name -> what the format is and keeps."""

_TAG = re.compile(r"<([A-Za-z_][\w.:-]*)>")
_END_TAG = re.compile(r"</([A-Za-z_][\w.:-]*)>")
_COLUMN_TAG = re.compile(r"O|[BIESLU]-\S+")
_SURE = ("conll", "tei")  # an extension that leaves no doubt; the others say too little about the content


def get_format(name: str) -> Format:
    """Return a format by name; an unknown name is an error with the nearest known one."""
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}", hint=nearest(name, FORMATS, f"known: {', '.join(FORMATS)}"))
    return FORMATS[name]


def format_by_name(path: str, *, sure: bool = False) -> Format | None:
    """Return the format whose extension the path has; with `sure` only if the extension settles it."""
    base = os.path.basename(path).lower().removesuffix(".gz")
    for f in FORMATS.values():
        if base.endswith(f.extensions) and f.extensions and (not sure or f.name in _SURE):
            return f
    return None


def format_by_content(head: Sequence[str]) -> Format:
    """Guess from the first lines: JSON, tags, columns, or else plain text."""
    lines = [line for line in head if line.strip()]
    first = lines[0].lstrip() if lines else ""
    if first.startswith("["):
        name = "label_studio" if first[1:].lstrip()[:1] in ("", "{", "]") else "plain"
    elif first.startswith("{"):
        name = _json_flavour(first)
    elif first.startswith("<") and (_TAG.search(first) or first.startswith(("<?xml", "<!"))):
        name = _tag_flavour("\n".join(lines))
    elif lines and _looks_like_columns(lines):
        name = "conll"
    else:
        name = "inline" if any(_closes_a_tag(line) for line in lines) else "plain"
    return FORMATS[name]


def _closes_a_tag(line: str) -> bool:
    """Does the line have a tag and its end tag?"""
    return not {match[1] for match in _TAG.finditer(line)}.isdisjoint(match[1] for match in _END_TAG.finditer(line))


def _json_flavour(first: str) -> str:
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return "jsonl"  # whose reader will say what is wrong
    tokens = record.get("tokens")
    spans = record.get("spans")
    if any(isinstance(part, list) and part and isinstance(part[0], dict) for part in (tokens, spans)):
        return "prodigy"
    if "answer" in record and "text" in record:
        return "prodigy"
    if tokens is None and any(key in record for key in ("label", "labels", "entities")):
        return "doccano"
    return "jsonl"


def _tag_flavour(text: str) -> str:
    if re.search(r"<(?:\w+:)?(?:TEI|tei|listBibl|bibl)[\s>]", text):
        return "tei"
    # In an XML document the root and the records are no fields, and depth goes on over lines.
    document = re.match(r"<[?!]|<dataset|<AddressCollection|<[^<>/]+>\s*\n", text) is not None
    depth = deepest = 0
    for sign in re.finditer(r"\n|<(/?)[A-Za-z_][\w.:-]*>", text):
        if sign[0] != "\n":
            depth += -1 if sign[1] else 1
            deepest = max(deepest, depth)
        elif not document:
            depth = 0
    return "hierarchical" if deepest > (3 if document else 1) else "inline"


def _looks_like_columns(lines: Sequence[str]) -> bool:
    """Does every line end with a tag after a token, or have the same number of tabs, at least one?"""
    columns = [line.split("\t") if "\t" in line else line.split() for line in lines]
    if min(map(len, columns)) < 2:
        return False
    tagged = all(_COLUMN_TAG.fullmatch(row[-1].strip()) for row in columns)
    return tagged or (all("\t" in line for line in lines) and len(set(map(len, columns))) == 1)


_HEAD = 60


class DataWarning(UserWarning):
    """A reader repaired or left out something, and nobody passed a `problems` list."""


class HasDocuments(Protocol):
    """What `write` takes besides documents: a `Corpus`."""

    def to_documents(self) -> Iterable[Document]:
        """Return the documents to write."""


def read(
    source: Source,
    format: str | None = None,
    *,
    encoding: str = "utf-8",
    problems: list[InputProblem] | None = None,
    refused: list[FormatError] | None = None,
    expansion: float = EXPANSION,
    longest: float = LONGEST,
    **options: Any,
) -> list[Document]:
    """Return the documents of a file.

    Parameters
    ----------
    source
        A path, or an open file.
    format
        One of `espalier.io.FORMATS`; by default the extension decides, else the first lines.
    encoding
        How the text of the file is encoded.
    problems
        A list that gets what was repaired while reading.
    refused
        A list that gets the errors of bad records, and reading goes on. Without it a bad record is raised.
    expansion
        How many times its size a gzipped file may unpack to, beyond 64 MB.
    longest
        How many characters the text of a record may have.
    **options
        The format's own: see the `read` function of `espalier.io.<format>`. `tokenise` cuts texts in your own way; no
        model keeps it, so an `Extractor` has to be given documents that are cut in the same way.

    Returns
    -------
    list of Document
        The records of the file, in order. `iter_read` gives them one at a time.

    Raises
    ------
    FormatError
        If the file, or a record of it, is malformed; the error names file and line.

    Examples
    --------
    >>> import espalier as es
    >>> from io import StringIO
    >>> [document] = es.read(StringIO("<who>Ann</who> in <where>Ulm</where>"), "inline")
    >>> [(span.label, document.text[span.start : span.end]) for span in document.spans]
    [('who', 'Ann'), ('where', 'Ulm')]
    """
    limits = {"expansion": expansion, "longest": longest}
    return list(iter_read(source, format, encoding=encoding, problems=problems, refused=refused, **limits, **options))


def iter_read(
    source: Source,
    format: str | None = None,
    *,
    encoding: str = "utf-8",
    problems: list[InputProblem] | None = None,
    refused: list[FormatError] | None = None,
    expansion: float = EXPANSION,
    longest: float = LONGEST,
    **options: Any,
) -> Iterator[Document]:
    """Yield the documents of a path or open file, one at a time where the format admits it.

    A bad record ends the reading with a `FormatError`. With a list `refused` the errors go there instead and reading
    goes on, in formats whose records are lines or blocks; a fault of the file as a whole is raised as before.

    A gzipped file that unpacks to more than `expansion` times its size, and to more than 64 MB, is refused. A text of
    more than `longest` characters is a bad record; of a line that is far too long to be one, only a part is held.

    Without `format` an unmistakable extension decides, else the first lines. Other options are the format's own: see
    the `read` function of `espalier.io.<format>`.
    """
    given = None if format is None else get_format(format)
    if given is not None:
        _check_options(given, given.module.read, options)

    def documents() -> Iterator[Document]:
        seen: list[InputProblem] = [] if problems is None else problems
        with open_lines(source, encoding, seen, expansion, longest) as lines:
            lines.refused = refused
            if given is None:
                _refuse_tables(lines.name)
            chosen = given or format_by_name(lines.name, sure=True) or format_by_content(lines.head(_HEAD))
            if given is None:
                if chosen.name in ("plain", "inline", "hierarchical"):
                    _refuse_spaces(lines)
                _check_options(chosen, chosen.module.read, options)
            yield from chosen.module.read(lines, **options)
        if problems is None and seen:
            warnings.warn(
                f"{lines.name}: {len(seen)} things were repaired or left out, the first at {seen[0]}; "
                "pass problems=[] to collect them",
                DataWarning,
                stacklevel=2,
            )

    return documents()


_ODD_TAG = re.compile(r"<([A-Za-z_][\w.:-]*(?: [\w.:-]+)+)>.*</\1>")


def _refuse_spaces(lines: Lines) -> None:
    """Refuse tags with spaces in the first lines: they would be text, and nothing would say so."""
    for number, line in enumerate(lines.head(_HEAD), start=1):
        if found := _ODD_TAG.search(line):
            what = f"<{found[1]}> looks like a tag, but labels have no spaces"
            raise FormatError(
                what, path=lines.name, line=number, hint=f"write <{found[1].replace(' ', '_')}>, and its end tag too"
            )


_TABLES = (".csv", ".parquet", ".feather", ".xls", ".xlsx", ".ods")


def _refuse_tables(name: str) -> None:
    """Refuse files that are tables by their names: their lines are rows, not records."""
    if os.path.basename(name).lower().removesuffix(".gz").endswith(_TABLES):
        lines = ("say that its lines are the records: ", Argument("read", "format", "plain"))
        column = "save the column that holds the texts, one text a line"
        raise FormatError("this is a table, of which nobody knows the column to read", path=name, hint=[column, lines])


def write(
    documents: Iterable[Document] | HasDocuments,
    target: Source,
    format: str | None = None,
    *,
    encoding: str = "utf-8",
    **options: Any,
) -> None:
    """Write documents to a file.

    A path is replaced only after the last document is written, so a failure leaves the old file as it was.

    Parameters
    ----------
    documents
        Documents, or a corpus.
    target
        A path, which is compressed if it ends in `.gz`, or an open file.
    format
        One of `espalier.io.FORMATS`; by default the extension decides.
    encoding
        How to encode the text.
    **options
        The format's own: see the `write` function of `espalier.io.<format>`. `lossy=True` writes what the format
        cannot express as well as it can.

    Returns
    -------
    None
        The file is written.

    Raises
    ------
    InputError
        If the format cannot express a document, and `lossy` is not set.

    Examples
    --------
    >>> import espalier as es
    >>> from io import StringIO
    >>> target = StringIO()
    >>> es.write([es.Document.from_tokens(["Ann", "in"], ["B-who", "O"])], target, "inline")
    >>> target.getvalue().strip()
    '<who>Ann</who> in'
    """
    if isinstance(documents, Document):
        raise InputError("write takes a list of documents", hint="wrap a single one in [ ]")
    if format is not None:
        chosen = get_format(format)
    else:
        name = os.fspath(target) if isinstance(target, (str, os.PathLike)) else str(getattr(target, "name", ""))
        found = format_by_name(name)
        if found is None:
            raise InputError(
                f"{name!r} does not say which format to write", hint=f"pass format=, one of {', '.join(FORMATS)}"
            )
        chosen = found
    _check_options(chosen, chosen.module.write, options)
    to_documents = getattr(documents, "to_documents", None)
    several = to_documents() if to_documents else _documents_only(documents)
    write_chunks(target, chosen.module.write(several, **options), encoding)


def _documents_only(documents: Any) -> Iterator[Document]:
    """Yield documents; anything else is an error."""
    check_several(documents, "what is to be written", "expected documents, or a Corpus")
    for i, document in enumerate(documents):
        if not isinstance(document, Document):
            hint = "expected documents, or a Corpus"
            if hasattr(document, "to_document"):  # of an extraction
                hint = "its to_document() is one, without the confidences, and its to_dict() has all of it for JSON"
            raise InputError(f"write takes documents; number {i} is {type(document).__name__}", hint=hint)
        yield document


def _check_options(chosen: Format, function: Callable[..., Any], options: dict[str, Any]) -> None:
    known = list(inspect.signature(function).parameters)[1:]
    for name in options:
        if name not in known:
            suggestion = nearest(name, known, f"it has {', '.join(known) or 'none'}")
            what = f"the format {chosen.name!r} has no {function.__name__} option {name!r}"
            raise InputError(what, hint=suggestion)
