"""`reconcile`: answers of language models become scores, and the best labelling of the text under rules is the answer.

Every candidate is an expert with a distribution over tags at each token: a tag that it claims has the probability that
the candidate says, or `trust`; a token that it does not claim is most likely O, and least likely a field that it
found elsewhere; a field that it does not mention may be missing. The logarithms of all candidates are added. A
string that stands in the text more often than a candidate claims it is taken for the first places, and the others
remain possible for rules to choose. So a slip or a missing field needs no rule of its own.

Where candidates contradict each other (one string for a field, and two are claimed; two fields for one place), the
claim with more trust behind it is kept, the first of equals, and its confidence is multiplied by its share of the
trust. Candidates that say something else there do not speak against it; without that both answers would be lost.
What no candidate could be made to say is in `unread`, and a candidate that says nothing has no vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.api import decode, explain
from espalier.decoders.base import Decoding
from espalier.decoders.explanation import Explanation
from espalier.document import Document
from espalier.errors import InputError
from espalier.extract.claims import Claim, ClaimPlace, places_of, plain
from espalier.extract.extraction import Extraction, Field
from espalier.extract.proposals import Unread, is_item, read_proposal, simple
from espalier.inference import posterior
from espalier.potentials import Potentials
from espalier.rules.nodes import fields_of
from espalier.rules.ruleset import RuleSet
from espalier.tags import OUTSIDE, segments

__all__ = ["Reconciled", "Slip", "reconcile"]

LEAST = 0.02  # probability of what a candidate is sure of not being so
MISSING = 0.5  # how likely a tag of a field that a candidate does not mention is, where O has 1
BORDER = 0.85  # of what a candidate is sure of: that a field begins just there
ELSEWHERE = 0.4  # share of a claim's probability at places that it need not speak of

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Slip:
    """A claim whose string is not quite in the text, and what stands there."""

    claim: Claim
    text: str


@dataclass(frozen=True, eq=False)
class Reconciled:
    """What a text says, after all that candidates said about it.

    extraction : fields, confidences, certificate and violations; decoding : the labels behind it; invented : claims
    whose string is nowhere in the text; slips : claims that were taken for a stretch that is like them; dropped : those
    that are in the text but not in the answer; added : fields of the answer that no candidate claims; unread : what
    could not be read of the candidates, and why; potentials : the scores.
    """

    extraction: Extraction
    decoding: Decoding
    invented: tuple[Claim, ...]
    slips: tuple[Slip, ...]
    dropped: tuple[Claim, ...]
    added: tuple[Field, ...]
    unread: tuple[Unread, ...]
    document: Document
    potentials: Potentials
    rules: RuleSet

    @property
    def labelled(self) -> Document:
        """The text with the answer as its labels: a pseudo-label for learners such as `CoDL`."""
        return self.document.with_tags(self.decoding.names())

    def explain(self) -> Explanation:
        """Return what the rules changed in the answer, and which of them did."""
        names = self.decoding.vocabulary
        return explain(self.potentials, self.rules, tokens=self.document.words, labels=names, text=self.document.text)


def reconcile(
    text: str | Document,
    candidates: Any,
    rules: RuleSet | str | None = None,
    *,
    labels: Sequence[str] | None = None,
    trust: float | Sequence[float] = 0.8,
    penalties: Mapping[str, float] | None = None,
) -> Reconciled:
    """Return the best labelling of a text under rules, given one or more proposed extractions of it.

    Parameters
    ----------
    text : the text, or a document with tokens of your own.
    candidates : one answer or a list of them, each in any shape: text with JSON in it, or nearly JSON, or with tags,
        tables or lines; `{"label": "string"}` with lists where a label has several strings; a list of items with label
        and string or place; a tool call, or the whole reply of a service; an object with fields; a Document or an
        Extraction. What is none of these is said in `unread`.
    rules : with penalties in natural logarithms, as a RuleSet or as text.
    labels : the fields that there are, found in other spellings, too; None: those that candidates claim or rules name.
    trust : the probability that a claim without a score is right, for all candidates or one for each.
    penalties : other prices than the rules' own, by name.

    Returns
    -------
    Reconciled : the answer with its certificate; what was invented, mended, dropped, added and not read.

    Raises
    ------
    InputError : the text is none, or a number is no probability.

    Examples
    --------
    >>> import espalier as es
    >>> proposals = ['{"who": "ann lee", "where": "Ulm"}', {"who": ["Ann Lee", "Bob"], "when": "in May"}]
    >>> found = es.reconcile("Ann Lee left Ulm with Bob.", proposals, "Once: who once [hard]")
    >>> [(field.label, field.text) for field in found.extraction.fields]
    [('who', 'Ann Lee'), ('where', 'Ulm')]
    >>> [claim.text for claim in found.invented], [claim.text for claim in found.dropped]
    (['in May'], ['Bob'])
    """
    if not isinstance(text, str | Document):
        raise InputError(f"the text is {type(text).__name__}", hint="expected a string, or a Document")
    document = text if isinstance(text, Document) else Document.from_text(text)
    proposals = _proposals(candidates)
    shares = _shares(trust, len(proposals))
    read = [read_proposal(proposal, c, document.text, labels) for c, proposal in enumerate(proposals)]
    claims = [claim for one in read for claim in one.claims]
    voters = [c for c, one in enumerate(read) if one.claims or not one.unread]
    ruleset = RuleSet.from_text(rules) if isinstance(rules, str) else rules or RuleSet([])
    ruleset = ruleset if penalties is None else ruleset.with_penalties(penalties)
    fields = _fields(claims, ruleset) if labels is None else list(labels)
    tags = [OUTSIDE, *(f"{mark}-{field}" for field in fields for mark in "BI")]
    words = [plain(word) for word in document.words]
    places = [places_of(claim, document, words) for claim in claims]
    kept = _contests(claims, places, shares)
    potentials = Potentials(_scores(document, tags, claims, places, {c: shares[c] for c in voters}, kept))
    answer = decode(potentials, ruleset, tokens=document.words, labels=tags, text=document.text, relax=True)
    unread = tuple(unread for one in read for unread in one.unread)
    return _reconciled(document, ruleset, potentials, answer, claims, places, kept, unread)


def _fields(claims: Sequence[Claim], rules: RuleSet) -> list[str]:
    """Return the fields that candidates claim and rules name, each once."""
    named = (name for rule in rules for chosen in fields_of(rule.node) for name in chosen.names)
    return [name for name in dict.fromkeys([*(claim.label for claim in claims), *named]) if name != OUTSIDE]


def _proposals(candidates: Any) -> list[Any]:
    """Return a list of candidates; one alone is a list of one, a list of labelled items among them."""
    if isinstance(candidates, Document | Extraction | BaseException):
        return [candidates]
    if isinstance(candidates, bool | int | float | type):
        what = f"the candidates are {type(candidates).__name__}"
        raise InputError(what, hint="expected JSON text, {'label': 'string'}, a Document, or a list of such")
    plainly = simple(candidates)
    if not isinstance(plainly, list | tuple):
        return [plainly]
    found = list(plainly)
    items = bool(found) and all(map(is_item, found))
    return [found] if items else found


def _shares(trust: float | Sequence[float], n: int) -> list[float]:
    """Return the trust in each candidate."""
    found = [float(trust)] * n if isinstance(trust, int | float) else [float(one) for one in trust]
    if len(found) != n or not all(0.0 < one < 1.0 for one in found):
        raise InputError(f"trust is {trust!r}", hint=f"expected a number between 0 and 1, or {n} of them")
    return found


@dataclass(frozen=True, slots=True)
class _Kept:
    """A claim that is kept where candidates contradict each other: at a place, against candidates, with its share."""

    place: ClaimPlace
    label: str
    against: frozenset[int]
    share: float


def _contests(claims: Sequence[Claim], places: Sequence[Sequence[ClaimPlace]], shares: Sequence[float]) -> list[_Kept]:
    """Return the claims that others contradict and that are kept nevertheless, the most trusted first."""
    said = Counter((claim.candidate, claim.label) for claim in claims)
    several = {label for (_, label), n in said.items() if n > 1}
    voices: dict[tuple[str, int, int], dict[int, float]] = {}
    for claim, own in zip(claims, places, strict=True):
        if own:
            sure = shares[claim.candidate] if claim.score is None else claim.score
            voices.setdefault((claim.label, own[0].first, own[0].end), {})[claim.candidate] = sure
    order = sorted(voices, key=lambda one: -sum(voices[one].values()))  # stable: the first of equals
    kept: list[_Kept] = []
    taken: list[tuple[str, int, int]] = []
    for one in order:
        label, first, end = one
        if any(_exclude(one, other, several) for other in taken):
            continue
        taken.append(one)
        others = {c: sure for other in voices if _exclude(one, other, several) for c, sure in voices[other].items()}
        against = frozenset(others) - voices[one].keys()
        if against:
            ours = sum(voices[one].values())
            share = ours / (ours + sum(others[c] for c in against)) if ours else 0.0
            kept.append(_Kept(ClaimPlace(first, end, 1.0), label, against, share))
    return kept


def _exclude(one: tuple[str, int, int], other: tuple[str, int, int], several: Iterable[str]) -> bool:
    """Can only one of two claims hold: they share tokens, or they are for a field that everybody fills once?"""
    apart = one[2] <= other[1] or other[2] <= one[1]
    return one != other and (not apart or (one[0] == other[0] and one[0] not in several))


def _scores(
    document: Document,
    tags: list[str],
    claims: Sequence[Claim],
    places: Sequence[Sequence[ClaimPlace]],
    shares: Mapping[int, float],
    kept: Sequence[_Kept],
) -> Float:
    """Return log Π_candidates p(tag), float64[T, L]."""
    T, L = len(document.tokens), len(tags)
    total = np.zeros((T, L))
    for c, trust in shares.items():
        silent = _silent(trust, tags, {claim.label for claim in claims if claim.candidate == c})
        summed, count = np.zeros((T, L)), np.zeros(T)
        claimed: Counter[tuple[str, str]] = Counter(
            (claim.label, plain(claim.text)) for claim in claims if claim.candidate == c
        )
        for claim, own in zip(claims, places, strict=True):
            if claim.candidate != c:
                continue
            most = claimed[claim.label, plain(claim.text)]
            for rank, place in enumerate(own):
                sure = (trust if claim.score is None else claim.score) * place.likeness
                p = sure * (ELSEWHERE if rank >= most else 1.0)
                for t, j in _tagged(place, claim.label, tags):
                    summed[t] += _claimed(min(max(p, LEAST), 1.0 - LEAST), j, L)
                    count[t] += 1
        shared = np.where(count[:, None] > 0, summed / np.maximum(count, 1)[:, None], silent)
        for one in kept:
            if c in one.against:
                for t, j in _tagged(one.place, one.label, tags):
                    shared[t, j] = shared[t].max()
        total += np.log(shared)
    return total


def _tagged(place: ClaimPlace, label: str, tags: list[str]) -> Iterable[tuple[int, int]]:
    """Return each token of a claim with the number of its tag."""
    marks = ["B", *["I"] * (place.end - place.first - 1)]
    return [(place.first + k, tags.index(f"{mark}-{label}")) for k, mark in enumerate(marks)]


def _silent(trust: float, tags: Sequence[str], mentioned: set[str]) -> Float:
    """Return what a candidate says of a token that it does not claim.

    It is no field that the candidate has found elsewhere, by its trust; one that it does not mention may be missing.
    """
    other = (1.0 - trust) / trust / max(len(tags) - 1, 1)
    found = np.array([1.0, *(other if tag[2:] in mentioned else MISSING for tag in tags[1:])])
    return np.asarray(found / found.sum())


def _claimed(p: float, j: int, L: int) -> Float:
    """Return a distribution with p at tag j and the other mark of its field; half of the rest is at O, which is tag 0.

    Tags are O, B-x, I-x, B-y, I-y ... A candidate is less sure of where a field begins than of the field.
    """
    other = j + 1 if j % 2 else j - 1
    found = np.full(L, (1.0 - p) / 2 / max(L - 3, 1))
    found[0], found[j], found[other] = (1.0 - p) / (2 if L > 3 else 1), p * BORDER, p * (1.0 - BORDER)
    return found


def _reconciled(
    document: Document,
    rules: RuleSet,
    potentials: Potentials,
    answer: Decoding,
    claims: Sequence[Claim],
    places: Sequence[Sequence[ClaimPlace]],
    kept: Sequence[_Kept],
    unread: tuple[Unread, ...],
) -> Reconciled:
    """Compare the answer with what was claimed."""
    ids = answer.labels if answer.labels is not None else np.zeros(len(document.tokens), np.int16)
    tags = [answer.vocabulary.names[j] for j in ids]
    sure = _probabilities(potentials, ids)
    for one in kept:
        if all(ids[t] == j for t, j in _tagged(one.place, one.label, list(answer.vocabulary.names))):
            sure[one.place.first : one.place.end] *= one.share
    fields, here = [], []
    for first, end, label in segments(tags):
        start, stop = document.tokens[first][0], document.tokens[end - 1][1]
        fields.append(Field(label, document.text[start:stop], start, stop, float(sure[first:end].min())))
        here.append((label, first, end))
    claimed = {(claim.label, p.first, p.end) for claim, own in zip(claims, places, strict=True) for p in own}
    added = tuple(field for field, place in zip(fields, here, strict=True) if place not in claimed)
    extraction = Extraction(
        document.text, tuple(fields), float(sure.min(initial=1.0)), answer.certificate, answer.violations
    )
    pairs = list(zip(claims, places, strict=True))
    slips = tuple(Slip(claim, _stretch(document, own[0])) for claim, own in pairs if own and own[0].likeness < 1.0)
    dropped = tuple(
        claim for claim, own in pairs if own and not any((claim.label, p.first, p.end) in here for p in own)
    )
    invented = tuple(claim for claim, own in pairs if not own)
    return Reconciled(extraction, answer, invented, slips, dropped, added, unread, document, potentials, rules)


def _stretch(document: Document, place: ClaimPlace) -> str:
    return document.text[document.tokens[place.first][0] : document.tokens[place.end - 1][1]]


def _probabilities(potentials: Potentials, ids: NDArray[np.int16]) -> Float:
    """Return the probability of every token's label by the candidates alone, float64[T]."""
    if not len(ids):
        return np.zeros(0)
    return np.asarray(posterior(potentials).marginals[np.arange(len(ids)), ids])
