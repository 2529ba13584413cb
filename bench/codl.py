"""Constraint-driven learning: how long it takes, and how accurate it is beside published figures.

    speed       20 labelled references, 1,000 unlabelled ones, 5 cycles under the 12 rules of the task, decoded exactly;
                and the best configuration (`espalier.papers.tables.ours`), word classes included
    citations   token accuracy on references, mean of five training subsets of 5, 10 and 20 (random.Random(r).sample),
                and all 300
    ads         the same on advertisements of flats: 5, 10, 20 and 100

Settings were chosen on the development sets (`--dev` reports those); the test sets are only reported. The published
subsets are not known: equal sizes, not samples.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from statistics import mean

from common import Row, arguments, compare, labelled, parsed, unlabelled, wall_time, write_json
from espalier.corpus import Corpus
from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.hmm import HMM
from espalier.features.word_classes import WordClasses
from espalier.papers.tables.data import Data
from espalier.papers.tables.ours import TEXT, recipe, settings
from espalier.tasks.task import Task, load_task

RUNS = 5
POOL = 1000
BUDGET = 3.0  # seconds
BUDGET_OF_BEST = 20.0

# Task -> directory, sizes, and the semi-supervised HMM-CCM of Chang, Ratinov and Roth (2012), table 3.
SETS = {
    "citations": ("cora", (5, 10, 20, 300), (77.65, 81.51, 85.11, 94.32)),
    "ads": ("ads", (5, 10, 20, 100), (70.79, 75.40, 77.56, 82.00)),
}


def learner(task: Task, size: int) -> CoDL:
    """Return the learner of a task, with the settings that its development set chose: more labels, more weight."""
    if task.name == "ads":
        return CoDL(CCM(HMM(), task.rules), gamma=0.5 if size < 100 else 0.7)
    return CoDL(CCM(HMM(transition_classes="punctuation"), task.rules), gamma=0.7)


def corpora(data: Path, name: str, *splits: str) -> list[Corpus]:
    """Read splits of a data set, and the first sequences of its unlabelled pool."""
    known = [Corpus.from_tokens(*labelled(data, name, split)) for split in splits]
    return [*known, Corpus.from_tokens(unlabelled(data, name, POOL))]


def speed(data: Path, rounds: int) -> list[Row]:
    """Time one learner on 20 references."""
    task = load_task("cora")
    train, pool = corpora(data, "cora", "train")
    subset = train[sorted(random.Random(0).sample(range(len(train)), 20))]
    rows = []
    for name, base in (("hmm", HMM()), ("hmm, punctuation", HMM(transition_classes="punctuation"))):
        model = CoDL(CCM(base, task.rules), cycles=5)
        seconds = wall_time(
            lambda model=model: model.fit(subset, labels=task.labels.names, unlabelled=pool), repeat=2 * rounds
        )
        proven = min(cycle.certified for cycle in model.history_)
        what = f"cora, codl of {name}, {len(model.history_)} cycles, {100 * proven:.1f}% proven"
        rows.append(compare(what, "s", seconds, BUDGET, "budget"))
    return [*rows, best(data, subset, pool, rounds)]


def best(data: Path, subset: Corpus, pool: Corpus, rounds: int) -> Row:
    """Time the best configuration, from raw text on."""
    text = [Data(data).corpus(split, None) for split in TEXT["citations"]]

    def learn() -> None:
        classes = WordClasses.learn(text)
        model = recipe(settings("citations, recipe", "20"), classes)
        model.fit(subset, labels=load_task("cora").labels.names, unlabelled=pool)

    seconds = wall_time(learn, repeat=rounds)
    return compare("cora, co-trained CRF and HMM, 66 rules, 2 cycles", "s", seconds, BUDGET_OF_BEST, "budget")


def accuracy(data: Path, name: str, split: str, only: int | None, runs: int) -> list[Row]:
    """Compare one task at every size, or at one."""
    directory, sizes, published = SETS[name]
    task = load_task(directory)
    train, held_out, pool = corpora(data, directory, "train", split)
    rows = []
    for size, figure in zip(sizes, published, strict=True):
        if only not in (None, size):
            continue
        chosen = [sorted(random.Random(r).sample(range(len(train)), size)) for r in range(runs)]
        chosen = chosen if size < len(train) else chosen[:1]  # all of them: one run, the order does not matter
        models = [
            learner(task, size).fit(train[subset], labels=task.labels.names, unlabelled=pool) for subset in chosen
        ]
        ours = mean(100 * model.score(held_out) for model in models)
        what = f"{name} {split}, codl, {size} labelled"
        rows.append(compare(what, "accuracy %", ours, figure, "Chang et al. 2012", higher_is_better=True))
    return rows


def main() -> int:
    """Run the sections."""
    parser = arguments(__doc__.split("\n")[0])
    parser.add_argument("--dev", action="store_true", help="report the development sets")
    parser.add_argument("--only", choices=("speed", *SETS), help="one section only")
    parser.add_argument("--size", type=int, help="one number of labelled sequences only")
    parser.add_argument("--rounds", type=int, default=2, help="of the times")
    parser.add_argument("--runs", type=int, default=RUNS, help="subsets of each size")
    options = parsed(parser, size=5, rounds=1, runs=1)
    split = "dev" if options.dev else "test"
    rows = []
    for name in [options.only] if options.only else ("speed", *SETS):
        if name == "speed":
            rows += speed(options.data, options.rounds)
        else:
            rows += accuracy(options.data, name, split, options.size, options.runs)
    write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
