"""Rules found in data: every template filled in, pruned by importance, a small set chosen, each with a price.

The steps, for N labelled sequences that the model was not trained on, and its predictions for them:

1. Fill the templates of `rules.generators` in for all fields: C candidates, some ten thousand for 60 fields.
2. Count where gold labels and predictions break each one (`discovery_clauses`): about 20 µs a candidate.
3. Keep those of importance at least 2.75 (section 5.6 of Anzaroot, Passos, Belanger & McCallum, 2014):

       imp(k) = #sequences whose prediction breaks k / #sequences whose gold labels break k

   If no gold labels break it, that is infinite where a prediction does; a rule that no prediction breaks is dropped.
4. Choose the cheapest rules that together object to every prediction that any of them separates from its gold labels
   (`relations.cover`): rule k costs 1 + #gold labellings it objects to. This drops what others imply or repeat. The
   paper keeps all important rules and lets their penalties sort them out: cover=None.
5. Learn penalties: by counting where a rule applies, or by a perceptron on these sequences with the model frozen.
6. Decode under each rule alone: which sequences does it fix, which does it break?

Only the rules that survive step 4 are ever compiled.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import UNKNOWN, Corpus, Labels
from espalier.decoders.batch import decode_batch
from espalier.errors import InputError, ResultWarning, nearest
from espalier.inference import viterbi
from espalier.learning.discovery_clauses import ClauseCounter
from espalier.learning.discovery_report import Discovery, Finding
from espalier.learning.penalties import count_penalties
from espalier.learning.penalty_training import HeldOut, train_perceptron_penalties
from espalier.learning.relations import DELIMITERS, Relation, counted
from espalier.learning.relations import cover as cheapest
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.generators import COUNT_KINDS, RELATION_KINDS, count_templates, relation_templates
from espalier.rules.ruleset import Rule, RuleSet
from espalier.rules.text import print_node

__all__ = ["TEMPLATES", "Candidate", "discover", "prune"]

TEMPLATES = (*COUNT_KINDS, *RELATION_KINDS)
PENALTIES = ("perceptron", "count", None)

FEW_NODES = 1000  # of the search behind a figure in a report

Effect = tuple[tuple[int, ...], tuple[int, ...]]
Bool = NDArray[np.bool_]
Ids = NDArray[np.int16]
News = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A rule with its clauses in the gold labels, and the sequences whose gold labels and predictions break it."""

    relation: Relation
    gold: Bool
    predicted: Bool

    @property
    def importance(self) -> float:
        """imp(k); 0 if no prediction breaks the rule."""
        gold, predicted = int(self.gold.sum()), int(self.predicted.sum())
        return predicted / gold if gold else math.inf if predicted else 0.0

    @property
    def separated(self) -> Bool:
        """The sequences whose prediction it objects to, and whose gold labels it does not."""
        return np.asarray(self.predicted & ~self.gold)


def discover(
    corpus: Corpus | tuple[Any, Any],
    model: Any,
    templates: Collection[str] = TEMPLATES,
    *,
    importance: float = 2.75,
    min_support: int = 1,
    cover: int | None = 1,
    max_rules: int | None = None,
    penalties: str | None = "count",
    bounds: Iterable[int] = range(4),
    delimiters: Sequence[str] = DELIMITERS,
    progress: News | None = None,
    jobs: int | None = None,
) -> Discovery:
    """Find rules that right labellings keep and a model's answers break.

    Parameters
    ----------
    corpus
        Labelled sequences that the model was not trained on: a Corpus, or a pair (X, y).
    model
        A fitted estimator, or its predictions: a labelled corpus, or lists of labels.
    templates
        Which kinds of rules to try: names of `count_templates` and `relation_templates`.
    importance
        How many times as often the model must break a rule as the right labels do.
    min_support
        In how many sequences a rule must say anything, at least.
    cover
        How many of the chosen rules must object to each wrong answer, where there are so many; None keeps all.
    max_rules
        The most rules to keep: those that tell the most right answers from wrong ones.
    penalties
        "count", "perceptron" (which needs a model of chains) or None.
    bounds, delimiters
        Numbers and tokens that the templates are filled with.
    progress
        Called with the news of the search.
    jobs
        Has no effect any more, and goes with the next release.

    Returns
    -------
    Discovery
        The rules with their penalties, and how often they are kept and broken; printed, it is a table.

    Examples
    --------
    >>> import espalier as es
    >>> corpus = es.Corpus.from_tokens([["Ann", "in", "Ulm"]] * 4, [["who", "O", "where"]] * 4)
    >>> found = es.discover(corpus, [["where", "O", "where"]] * 4, penalties=None)
    >>> found.rules.names[:1]
    ('n(where) <= 1',)
    """
    _check(templates, importance, penalties, max_rules)
    if jobs is not None:
        what = f"jobs={jobs!r} has no effect, and the next release has no such parameter: leave it out"
        warnings.warn(what, FutureWarning, stacklevel=2)
    tell = progress or (lambda _: None)
    labels, gold, predicted, labeller = _compared(corpus, model)
    filled = [*_filled(labels, templates, list(bounds), delimiters)]
    kept = [
        candidate
        for candidate in _evaluated(filled, gold, predicted)
        if candidate.importance >= importance and candidate.relation.support >= min_support
    ]
    tell(f"{len(kept)} of {len(filled)} candidates are important")
    chosen = prune(kept, cover, max_rules)
    tell(f"{len(chosen)} rules chosen")
    rules = RuleSet(candidate.relation.rule for candidate in chosen)
    batch = _chain(labeller, gold, penalties)
    if penalties is not None:
        rules = rules.with_penalties(_learned(penalties, compile_rules(rules, labels), gold, batch))
    tell("penalties learned")
    effects = _effects(rules, gold, batch)
    rows = tuple(_row(c, rule, e) for c, rule, e in zip(chosen, rules, effects, strict=True))
    return Discovery(labels, rules, rows, len(filled), len(kept), len(gold))


def prune(candidates: Sequence[Candidate], cover: int | None = 1, max_rules: int | None = None) -> list[Candidate]:
    """Return a covering of the candidates (all of them if `cover` is None), those that separate most first."""
    if cover is not None and candidates:
        costs = [1.0 + float(candidate.gold.sum()) for candidate in candidates]
        chosen = cheapest([candidate.separated for candidate in candidates], costs, cover)
        candidates = [candidates[k] for k in chosen]
    order = sorted(candidates, key=lambda c: (-int(c.separated.sum()), int(c.gold.sum()), -c.relation.support))
    return order[:max_rules]


def _check(templates: Collection[str], importance: float, penalties: str | None, max_rules: int | None) -> None:
    if isinstance(templates, str):
        raise InputError(f"templates is a collection of names, such as ({templates!r},)")
    for name in templates:
        if name not in (*TEMPLATES, "followed"):
            near = nearest(name, TEMPLATES, f"known: {', '.join(TEMPLATES)}, followed")
            raise InputError(f"unknown template {name!r}", hint=near)
    if not importance >= 0:
        raise InputError(f"importance is {importance!r}", hint="expected a number of at least 0")
    if penalties not in PENALTIES:
        raise InputError(f"penalties is {penalties!r}", hint="expected 'perceptron', 'count' or None")
    if max_rules is not None and (isinstance(max_rules, bool) or max_rules < 0):
        raise InputError(f"max_rules is {max_rules!r}", hint="expected a whole number or None")


def _compared(corpus: Corpus | tuple[Any, Any], model: Any) -> tuple[Labels, Corpus, Corpus, Any]:
    """Return the labels, the corpus with gold and with predicted ones, and the estimator, if there is one.

    Tokens whose gold label is unknown, or one that the model cannot give, are unknown on both sides.
    """
    if isinstance(corpus, tuple) and len(corpus) == 2:
        corpus = Corpus.from_tokens(*corpus)
    if not isinstance(corpus, Corpus):
        raise InputError(
            f"discover takes a labelled Corpus or a pair (X, y), not {type(corpus).__name__}",
            hint="see `Corpus.from_tokens`",
        )
    if corpus.y is None or corpus.labels is None or not len(corpus):
        raise InputError("discover compares predictions with labels", hint="the corpus is empty or has none")
    if isinstance(model, str) or hasattr(model, "extract_many"):
        what = "a string" if isinstance(model, str) else f"an {type(model).__name__}"
        hint = "espalier.load(path).model is the one in a file" if isinstance(model, str) else "its .model is one"
        raise InputError(f"discover takes a fitted estimator or its predictions, not {what}", hint=hint)
    if hasattr(model, "predict"):
        predictions, labeller = model.predict(corpus), model  # an estimator that is not fitted says so
        labels = Labels(model.labels_)
    else:
        predictions, labeller = model.all_labels() if isinstance(model, Corpus) else model, None
        seen = sorted({name for y in predictions for name in y if name is not None} - set(corpus.labels))
        labels = Labels([*corpus.labels, *seen])
    position = {name: i for i, name in enumerate(labels)}
    ids = np.array([position.get(name, UNKNOWN) for name in corpus.labels] + [UNKNOWN], np.int16)
    y = ids[corpus.y]
    if ((y == UNKNOWN) & (corpus.y != UNKNOWN)).any():
        missing = [name for name, i in zip(corpus.labels, ids, strict=False) if i == UNKNOWN]
        warnings.warn(
            f"the model does not know the labels {', '.join(missing)}; their tokens count as unlabelled",
            ResultWarning,
            stacklevel=3,
        )
    gold = replace(corpus, y=y, labels=labels)
    theirs = replace(corpus, documents=None).with_labels(predictions, labels).y
    assert theirs is not None
    return labels, gold, replace(gold, y=np.where(y == UNKNOWN, y, theirs)), labeller


def _filled(
    labels: Labels, templates: Collection[str], bounds: Sequence[int], delimiters: Sequence[str]
) -> Iterator[tuple[str, Rule]]:
    """Fill the templates in; of rules that say the same under two names only the first."""
    seen = set()
    for template in dict.fromkeys(templates):
        rules: Iterable[Rule]
        if template in COUNT_KINDS:
            rules = count_templates(labels, (template,), bounds)
        else:
            rules = relation_templates(labels, delimiters, (template,))
        for rule in rules:
            if rule.node not in seen:
                seen.add(rule.node)
                yield template, rule


def _evaluated(filled: Iterable[tuple[str, Rule]], gold: Corpus, predicted: Corpus) -> Iterator[Candidate]:
    """Count every rule, sequence by sequence."""
    theirs, ours = ClauseCounter(predicted), ClauseCounter(gold)
    for template, rule in filled:
        clauses = ours.count(rule.node)
        broken = theirs.count(rule.node).broken > 0
        yield Candidate(counted(rule, template, clauses), clauses.broken > 0, broken)


def _chain(model: Any, corpus: Corpus, penalties: str | None) -> ChainBatch | None:
    """Return the model's potentials, None if there is no model or it is not one of chains."""
    batch = None if model is None else model.potentials(corpus)
    if isinstance(batch, ChainBatch):
        return batch
    if penalties == "perceptron":
        raise InputError("penalties='perceptron' decodes: give a fitted model of chains, or use penalties='count'")
    return None


def _learned(penalties: str, compiled: Compiled, gold: Corpus, batch: ChainBatch | None) -> NDArray[np.float64]:
    if penalties == "count":
        return count_penalties(compiled, gold, over="applicable")
    assert batch is not None
    return train_perceptron_penalties([HeldOut.of(batch, gold, compiled)], compiled)


def _effects(rules: RuleSet, gold: Corpus, batch: ChainBatch | None) -> list[Effect | None]:
    """Decode under each rule alone: which sequences have fewer wrong labels then, and which have more?

    Where the best labelling keeps a rule the rule changes nothing, so only the others are decoded again.
    """
    if batch is None:
        return [None] * rules.K
    assert gold.labels is not None
    before = viterbi(batch).labels
    counter, wrong = ClauseCounter(replace(gold, y=before)), _errors(gold, before)
    found: list[Effect | None] = []
    for rule in rules:
        open_ = np.flatnonzero(counter.count(rule.node).broken)
        change = np.zeros(len(gold), np.int64)
        if len(open_):
            part, chosen = gold[open_], ChainBatch.of([batch[i] for i in open_.tolist()])
            alone = compile_rules(RuleSet([rule]), gold.labels)
            after = decode_batch(chosen, alone, part, max_nodes=FEW_NODES).labels
            change[open_] = _errors(part, after) - wrong[open_]
        found.append((tuple(np.flatnonzero(change < 0).tolist()), tuple(np.flatnonzero(change > 0).tolist())))
    return found


def _errors(gold: Corpus, y: Ids) -> NDArray[np.int64]:
    """Return the number of wrong labels in each sequence, int64[N]."""
    assert gold.y is not None
    wrong = (gold.y != UNKNOWN) & (gold.y != y)
    return np.bincount(np.repeat(np.arange(len(gold)), gold.lengths)[wrong], minlength=len(gold))


def _row(candidate: Candidate, rule: Rule, effect: Effect | None) -> Finding:
    fixes, breaks = (None, None) if effect is None else effect
    return Finding(
        rule.name,
        template=candidate.relation.template,
        text=print_node(rule.node),
        support=candidate.relation.support,
        confidence=candidate.relation.confidence,
        gold=int(candidate.gold.sum()),
        predicted=int(candidate.predicted.sum()),
        importance=candidate.importance,
        separated=tuple(np.flatnonzero(candidate.separated).tolist()),
        penalty=rule.penalty,
        fixes=fixes,
        breaks=breaks,
    )
