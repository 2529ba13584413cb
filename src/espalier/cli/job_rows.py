"""What becomes of the texts of `espalier run`: records of references, or labelled spans of any other model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from espalier.citations.formats import get_format
from espalier.citations.formats.jsonl import row_of
from espalier.citations.output_text import to_json
from espalier.citations.parser import Parser
from espalier.cluster.job import Job, Settings
from espalier.cluster.labeller import LabellerSpec
from espalier.cluster.spans import alone, make_spans
from espalier.cluster.stores import need
from espalier.errors import InputError, nearest
from espalier.loading import BUNDLED, bundled_file

__all__ = ["ReferenceLabeller", "job_of", "make_references", "model_path", "parser_of"]

_KINDS = ("references", "spans")


class ReferenceLabeller:
    """Texts to records of references: the columns are those of `espalier parse --format jsonl`, csl as JSON text.

    Besides these there may be a column for each of some output formats, with the entry of each record.
    """

    def __init__(self, parser: Parser, *formats: str) -> None:
        """Take a parser, and names of output formats."""
        pa = need("pyarrow")
        field = {"label": pa.string(), "text": pa.string(), "start": pa.int32(), "end": pa.int32()}
        violation = {"name": pa.string(), "position": pa.int32(), "amount": pa.float64(), "price": pa.float64()}
        certificate = {"status": pa.string(), "bound": pa.float64(), "gap": pa.float64(), "method": pa.string()}
        self.parser, self.formats = parser, [get_format(name) for name in formats]
        self.schema = pa.schema(
            {
                "fields": pa.list_(pa.struct(field | {"confidence": pa.float64()})),
                "csl": pa.string(),
                "confidence": pa.float64(),
                "certificate": pa.struct(certificate),
                "violations": pa.list_(pa.struct(violation)),
            }
            | {row.name: pa.string() for row in self.formats}
        )

    def __call__(self, texts: Sequence[str]) -> Mapping[str, Sequence[Any]]:
        """Return the columns, one value for each reference."""
        rows = []
        for record in self.parser.parse_many(texts, batch=max(1, len(texts))):
            row = row_of(record)
            row["csl"] = to_json(row["csl"])
            rows.append(row | {format.name: record.to(format.name) for format in self.formats})
        return {name: [row[name] for row in rows] for name in self.schema.names}


def model_path(model: Path | None) -> Path:
    """Return a model file, by default the bundled one, which a package that is installed has as a file."""
    return bundled_file("citations") if model is None else model


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
    maker = make_references if kind == "references" else make_spans
    path = model_path(None if settings.model in BUNDLED else base / settings.model)
    spec = LabellerSpec.of(maker, path, *settings.entries)
    spec.make()  # so that a bad model is told once and here, not by every partition
    return Job(settings, spec)
