"""More of Chang, Ratinov and Roth (2012) with the paper's inputs: tables 5 and 10, and the curves of figures 2 to 5.

All of it learns from unlabelled text. The HMM is that of `ccm12_inputs`, the perceptron knows the word alone, and the
CRF of alternating projections has what Bellare et al. (2009) gave theirs, as far as the paper says it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from espalier.experiments.ccm12 import ALL, BREAKS, COUNTING, NONE, SIZES, SPLIT, VOCABULARY, ruled
from espalier.experiments.ccm12_figures import FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5
from espalier.experiments.ccm12_inputs import EPOCHS_9, GAMMA, WORDS, like_paper, plain
from espalier.experiments.ccm12_perceptron import TABLE_10
from espalier.experiments.ccm12_tables import TABLE_5, projected
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell
from espalier.tasks.task import load_task

__all__ = ["TABLES"]

DEPARTURES_5 = (
    VOCABULARY,
    "AP has the token features, patterns and pairs of words that the paper names; word lists are our own, since those "
    "of Bellare et al. are not to be had, and its figures are of another split",
    SPLIT,
)
DEPARTURES_10 = (
    VOCABULARY,
    COUNTING,
    "100 epochs and one cycle for the perceptron: the paper gives neither",
    SPLIT,
    BREAKS,
)
DEPARTURES_CURVES = (VOCABULARY, COUNTING, SPLIT)
"""What still differs from the paper."""

# Table 5: the base of AP is a CRF with prefixes, suffixes, word lists, patterns and words side by side.

AP_FEATURES = (
    *(one for one in load_task("cora").extractor.templates if not one.text.startswith("lexicon:")),
    *(one for one in load_task("cora-extended").extractor.templates if one.text.startswith("lexicon:")),
)


def settings_5(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    if row == "semi HMM-CCM":
        return like_paper("citations", int(column), semi=True)
    return {**TABLE_5.settings(row, column), "features": [one.text for one in AP_FEATURES]}


def measure_5(data: Data, cell: Cell) -> float:
    """Train as the row says, and test."""
    return projected(data, cell, AP_FEATURES) if "projections" in cell.settings else ruled(data, cell)


TABLE_5P = replace(
    TABLE_5,
    name="ccm12-table5-inputs",
    minutes=1.0,
    settings=settings_5,
    measure=measure_5,
    departures=DEPARTURES_5,
    remark=(
        "With 5 labelled AP is 3 below the paper and CoDL 2, both within one standard deviation over subsets; with 20 "
        "and 300 AP is above. With 5 CoDL is the best of the three, as there."
    ),
)

# Table 10: the perceptron of `ccm12-table9-inputs`, JIBT, before and after the pool.


def settings_10(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    domain, _, model = row.partition(", ")
    if model.endswith("HMM-CCM"):
        return like_paper(domain, int(column), semi=model.startswith("semi "))
    return {
        **TABLE_10.settings(row, column),
        "perceptron": {"epochs": EPOCHS_9},
        "features": WORDS,
        "codl": {"gamma": GAMMA, "cycles": 1},
    }


TABLE_10P = replace(
    TABLE_10,
    name="ccm12-table10-inputs",
    settings=settings_10,
    minutes=2.0,
    once=frozenset(size for sizes in SIZES.values() for size in sizes),
    departures=DEPARTURES_10,
    remark=(
        "All figures are of one subset, since the perceptron takes its hundred epochs over the pool, too. Rows other "
        "than `semi SP-CCM` are models of `ccm12-table3-inputs` and of JIBT in `ccm12-table9-inputs`, which have five. "
        "As in the paper, unlabelled text helps the perceptron but with 300 references, where it loses 0.3 (there "
        "0.8), and the HMM is better than the perceptron wherever labels are few. With 20 advertisements the "
        "perceptron is 1.0 below the paper: it wants more epochs (`ccm12-reasons`); with 100 the HMM is 0.7 and 1.3 "
        "below for want of line breaks."
    ),
)

# Figures 2 to 5: the curves of a plain HMM.


def settings_curve(row: str, column: str) -> dict[str, Any]:
    """Return what a cell of figures 2 and 3 is computed with."""
    domain, _, model = row.partition(", ")
    rules = ALL if model.endswith("-CCM") else NONE
    return like_paper(domain, int(column), semi=model.startswith("semi "), rules=rules)


def settings_iterations(row: str, column: str) -> dict[str, Any]:
    """Return what a cell of figure 4 is computed with."""
    return {**FIGURE_4.settings(row, column), "hmm": plain(5)}


def settings_weights(row: str, column: str) -> dict[str, Any]:
    """Return what a cell of figure 5 is computed with."""
    chosen = FIGURE_5.settings(row, column)
    return {**chosen, "hmm": plain(chosen["labelled"])}


FIGURE_2P = replace(
    FIGURE_2,
    name="ccm12-figure2-inputs",
    minutes=0.7,
    settings=settings_curve,
    departures=(*DEPARTURES_CURVES, BREAKS),
    remark=(
        "The models are those of `ccm12-table3-inputs`. Rules help at every size, most where labels are few. With 100 "
        "advertisements they are 1.0 below the paper for want of line breaks (`ccm12-reasons`)."
    ),
)
FIGURE_3P = replace(
    FIGURE_3,
    name="ccm12-figure3-inputs",
    minutes=0.1,
    settings=settings_curve,
    departures=(*DEPARTURES_CURVES, BREAKS),
    remark=(
        "An HMM that has learned under rules is better than one that has not, at every size, although it answers "
        "without them. In the paper 25 references with rules do what 300 do without; here 25 are 3.2 below and 50 are "
        "0.6 above, because the HMM of 300 is 2.1 better than the paper's. So it is with 20 advertisements and the HMM "
        "of 100: 0.7 below, within one standard deviation."
    ),
)
FIGURE_4P = replace(
    FIGURE_4,
    name="ccm12-figure4-inputs",
    minutes=1.0,
    settings=settings_iterations,
    departures=(*DEPARTURES_CURVES, BREAKS),
    remark=(
        "As in the paper hard EM is steady after five iterations, rules are worth more than either EM, and EM gets "
        "worse again: on references by 0.7 from the fifth to the tenth. On advertisements it stays where it is."
    ),
)
FIGURE_5P = replace(
    FIGURE_5,
    name="ccm12-figure5-inputs",
    minutes=0.3,
    settings=settings_weights,
    departures=DEPARTURES_CURVES,
    remark=(
        "As in the paper 0.9 is not the best weight where labels are few, and the best one falls as they grow: 0.5 "
        "with 5 labelled, 0.3 with 10 and 20. With 300 it is 0.9."
    ),
)

TABLES = (TABLE_5P, TABLE_10P, FIGURE_2P, FIGURE_3P, FIGURE_4P, FIGURE_5P)
