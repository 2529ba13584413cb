"""Learning that begins from a model: its weights are the prior of the new ones, w₀ in l2 ‖w - w₀‖².

The numbers were chosen on styles of references that were made for it (`scripts/adapt_citations.py --choose`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from espalier import store
from espalier.errors import InputError
from espalier.estimators.crf import CRF
from espalier.estimators.linear import Learned
from espalier.estimators.persist import pack, unpack
from espalier.learning.recombination import layered

__all__ = ["COPIES", "CYCLES", "L2", "POOL_WEIGHT", "Start", "begin"]

L2 = 0.03
"""How strongly a CRF is drawn to its prior."""

COPIES = 10
"""How many copies with exchanged fields it learns from, besides each sequence."""

CYCLES, POOL_WEIGHT = 1, 0.2
"""How often unlabelled text is labelled and learned from, and how much a sequence of it counts."""

_KEPT = ("calibration", "attribution")


@dataclass(frozen=True, slots=True)
class Start:
    """Where learning begins: a model's name, its weights, and what else its file says that stays true.

    Parameters
    ----------
    name : what the model is called in messages.
    learned : the weights, `CRF.learned_`.
    kept : entries of the model file's header that the new file gets too, such as the calibration.
    """

    name: str
    learned: Learned
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a CRF that begins here."""
        return {"prior": self.learned, "l2": L2, "copies": 0 if layered(self.learned.labels) else COPIES}

    @property
    def pool_parameters(self) -> dict[str, Any]:
        """The parameters of CoDL around it."""
        return {"cycles": CYCLES, "pool_weight": POOL_WEIGHT}

    def save(self, estimator: Any, path: str | Path) -> None:
        """Write a fitted estimator to a file, with what was kept."""
        header, arrays = pack(estimator)
        store.save(path, header | dict(self.kept), arrays)


def begin(path: str | Path, name: str = "") -> Start:
    """Return the start from the CRF in a model file.

    Parameters
    ----------
    path : the model file; the CRF may be inside other estimators, such as a CCM, or be the first of experts.
    name : what to call the model in messages; by default its path.

    Returns
    -------
    Start

    Raises
    ------
    InputError
        The file holds a model of another kind.
    """
    header, arrays = store.load(path)
    model: Any = unpack(header, arrays)
    while not isinstance(model, CRF):
        experts = getattr(model, "experts_", [None])
        inner = getattr(model, "model_", getattr(model, "base_", experts[0]))
        if inner is None:
            raise InputError(
                f"{name or path}: holds a {type(model).__name__}", hint="only a CRF can be learned from further"
            )
        model = inner
    return Start(name or str(path), model.learned_, {key: header[key] for key in _KEPT if key in header})
