"""The sets of `experts.py`: their parts, the features of the CRF, and the rules.

Labels are those that the library's tasks have where there is one (plain for cora and ads), else tags. `umass` is the
flat form of the UMass set: BibTeX's fields, one level. Of the seminars the first of the set's own folds is the test
part.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from common import records_of
from espalier.corpus import Corpus
from espalier.features.extract import FeatureExtractor
from espalier.rules.ruleset import RuleSet
from espalier.tasks.task import load_task

__all__ = ["SETS", "FieldSet", "Part", "SetData"]

RULES = Path(__file__).resolve().parents[1] / "examples" / "experts"
POOL_TOKENS = 20_000
"""Raw text is cut after so many tokens, so that the study ends within hours: 1,000 references would be 35,000."""


@dataclass(frozen=True)
class FieldSet:
    """A set of labelled sequences.

    directory : of the data. task : the library's task that has the CRF's features, None for the default ones.
    rules : does the task bring its rules, too? Else they are in examples/experts. accuracy : do papers report the
    accuracy of tokens? raw : has the set an unlabelled part? held_out : has it a development part?
    """

    name: str
    directory: str
    task: str | None = None
    tags: str = "bio"
    rules: bool = False
    accuracy: bool = False
    raw: bool = False
    held_out: bool = True
    l2: float = 0.1


SETS = {
    one.name: one
    for one in (
        FieldSet("cora", "cora", "cora-extended", "labels", rules=True, accuracy=True, raw=True, l2=0.5),
        FieldSet("umass", "umass_flat", "umass", l2=0.3),
        FieldSet("ads", "ads", "ads-extended", "labels", rules=True, accuracy=True, raw=True, l2=0.5),
        FieldSet("seminars", "seminars", held_out=False),
        FieldSet("addresses", "usaddress", held_out=False),
        FieldSet("wikigold", "wikigold", "entities", l2=0.02),
        FieldSet("btc", "btc", "entities", l2=0.02),
    )
}


@dataclass(frozen=True)
class Part:
    """What one cell learns from and is tested on; pool : raw text, None where nothing is left."""

    train: Corpus
    test: Corpus
    pool: list[list[str]] | None


@dataclass(frozen=True)
class SetData:
    """The sequences of a set, read when they are first needed; dev : test on the development part."""

    chosen: FieldSet
    directory: Path
    dev: bool = False

    @cached_property
    def train(self) -> Corpus:
        """The training part; with `dev` of a set without such a part, four fifths of it."""
        records = self._records("train")
        tags = [r[self.chosen.tags] for r in records]
        known = load_task(self.chosen.task).labels if self.chosen.rules and self.chosen.task else None
        return Corpus.from_tokens([r["tokens"] for r in records], tags, vocabulary=known)

    @cached_property
    def test(self) -> Corpus:
        """The part to be judged on."""
        records = self._records("dev" if self.dev else "test")
        return Corpus.from_tokens([r["tokens"] for r in records], [r[self.chosen.tags] for r in records])

    def part(self, size: str, run: int) -> Part:
        """Return the labelled sequences of a draw, the test part and the pool."""
        N = len(self.train)
        order = list(range(N))
        if size != "all":
            random.Random(run).shuffle(order)
        n = N if size == "all" else min(int(size), N)
        rest = order[n:]
        raw: Iterator[list[str]] = (self.train.tokens(i) for i in rest)
        if self.chosen.raw:
            raw = (r["tokens"] for r in records_of(self.directory, self.chosen.directory, "unlabelled"))
        pool = list(_first_tokens(raw)) if rest or self.chosen.raw else None
        return Part(self.train[np.sort(np.array(order[:n], np.int64))], self.test, pool)

    @property
    def features(self) -> FeatureExtractor | None:
        """What the CRF sees; None is the default set."""
        return None if self.chosen.task is None else load_task(self.chosen.task).extractor

    @property
    def rules(self) -> RuleSet:
        """The rules of the set."""
        if self.chosen.rules:
            assert self.chosen.task is not None
            return load_task(self.chosen.task).rules
        text = (RULES / f"{self.chosen.name}.rules").read_text(encoding="utf-8")
        return RuleSet.from_text(text, labels=self.train.labels)

    def _records(self, part: str) -> list[dict[str, Any]]:
        name = self.chosen.directory
        if name == "seminars":
            records = list(records_of(self.directory, name, "all"))
            folds = json.loads((self.directory / name / "normalised" / "folds.json").read_text(encoding="utf-8"))
            test = {*folds["test.0"]}
            if part == "test":
                return [r for r in records if r["doc"] in test]
            return self._share([r for r in records if r["doc"] not in test], part)
        if self.chosen.held_out or part == "test":
            return list(records_of(self.directory, name, part))
        return self._share(list(records_of(self.directory, name, "train")), part)

    def _share(self, records: list[dict[str, Any]], part: str) -> list[dict[str, Any]]:
        """Return all training records, or where they must give a development part, every fifth or the others."""
        if not self.dev:
            return records
        return [r for i, r in enumerate(records) if (i % 5 == 0) == (part == "dev")]


def _first_tokens(sequences: Iterator[list[str]]) -> Iterator[list[str]]:
    left = POOL_TOKENS
    for tokens in sequences:
        if left <= 0:
            return
        left -= len(tokens)
        yield tokens
