"""Many sequences in one call: padded batches, ragged lists, potentials, tensors of anybody's network.

Most are decoded by compiled passes over the whole batch (`batch`), and one by one where a caller wants what these do
not give: a method by name, the k best, or texts that are not their tokens joined. Every answer is certified
(`certify`); what it breaks is looked up when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.base import Decoding, Problem, certify, infeasible, nothing_found
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import Certificate, Status, certify_batch
from espalier.decoders.questions import decode_one, explained, problem_of
from espalier.decoders.score_forms import limited, per_sequence, tag_limits
from espalier.decoders.viterbi import clamped
from espalier.errors import InputError, Place
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled

__all__ = ["Decodings", "decode_many"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Decodings(Sequence[Decoding]):
    """The answers to a batch of N sequences: one `Decoding` each, and what they have in common as arrays.

    indptr : int64[N + 1]; labels : int16[M], the label ids of all sequences end to end, -1 where no labelling is
    possible; scores : float64[N]; certificates : one for each sequence. valid_tags : were labellings left out in which
    an I- tag has nothing to continue?

    Examples
    --------
    >>> import numpy as np
    >>> import espalier as es
    >>> logits = np.zeros((2, 3, 3))
    >>> logits[:, :, 2] = 1.0
    >>> found = es.decode(logits, labels=["O", "B-who", "I-who"], lengths=[3, 1])
    >>> found.names(), found.valid_tags
    ([['B-who', 'I-who', 'I-who'], ['O']], True)
    >>> found.padded().tolist()
    [[1, 2, 2], [0, -1, -1]]
    """

    vocabulary: Labels
    indptr: NDArray[np.int64]
    labels: NDArray[np.int16]
    scores: Float
    certificates: tuple[Certificate, ...]
    valid_tags: bool
    make: Callable[[int], Decoding] = field(repr=False)
    places: Bool | None = field(default=None, repr=False)
    _made: dict[int, Decoding] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """Return N."""
        return len(self.indptr) - 1

    @overload
    def __getitem__(self, i: int) -> Decoding: ...
    @overload
    def __getitem__(self, i: slice) -> list[Decoding]: ...
    def __getitem__(self, i: int | slice) -> Decoding | list[Decoding]:
        """Return the answer to sequence i, with its violations."""
        if isinstance(i, slice):
            return [self[j] for j in range(len(self))[i]]
        i = range(len(self))[i]
        if i not in self._made:
            self._made[i] = replace(self.make(i), valid_tags=self.valid_tags)
        return self._made[i]

    def __iter__(self) -> Iterator[Decoding]:
        """Iterate over the answers."""
        return (self[i] for i in range(len(self)))

    @property
    def proven(self) -> Bool:
        """Which answers are proven to be the best, bool[N]."""
        return np.array([certificate.proven for certificate in self.certificates], bool)

    def names(self) -> list[list[str]]:
        """Return the labels of every sequence by name; one without any labelling says so."""
        names, ends, found = self.vocabulary.names, self.indptr.tolist(), self.labels.tolist()
        for i, (a, b) in enumerate(pairwise(ends)):
            if b > a and found[a] < 0:
                self[i].names()  # raises, with the rules that exclude each other
        return [[names[j] for j in found[a:b]] for a, b in pairwise(ends)]

    def padded(self, fill: int = -1) -> NDArray[np.int16]:
        """Return the label ids in the form of a padded batch, int16[N, T], with `fill` where there is no token.

        Parameters
        ----------
        fill : the id at padding; many libraries leave out -100 when they score.

        Returns
        -------
        NDArray
        """
        places = self.places
        if places is None:
            lengths = np.diff(self.indptr)
            places = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
        found = np.full(places.shape, fill, np.int16)
        found[places] = self.labels
        return found


def decode_many(
    batch: ChainBatch,
    compiled: Compiled,
    corpus: Corpus,
    text: Any,
    clamp: Any,
    method: str,
    k: int,
    relax: bool,
    threads: int | None,
    how: dict[str, Any],
    options: dict[str, Any],
) -> Decodings:
    """Decode a batch: by compiled passes where they do all that is asked, else one by one."""
    N, limits = len(batch), tag_limits(compiled.labels, how["valid_tags"])
    texts, clamps = per_sequence(text, N, "text"), per_sequence(clamp, N, "clamp")
    if any(clamps):
        batch = _clamped_batch(batch, clamps, compiled.labels)
    if method != "auto" or k != 1 or options.keys() - {"max_nodes"} or any(each is not None for each in texts):
        each = [problem_of(batch[i], compiled, tokens=corpus.tokens(i), text=texts[i], **how) for i in range(N)]
        answers = [decode_one(problem, method, k, relax, options) for problem in each]
        return replace(_gathered(compiled.labels, answers, batch.indptr), valid_tags=limits is not None)
    rho = how["penalties"]
    rho = compiled.rules.with_penalties(rho).penalties if isinstance(rho, Mapping) else rho
    found = _decode_compiled(limited(batch, limits), compiled, corpus, rho, relax, threads=threads, **options)
    if relax:
        for i, certificate in enumerate(found.certificates):
            nearest = found[i].labels if certificate.status is Status.INFEASIBLE else None
            if nearest is not None:
                found.labels[batch.indptr[i] : batch.indptr[i + 1]] = nearest
    return replace(found, valid_tags=limits is not None)


def _clamped_batch(batch: ChainBatch, clamps: Sequence[Any], labels: Labels) -> ChainBatch:
    """Forbid all labels but the known ones."""
    unary = batch.unary.copy()
    for i, clamp in enumerate(clamps):
        if clamp:
            try:
                unary[batch.indptr[i] : batch.indptr[i + 1]] = clamped(batch[i], clamp, labels).unary
            except InputError as error:
                raise InputError(Place(i), f": {error.what}", hint=error.hint) from None
    return batch.with_unary(unary)


def _decode_compiled(
    batch: ChainBatch,
    compiled: Compiled,
    corpus: Corpus,
    penalties: ArrayLike | None,
    relax: bool,
    **options: Any,
) -> Decodings:
    """Decode a batch by compiled passes, and certify every answer."""
    rho, bits = compiled.check_penalties(penalties), compiled.ground_bits(corpus)
    found = decode_batch(batch, compiled, corpus, rho, bits=bits, **options)
    certified = certify_batch(batch, compiled, corpus, found, rho, bits=bits)
    ends = corpus.indptr.tolist()

    def make(i: int) -> Decoding:
        """Certify one answer from the meaning of the rules, and say what it breaks."""
        a, b = ends[i], ends[i + 1]
        (grounded,) = compiled.ground_corpus(corpus[[i]])
        problem, known = Problem(batch[i], grounded, rho), certified.certificates[i]
        if known.status is Status.INFEASIBLE:
            return explained(problem, infeasible(problem, known.method, known.work), relax)
        if certified.scores[i] == -np.inf:
            return nothing_found(problem, known.bound, known.method, known.work)
        return certify(problem, found.labels[a:b], known.bound, known.method, known.work)

    certificates = tuple(certified.certificates)
    return Decodings(compiled.labels, corpus.indptr, found.labels, certified.scores, certificates, False, make)


def _gathered(labels: Labels, decodings: Sequence[Decoding], indptr: NDArray[np.int64]) -> Decodings:
    """Return answers that were found one by one as a batch of answers."""
    y = np.full(int(indptr[-1]), -1, np.int16)
    for one, a, b in zip(decodings, indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        if one.labels is not None:
            y[a:b] = one.labels
    scores = np.array([one.score for one in decodings], np.float64)
    certificates = tuple(one.certificate for one in decodings)
    return Decodings(labels, indptr, y, scores, certificates, False, decodings.__getitem__)
