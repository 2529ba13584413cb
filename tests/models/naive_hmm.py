"""The hidden Markov model as dictionaries, one formula a line. Slow, and shares no code with `src`."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from functools import partial

from espalier.corpus import Corpus
from espalier.models.hmm import Smoothing

NAMES = ["x", "y", "z"]
CLUSTERS = {"ann": (1, 2), "b": (0, 2), ".": (1, 0), "YYYY": (0, 1), "unseen": (0, 0)}
"""Words and their clusters, of sizes 2 and 3."""


def naive_class(word: str) -> str:
    word = word.lower()
    if len(word) == 4 and word.isdigit() and word[:2] in ("18", "19", "20"):
        return "YYYY"
    if word.isdigit():
        return "0" * min(5, len(word))
    return "0-0" if re.fullmatch(r"\d+\W+\d+", word) else word


NORMALISE = {"none": lambda w: w, "lower": lambda w: w.lower(), "classes": naive_class}


def naive_shape(word: str) -> str:
    kinds = ["X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c for c in word]
    return "".join(kind for kind, _ in itertools.groupby(kinds))


def naive_suffix(word: str) -> str:
    return naive_shape(word) + " " + word[-3:]


def naive_cluster(size: int, word: str) -> str:
    if word in CLUSTERS:
        return f"cluster {CLUSTERS[word][(2, 3).index(size)]}"
    return f"shape {naive_shape(word)}"


def naive_transition_class(tokens: list[str], t: int) -> int:
    """The class of the transition into token t >= 1."""
    before = tokens[t - 1]
    if before == ".":
        return 4 if t >= 2 and len(tokens[t - 2]) == 1 and tokens[t - 2].isupper() else 1
    return 2 if before == "," else 0 if any(c.isalnum() for c in before) else 3


class Naive:
    """An HMM as dictionaries."""

    def __init__(
        self, corpus: Corpus, s: Smoothing, normalise: str, classes: bool, weight: list[float], clusters: bool = False
    ) -> None:
        self.s, self.normal, self.classes = s, NORMALISE[normalise], classes
        self.groups = [naive_shape, naive_suffix] + [partial(naive_cluster, size) for size in (2, 3) if clusters]
        self.start: Counter = Counter()
        self.trans: Counter = Counter()
        self.words: Counter = Counter()
        self.vocabulary: set[str] = set(CLUSTERS) if clusters else set()
        for i, tokens in enumerate(corpus):
            y = corpus.label_names(i)
            for t, token in enumerate(tokens):
                self.vocabulary.add(self.normal(token))
                if y[t] is not None:
                    self.words[self.normal(token), y[t]] += weight[i]
                if t == 0 and y[t] is not None:
                    self.start[y[t]] += weight[i]
                if t > 0 and None not in (y[t - 1], y[t]):
                    self.trans[naive_transition_class(tokens, t), y[t - 1], y[t]] += weight[i]

    def p_start(self, a: str) -> float:
        return (self.start[a] + self.s.start) / (sum(self.start.values()) + self.s.start * len(NAMES))

    def p_trans(self, k: int, a: str, b: str) -> float:
        def pooled(b: str) -> float:
            return sum(self.trans[j, a, b] for j in range(5)) + self.s.trans

        p = pooled(b) / sum(pooled(c) for c in NAMES)
        if not self.classes:
            return p
        total = sum(self.trans[k, a, c] for c in NAMES)
        return (self.trans[k, a, b] + self.s.pooled * p) / (total + self.s.pooled)

    def p_word(self, token: str, y: str) -> float:
        word, V = self.normal(token), self.vocabulary
        total = sum(self.words[v, y] for v in V)
        if self.s.kind == "additive":
            return (self.words[word, y] + self.s.emission) / (total + self.s.emission * (len(V) + 1))
        base = sum(self.p_by_class(group, word, y) for group in self.groups) / len(self.groups)
        return (self.words[word, y] + self.s.backoff * base) / (total + self.s.backoff)

    def p_by_class(self, group, word: str, y: str) -> float:
        V, g = self.vocabulary, group(word)
        members = [v for v in V if group(v) == g]
        count = {label: sum(self.words[v, label] for v in members) for label in NAMES}
        everything = sum(self.words.values())
        prior = (sum(count.values()) + 1) / (everything + len({group(v) for v in V}) + 1)
        total = sum(self.words[v, y] for v in V)
        share = (count[y] + self.s.classes * prior) / (total + self.s.classes)
        return share / (len(members) + 1)

    def log_joint(self, tokens: list[str], y: list[str]) -> float:
        if not tokens:
            return 0.0
        terms = [self.p_start(y[0])] + [self.p_word(w, a) for w, a in zip(tokens, y, strict=True)]
        terms += [self.p_trans(naive_transition_class(tokens, t), y[t - 1], y[t]) for t in range(1, len(tokens))]
        return math.fsum(map(math.log, terms))
