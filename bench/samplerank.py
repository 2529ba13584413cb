"""SampleRank on the Cora references: token accuracy and seconds beside Singh, Yao, Riedel and McCallum (2010), table 1.

Subsets of 5 .. 300 labelled references drawn by random.Random(r).sample, five of each, and 1,000 without labels,
which nobody labelled. `supervised` learns from labels alone; the others are the truth functions for unlabelled text.
Settings were chosen on the development set (`--dev`); the test set is only reported. The paper's subsets, features and
pool (its own unlabelled part) are not known: equal sizes, not samples. Its times are those of one run, in its text.
"""

from __future__ import annotations

import random
import sys
import time
from statistics import mean, stdev

import numpy as np

from common import Row, arguments, compare, labelled, parsed, unlabelled, write_json
from espalier.corpus import Corpus
from espalier.features.fields import default_templates
from espalier.papers.samplerank.estimator import SampleRank
from espalier.tasks import load_task
from reference_features import reference_templates

SIZES = (5, 10, 15, 20, 25, 300)
PAPER = "Singh et al. 2010"
PUBLISHED = {
    "supervised": (66.5, 74.6, 75.6, 77.6, 79.5, 90.7),
    "self": (67.6, 75.1, 75.8, 78.6, 80.4, 88.0),
    "cons": (67.2, 75.3, 77.5, 78.6, 79.4, 88.3),
    "self+cons": (71.3, 77.0, 77.5, 79.5, 81.1, 87.4),
    "model+cons": (69.8, 75.4, 75.7, 79.3, 79.3, 90.6),
}
MINUTES = {"self": 90, "cons": 30, "self+cons": 100, "model+cons": 100}
TEMPLATES = {"default": default_templates, "references": reference_templates}


def measure(method: str, size: int, features: str, train: Corpus, pool: Corpus, held: Corpus, runs: int) -> list[Row]:
    """Fit a method on subsets of one size; compare its mean accuracy, and its fastest run."""
    task = load_task("cora")
    subsets = [random.Random(r).sample(range(len(train)), size) for r in range(runs if size < len(train) else 1)]
    scores, times = [], []
    for subset in subsets:
        part = train[np.sort(subset)]
        if method == "supervised":
            model, more = SampleRank(TEMPLATES[features]()), {}
        else:
            model = SampleRank(TEMPLATES[features](), task.rules, unlabelled_truth=method)
            more = {"unlabelled": pool}
        start = time.perf_counter()
        model.fit(part, **more)
        times.append(time.perf_counter() - start)
        scores.append(100 * model.score(held))
    what = f"cora, {features} features, {method}, {size} labelled"
    spread = f" (sd {stdev(scores):.1f})" if len(scores) > 1 else ""
    published = PUBLISHED[method][SIZES.index(size)]
    rows = [compare(what + spread, "accuracy %", mean(scores), published, PAPER, higher_is_better=True)]
    if method in MINUTES:
        rows.append(compare(what, "seconds", min(times), 60.0 * MINUTES[method], PAPER))
    return rows


def main() -> int:
    """Run the methods."""
    parser = arguments(__doc__.split("\n")[0])
    parser.add_argument("--dev", action="store_true", help="report the development set")
    parser.add_argument("--features", choices=list(TEMPLATES), default="references")
    parser.add_argument("--methods", nargs="+", choices=list(PUBLISHED), default=list(PUBLISHED))
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=SIZES)
    parser.add_argument("--runs", type=int, default=5, help="subsets of each size")
    options = parsed(parser, sizes=[5], runs=1)
    labels = load_task("cora").labels
    train, held = (
        Corpus.from_tokens(*labelled(options.data, "cora", split), vocabulary=labels)
        for split in ("train", "dev" if options.dev else "test")
    )
    pool = Corpus.from_tokens(unlabelled(options.data, "cora"))
    rows = [
        row
        for size in options.sizes
        for method in options.methods
        for row in measure(method, size, options.features, train, pool, held, options.runs)
    ]
    write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
