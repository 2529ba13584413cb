"""What the tables of Chang, Ratinov and Roth (2012) share: two sets, their rules, and how a figure is measured.

Token accuracy on the test split, mean over training subsets. It is not known which subsets the paper drew, nor that the
split of the references is theirs: equal sizes are compared, not equal samples. Our advertisements lack line breaks.

Most cells train an HMM under rules, taught by CoDL. A *plan* is the settings of one such model, JSON values; many cells
of different tables have the same plan, and are then learned once in a process. Settings are the paper's (gamma 0.9,
five cycles, 1,000 unlabelled sequences, an HMM of first order), in every table. Advertisements would rather have 0.5:
development accuracy with 5 labelled, two subsets, is 70.0 with 0.9 and 76.4 with 0.5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from espalier.corpus import Corpus
from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.hmm import HMM
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Table, subset
from espalier.rules.ruleset import RuleSet
from espalier.tasks.task import load_task

__all__ = [
    "ALL", "BACKOFF", "BREAKS", "CODL", "COUNTING", "CURVES", "CYCLES", "EVERYTHING", "HARD", "METRIC", "NONE",
    "PENALTIES", "POOL", "SETS", "SIZES", "SPLIT", "VOCABULARY", "Accuracies", "accuracy", "build", "labelled", "needs",
    "paper_table", "plan", "pool", "published", "ruled", "scores",
]  # fmt: skip

METRIC = "token accuracy, %"
paper_table = partial(Table, source="Chang, Ratinov & Roth 2012", metric=METRIC)
"""Makes a table of this paper."""

SETS = {"citations": "cora", "ads": "ads"}
"""The directory of each domain; the task of a domain, with its rules, has its name."""

EVERYTHING = frozenset({"300"})
"""All references are labelled: one subset."""

SIZES = {"citations": ("5", "10", "20", "300"), "ads": ("5", "10", "20", "100")}

PENALTIES: Mapping[str, Any] = {"penalties": "count", "over": "tokens", "kept_prior": 15.0, "violated_prior": 0.1}
"""Algorithm 1: log odds over all tokens, as in the paper. Pseudo-counts by the development sets: 0.1 violations instead
of 1 gives 0.7 points more at 5 labelled on both; counting only where a rule applies, 0.9 (references) and 1.6 (ads)
less."""

CYCLES = 5
POOL = 1000
HARD: Mapping[str, Any] = {"penalties": "hard"}
ALL, NONE = "all", "none"
"""Names of sets of rules, beside the names of rules."""

CURVES = {"citations": ("5", "10", "20", "25", "50", "300"), "ads": ("5", "10", "20", "50", "100")}
"""Training sizes of figures 2 and 3."""

KEPT = 4096
"""Pairs of figures that a process remembers: more than all tables have."""


def needs(*domains: str, pool: bool = False) -> tuple[str, ...]:
    """Return the splits that tables about these domains read."""
    splits = ("train", "test", "unlabelled") if pool else ("train", "test")
    return tuple(f"{SETS[domain]}/{split}" for domain in domains for split in splits)


def published(
    figures: Mapping[str, tuple[float, ...] | None], sizes: Mapping[str, tuple[str, ...]] = SIZES
) -> dict[str, dict[str, float | None]]:
    """Return the figures of rows named "domain, model" by training size; those at sizes that the paper lacks are None.

    figures : at the sizes of table 3; sizes : the columns of each domain.
    """
    found = {}
    for row, values in figures.items():
        domain = row.partition(",")[0]
        known = {} if values is None else dict(zip(SIZES[domain], values, strict=True))
        found[row] = {size: known.get(size) for size in sizes[domain]}
    return found


class Accuracies(NamedTuple):
    """Token accuracy on the test split, in percent: answers under the rules, and answers of the HMM alone."""

    ruled: float
    plain: float


def plan(
    domain: str,
    size: int,
    *,
    rules: str = ALL,
    penalties: Mapping[str, Any] = PENALTIES,
    codl: Mapping[str, Any] | None,
    hmm: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the settings of a model learned from `size` labelled sequences.

    rules : ALL, NONE or the name of a rule; penalties : of the CCM; codl : parameters, None for supervised learning;
    hmm : parameters other than the usual ones.
    """
    return {
        "domain": domain,
        "labelled": size,
        "rules": rules,
        "penalties": None if rules == NONE else dict(penalties),
        "codl": None if codl is None else dict(codl),
        "hmm": dict(hmm or {}),
        "pool": None if codl is None else POOL,
    }


CODL: Mapping[str, Any] = {"gamma": 0.9, "cycles": CYCLES}
"""The parameters of CoDL in every table of the paper."""

VOCABULARY = (
    "the words of the unlabelled text are known to the supervised models, too, and the smoothing constant is by the "
    "development sets: the paper gives neither"
)
COUNTING = "penalties stay as counted on the labels while CoDL learns; algorithm 2 counts them anew"
SPLIT = "which subsets the paper drew is not known: sizes are equal, samples are not"
BREAKS = "our advertisements have lost their line breaks, which the paper's rule on punctuation counts as borders"
BACKOFF = "the HMM backs off to shapes and suffixes; the paper's is plain, and so is that of the table of its inputs"
"""Departures that several tables share."""


def labelled(data: Data, domain: str, size: int, run: int) -> Corpus:
    """Return a training subset; its label names are those of the whole split."""
    train = data.corpus(f"{SETS[domain]}/train")
    return train[subset(len(train), size, run)]


def pool(data: Data, settings: Mapping[str, Any]) -> Corpus:
    """Return the unlabelled sequences that settings ask for: the first `pool` of the file."""
    return data.corpus(f"{SETS[settings['domain']]}/unlabelled", None)[: settings["pool"]]


def accuracy(model: Any, data: Data, domain: str) -> float:
    """Return the token accuracy of a fitted model on the test split, in percent."""
    return 100.0 * float(model.score(data.corpus(f"{SETS[domain]}/test")))


def build(settings: Mapping[str, Any]) -> Any:
    """Return the unfitted HMM, or CCM of an HMM, of a plan."""
    model = HMM(threads=1, **settings["hmm"])
    if settings["rules"] == NONE:
        return model
    rules = load_task(SETS[settings["domain"]]).rules
    chosen = rules if settings["rules"] == ALL else rules.only(settings["rules"])
    if settings.get("once"):  # broken or not, however often
        chosen = RuleSet(replace(rule, once=True) for rule in chosen)
    return CCM(model, chosen, threads=1, **settings["penalties"])


def scores(data: Data, cell: Cell) -> Accuracies:
    """Learn by the plan of a cell, and test; or remember."""
    settings, directory = cell.settings, SETS[cell.settings["domain"]]
    everything = settings["labelled"] == len(data.corpus(f"{directory}/train"))
    splits = ("train", "test") if settings["codl"] is None else ("train", "test", "unlabelled")
    digests = tuple(data.digest(f"{directory}/{split}") for split in splits)
    return _scores(data, json.dumps(settings, sort_keys=True), 0 if everything else cell.run, digests)


def ruled(data: Data, cell: Cell) -> float:
    """Learn by the plan of a cell, and test under its rules: what most tables measure."""
    return scores(data, cell).ruled


@lru_cache(maxsize=KEPT)
def _scores(data: Data, text: str, run: int, _digests: tuple[str, ...]) -> Accuracies:
    settings = json.loads(text)
    domain = settings["domain"]
    model, train = build(settings), labelled(data, domain, settings["labelled"], run)
    if settings["codl"] is None:
        model.fit(train)
    else:
        model = CoDL(model, threads=1, **settings["codl"]).fit(train, unlabelled=pool(data, settings)).model_
    found = accuracy(model, data, domain)
    return Accuracies(found, accuracy(model.base_, data, domain) if isinstance(model, CCM) else found)
