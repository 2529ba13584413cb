"""A model, a learner, a decoder that hears rules, and a table: a package of your own on Espalier."""

import numpy as np

from espalier.decoders.base import Decoder, certify, evaluate, nothing_found
from espalier.estimators.base import SequenceLabeller, as_corpus, check_number, fresh, labelled_corpus
from espalier.estimators.unlabelled import TaughtLabeller
from espalier.inference import viterbi
from espalier.papers.tables.protocol import Table
from espalier.potentials import ChainBatch
from espalier.recipes.methods import Method
from espalier.store import pack_strings, unpack_strings


class WordTable(SequenceLabeller):
    """Labels each word by itself: log P(label | word), by counting."""

    kind = "word_table"  # what model files and `train --model` call it

    def __init__(self, alpha=0.5):
        self.alpha = alpha

    def fit(self, X, y=None, sample_weight=None, labels=None):
        corpus = labelled_corpus(X, y, labels)  # token lists, documents or a corpus; a label may be unknown
        weight = np.ones(len(corpus)) if sample_weight is None else np.asarray(sample_weight)
        counts = np.full((len(corpus.types), len(corpus.labels)), self.alpha)
        known = corpus.y >= 0
        np.add.at(counts, (corpus.token_ids[known], corpus.y[known]), np.repeat(weight, corpus.lengths)[known])
        self.scores_ = dict(zip(corpus.types, np.log(counts / counts.sum(axis=1, keepdims=True)), strict=True))
        self.labels_, self.training_digest_ = corpus.labels, corpus.digest()
        return self

    def potentials(self, X):
        corpus, L = as_corpus(X), len(self.labels_)
        rows = np.array([self.scores_.get(word, np.zeros(L)) for word in corpus.types]).reshape(-1, L)
        none, classes = np.zeros(L), np.zeros(corpus.n_tokens, np.int32)
        return ChainBatch(corpus.indptr, rows[corpus.token_ids], np.zeros((1, L, L)), classes, none, none)

    def state(self):
        text, offsets = pack_strings(list(self.scores_))
        return {}, {"words": text, "offsets": offsets, "scores": np.array(list(self.scores_.values()))}

    def restore(self, header, arrays):
        self.scores_ = dict(zip(unpack_strings(arrays["words"], arrays["offsets"]), arrays["scores"], strict=True))


class SelfTaught(TaughtLabeller):
    """Fits any model again to its own guesses; with held-out data the best round is kept, else the last."""

    kind = "self_taught"

    def __init__(self, model, rounds=2, keep="best"):
        self.model, self.rounds, self.keep = model, rounds, keep

    def check_parameters(self):
        check_number("rounds", self.rounds, 1, whole=True)

    def _models(self, corpus, weight, pool, held):
        model = fresh(self.model).fit(corpus, sample_weight=weight)
        yield model, None  # the supervised model; then one a round
        for _ in range(self.rounds):
            guessed = pool.with_labels(model.predict(pool), corpus.labels)
            model = model.fit_guessed(corpus, weight, guessed, np.ones(len(guessed)))
            yield model, None


METHOD = Method("from guesses", lambda model: True, ("hard", "fixed", "number"), lambda parts: SelfTaught(parts.base))


def step_by_step(problem, *, k=1, most=100):
    """Change one label at a time, the best change first, while the score under all rules grows."""
    first = viterbi(problem.folded, allow_infeasible=True)  # no labelling under the rules scores more
    y, bound = first.labels.tolist(), float(first.scores[0])
    score = evaluate(problem, y).score if bound > -np.inf else -np.inf
    for _ in range(most if bound > -np.inf else 0):
        others = [[*y[:t], j, *y[t + 1 :]] for t in range(problem.T) for j in range(problem.L)]
        best = max(others, key=lambda other: evaluate(problem, other).score, default=y)
        if evaluate(problem, best).score <= score:
            break
        y, score = best, evaluate(problem, best).score
    if score == -np.inf:
        return nothing_found(problem, bound, "steps", heuristic=True)
    return certify(problem, y, bound, "steps", heuristic=True)  # proves the answer where it reaches the bound


STEPS = Decoder("steps", step_by_step, False, "one label at a time; any rule")


def settings(row, column):
    return {"alpha": float(row.split()[-1])}


def measure(data, cell):
    train, test = (data.corpus(f"orchard/{part}") for part in ("train", "test"))
    return 100 * WordTable(**cell.settings).fit(train).score(test)


TABLE = Table(
    "word-tables", "Adverts: a table of words", "our own", "token accuracy, %", 0.1, ("orchard/train", "orchard/test"),
    {"alpha 0.1": {"test": None}, "alpha 1": {"test": None}}, settings, measure,
)  # fmt: skip
