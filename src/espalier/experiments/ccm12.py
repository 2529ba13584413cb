"""What the tables of Chang, Ratinov and Roth (2012) share: two sets, their rules, and how a figure is measured.

Token accuracy on the test split, mean over training subsets. It is not known which subsets the paper drew, nor that the
split of the references is theirs: equal sizes are compared, not equal samples. Our advertisements lack line breaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from espalier.corpus import Corpus
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, subset

__all__ = ["METRIC", "PENALTIES", "SETS", "SOURCE", "accuracy", "needs", "published", "training", "unlabelled"]

SOURCE = "Chang, Ratinov & Roth 2012"
METRIC = "token accuracy, %"

SETS = {"citations": "cora", "ads": "ads"}
"""The directory of each domain; the task of a domain, with its rules, has its name."""

SIZES = {"citations": ("5", "10", "20", "300"), "ads": ("5", "10", "20", "100")}

PENALTIES: Mapping[str, Any] = {"penalties": "count", "over": "tokens", "kept_prior": 15.0, "violated_prior": 0.1}
"""Algorithm 1: log odds over all tokens, as in the paper. Pseudo-counts by the development sets: 0.1 violations instead
of 1 gives 0.7 points more at 5 labelled on both; counting only where a rule applies, 0.9 (references) and 1.6 (ads)
less."""


def needs(*domains: str, pool: bool = False) -> tuple[str, ...]:
    """Return the splits that tables about these domains read."""
    splits = ("train", "test", "unlabelled") if pool else ("train", "test")
    return tuple(f"{SETS[domain]}/{split}" for domain in domains for split in splits)


def published(figures: Mapping[str, tuple[float, ...]]) -> dict[str, dict[str, float | None]]:
    """Return the figures of rows named "domain, model" by training size."""
    return {row: dict(zip(SIZES[row.partition(",")[0]], values, strict=True)) for row, values in figures.items()}


def training(data: Data, cell: Cell) -> Corpus:
    """Return the training subset of a cell; its label names are those of the whole split."""
    train = data.corpus(f"{SETS[cell.settings['domain']]}/train")
    return train[subset(len(train), int(cell.column), cell.run)]


def unlabelled(data: Data, cell: Cell) -> Corpus:
    """Return the unlabelled sequences of a cell: the first `pool` of the file."""
    return data.corpus(f"{SETS[cell.settings['domain']]}/unlabelled", None)[: cell.settings["pool"]]


def accuracy(model: Any, data: Data, cell: Cell) -> float:
    """Return the token accuracy of a fitted model on the test split, in percent."""
    return 100.0 * float(model.score(data.corpus(f"{SETS[cell.settings['domain']]}/test")))
