"""`auto`: the cheapest method that proves its answer, of one sequence or of many, in one call.

    compiled   Viterbi, Soft-DD and A* over rules as tables, for the whole batch                      (`batch`)
               of the k best: a list in falling order of a bound                                      (`kbest`)
    climb      A* over any rules, then an integer program, for what that leaves open                  (`climb`)

One problem is a batch of one. Every step hands on its best labelling and its bound; the first on which the two meet, or
which proves that no labelling is possible, is the last. If none does, the best labelling is BOUNDED by the lowest
bound. Every rule has a machine and every problem Viterbi's bound, so no rule is left to a method that proves nothing.
Every answer is certified from the meaning of the rules.

Why compiled passes come first, on 367 references with 138 hierarchical tags under 601 generated count rules: they take
14 ms a reference and prove 364; dual decomposition in Python, A* and the integer program took 340 ms and proved 366. On
citations that break a rule HiGHS needs 28 ms (all rules soft) to 1 s (one hard), compiled passes 0.02 to 0.03 ms.

Ties: Viterbi's labelling, first in the common order, if it breaks no global rule; otherwise whichever optimal
labelling the step meets, the same one every time (unless `seconds` end a climb).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.base import Decoding, Problem, Problems, certify, checked_count
from espalier.decoders.batch import MOST_NODES, decode_problems
from espalier.decoders.certify import Certificate, certify_batch
from espalier.errors import InputError

__all__ = ["Decodings", "auto", "decode_each", "decode_together", "gathered"]

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


def auto(problem: Problem, *, k: int = 1, max_nodes: int = MOST_NODES, seconds: float | None = None) -> Decoding:
    """Return the best labelling, or the k best, by the cheapest method that proves it.

    max_nodes : prefixes that searches may expand; 0 leaves what they would have to prove. seconds : nothing begins to
    climb after them, and searches and the integer program stop at them (None: no limit, but ten seconds for the
    program). The certificate's method is the step that came last; its work is that of all together.
    """
    (answer,) = decode_each(Problems.of_one(problem), k=k, max_nodes=max_nodes, seconds=seconds, threads=1)
    return answer


def decode_each(
    problems: Problems,
    *,
    k: int = 1,
    max_nodes: int = MOST_NODES,
    seconds: float | None = None,
    threads: int | None = None,
) -> list[Decoding]:
    """Do the same for every problem of a batch."""
    _check(max_nodes, seconds)
    if checked_count(k, "k") == 1:
        found = decode_problems(problems, max_nodes=max_nodes, seconds=seconds, threads=threads)
        return [problems.certified(found, i) for i in range(len(problems))]
    from espalier.decoders.kbest import k_best_batch

    several = k_best_batch(problems, k, max_nodes=max_nodes, seconds=seconds, threads=threads)
    answers = []
    for i, ranked in enumerate(several):
        problem = problems.one(i)
        decodings = [certify(problem, one.labels, one.bound, one.method, one.work) for one in ranked]
        # Where a list has nothing, the best labelling has been proven impossible, or is worth a search of its own.
        best = decodings[0] if decodings else auto(problem, max_nodes=max_nodes, seconds=seconds)
        answers.append(replace(best, alternatives=tuple(decodings[1:])))
    return answers


def _check(max_nodes: int, seconds: float | None) -> None:
    checked_count(max_nodes, "max_nodes", least=0)
    if seconds is not None and not seconds > 0:
        raise InputError(f"seconds is {seconds!r}", hint="expected a positive number, or None for no limit")


def decode_together(
    problems: Problems,
    corpus: Corpus,
    finish: Callable[[Problem, Decoding], Decoding],
    *,
    max_nodes: int = MOST_NODES,
    seconds: float | None = None,
    threads: int | None = None,
) -> Decodings:
    """Decode a batch, and certify all answers at once; what one breaks is looked up when somebody asks for it.

    corpus : the tokens of the problems, which have no other texts. finish : what is done to an answer then.
    """
    _check(max_nodes, seconds)
    batch, compiled, rho = problems.batch, problems.compiled, problems.penalties
    found = decode_problems(problems, max_nodes=max_nodes, seconds=seconds, threads=threads)
    known = certify_batch(batch, compiled, corpus, found, rho, bits=problems.bits)

    def make(i: int) -> Decoding:
        return finish(problems.one(i), problems.certified(found, i))

    certificates = tuple(known.certificates)
    return Decodings(compiled.labels, batch.indptr, found.labels, known.scores, certificates, False, make)


def gathered(problems: Problems, decodings: Sequence[Decoding]) -> Decodings:
    """Return answers that were found one by one as a batch of answers."""
    indptr = problems.batch.indptr
    y = np.full(int(indptr[-1]), -1, np.int16)
    for one, a, b in zip(decodings, indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        if one.labels is not None:
            y[a:b] = one.labels
    scores = np.array([one.score for one in decodings], np.float64)
    certificates = tuple(one.certificate for one in decodings)
    return Decodings(problems.compiled.labels, indptr, y, scores, certificates, False, decodings.__getitem__)
