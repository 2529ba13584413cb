"""Two models on the same records, side by side, with what chance would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from espalier.cli.labelling import labelled_only
from espalier.tags import is_tag

if TYPE_CHECKING:
    from espalier.document import Document
    from espalier.estimators.base import SequenceLabeller

__all__ = ["compared", "comparison_table"]

SIGNIFICANT = 0.05


def compared(
    models: Sequence[SequenceLabeller],
    documents: Sequence[Document],
    name: str,
    metrics: Sequence[str],
    resamples: int,
) -> list[dict[str, Any]]:
    """Return a row for each metric: both figures, the difference with its interval, and two p-values."""
    from espalier.corpus import Corpus
    from espalier.metrics import paired_bootstrap, sequence_scores, wilcoxon

    labelled = labelled_only(documents, name)
    words = [document.words for document in labelled]
    a, b = (model.predict(words) for model in models)
    marks = all(is_tag(label) for label in set().union(*a, *b))
    gold = Corpus.from_documents(labelled, marks=marks)
    rows = []
    for metric in metrics:
        drawn = paired_bootstrap(gold, a, b, metric=metric, n_resamples=resamples)
        scores = np.array([sequence_scores(gold, labels, metric=metric) for labels in (a, b)])
        known = ~np.isnan(scores).any(axis=0)
        test = wilcoxon(scores[0][known], scores[1][known])
        rows.append(
            {
                "metric": metric,
                "a": drawn.a,
                "b": drawn.b,
                "difference": drawn.difference,
                "low": drawn.low,
                "high": drawn.high,
                "p_bootstrap": drawn.p_value,
                "p_wilcoxon": test.p_value,
            }
        )
    return rows


def comparison_table(first: str, second: str, rows: Sequence[dict[str, Any]]) -> list[RenderableType]:
    """Lay the rows out, and say in words what they mean."""
    laid = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    laid.add_column("")
    for name in ("A", "B", "B - A", "95 % interval", "p (bootstrap)", "p (Wilcoxon)"):
        laid.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        sure = row["p_bootstrap"] < SIGNIFICANT
        colour = "" if not sure else "green" if row["difference"] > 0 else "red"
        laid.add_row(
            str(row["metric"]).replace("_", " "), f"{100 * row['a']:.2f}", f"{100 * row['b']:.2f}",
            Text(f"{100 * row['difference']:+.2f}", colour), f"{100 * row['low']:+.2f} .. {100 * row['high']:+.2f}",
            f"{row['p_bootstrap']:.4f}", f"{row['p_wilcoxon']:.4f}",
        )  # fmt: skip
    return [Text(f"A {first}    B {second}", "dim"), "", laid, "", _in_words(rows)]


def _in_words(rows: Sequence[dict[str, Any]]) -> str:
    better = [
        f"{'B' if row['difference'] > 0 else 'A'} is better in {str(row['metric']).replace('_', ' ')}"
        for row in rows
        if row["p_bootstrap"] < SIGNIFICANT
    ]
    return f"{'; '.join(better)} (p < {SIGNIFICANT})" if better else "the difference may be chance"
