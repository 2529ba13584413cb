"""Many sequences in one call: padded batches, ragged lists, potentials, tensors of anybody's network.

All are decoded together (`auto`), unless a caller asks for a method by name. Every answer is certified (`certify`);
what it breaks is looked up when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.auto import auto, decode_each
from espalier.decoders.base import Decoding, Problems, infeasible
from espalier.decoders.batch import decode_problems
from espalier.decoders.certify import Certificate, Status, certify_batch
from espalier.decoders.score_forms import limited, per_sequence, tag_limits
from espalier.decoders.viterbi import clamped
from espalier.errors import InputError, Place
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled

__all__ = ["Decodings", "How", "answers_to", "decode_many"]

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


class How(NamedTuple):
    """What a caller asks for, besides scores and rules: see `decode`."""

    method: str
    k: int
    relax: bool
    threads: int | None
    options: dict[str, Any]


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
    how: How,
    *,
    penalties: Mapping[str, float] | ArrayLike | None,
    valid_tags: bool | None,
) -> Decodings:
    """Decode a batch of sequences, and certify every answer."""
    N, limits = len(batch), tag_limits(compiled.labels, valid_tags)
    texts, clamps = per_sequence(text, N, "text"), per_sequence(clamp, N, "clamp")
    if any(clamps):
        batch = _clamped_batch(batch, clamps, compiled.labels)
    rho = compiled.rules.with_penalties(penalties).penalties if isinstance(penalties, Mapping) else penalties
    problems = Problems.of(limited(batch, limits), compiled, corpus, rho, texts=texts)
    if how.method == "auto" and how.k == 1 and all(each is None for each in texts):
        found = _together(problems, corpus, how)
    else:
        found = _gathered(problems, answers_to(problems, how))
    return replace(found, valid_tags=limits is not None)


def answers_to(problems: Problems, how: How) -> list[Decoding]:
    """Return the answer to each problem, with what it breaks; where nothing is possible, with the reason."""
    if how.method != "auto" or how.options:
        from espalier.decoders import table

        if how.method != "auto":
            found = [table.run(problems.one(i), how.method, k=how.k, **how.options) for i in range(len(problems))]
            return [_explained(problems, i, answer, how.relax) for i, answer in enumerate(found)]
        table.check_options("auto", auto, how.options)
    found = decode_each(problems, k=how.k, threads=how.threads, **how.options)
    return [_explained(problems, i, answer, how.relax) for i, answer in enumerate(found)]


def _explained(problems: Problems, i: int, found: Decoding, relax: bool) -> Decoding:
    """Say why nothing is possible, where that is so, and what breaks least, if wanted."""
    if found.status is not Status.INFEASIBLE:
        return found
    from espalier.decoders import conflict as conflicts

    problem = problems.one(i)
    why = conflicts.conflict(problem)
    nearest = conflicts.relax(problem) if relax else None
    names = () if why is None else why.rules
    y = None if nearest is None else nearest.labels
    return infeasible(problem, found.certificate.method, found.certificate.work, conflict=names, y=y)


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


def _together(problems: Problems, corpus: Corpus, how: How) -> Decodings:
    """Decode a batch, and certify all answers at once; what one breaks is looked up when somebody asks for it."""
    if how.options:
        from espalier.decoders import table

        table.check_options("auto", auto, how.options)
    batch, compiled, rho, bits = problems.batch, problems.compiled, problems.penalties, problems.bits
    found = decode_problems(problems, threads=how.threads, **how.options)
    known = certify_batch(batch, compiled, corpus, found, rho, bits=bits)
    certificates = tuple(known.certificates)

    def make(i: int) -> Decoding:
        return _explained(problems, i, problems.certified(found, i), how.relax)

    answers = Decodings(compiled.labels, batch.indptr, found.labels, known.scores, certificates, False, make)
    for i, certificate in enumerate(certificates if how.relax else ()):
        nearest = answers[i].labels if certificate.status is Status.INFEASIBLE else None
        if nearest is not None:
            found.labels[batch.indptr[i] : batch.indptr[i + 1]] = nearest
    return answers


def _gathered(problems: Problems, decodings: Sequence[Decoding]) -> Decodings:
    """Return answers that were found one by one as a batch of answers."""
    indptr = problems.batch.indptr
    y = np.full(int(indptr[-1]), -1, np.int16)
    for one, a, b in zip(decodings, indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        if one.labels is not None:
            y[a:b] = one.labels
    scores = np.array([one.score for one in decodings], np.float64)
    certificates = tuple(one.certificate for one in decodings)
    return Decodings(problems.compiled.labels, indptr, y, scores, certificates, False, decodings.__getitem__)
