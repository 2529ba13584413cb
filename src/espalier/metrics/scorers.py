"""Scorers for scikit-learn: functions (estimator, X, y) for `scoring=` of GridSearchCV and cross_val_score.

    from espalier.metrics.scorers import field_f1

    GridSearchCV(es.CRF(), {"l2": [0.1, 1.0]}, scoring=field_f1)

Words of scikit-learn such as "f1_macro" cannot count fields; these can. Each is better when it is larger.
"""

from __future__ import annotations

from typing import Any

from espalier.errors import InputError
from espalier.metrics.scores import Report, are_documents, evaluate

__all__ = ["exact_records", "field_f1", "macro_f1", "token_accuracy_score"]


def _report(estimator: Any, X: Any, y: Any) -> Report:
    if y is None and not hasattr(X, "all_labels") and not are_documents(list(X)):
        raise InputError("a scorer needs y, or X with labels: a Corpus, or documents with spans")
    return evaluate(X if y is None else y, estimator.predict(X))


def field_f1(estimator: Any, X: Any, y: Any = None) -> float:
    """Return the F1 of whole fields, each counted once (micro average), from 0 to 1.

    Examples
    --------
    >>> import espalier as es
    >>> from espalier.metrics.scorers import field_f1
    >>> X, y = [["Plum", "35"], ["Pear", "40"]], [["B-fruit", "B-price"]] * 2
    >>> field_f1(es.CRF().fit(X, y), X, y)
    1.0
    """
    return float(_report(estimator, X, y).field_f1)


def macro_f1(estimator: Any, X: Any, y: Any = None) -> float:
    """Return the mean of the F1 of each kind of field, so that rare fields count as much as common ones."""
    return float(_report(estimator, X, y).segments.macro.f1)


def exact_records(estimator: Any, X: Any, y: Any = None) -> float:
    """Return the share of sequences without a mistake."""
    return float(_report(estimator, X, y).exact)


def token_accuracy_score(estimator: Any, X: Any, y: Any = None) -> float:
    """Return the share of tokens that have the right label; `estimator.score` does the same."""
    return float(_report(estimator, X, y).token_accuracy)
