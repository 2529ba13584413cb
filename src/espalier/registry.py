"""What is found by name: kinds of models and learners, methods of `train`, decoders, tables of `reproduce`.

Whoever brings some writes a row for each, a name and where its object is, in the form of entry points:

    [espalier.decoders]
    beam = espalier.papers.decoders.beam:BEAM

The folders of this package that bring something have a file `entry_points.txt` of such rows, so that they are found in
a copy that was never installed, and a folder that is taken away takes its rows with it. Other distributions declare
the same rows as entry points. Those cost 20 ms to look up, so nobody asks for them before a name is wanted that is not
ours, or all names are. A name of ours is always ours; one that two others bring is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Generic, TypeVar

from espalier.errors import InputError

__all__ = ["Registered", "ours"]

Value = TypeVar("Value")
FILE, PREFIX = "entry_points.txt", "espalier."


class Registered(Mapping[str, Value], Generic[Value]):
    """The objects of one group by name, imported when they are asked for: ours, then those of others.

    group : `decoders`, say, whose rows stand below `[espalier.decoders]`; kind : the class that each object has.
    """

    def __init__(self, group: str, kind: type[Value]) -> None:
        """Look nothing up before it is asked for."""
        self.group, self._kind = group, kind

    def __getitem__(self, name: str) -> Value:
        """Return an object by its name; an unknown one is a KeyError."""
        rows = ours(self.group)
        if name in rows:
            return self.imported(rows[name])
        several = _of_others(self.group)[name]
        if len(several) > 1:
            both = " and ".join(sorted(several.values()))
            raise InputError(f"{both} both bring {name!r}, one of the {self.group}", hint="uninstall one of them")
        [(place, distribution)] = several.items()
        return self.imported(place, distribution)

    def __iter__(self) -> Iterator[str]:
        """Yield all names, ours first."""
        yield from (own := ours(self.group))
        yield from (name for name in _of_others(self.group) if name not in own)

    def __len__(self) -> int:
        """Return how many names there are."""
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        """Is there an object of that name? It is not imported."""
        return name in ours(self.group) or name in _of_others(self.group)

    def named(self, name: str) -> Value:
        """Return an object by its name or, for who trusts it, by its place, `module:object`; else a KeyError."""
        return self.imported(name, "this call") if ":" in name else self[name]

    def imported(self, place: str, whose: str = "") -> Value:
        """Return the object at a place; whose : who named it, nobody if we did."""
        module, _, attribute = place.partition(":")
        try:
            found = getattr(import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            if not whose:
                raise
            what = f"{place}, which {whose} names among its {self.group}, cannot be imported: {error}"
            raise InputError(what, hint="expected module:object") from error
        if not isinstance(found, self._kind):
            what = f"{place} is a {type(found).__name__}"
            raise InputError(what, hint=f"{self.group} are of the class {self._kind.__name__}")
        return found


def ours(group: str) -> Mapping[str, str]:
    """Return the rows of this package, name -> module:object; those of the core come first."""
    return _rows().get(group, {})


@cache
def _rows() -> dict[str, dict[str, str]]:
    here = Path(__file__).parent
    found: dict[str, dict[str, str]] = {}
    for file in (here / FILE, *sorted(here.glob(f"*/{FILE}"))):
        group = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            name, sign, place = (part.strip() for part in line.partition("="))
            if sign:
                found.setdefault(group, {})[name] = place
            else:
                group = name.strip("[]").removeprefix(PREFIX) or group
    return found


@cache
def _of_others(group: str) -> dict[str, dict[str, str]]:
    """Return the rows of other distributions: name -> place -> distribution."""
    from importlib.metadata import entry_points

    found: dict[str, dict[str, str]] = {}
    for point in sorted(entry_points(group=PREFIX + group), key=lambda point: point.name):
        found.setdefault(point.name, {})[point.value] = point.dist.name if point.dist is not None else "a package"
    return found
