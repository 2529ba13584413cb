"""`LineModel`: what each line of a document is, by two chains of scores and rules for what lists do.

    units     lines, cut where a reference may begin inside one             `units`
    first     a CRF over their attributes                                   `features`
    second    a CRF that also knows what the first says about the list      `lists`
    rules     declared in `lines.rules`, kept by the decoder

Long documents are read in parts: stretches without years are text, and what is left is read part by part, so time is
linear and memory is bounded.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier import store
from espalier.corpus import Corpus, Labels
from espalier.documents import pace
from espalier.documents.deciding.features import Seen, attributes, mean_around, seen
from espalier.documents.deciding.lists import list_attributes
from espalier.documents.deciding.marks import MarkChain
from espalier.documents.deciding.regions import amid_lists, continued, counted, holes, outside, rights, running_heads
from espalier.documents.deciding.units import Unit, units_of
from espalier.documents.line_words import NAMED, Look
from espalier.documents.lines import TextLine
from espalier.errors import ModelFileError
from espalier.estimators.persist import nested, unnested
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import RuleSet

__all__ = ["LABELS", "LineModel", "LineReading", "LineScores", "bundled", "shape_words"]

LABELS = ("text", "heading", "ref", "ref-cont", "page", "note")
LONGEST = 6000
"""Units that are read at once."""
LISTED = 6.0
"""What text costs in a list of references, in natural logarithms."""
OUTSIDE = 4.0
"""What a line of a reference costs where no list is, likewise."""
APART = 12
"""Lines from one number of a list to the next, if they stand on lines of their own."""
HINTED = 12.0
"""What a line gains as a running head if the reader of the file found it on other pages, too."""
REPEATED = 6.0
"""The same, if its words are found again and again outside of lists."""
OVERLAP = 150  # units that a part shares with the next
DENSE = 0.04  # share of lines with a year, below which long documents have no list
REACH = 40  # lines around each

_RULES = Path(__file__).with_name("lines.rules")
_MODEL = Path(__file__).with_name("lines.espalier")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_IN_LIST = [LABELS.index("ref"), LABELS.index("ref-cont")]
_OPEN_ENDS = frozenset(("hyphen", "comma", "open"))
_WORKS = NAMED | {"body-year"}

Float = NDArray[np.float64]


class LineReading(NamedTuple):
    """What the units of a document are.

    labels : one each; marginals : the probability of each label, in the order of `LABELS`; pairs : of each two labels
    in a row, None for the first unit of a part."""

    units: list[Unit]
    labels: list[str]
    marginals: Float
    pairs: list[Float | None]

    def sure(self, i: int, j: int) -> float:
        """Return the probability that units i to j - 1 have their labels, and that nothing goes on after them."""
        names = [LABELS.index(name) for name in self.labels[i:j]]
        p = float(self.marginals[i, names[0]])
        for k in range(i + 1, j):
            pair, before = self.pairs[k], self.marginals[k - 1, names[k - 1 - i]]
            p *= float(
                self.marginals[k, names[k - i]]
                if pair is None
                else pair[names[k - 1 - i], names[k - i]] / max(before, 1e-12)
            )
        if j < len(self.units):
            pair, on = self.pairs[j], LABELS.index("ref-cont")
            before = self.marginals[j - 1, names[-1]]
            p *= 1.0 - (float(pair[names[-1], on] / max(before, 1e-12)) if pair is not None else 0.0)
        return min(max(p, 0.0), 1.0)


class LineScores:
    """The weights of a CRF over given attributes as one table; attributes that training did not see weigh nothing.

    A CRF scores any corpus with compiled loops; for the lines of a paper, loading those takes longer than all the rest.
    The table has a row for each attribute, which is small here: six labels.
    """

    def __init__(self, model: Any) -> None:
        """Lay out the weights of a fitted `CRF`."""
        weights = model.weights_
        self.vocabulary: dict[str, int] = model.index_.vocabulary
        self.trans, self.start, self.end = weights.trans, weights.start, weights.end
        rows = np.repeat(np.arange(len(self.vocabulary)), np.diff(weights.pairs.ptr))
        # One row of zeros more, for attributes that are not known.
        self.table: NDArray[np.float64] = np.zeros((len(self.vocabulary) + 1, weights.n_labels))
        self.table[rows, weights.pairs.label] = weights.w

    def potentials(self, own: Sequence[Sequence[str]]) -> ChainBatch:
        """Return the potentials of one sequence of units, each its attributes."""
        n, unknown = len(own), len(self.vocabulary)
        if not n:
            raise ValueError("a sequence without units has no potentials")
        sizes = np.array([len(one) for one in own])
        ids = np.fromiter(
            map(self.vocabulary.get, itertools.chain.from_iterable(own), itertools.repeat(unknown)),
            np.int64,
            int(sizes.sum()),
        )
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        unary = np.add.reduceat(self.table[ids], starts, axis=0)
        return ChainBatch(np.array([0, n]), unary, self.trans[None], np.zeros(n, np.int32), self.start, self.end)


class LineModel:
    """Two CRFs over lines, and rules."""

    def __init__(
        self, first: Any, second: Any, rules: RuleSet | None = None, curve: Sequence[tuple[float, float]] = ()
    ) -> None:
        """Take fitted models over `LABELS`. curve : calibrated confidences of references, as points."""
        self.first, self.second = first, second
        self.first_scores, self.second_scores = LineScores(first), LineScores(second)
        self.rules = bundled_rules() if rules is None else rules
        self.compiled: Compiled = compile_rules(self.rules, Labels(LABELS))
        self.curve = tuple((float(x), float(y)) for x, y in curve)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LineModel:
        """Return the model of a file that `save` wrote."""
        header, arrays = store.load(path)
        if header.get("kind") != "lines":
            raise ModelFileError(f"{path}: no model of lines")
        first, second = (unnested(name, header, arrays) for name in ("first", "second"))
        rules = bundled_rules().with_penalties(header.get("penalties", {}))
        return cls(first, second, rules, header.get("curve", ()))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both models to a file; it holds data only, never code."""
        header: dict[str, Any] = {"kind": "lines", "curve": [list(point) for point in self.curve]}
        unset = bundled_rules().unset
        header["penalties"] = {rule.name: rule.penalty for rule in self.rules if rule.name in unset}
        arrays: dict[str, NDArray[Any]] = {}
        for name, model in (("first", self.first), ("second", self.second)):
            more, packed = nested(name, model)
            header.update(more)
            arrays.update(packed)
        store.save(path, header, arrays)

    def calibrated(self, p: float) -> float:
        """Return what a probability of a reference is worth."""
        if not self.curve:
            return p
        x, y = zip(*self.curve, strict=True)
        return float(np.interp(p, x, y))

    def read(self, lines: Sequence[TextLine], *, inside: bool = True, listed: bool = False) -> LineReading:
        """Return what the lines are.

        inside : look for references that begin inside lines; listed : the lines are known to be a list of references,
        so few of them are text.
        """
        units = units_of(lines, inside=inside)
        labels = ["text"] * len(units)
        marginals = np.zeros((len(units), len(LABELS)))
        marginals[:, LABELS.index("text")] = 1.0
        pairs: list[Float | None] = [None] * len(units)
        for part, kept in _parts(units):
            pace.look()
            found, p, both = self.labelled(seen(units[part]), listed=listed)
            a = kept.start - part.start
            n = kept.stop - kept.start
            labels[kept], marginals[kept], pairs[kept] = found[a : a + n], p[a : a + n], both[a : a + n]
        return LineReading(units, labels, marginals, pairs)

    def labelled(
        self, page: Seen, *, layout: bool = True, listed: bool = False
    ) -> tuple[list[str], Float, list[Float | None]]:
        """Return labels, their probabilities, and those of pairs, for one part. layout : False hides the places."""
        from espalier.decoders.probabilities import label_and_pair_marginals

        batch, labels = self.decoded(page, layout=layout, listed=listed)
        pace.look()
        own_marginals, pairs = label_and_pair_marginals(batch)
        return labels, own_marginals, [None, *pairs[1:]]

    def decoded(self, page: Seen, *, layout: bool = True, listed: bool = False) -> tuple[ChainBatch, list[str]]:
        """Return the scores of labels, without the rules, and the best labels under them."""
        from espalier.decoders.batch import decode_batch

        batch, closed = self.scored(page, layout=layout)
        pace.look()
        if listed:
            batch.unary[:, LABELS.index("text")] -= LISTED
        corpus = Corpus.from_tokens([shape_words(page)])
        found = decode_batch(batch, self.compiled, corpus, threads=1)
        labels = [LABELS[k] for k in found.labels]
        missed, numbered = holes(page, labels, closed), counted(page, labels, closed)
        for name in ("text", "note", "page"):
            batch.unary[missed, LABELS.index(name)] -= LISTED
        batch.unary[numbered, LABELS.index("ref")] += LISTED
        if missed or numbered:
            found = decode_batch(batch, self.compiled, corpus, threads=1)
        return batch, [LABELS[k] for k in found.labels]

    def scored(self, page: Seen, *, layout: bool = True) -> tuple[ChainBatch, NDArray[np.bool_]]:
        """Return the scores of labels as they are before decoding, and which units are outside of any list."""
        own = attributes(page, layout=layout)
        pace.look()
        starts, others = self.list_scores(own)
        pace.look()
        for mine, more in zip(own, list_attributes(page, starts, others, layout=layout), strict=True):
            mine += more
        pace.look()
        batch = self.second_scores.potentials(own)
        closed = outside(page, starts)
        batch.unary[:, _IN_LIST] -= OUTSIDE * closed[:, None]
        batch.unary[[unit.hint == "page" for unit in page.units], LABELS.index("page")] += HINTED
        batch.unary[[unit.hint == "item" for unit in page.units], LABELS.index("ref-cont")] -= HINTED
        batch.unary[[unit.paragraph for unit in page.units], LABELS.index("ref-cont")] -= LISTED
        batch.unary[rights(page), LABELS.index("page")] += HINTED
        batch.unary[running_heads(page, starts + others), LABELS.index("page")] += REPEATED
        between = amid_lists(page, starts)
        batch.unary[between, LABELS.index("note")] += HINTED
        goes_on = continued(page, between)
        batch.unary[goes_on, LABELS.index("ref")] -= LISTED
        batch.unary[[i for i in goes_on if i - 1 in between], LABELS.index("ref-cont")] += LISTED
        return batch, closed

    def list_scores(self, own: list[list[str]]) -> tuple[Float, Float]:
        """Return the probabilities of the first model that a unit begins a reference, and that it goes on with one."""
        from espalier.decoders.probabilities import label_and_pair_marginals

        p, _ = label_and_pair_marginals(self.first_scores.potentials(own))
        return p[:, LABELS.index("ref")], p[:, LABELS.index("ref-cont")]


def shape_words(page: Seen) -> list[str]:
    """Return the word for each unit that rules are about; see `lines.rules`."""
    found, before, within = [], "", 0  # within : units that may still belong to the entry of a numbered list
    for one, chain, unit in zip(page.looks, page.chains, page.units, strict=True):
        within -= 1
        if chain is not None and chain.up + chain.down > 5 and _counts(one, chain):
            style = one.mark[0] if one.mark is not None else ""
            word = "counted" if chain.up and style == "[n]" else "next" if chain.up > 1 else one.begin
            within = 12 if chain.down and style in ("[n]", "(n)", "n.") else 0
        elif unit.text.isdigit():
            word = "rest" if before in _OPEN_ENDS else "number"
        elif before == "hyphen" and one.mark is None:
            word = "broken"
        elif within > 0 and not (unit.inner and before == "semicolon") and not _is_work(one, before):
            word = "within"
        elif one.begin == "lower" and one.mark is None:
            word = "lower"
        elif before in _OPEN_ENDS and one.mark is None:
            word = "open"
        else:
            word = one.begin
        found.append(word)
        before = one.end
    return found


def _is_work(one: Look, before: str) -> bool:
    """Does a line begin with names and have a year, and is the line above complete?"""
    return one.begin in _WORKS and one.years > 0 and before not in _OPEN_ENDS


def _counts(one: Look, chain: MarkChain) -> bool:
    """Does a number count references? One on a line of its own may be that of a page, which are farther apart."""
    return one.mark is None or one.mark[0] != "n|" or 0 < chain.gap <= APART


def _parts(units: Sequence[Unit]) -> Iterator[tuple[slice, slice]]:
    """Yield what to read at once, and what to keep of each: all of a document that is not long."""
    n = len(units)
    if n == 0:
        return
    if n <= LONGEST:
        yield slice(0, n), slice(0, n)
        return
    for a, b in _dense(units):
        for start in range(a, b, LONGEST - 2 * OVERLAP):
            stop = min(start + LONGEST - 2 * OVERLAP, b)
            yield slice(max(start - OVERLAP, a), min(stop + OVERLAP, b)), slice(start, stop)


def _dense(units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Return the stretches of a long document that have years, with what stands around them."""
    dated = np.array([_YEAR.search(unit.text) is not None for unit in units], float)
    dense = mean_around(dated, REACH, REACH) > DENSE
    edges = np.flatnonzero(np.diff(np.concatenate([[False], dense, [False]]).astype(np.int8)))
    found: list[tuple[int, int]] = []
    for start, stop in edges.reshape(-1, 2).tolist():
        start, stop = max(start - REACH, 0), min(stop + REACH, len(units))
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], stop)
        else:
            found.append((start, stop))
    return found


@lru_cache(maxsize=1)
def bundled_rules() -> RuleSet:
    """Return the rules for lines; those whose price a model learns have none."""
    return RuleSet.from_text(_RULES.read_text("utf-8"))


@lru_cache(maxsize=1)
def bundled() -> LineModel:
    """Return the model that comes with Espalier."""
    return LineModel.load(_MODEL)
