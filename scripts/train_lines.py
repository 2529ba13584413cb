"""Train the model of lines that comes with Espalier: `make model`.

    python scripts/train_lines.py --data ../shared/data --rendered build/rendered --told OLD --printed FILES

It learns from documents of `refdocs` (their train part), from lists that are made in many layouts, and from papers that
were printed with known lines (`line_examples.py`). A model is two CRFs: the second one learns from what the first says
about documents that it has not seen, by folds. A fifth of all documents is held out. On these the penalties of the
rules are learned, with the CRFs as they are, and the confidences are calibrated; the figures that are printed are
theirs, too. With `--with FILE`, the weights of both CRFs are the means of theirs and of that file's, before penalties
and calibration. With `--model FILE` nothing is fitted, and FILE takes the place of the new model.

What ships is one model, no mean, by the command of `make model`. Papers are printed anew each time, and `--told` is the
file that shipped before, so two runs give models that are alike, not the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from line_examples import Example, read_examples

from espalier.corpus import Corpus, Labels
from espalier.documents.deciding.features import attributes
from espalier.documents.deciding.lists import list_attributes
from espalier.documents.deciding.model import LABELS, LineModel, LineReading, LineScores, bundled_rules, shape_words
from espalier.estimators.crf import CRF
from espalier.extract.calibrating import isotonic
from espalier.features.matrix import GivenIndex
from espalier.inference import marginals
from espalier.learning.penalty_training import HeldOut, train_perceptron_penalties
from espalier.models.linear import ChainModel, Pairs
from espalier.rules.compile import compile_rules

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Train, learn penalties, calibrate, save."""
    options = _options()
    clock = time.perf_counter()
    examples = list(read_examples(options))
    units = sum(len(e.labels) for e in examples)
    print(f"{len(examples)} documents, {units} units, {time.perf_counter() - clock:.0f} s", flush=True)
    if options.model is not None:
        model = LineModel.load(options.model)
    else:
        model = _fitted(examples, [attributes(e.page, layout=e.layout) for e in examples], options)
    if options.mean_with is not None:
        model = _mean(model, LineModel.load(options.mean_with), options.share)
    held_out = [e for e in examples if e.fold == 0]
    model = _with_penalties(LineModel(lighter(model.first), lighter(model.second)), held_out)
    model = LineModel(model.first, model.second, model.rules, _measure(model, held_out))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    model.save(options.output)
    print(f"{options.output.name}: {options.output.stat().st_size / 1e3:.0f} kB, {time.perf_counter() - clock:.0f} s")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--rendered", type=Path, default=ROOT / "build" / "rendered", help="directory of rendered references"
    )
    parser.add_argument("--printed", type=Path, nargs="*", default=[], help="files of papers: lines, labels, places")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "src" / "espalier" / "documents" / "deciding" / "lines.espalier"
    )
    parser.add_argument(
        "--with", dest="mean_with", type=Path, metavar="FILE", help="a model of lines to take the mean with"
    )
    parser.add_argument("--share", type=float, default=0.5, help="how much of the mean is the new model")
    parser.add_argument("--model", type=Path, metavar="FILE", help="take this model, and fit none")
    parser.add_argument("--told", type=Path, metavar="FILE", help="a model that says where lists begin references")
    parser.add_argument("--seed", type=int, default=0, help="of what is made")
    parser.add_argument("--made", type=int, default=1200, help="documents to make")
    parser.add_argument("--real", type=int, help="documents of refdocs to use; all if not given")
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--l2", type=float, default=1.0)
    parser.add_argument("--min-count", type=int, default=8)
    return parser.parse_args()


# -- models --------------------------------------------------------------------------------------------------------


def _fitted(examples: Sequence[Example], own: list[list[list[str]]], options: argparse.Namespace) -> LineModel:
    """Return both CRFs; the second sees what the first says about documents of other folds."""
    kept = [i for i, e in enumerate(examples) if e.fold != 0]
    scores: dict[int, Any] = {}
    for folds in ((1, 2), (3, 4)):
        learn, tell = [i for i in kept if examples[i].fold not in folds], [i for i in kept if examples[i].fold in folds]
        if not learn or not tell:
            learn = tell = kept
        scores.update(_told(_crf(options, examples, own, learn, options.iterations // 2), own, tell))
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


def _crf(
    options: argparse.Namespace, examples: Sequence[Example], attributes_: Any, chosen: Sequence[int], most: int = 0
) -> CRF:
    """Fit a CRF to documents. most : iterations, where its answers only have to be near."""
    clock = time.perf_counter()
    model = CRF(l2=options.l2, max_iterations=most or options.iterations, min_count=options.min_count)
    weight = [_WEIGHTS.get(examples[i].kind, 1.0) for i in chosen]
    model.fit(
        [attributes_[i] for i in chosen], [examples[i].labels for i in chosen], sample_weight=weight, labels=LABELS
    )
    print(f"fitted to {len(chosen)} documents in {time.perf_counter() - clock:.0f} s", flush=True)
    return model


_WEIGHTS = {"real": 1.0, "printed": 0.5, "typed": 0.5, "paper": 1.0, "told": 0.5}


def _told(model: CRF, own: list[list[list[str]]], chosen: Sequence[int]) -> dict[int, Any]:
    """Return the probabilities of labels in documents."""
    p = marginals(model.potentials([own[i] for i in chosen]))
    ends = np.cumsum([len(own[i]) for i in chosen])
    return dict(zip(chosen, np.split(p, ends[:-1]), strict=True))


def _mean(one: LineModel, other: LineModel, share: float) -> LineModel:
    """Return the model whose scores are the weighted means of those of two models. share : of the first."""
    return LineModel(_mean_crf(one.first, other.first, share), _mean_crf(one.second, other.second, share))


def _mean_crf(one: CRF, other: CRF, share: float) -> CRF:
    a, b = LineScores(one), LineScores(other)
    names = sorted({*a.vocabulary, *b.vocabulary})
    rows = [[scores.vocabulary.get(name, len(scores.vocabulary)) for name in names] for scores in (a, b)]
    table = share * a.table[rows[0]] + (1 - share) * b.table[rows[1]]
    used = table != 0
    small = copy(one)
    small.index_ = GivenIndex(names)
    pairs = Pairs.of(len(LABELS), np.concatenate([[0], np.cumsum(used.sum(1))]), np.nonzero(used)[1].astype(np.int16))
    trans, start, end = (share * getattr(a, k) + (1 - share) * getattr(b, k) for k in ("trans", "start", "end"))
    small.weights_ = ChainModel(pairs, table[used], trans, start, end)
    return small


def lighter(model: CRF, least: float = 0.04) -> CRF:
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


def _with_penalties(model: LineModel, examples: Sequence[Example]) -> LineModel:
    """Return the model with rules whose penalties are learned on documents that it has not seen."""
    rules = bundled_rules()
    compiled = compile_rules(rules, Labels(LABELS))
    parts = []
    for e in examples:
        batch = model.scored(e.page, layout=e.layout)
        corpus = Corpus.from_tokens([shape_words(e.page)], [e.labels], vocabulary=Labels(LABELS))
        parts.append(HeldOut.of(batch, corpus, compiled))
    learned = train_perceptron_penalties([part for part in parts if len(part.corpus)], compiled, rate=0.1, threads=1)
    penalties = {name: round(float(p), 3) for name, p in zip(rules.names, learned, strict=True) if name in rules.unset}
    print("penalties: " + ", ".join(f"{name} {p:g}" for name, p in penalties.items()), flush=True)
    return LineModel(model.first, model.second, rules.with_penalties(penalties))


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
    return [(float(x), float(y)) for x, y in zip(*points(curve), strict=True)]


def points(curve: Any) -> tuple[Any, Any]:
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


if __name__ == "__main__":
    main()
