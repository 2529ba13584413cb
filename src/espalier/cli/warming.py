"""What `espalier warm` does: a little of everything, so that every kernel is compiled and kept on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["STEPS", "compile_for"]

_REFERENCES = [
    "Smith AB, Jones CD. Soil salts and the rooting of quince. Acta Hortic. 2004;12(4):33-9.",
    "Okafor, N., & van der Meer, J. (2019). Frost forecasts. In P. Duarte (Ed.), Weather (pp. 45-71). Fenland Press.",
]
_X = [["Plum", "Opal", ",", "35"], ["Pear", "Beth", ",", "40", "Ludlow"], ["Plum", "12"]]
_TAGS = [
    ["B-fruit", "I-fruit", "O", "B-price"],
    ["B-fruit", "I-fruit", "O", "B-price", "B-place"],
    ["B-fruit", "B-price"],
]
_PLAIN = [["fruit", "fruit", "price", "price"], ["fruit", "fruit", "price", "price", "place"], ["fruit", "price"]]
_RULES = "Once: each field once [penalty 2]\nStart: first in fruit"
_MANY_RULES = """
Once:   each field once [penalty 2]
Order:  a before b [penalty 1]
Needs:  c requires a [penalty 1]
Either: a excludes c [penalty 1]
Few:    count(b) <= 1 [penalty 1]
"""


def compile_for(step: str) -> None:
    """Do one step, in this process; the line that says what is going on is not for here."""
    os.environ["ESPALIER_QUIET"] = "1"
    _WORK[step]()


def _parse() -> None:
    import espalier as es
    from espalier.kernels import tagging  # noqa: F401  # without it so few references would be done without kernels

    parser: Any = es.load("citations")
    list(parser.parse_many(_REFERENCES * 8))
    parser.parse(_REFERENCES[0])


def _readings() -> None:
    import espalier as es
    from espalier.kernels import tagging  # noqa: F401

    parser: Any = es.load("citations")
    list(parser.parse_many(_REFERENCES * 8, k=3))
    parser.explain(_REFERENCES[0])


def _train() -> None:
    import espalier as es

    model = es.CRF(max_iterations=3).fit(_X, _TAGS)
    model.predict(_X)
    model.predict_marginals(_X)
    model.predict_k(_X, 2)
    for extractor in (es.Extractor(model), es.Extractor(model, _RULES)):
        list(extractor.extract_many(["Plum Opal, 35", "Pear Beth, 40 Ludlow"], k=2))


def _other_models() -> None:
    from espalier.estimators.persist import class_of
    from espalier.registry import ours

    for model in (class_of(kind) for kind in ours("models")):
        few = {"max_iterations": 3, "epochs": 1, "crf_epochs": 1, "min_steps": 1}  # rounds, whatever a model calls them
        known = model().get_params()
        model(**{name: n for name, n in few.items() if name in known}).fit(_X, _TAGS).predict(_X)


def _learn() -> None:
    import espalier as es

    ruled = es.CCM(es.HMM(), es.rules(_RULES))
    ruled.fit(_X, _PLAIN).predict(_X)
    es.CoDL(ruled).fit(_X, _PLAIN, unlabelled=_X)
    es.SampleRank(epochs=1).fit(_X, _TAGS)


def _decode() -> None:
    import numpy as np

    import espalier as es

    scores = np.random.default_rng(0).normal(size=(4, 5, 3))
    labels, tokens = ["a", "b", "c"], ["t"] * 5
    rules = es.rules("Once: each field once [penalty 1]")
    es.decode(scores, rules, labels=labels, tokens=[tokens] * 4)
    es.expectations(scores[0], rules, labels=labels, tokens=tokens)


def _search() -> None:
    """Decode under rules that contradict each other and the scores, so that answers have to be searched."""
    import numpy as np

    import espalier as es
    from espalier.parallel import run_chunks

    scores = np.random.default_rng(0).normal(size=(64, 12, 3))
    es.decode(scores, es.rules(_MANY_RULES), labels=["a", "b", "c"], tokens=[["t"] * 12] * 64)
    run_chunks(lambda chunk: None, 8, threads=2)


_WORK: Mapping[str, Callable[[], None]] = {
    "train": _train,
    "other models": _other_models,
    "readings": _readings,
    "search": _search,
    "parse": _parse,
    "scores": _decode,
    "learning": _learn,
}
STEPS = tuple(_WORK)
"""The names of the steps, the longest first."""
