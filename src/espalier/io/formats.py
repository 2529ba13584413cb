"""The table of formats, and how a file's format is guessed from its name and its first lines."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from espalier.errors import InputError, did_you_mean

__all__ = ["FORMATS", "Format", "format_by_content", "format_by_name", "get_format"]


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
        raise InputError(f"unknown format {name!r}{did_you_mean(name, FORMATS) or '; known: ' + ', '.join(FORMATS)}")
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
