"""Docstrings of public names: the examples run, and those that are done have the sections of numpydoc."""

from __future__ import annotations

import doctest
import inspect
from itertools import pairwise

import pytest

import espalier

# Functions of the public surface whose docstrings have every section that they need.
SECTIONED = {
    "RuleSet.check",
    "RuleSet.from_dict",
    "RuleSet.from_text",
    "RuleSet.only",
    "RuleSet.with_penalties",
    "RuleSet.without",
    "decode",
    "discover",
    "evaluate",
    "explain",
    "load_task",
    "read",
    "rules",
    "write",
}


def public(name: str) -> object:
    """`RuleSet.check` and the like; the package `rules` is a function, too."""
    first, _, rest = name.partition(".")
    found = getattr(espalier, first)
    found = inspect.getattr_static(found, rest) if rest else found
    if name == "rules":
        return espalier.RuleSet.from_text
    return getattr(found, "__func__", found)


def examples() -> list[doctest.DocTest]:
    """Every example of a public name or of one of its methods, each once."""
    found: dict[str, doctest.DocTest] = {}
    for name in (*espalier.__all__, *espalier._ELSEWHERE):
        value = getattr(espalier, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            module = inspect.getmodule(value)
            for test in doctest.DocTestFinder(exclude_empty=True).find(value, name, module=module, globs={}):
                if test.examples:
                    found.setdefault(test.name, test)
    return list(found.values())


@pytest.mark.parametrize("example", examples(), ids=lambda test: test.name)
def test_examples_print_what_stands_below_them(example: doctest.DocTest) -> None:
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(
        example, out=said.append
    )
    assert result.attempted
    assert not result.failed, "".join(said)


@pytest.mark.parametrize("name", sorted(SECTIONED))
def test_sections_say_what_goes_in_and_what_comes_out(name: str) -> None:
    function = public(name)
    text = inspect.getdoc(function) or ""
    sections = {line for line, below in pairwise(text.split("\n")) if set(below) == {"-"}}
    assert {"Parameters", "Returns"} <= sections
    body = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    described = {part.strip().lstrip("*") for line in body.split("\n") if line[:1].strip() for part in line.split(",")}
    taken = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]  # type: ignore[arg-type]
    assert set(taken) == described


def test_there_are_examples() -> None:
    names = {test.name for test in examples()}
    assert {*espalier.__all__, "RuleSet.from_text"} - names <= {"load", "rules"}
