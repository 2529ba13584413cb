"""`LineModel`: what each line of a document is, by chains of scores and rules for what lists and documents do.

    units     lines, cut where a reference may begin inside one             `units`
    first     a CRF over their attributes                                   `features`
    second    a CRF that also knows what the first says about the list      `lists`
              there are two: for lines with places on pages, and without
    rules     declared in `lines.rules`, kept by the decoder
    runs      a CRF that says which runs of references are lists            `runs`, `runs.rules`

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
from espalier.documents.deciding.misread import counted, holes, running_heads
from espalier.documents.deciding.runs import RUNS, run_attributes, run_words, runs_of
from espalier.documents.deciding.units import Unit, units_of
from espalier.documents.line_words import NAMED, Look
from espalier.documents.lines import TextLine
from espalier.errors import ModelFileError
from espalier.estimators.persist import nested, unnested
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import RuleSet

__all__ = ["LABELS", "LineModel", "LineReading", "LineScores", "bundled", "compiled_runs", "shape_words"]

LABELS = ("text", "heading", "ref", "ref-cont", "page", "note")
LONGEST = 6000
"""Units that are read at once."""
LISTED = 6.0
"""What text costs in a text that is known to be a list of references, in natural logarithms."""
SAID = 12.0
"""What a line gains as a running head if the file or the line itself says so, and loses as more of a reference if the
file says that an item or a paragraph begins there, likewise."""
NOWHERE = 30.0
"""What a line of a reference costs in a run that holds none, likewise."""
APART = 12
"""Lines from one number of a list to the next, if they stand on lines of their own."""
OVERLAP = 150  # units that a part shares with the next
DENSE = 0.04  # share of lines with a year, below which long documents have no list
REACH = 40  # lines around each

_RULES, _RUN_RULES = (Path(__file__).with_name(name) for name in ("lines.rules", "runs.rules"))
_MODEL = Path(__file__).with_name("lines.espalier")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_RIGHTS = re.compile(r"(?:Copyright )?©")
_IN_LIST = [LABELS.index("ref"), LABELS.index("ref-cont")]
_OUT_OF_LIST = [LABELS.index(name) for name in ("text", "note", "page")]
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
    """Two CRFs over lines, one over runs, and rules for both."""

    def __init__(
        self,
        first: Any,
        second: Any,
        rules: RuleSet | None = None,
        curve: Sequence[tuple[float, float]] = (),
        runs: Any = None,
        placed: Any = None,
    ) -> None:
        """Take fitted models.

        first, second : over `LABELS`; curve : calibrated confidences of references, as points; runs : over `RUNS`, None
        believes every run; placed : takes the place of the second for lines that have places on pages, if there is one.
        """
        self.first, self.second, self.runs, self.placed = first, second, runs, placed
        self.placed_scores = None if placed is None else LineScores(placed)
        self.run_scores = None if runs is None else LineScores(runs)
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
        runs, placed = (unnested(name, header, arrays) if name in header else None for name in ("runs", "placed"))
        return cls(first, second, rules, header.get("curve", ()), runs, placed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both models to a file; it holds data only, never code."""
        header: dict[str, Any] = {"kind": "lines", "curve": [list(point) for point in self.curve]}
        unset = bundled_rules().unset
        header["penalties"] = {rule.name: rule.penalty for rule in self.rules if rule.name in unset}
        arrays: dict[str, NDArray[Any]] = {}
        for name, model in (
            ("first", self.first),
            ("second", self.second),
            ("runs", self.runs),
            ("placed", self.placed),
        ):
            if model is None:
                continue
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
        _, labels, p, pairs = self._decided(page, layout, listed)
        return labels, p, [None, *pairs[1:]]

    def decoded(self, page: Seen, *, layout: bool = True, listed: bool = False) -> tuple[ChainBatch, list[str]]:
        """Return the scores of labels, without the rules, and the best labels under them; runs are decided in both."""
        return self._decided(page, layout, listed)[:2]

    def _decided(self, page: Seen, layout: bool, listed: bool) -> tuple[ChainBatch, list[str], Float, list[Float]]:
        batch = self.scored(page, layout=layout)
        if listed:
            batch.unary[:, LABELS.index("text")] -= LISTED
        labels = self._best(batch, page)
        p, pairs = _marginals(batch)
        closed = np.zeros(len(page.units), bool)
        if not listed:
            closed[self.nowhere(page, labels, p)] = True
        # Lines with places have learned from papers what stands between references.
        missed = holes(page, labels, closed) if self._scores_of(page) is self.second_scores else []
        numbered = counted(page, labels, closed)
        if closed.any() or missed or numbered:
            for label in _IN_LIST:
                batch.unary[closed, label] -= NOWHERE
            for label in _OUT_OF_LIST:
                batch.unary[missed, label] -= LISTED
            batch.unary[numbered, LABELS.index("ref")] += LISTED
            labels = self._best(batch, page)
            p, pairs = _marginals(batch)
        return batch, labels, p, pairs

    def nowhere(self, page: Seen, labels: Sequence[str], marginals: Float) -> list[int]:
        """Return the units of the runs that hold no references, though their lines look like it."""
        from espalier.decoders.batch import decode_batch

        runs = runs_of(labels)
        if self.run_scores is None or not runs:
            return []
        batch = self.run_scores.potentials(run_attributes(page, labels, marginals[:, _IN_LIST].sum(1), runs))
        corpus = Corpus.from_tokens([run_words(page, labels, runs)])
        found = [RUNS[k] for k in decode_batch(batch, compiled_runs(), corpus, threads=1).labels]
        none = [run for run, kind in zip(runs, found, strict=True) if kind == "none"]
        return [i for run in none for i in range(run.first, run.behind)]

    def _best(self, batch: ChainBatch, page: Seen) -> list[str]:
        """Return the best labels under the rules."""
        from espalier.decoders.batch import decode_batch

        pace.look()
        corpus = Corpus.from_tokens([shape_words(page)])
        return [LABELS[k] for k in decode_batch(batch, self.compiled, corpus, threads=1).labels]

    def scored(self, page: Seen, *, layout: bool = True) -> ChainBatch:
        """Return the scores of labels as they are before decoding."""
        units = page.units
        own, starts, others = self.attributes_of(page, layout=layout)
        batch = self._scores_of(page).potentials(own)
        head, on = LABELS.index("page"), LABELS.index("ref-cont")
        batch.unary[running_heads(page, starts + others), head] += LISTED
        batch.unary[[unit.hint == "page" or _says_rights(unit) for unit in units], head] += SAID
        batch.unary[[unit.hint == "item" or unit.paragraph for unit in units], on] -= SAID
        return batch

    def _scores_of(self, page: Seen) -> LineScores:
        """Return the second CRF for a document."""
        return self.placed_scores if page.units[0].placed and self.placed_scores else self.second_scores

    def attributes_of(self, page: Seen, *, layout: bool = True) -> tuple[list[list[str]], Float, Float]:
        """Return the attributes of units for the second CRF, and what the first says: that each begins a reference, or
        goes on with one."""
        own = attributes(page, layout=layout)
        pace.look()
        starts, others = self.list_scores(own)
        pace.look()
        for mine, more in zip(own, list_attributes(page, starts, others, layout=layout), strict=True):
            mine += more
        pace.look()
        return own, starts, others

    def list_scores(self, own: list[list[str]]) -> tuple[Float, Float]:
        """Return the probabilities of the first model that a unit begins a reference, and that it goes on with one."""
        p, _ = _marginals(self.first_scores.potentials(own))
        return p[:, LABELS.index("ref")], p[:, LABELS.index("ref-cont")]


def _marginals(batch: ChainBatch) -> tuple[Float, list[Float]]:
    """Return the probabilities of labels, and of pairs of them."""
    from espalier.decoders.probabilities import label_and_pair_marginals

    pace.look()
    p, pairs = label_and_pair_marginals(batch)
    return p, list(pairs)


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


def _says_rights(unit: Unit) -> bool:
    """Does a line say who has the rights in the page? It is no part of what is printed there."""
    return not unit.inner and _RIGHTS.match(unit.text) is not None


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
def compiled_runs() -> Compiled:
    """Return the rules for runs."""
    return compile_rules(RuleSet.from_text(_RUN_RULES.read_text("utf-8")), Labels(RUNS))


@lru_cache(maxsize=1)
def bundled() -> LineModel:
    """Return the model that comes with Espalier."""
    return LineModel.load(_MODEL)
