"""What every decoder shares: the problem, and the result with its certificate.

    y* = argmax_y  S(y),    S(y) = s(x, y) - Σ_k ρ_k d_k(x, y)          (eq. 3-4 of Chang, Ratinov & Roth, 2012)

with the potentials' score s, degrees d_k >= 0 of K rules and penalties ρ_k in [0, inf]; ρ_k = inf is a hard
rule: a labelling that violates it has S(y) = -inf. A rule with ρ_k = 0 costs nothing and is only reported.

A decoder proposes labels and an upper bound. `evaluate` asks the reference meaning of the rules, so that no decoder is
judged by its own arithmetic. The score is recomputed from the meaning of the rules, for one labelling
by `certify` and for many by `certify.certify_batch`; both ask `certify.prove`, the only place that says OPTIMAL.

Ties: among labellings of equal score the one with the lowest label at the last token comes first, then the
lowest at the token before it, and so on, as in `kernels.chain`. A decoder that cannot keep this order says so
in its docstring; every decoder gives the same answer to the same question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.certify import BatchDecoding, Certificate, Status, WorkDone, magnitude_of, prove, tolerance
from espalier.errors import EspalierError, InfeasibleError, InputError
from espalier.lazy import cached_property
from espalier.potentials import ChainBatch, Potentials
from espalier.rules import meaning
from espalier.rules.compile import Compiled, Grounded
from espalier.rules.meaning import violations
from espalier.rules.ruleset import RuleSet

__all__ = [
    "Certificate",
    "Decoder",
    "Decoding",
    "Evaluation",
    "Problem",
    "Problems",
    "Status",
    "Verdict",
    "Violated",
    "certify",
    "certify_all",
    "checked_count",
    "evaluate",
    "generator",
    "infeasible",
    "nothing_found",
    "price",
    "refusal",
    "violated",
]


class Evaluation(NamedTuple):
    """model_score : s(x, y); degrees : int64[K]; score : model_score minus penalties, -inf if a hard rule is broken."""

    model_score: float
    degrees: NDArray[np.int64]
    score: float


@dataclass(frozen=True, eq=False)
class Problem:
    """Potentials of one sequence, the rules grounded in its tokens, and what each rule costs.

    penalties : float64[K], the rule set's own if None.
    """

    potentials: Potentials
    grounded: Grounded
    penalties: NDArray[np.float64]

    def __init__(self, potentials: Potentials, grounded: Grounded, penalties: ArrayLike | None = None) -> None:
        """Check that the three speak of the same tokens, labels and rules."""
        labels = grounded.compiled.labels
        if potentials.n_tokens != len(grounded.tokens):
            raise InputError(f"potentials of {potentials.n_tokens} tokens, but {len(grounded.tokens)} tokens are given")
        if potentials.n_labels != len(labels):
            raise InputError(f"potentials of {potentials.n_labels} labels, but {len(labels)} label names are given")
        chosen = np.array(grounded.compiled.check_penalties(penalties))
        chosen.flags.writeable = False
        object.__setattr__(self, "potentials", potentials)
        object.__setattr__(self, "grounded", grounded)
        object.__setattr__(self, "penalties", chosen)

    @property
    def rules(self) -> RuleSet:
        """The K rules."""
        return self.grounded.compiled.rules

    @property
    def labels(self) -> Labels:
        """The L label names."""
        return self.grounded.compiled.labels

    @property
    def T(self) -> int:
        """The number of tokens."""
        return self.potentials.n_tokens

    @property
    def L(self) -> int:
        """The number of labels."""
        return self.potentials.n_labels

    @cached_property
    def folded(self) -> Potentials:
        """The potentials minus the penalties of all local rules; -inf where a hard one forbids."""
        unary, pair = self.grounded.compiled.local.charged(self.grounded.bits, self.penalties)
        trans = self.potentials.trans if pair is None else self.potentials.trans - pair[1:]
        return replace(self.potentials, unary=self.potentials.unary - unary, trans=trans)

    @cached_property
    def globals(self) -> tuple[int, ...]:
        """The rules that cost something and are not local, by index: what `folded` does not know."""
        forms = self.grounded.compiled.form
        return tuple(k for k, form in enumerate(forms) if form != "local" and self.penalties[k] > 0)

    @cached_property
    def hard(self) -> tuple[int, ...]:
        """The hard rules, by index."""
        return tuple(int(k) for k in np.flatnonzero(np.isposinf(self.penalties)))

    def with_penalties(self, penalties: ArrayLike) -> Problem:
        """Return the same problem at other prices."""
        return Problem(self.potentials, self.grounded, penalties)

    def with_potentials(self, potentials: Potentials) -> Problem:
        """Return the same problem with other scores."""
        return Problem(potentials, self.grounded, self.penalties)

    def tempered(self) -> Problem:
        """Return scores and penalties divided by the temperature: P(y) ∝ exp S(y), and the best answer stays the best.

        Penalties are divided too: otherwise the most probable labelling would not be the one that decoders find.
        """
        heat = self.potentials.temperature
        if heat == 1.0:
            return self
        return Problem(self.potentials.tempered(), self.grounded, self.penalties / heat)


@dataclass(frozen=True, eq=False)
class Problems:
    """N problems under the same rules at the same prices, laid end to end.

    bits : bool[M, B], where the conditions of the rules hold. one(i) is problem i by itself, for what few of them need.
    """

    batch: ChainBatch
    compiled: Compiled
    penalties: NDArray[np.float64]
    bits: NDArray[np.bool_]
    one: Callable[[int], Problem]

    @classmethod
    def of(
        cls,
        batch: ChainBatch,
        compiled: Compiled,
        corpus: Corpus,
        penalties: ArrayLike | None = None,
        bits: NDArray[np.bool_] | None = None,
        texts: Sequence[str | None] | None = None,
    ) -> Problems:
        """Check that scores, rules and tokens fit.

        bits : `compiled.ground_bits(corpus)`, if already known. texts : what rules with `text ~` search; where there is
        None, what the corpus knows, or else the tokens joined by spaces.
        """
        rho = compiled.check_penalties(penalties)
        if corpus.indptr is not batch.indptr and not np.array_equal(corpus.indptr, batch.indptr):
            raise InputError(f"{len(batch)} sequences of potentials but {len(corpus)} of tokens, or of other lengths")
        if batch.n_labels != len(compiled.labels):
            raise InputError(f"potentials of {batch.n_labels} labels, but rules for {len(compiled.labels)}")
        whole: list[str | None] = [None] * len(corpus)
        if corpus.documents is not None:
            whole = [document.text for document in corpus.documents]
        if texts is not None and any(text is not None for text in texts):
            whole = [known if text is None else text for text, known in zip(texts, whole, strict=True)]
            words = [compiled.ground(corpus.tokens(i), text).bits for i, text in enumerate(whole)]
            bits = np.concatenate([np.zeros((0, len(compiled.conditions)), bool), *words])
        where = compiled.ground_bits(corpus) if bits is None else bits

        def one(i: int) -> Problem:
            a, b = batch.indptr[i : i + 2].tolist()
            return Problem(batch[i], Grounded(compiled, tuple(corpus.tokens(i)), whole[i], where[a:b]), rho)

        return cls(batch, compiled, rho, where, one)

    @classmethod
    def of_one(cls, problem: Problem) -> Problems:
        """Return a problem as a batch of one."""
        grounded = problem.grounded
        batch = ChainBatch.of([problem.potentials])
        return cls(batch, grounded.compiled, problem.penalties, grounded.bits, lambda _: problem)

    def __len__(self) -> int:
        """Return N."""
        return len(self.batch)

    def chosen(self, sequences: NDArray[np.int64]) -> Problems:
        """Return some of the problems."""
        number, tokens = sequences.tolist(), self.batch.tokens_of(sequences)
        batch, bits = self.batch.chosen(sequences), self.bits[tokens]
        return Problems(batch, self.compiled, self.penalties, bits, lambda i: self.one(number[i]))

    def with_hard(self, price: float) -> Problems:
        """Return the same problems, where breaking a hard rule has a price."""
        rho = np.where(np.isposinf(self.penalties), price, self.penalties)
        return replace(self, penalties=rho, one=lambda i: self.one(i).with_penalties(rho))

    def certified(self, found: BatchDecoding, i: int) -> Decoding:
        """Certify the answer to problem i from the meaning of the rules, and say what it breaks."""
        a, b = self.batch.indptr[i : i + 2].tolist()
        score, bound = float(found.scores[i]), float(found.bounds[i])
        problem, method, work = self.one(i), found.method(i), WorkDone(int(found.rounds[i]), int(found.nodes[i]))
        if score > -math.inf:
            return certify(problem, found.labels[a:b], bound, method, work)
        return infeasible(problem, method, work) if bound == score else nothing_found(problem, bound, method, work)


def price(degrees: NDArray[np.int64], penalties: NDArray[np.float64]) -> float:
    """Return Σ_k ρ_k d_k with 0 * inf = 0, of one labelling; of many, `rules.forms.total_price`."""
    broken = degrees > 0
    return float((degrees[broken] * penalties[broken]).sum())


def evaluate(problem: Problem, y: Sequence[int] | NDArray[Any]) -> Evaluation:
    """Score a labelling from the definition: potentials, and the reference meaning of every rule."""
    model_score = problem.potentials.score(y)
    if not problem.grounded.compiled.K:
        return Evaluation(model_score, np.zeros(0, np.int64), model_score)
    names = [problem.labels.names[i] for i in y]
    grounded = problem.grounded
    degrees = meaning.degrees(problem.rules, grounded.tokens, names, text=grounded.text)
    return Evaluation(model_score, degrees, model_score - price(degrees, problem.penalties))


# The result.


class Violated(NamedTuple):
    """Rule `name` is violated by `amount` at token `position` (None: by the labelling as a whole) for `price`."""

    name: str
    position: int | None
    amount: int
    price: float


class Verdict(NamedTuple):
    """Does a decoder take a rule set?  If not, the reason names the rule."""

    ok: bool
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Decoding:
    """A labelling, what it scores, what it breaks, and what is proven about it.

    labels : int16[T] label ids, None if no labelling is possible; score : model score minus penalties;
    alternatives : the next best labellings, in order, if more than one was asked for. valid_tags : were labellings left
    out in which an I- tag has nothing to continue (see `decode`)?
    """

    labels: NDArray[np.int16] | None
    score: float
    model_score: float
    violations: tuple[Violated, ...]
    certificate: Certificate
    vocabulary: Labels
    alternatives: tuple[Decoding, ...] = ()
    valid_tags: bool = False

    def names(self) -> list[str]:
        """Return the label of every token by name; an infeasible problem has none and says so."""
        if self.labels is None:
            raise InfeasibleError(_why_not(self.certificate))
        return [self.vocabulary.names[i] for i in self.labels]

    @property
    def status(self) -> Status:
        """The certificate's status."""
        return self.certificate.status

    def __iter__(self) -> Iterator[Decoding]:
        """Iterate over the answer and its alternatives, best first."""
        return iter((self, *self.alternatives))


@dataclass(frozen=True, slots=True)
class Decoder:
    """One row of the table of decoders.

    decode(problem, *, k=1, **options) -> Decoding; exact : is the answer OPTIMAL unless a budget runs out?
    accepts(compiled) -> Verdict; most take every rule. sample(problem, n, rng, **options) -> int16[n, T] draws
    labellings of p(y) ∝ exp(score minus penalties), where a decoder can do that.
    """

    name: str
    decode: Callable[..., Decoding]
    exact: bool
    summary: str
    accepts: Callable[[Compiled], Verdict] = lambda _: Verdict(True)
    sample: Callable[..., NDArray[np.int16]] | None = None


def certify(
    problem: Problem,
    y: Sequence[int] | NDArray[Any],
    bound: float,
    method: str,
    work: WorkDone | None = None,
    *,
    heuristic: bool = False,
) -> Decoding:
    """Make a Decoding of labels and an upper bound (see `prove`); the score is recomputed from the rules' meaning.

    `y` must have a finite score: of an impossible problem make `infeasible`.
    """
    model_score, degrees, score = evaluate(problem, y)
    if score == -math.inf:
        raise EspalierError(f"{method} proposed a labelling of score {score} with bound {bound}", hint="this is a bug")
    magnitude = magnitude_of(problem.potentials, y) if bound < score - tolerance(score) else None
    proven = prove(score, bound, method, work, heuristic=heuristic, magnitude=magnitude)
    certificate = proven.about(problem.potentials.source) if problem.potentials.source else proven
    labels = np.array(y, dtype=np.int16)
    labels.flags.writeable = False
    paid = _violated(problem, labels, degrees)
    return Decoding(labels, score, model_score, paid, certificate, problem.labels)


def certify_all(
    problem: Problem,
    ranked: Iterable[tuple[Sequence[int] | NDArray[Any], float]],
    method: str,
    work: WorkDone | None = None,
    *,
    heuristic: bool = False,
) -> Decoding:
    """Certify (labels, bound) pairs, best first, as one answer with alternatives; none at all is `infeasible`."""
    decodings = [certify(problem, y, bound, method, work, heuristic=heuristic) for y, bound in ranked]
    if not decodings:
        return infeasible(problem, method, work)
    return replace(decodings[0], alternatives=tuple(decodings[1:]))


def infeasible(
    problem: Problem,
    method: str,
    work: WorkDone | None = None,
    *,
    conflict: Iterable[str] = (),
    y: Sequence[int] | NDArray[Any] | None = None,
) -> Decoding:
    """Say that every labelling scores -inf; `y`, if given, is the one that breaks least."""
    said = work or WorkDone(), tuple(conflict), problem.potentials.source
    certificate = Certificate(Status.INFEASIBLE, -math.inf, 0.0, method, *said)
    if y is None:
        return Decoding(None, -math.inf, -math.inf, (), certificate, problem.labels)
    model_score, degrees, score = evaluate(problem, y)
    labels = np.array(y, dtype=np.int16)
    return Decoding(labels, score, model_score, _violated(problem, labels, degrees), certificate, problem.labels)


def nothing_found(
    problem: Problem, bound: float, method: str, work: WorkDone | None = None, *, heuristic: bool = False
) -> Decoding:
    """Say that the search ended without a labelling of finite score, though nothing proves that there is none."""
    certificate = prove(-math.inf, bound, method, work, heuristic=heuristic).about(problem.potentials.source)
    return Decoding(None, -math.inf, -math.inf, (), certificate, problem.labels)


def _why_not(certificate: Certificate) -> str:
    """Say why there are no labels."""
    if certificate.status is not Status.INFEASIBLE:
        return f"{certificate.method} found no labelling that keeps every hard rule; allow it more work"
    if certificate.conflict:
        names = ", ".join(certificate.conflict)
        return f"no labelling is possible: these hard rules exclude each other: {names}; soften one, or pass relax=True"
    return "no labelling is possible: every one breaks a hard rule or is forbidden by the potentials"


def _violated(problem: Problem, y: NDArray[np.int16], degrees: NDArray[np.int64]) -> tuple[Violated, ...]:
    """List what y breaks, rule by rule, in reading order."""
    names = [problem.labels.names[i] for i in y]
    return violated(problem.grounded, np.flatnonzero(degrees).tolist(), problem.penalties, names)


def violated(
    grounded: Grounded, rules: Iterable[int], penalties: NDArray[np.float64], names: Sequence[str]
) -> tuple[Violated, ...]:
    """List what labels break of some rules, by number, from the meaning of these."""
    found = []
    for k in rules:
        rule, rho = grounded.compiled.rules[k], float(penalties[k])
        for v in violations(rule, grounded.tokens, names, text=grounded.text):
            found.append(Violated(rule.name, v.position, v.amount, rho * v.amount))
    return tuple(found)


def checked_count(value: Any, name: str, least: int = 1) -> int:
    """Return an option that is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is {value!r}", hint=f"expected a whole number of at least {least}")
    return int(value)


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """Return a generator of a generator or a seed."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(checked_count(rng, "rng", least=0))


def refusal(compiled: Compiled, forms: Iterable[str], decoder: str) -> Verdict:
    """Refuse the first rule whose form is not among those a decoder takes."""
    for k, form in enumerate(compiled.form):
        if form not in forms:
            name = compiled.rules.names[k]
            return Verdict(False, f"rule {name!r} has the form {form!r}, which {decoder} does not take")
    return Verdict(True)
