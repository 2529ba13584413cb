"""Validity of tags is a mask on transitions: what it forbids no decoder chooses, at any level of a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest

import espalier as es
from espalier.decoders import DECODERS, Decoding, Status
from espalier.rules import degree

TAGS = {
    "flat": ["O", "B-a", "I-a", "B-b", "I-b"],
    "nested": ["O", "B-s", "I-s", "B-s/B-p", "I-s/B-p", "I-s/I-p"],
}
RULES = {"local": "First: first in a, s [penalty 0.7]", "counted": "Two: count(any field) == 2 [penalty 0.9]"}
CASES = [
    (kind, rule, method)
    for kind in TAGS
    for rule in RULES
    for method in DECODERS
    if (rule, method) != ("counted", "viterbi")  # viterbi takes local rules only, and says so
]


def open_paths(tag: str) -> list[str]:
    """The path of every level: `I-s/B-p` is in `s` and in `s/p`."""
    names = [part[2:] for part in tag.split("/")] if tag != "O" else []
    return ["/".join(names[: k + 1]) for k in range(len(names))]


def valid(tags: Sequence[str]) -> bool:
    """Does every I- continue what is open, and does nothing continue inside what has just begun?"""
    before: list[str] = []
    for tag in tags:
        marks = [part[0] for part in tag.split("/")] if tag != "O" else []
        if any(inner == "I" and outer == "B" for outer, inner in pairwise(marks)):
            return False
        if any(mark == "I" and path not in before for mark, path in zip(marks, open_paths(tag), strict=True)):
            return False
        before = open_paths(tag)
    return True


def decode(kind: str, rule: str, method: str, seed: int) -> tuple[Decoding, float]:
    """Decode random scores under the mask; also the best penalised score of all valid taggings, by enumeration."""
    random, T, tags = np.random.default_rng(seed), 4, TAGS[kind]
    text = RULES[rule].replace("a, s", "a" if kind == "flat" else "s")
    labels, unary, trans = es.Labels(tags), random.normal(size=(T, len(tags))), random.normal(size=(len(tags),) * 2)
    [only] = es.rules(text)
    scores = es.Potentials(unary, trans).forbid(*labels.allowed())
    tokens = ["x"] * T
    options = {"rng": 0} if method == "gibbs" else {}
    found = es.decode(scores, text, tokens=tokens, labels=labels, method=method, **options)
    best = -np.inf
    for y in product(range(len(tags)), repeat=T):
        names = [tags[i] for i in y]
        if valid(names):
            model = unary[range(T), y].sum() + trans[y[:-1], y[1:]].sum()
            best = max(best, model - only.penalty * degree(only, tokens, names))
    return found, best


@pytest.mark.parametrize(("kind", "rule", "method"), CASES)
def test_every_decoder_keeps_the_mask(kind: str, rule: str, method: str) -> None:
    for seed in range(2):
        found, best = decode(kind, rule, method, seed)
        assert valid(found.names())
        assert found.score <= best + 1e-9
        if found.status is Status.OPTIMAL or DECODERS[method].exact:
            assert found.score == pytest.approx(best, abs=1e-9)


def test_without_the_mask_the_same_scores_give_invalid_tags() -> None:
    unary = [[0.0, 1.0, 2.0], [2.0, 0.0, 0.0], [0.0, 1.0, 2.0]]
    labels = es.Labels(["O", "B-a", "I-a"])
    assert es.decode(unary, labels=labels, valid_tags=False).names() == ["I-a", "O", "I-a"]
    assert es.decode(unary, labels=labels).names() == ["B-a", "O", "B-a"]
    assert es.decode(es.Potentials(unary).forbid(*labels.allowed()), labels=labels).names() == ["B-a", "O", "B-a"]
