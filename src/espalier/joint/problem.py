"""A joint problem: layers with scores of their own, rules across them, and the score of an answer from the definition.

    S(y) = Σ_c S_c(y_c) - Σ_k ρ_k d_k(y)

over all chains c (each text of each layer; the pairs of a layer of pairs are a chain without transitions). S_c is what
`decode` maximises for one sequence: scores minus the price of the layer's own rules. d_k is the degree of rule k across
layers (`joint.meaning`), ρ_k its penalty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Labels
from espalier.decoders.base import Problem, evaluate, price
from espalier.errors import InputError, nearest
from espalier.joint import meaning
from espalier.joint.layers import PairLayer, TextLayer
from espalier.joint.rules import Across, Joins, JointRules, Same

if TYPE_CHECKING:
    from espalier.joint.decoding import JointDecoding, JointExplanation

__all__ = ["Assignment", "JointChain", "JointEvaluation", "JointProblem"]

Assignment: TypeAlias = tuple[NDArray[np.int16], ...]
"""The labels of every chain, in the order of `JointProblem.chains`."""


class JointChain(NamedTuple):
    """One sequence of a layer: the text's number, None for pairs."""

    layer: str
    text: int | None
    problem: Problem


class JointEvaluation(NamedTuple):
    """model_score : Σ s_c without any rule; degrees : int64[K] of the rules across; score : S(y)."""

    model_score: float
    degrees: NDArray[np.int64]
    score: float


@dataclass(frozen=True, eq=False)
class JointProblem:
    """Several layers, each with scores of its own, and rules that speak across them.

    Parameters
    ----------
    layers
        Text layers and layers of pairs, by name.
    rules
        Rules across layers: a text (see `espalier.joint.rules`), or `JointRules`.

    Raises
    ------
    InputError
        If a layer, a label or a place that a rule or a pair names is not there.

    Examples
    --------
    >>> import espalier as es
    >>> from espalier.joint import PairLayer, TextLayer
    >>> names = TextLayer([[1.0, 0.9], [0.0, 2.0]], labels=["place", "person"], tokens=["Ulm", "Ann"])
    >>> pairs = PairLayer("names", [((0, 1), (1, 2))], [[0.0, 0.5]], labels=["none", "married"])
    >>> rules = "Married: married joins person and person [hard]"
    >>> answer = es.JointProblem({"names": names, "pairs": pairs}, rules).decode()
    >>> answer["names"], answer["pairs"], str(answer.status)
    (['place', 'person'], ['none'], 'optimal')
    """

    layers: Mapping[str, TextLayer | PairLayer]
    rules: JointRules | str = ""
    chains: tuple[JointChain, ...] = field(init=False)
    penalties: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        """Ground the layers, and check that everything fits together."""
        rules = JointRules.from_text(self.rules) if isinstance(self.rules, str) else self.rules
        if not isinstance(rules, JointRules):
            raise InputError(f"rules across layers are a text or JointRules, not {type(rules).__name__}")
        texts, pairs = [], []
        for name, layer in self.layers.items():
            if not isinstance(layer, TextLayer | PairLayer):
                raise InputError(f"layer {name!r} is a {type(layer).__name__}", hint="give a TextLayer or a PairLayer")
            if isinstance(layer, TextLayer):
                texts += [JointChain(name, t, problem) for t, problem in enumerate(layer.problems())]
            else:
                pairs.append(JointChain(name, None, layer.problem()))
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "chains", (*texts, *pairs))
        object.__setattr__(self, "penalties", rules.penalties)
        for chain in pairs:
            self._check_places(chain.layer)
        for rule in rules:
            self._check_rule(rule.name, rule.node)

    @property
    def joint_rules(self) -> JointRules:
        """The rules across layers."""
        assert isinstance(self.rules, JointRules)
        return self.rules

    def labels(self, layer: str) -> Labels:
        """Return the labels of a layer."""
        return next(chain.problem.labels for chain in self.chains if chain.layer == layer)

    def chains_of(self, layer: str) -> list[int]:
        """Return the numbers of the chains of a layer, in the order of its texts."""
        return [c for c, chain in enumerate(self.chains) if chain.layer == layer]

    def pair_layers(self) -> list[tuple[int, PairLayer]]:
        """Return the layers of pairs, each with the number of its chain."""
        layers = [(c, self.layers[chain.layer]) for c, chain in enumerate(self.chains)]
        return [(c, layer) for c, layer in layers if isinstance(layer, PairLayer)]

    def place(self, pairs: PairLayer, p: int, side: int) -> tuple[int, int, int]:
        """Return chain, start and end of the head (side 0) or the tail (side 1) of pair p."""
        place = tuple(int(number) for number in pairs.places[p][side])
        text, start, end = place if len(place) == 3 else (0, *place)
        return self.chains_of(pairs.layer)[text], start, end

    def with_penalties(self, penalties: ArrayLike) -> JointProblem:
        """Return the same problem with other prices of the rules across.

        Parameters
        ----------
        penalties
            One number for each rule, in order.

        Returns
        -------
        JointProblem
            The same layers and rules.
        """
        chosen = np.asarray(penalties, dtype=np.float64)
        if chosen.shape != (len(self.joint_rules),):
            raise InputError(
                f"{chosen.size} penalties for {len(self.joint_rules)} rules", hint="give one for each rule"
            )
        return self.with_rules(self.joint_rules.with_penalties(dict(zip(self.joint_rules.names, chosen, strict=True))))

    def with_rules(self, rules: JointRules | str) -> JointProblem:
        """Return the same layers under other rules across.

        Parameters
        ----------
        rules
            A text, or `JointRules`.

        Returns
        -------
        JointProblem
            The same layers.
        """
        return JointProblem(self.layers, rules)

    def assignment(self, names: Mapping[str, Sequence[Any]]) -> Assignment:
        """Return label names as numbers, such as the right answer that prices are counted on.

        Parameters
        ----------
        names
            The label names of every layer, in the form that `JointDecoding.names` has.

        Returns
        -------
        Assignment
            One array for each chain.
        """
        missing = next((name for name in self.layers if name not in names), None)
        if missing is not None:
            raise InputError(f"there are no labels for layer {missing!r}")
        found = []
        for chain in self.chains:
            layer = self.layers[chain.layer]
            several = isinstance(layer, TextLayer) and layer.several
            if several and len(names[chain.layer]) != len(self.chains_of(chain.layer)):
                texts = len(self.chains_of(chain.layer))
                raise InputError(f"layer {chain.layer!r}: {texts} texts, but labels of {len(names[chain.layer])}")
            given = names[chain.layer][chain.text or 0] if several else names[chain.layer]
            if len(given) != chain.problem.T:
                raise InputError(f"layer {chain.layer!r}: {chain.problem.T} places, but {len(given)} labels are given")
            known = {name: j for j, name in enumerate(chain.problem.labels.names)}
            unknown = next((name for name in given if name not in known), None)
            if unknown is not None:
                raise InputError(f"layer {chain.layer!r} has no label {unknown!r}", hint=nearest(unknown, [*known]))
            found.append(np.array([known[name] for name in given], dtype=np.int16))
        return tuple(found)

    def evaluate(self, y: Assignment) -> JointEvaluation:
        """Score an answer from the definition: every chain's own meaning, and that of the rules across.

        Parameters
        ----------
        y
            The labels of every chain, as `assignment` returns them.

        Returns
        -------
        JointEvaluation
            The models' score, the degree of each rule across, and the score less all prices.
        """
        own = [evaluate(chain.problem, labels) for chain, labels in zip(self.chains, y, strict=True)]
        degrees = meaning.degrees(self, y)
        score = sum(found.score for found in own) - price(degrees, self.penalties)
        return JointEvaluation(sum(found.model_score for found in own), degrees, score)

    def decode(self, k: int = 1, **options: Any) -> JointDecoding:
        """Return the best labels of all layers together, with a certificate.

        Parameters
        ----------
        k
            How many answers to return, the best first; the others are `alternatives`.
        **options
            method : "auto" (Lagrangian decomposition, then the integer program where a gap is left), "dual" or "ilp".
            max_iterations : passes of the decomposition. time_limit : seconds for the integer program.

        Returns
        -------
        JointDecoding
            Labels by layer, score, violations and certificate.
        """
        from espalier.joint.decoding import decode

        return decode(self, k, **options)

    def explain(self, budget: int = 100) -> JointExplanation:
        """Return the answers without and with the rules across, and a smallest set of rules that makes the change.

        Parameters
        ----------
        budget
            How many decodings to spend on finding the set.

        Returns
        -------
        JointExplanation
            Both answers, what each rule does, and the rules that make the difference.
        """
        from espalier.joint.decoding import explain

        return explain(self, budget)

    def _check_places(self, name: str) -> None:
        """Refuse pairs of places that are not in their text layer."""
        layer = self.layers[name]
        assert isinstance(layer, PairLayer)
        target = self.layers.get(layer.layer)
        if not isinstance(target, TextLayer):
            raise InputError(f"layer {name!r} is about pairs of {layer.layer!r}, which is no text layer")
        if any("/" in label for label in self.labels(layer.layer).names):
            raise InputError(
                f"layer {layer.layer!r} has labels within labels", hint="pairs join segments of flat labels"
            )
        chains = self.chains_of(layer.layer)
        for p, places in enumerate(layer.places):
            if len(places) != 2 or not all(map(_is_place, places)):
                raise InputError(f"pair {p} of layer {name!r} is {places!r}", hint="expected two places (start, end)")
            for place in places:
                text, start, end = place if len(place) == 3 else (0, *place)
                if not (0 <= text < len(chains) and 0 <= start < end <= self.chains[chains[text]].problem.T):
                    raise InputError(f"pair {p} of layer {name!r}: there is no place {tuple(place)}")

    def _check_rule(self, name: str, node: Joins | Across | Same) -> None:
        """Refuse a rule that speaks of what is not there."""
        if isinstance(node, Joins):
            known = [label for c, _ in self.pair_layers() for label in self.chains[c].problem.labels.names]
            if not any(node.labels.has_label(label) for label in known):
                raise InputError(f"rule {name!r}: no layer of pairs has the label {', '.join(node.labels.names)!r}")
            return
        named = (node.layer,) if isinstance(node, Same) else (node.layer, node.other)
        for layer in named:
            if not isinstance(self.layers.get(layer), TextLayer):
                raise InputError(
                    f"rule {name!r}: no text layer is named {layer!r}", hint=nearest(layer, [*self.layers])
                )
        lengths = {tuple(self.chains[c].problem.T for c in self.chains_of(layer)) for layer in named}
        if len(lengths) > 1:
            raise InputError(f"rule {name!r}: layers {' and '.join(map(repr, named))} are not over the same tokens")


def _is_place(place: object) -> bool:
    """Tell whether something is (start, end) or (text, start, end), in whole numbers."""
    if not isinstance(place, Sequence | np.ndarray) or len(place) not in (2, 3):
        return False
    return all(isinstance(number, int | np.integer) and not isinstance(number, bool) for number in place)
