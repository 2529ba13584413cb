"""Texts for which no labelling keeps all hard rules: the labelling that breaks least, and what may be said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem
from espalier.inference import viterbi

if TYPE_CHECKING:
    from espalier.extract.answers import Reading

__all__ = ["nearest_labels", "unsure"]


def nearest_labels(problem: Problem) -> NDArray[np.int16]:
    """Return the labels that break hard rules least, else those that the model prefers."""
    from espalier.decoders.conflict import relax

    nearest = relax(problem)
    return viterbi(problem.potentials).labels if nearest is None or nearest.labels is None else nearest.labels


def unsure(reading: Reading, problem: Problem | None = None) -> Reading:
    """Return a reading as what it is if no labelling keeps the rules: sure of nothing, and with the names of the rules.

    Under the rules every labelling has the probability 0; a calibration would make something of that. problem : whose
    rules are asked; a model of segments has none.
    """
    from espalier.decoders.conflict import conflict

    why = None if problem is None else conflict(problem)
    fields = tuple(replace(field, confidence=0.0) for field in reading.fields)
    certificate = replace(reading.certificate, conflict=() if why is None else why.rules)
    return reading._replace(fields=fields, confidence=0.0, certificate=certificate)
