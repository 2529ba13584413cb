"""`Rule` and `RuleSet`: nodes with names and prices, in a fixed order.

The order fixes the index of a rule in `penalties` and in every compiled form; rules are identified by
name, never by object identity.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from espalier.errors import RuleError, counted, listed, nearest
from espalier.rules.nodes import Node, conditions_of, fields_of, known_fields, unknown_field
from espalier.rules.predicates import lists_of, own_function
from espalier.rules.reader import Scope
from espalier.rules.text import parse_node, parse_rules, print_name, print_node

__all__ = ["DEFAULT_PENALTY", "KEPT_PRIOR", "VIOLATED_PRIOR", "Rule", "RuleSet", "rules"]

DEFAULT_PENALTY = 1.0
"""What a rule without a penalty of its own costs until one is learned."""

KEPT_PRIOR, VIOLATED_PRIOR = 15.0, 0.25
"""How often a rule was kept and violated before anybody counted: the pseudo-counts of `learning.penalties`.

Chosen with `over` on two development sets under HMMs of 5 to 300 labelled sequences."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the price of a labelling y is penalty * d(x, y).

    penalty : natural-log units, >= 0; inf is a hard rule; None leaves it to be learned.
    once : count any violation as one, min(1, d).
    """

    name: str
    node: Node
    penalty: float | None = None
    once: bool = False

    def __post_init__(self) -> None:
        """Check name and penalty."""
        if not isinstance(self.name, str) or not self.name:
            raise RuleError("a rule needs a name, a non-empty string", hint=f"found {self.name!r}")
        if not isinstance(self.node, Node):
            raise RuleError(
                f"rule {self.name!r}: {self.node!r} is not a rule", hint="compare counts, finish when(...).then(...)"
            )
        if self.penalty is None:
            return
        if isinstance(self.penalty, bool) or not isinstance(self.penalty, int | float | np.number):
            raise RuleError(f"rule {self.name!r}: penalty {self.penalty!r} is not a number")
        if math.isnan(self.penalty) or self.penalty < 0:
            raise RuleError(f"rule {self.name!r}: penalty {self.penalty} must be zero or more (inf for a hard rule)")
        object.__setattr__(self, "penalty", float(self.penalty))

    @property
    def hard(self) -> bool:
        """May no labelling violate it?"""
        return self.penalty == math.inf

    def __str__(self) -> str:
        """Return the rule's line of text."""
        options = []
        if self.penalty is not None:
            options.append("hard" if self.hard else f"penalty {self.penalty!r}")
        if self.once:
            options.append("once")
        tail = f"  [{', '.join(options)}]" if options else ""
        return f"{print_name(self.name)}: {print_node(self.node)}{tail}"


class RuleSet(Sequence[Rule]):
    """K rules in a fixed order, with names that differ. Immutable: every operation returns a new set.

    A set is a sequence of `Rule`; a rule is found by its number or by its name.

    Parameters
    ----------
    rules
        The rules, in this order. Most sets come from text: see `espalier.rules`.

    Raises
    ------
    RuleError
        If two rules have the same name.

    Examples
    --------
    >>> import espalier as es
    >>> rules = es.rules('''
    ...     Once:   each field once
    ...     Price:  token in "$" -> price  [hard]
    ... ''')
    >>> rules.names
    ('Once', 'Price')
    >>> print(rules["Price"])
    Price: token in "$" -> price  [hard]
    >>> print(rules.with_penalties({"Once": 2.5}).without("Price"))
    Once: each field once  [penalty 2.5]
    """

    __slots__ = ("_index", "_penalties", "_rules")

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        """Keep the rules in the given order."""
        self._rules = tuple(rules)
        self._index: dict[str, int] = {}
        for k, rule in enumerate(self._rules):
            if not isinstance(rule, Rule):
                raise RuleError(f"rule {k} is {rule!r}", hint="a RuleSet takes Rule(name, node) values")
            if rule.name in self._index:
                raise RuleError(f"two rules are named {rule.name!r}", hint="names must differ")
            self._index[rule.name] = k
        prices = (DEFAULT_PENALTY if rule.penalty is None else rule.penalty for rule in self._rules)
        self._penalties = np.fromiter(prices, np.float64, len(self._rules))

    @classmethod
    def from_text(
        cls,
        text: str | os.PathLike[str],
        *,
        labels: Iterable[str] | None = None,
        predicates: Mapping[str, Callable[[str], bool]] | None = None,
        lexicons: Mapping[str, Sequence[str]] | None = None,
        directory: str | Path = ".",
    ) -> RuleSet:
        """Parse a text with one rule on each line; `espalier.rules(text)` is the same function.

        Parameters
        ----------
        text
            The rules, or a `Path` to a file of them; the language is on the page "Rules", and `espalier.rules.text` has
            its grammar.
        labels
            The labels or tags of the task; a rule that names any other field is an error.
        predicates
            Python functions of one token, for `token is NAME`.
        lexicons
            Word lists for `token in file "NAME"`; others are read from files in `directory`.
        directory
            Where word lists are looked for; by default beside a file of rules, else in the current directory.

        Returns
        -------
        RuleSet
            The rules, in the order of the text.

        Raises
        ------
        RuleError
            If a line cannot be understood. The error shows the line, and says what was expected there.

        Examples
        --------
        >>> import espalier as es
        >>> es.rules("Start: first in title", labels=["title", "price"])
        RuleSet(Start)
        """
        source: Any = text
        if isinstance(source, os.PathLike):
            path = Path(source)
            near = path.parent if directory == "." else directory
            try:
                return cls.from_text(
                    path.read_text("utf-8"), labels=labels, predicates=predicates, lexicons=lexicons, directory=near
                )
            except RuleError as error:
                raise error.within(str(path)) from None
        if not isinstance(source, str):
            raise RuleError(f"rules come as text, not as {type(source).__name__}", hint="a file of them is a Path")
        if "\n" not in source and (source.endswith(".rules") or os.path.isfile(source)):
            raise RuleError(f"{source!r} is the name of a file, no rule", hint=f"Path({source!r}) reads the file")
        known = None if labels is None else known_fields(labels)
        scope = Scope(known, predicates or {}, lexicons or {}, Path(directory))
        return cls(Rule(*parsed) for parsed in parse_rules(source, scope))

    @property
    def K(self) -> int:
        """The number of rules."""
        return len(self._rules)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._index)

    @property
    def penalties(self) -> NDArray[np.float64]:
        """What each rule costs, float64[K]; `DEFAULT_PENALTY` where none is set, inf for hard rules."""
        return np.array(self._penalties, np.float64)

    @property
    def unset(self) -> tuple[str, ...]:
        """The names of the rules whose penalty nobody has set: those a learner is free to choose."""
        return tuple(rule.name for rule in self if rule.penalty is None)

    def with_penalties(self, penalties: Mapping[str, float | None] | Sequence[float] | NDArray[Any]) -> RuleSet:
        """Return the same rules with other penalties.

        Parameters
        ----------
        penalties
            Some by name, or all K in order. None leaves a penalty to be learned, inf makes a rule hard.

        Returns
        -------
        RuleSet
            The same rules in the same order.
        """
        if not isinstance(penalties, Mapping):
            given: Any = penalties
            if isinstance(given, str) or not hasattr(given, "__len__"):
                hint = "expected some by name, {'Once': 2.5}, or all in order"
                raise RuleError(f"penalties is {given!r}", hint=hint)
            if len(penalties) != self.K:
                own = f"{counted(len(penalties), 'penalty', 'penalties')} for {counted(self.K, 'rule')}"
                raise RuleError(own, hint="give one for each rule, or some by name")
            penalties = dict(zip(self.names, [float(p) for p in penalties], strict=True))
        chosen: Mapping[str, float | None] = {self[name].name: penalty for name, penalty in penalties.items()}
        return RuleSet(replace(r, penalty=chosen[r.name]) if r.name in chosen else r for r in self)

    def without(self, *names: str) -> RuleSet:
        """Return the set without the named rules.

        Parameters
        ----------
        *names
            Names of rules of this set.

        Returns
        -------
        RuleSet
            The others, in the same order.

        Raises
        ------
        RuleError
            If no rule has one of the names.
        """
        gone = {self[name].name for name in names}
        return RuleSet(rule for rule in self if rule.name not in gone)

    def only(self, names: Iterable[str]) -> RuleSet:
        """Return the named rules, in the order of this set.

        Parameters
        ----------
        names
            One name, or several.

        Returns
        -------
        RuleSet
            The rules of these names.

        Raises
        ------
        RuleError
            If no rule has one of the names.
        """
        if isinstance(names, str):
            names = (names,)
        kept = {self[name].name for name in names}
        return RuleSet(rule for rule in self if rule.name in kept)

    def check(self, labels: Iterable[str]) -> RuleSet:
        """Return the set itself if every field it names belongs to the labels.

        Parameters
        ----------
        labels
            Labels or tags of a task.

        Returns
        -------
        RuleSet
            This set.

        Raises
        ------
        RuleError
            If a rule names another field; the error names the rule, and the nearest field.
        """
        known = known_fields(labels)
        for rule in self:
            name = unknown_field((name for fields in fields_of(rule.node) for name in fields.names), known)
            if name is not None:
                near = nearest(name, known, f"known fields: {listed(sorted(known))}")
                raise RuleError(f"rule {rule.name!r}: unknown field {name!r}", hint=near)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as JSON values that stand alone: texts, penalties, and the words of every lexicon.

        Returns
        -------
        dict
            What `from_dict` takes.

        Raises
        ------
        RuleError
            If a rule calls a Python function, which cannot be stored.
        """
        lexicons: dict[str, list[str]] = {}
        for rule in self:
            for condition in conditions_of(rule.node):
                lexicons |= lists_of(condition)
                own = own_function(condition)
                if own:
                    raise RuleError(
                        f"rule {rule.name!r} uses the Python function {own!r}, which cannot be stored",
                        hint="use a word list, a lexicon or a pattern",
                    )
        return {"rules": [_entry(rule) for rule in self], "lexicons": lexicons}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RuleSet:
        """Build a set from what `to_dict` returned.

        Parameters
        ----------
        data
            The JSON values; no file is read.

        Returns
        -------
        RuleSet
            An equal set.

        Raises
        ------
        RuleError
            If the values are not a stored rule set.
        """
        try:
            lexicons = {str(name): tuple(words) for name, words in data["lexicons"].items()}
            entries = [(e["name"], e["rule"], e["penalty"], e["once"]) for e in data["rules"]]
        except (KeyError, TypeError, AttributeError) as error:
            raise RuleError(f"this is not a stored rule set: {error!r} is missing or wrong") from None
        # A stored set is whole: it never reads a file, wherever it came from.
        scope = Scope(lexicons=lexicons, directory=None)
        return cls(
            Rule(name, parse_node(str(text), scope), math.inf if penalty == "hard" else penalty, bool(once))
            for name, text, penalty, once in entries
        )

    @overload
    def __getitem__(self, k: int | str) -> Rule: ...
    @overload
    def __getitem__(self, k: slice) -> RuleSet: ...
    def __getitem__(self, k: int | str | slice) -> Rule | RuleSet:
        """Return a rule by index or name, or a slice as a RuleSet."""
        if isinstance(k, str):
            if k not in self._index:
                near = nearest(k, self.names, f"rules: {', '.join(self.names)}")
                raise RuleError(f"no rule is named {k!r}", hint=near)
            k = self._index[k]
        return RuleSet(self._rules[k]) if isinstance(k, slice) else self._rules[k]

    def __iter__(self) -> Iterator[Rule]:
        """Iterate over the rules."""
        return iter(self._rules)

    def __len__(self) -> int:
        """Return K."""
        return len(self._rules)

    def __contains__(self, item: object) -> bool:
        """Is a rule, or a rule of this name, in the set?"""
        return item in self._index if isinstance(item, str) else item in self._rules

    def __add__(self, other: RuleSet | Rule) -> RuleSet:
        """Return both sets, one after the other."""
        more = (other,) if isinstance(other, Rule) else other
        return RuleSet((*self, *more)) if isinstance(other, Rule | RuleSet) else NotImplemented

    def __eq__(self, other: object) -> bool:
        """Same rules in the same order."""
        return isinstance(other, RuleSet) and self._rules == other._rules

    def __hash__(self) -> int:
        """Hash by rules."""
        return hash(self._rules)

    def __str__(self) -> str:
        """Return the text form: `rules(str(r)) == r`."""
        return "\n".join(str(rule) for rule in self)

    def __repr__(self) -> str:
        """Show the names."""
        return f"RuleSet({', '.join(self.names)})"


def _entry(rule: Rule) -> dict[str, Any]:
    penalty = "hard" if rule.hard else rule.penalty
    return {"name": rule.name, "rule": print_node(rule.node), "penalty": penalty, "once": rule.once}


rules = RuleSet.from_text
"""Parse rules: what the package exports as `espalier.rules`."""
