"""What a prediction is worth: tokens, segments, whole sequences, calibration, significance.

Gold and predicted labels are lists of label lists or labelled corpora; `evaluate` gives every figure at once.
"""

from espalier.metrics.reliability import Bin, ReliabilityCurve, calibration
from espalier.metrics.scorers import exact_records, field_f1, macro_f1, token_accuracy_score
from espalier.metrics.scores import (
    Confusion,
    Report,
    Score,
    SegmentScores,
    confusion,
    evaluate,
    exactness,
    read_segments,
    segment_scores,
    token_accuracy,
)
from espalier.metrics.significance import Bootstrap, Wilcoxon, paired_bootstrap, sequence_scores, wilcoxon

__all__ = [
    "Bin",
    "Bootstrap",
    "Confusion",
    "ReliabilityCurve",
    "Report",
    "Score",
    "SegmentScores",
    "Wilcoxon",
    "calibration",
    "confusion",
    "evaluate",
    "exact_records",
    "exactness",
    "field_f1",
    "macro_f1",
    "paired_bootstrap",
    "read_segments",
    "segment_scores",
    "sequence_scores",
    "token_accuracy",
    "token_accuracy_score",
    "wilcoxon",
]
