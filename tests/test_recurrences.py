"""Every Viterbi, forward-backward, k best, Soft-DD and A* of the package is in `scripts/recurrences.toml`, once.

Functions that look like one are searched for by their names and by their loops: what a step makes of the column before
with a maximum, a sum of exponentials or a product of matrices. Whatever is found has to be in the file, as one of
these, as a part or a caller of one, or as something else.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "espalier"
LISTED = tomllib.loads((ROOT / "scripts" / "recurrences.toml").read_text(encoding="utf-8"))

NAME = re.compile(
    r"viterbi|forward|backward|k_?best|best_(k|path|after|over)|soft_?dual|lagrang|a_?star|posterior|top_k|rank_"
    r"|count_search|tag_lanes|automaton_path|_epoch$|(^|_)samples?$|(^|\.)expectations"
)
MODULE = re.compile(r"^(dual|astar|viterbi|kbest|product)$")  # whose function of a general name is the algorithm
GENERAL = re.compile(r"^_?(decode|search|listed|evaluate)$")
SUM = re.compile(r"log_?sum|logaddexp|^exp$|dot$|einsum|matmul")
STEP = re.compile(SUM.pattern + r"|^max$|maximum|log_step|max_step|best_before")
BEST = re.compile(r"best|score|most")


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function by its full name, those inside classes and functions too."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef):
            yield prefix + child.name, child
        if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
            yield from functions(child, f"{prefix}{child.name}.")


def called(node: ast.AST) -> Iterator[str]:
    """The names of what is called below a node; `@` is a product of matrices."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            yield each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
        elif isinstance(each, ast.BinOp) and isinstance(each.op, ast.MatMult):
            yield "matmul"


def compares(loop: ast.AST) -> bool:
    """Does a loop take a maximum or a sum, or look for the best?"""
    greater = (each for each in ast.walk(loop) if isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.Gt))
    return any(map(STEP.search, called(loop))) or any(BEST.search(ast.unparse(each)) for each in greater)


def looks_back(loop: ast.For) -> bool:
    """Is something read at the place before or behind that of the loop?"""
    counters = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Add, ast.Sub))
        and getattr(part.left, "id", None) in counters and getattr(part.right, "value", None) == 1
        for each in ast.walk(loop) if isinstance(each, ast.Subscript) for part in ast.walk(each.slice)
    )  # fmt: skip


def owner(target: ast.AST) -> str | None:
    """The name that an assignment changes."""
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def carries(loop: ast.AST) -> bool:
    """Is a value made of itself, perhaps by way of others, in a loop that sums?"""
    if not any(map(SUM.search, called(loop))):
        return False
    made: dict[str, set[str]] = {}
    for each in ast.walk(loop):
        targets, value = (each.targets, each.value) if isinstance(each, ast.Assign) else ([], None)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.args:
            targets, value = ([each.func.value], each.args[0]) if each.func.attr == "append" else ([], None)
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                if value is not None and (name := owner(part)):
                    read = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
                    made.setdefault(name, set()).update(read)
    for _ in range(3):
        for read in made.values():
            read.update(*(made.get(name, set()) for name in tuple(read)))
    return any(name in read for name, read in made.items())


def looks_like_one(stem: str, name: str, function: ast.FunctionDef) -> bool:
    last = name.rpartition(".")[2]
    if NAME.search(last) or (MODULE.match(stem) and GENERAL.search(last)):
        return True
    loops = [each for each in ast.walk(function) if isinstance(each, (ast.For, ast.While))]
    return any((isinstance(x, ast.For) and compares(x) and looks_back(x)) or carries(x) for x in loops)


def found(source: Path = SOURCE) -> set[str]:
    """What looks like a recurrence below a folder, as file:function."""
    return {
        f"{path.relative_to(source).as_posix()}:{name}"
        for path in sorted(source.rglob("*.py"))
        for name, function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if looks_like_one(path.stem, name, function)
    }


def test_what_is_listed_is_there() -> None:
    every = [place for places in LISTED.values() for place in places]
    assert len(every) == len(set(every)), "a function has one kind"
    for place in every:
        file, name = place.split(":")
        known = {each for each, _ in functions(ast.parse((SOURCE / file).read_text(encoding="utf-8")))}
        assert name in known, f"{place} is listed in scripts/recurrences.toml, and is not there"


def test_what_looks_like_a_recurrence_is_listed() -> None:
    listed = {place for places in LISTED.values() for place in places}
    unknown = sorted(found() - listed)
    hint = "use one of [forward-backward], [viterbi] ... that is there, or say in scripts/recurrences.toml what it is"
    assert not unknown, f"{unknown} look like recurrences: {hint}"


@pytest.mark.parametrize(
    "code",
    [
        "def best(u, a):\n for t in range(1, len(u)):\n  for j in L:\n   d[t, j] = u[t, j] + max(d[t - 1] + a[j])",
        "def sums(u, a):\n alpha = u[0]\n for row in u[1:]:\n  alpha = row * (alpha @ a)\n  z += np.log(alpha.sum())",
        "def rest(u, a):\n beta = [end]\n for row in u:\n  here = log_sum(a + row + beta[-1])\n  beta.append(here)",
        "def soft_dual(rows):\n pass",
    ],
)
def test_a_new_one_is_noticed(code: str) -> None:
    ((name, function),) = functions(ast.parse(code))
    assert looks_like_one("somewhere", name, function)


def test_what_only_adds_up_is_none() -> None:
    ((name, function),) = functions(ast.parse("def total(u):\n s = 0\n for row in u:\n  s = s + row\n return s"))
    assert not looks_like_one("somewhere", name, function)
