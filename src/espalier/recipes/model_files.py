"""What a model file holds, in words: models inside models, parameters, features, rules with their prices, arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from espalier.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["contents", "levels", "sizes", "title"]


def _inside(header: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the headers of the models that a model holds, by name."""
    return {name: inner for name, inner in header.items() if isinstance(inner, Mapping) and "kind" in inner}


def title(header: Mapping[str, Any]) -> str:
    """Say what is around what, such as "codl of ccm of hmm"."""
    inner = " and ".join(map(title, _inside(header).values()))
    return str(header.get("kind", "?")) + (f" of {inner}" if inner else "")


def levels(prefix: str, header: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield a header and those inside it, each with the prefix of its arrays."""
    yield prefix, header
    for name, inner in _inside(header).items():
        yield from levels(f"{prefix}{name}/", inner)


def contents(header: Mapping[str, Any], penalties: NDArray[Any] | None) -> Iterator[tuple[str, str]]:
    """Yield what one model holds: parameters, features, and rules with what they cost."""
    several = {name: header[name] for name in ("clusters",) if name in header}  # a parameter of several numbers
    own = {**header.get("parameters", {}), **several}
    yield "parameters", ", ".join(f"{name}={value}" for name, value in sorted(own.items()))
    voices = header.get("voices")
    if isinstance(voices, Mapping):
        yield "weights", ", ".join(f"{weight:.4g}" for weight in voices["weights"])
        alone = header.get("parameters", {}).get("ask_below") is not None
        more = f", of the first expert alone {voices['alone_temperature']:.4g}" if alone else ""
        yield "temperature", f"{voices['temperature']:.4g}{more}"
    features = header.get("features")
    if isinstance(features, Mapping):
        yield "features", "  ".join(map(str, features.get("templates", features)))
    if isinstance(header.get("rules"), Mapping):
        rules = RuleSet.from_dict(header["rules"])
        if penalties is not None:
            rules = rules.with_penalties(penalties)
        short = {rule.name: round(rule.penalty, 3) for rule in rules if rule.penalty is not None}
        yield "rules", str(rules.with_penalties(short))


def sizes(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Describe each array, or each group of arrays whose names share their first part."""
    groups: dict[str, list[NDArray[Any]]] = {}
    for name, array in arrays.items():
        groups.setdefault(name.partition("/")[0], []).append(array)
    return [
        f"{name}  {group[0].dtype}[{', '.join(map(str, group[0].shape))}]"
        if len(group) == 1
        else f"{name}  {len(group)} arrays, {sum(array.nbytes for array in group):,} bytes"
        for name, group in groups.items()
    ]
