"""How accurate the base models are, beside published figures.

    hmm, perceptron, crf    token accuracy on the Cora references: mean of five training subsets of 5, 10 and 20, drawn
                            by random.Random(r).sample, and all 300
    umass                   segment F1 at leaf level on the UMass references, labels being marked paths

Settings were chosen on the development sets (for the CRF also by cross-validation on train); the test sets are only
reported. `--dev` reports the development sets instead. The published subsets are not known: equal sizes, not samples.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import numpy as np

from common import Row, arguments, compare, labelled, parsed, write_json
from espalier.corpus import Corpus
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.crf import CRF
from espalier.estimators.hmm import HMM
from espalier.estimators.perceptron import Perceptron
from espalier.metrics import segment_scores
from reference_features import reference_templates

SIZES = (5, 10, 20, 300)
RUNS = 5

# Chang, Ratinov and Roth (2012), tables 3, 9 and 4.
HMM_PUBLISHED = (58.48, 63.37, 70.78, 86.69)
PERCEPTRON_PUBLISHED = (53.61, 63.17, 70.00, 91.69)
CRF_PUBLISHED = (51.43, 54.61, 63.92, 89.09)

CORA: dict[str, tuple[Callable[[], SequenceLabeller], tuple[float, ...]]] = {
    "hmm": (HMM, HMM_PUBLISHED),
    "hmm, punctuation": (lambda: HMM(transition_classes="punctuation"), HMM_PUBLISHED),
    "perceptron": (Perceptron, PERCEPTRON_PUBLISHED),
    "crf": (CRF, CRF_PUBLISHED),
    "crf, references": (lambda: CRF(reference_templates(), l2=0.1), CRF_PUBLISHED),
}


def cora(data: Path, split: str, largest: int, runs: int) -> list[Row]:
    """Compare every model of CORA at every size up to the largest."""
    train, held_out = (Corpus.from_tokens(*labelled(data, "cora", name)) for name in ("train", split))
    rows = []
    for name, (make, published) in CORA.items():
        for size, figure in zip(SIZES, published, strict=True):
            if size > largest:
                continue
            chosen = [random.Random(r).sample(range(len(train)), size) for r in range(runs)]
            chosen = chosen if size < len(train) else chosen[:1]  # all of them: one run, the order does not matter
            ours = mean(100 * make().fit(train[np.sort(subset)]).score(held_out) for subset in chosen)
            what = f"cora {split}, {name}, {size} labelled"
            rows.append(compare(what, "accuracy %", ours, figure, "Chang et al. 2012", higher_is_better=True))
    return rows


def umass(data: Path, split: str, iterations: int) -> list[Row]:
    """Compare the CRF on marked paths."""
    train, held_out = (Corpus.from_tokens(*labelled(data, "umass", name, "bio_paths")) for name in ("train", split))
    model = CRF(reference_templates(), l2=0.3, max_iterations=iterations).fit(train)
    f1 = 100 * segment_scores(held_out, model.predict(held_out), leaves=True).micro.f1
    what = f"umass {split}, crf, leaf segments"
    return [compare(what, "F1 %", f1, 94.44, "Anzaroot et al. 2014", higher_is_better=True)]


def main() -> int:
    """Run the sections."""
    parser = arguments(__doc__.split("\n")[0])
    parser.add_argument("--dev", action="store_true", help="report the development sets")
    parser.add_argument("--only", choices=("cora", "umass"), help="one section only")
    parser.add_argument("--largest", type=int, default=max(SIZES), help="the largest number of labelled references")
    parser.add_argument("--runs", type=int, default=RUNS, help="subsets of each size")
    parser.add_argument("--iterations", type=int, default=60, help="of the CRF on umass")
    options = parsed(parser, largest=5, runs=1, iterations=10)
    split = "dev" if options.dev else "test"
    rows: list[Row] = []
    if options.only in (None, "cora"):
        rows += cora(options.data, split, options.largest, options.runs)
    if options.only in (None, "umass"):
        rows += umass(options.data, split, options.iterations)
    write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
