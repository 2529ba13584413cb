"""Train the model of lines that comes with Espalier: `make model`.

python scripts/train_lines.py --data ../shared/data --rendered build/rendered --output
src/espalier/documents/lines.espalier

It learns from the documents of `refdocs` (their train part), from lists in many layouts that are made of their
references and of rendered ones (`line_documents.py`), and from printed documents with known lines (`--printed`), if
there are any. Two models are fitted: the second one learns from what the first says about documents that it has not
seen, by folds. With `--with FILE`, the weights of both are the means of theirs and of that file's, which learned from
other documents: the mean of two such models errs less than either. A fifth of all documents is held out: for the
figures that are printed here, and for the calibration of confidences.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from line_documents import Labelled, Maker, Material

from espalier.citations.splitting import unbroken
from espalier.documents.line_features import Seen, attributes, seen
from espalier.documents.line_lists import list_attributes
from espalier.documents.line_model import LABELS, LineModel, LineReading
from espalier.documents.line_scores import LineScores
from espalier.documents.line_units import Unit, units_of
from espalier.documents.lines import Box, TextLine
from espalier.estimators.crf import CRF
from espalier.extract.calibrating import isotonic
from espalier.features.matrix import GivenIndex
from espalier.inference import marginals
from espalier.models.chain import ChainModel
from espalier.models.weights import Pairs

ROOT = Path(__file__).resolve().parents[1]
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


def main() -> None:
    """Train, measure, calibrate, save."""
    options = _options()
    clock = time.perf_counter()
    examples = list(_examples(options))
    print(
        f"{len(examples)} documents, {sum(len(e.labels) for e in examples)} units, {time.perf_counter() - clock:.0f} s",
        flush=True,
    )
    own = [attributes(e.page, layout=e.layout) for e in examples]
    model = _fitted(examples, own, options, held_out=0)
    curve = _measure(model, [e for e in examples if e.fold == 0])
    if options.all:
        model = _fitted(examples, own, options, held_out=None)
    if options.mean_with is not None:
        model = _mean(model, LineModel.load(options.mean_with))
        curve = _measure(model, [e for e in examples if e.fold == 0])
    model = LineModel(_lighter(model.first), _lighter(model.second), curve=curve)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    model.save(options.output)
    print(f"{options.output.name}: {options.output.stat().st_size / 1e3:.0f} kB, {time.perf_counter() - clock:.0f} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--rendered", type=Path, default=ROOT / "build" / "rendered", help="directory of rendered references"
    )
    parser.add_argument(
        "--printed", type=Path, help="a file of printed documents: lines with places and labels, JSON a line"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "src" / "espalier" / "documents" / "lines.espalier")
    parser.add_argument(
        "--with", dest="mean_with", type=Path, metavar="FILE", help="a model of lines to take the mean with"
    )
    parser.add_argument("--made", type=int, default=1500, help="documents to make")
    parser.add_argument("--real", type=int, help="documents of refdocs to use; all if not given")
    parser.add_argument("--iterations", type=int, default=150)
    parser.add_argument("--l2", type=float, default=1.0)
    parser.add_argument("--min-count", type=int, default=8)
    parser.add_argument("--all", action="store_true", help="after measuring, train on the held-out documents, too")
    return parser.parse_args()


# -- models --------------------------------------------------------------------------------------------------------


def _fitted(
    examples: Sequence[Example], own: list[list[list[str]]], options: argparse.Namespace, held_out: int | None
) -> LineModel:
    """Return both models; the second sees what the first says about documents of other folds."""
    kept = [i for i, e in enumerate(examples) if e.fold != held_out]
    scores: dict[int, Any] = {}
    for folds in ((0, 1, 2), (3, 4)):
        learn, tell = [i for i in kept if examples[i].fold not in folds], [i for i in kept if examples[i].fold in folds]
        if not learn or not tell:
            learn = tell = kept
        scores.update(_told(_crf(options, examples, own, learn), own, tell))
    first = _crf(options, examples, own, kept)
    more = {}
    for i in kept:
        p = scores[i]
        told = list_attributes(
            examples[i].page, p[:, LABELS.index("ref")], p[:, LABELS.index("ref-cont")], layout=examples[i].layout
        )
        more[i] = [a + b for a, b in zip(own[i], told, strict=True)]
    second = _crf(options, examples, more, kept)
    return LineModel(first, second)


def _crf(options: argparse.Namespace, examples: Sequence[Example], attributes_: Any, chosen: Sequence[int]) -> CRF:
    clock = time.perf_counter()
    model = CRF(l2=options.l2, max_iterations=options.iterations, min_count=options.min_count)
    weight = [_WEIGHTS.get(examples[i].kind, 1.0) for i in chosen]
    model.fit(
        [attributes_[i] for i in chosen], [examples[i].labels for i in chosen], sample_weight=weight, labels=LABELS
    )
    print(f"fitted to {len(chosen)} documents in {time.perf_counter() - clock:.0f} s", flush=True)
    return model


_WEIGHTS = {"real": 1.0, "printed": 0.5, "typed": 0.5, "paper": 0.7, "told": 0.5}


def _told(model: CRF, own: list[list[list[str]]], chosen: Sequence[int]) -> dict[int, Any]:
    """Return the probabilities of labels in documents."""
    p = marginals(model.potentials([own[i] for i in chosen]))
    ends = np.cumsum([len(own[i]) for i in chosen])
    return dict(zip(chosen, np.split(p, ends[:-1]), strict=True))


def _mean(one: LineModel, other: LineModel) -> LineModel:
    """Return the model whose scores are the means of those of two models."""
    return LineModel(_mean_crf(one.first, other.first), _mean_crf(one.second, other.second))


def _mean_crf(one: CRF, other: CRF) -> CRF:
    a, b = LineScores(one), LineScores(other)
    names = sorted({*a.vocabulary, *b.vocabulary})
    rows = [[scores.vocabulary.get(name, len(scores.vocabulary)) for name in names] for scores in (a, b)]
    table = (a.table[rows[0]] + b.table[rows[1]]) / 2
    used = table != 0
    small = copy(one)
    small.index_ = GivenIndex(names)
    pairs = Pairs.of(len(LABELS), np.concatenate([[0], np.cumsum(used.sum(1))]), np.nonzero(used)[1].astype(np.int16))
    trans, start, end = ((getattr(a, key) + getattr(b, key)) / 2 for key in ("trans", "start", "end"))
    small.weights_ = ChainModel(pairs, table[used], trans, start, end)
    return small


def _lighter(model: CRF, least: float = 0.04) -> CRF:
    """Return the model without the weights that hardly count, the others rounded: a smaller file."""
    chain, names = model.weights_, model.index_.names()
    kept = np.abs(chain.w) >= least
    count = np.concatenate([[0], np.cumsum(kept)])[chain.pairs.ptr]
    useful = np.diff(count) > 0
    small = copy(model)
    small.index_ = GivenIndex(name for name, used in zip(names, useful, strict=True) if used)
    pairs = Pairs.of(chain.n_labels, np.concatenate([[0], count[1:][useful]]), chain.pairs.label[kept])
    small.weights_ = ChainModel(pairs, np.round(chain.w[kept] * 64) / 64, chain.trans, chain.start, chain.end)
    return small


# -- measuring -----------------------------------------------------------------------------------------------------


def _measure(model: LineModel, examples: Sequence[Example]) -> list[tuple[float, float]]:
    """Print figures by kind of document, and return the curve of confidences."""
    judged: list[tuple[float, bool]] = []
    for kind in sorted({e.kind for e in examples}):
        chosen = [e for e in examples if e.kind == kind]
        tp = fp = fn = whole = right = wanted = given = 0
        for e in chosen:
            labels, p, pairs = model.labelled(e.page, layout=e.layout)
            reading = LineReading(list(e.page.units), labels, p, pairs)
            gold, found = spans(e.labels), spans(labels)
            firsts, guessed = {a for a, _ in gold}, {a for a, _ in found}
            tp, fp, fn = tp + len(firsts & guessed), fp + len(guessed - firsts), fn + len(firsts - guessed)
            right, wanted, given = right + len(set(gold) & set(found)), wanted + len(gold), given + len(found)
            whole += set(gold) == set(found)
            judged += [(reading.sure(a, b), (a, b) in set(gold)) for a, b in found]
        f1 = 200 * tp / max(2 * tp + fp + fn, 1)
        exact = 200 * right / max(wanted + given, 1)
        print(f"held out, {kind:8} {len(chosen):4} documents: first lines F1 {f1:.1f}, references F1 {exact:.1f}, "
              f"lists right {100 * whole / max(len(chosen), 1):.0f} %", flush=True)  # fmt: skip
    if len(judged) < 200:
        return []
    curve = isotonic([p for p, _ in judged], [good for _, good in judged])
    return [(float(x), float(y)) for x, y in zip(*_points(curve), strict=True)]


def _points(curve: Any) -> tuple[Any, Any]:
    x = np.linspace(0.0, 1.0, 41)
    return x, np.asarray(curve(x))


def spans(labels: Sequence[str]) -> list[tuple[int, int]]:
    """Return references as ranges of units, from the first line to the last; running heads may stand between."""
    found: list[tuple[int, int]] = []
    start = -1
    for i, label in enumerate([*labels, "end"]):
        if label == "ref-cont" and start >= 0:
            found[-1] = (start, i + 1)
        elif label == "ref":
            start = i
            found.append((i, i + 1))
        elif label not in ("page", "note"):
            start = -1
    return found


# -- documents -----------------------------------------------------------------------------------------------------


def _examples(options: argparse.Namespace) -> Iterator[Example]:
    segmenter = _read(options.data / "refdocs" / "normalised" / "segmenter_train.jsonl")[: options.real]
    documents = _read(options.data / "refdocs" / "normalised" / "segmentation_train.jsonl.gz")[: options.real]
    for document in [*segmenter, *(d for d in documents if d["starts"] != "unknown")]:
        units = units_of([TextLine(text) for text in document["lines"]])
        yield Example(document["id"], seen(units), refdocs_labels(document, units), True, _fold(document["id"]), "real")
    yield from _told_by(LineModel.load(options.output), documents) if options.output.exists() else ()
    rng, styles = random.Random(0), _styles(options.rendered)
    for held_out in (False, True):
        lists = [texts for d in segmenter if (_fold(d["id"]) == 0) == held_out and (texts := references(d))]
        rendered = [texts for style, texts in styles.items() if (_fold(style) == 0) == held_out]
        bodies = [body for d in documents if (_fold(d["id"]) == 0) == held_out and (body := _body(d))]
        if not lists or not bodies:
            continue
        # As many lists of real references as of rendered ones.
        lists = lists * max(1, len(rendered) // len(lists))
        maker = Maker(Material([*lists, *rendered], bodies), seed=int(held_out))
        for k in range(options.made // FOLDS if held_out else options.made):
            made = maker.one()
            kind = "printed" if made.lines[0].box else "typed"
            fold = 0 if held_out else 1 + k % (FOLDS - 1)
            yield _example(f"{kind}/{held_out}/{k}", made, rng.random() < 0.85, fold, kind)
    if options.printed is not None:
        for record in _read(options.printed):
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
    """Return a printed document, as `scripts/print_documents.py` writes it: lines, labels and places."""
    lines = [TextLine(**{**one, "box": Box(*one["box"])}) for one in record["lines"]]
    return Labelled(lines, record["labels"], {})


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


if __name__ == "__main__":
    main()
