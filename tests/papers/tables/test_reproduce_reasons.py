"""Simulated line breaks: where they go, and what they leave alone."""

import random

from espalier.papers.tables.ccm12_reasons import with_breaks

TOKENS = ["two", "rooms", ".", "call", "Ann", "near", "park"]
LABELS = ["size", "size", "size", "contact", "contact", "place", "place"]


def test_breaks_stand_at_borders_behind_a_word():
    words, names, own = with_breaks(TOKENS, LABELS, 1.0, random.Random(0))
    assert words == ["two", "rooms", ".", "call", "Ann", "|", "near", "park"]
    assert names[5] == "contact"
    assert [word for word, counts in zip(words, own, strict=True) if counts] == TOKENS
    assert [name for name, counts in zip(names, own, strict=True) if counts] == LABELS


def test_no_share_no_breaks():
    assert with_breaks(TOKENS, LABELS, 0.0, random.Random(0)) == (TOKENS, LABELS, [True] * len(TOKENS))
    assert with_breaks([], [], 1.0, random.Random(0)) == ([], [], [])
