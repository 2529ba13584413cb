"""Adapt the model of lines to real papers, and train the model of runs: `lines.espalier`.

    python scripts/adapt_lines.py --data ../shared/data --told OLD --output NEW

OLD is a model of `train_lines.py`. For lines that have places on pages, a copy of its second CRF is fitted to the
papers of `excite` (`real_papers.py`), to documents of `refdocs` and to lists that are made, with its weights as prior:
few papers move them only where they must. What the runs of references in a document are is learned from readings of
papers that the reader has not seen, by folds of papers. The figures that are printed are of these folds, too: no paper
is read by a model that has seen it. A fifth of `refdocs` and of what is made is held out; with the papers of the folds
it says what confidences are worth.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from line_examples import read_examples
from numpy.typing import NDArray
from real_papers import Paper, Row, figures, labelled, read_papers, row, simulated
from train_lines import ROOT, lighter, points, spans

from espalier.documents.cutting.finding import findings_of
from espalier.documents.deciding.features import Seen, seen
from espalier.documents.deciding.model import LABELS, LineModel, LineReading
from espalier.documents.deciding.runs import RUNS, LineRun, run_attributes, run_words, runs_of
from espalier.documents.deciding.units import units_of
from espalier.estimators.crf import CRF, Learned
from espalier.extract.calibrating import isotonic
from espalier.features.matrix import GivenIndex
from espalier.models.linear import ChainModel, Pairs

FOLDS = 4
REACH = 50
"""Lines around a list that are learned from; the rest of a paper is easy."""
OFTEN = 15
"""Times that an attribute stands in documents, if the model gets a weight for it that it had none for."""
NOTES = 30
"""References of a run of notes, at most."""

_IN_LIST = [LABELS.index("ref"), LABELS.index("ref-cont")]


class Given(NamedTuple):
    """A document to learn from. own : its attributes; starts, others : what the first CRF says; fold : of papers."""

    page: Seen
    own: list[list[str]]
    labels: list[str]
    starts: NDArray[np.float64]
    others: NDArray[np.float64]
    layout: bool
    weight: float
    fold: int
    paper: Paper | None = None


def main() -> None:
    """Adapt, measure by folds, save."""
    options = _options()
    old = LineModel.load(options.told)
    papers = [_of_paper(old, paper) for paper in read_papers(options.data, options.kept, options.papers)]
    others = list(_others(old, options))
    print(f"{len(papers)} papers, {len(others)} other documents, {time.process_time():.0f} s", flush=True)
    taught = [one for one in others if one.fold != 0]
    index = _index(old.second, papers + taught)
    judged: list[tuple[float, bool]] = []
    read: list[tuple[Given, list[str], NDArray[np.float64]]] = []
    models = {}
    for fold in range(FOLDS):
        models[fold] = _adapted(old, index, [one for one in papers if one.fold != fold] + taught, options)
        mine = [one for one in papers if one.fold == fold] + (taught if fold == 0 else [])
        read += [(one, *_read(models[fold], one)) for one in mine]
    for fold, model in models.items():
        runs = _runs([kept for kept in read if kept[0].paper is None or kept[0].fold != fold], options)
        models[fold] = LineModel(old.first, old.second, old.rules, old.curve, runs, model.placed)
    _measure(models, [one for one in papers if one.paper is not None], judged)
    model = _adapted(old, index, papers + taught, options)
    model = LineModel(old.first, old.second, old.rules, old.curve, _runs(read, options), lighter(model.placed))
    for one in others:
        if one.fold == 0:
            judged += _judged(_reading(model, one), one.labels)
    if len(judged) >= 200:
        curve = isotonic([p for p, _ in judged], [good for _, good in judged])
        model.curve = tuple((float(x), float(y)) for x, y in zip(*points(curve), strict=True))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    model.save(options.output)
    print(f"{options.output.name}: {options.output.stat().st_size / 1e3:.0f} kB, {time.process_time():.0f} s")


def _options() -> argparse.Namespace:
    model = ROOT / "src" / "espalier" / "documents" / "deciding" / "lines.espalier"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--told", type=Path, default=model, metavar="FILE", help="the model to adapt")
    parser.add_argument("--output", type=Path, default=model)
    parser.add_argument("--kept", type=Path, metavar="DIR", help="where the lines of papers are kept for the next time")
    parser.add_argument("--papers", type=int, help="papers to use; all if not given")
    parser.add_argument("--real", type=int, help="documents of refdocs to use; all if not given")
    parser.add_argument("--made", type=int, default=150, help="documents to make")
    parser.add_argument("--seed", type=int, default=5, help="of what is made")
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--l2", type=float, default=1.0, help="how near the weights of lines stay to those before")
    parser.add_argument("--runs-l2", type=float, default=1.0)
    return parser.parse_args()


# -- documents -----------------------------------------------------------------------------------------------------


def _of_paper(old: LineModel, paper: Paper) -> Given:
    units = units_of(paper.printed.lines)
    page = seen(units)
    own, starts, others = old.attributes_of(page)
    labels = labelled(paper, units, old.read(paper.printed.lines).marginals)
    fold = int(hashlib.sha1(paper.name.encode()).hexdigest(), 16) % FOLDS
    return Given(page, own, labels, starts, others, True, 1.0, fold, paper)


def _others(old: LineModel, options: argparse.Namespace) -> Iterator[Given]:
    options.rendered, options.printed, told, options.told = Path(), [], options.told, None
    for example in read_examples(options):
        own, starts, others = old.attributes_of(example.page, layout=example.layout)
        weight = 1.0 if example.kind == "real" else 0.5
        yield Given(example.page, own, example.labels, starts, others, example.layout, weight, example.fold)
    options.told = told


# -- lines ---------------------------------------------------------------------------------------------------------


def _index(second: CRF, given: Sequence[Given]) -> GivenIndex:
    """Return the attributes that the model has weights for, and those that stand often in documents."""
    times = Counter(name for one in given for unit in one.own for name in unit)
    known = second.index_.names()
    return GivenIndex([*known, *(name for name, n in times.items() if n >= OFTEN and name not in set(known))])


def _adapted(old: LineModel, index: GivenIndex, given: Sequence[Given], options: argparse.Namespace) -> LineModel:
    """Return the model with a CRF for lines with places that is fitted to documents, with the second as prior."""
    chain = old.second.weights_
    more = index.n_attributes - len(chain.pairs.ptr) + 1
    ptr = np.concatenate([chain.pairs.ptr, np.full(more, chain.pairs.ptr[-1])])
    padded = ChainModel(Pairs.of(chain.n_labels, ptr, chain.pairs.label), chain.w, chain.trans, chain.start, chain.end)
    pieces = [(one, piece) for one in given for piece in _near_lists(one)]
    crf = CRF(l2=options.l2, max_iterations=options.iterations, prior=Learned(index, old.second.labels_, padded))
    crf.fit(
        [one.own[piece] for one, piece in pieces],
        [one.labels[piece] for one, piece in pieces],
        sample_weight=[one.weight for one, _ in pieces],
        labels=LABELS,
    )
    print(f"adapted to {len(given)} documents, {time.process_time():.0f} s", flush=True)
    return LineModel(old.first, old.second, old.rules, old.curve, placed=crf.set_params(prior=None))


def _near_lists(one: Given) -> Iterator[slice]:
    """Yield the stretches of a paper around its lists, and all of any other document."""
    if one.paper is None:
        yield slice(0, len(one.labels))
        return
    listed = np.array([label in ("ref", "ref-cont", "heading") for label in one.labels])
    near = np.convolve(listed | (one.starts + one.others > 0.1), np.ones(2 * REACH + 1), "same") > 0.5
    edges = np.flatnonzero(np.diff(np.concatenate([[False], near, [False]]).astype(np.int8)))
    yield from (slice(a, b) for a, b in edges.reshape(-1, 2).tolist())


# -- runs ----------------------------------------------------------------------------------------------------------


def _read(model: LineModel, one: Given) -> tuple[list[str], NDArray[np.float64]]:
    """Return labels and their probabilities, whatever runs there are."""
    reading = _reading(model, one)
    return reading.labels, reading.marginals


def _reading(model: LineModel, one: Given) -> LineReading:
    labels, p, pairs = model.labelled(one.page, layout=one.layout)
    return LineReading(list(one.page.units), labels, p, pairs)


def _runs(read: Sequence[tuple[Given, list[str], NDArray[np.float64]]], options: argparse.Namespace) -> CRF:
    """Return the model of runs."""
    X, y = [], []
    for one, labels, p in read:
        runs = runs_of(labels)
        if runs:
            X.append(run_attributes(one.page, labels, p[:, _IN_LIST].sum(1), runs))
            y.append([_kind(one, labels, run) for run in runs])
    return CRF(l2=options.runs_l2, max_iterations=100, min_count=2).fit(X, y, labels=RUNS)


def _kind(one: Given, labels: Sequence[str], run: LineRun) -> str:
    """Return what a run is: nothing, if most of its lines are of no reference."""
    lines = [i for i in range(run.first, run.behind) if labels[i].startswith("ref")]
    if 2 * sum(one.labels[i].startswith("ref") for i in lines) <= len(lines):
        return "none"
    noted = one.paper is not None and one.paper.group in ("de_foot", "de_both")
    headed = run_words(one.page, labels, [run]) == ["headed"]
    return "notes" if noted and not headed and len(run.starts) < NOTES else "list"


# -- measuring -----------------------------------------------------------------------------------------------------


def _judged(reading: LineReading, labels: Sequence[str]) -> list[tuple[float, bool]]:
    gold = set(spans(labels))
    return [(reading.sure(a, b), (a, b) in gold) for a, b in spans(reading.labels)]


def _measure(models: dict[int, LineModel], papers: Sequence[Given], judged: list[tuple[float, bool]]) -> None:
    """Print how the references of papers are found by models that have not seen them."""
    rows: dict[str, list[Row]] = {}
    for one in papers:
        reading = _reading(models[one.fold], one)
        judged += _judged(reading, one.labels)
        assert one.paper is not None
        found = findings_of(one.paper.printed, reading, models[one.fold]).references
        for name, texts in simulated(one.paper, found):
            rows.setdefault(name, []).append(row(one.paper, texts))
    for name, some in rows.items():
        print(f"by folds, {name:15}" + "  ".join(f"{what} {100 * value:5.1f}" for what, value in figures(some)))


if __name__ == "__main__":
    main()
