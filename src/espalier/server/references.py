"""References in, records out, whatever form either has: what the routes for other programs share.

The active model of the task `citations` parses, under the rules that the task has now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from espalier.citations.formats import FORMATS, OutputFormat, write
from espalier.citations.record import Record
from espalier.citations.seen import reference_document
from espalier.extract.extraction import Extraction
from espalier.server.core import Answered, Core
from espalier.server.failures import Failure
from espalier.server.reading import read_text, read_upload
from espalier.server.shapes import Trouble
from espalier.server.tasks import REFERENCES, ProjectTask

__all__ = [
    "MEDIA_TYPES",
    "ParsedReferences",
    "chosen_format",
    "parse_documents",
    "records_text",
    "references_of",
    "written",
]

MEDIA_TYPES = {
    "application/json": "json",
    **{kind: row.name for row in FORMATS.values() for kind in row.asked_as()},
}
"""What a client may ask for with Accept, and the format that it gets; the first is for who asks for anything."""


@dataclass(frozen=True, slots=True)
class ParsedReferences:
    """Records, where each was found (None: it came by itself), and what was wrong."""

    model: int
    records: list[Record]
    sources: list[dict[str, Any] | None]
    problems: list[Trouble]


def parse_documents(core: Core, data: bytes | str, name: str = "", k: int = 1) -> ParsedReferences:
    """Parse a list of references as text, or find and parse those of a document."""
    task = core.tasks.get(REFERENCES)
    if isinstance(data, str):
        reading = read_text(core, task, data, most=core.limits.records)
    else:
        reading = read_upload(core, task, data, name, None, "utf-8", core.limits.records)
    # Labels that a file brings are no concern here; nor are the tokens that they are for.
    reading.documents = [one if one.spans is None else reference_document(one.text) for one in reading.documents]
    model = _model_of(task)
    answers = core.of_documents(task, reading.documents, model, k)
    return ParsedReferences(model, list(map(_record, answers)), reading.sources, reading.problems)


def references_of(said: Answered) -> ParsedReferences:
    """Return the answers of the model in use as references, one of each text."""
    task, _, documents, answers = said
    return ParsedReferences(_model_of(task), list(map(_record, answers)), [None] * len(documents), [])


def _model_of(task: ProjectTask) -> int:
    if task.active is None:
        raise Failure(409, f"the task {REFERENCES} has no model in use", "choose one in the workbench")
    return task.active


def _record(answer: Extraction) -> Record:
    """Return an answer as a record; models of your own may give plain extractions."""
    if isinstance(answer, Record):
        return answer
    return Record(answer.text, answer.fields, answer.confidence, answer.certificate, answer.violations)


def chosen_format(accept: str, format: str | None = None) -> str:
    """Return the format that a client asks for: by name, else by Accept, the most wanted first."""
    if format is not None:
        return format
    asked = sorted(map(_weighed, accept.split(",")), key=lambda pair: -pair[1])
    for kind, weight in asked:
        if weight <= 0:
            continue
        if kind in ("*/*", "application/*", ""):
            return "json"
        if kind == "text/*":
            return "csv"
        if kind in MEDIA_TYPES:
            return MEDIA_TYPES[kind]
    hint = f"ask for one of {', '.join(MEDIA_TYPES)}, or leave Accept out"
    raise Failure(406, f"references cannot be written as {accept[:80]!r}", hint)


def _weighed(part: str) -> tuple[str, float]:
    """Return a type of an Accept header, and how much it is wanted."""
    kind, *parameters = part.split(";")
    weight = next((p.strip()[2:] for p in parameters if p.strip().startswith("q=")), "1")
    try:
        return kind.strip().lower(), float(weight)
    except ValueError:
        return kind.strip().lower(), 0.0


def written(parsed: ParsedReferences, format: str) -> tuple[str, str]:
    """Return the text of an answer, and its type."""
    if format == "json":
        return _json(parsed), "application/json"
    row: OutputFormat = FORMATS[format]
    asked = row.asked_as()
    kind = row.media_type if row.media_type in asked or not asked else asked[0]
    return records_text(parsed.records, row), kind


def records_text(records: Sequence[Record], row: OutputFormat) -> str:
    """Return records in a format; cells that a spreadsheet would run are disarmed: references come from strangers."""
    options: dict[str, Any] = {"safe": True} if "safe" in row.options else {}
    return "".join(write(records, row, **options))


def _json(parsed: ParsedReferences) -> str:
    """Return the records as `espalier parse` writes them, in one object."""
    from espalier.citations.formats import Keys, stem_of, to_json

    row, keys = FORMATS["jsonl"], Keys()
    entries = [
        row.entry(record, keys.unique(row.fit_key(stem_of(record))), source=source).rstrip("\n")
        for record, source in zip(parsed.records, parsed.sources, strict=True)
    ]
    problems = to_json([trouble.model_dump() for trouble in parsed.problems])
    return f'{{"model": {parsed.model}, "records": [{", ".join(entries)}], "problems": {problems}}}'
