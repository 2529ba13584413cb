"""A parser that is trained in a moment on references in two styles, for tests of what is built around a model."""

from __future__ import annotations

from functools import lru_cache

from espalier.citations.parser import Parser
from espalier.estimators.ccm import CCM
from espalier.estimators.crf import CRF

RULES = """
Once:    each field once                       [penalty 2]
Pages:   token in "pp" -> pages                [penalty 3]
Titled:  title required                        [penalty 4]
"""

NAMES = ("Ada Plum", "Ben Quince", "Cleo Medlar", "Dan Sloe", "Eve Damson", "Flo Pear")
TITLES = ("On the pruning of trees", "Wires and walls", "A frame for fruit", "Rules of the garden", "Light on leaves")
JOURNALS = ("Journal of Espaliers", "Orchard Letters", "Annals of Fruit")

Piece = tuple[str, str]


def pieces(n: int) -> list[Piece]:
    """Return reference n as (label, text) pairs."""
    name, title, journal = NAMES[n % 6], TITLES[n % 5], JOURNALS[n % 3]
    year, volume, page = str(1950 + 7 * n % 70), str(1 + n % 40), 10 + 3 * n % 200
    if n % 2:
        tail = [("volume", f"{volume},"), ("pages", f"pp. {page}-{page + 9},"), ("date", f"{year}.")]
        return [("author", f"{name}."), ("title", f"{title}."), ("container-title", f"{journal},"), *tail]
    tail = [("volume", f"{volume}:"), ("pages", f"{page}-{page + 9}.")]
    return [("author", f"{name}"), ("date", f"({year})."), ("title", f"{title}."), ("container-title", journal), *tail]


def reference(n: int) -> str:
    """Return the text of reference n."""
    return " ".join(text for _, text in pieces(n))


def training_set(n: int, *, tags: bool = False) -> tuple[list[list[str]], list[list[str]]]:
    """Return tokens and labels of n references."""
    from espalier.document import Document

    X, y = [], []
    for i in range(n):
        tokens, labels = [], []
        for label, text in pieces(i):
            words = Document.from_text(text).words
            tokens += words
            labels += [f"B-{label}", *[f"I-{label}"] * (len(words) - 1)] if tags else [label] * len(words)
        X.append(tokens)
        y.append(labels)
    return X, y


@lru_cache
def tiny_model(rules: str = RULES, *, tags: bool = False) -> CCM:
    """Return a fitted model under rules."""
    features = ["bias", "lower[-1,0,1]", "shape[-1,0,1]", "position5", "edge"]
    base = CRF(features, l2=0.05, max_iterations=40)
    return CCM(base, rules, penalties="fixed").fit(*training_set(40, tags=tags))


def tiny_parser(rules: str = RULES) -> Parser:
    """Return a parser of the tiny model."""
    return Parser(tiny_model(rules))
