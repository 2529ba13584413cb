"""A style of references learned from the bundled model: where learning begins, and labels of other schemes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import resources
from io import StringIO
from pathlib import Path
from typing import Any

from espalier.citations.schemes import Scheme, load_scheme
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.errors import Argument, InputError
from espalier.io import read
from espalier.recipes.adapting import Start, begin
from espalier.tags import path_of

__all__ = ["bundled_start", "converted", "replayed", "scheme_of", "usual_start"]


def bundled_start(replaying: bool = False) -> Start:
    """Return the start from the bundled model, so that a handful of references teaches it a style.

    replaying : learn references of many styles again beside the new ones, so that less of them is forgotten.
    """
    start = begin(Path(str(resources.files("espalier.citations") / "model.espalier")), "citations")
    if not replaying:
        return start
    return replace(start, replay=Corpus.from_documents(replayed(), vocabulary=start.learned.labels))


def replayed() -> list[Document]:
    """Return labelled references in many styles that come with the library; nobody wrote the works that they name.

    A model that learns them beside a new style forgets less of the others (`scripts/render_replayed.py` made them).
    """
    lines = (resources.files("espalier.citations") / "replayed.txt").read_text(encoding="utf-8")
    return read(StringIO(lines), "inline")


def converted(documents: Sequence[Document], labels: Sequence[str]) -> list[Document]:
    """Return references with the labels of the task: those of AnyStyle and GROBID are understood too.

    Every token is then in a field, by the conventions of the bundled model; records without labels stay as they are.
    """
    scheme = scheme_of(documents, labels)
    return [document if document.spans is None else scheme.convert(document) for document in documents]


def scheme_of(documents: Sequence[Document], labels: Sequence[str]) -> Scheme:
    """Return the scheme that knows the labels of most documents. labels : ours."""

    def known(scheme: Scheme) -> int:
        return sum(all(span.label in scheme.labels for span in document.spans or ()) for document in documents)

    return max(_schemes(labels), key=known)


def _schemes(labels: Sequence[str]) -> list[Scheme]:
    """Return how labels may be meant: as AnyStyle's or ours, as GROBID's; labels : ours, plain or as tags."""
    anystyle = load_scheme("anystyle")
    ours = {label: label for label in map(path_of, labels)} | dict(anystyle.labels)
    return [replace(anystyle, name="citations", labels=ours), load_scheme("grobid")]


def usual_start(settings: dict[str, Any]) -> Callable[[], Start]:
    """Return where learning of references begins, the bundled model, and take out of the settings how."""
    replaying = settings.pop("replay", False)
    if not isinstance(replaying, bool):
        raise InputError(Argument("set", "replay", replaying), ": expected true or false")
    return partial(bundled_start, replaying)
