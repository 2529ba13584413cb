"""`reconcile`: answers of language models become scores, and the best labelling of the text under rules is the answer.

Every candidate is an expert with a distribution over tags at each token: a tag that it claims has the probability that
the candidate says, or `trust`; a token that it does not claim is most likely O, and least likely a field that it
found elsewhere; a field that it does not mention may be missing. The logarithms of all candidates are added. A
string that stands in the text more often than a candidate claims it is taken for the first places, and the others
remain possible for rules to choose. So a slip, a missing field or two answers for one field need no rules of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.api import decode, explain
from espalier.decoders.base import Decoding
from espalier.decoders.explanation import Explanation
from espalier.document import Document
from espalier.errors import InputError
from espalier.extract.claims import Claim, ClaimPlace, places_of, plain, read_claims
from espalier.extract.extraction import Extraction, Field
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
    that are in the text but not in the answer; added : fields of the answer that no candidate claims; potentials : the
    scores.
    """

    extraction: Extraction
    decoding: Decoding
    invented: tuple[Claim, ...]
    slips: tuple[Slip, ...]
    dropped: tuple[Claim, ...]
    added: tuple[Field, ...]
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
    candidates : one proposal or a list of them: JSON text (with or without words around it), `{"label": "string"}` with
        lists where a label has several strings, or `[{"label": ..., "text": ..., "score": ...}]`; a Document or an
        Extraction, too.
    rules : with penalties in natural logarithms, as a RuleSet or as text.
    labels : the fields that there are; None: those that candidates claim or rules name.
    trust : the probability that a claim without a score is right, for all candidates or one for each.
    penalties : other prices than the rules' own, by name.

    Returns
    -------
    Reconciled : the answer with its certificate; what was invented, mended, dropped and added.

    Raises
    ------
    InputError : a candidate cannot be read; its number is in the message.

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
    claims = [claim for c, proposal in enumerate(proposals) for claim in read_claims(proposal, c)]
    ruleset = RuleSet.from_text(rules) if isinstance(rules, str) else rules or RuleSet([])
    ruleset = ruleset if penalties is None else ruleset.with_penalties(penalties)
    fields = _fields(claims, ruleset) if labels is None else list(labels)
    unknown = next((claim for claim in claims if claim.label not in fields), None)
    if unknown is not None:
        raise InputError(
            f"candidate {unknown.candidate} claims a field {unknown.label!r}", hint=f"fields: {', '.join(fields)}"
        )
    tags = [OUTSIDE, *(f"{mark}-{field}" for field in fields for mark in "BI")]
    words = [plain(word) for word in document.words]
    places = [places_of(claim, document, words) for claim in claims]
    potentials = Potentials(_scores(document, tags, claims, places, shares))
    answer = decode(potentials, ruleset, tokens=document.words, labels=tags, text=document.text, relax=True)
    return _reconciled(document, ruleset, potentials, answer, claims, places)


def _fields(claims: Sequence[Claim], rules: RuleSet) -> list[str]:
    """Return the fields that candidates claim and rules name, each once."""
    named = (name for rule in rules for chosen in fields_of(rule.node) for name in chosen.names)
    return [name for name in dict.fromkeys([*(claim.label for claim in claims), *named]) if name != OUTSIDE]


def _proposals(candidates: Any) -> list[Any]:
    """Return a list of candidates; one alone is a list of one, a list of labelled items among them."""
    if isinstance(candidates, str | Mapping | Document | Extraction):
        return [candidates]
    if not hasattr(candidates, "__iter__"):
        what = f"the candidates are {type(candidates).__name__}"
        raise InputError(what, hint="expected JSON text, {'label': 'string'}, a Document, or a list of such")
    found = list(candidates)
    items = bool(found) and all(isinstance(item, Mapping) and "label" in item for item in found)
    return [found] if items else found


def _shares(trust: float | Sequence[float], n: int) -> list[float]:
    """Return the trust in each candidate."""
    found = [float(trust)] * n if isinstance(trust, int | float) else [float(one) for one in trust]
    if len(found) != n or not all(0.0 < one < 1.0 for one in found):
        raise InputError(f"trust is {trust!r}", hint=f"expected a number between 0 and 1, or {n} of them")
    return found


def _scores(
    document: Document,
    tags: list[str],
    claims: Sequence[Claim],
    places: Sequence[Sequence[ClaimPlace]],
    shares: Sequence[float],
) -> Float:
    """Return log Π_candidates p(tag), float64[T, L]."""
    T, L = len(document.tokens), len(tags)
    total = np.zeros((T, L))
    for c, trust in enumerate(shares):
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
                for t in range(place.first, place.end):
                    j = tags.index(f"{'B' if t == place.first else 'I'}-{claim.label}")
                    summed[t] += _claimed(min(max(p, LEAST), 1.0 - LEAST), j, L)
                    count[t] += 1
        shared = np.where(count[:, None] > 0, summed / np.maximum(count, 1)[:, None], silent)
        total += np.log(shared)
    return total


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
) -> Reconciled:
    """Compare the answer with what was claimed."""
    ids = answer.labels if answer.labels is not None else np.zeros(len(document.tokens), np.int16)
    tags = [answer.vocabulary.names[j] for j in ids]
    sure = _probabilities(potentials, ids)
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
    return Reconciled(extraction, answer, invented, slips, dropped, added, document, potentials, rules)


def _stretch(document: Document, place: ClaimPlace) -> str:
    return document.text[document.tokens[place.first][0] : document.tokens[place.end - 1][1]]


def _probabilities(potentials: Potentials, ids: NDArray[np.int16]) -> Float:
    """Return the probability of every token's label by the candidates alone, float64[T]."""
    if not len(ids):
        return np.zeros(0)
    return np.asarray(posterior(potentials).marginals[np.arange(len(ids)), ids])
