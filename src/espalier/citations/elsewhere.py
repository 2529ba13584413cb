"""Labelled references of kinds that the bundled model has seen nothing like: what its confidences are tried on.

    styles    rendered references whose styles and works train nothing (part `dev` of `scripts/render_references.py`)
    umass     references from papers of physics and mathematics, by other annotators, with other spaces and marks

A reference that the benchmark or a part of the training material has is left out. `Parser.calibrate` takes the sets as
`unseen`.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from espalier.citations.schemes import load_scheme
from espalier.citations.training import Source, key_of
from espalier.document import Document
from espalier.io import read

__all__ = ["SETS", "STYLES", "read_elsewhere"]

STYLES = "dev.jsonl.gz"
"""The file of rendered references."""

SETS = (Source("umass", "umass_flat/normalised/train.jsonl.gz", "umass"),)
"""Annotated sets that train nothing."""


def read_elsewhere(data: Path, rendered: Path, known: Collection[str] = ()) -> dict[str, list[Document]]:
    """Return the sets that are there, by name.

    data : directory of annotated sets; rendered : of rendered references; known : keys that are left out.
    """
    found: dict[str, list[Document]] = {}
    if (rendered / STYLES).exists():
        found["styles"] = [document for document in read(rendered / STYLES) if key_of(document) not in known]
    for source in SETS:
        if (data / source.file).exists():
            converted = map(load_scheme(source.scheme).convert, read(data / source.file))
            found[source.name] = [document for document in converted if key_of(document) not in known]
    return {name: documents for name, documents in found.items() if documents}
