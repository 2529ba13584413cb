"""What becomes of the texts of `espalier run`: records of references, or fields or spans of any model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from espalier.citations.formats import get_format, to_json
from espalier.citations.parser import Parser, bundled_file
from espalier.citations.record import Record
from espalier.cluster.job import Job, Settings
from espalier.cluster.labeller import LabellerSpec
from espalier.cluster.spans import FieldLabeller, alone, make_fields, make_spans
from espalier.cluster.stores import need
from espalier.errors import InputError, nearest
from espalier.extract.extraction import Extraction
from espalier.loading import BUNDLED

__all__ = ["ReferenceLabeller", "job_of", "make_references", "model_path", "parser_of"]

_KINDS = ("references", "fields", "spans")


class ReferenceLabeller(FieldLabeller):
    """Texts to records of references: the columns are those of `espalier parse --format jsonl`, csl as JSON text.

    Besides these there may be a column for each of some output formats, with the entry of each record.
    """

    def __init__(self, parser: Parser, *formats: str) -> None:
        """Take a parser, and names of output formats."""
        super().__init__(parser)
        pa = need("pyarrow")
        self.formats = [get_format(name) for name in formats]
        self.schema = self.schema.insert(1, pa.field("csl", pa.string()))
        for row in self.formats:
            self.schema = self.schema.append(pa.field(row.name, pa.string()))

    def row(self, found: Extraction) -> dict[str, Any]:
        """Return the columns of one record."""
        assert isinstance(found, Record)
        row = found.to_dict()
        return row | {"csl": to_json(row["csl"])} | {format.name: found.to(format.name) for format in self.formats}


def model_path(model: Path | None) -> Path:
    """Return a model file, by default the bundled one, which a package that is installed has as a file."""
    return bundled_file() if model is None else model


def parser_of(path: str) -> Parser:
    """Return the parser of a model file, for a process that is one of several."""
    parser: Parser = alone(Parser.from_file(path))
    return parser


def make_references(path: str, *formats: str) -> ReferenceLabeller:
    """Return the labeller of a model file of references, with a column for each of the output formats."""
    return ReferenceLabeller(parser_of(path), *formats)


def job_of(settings: Settings, base: Path) -> Job:
    """Find the model of a job, relative to `base`, and what it makes of a text; one that cannot do it is refused."""
    kind = settings.rows or ("references" if settings.model in BUNDLED else "spans")
    if kind not in _KINDS:
        near = nearest(kind, _KINDS, f"there are {', '.join(_KINDS)}")
        raise InputError(f"rows is {kind!r}", hint=near)
    if settings.entries and kind != "references":
        raise InputError("entries are written of references", hint='leave the key out, or add rows = "references"')
    for name in settings.entries:
        get_format(name)
        if name == "csl":
            raise InputError("entries: every record of a reference has a column 'csl'", hint="leave it out")
    maker = {"references": make_references, "fields": make_fields, "spans": make_spans}[kind]
    path = model_path(None if settings.model in BUNDLED else base / settings.model)
    spec = LabellerSpec.of(maker, path, *settings.entries)
    spec.make()  # so that a bad model is told once and here, not by every partition
    return Job(settings, spec)
