"""`ConvCRF`: a small convolutional net whose scores a CRF reads, in NumPy.

`models.conv` has the net, `learning.net_training` how it learns, `features.hashed` what it sees of a word. Its mistakes
are others than those of a CRF with declared features, so the two make good `Experts`.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import UNKNOWN, Corpus, Labels
from espalier.errors import InputError, ModelFileError
from espalier.estimators.base import (
    SequenceLabeller,
    as_corpus,
    check_kept,
    check_number,
    check_progress,
    check_sample_weight,
    fresh,
    labelled_corpus,
    listener,
    say_if_broken,
    words_alone,
)
from espalier.models.conv import STORAGES, ConvShape, ScoringNet, packed, unpacked
from espalier.parallel import choose_threads
from espalier.potentials import ChainBatch

if TYPE_CHECKING:  # what only training needs is imported where it trains
    from espalier.estimators.conv_learned import LearnedNet, Lessons
    from espalier.estimators.conv_soft import ConvProblem
    from espalier.learning.net_training import Progress, Run, Term, TrainingPlan

__all__ = ["ConvCRF"]

Float = NDArray[np.float64]

FEW = 300
"""Sequences below which a small net is taken, and learns whole sequences from its first step on."""

SIZES: dict[str, tuple[Any, Any]] = {
    "channels": (64, 128),
    "dilations": ((1, 2, 4, 8), (1, 2, 4, 8, 16, 1, 2, 4)),
    "embedding": (32, 48),
    "buckets": (8192, 32768),
}
COURSE: dict[str, tuple[Any, Any]] = {
    "epochs": (0, 14),
    "crf_epochs": (17, 3),
    "crf_rate": (2e-3, 5e-4),
    "min_steps": (300, 1000),
}
"""What is not given, for few sequences and for many: of the net, and of how it learns."""

ALWAYS = 1 << 30
"""Tokens that are worth threads: one pass may be short, but training makes many."""


@dataclass(eq=False, repr=False)
class ConvCRF(SequenceLabeller):
    """A net of gated dilated convolutions over hashed words, with a CRF over its scores.

    Parameters
    ----------
    channels, dilations, embedding, buckets : the size of the net: numbers that stand for a token, for each block how
        many tokens to both sides it looks, numbers a hashed vector, and how many vectors there are. None of them given:
        64, (1, 2, 4, 8), 32 and 8192 for fewer than 300 sequences, copies included; else, and for those that are
        missing where some are given, 128, (1, 2, 4, 8, 16, 1, 2, 4), 48 and 32768.
    kernel : tokens that a block looks at, an odd number.
    inner : numbers that a block convolves, such as 96 of 256 channels; 0: the channels themselves.
    epochs, crf_epochs, crf_rate, min_steps : passes over the data that learn token after token; passes after these that
        learn whole sequences, transitions included, and their rate; where the data are few, passes are added until
        there are so many steps. None of them given: 0, 17, 2e-3 and 300 for fewer than 300 sequences, which takes
        seconds; else, and for those that are missing where some are given, 14, 3, 5e-4 and 1000.
    batch : sequences a step; fewer where the data are few.
    rate : of learning, at its highest; it rises at first and then falls to almost nothing.
    decay : how strongly weights are drawn to 0, or to those of the prior.
    dropout : shares that learning hides at random: of words without their form (only shape and pieces are left), of
        sequences without spaces, of numbers before the first block, behind each block and before the scores. Less where
        the data are many.
    average : the share of what was before in a moving average of the weights, such as 0.999; 0 takes the last weights.
    patience : with `dev`, epochs without a better score after which a phase ends; 0 goes on to its end. In any case the
        weights of the best epoch are kept.
    warm_start : begin a second `fit` at the weights of the first, label by label.
    prior : another fitted net, or what it has learned (`other.learned_`), or None: learning begins there, `decay` draws
        the weights to it, and the shape of the net is its own. Labels may be added.
    copies : learn from so many copies of each sequence, too, whose fields have the words of other sequences; together
        they count as much as the sequence (`learning.recombination`).
    replay : a labelled Corpus of sequences that the prior knows, or None: they are learned again beside the others,
        without copies, so that less is forgotten (`learning.recombination`).
    soft_share : how much soft labels count where a sequence has labels, too.
    pool_weight : of a sequence without labels beside a labelled one, with a teacher.
    storage : of the weights in a model file: "int8", "float16" or "float32"; computing is in float32 in any case.
    shards : pieces of a batch that threads may work on; results depend on it, but not on the number of threads.
    seed : of everything random.
    threads : None takes one a core; results do not depend on it.
    progress : called after every epoch with its number, loss, held-out score and speed.

    Notes
    -----
    After `fit`: `net_` (the net), `history_` (what `progress` was called with).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.ConvCRF(channels=8, dilations=(1, 2), buckets=256, min_steps=200).fit(X, y)
    >>> model.predict([["Bob", "in", "Ulm"]])
    [['who', 'O', 'where']]
    """

    kind = "conv_crf"
    net_: ScoringNet = field(init=False)
    history_: list[Progress] = field(init=False)

    channels: int | None = None
    _: KW_ONLY
    dilations: Sequence[int] | None = None
    embedding: int | None = None
    buckets: int | None = None
    kernel: int = 3
    inner: int = 0
    epochs: int | None = None
    crf_epochs: int | None = None
    min_steps: int | None = None
    batch: int = 64
    rate: float = 2e-3
    crf_rate: float | None = None
    decay: float = 0.01
    dropout: Sequence[float] = (0.3, 0.1, 0.3, 0.1, 0.3)
    average: float = 0.0
    patience: int = 0
    warm_start: bool = False
    prior: LearnedNet | None = None
    copies: int = 0
    replay: Corpus | None = None
    soft_share: float = 0.7
    pool_weight: float = 1.0
    storage: str = "int8"
    shards: int = 4
    seed: int = 0
    threads: int | None = None
    progress: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        """Keep what a fitted prior has learned: as an estimator, copies of this one would hold it unfitted."""
        given: Any = self.prior
        self.prior = given.learned_ if isinstance(given, ConvCRF) else given

    def fit(
        self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        *,
        dev: Any = None,
        soft: Any = None,
        teacher: Any = None,
        unlabelled: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> ConvCRF:
        """Learn from sequences X and label lists y (None: unknown label); X may be a Corpus that has labels.

        Parameters
        ----------
        X, y : token lists and label lists, or a Corpus. With soft labels or a teacher there may be no labels.
        sample_weight : one number for each sequence.
        labels : fixes the label names and their order, so that labels absent from this training set exist too; else
            they are those of the teacher or of the prior, if there is one.
        dev : held-out data, a labelled Corpus or a pair (X, y): the weights of the best epoch are kept.
        soft : probabilities of the labels at each token of X, one array [T, L] a sequence, or one [M, L] in all.
        teacher : a fitted model whose marginals are soft labels, of X (unless `soft` has them) and of `unlabelled`.
        unlabelled : sequences that only the teacher labels.
        checkpoint : a file that is written after every epoch. If it is there, training goes on from it, and finds the
            same weights as without interruption.

        Returns
        -------
        ConvCRF

        Raises
        ------
        InputError : labels are missing, shapes do not fit, or the checkpoint belongs to other data or parameters.
        """
        from espalier.estimators.conv_learned import check_teacher, lessons, with_pool, with_soft_labels
        from espalier.estimators.held_out import held_out
        from espalier.estimators.unlabelled import checked_pool

        self.check_parameters()
        check_teacher(teacher)
        corpus = self._labelled(X, y, labels, soft is not None, teacher)
        assert corpus.labels is not None
        say_if_broken(corpus)
        learned = lessons(corpus, check_sample_weight(sample_weight, len(corpus)), self.copies, self.seed, self.replay)
        if unlabelled is not None:
            if teacher is None:
                raise InputError("unlabelled text is learned from a teacher", hint="pass teacher=, a fitted model")
            learned = with_pool(learned, checked_pool(unlabelled, "ConvCRF"), self.pool_weight)
        if soft is not None or teacher is not None:
            learned = with_soft_labels(learned, len(corpus), soft, teacher, self.soft_share)
        held = None if dev is None else held_out(dev, corpus.labels)
        return self.learn(learned, corpus.labels, dev=held, checkpoint=checkpoint)

    def _labelled(
        self, X: Any, y: Sequence[Sequence[str | None]] | None, labels: Sequence[str] | None, soft: bool, teacher: Any
    ) -> Corpus:
        """Return X with its labels, all of them unknown if there are none but soft ones."""
        if labels is None and teacher is not None:
            labels = teacher.labels_.names
        names = self._names(labels)
        if not soft and teacher is None:
            return words_alone(labelled_corpus(X, y, names), self)
        corpus = as_corpus(X, y, vocabulary=None if names is None else Labels(names))
        if corpus.labels is None and names is None:
            raise InputError("soft labels have no names", hint="pass labels=, the names of their columns")
        if corpus.y is not None:
            return corpus
        return replace(corpus, y=np.full(corpus.n_tokens, UNKNOWN, np.int16), labels=Labels(names or ()))

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        least = {
            "epochs": 0, "crf_epochs": 0, "min_steps": 0, "batch": 1,
            "patience": 0, "copies": 0, "shards": 1, "seed": 0,
        }  # fmt: skip
        course = self._chosen(COURSE, 0)
        for name, number in least.items():
            check_number(name, course.get(name, getattr(self, name)), number, whole=True)
        for name in ("rate", "crf_rate", "decay", "average", "soft_share", "pool_weight"):
            check_number(name, course.get(name, getattr(self, name)))
        if self.average >= 1:
            raise InputError(f"average is {self.average!r}", hint="expected a share below 1, such as 0.999")
        if self.soft_share > 1:
            raise InputError(f"soft_share is {self.soft_share!r}", hint="expected a share from 0 to 1")
        check_progress(self.progress)
        if self.dilations is not None and not hasattr(self.dilations, "__len__"):
            raise InputError(f"dilations is {self.dilations!r}", hint="expected whole numbers, such as (1, 2, 4)")
        if np.shape(self.dropout) != (5,) or not all(0 <= share <= 0.9 for share in self.dropout):
            raise InputError(f"dropout is {self.dropout!r}", hint="expected five shares from 0 to 0.9")
        if self.storage not in STORAGES:
            raise InputError(f"storage is {self.storage!r}", hint=f"expected {' or '.join(map(repr, STORAGES))}")
        if self.prior is not None:
            from espalier.estimators.conv_learned import check_prior

            check_prior(self.prior)

    def _names(self, labels: Sequence[str] | None) -> Sequence[str] | None:
        """Return the names of the labels if they are fixed; the prior's must be among them."""
        if self.prior is None:
            return labels
        check_kept(self.prior.labels, self.prior.labels if labels is None else labels)
        return self.prior.labels.names if labels is None else labels

    def _chosen(self, usual: Mapping[str, tuple[Any, Any]], n: int) -> dict[str, Any]:
        """Return parameters that go together, for n sequences: as given, else the usual ones."""
        given = {name: getattr(self, name) for name in usual}
        few = n < FEW and all(value is None for value in given.values())
        return {name: usual[name][0 if few else 1] if value is None else value for name, value in given.items()}

    def _shape(self, labels: Labels, n: int) -> ConvShape:
        """Return the shape of a net that learns from n sequences: that of the prior if there is one."""
        if self.prior is not None:
            return replace(self.prior.shape, labels=len(labels))
        if self.warm_start and hasattr(self, "net_") and all(getattr(self, name) is None for name in SIZES):
            return replace(self.net_.shape, labels=len(labels))
        sizes = self._chosen(SIZES, n)
        sizes |= {"dilations": tuple(sizes["dilations"]), "kernel": self.kernel, "inner": self.inner}
        return ConvShape(len(labels), **sizes)

    def _begin(self, shape: ConvShape, labels: Labels) -> Run:
        """Return a run that has not begun: at random weights, those of the prior, or those of the last `fit`."""
        from espalier.learning.adamw import AdamW
        from espalier.learning.net_training import Run
        from espalier.models.conv import initial

        weights, centre = initial(shape, np.random.default_rng(self.seed)), None
        if self.prior is not None:
            weights = self.prior.over(labels, weights)
            centre = {name: w.copy() for name, w in weights.items()}
        if self.warm_start and hasattr(self, "net_"):
            if replace(self.net_.shape, labels=shape.labels) != shape:
                what = "warm_start would begin at a net of another shape"
                raise InputError(what, hint="keep its sizes, or fit a new model")
            weights = self.learned_.over(labels, weights)
        mean = {name: w.copy() for name, w in weights.items()} if self.average else None
        return Run(weights, AdamW(weights, self.decay, centre), mean)

    def learn(
        self, learned: Lessons, labels: Labels, *, dev: Corpus | None = None,
        checkpoint: str | os.PathLike[str] | None = None, plan: TrainingPlan | None = None, term: Term | None = None,
    ) -> ConvCRF:  # fmt: skip
        """Find the weights; plan : if given, instead of the parameters; term : a further one of the objective."""
        from espalier.estimators.conv_learned import forbidding, scorer_of
        from espalier.learning.checkpoint import resumed, run_key, stored
        from espalier.learning.net_training import train_net

        n = len(learned.corpus)
        shape = self._shape(labels, n)
        run, data = self._begin(shape, labels), learned.data(shape.buckets)
        plan = self.plan(n) if plan is None else plan
        keep = None
        if checkpoint is not None:
            key = run_key(shape, plan, data, run)
            resumed(checkpoint, key, run)

            def keep(run: Run) -> None:
                stored(checkpoint, key, run)

        threads = choose_threads(ALWAYS, self.threads)
        score = scorer_of(dev, labels, shape, data, self.threads)
        train_net(
            run, shape, data, plan, threads=threads, score=score, progress=listener(self.progress, "ConvCRF"),
            keep=keep, term=term,
        )  # fmt: skip
        self.net_ = ScoringNet(shape, forbidding(run.result, data))
        self.history_ = run.history
        self.labels_, self.training_digest_ = labels, learned.corpus.digest()
        return self

    def plan(self, n: int) -> TrainingPlan:
        """Return how to train on n sequences, by the parameters."""
        from espalier.learning.net_training import TrainingPlan

        told = {f.name: getattr(self, f.name) for f in fields(TrainingPlan)}
        return TrainingPlan(**told | self._chosen(COURSE, n) | {"dropout": tuple(self.dropout)})

    def fit_soft(self, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> ConvProblem:
        """Return the training problem of labels and of expectations on unlabelled text."""
        from espalier.estimators.conv_soft import ConvProblem

        return ConvProblem(fresh(self), labelled, pool, weight, pool_weight)

    def mixed(
        self, labelled: Corpus, weight: Float | None, guessed: Corpus, guessed_weight: Float, gamma: float
    ) -> ConvCRF:
        """Return gamma times the weights of this net plus (1 - gamma) times those it has after the guessed sequences.

        Weights of two nets can be averaged where one was trained on from the other (Wortsman et al. 2022).
        """
        from espalier.estimators.conv_learned import between, lessons

        other = copy.copy(self)
        other.warm_start = True
        other.learn(lessons(guessed, guessed_weight, self.copies, self.seed, self.replay), self.labels_)
        other.warm_start = self.warm_start
        other.net_ = ScoringNet(other.net_.shape, between(self.net_.weights, other.net_.weights, gamma))
        return other

    @property
    def learned_(self) -> LearnedNet:
        """Shape, labels and weights, for the `prior` of another ConvCRF."""
        from espalier.estimators.conv_learned import LearnedNet

        self.check_fitted()
        return LearnedNet(self.net_.shape, self.labels_, self.net_.weights)

    def potentials(self, X: Any) -> ChainBatch:
        """Return the potentials of every sequence.

        Parameters
        ----------
        X : token lists, documents, or a Corpus.

        Returns
        -------
        ChainBatch
        """
        self.check_fitted()
        return self.net_.potentials(as_corpus(X), self.threads)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        shape = asdict(self.net_.shape) | {"dilations": list(self.net_.shape.dilations)}
        return {"shape": shape, "dropout": list(self.dropout)}, packed(self.net_.weights, self.storage)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        told = dict(header["shape"])
        shape = ConvShape(**told | {"dilations": tuple(told["dilations"])})
        if shape.labels != len(header["labels"]):
            raise ModelFileError("the net has scores for other labels than the model")
        for name in ("channels", "dilations", "embedding", "buckets", "kernel", "inner"):
            setattr(self, name, getattr(shape, name))
        self.dropout = tuple(header.get("dropout", self.dropout))
        self.net_ = ScoringNet(shape, unpacked(arrays, shape))
