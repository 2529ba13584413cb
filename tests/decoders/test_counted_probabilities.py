"""Probabilities under rules that count, against enumeration of all labellings and the meaning of the rules."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from espalier.corpus import Corpus
from espalier.decoders import counted
from espalier.decoders.counted import counted_probabilities
from espalier.decoders.counts import Conditions, CountForm
from espalier.decoders.probabilities import answer_probabilities
from espalier.extract.confidence import with_local_rules
from espalier.potentials import ChainBatch, Potentials
from espalier.rules import rules as rule_set
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.meaning import degrees

PLAIN = ("a", "b", "c")
TAGS = ("B-a", "I-a", "B-b", "O")
RULES = [
    "One: a once [hard]",
    "One: a once [penalty 2]\nTwo: b once [hard]",
    "Some: b required [hard]\nOne: a once [penalty 0.7]",
    "Many: count(a) >= 2 [penalty 1.5]\nShort: tokens(b) <= 2 [hard]",
    "None: count(b) <= 0 [penalty 1]\nSum: count(a) + 2 count(b) <= 2 [penalty 3]",
    'Cue: token in "x" -> a [penalty 1.5]\nOne: a, b once [hard]',
    "Where: if any token in \"x\" then a once [hard]\nOne: b once [penalty 2]",
]  # fmt: skip


@pytest.fixture(autouse=True)
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at all texts and rows, whatever they move."""
    monkeypatch.setattr(counted, "SURE", 2.0)
    monkeypatch.setattr(counted, "LEAST", 0.0)


def _chains(rng: np.random.Generator, labels: tuple[str, ...], lengths: list[int], heat: float) -> list[Potentials]:
    L = len(labels)
    trans, start, end = rng.normal(size=(L, L)), rng.normal(size=L), rng.normal(size=L)
    if labels == TAGS:  # I-a only inside of a
        trans[[2, 3], 1] = start[1] = -np.inf
    return [Potentials(2 * rng.normal(size=(T, L)), trans, start, end, heat) for T in lengths]


def _asked(compiled: Compiled, batch: ChainBatch, words: list[list[str]], y: np.ndarray) -> tuple[np.ndarray, ...]:
    form = CountForm.prepared(compiled, compiled.rules.penalties, batch.trans, batch.start)
    conditions = Conditions.of(compiled.ground_bits(Corpus.from_tokens(words)))
    local = with_local_rules(batch, form, conditions)
    return counted_probabilities(local, form, conditions, y, *answer_probabilities(local, y))


@pytest.mark.parametrize("labels", [PLAIN, TAGS])
@pytest.mark.parametrize("text", RULES)
@pytest.mark.parametrize("heat", [1.0, 2.5])
def test_enumeration_says_the_same(labels: tuple[str, ...], text: str, heat: float) -> None:
    rng = np.random.default_rng(len(text))
    compiled = compile_rules(rule_set(text), labels)
    words = [[str(w) for w in rng.choice(["x", "y", "z"], size=T)] for T in (1, 4, 5, 2, 5, 3, 1)]
    chains = _chains(rng, labels, [len(w) for w in words], heat)
    batch = ChainBatch.of(chains)
    y = np.concatenate([viable(chain, rng) for chain in chains])
    tokens, whole = _asked(compiled, batch, words, y)
    for i, chain in enumerate(chains):
        part = slice(batch.indptr[i], batch.indptr[i + 1])
        weight = {}
        for x in product(range(len(labels)), repeat=chain.n_tokens):
            score = chain.score(x)
            broken = degrees(compiled.rules, words[i], [labels[j] for j in x]) if score > -np.inf else []
            charge = sum(d * rho for d, rho in zip(broken, compiled.rules.penalties, strict=False) if d)
            weight[x] = math.exp((score - charge) / heat)
        z = sum(weight.values())
        own = tuple(y[part].tolist())
        if z == 0:
            assert whole[i] == 0
            continue
        expected = [sum(w for x, w in weight.items() if x[t] == own[t]) / z for t in range(len(own))]
        np.testing.assert_allclose(tokens[part], expected, atol=1e-6)
        assert whole[i] == pytest.approx(weight[own] / z, abs=1e-7)


def viable(chain: Potentials, rng: np.random.Generator) -> np.ndarray:
    """Return a labelling that the chain allows, not always its best."""
    every = [x for x in product(range(chain.n_labels), repeat=chain.n_tokens) if chain.score(x) > -np.inf]
    every.sort(key=chain.score, reverse=True)
    return np.array(every[int(rng.integers(0, min(3, len(every))))], np.int16)


def test_company_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    compiled = compile_rules(rule_set(RULES[1]), PLAIN)
    words = [["x"] * T for T in (5, 2, 9, 4, 30, 7)]
    chains = _chains(rng, PLAIN, [len(w) for w in words], 1.0)
    y = np.concatenate([np.argmax(chain.unary, axis=1).astype(np.int16) for chain in chains])
    together = _asked(compiled, ChainBatch.of(chains), words, y)
    ends = np.cumsum([0, *map(len, words)])
    for i, chain in enumerate(chains):
        tokens, whole = _asked(compiled, ChainBatch.of([chain]), [words[i]], y[ends[i] : ends[i + 1]])
        np.testing.assert_allclose(tokens, together[0][ends[i] : ends[i + 1]], atol=1e-7)
        np.testing.assert_allclose(whole, together[1][i], atol=1e-9)
