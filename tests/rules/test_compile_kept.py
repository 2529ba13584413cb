"""Tables that no penalty changes are made once for a compiled rule set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from espalier.corpus import Corpus, Labels
from espalier.decoders import counts
from espalier.decoders.batch import decode_batch
from espalier.potentials import ChainBatch
from espalier.rules import automaton
from espalier.rules import compile as compiling
from espalier.rules.compile import compile_rules
from espalier.rules.ruleset import RuleSet

RULES = RuleSet.from_text("Order: a before b\nShort: length(each field) >= 2\nOnce: each field once")
LABELS = Labels(["a", "b", "c"])


def test_a_key_is_made_once_and_shared_by_copies_with_other_penalties() -> None:
    compiled, made = compile_rules(RULES, LABELS), []
    for one in (compiled, replace(compiled, rules=RULES.with_penalties({"Order": 2.0}))):
        for key in ("x", "y", "x"):
            assert one.remember(key, lambda key=key: made.append(key) or key.upper()) == key.upper()
    assert made == ["x", "y"]
    other = compile_rules(RULES, LABELS)
    assert other.remember("x", lambda: 3) == 3


def test_nothing_is_a_value_too_and_too_many_are_forgotten() -> None:
    compiled, made = compile_rules(RULES, LABELS), []
    assert compiled.remember("none", lambda: made.append(1)) is None
    assert compiled.remember("none", lambda: made.append(1)) is None
    assert made == [1]
    for k in range(2 * compiling.MOST_KEPT):
        compiled.remember(k, lambda k=k: k)
        assert len(compiled.kept) <= compiling.MOST_KEPT


def test_decoding_again_tabulates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, compiled = Corpus.from_tokens([["x"] * 6] * 3), compile_rules(RULES, LABELS)

    def decoded(penalties: float) -> list[int]:
        batch = ChainBatch(
            corpus.indptr, np.random.default_rng(1).normal(size=(18, 3)), np.zeros((1, 3, 3)), np.zeros(18, np.int32),
            np.zeros(3), np.zeros(3),
        )  # fmt: skip
        return decode_batch(batch, compiled, corpus, np.full(3, penalties)).labels.tolist()

    first = decoded(1.0)

    def again(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(counts, "_tabulated", again)
    monkeypatch.setattr(automaton, "build_automaton", again)
    assert decoded(1.0) == first
    decoded(0.3)
