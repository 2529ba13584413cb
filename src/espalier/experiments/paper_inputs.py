"""Two papers with their own inputs: Singh et al. (2010), Anzaroot et al. (2014).

Their tables with ours are in `sr10` and `sdd14_tables`; the papers' inputs of Chang, Ratinov and Roth (2012) are in
`ccm12_inputs`, those of Fersini et al. (2014) in `ilp14`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from espalier.estimators.samplerank import SampleRank
from espalier.experiments import sr10
from espalier.experiments.ccm12 import SPLIT, accuracy, labelled, needs
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place
from espalier.experiments.sdd14 import MEMBER, STUDY, Study
from espalier.experiments.sdd14_tables import paper_table as sdd14_table
from espalier.metrics import segment_scores, sequence_scores, wilcoxon
from espalier.tasks.task import load_task

__all__ = ["TABLES"]

# Singh et al.: the pool is what is left of the training and the development references; the rules are those that give a
# word a label; lambda_s and lambda_m are the paper's.

GLOBAL_RULES = ("Start", "AppearsOnce", "Punctuation")
RANKED = ("SampleRank", "Self", "Cons", "Self+Cons", "Model+Cons")
RANK_SIZES = ("5", "20", "300")


def settings_rank(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    truth = None if row == "SampleRank" else row.lower()
    rank = {"unlabelled_truth": truth, "lambda_s": 10.0, "lambda_m": 1e-4} if truth else {}
    return {"labelled": int(column), "features": "cora", "rank": rank | {"alpha": 1.0}, "without": list(GLOBAL_RULES)}


def measure_rank(data: Data, cell: Cell) -> float:
    """Learn from the labels and from the other references without theirs, and test."""
    chosen, task = cell.settings, load_task("cora")
    train = labelled(data, "citations", chosen["labelled"], cell.run)
    own = {tuple(train.tokens(i)) for i in range(len(train))}
    others = [data.corpus(f"cora/{split}", None) for split in ("train", "dev")]
    raw = [one.tokens(i) for one in others for i in range(len(one)) if tuple(one.tokens(i)) not in own]
    taught = "unlabelled_truth" in chosen["rank"]
    rules = task.rules.only([name for name in task.rules.names if name not in chosen["without"]]) if taught else None
    model = SampleRank(task.extractor, rules, threads=1, **chosen["rank"])
    return accuracy(model.fit(train, unlabelled=raw if taught else None), data, "citations")


RANK_TABLE = replace(
    sr10.TABLE,
    name="sr10-inputs",
    metric="token accuracy, %",
    minutes=0.3,
    needs=(*needs("citations"), "cora/dev"),
    published={
        row: {size: sr10.FIGURES[row][sr10.SIZES.index(size)] for size in RANK_SIZES} for row in RANKED
    },
    settings=settings_rank,
    measure=measure_rank,
    cells=(),
    charts={},
    departures=(
        "features are those of the task, without word lists: the paper's are not known", SPLIT,
    ),
    remark="With 300 labelled what is left for the pool hurts, there as here; with 5 and 20 rules in the pool help.",
)  # fmt: skip

# Anzaroot et al.: segments of all levels, or of leaves alone; weights of labels of one leaf shared, or not, as there.

LEAF, EVERY = "leaf", "all levels"
SHARING = {"not shared": False, "shared": True}
SYSTEMS = ("CRF", "only-one", "all")
TESTS = {"p, leaf": ("CRF", LEAF), "p, all levels": ("CRF", EVERY), "p, all levels, to only-one": ("only-one", EVERY)}
N_TESTS = 2 * len(TESTS)
CORRECTED = "corrected p, all levels"
FIGURES_LEVELS: dict[str, dict[str, float | None]] = {
    f"{sharing}, {system}": {LEAF: None, EVERY: {"CRF": 94.44, "only-one": 94.62, "all": 95.39}[system]}
    | (dict.fromkeys([*TESTS, CORRECTED]) if system == "all" else {})
    for sharing in SHARING
    for system in SYSTEMS
}


def settings_levels(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    return {"study": STUDY | {"members": [MEMBER | {"shared": SHARING[row.partition(", ")[0]]}]}}


def measure_levels(data: Data, cell: Cell) -> dict[Place, float]:
    """Label the test references without rules, with one segment of each field, and with all rules."""
    study, sharing = Study.of(data, cell), cell.row.partition(", ")[0]
    labels = {"CRF": study.plain()}
    labels |= {system: study.constrained(study.rules(system))[0] for system in SYSTEMS[1:]}
    gold, found = study.test.all_labels(), {}
    for system, y in labels.items():
        for column, leaves in ((LEAF, True), (EVERY, False)):
            found[f"{sharing}, {system}", column] = 100.0 * segment_scores(gold, y, leaves=leaves).micro.f1
    row = f"{sharing}, all"
    for column, (other, level) in TESTS.items():
        before, after = (sequence_scores(gold, y, leaves=level == LEAF) for y in (labels[other], labels["all"]))
        found[row, column] = wilcoxon(before, after).p_value
    found[row, CORRECTED] = min(1.0, N_TESTS * found[row, "p, all levels"])
    return found


LEVELS_TABLE = sdd14_table(
    name="sdd14-levels",
    title="Count constraints on UMass references: F1 of leaves and of all levels, weights shared or not",
    metric="field F1, %; p of the gain",
    minutes=0.4,
    published=FIGURES_LEVELS,
    settings=settings_levels,
    measure=measure_levels,
    cells=tuple((f"{sharing}, CRF", LEAF) for sharing in SHARING),
    once=frozenset({LEAF}),
    departures=(
        "the paper has a rule-based splitter as a feature, and shares no weights",
        "it does not say how nested segments count: its figures stand beside those of all levels",
        f"p is two-sided, of each reference's F1; the last column is Bonferroni's, for {N_TESTS} tests",
    ),
    remark=(
        "Without sharing the CRF is 0.2 below the paper, which has a segmenter as a feature: without features of "
        "chunks a segmenter brings 0.3 (`sdd14-segmenter`)."
    ),
)

TABLES = (RANK_TABLE, LEVELS_TABLE)
