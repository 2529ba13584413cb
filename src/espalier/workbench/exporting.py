"""Records as files: every format of `io/`, and for references those of reference managers, too."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

from espalier.citations.formats import FORMATS as RECORD_FORMATS
from espalier.citations.record import Field, Record
from espalier.document import Document
from espalier.errors import nearest
from espalier.io import FORMATS, write
from espalier.server.failures import Failure
from espalier.server.references import records_text
from espalier.server.tasks import REFERENCES, ProjectTask
from espalier.workbench.bench import Bench
from espalier.workbench.records import Stored
from espalier.workbench.shapes.tasks import FormatAnswer

__all__ = ["ALL_FORMATS", "export", "formats"]

_RENAMED = {"tei": "biblstruct", "jsonl": "records"}
"""Formats of references whose names are names of `io/`, too, and what they are called here."""
_RECORDS = {_RENAMED.get(name, name): name for name in RECORD_FORMATS}

_EXTENSIONS = {
    "inline": ".tagged.txt",
    "hierarchical": ".nested.txt",
    "doccano": ".doccano.jsonl",
    "prodigy": ".prodigy.jsonl",
}
_TYPES = {"jsonl": "application/x-ndjson", "tei": "application/xml", "label_studio": "application/json"}


ALL_FORMATS = (*_RECORDS, *FORMATS)
"""The names of all formats; which of them a task has, `formats` says."""


def formats(task: ProjectTask) -> list[FormatAnswer]:
    """Return the formats that a task's records can be written in."""
    found: list[FormatAnswer] = []
    if task.name == REFERENCES:
        for name, row in ((name, RECORD_FORMATS[own]) for name, own in _RECORDS.items()):
            extension, summary = row.extensions[0], row.summary
            found.append(FormatAnswer(name=name, kind="records", extension=extension, summary=summary))
    for name, format in FORMATS.items():
        extension = format.extensions[0] if format.extensions else _EXTENSIONS[name]
        found.append(FormatAnswer(name=name, kind="labels", extension=extension, summary=format.summary))
    return found


def export(
    bench: Bench, task: ProjectTask, format: str, which: str, ids: Sequence[int] | None, *, lossy: bool
) -> tuple[str, str, bytes]:
    """Return records as a file: its name, type and bytes; `which` is "all", "corrected" or "texts"."""
    known = {row.name: row for row in formats(task)}
    if format not in known:
        hint = nearest(format, known, f"formats: {', '.join(known)}")
        raise Failure(400, f"records of the task {task.name} cannot be written as {format!r}", hint)
    stored = bench.records.all(task.name) if ids is None else bench.records.several(task.name, ids)
    stored = [one for one in stored if one.corrected or which != "corrected"]
    if not stored:
        raise Failure(409, "there is no record to write", "add some, or correct some, first")
    name = f"{task.name}{known[format].extension}"
    if known[format].kind == "records":
        if which == "texts":
            raise Failure(400, f"{format} is made of fields, not of texts", "choose which=all or which=corrected")
        row = RECORD_FORMATS[_RECORDS[format]]
        text = records_text(_records(bench, task, stored), row)
        return name, f"{row.media_type}; charset=utf-8", text.encode()
    documents = _documents(bench, task, stored, which)
    target = io.BytesIO()
    loses = "lossy" in signature(FORMATS[format].module.write).parameters  # others never lose anything
    options: dict[str, Any] = {"lossy": True} if lossy and loses else {}
    write(documents, target, format, **options)
    return name, f"{_TYPES.get(format, 'text/plain')}; charset=utf-8", target.getvalue()


def _documents(bench: Bench, task: ProjectTask, stored: Sequence[Stored], which: str) -> list[Document]:
    """Return documents with corrections, or else with what the model says."""
    if which == "texts":
        return [replace(one.document, spans=None, id=str(one.id)) for one in stored]
    open_ = [one for one in stored if not one.corrected]
    said = dict(zip((one.id for one in open_), bench.said(task, open_, task.active), strict=True))
    return [
        replace(one.document, id=str(one.id), spans=said[one.id].spans if one.id in said else one.document.spans)
        for one in stored
    ]


def _records(bench: Bench, task: ProjectTask, stored: Sequence[Stored]) -> list[Record]:
    """Return references as parsed; of a corrected one all is certain."""
    found = []
    for one, answer in zip(stored, bench.said(task, stored, task.active), strict=True):
        text, spans = one.document.text, one.document.spans
        if spans is None:
            found.append(Record(text, answer.fields, answer.confidence, answer.certificate))
        else:
            fields = (Field(span.label, text[span.start : span.end], span.start, span.end, 1.0) for span in spans)
            found.append(Record(text, tuple(fields), 1.0, certificate=None))
    return found
