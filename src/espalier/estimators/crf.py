"""`CRF`: the linear-chain conditional random field, trained by L-BFGS (OWL-QN with an L1 term).

    minimise  -Σ_n ω_n log p(y_n | x_n) + l1 ‖w - w₀‖₁ + l2 ‖w - w₀‖²

Without a prior w₀ = 0: the same objective as CRFsuite's (its c1 and c2), checked against it in the tests. With one, w₀
are the weights of another model, so that few labels move them only where they must: a Gaussian prior whose mean is
what was learned before (Chelba & Acero, 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.base import again, check_number, fresh
from espalier.estimators.linear import Learned, LinearChainLabeller, TrainingSet, holds_attributes
from espalier.models.chain import ChainModel, carried
from espalier.models.weights import Pairs

if TYPE_CHECKING:  # what only training needs is imported where it trains: whoever labels never waits for it
    from espalier.estimators.joined import JoinedCRF
    from espalier.features.extract import FeatureExtractor
    from espalier.features.matrix import FeatureMatrix
    from espalier.learning.lbfgs import Minimum
    from espalier.learning.likelihood import Likelihood, Twins

__all__ = ["CRF"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


@dataclass(eq=False, repr=False)
class CRF(LinearChainLabeller):
    """A linear-chain CRF.

    Parameters
    ----------
    features : templates (texts or objects), a FeatureExtractor, or None for the default set. Not used, with a warning,
        if X holds ready attributes (a list of names or a mapping a token).
    l1, l2 : weights of the two penalties; more features and less data ask for a larger l2.
    max_iterations, epsilon, delta, period : when to stop (see `espalier.learning.lbfgs`).
    min_count : attributes on fewer training tokens are dropped.
    transitions : "observed" gives weights to transitions seen in training, "all" to every allowed one.
    warm_start : begin a second `fit` at the weights of the first, attribute by attribute and label by label; the
        optimum is the same, and near it far fewer iterations are needed.
    prior : another fitted CRF, or what it has learned (`other.learned_`), or None. Its attributes are kept as they are,
        `features` and `min_count` are not used, and both penalties draw the weights towards its own. Labels may be
        added.
    copies : learn from so many copies of each sequence, too, whose fields have the words of other sequences; together
        they count as much as the sequence (`learning.recombination`). For a handful of sequences in one style.
    replay : a labelled Corpus of sequences that the prior knows, or None: they are learned again beside the others,
        without copies, so that less is forgotten (`learning.recombination`).
    threads : None chooses by size; results do not depend on it.
    progress : called with the state of the search after every iteration.
    jobs : None trains here, in threads, which is nearly always best on one machine; a number adds up the gradient of
        parts in so many processes (`espalier.distributed`), for corpora that ask for several machines. Results
        do not depend on the number.

    Notes
    -----
    After `fit`: `weights_` (weights), `index_` (attributes), `minimum_` (value, iterations, reason for stopping).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.CRF(["lower", "shape"], l2=0.1).fit(X, y)
    >>> model.predict([["Eve", "in", "Ulm"]])
    [['who', 'O', 'where']]
    >>> model.labels_.names
    ('O', 'where', 'who')
    """

    kind = "crf"

    features: Sequence[Any] | FeatureExtractor | None = None
    _: KW_ONLY
    l1: float = 0.0
    l2: float = 0.1
    max_iterations: int = 1000
    epsilon: float = 1e-5
    delta: float = 1e-5
    period: int = 10
    min_count: int = 1
    transitions: str = "observed"
    warm_start: bool = False
    prior: Learned | None = None
    copies: int = 0
    replay: Corpus | None = None
    threads: int | None = None
    progress: Callable[[Minimum], None] | None = None
    jobs: int | None = None

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        for name in ("l1", "l2", "epsilon", "delta"):
            check_number(name, getattr(self, name))
        for name, least in (("max_iterations", 0), ("period", 1), ("copies", 0)):
            check_number(name, getattr(self, name), least, whole=True)
        if self.jobs is not None:
            from espalier.learning.jobs import check_jobs

            check_jobs(self.jobs)
        if self.transitions not in ("observed", "all"):
            raise InputError(f"transitions is {self.transitions!r}", hint="expected 'observed' or 'all'")
        if self.prior is not None and not isinstance(self.prior, Learned):
            raise InputError(f"prior is a {type(self.prior).__name__}", hint="expected a fitted CRF, or its learned_")

    def _examples(self, X: Any, corpus: Corpus, weight: Float | None) -> tuple[Corpus, Float | None]:
        if not self.copies and not self.replay:
            return corpus, weight
        from espalier.learning.recombination import more_examples

        if holds_attributes(X):
            name = "copies" if self.copies else "replay"
            raise InputError(f"{name} needs words, and X has ready attributes", hint=f"leave out {name}")
        return more_examples(corpus, weight, self.copies, 0, self.replay)

    def train(self, data: TrainingSet) -> ChainModel:
        """Find the weights."""
        from espalier.learning.likelihood import Twins

        # Twins have the same data, but not the same prior.
        twins = Twins.apart(data.matrix) if self.l1 or data.prior else Twins.merge(data.matrix)
        pairs = Pairs.observed(twins.matrix, data.y, data.n_labels)
        learned = data.observed_transitions if self.transitions == "observed" else data.allowed
        if data.prior is not None:
            pairs, learned = pairs.union(data.prior.pairs), learned | (data.prior.trans != 0)
        with self.likelihood(
            twins.matrix, data.indptr, data.y, pairs, learned, data.start_allowed, data.allowed, data.sample_weight
        ) as likelihood:
            return self.minimised(data, twins, pairs, likelihood)

    def likelihood(
        self, matrix: FeatureMatrix, indptr: NDArray[np.int64], y: NDArray[np.int16], pairs: Pairs, learned: Bool,
        start_allowed: Bool, allowed: Bool, sample_weight: Float | None,
    ) -> AbstractContextManager[Likelihood]:  # fmt: skip
        """Return the likelihood of labels, as a whole or, with `jobs`, in parts; see `ChainLikelihood`."""
        arguments = (matrix, indptr, y, pairs, learned, start_allowed, allowed, sample_weight, self.threads)
        if self.jobs is not None:
            from espalier.learning.jobs import over_processes

            parts: AbstractContextManager[Likelihood] = over_processes().likelihood_in_parts(*arguments, jobs=self.jobs)
            return parts
        from espalier.learning.likelihood import ChainLikelihood

        return nullcontext(ChainLikelihood(*arguments))

    def fit_soft(self, labelled: Corpus, pool: Corpus, weight: Float | None, pool_weight: float) -> JoinedCRF:
        """Return the training problem of labels and of expectations on unlabelled text."""
        from espalier.estimators.joined import JoinedCRF

        return JoinedCRF(fresh(self), labelled, pool, weight, pool_weight)

    def fit_guessed(self, labelled: Corpus, weight: Float | None, guessed: Corpus, guessed_weight: Float) -> CRF:
        """Return a copy fitted to labelled sequences and to others with guessed labels, each with its weight.

        With `copies`, those of the guessed sequences alone: guesses that it learns as they are it would only repeat.
        """
        from espalier.learning.codl import joined
        from espalier.learning.recombination import recombined

        if not self.copies:
            return super().fit_guessed(labelled, weight, guessed, guessed_weight)
        assert labelled.labels is not None
        everything = np.concatenate([np.ones(len(labelled)) if weight is None else weight, guessed_weight])
        guesses = slice(len(labelled), len(labelled) + len(guessed))
        examples, weights = recombined(joined(labelled, guessed), self.copies, everything, np.random.default_rng(0))
        kept, names = np.delete(np.arange(len(examples)), guesses), labelled.labels.names
        model = again(self).set_params(copies=0).fit(examples[kept], sample_weight=weights[kept], labels=names)
        return model.set_params(copies=self.copies)

    def minimised(
        self, data: TrainingSet, twins: Twins, pairs: Pairs, likelihood: Likelihood,
        begin: Float | None = None, max_iterations: int | None = None,
    ) -> ChainModel:  # fmt: skip
        """Return the weights that minimise the objective with a likelihood; `minimum_.x` is the point found.

        begin : such a point, to begin the search at; else the weights of `data.start` or of the prior. max_iterations :
        if given, instead of the parameter.
        """
        from espalier.kernels.history import dot
        from espalier.learning.lbfgs import Options, minimise

        scale = np.ones(likelihood.n_parameters)
        scale[: len(pairs)] = twins.scale(pairs)

        def weights_of(model: ChainModel | None) -> Float:
            if model is None:
                return np.zeros(likelihood.n_parameters)
            trans = model.trans[likelihood.from_label, likelihood.to_label]
            return np.concatenate([carried(model, twins.group, pairs), trans])

        centre = weights_of(data.prior)

        def objective(v: Float) -> tuple[float, Float]:
            value, gradient = likelihood(centre + scale * v)
            gradient *= scale
            gradient += (2.0 * self.l2) * v
            return value + self.l2 * dot(v, v), gradient

        options = Options(
            max_iterations=self.max_iterations if max_iterations is None else max_iterations,
            epsilon=self.epsilon, delta=self.delta, period=self.period, threads=likelihood.threads,
        )  # fmt: skip
        start = (weights_of(data.start or data.prior) - centre) / scale if begin is None else begin
        self.minimum_ = minimise(objective, start, l1=self.l1, options=options, progress=self.progress)
        u = centre + scale * self.minimum_.x
        trans = np.where(data.allowed, 0.0, -np.inf)
        trans[likelihood.from_label, likelihood.to_label] = u[len(pairs) :]
        first = np.where(data.start_allowed, 0.0, -np.inf)
        return ChainModel(*twins.expand(pairs, u[: len(pairs)]), trans, first, np.zeros(data.n_labels))
