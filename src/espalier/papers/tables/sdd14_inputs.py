"""Tables of Anzaroot, Passos, Belanger and McCallum (2014) as published: nothing shared, the last penalties, no search.

Those of `sdd14_tables` have weights shared among labels of a leaf and the mean of the penalties, and a search ends
what Soft-DD leaves open. Here weights are not shared, F1 is of the segments of all levels, penalties are the last ones
of a perceptron that takes a step after each reference (the paper knows no mean), and Soft-DD goes on, round by round.
The paper prints no step size: `rate / t` is the textbook's. Rounds are Viterbi passes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem
from espalier.decoders.certify import degree_matrix
from espalier.decoders.dual import decode
from espalier.inference import viterbi
from espalier.metrics import sequence_scores, wilcoxon
from espalier.papers.tables.data import Data
from espalier.papers.tables.measured import field_f1, mean, share, token_accuracy
from espalier.papers.tables.protocol import Cell, Figure, Place, Ratio
from espalier.papers.tables.sdd14 import KINDS, MEMBER, STUDY, TAGS, Study
from espalier.papers.tables.sdd14_tables import FIGURES_1, FIGURES_2, PAPER, paper_table
from espalier.tags import segments

__all__ = ["AS_PUBLISHED", "FIGURE_2", "GAPS_TABLE", "ORDERS_TABLE", "REPEATED_TABLE", "TABLE_1", "TABLE_2", "TABLE_3"]

AS_PUBLISHED = STUDY | {"members": [MEMBER | {"shared": False}], "batch": 1, "averaged": False}
AVERAGED = AS_PUBLISHED | {"batch": 32, "averaged": True}
MEAN = ", mean of penalties"
SEGMENTER = "the paper has a rule-based splitter as a feature (`sdd14-segmenter`)"
LEVELS = "the paper does not say how nested segments count: here those of all levels do"
PASSES = "five passes over the development references, rate 0.2: the paper gives neither"
DEPARTURES = (SEGMENTER, LEVELS, PASSES)

# Table 1: families of constraints.

F1, SPARSITY, KEPT, P = "F1", "sparsity", "kept", "p"
BASE, HARD = "CRF", "all, hard"
ROWS_1 = FIGURES_1 | {f"all{MEAN}": {F1: None, SPARSITY: None, KEPT: None, P: None}}


def _settings_1(row: str, column: str) -> dict[str, Any]:
    return {"study": AVERAGED if row.endswith(MEAN) else AS_PUBLISHED}


def measure_1(data: Data, cell: Cell) -> dict[Place, Figure]:
    """Find the rules of the row on development data, and test; hard ones as far as Soft-DD gets."""
    study = Study.of(data, cell)
    gold, plain = study.test.all_labels(), study.plain()
    if cell.row == BASE:
        return {(cell.row, F1): field_f1(gold, plain)}
    family = cell.row if cell.row in KINDS else "all"
    compiled, hard = study.rules(family), cell.row == HARD
    if hard:
        labels, _ = study.constrained(compiled, np.full(compiled.K, np.inf), max_nodes=0)
    else:
        labels, _ = study.constrained(compiled)
    p = wilcoxon(*(sequence_scores(gold, y) for y in (plain, labels))).p_value
    found: dict[str, Figure] = {F1: field_f1(gold, labels), P: p}
    if not hard:
        found |= {SPARSITY: 100.0 * float((compiled.rules.penalties == 0).mean()), KEPT: float(compiled.K)}
    return {(cell.row, column): value for column, value in found.items()}


TABLE_1 = paper_table(
    name="sdd14-inputs",
    title="Count constraints found on development data, soft and hard, as published, on UMass references",
    metric="field F1 of all levels and sparsity in %, constraints kept, p of the gain",
    minutes=1.5,
    published=ROWS_1,
    settings=_settings_1,
    measure=measure_1,
    cells=tuple((row, F1) for row in ROWS_1),
    once=frozenset({F1}),
    departures=DEPARTURES,
)

# What the order of the development references changes: five orders, the first one that of the file.

ORDERS = {"last penalties": AS_PUBLISHED, "mean of penalties": AVERAGED}


def _settings_orders(row: str, column: str) -> dict[str, Any]:
    return {"study": ORDERS[row]}


def measure_orders(data: Data, cell: Cell) -> dict[Place, Figure]:
    """Learn penalties from the development references in one of their orders, and test."""
    study = Study(data, json.dumps(cell.settings["study"] | {"order": cell.run}, sort_keys=True))
    compiled = study.rules("all")
    f1 = field_f1(study.test.all_labels(), study.constrained(compiled)[0])
    return {(cell.row, F1): f1, (cell.row, SPARSITY): 100.0 * float((compiled.rules.penalties == 0).mean())}


ORDERS_TABLE = paper_table(
    name="sdd14-orders",
    title="All constraints as published, their penalties learned in five orders of the development references",
    metric="field F1 of all levels and sparsity, %",
    minutes=3.0,
    published={row: {F1: 95.39, SPARSITY: 32.96} for row in ORDERS},
    settings=_settings_orders,
    measure=measure_orders,
    cells=tuple((row, F1) for row in ORDERS),
    quick=(),
    departures=DEPARTURES,
)

# Table 2 and section 7: how far Soft-DD gets, and what the rest is.
#
#     rate / t         the textbook's step; so many rounds at most
#     Polyak           the step of our decoders: aims at the best labelling known, smaller when D does not fall
#     cutting planes   multipliers where the planes met so far are least (`decoders.dual`): ends at the minimum of D
#
# What cutting planes leave open has a true duality gap: the least D lies above the best labelling of an exact search,
# so no step size can close it. A reference `needs` rounds if the plain labelling breaks a rule that costs something.

CONVERGED, ROUNDS, NEEDED, MOST = "converged", "rounds", "rounds where needed", "most rounds"
REPAIRED, LEFT, GAPS, FREE = "repaired", "left", "true gap", "rounds without gap"
RATE, POLYAK, CUTS, HARDLY = "rate / t", "Polyak", "cutting planes", "hard DD"
STEPS = {RATE: "sdd14", POLYAK: "polyak", CUTS: "cuts", HARDLY: "sdd14"}
CAP = 41
LIMITS = {RATE: (1, 2, 5, 10, CAP, 200), POLYAK: (CAP, 200), CUTS: (200,), HARDLY: (CAP,)}
COLUMNS_2 = (F1, CONVERGED, ROUNDS, NEEDED, MOST, REPAIRED, LEFT, FREE)
PAPERS_2 = {1: "1 round", 2: "2 rounds", 5: "5 rounds", 10: "10 rounds"}
WHOLE_2 = {F1: 95.39, CONVERGED: 100.0, ROUNDS: 1.83, NEEDED: 4.52, MOST: 41.0, REPAIRED: 11.99, LEFT: 11.72}


def _published_2(step: str, limit: int) -> dict[str, float | None]:
    if step == HARDLY:
        return {ROUNDS: 5.21}
    known = WHOLE_2 if limit == CAP else FIGURES_2[PAPERS_2[limit]] if limit in PAPERS_2 else {}
    more = {GAPS: None} if step == CUTS else {}
    return {column: known.get(column) if step == RATE else None for column in COLUMNS_2} | more


ROWS_2 = {f"{step}, {limit} rounds": _published_2(step, limit) for step in LIMITS for limit in LIMITS[step]}


def _settings_2(row: str, column: str) -> dict[str, Any]:
    step, _, limit = row.partition(", ")
    return {"study": AS_PUBLISHED, "step": STEPS[step], "limit": int(limit.split()[0]), "hard": step == HARDLY}


class Dual(NamedTuple):
    """What Soft-DD says of the test references: labels end to end, passes, bounds, and which are proven the best."""

    labels: NDArray[np.int16]
    rounds: NDArray[np.int64]
    bounds: NDArray[np.float64]
    proven: NDArray[np.bool_]
    needed: NDArray[np.bool_]


@lru_cache(maxsize=16)
def dual(study: Study, step: str, limit: int, hard: bool) -> Dual:
    """Decode the test references by dual decomposition alone."""
    compiled, test = study.rules("all"), study.test
    rho = np.where(hard, np.inf, compiled.rules.penalties)
    batch = study.potentials(test)
    labels, scores = viterbi(batch)
    needed = _broken(degree_matrix(compiled, test, labels), rho > 0)
    labels, rounds, bounds, proven = labels.copy(), np.ones(len(test), np.int64), scores.copy(), np.invert(needed)
    chosen = np.flatnonzero(needed)
    for i, grounded in zip(chosen.tolist(), compiled.ground_corpus(test[chosen]), strict=True):
        found = decode(Problem(batch[i], grounded, rho), step=step, max_iterations=limit)
        a, b = test.indptr[i : i + 2].tolist()
        if found.labels is not None:
            labels[a:b] = found.labels
        rounds[i], bounds[i] = found.certificate.work.viterbi, found.certificate.bound
        proven[i] = found.certificate.proven or found.labels is None
    return Dual(labels, rounds, bounds, proven, needed)


def _broken(degrees: NDArray[np.int64], priced: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which references break a rule that costs something."""
    return np.asarray((degrees[:, priced] > 0).any(axis=1), np.bool_)


def measure_2(data: Data, cell: Cell) -> dict[Place, Figure]:
    """Decode with so many rounds of a step rule, and look at what is still open."""
    study, chosen = Study.of(data, cell), cell.settings
    found = dual(study, chosen["step"], chosen["limit"], chosen["hard"])
    compiled, test = study.rules("all"), study.test
    priced = compiled.rules.penalties > 0
    broken = _broken(degree_matrix(compiled, test, found.labels), priced)
    solved = dual(study, "cuts", max(LIMITS[CUTS]), False)
    figures: dict[str, Figure] = {
        F1: field_f1(test.all_labels(), study.named(found.labels, test)),
        CONVERGED: share(found.proven),
        ROUNDS: mean(found.rounds),
        NEEDED: _where(found.needed, found.rounds),
        MOST: float(found.rounds.max()),
        REPAIRED: share(found.needed & ~broken),
        LEFT: share(found.needed & broken),
        FREE: _where(solved.proven, found.rounds),
    }
    if GAPS in ROWS_2[cell.row]:
        _, best = study.constrained(compiled)
        figures[GAPS] = share(found.bounds > best.scores + 1e-6 * np.abs(best.scores))
    return {(cell.row, column): figures[column] for column in ROWS_2[cell.row]}


def _where(holds: NDArray[np.bool_], values: NDArray[np.int64]) -> Ratio:
    """Return the mean of a value over the references for which something holds."""
    return Ratio.of(np.stack([np.where(holds, values, 0), holds], axis=1), scale=1.0)


TABLE_2 = paper_table(
    name="sdd14-soft-dd",
    title="Soft-DD round by round, by three step rules, and what no step rule can end, UMass references",
    metric="field F1 of all levels, shares of references in %, Viterbi passes a reference",
    minutes=1.0,
    published=ROWS_2,
    settings=_settings_2,
    measure=measure_2,
    cells=tuple((row, ROUNDS) for row in ROWS_2),
    once=frozenset({ROUNDS}),
    departures=(*DEPARTURES, "the paper prints no step size", "rounds of references that stay open count as the limit"),
)

# References that are open after 41 rounds of the textbook's step: why?

REASONS = ("open", "open, no gap", "open, true gap", "least gap", "largest gap")
OPEN_ROWS = {f"{step}, {CAP} rounds": STEPS[step] for step in (RATE, POLYAK)}


def _settings_gaps(row: str, column: str) -> dict[str, Any]:
    return {"study": AS_PUBLISHED, "step": OPEN_ROWS[row], "limit": CAP}


def measure_gaps(data: Data, cell: Cell) -> dict[Place, Figure]:
    """Compare the least dual, by cutting planes, with the best labelling, by exact search, for each open reference."""
    study, chosen = Study.of(data, cell), cell.settings
    found, solved = dual(study, chosen["step"], CAP, False), dual(study, "cuts", max(LIMITS[CUTS]), False)
    _, best = study.constrained(study.rules("all"))
    gaps = solved.bounds - best.scores
    still, true = ~found.proven, gaps > 1e-6 * np.abs(best.scores)
    known = gaps[still & true]
    values: list[Figure] = [
        share(still), share(still & ~true), share(still & true),
        float(known.min()) if len(known) else 0.0, float(known.max(initial=0.0)),
    ]  # fmt: skip
    return {(cell.row, column): value for column, value in zip(REASONS, values, strict=True)}


GAPS_TABLE = paper_table(
    name="sdd14-gaps",
    title="References that Soft-DD leaves open after 41 rounds: a bad step, or a true duality gap?",
    metric="shares of references in %; the gap in units of the score",
    minutes=0.5,
    published={row: dict.fromkeys(REASONS) for row in OPEN_ROWS},
    settings=_settings_gaps,
    measure=measure_gaps,
    cells=tuple((row, REASONS[0]) for row in OPEN_ROWS),
    once=frozenset({REASONS[0]}),
    departures=DEPARTURES,
)

# Table 3 and figure 2: fields that gain, and the two examples.

BEFORE, AFTER = "CRF", "Soft-DD"


def _settings_3(row: str, column: str) -> dict[str, Any]:
    return {"study": AS_PUBLISHED}


def measure_3(data: Data, cell: Cell) -> dict[Place, Figure]:
    """Score each field before and after; a field is a segment of its path at any level."""
    study = Study.of(data, cell)
    gold = study.test.all_labels()
    answers = {BEFORE: study.plain(), AFTER: study.constrained(study.rules("all"))[0]}
    return {
        (row, column): Ratio.of(
            np.array([_field_counts(g, y, row) for g, y in zip(gold, answers[column], strict=True)])
        )
        for row in PAPER
        for column in answers
    }


def _field_counts(gold: Any, found: Any, name: str) -> tuple[int, int]:
    """Return what the F1 of a field is the ratio of, in one reference."""
    true, said = ({one for one in segments(tags) if one.label == name} for tags in (gold, found))
    return 2 * len(true & said), len(true) + len(said)


TABLE_3 = paper_table(
    name="sdd14-table3-inputs",
    title="The fields that gain most from soft constraints, as published, UMass references",
    metric="field F1, %",
    minutes=0.1,
    published={name: {BEFORE: before, AFTER: after} for name, (before, after) in PAPER.items()},
    settings=_settings_3,
    measure=measure_3,
    cells=((next(iter(PAPER)), AFTER),),
    once=frozenset({AFTER}),
    departures=DEPARTURES,
    remark="These fields have few segments in the test set, so that single decisions move the figures by points.",
)

EXAMPLES = {"a book, 1 round": ("Sivia", "Skilling"), "in Russian, 7 rounds": ("Sobol'", "Matematicheskoe")}
"""The two references of figure 2, by words that no other test reference has together."""
RIGHT_BEFORE, RIGHT_AFTER = "CRF", "Soft-DD"


def measure_figure(data: Data, cell: Cell) -> dict[Place, Figure]:
    """Label the two examples before and after, and count rounds."""
    study = Study.of(data, cell)
    test, gold = study.test, study.test.all_labels()
    found = dual(study, "sdd14", CAP, False)
    answers = {RIGHT_BEFORE: study.plain(), RIGHT_AFTER: study.named(found.labels, test)}
    places = [next(i for i in range(len(test)) if set(words) <= set(test.tokens(i))) for words in EXAMPLES.values()]
    figures: dict[Place, Figure] = {}
    for row, i in zip(EXAMPLES, places, strict=True):
        figures |= {(row, column): token_accuracy([gold[i]], [labels[i]]) for column, labels in answers.items()}
        figures[row, ROUNDS] = float(found.rounds[i])
    return figures


FIGURE_2 = paper_table(
    name="sdd14-figure2",
    title="The two examples of figure 2, before and after soft constraints",
    metric="tokens with the right path, %; rounds",
    minutes=0.1,
    published={
        "a book, 1 round": {RIGHT_BEFORE: None, RIGHT_AFTER: 100.0, ROUNDS: 1.0},
        "in Russian, 7 rounds": {RIGHT_BEFORE: None, RIGHT_AFTER: 100.0, ROUNDS: 7.0},
    },
    settings=_settings_3,
    measure=measure_figure,
    cells=(("a book, 1 round", RIGHT_AFTER),),
    once=frozenset({RIGHT_AFTER}),
    departures=DEPARTURES,
)

# Some test references are among the training references, too, letter for letter.

ALL_OF_THEM, NEW, SEEN = "all", "not in training", "in training"
HOW_MANY = "references"


def measure_repeated(data: Data, cell: Cell) -> dict[Place, Figure]:
    """Score the references that are in the training split, and the others, apart."""
    study = Study.of(data, cell)
    train, test = data.corpus("umass/train", TAGS), study.test
    known = {_signs(train.tokens(i)) for i in range(len(train))}
    seen = np.array([_signs(test.tokens(i)) in known for i in range(len(test))])
    gold, figures = test.all_labels(), dict[Place, Figure]()
    answers = {BASE: study.plain(), "all": study.constrained(study.rules("all"))[0]}
    for column, chosen in ((ALL_OF_THEM, np.ones(len(test), bool)), (NEW, ~seen), (SEEN, seen)):
        some = np.flatnonzero(chosen).tolist()
        figures[HOW_MANY, column] = float(len(some))
        for row, labels in answers.items() if some else ():
            figures[row, column] = field_f1([gold[i] for i in some], [labels[i] for i in some])
    return figures


def _signs(tokens: Iterable[str]) -> str:
    """Return letters and digits alone: the same reference may be cut or marked in other ways."""
    return "".join(sign for token in tokens for sign in token.lower() if sign.isalnum())


REPEATED_TABLE = paper_table(
    name="sdd14-repeated",
    title="Test references that are among the training references, too, and all others, UMass references",
    metric="field F1 of all levels, %; how many references",
    minutes=0.1,
    published={row: dict.fromkeys((ALL_OF_THEM, NEW, SEEN)) for row in (BASE, "all", HOW_MANY)},
    settings=_settings_3,
    measure=measure_repeated,
    cells=((BASE, ALL_OF_THEM),),
    once=frozenset({ALL_OF_THEM}),
    departures=DEPARTURES,
)
