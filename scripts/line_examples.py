"""Documents that the model of lines learns from, each as units with labels: real ones, made ones and printed ones.

real      documents of `refdocs` whose first lines are known
told      those of which only the list is known: an earlier model of lines says which lines begin a reference
typed     lists that are made, without places (`line_documents.py`)
printed   the same with places
paper     papers that `print_documents.py` printed
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from line_documents import Labelled, Maker, Material

from espalier.citations.borders import unbroken
from espalier.documents.deciding.features import Seen, seen
from espalier.documents.deciding.model import LABELS, LineModel
from espalier.documents.deciding.units import Unit, units_of
from espalier.documents.lines import Box, TextLine

__all__ = ["FOLDS", "Example", "made_labels", "read_examples", "refdocs_labels", "references"]

FOLDS = 5
NOISE = {"broken", "crowded", "followed"}


class Example(NamedTuple):
    """A document to learn from: its name, what is read out of it, labels, whether places are told, fold and kind."""

    name: str
    page: Seen
    labels: list[str]
    layout: bool
    fold: int
    kind: str


# -- documents -----------------------------------------------------------------------------------------------------


def read_examples(options: argparse.Namespace) -> Iterator[Example]:
    """Yield all documents; the first of the folds is held out."""
    segmenter = _read(options.data / "refdocs" / "normalised" / "segmenter_train.jsonl")[: options.real]
    documents = _read(options.data / "refdocs" / "normalised" / "segmentation_train.jsonl.gz")[: options.real]
    for document in [*segmenter, *(d for d in documents if d["starts"] != "unknown")]:
        units = units_of([TextLine(text) for text in document["lines"]])
        yield Example(document["id"], seen(units), refdocs_labels(document, units), True, _fold(document["id"]), "real")
    if options.told is not None:
        yield from _told_by(LineModel.load(options.told), documents)
    rng, styles = random.Random(options.seed), _styles(options.rendered)
    for held_out in (False, True):
        lists = [texts for d in segmenter if (_fold(d["id"]) == 0) == held_out and (texts := references(d))]
        rendered = [texts for style, texts in styles.items() if (_fold(style) == 0) == held_out]
        bodies = [body for d in documents if (_fold(d["id"]) == 0) == held_out and (body := _body(d))]
        if not lists or not bodies:
            continue
        # As many lists of real references as of rendered ones.
        lists = lists * max(1, len(rendered) // len(lists))
        maker = Maker(Material([*lists, *rendered], bodies), seed=2 * options.seed + held_out)
        for k in range(options.made // FOLDS if held_out else options.made):
            made = maker.one()
            kind = "printed" if made.lines[0].box else "typed"
            fold = 0 if held_out else 1 + k % (FOLDS - 1)
            yield _example(f"{kind}/{held_out}/{k}", made, rng.random() < 0.85, fold, kind)
    for path in options.printed:
        for record in _read(path):
            yield _example(record["id"], _printed(record), rng.random() < 0.9, _fold(record["id"]), "paper")


def _told_by(model: LineModel, documents: Sequence[dict[str, Any]]) -> Iterator[Example]:
    """Yield documents whose lists are known but not their first lines: an earlier model says which those are.

    Documents of which it is unsure are left out.
    """
    ref, on = LABELS.index("ref"), LABELS.index("ref-cont")
    for document in documents:
        if document["starts"] != "unknown":
            continue
        units = units_of([TextLine(text) for text in document["lines"]])
        page = seen(units)
        _, p, _ = model.labelled(page)
        labels: list[str] = []
        sure = []
        for k, unit in enumerate(units):
            label = document["labels"][unit.line]
            if label == "ref-line":
                first = "ref-cont" not in labels[-1:] and "ref" not in labels[-1:] and "page" not in labels[-1:]
                label = "ref" if first or p[k, ref] > p[k, on] else "ref-cont"
                sure.append(abs(p[k, ref] - p[k, on]))
            labels.append(label)
        if len(sure) > 10 and np.mean(sure) > 0.9:
            yield Example(document["id"], page, labels, True, _fold(document["id"]), "told")


def _example(name: str, made: Labelled, layout: bool, fold: int, kind: str) -> Example:
    units = units_of(made.lines)
    return Example(name, seen(units), made_labels(made, units), layout, fold, kind)


def _read(path: Path) -> list[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in data.decode("utf-8").splitlines() if line]


def _fold(name: str) -> int:
    return int(hashlib.sha1(name.split("/")[-1].encode()).hexdigest(), 16) % FOLDS


def _printed(record: dict[str, Any]) -> Labelled:
    """Return a printed document, as `scripts/print_documents.py` writes it: lines, labels and places.

    A line that goes on with one reference and begins another is labelled as the first of these; where the other begins
    is known by its text.
    """
    lines = [TextLine(**{**one, "box": Box(*one["box"])}) for one in record["lines"]]
    labels, starts = list(record["labels"]), dict[int, list[int]]()
    last, firsts = -1, set[int]()  # the last line of the references before; the line that the last outer one begins
    for numbers, text in zip(record["refs"], record["texts"], strict=True):
        if not numbers:
            continue
        if numbers[0] == last:
            at = lines[last].text.find(" ".join(text.split())[:12])
            if last not in starts:
                labels[last] = "ref" if last in firsts else "ref-cont"
            starts.setdefault(last, []).extend([at] if at > 0 else [])
        firsts = {numbers[0]} if numbers[0] != last else firsts
        last = max(last, numbers[-1])
    return Labelled(lines, labels, starts)


def _body(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of a document that are no references."""
    rows = zip(document["lines"], document["labels"], strict=True)
    found = [(text, label) for text, label in rows if label in ("text", "page", "note")]
    return found if len(found) > 40 else []


def references(document: dict[str, Any]) -> list[str]:
    """Return the references of a document of `refdocs`, a line each, without their marks."""
    whole, found = "\n".join(document["lines"]), []
    for (a, b), marker in zip(document["refs"], document["markers"], strict=True):
        text = unbroken(whole[marker[1] if marker else a : b])
        if len(text) >= 30 and text[0].isalnum() and not text[0].islower():
            found.append(text.rstrip(";"))
    return found if len(found) >= 6 else []


def _styles(directory: Path, least: int = 10) -> dict[str, list[str]]:
    """Return rendered references without their numbers, by style and language."""
    path, found = directory / "train.jsonl.gz", defaultdict(list)
    if not path.exists():
        print(f"there is no {path.name} in {directory.name}: only references of refdocs are used", file=sys.stderr)
        return {}
    for record in _read(path):
        if NOISE.isdisjoint(map(str, record["noise"])):
            text = _unnumbered(record)
            if len(text) > 30:
                found[f"{record['style']} {record['locale'][:2]}"].append(text)
    return {style: texts for style, texts in found.items() if len(texts) >= least}


def _unnumbered(record: dict[str, Any]) -> str:
    at = 0
    for token, tag in zip(record["tokens"], record["bio"], strict=True):
        if tag[2:] != "citation-number":
            break
        at = record["text"].index(token, at) + len(token)
    return str(record["text"][at:]).strip()


# -- labels of units -----------------------------------------------------------------------------------------------


def refdocs_labels(document: dict[str, Any], units: Sequence[Unit]) -> list[str]:
    """Return the labels of units; `refs` says which of them begin a reference inside a line."""
    labels = document["labels"]
    if not document.get("refs"):
        return ["ref-cont" if labels[u.line] == "ref" and u.inner else labels[u.line] for u in units]
    offsets = [0]
    for line in document["lines"]:
        offsets.append(offsets[-1] + len(line) + 1)
    starts: dict[int, list[int]] = defaultdict(list)
    for a, _ in document["refs"]:
        k = bisect_right(offsets, a) - 1
        starts[k].append(a - offsets[k])
    return [_within(labels[u.line], u, starts[u.line], -3, 6) for u in units]


def made_labels(made: Labelled, units: Iterable[Unit]) -> list[str]:
    """Return the labels of units of a document that was made."""
    found = []
    for u in units:
        label, starts = made.labels[u.line], made.starts.get(u.line, [])
        if label in ("ref", "ref-cont"):
            label = (
                _within("ref", u, starts, -14, 14)
                if u.inner
                else "ref"
                if label == "ref" or 0 in starts
                else "ref-cont"
            )
        found.append(label)
    return found


def _within(label: str, unit: Unit, starts: Sequence[int], before: int, after: int) -> str:
    if label not in ("ref", "ref-cont"):
        return label
    return "ref" if any(unit.start + before <= start < unit.start + after for start in starts) else "ref-cont"
