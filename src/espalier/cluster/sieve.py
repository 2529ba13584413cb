"""Labels for the records of a chunk that can have them, and a reason for each of the others.

A labeller gets all good texts at once. If it raises, the halves are tried, and their halves, until the texts that it
cannot label stand alone: about 2 log2(n) more calls a bad one. Want of memory and errors of files are not the fault of
a record and are raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from espalier.cluster.labeller import RowLabeller
from espalier.cluster.reading import Chunk
from espalier.errors import EspalierError

__all__ = ["label_chunk"]

Columns = dict[str, list[Any]]


def label_chunk(labeller: RowLabeller, chunk: Chunk, longest: int) -> tuple[list[int], Columns, dict[int, str]]:
    """Return which records of a chunk were labelled, the columns of these, and why each other one was not."""
    bad: dict[int, str] = {}
    for i, (value, reason) in enumerate(zip(chunk.values, chunk.reasons, strict=True)):
        problem = reason or _problem(value, longest)
        if problem:
            bad[i] = problem
    columns: Columns = {name: [] for name in labeller.schema.names}
    _label(labeller, chunk.values, [i for i in range(len(chunk.values)) if i not in bad], columns, bad)
    return [i for i in range(len(chunk.values)) if i not in bad], columns, bad


def _label(
    labeller: RowLabeller, values: Sequence[Any], chosen: list[int], columns: Columns, bad: dict[int, str]
) -> None:
    """Append the labels of the chosen texts to the columns; note those that cannot be labelled."""
    if not chosen:
        return
    try:
        found = labeller([values[i] for i in chosen])
    except (MemoryError, OSError):
        raise
    except Exception as error:  # whatever it is, it concerns a record
        if len(chosen) == 1:
            bad[chosen[0]] = str(error) if isinstance(error, EspalierError) else f"{type(error).__name__}: {error}"
            return
        half = len(chosen) // 2
        _label(labeller, values, chosen[:half], columns, bad)
        _label(labeller, values, chosen[half:], columns, bad)
        return
    for name, column in columns.items():
        if len(found[name]) != len(chosen):
            raise EspalierError(f"the labeller gave {len(found[name])} values of {name!r} for {len(chosen)} texts")
        column.extend(found[name])


def _problem(value: Any, longest: int) -> str:
    """Say why a value is no text to label, if it is none."""
    if value is None:
        return "null, not a string"
    if not isinstance(value, str):
        return f"a {type(value).__name__}, not a string"
    if len(value) > longest:
        return f"{len(value):,} characters; at most {longest:,} are read as one record"
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return "holds half of a surrogate pair, which is no character"
    return ""
