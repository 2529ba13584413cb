"""Learning that begins from a model: its weights are the prior of the new ones, w₀ in l2 ‖w - w₀‖².

Where the model is a product of a CRF and nets, each of them learns from where it was. A net that has learned a style
from a few references is worth more beside the CRF than it was before.

The numbers were chosen on styles of references that were made for it (`scripts/adapt_citations.py --choose`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from espalier import store
from espalier.corpus import Corpus
from espalier.errors import Argument, InputError
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.crf import CRF, Learned
from espalier.estimators.experts import Experts
from espalier.estimators.persist import pack, unpack
from espalier.learning.recombination import layered

__all__ = ["COPIES", "CYCLES", "L2", "POOL_WEIGHT", "Start", "begin", "named_start"]

L2 = 0.03
"""How strongly a CRF is drawn to its prior."""

COPIES = 10
"""How many copies with exchanged fields it learns from, besides each sequence."""

NET: dict[str, Any] = {"rate": 5e-4, "crf_rate": 2e-4, "decay": 0.5, "epochs": 2, "crf_epochs": 1, "min_steps": 240}
"""How a net learns from where it was: some steps, drawn back all the while."""

NET_COUNTS = 0.5
"""What a net counts at least, beside a CRF that counts 1: of 0.2 to 1.2 best over four styles, or nearly so in each."""

CYCLES, POOL_WEIGHT = 1, 0.2
"""How often unlabelled text is labelled and learned from, and how much a sequence of it counts."""

_KEPT = ("calibration", "attribution")
_CURVES = ("field", "record", "counts")


@dataclass(frozen=True, slots=True)
class Start:
    """Where learning begins: a model's name, its weights, and what else its file says that stays true.

    Parameters
    ----------
    name : what the model is called in messages.
    learned : the weights, `CRF.learned_`.
    experts : the other experts, if the CRF was the first of several: nets that learn too.
    kept : entries of the model file's header that the new file gets too, such as the calibration.
    replay : labelled sequences that the model knows, which are learned again so that it knows them still, or None.
    """

    name: str
    learned: Learned
    experts: Experts | None = None
    kept: Mapping[str, Any] = field(default_factory=dict)
    replay: Corpus | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a CRF that begins here."""
        copies = 0 if layered(self.learned.labels) else COPIES
        return {"prior": self.learned, "l2": L2, "copies": copies, "replay": self.replay}

    def joined(self, model: CRF) -> CRF | Experts:
        """Return the CRF to fit with the other experts beside it, if there are any."""
        if self.experts is None:
            return model
        before = self.experts
        given = {"copies": self.parameters["copies"], "replay": model.replay}
        others = (net for net in before.experts_[1:] if isinstance(net, ConvCRF))
        nets = [ConvCRF(prior=net.learned_, **given, **NET) for net in others]
        first, *rest = before.weights_.tolist()
        weights = [first, *(max(weight, NET_COUNTS * first) for weight in rest)]
        return Experts([model, *nets], weights, temperature=before.temperature_, ask_below=before.ask_below)

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
    experts: Experts | None = None
    while not isinstance(model, CRF):
        if isinstance(model, Experts):
            nets = model.experts_[1:]
            experts = model if all(isinstance(net, ConvCRF) for net in nets) else None
            inner: Any = model.experts_[0]
        else:
            inner = getattr(model, "model_", getattr(model, "base_", None))
        if inner is None:
            raise InputError(
                f"{name or path}: holds a {type(model).__name__}", hint="only a CRF can be learned from further"
            )
        model = inner
    kept = {key: header[key] for key in _KEPT if key in header}
    if experts is not None and "calibration" in kept:  # scores of a product with other weights are of another size
        kept["calibration"] = {name: curve for name, curve in kept["calibration"].items() if name in _CURVES}
    return Start(name or str(path), model.learned_, experts, kept)


def named_start(source: object, found: Callable[[str], Path]) -> Callable[[], Start] | None:
    """Return where learning begins if a model is named; None says to begin from nothing.

    found : from the name of a model to its file (`loading.model_file`).
    """
    if source is None:
        return None
    if not isinstance(source, str):
        what = ": expected a model file, or null to begin from nothing"
        raise InputError(Argument("set", "prior", source), what)
    return lambda: begin(found(source), source)
