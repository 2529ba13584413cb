"""One function says that an answer is optimal: whoever else would say so is found here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src" / "espalier"
HOME = ("decoders/certify.py", "prove")


def claims(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the function and the line of everything that can make an answer optimal.

    That is the word as a value, or the member of `Status` anywhere but beside `is` or `==`.
    """

    def visit(node: ast.AST, function: str) -> Iterator[tuple[str, int]]:
        if isinstance(node, ast.FunctionDef):
            function = node.name
        compared = isinstance(node, ast.Compare)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Attribute) and child.attr == "OPTIMAL" and not compared:
                yield function, child.lineno
            if isinstance(child, ast.Constant) and child.value == "optimal" and not compared:
                yield function, child.lineno
            yield from visit(child, function)

    return visit(tree, "")


def test_one_function_says_optimal() -> None:
    found = []
    for path in sorted(SRC.rglob("*.py")):
        name = path.relative_to(SRC).as_posix()
        for function, line in claims(ast.parse(path.read_text(encoding="utf-8"))):
            if (name, function) != HOME and not (name == HOME[0] and not function):  # the word's own definition
                found.append(f"{name}:{line} in {function or 'the module'}")
    assert found == []


def test_the_scan_finds_other_ways_to_say_it() -> None:
    source = """
def a(): return "optimal"
def b(status=Status.OPTIMAL): return {"status": status}
def c(x): return x if x.status is Status.OPTIMAL else None
def d(x): return x == "optimal"
"""
    assert sorted({function for function, _ in claims(ast.parse(source))}) == ["a", "b"]


def test_the_page_takes_it_from_the_answer() -> None:
    """The page has words for every status, and no status of its own."""
    static = SRC / "workbench" / "static"
    found = [path.name for path in static.glob("*.js") if "optimal" in path.read_text(encoding="utf-8")]
    assert found == ["chips.js"]
