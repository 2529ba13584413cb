"""`SemiCRF`: the semi-Markov conditional random field, trained by L-BFGS (OWL-QN with an L1 term).

    minimise  -Σ_n ω_n log p(segmentation_n | x_n) + l1 ‖w‖₁ + l2 ‖w‖²

It labels segments rather than tokens, so that a weight can ask how long a field is and how it begins and ends
(`espalier.papers.segments.model`). Sarawagi & Cohen (2004); 'semi-CRF' and 'semi-CRF+' of CCM12 table 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.estimators.base import (
    SequenceLabeller,
    as_corpus,
    check_number,
    check_progress,
    check_sample_weight,
    labelled_corpus,
)
from espalier.features.extract import FeatureExtractor
from espalier.features.fields import default_templates
from espalier.features.index import FeatureIndex
from espalier.features.matrix import FeatureMatrix
from espalier.inference import k_best, marginals, viterbi
from espalier.kernels.history import dot
from espalier.learning.lbfgs import Minimum, Options, minimise
from espalier.models.linear import Pairs
from espalier.papers.segments.answers import SegmentAnswers
from espalier.papers.segments.inference import segment_marginals
from espalier.papers.segments.likelihood import KnownSegments, SegmentLikelihood
from espalier.papers.segments.model import (
    LENGTH_BINS,
    MARKED_INSIDE,
    SegmentalModel,
    SegmentFeatures,
    SegmentInput,
    length_names,
)
from espalier.papers.segments.potentials import SegmentBatch
from espalier.rules.compile import Compiled
from espalier.store import below
from espalier.tags import OUTSIDE, is_tag, path_of

__all__ = ["FoundSegment", "SemiCRF"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

PARTS = ("features", "first", "last")
"""What the three feature indices are called in model files."""


class FoundSegment(NamedTuple):
    """Tokens start..end-1 are one field, with the probability that a segment is exactly this one."""

    start: int
    end: int
    label: str
    probability: float


@dataclass(eq=False, repr=False)
class SemiCRF(SequenceLabeller):
    """A semi-Markov CRF.

    Labels are fields. If all training labels are IOB2 tags, their marks say where fields begin, and `predict` gives
    tags; plain labels form runs, and `predict` gives plain labels. Unknown labels (None) are summed over. `labels_` and
    the columns of `predict_marginals` are the fields without marks.

    Parameters
    ----------
    features : templates of token attributes (texts or objects), a FeatureExtractor, or None for the default set.
    segment_features : `length`, `punctuation`, `first:TEMPLATE`, `last:TEMPLATE` (see `papers.segments.model`).
    max_length : tokens that a segment may have at most; a longer one in training is an error. None: as many as the
        longest in training (with unknown labels: the longest known to be one).
    outside : the label whose tokens stand alone, each a segment of its own; None if there is none.
    l1, l2 : weights of the two penalties; l2 = 1 suits most data.
    max_iterations, epsilon, delta, period : when to stop (see `espalier.learning.lbfgs`).
    min_count : attributes on fewer training tokens are dropped.
    transitions : "observed" gives weights to the steps between labels seen in training, and to those from a label to
        itself; "all" to every step. The others weigh 0.
    threads : None chooses by size; results do not depend on it.
    progress : called with the state of the search after every iteration.

    Notes
    -----
    After `fit`: `weights_`, `indices_` (attributes of tokens, first tokens, last tokens), `marked_` (are labels tags?),
    `minimum_` (value, iterations, reason for stopping).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> model = es.SemiCRF(["lower", "shape"]).fit(X, y)
    >>> model.predict([["Bob", "in", "Ulm"]])
    [['who', 'O', 'where']]
    """

    kind = "semicrf"

    weights_: SegmentalModel = field(init=False)
    indices_: tuple[FeatureIndex | None, FeatureIndex | None, FeatureIndex | None] = field(init=False)
    marked_: bool = field(init=False)
    minimum_: Minimum = field(init=False)

    features: Sequence[Any] | FeatureExtractor | None = None
    _: KW_ONLY
    segment_features: Sequence[str] = ("length", "punctuation")
    max_length: int | None = None
    outside: str | None = OUTSIDE
    l1: float = 0.0
    l2: float = 1.0
    max_iterations: int = 1000
    epsilon: float = 1e-5
    delta: float = 1e-5
    period: int = 10
    min_count: int = 1
    transitions: str = "observed"
    threads: int | None = None
    progress: Callable[[Minimum], None] | None = None

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        for name in ("l1", "l2"):
            check_number(name, getattr(self, name))
        check_progress(self.progress)
        if self.transitions not in ("observed", "all"):
            raise InputError(f"transitions is {self.transitions!r}", hint="expected 'observed' or 'all'")
        n = self.max_length
        if n is not None and (isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1):
            raise InputError(f"max_length is {n!r}", hint="expected a whole number of at least 1, or None")
        if self.outside is not None and not isinstance(self.outside, str):
            raise InputError(f"outside is {self.outside!r}", hint="expected a label name or None")

    def fit(
        self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
    ) -> SemiCRF:
        """Learn from sequences X and label lists y (None: unknown label); X may be a Corpus that has labels.

        `labels` fixes the label names (as in y) and their order, so that labels absent from this training set exist.
        """
        self.check_parameters()
        corpus = labelled_corpus(X, y, labels)
        segments = SegmentFeatures.of(self.segment_features)
        known = KnownSegments.of(corpus, self.outside)
        weight = check_sample_weight(sample_weight, len(corpus))
        own = default_templates() if self.features is None else self.features
        templates = (own, segments.first or None, segments.last or None)
        indices, matrices = zip(*(_extracted(t, self.min_count, corpus) for t in templates), strict=True)
        data = SegmentInput(corpus.indptr, matrices, segments.marks(corpus))
        self.weights_ = self.train(data, known, segments, weight)
        self.indices_, self.labels_, self.marked_ = indices, known.labels, known.marked
        self.training_digest_ = corpus.digest()
        return self

    def train(
        self, data: SegmentInput, known: KnownSegments, segments: SegmentFeatures, weight: Float | None
    ) -> SegmentalModel:
        """Find the weights."""
        L = len(known.labels)
        limit = np.full(L, int(known.stretches()[1].max()) if self.max_length is None else self.max_length, np.int64)
        if self.outside is not None and self.outside in known.labels:
            limit[known.labels.index(self.outside)] = 1
        # Also at the ends a pair counts as seen wherever the label covers the token: a word that stands inside a field
        # and never ends it must be able to speak against an end.
        tokens, first, last = (Pairs.observed(matrix, known.y, L) for matrix in data.matrices)
        learned = known.steps() | np.eye(L, dtype=bool) if self.transitions == "observed" else np.ones((L, L), bool)
        likelihood = SegmentLikelihood(
            data, known, (tokens, first, last), segments, learned, limit, weight, self.threads
        )

        def objective(w: Float) -> tuple[float, Float]:
            value, gradient = likelihood(w)
            gradient += (2.0 * self.l2) * w
            return value + self.l2 * dot(w, w), gradient

        options = Options(
            max_iterations=self.max_iterations, epsilon=self.epsilon, delta=self.delta, period=self.period,
            threads=likelihood.threads,
        )  # fmt: skip
        start = np.zeros(likelihood.n_parameters)
        self.minimum_ = minimise(objective, start, l1=self.l1, options=options, progress=self.progress)
        return likelihood.model(self.minimum_.x)

    def transform(self, X: Any) -> SegmentInput:
        """Return X as the model reads it, under the locked vocabularies."""
        self.check_fitted()
        corpus = as_corpus(X)
        tokens, first, last = (_no_attributes(corpus) if i is None else i.transform(corpus) for i in self.indices_)
        marks = SegmentFeatures.of(self.segment_features).marks(corpus)
        return SegmentInput(corpus.indptr, (tokens, first, last), marks)

    def potentials(self, X: Any) -> SegmentBatch:
        """Return the potentials of every sequence; their scores are float64[M, D, L]."""
        data = self.transform(X)
        return self.weights_.potentials(data, self.threads)

    def _segment(self, X: Any) -> tuple[NDArray[np.int16], Bool, NDArray[np.int64]]:
        """Return the field of each token, whether a segment starts at it, and the sequence borders."""
        data = self.transform(X)
        labels, starts = np.empty(data.n_tokens, np.int16), np.empty(data.n_tokens, bool)

        def batch(lo: int, potentials: SegmentBatch) -> None:
            tokens = slice(int(data.indptr[lo]), int(data.indptr[lo] + potentials.indptr[-1]))
            found = viterbi(potentials, threads=1)
            labels[tokens], starts[tokens] = found.labels, found.starts

        self.weights_.each_batch(data, batch, self.threads)
        return labels, starts, data.indptr

    def tag(self, X: Any) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the best label ids, int16[M], and the sequence borders, int64[N + 1]."""
        labels, _, indptr = self._segment(X)
        return labels, indptr

    def segment_labels(self) -> tuple[list[str], list[str]]:
        """Return the label of the first token of a segment of each field, and the label of its other tokens."""
        marks = ("B-", "I-") if self.marked_ else ("", "")
        first, inside = ([n if n == OUTSIDE else mark + n for n in self.labels_.names] for mark in marks)
        return first, inside

    def rule_labels(self, names: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the labels that rules see: of a training set, if all are tags, with both marks of every field."""
        if not names:
            return tuple(dict.fromkeys(name for row in self.segment_labels() for name in row))
        fields = {path_of(name) for name in names if is_tag(name)} - {OUTSIDE}
        both = {f"{mark}-{field}" for field in fields for mark in "BI"}
        complete = both <= {*names} or not all(map(is_tag, names))
        return tuple(names) if complete else tuple(sorted({*names, *both}))

    def answers(self, corpus: Corpus, compiled: Compiled) -> SegmentAnswers:
        """Return what the model says of texts under rules; see `espalier.estimators.abilities.AnswersItself`."""
        tags = np.array([compiled.labels.encode(row) for row in self.segment_labels()], np.int64)
        return SegmentAnswers(corpus, self.potentials(corpus), compiled, tags)

    def _written(self, labels: NDArray[np.int16], starts: Bool) -> list[str]:
        """Write a segmentation in the form that the training labels had."""
        first, inside = self.segment_labels()
        tags = np.array([inside, first], dtype=object)
        return list(tags[starts.astype(int), labels].tolist())

    def predict(self, X: Any) -> list[list[str]]:
        """Return the best labels of each sequence: tags if the training labels were tags, else plain labels."""
        self.check_fitted()
        labels, starts, indptr = self._segment(X)
        written = self._written(labels, starts)
        return [written[a:b] for a, b in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)]

    def predict_segments(self, X: Any) -> list[list[FoundSegment]]:
        """Return the segments of the best segmentation of each sequence; those of `outside` are left out."""
        data = self.transform(X)
        found: list[list[FoundSegment]] = [[] for _ in range(len(data.indptr) - 1)]

        def batch(lo: int, potentials: SegmentBatch) -> None:
            best, probability = viterbi(potentials, threads=1), segment_marginals(potentials, threads=1)
            for i, (a, b) in enumerate(zip(potentials.indptr[:-1], potentials.indptr[1:], strict=True)):
                cuts = np.append(a + np.flatnonzero(best.starts[a:b]), b)
                for start, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
                    y = int(best.labels[start])
                    if self.labels_[y] != self.outside:
                        p = float(probability[end - 1, end - start - 1, y])
                        found[lo + i].append(FoundSegment(start - int(a), end - int(a), self.labels_[y], p))

        self.weights_.each_batch(data, batch, self.threads)
        return found

    def predict_marginals(self, X: Any) -> list[Float]:
        """Return P(a segment of the field covers the token), float64[T, L] a sequence; columns follow `labels_`."""
        data = self.transform(X)
        result = np.empty((data.n_tokens, len(self.labels_)))

        def batch(lo: int, potentials: SegmentBatch) -> None:
            a = int(data.indptr[lo])
            result[a : a + int(potentials.indptr[-1])] = marginals(potentials, threads=1)

        self.weights_.each_batch(data, batch, self.threads)
        return np.split(result, data.indptr[1:-1]) if len(data.indptr) > 1 else []

    def predict_k(self, X: Any, k: int) -> list[list[tuple[list[str], float]]]:
        """Return the k best segmentations of each sequence with their scores, best first (fewer if fewer exist).

        Plain labels do not show where a field follows itself, so two segmentations may read the same.
        """
        data = self.transform(X)
        result: list[list[tuple[list[str], float]]] = [[] for _ in range(len(data.indptr) - 1)]

        def batch(lo: int, potentials: SegmentBatch) -> None:
            best = k_best(potentials, k, threads=1)
            for i, (a, b) in enumerate(zip(potentials.indptr[:-1], potentials.indptr[1:], strict=True)):
                for r in np.flatnonzero(best.scores[i] > -np.inf):
                    written = self._written(best.labels[r, a:b], best.starts[r, a:b])
                    result[lo + i].append((written, float(best.scores[i, r])))

        self.weights_.each_batch(data, batch, self.threads)
        return result

    def weights(self) -> dict[tuple[str, str], float]:
        """Return the weight of every (attribute name, label) pair that is not zero.

        Segment features have names such as `first:lower=the`, `length=5-6`, `inside:regex:mark`.
        """
        self.check_fitted()
        model, found = self.weights_, {}
        for prefix, index, pairs, w in zip(
            ("", "first:", "last:"), self.indices_, model.pairs, model.weights, strict=True
        ):
            names, attributes = () if index is None else index.names(), pairs.attributes()
            for p in np.flatnonzero(w).tolist():
                found[prefix + names[attributes[p]], self.labels_[int(pairs.label[p])]] = float(w[p])
        named = zip((*length_names()[: len(model.lengths)], MARKED_INSIDE), [*model.lengths, model.inside], strict=True)
        for name, row in named:
            found |= {(name, self.labels_[y]): float(row[y]) for y in np.flatnonzero(row).tolist()}
        return found

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        model = self.weights_
        header: dict[str, Any] = {"segment_features": list(self.segment_features), "marked": self.marked_}
        arrays: dict[str, NDArray[Any]] = {
            "lengths": model.lengths, "inside": model.inside, "trans": model.trans, "limit": model.limit,
        }  # fmt: skip
        for part, index, pairs, w in zip(PARTS, self.indices_, model.pairs, model.weights, strict=True):
            state: dict[str, Any] = {"features": None} if index is None else index.to_state()
            header[part] = state.pop("features")
            arrays |= {f"{part}/{name}": value for name, value in state.items()}
            arrays |= {f"{part}/pairs/ptr": pairs.ptr, f"{part}/pairs/label": pairs.label, f"{part}/weights": w}
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        self.segment_features, self.marked_ = tuple(header["segment_features"]), bool(header["marked"])
        L = len(header["labels"])
        states = [{**below(f"{part}/", arrays), "features": header[part]} for part in PARTS]
        tokens, first, last = (FeatureIndex.from_state(s) if s["features"] is not None else None for s in states)
        self.indices_ = (tokens, first, last)
        if "features" not in header["parameters"]:  # to be fitted anew with
            self.features = [] if tokens is None else FeatureExtractor(tokens.templates, tokens.min_count)
        a, b, c = (
            Pairs.checked(L, np.array(arrays[f"{part}/pairs/ptr"]), np.array(arrays[f"{part}/pairs/label"]))
            for part in PARTS
        )
        u, v, w = (np.array(arrays[f"{part}/weights"]) for part in PARTS)
        if any(x.dtype != np.float64 or x.shape != (len(p),) for x, p in zip((u, v, w), (a, b, c), strict=True)):
            raise ModelFileError("the model has more or fewer weights than pairs, or of another type")
        lengths, inside, trans, limit = (arrays[name] for name in ("lengths", "inside", "trans", "limit"))
        shapes = [x.shape for x in (lengths, inside, trans, limit)]
        rows = len(lengths) if len(lengths) in (1, len(LENGTH_BINS)) else -1
        if shapes != [(rows, L), (L,), (L, L), (L,)] or limit.dtype != np.int64 or (limit < 1).any():
            raise ModelFileError(f"weights of segments of shapes {shapes} are not those of {L} labels")
        if any(x.dtype != np.float64 for x in (lengths, inside, trans)):
            raise ModelFileError("weights of segments are stored as float64, and these are not")
        self.weights_ = SegmentalModel((a, b, c), (u, v, w), lengths, inside, trans, limit)


def _extracted(
    templates: Sequence[Any] | FeatureExtractor | None, min_count: int, corpus: Corpus
) -> tuple[FeatureIndex | None, FeatureMatrix]:
    """Learn the attributes of some templates; None has none."""
    if templates is None:
        return None, _no_attributes(corpus)
    extractor = templates if isinstance(templates, FeatureExtractor) else FeatureExtractor(templates, min_count)
    return extractor.fit_transform(corpus)


def _no_attributes(corpus: Corpus) -> FeatureMatrix:
    """Return the matrix of a corpus whose tokens have no attributes."""
    nothing = np.zeros(0, np.int32)
    return FeatureMatrix(0, np.zeros(corpus.n_tokens + 1, np.int64), nothing, np.zeros(1, np.int64), nothing)
