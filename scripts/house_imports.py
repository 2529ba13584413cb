"""What imports what in the package, lazily and by text too; and which modules import each other in a circle.

Imported by `scripts/measure_house.py` and by `tests/test_layers.py`. A circle is a strongly connected component of the
modules (Tarjan 1972), in time linear in the imports. What is imported for type checking only does not run, so it closes
no circle; nor does a package for being above its modules, or a name that is computed: which module it means, nobody can
tell from the text. The package itself is left out: it is the door to all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

__all__ = ["When", "cycles", "imported", "imports"]

# Functions that import a module whose name is text.
IMPORTERS = ("import_module", "__import__", "need")
DOTTED = re.compile(r"espalier(\.[a-z_0-9]+)+")


class When(Enum):
    """When an import runs: with its module, later (in a function, by a name in a table), or never."""

    LOADING = "while its module is loaded"
    LATER = "later"
    TYPING = "for type checking only"


def imports(tree: ast.Module, module: str) -> Iterator[tuple[int, str, When]]:
    """Yield (line, dotted name, when) of every import; relative ones are made absolute.

    A module that is named by text is imported, too, later: in a table of classes, in the arguments of a process that
    begins with `-m`, or in a call of `import_module`. What is computed there is "?": the whole name, or its end.
    """
    package = ["espalier", *Path(module).parent.parts]

    def visit(node: ast.AST, when: When) -> Iterator[tuple[int, str, When]]:
        later = When.LATER if when is When.LOADING else when
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, when) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [] if not node.level else package[: len(package) - node.level + 1]
            origin = ".".join(base + ([node.module] if node.module else []))
            # `from espalier.rules import nodes` imports a module, `import Once` a name; who asks knows the modules.
            inside = origin.split(".")[0] == "espalier"
            names = [f"{origin}.{alias.name}" for alias in node.names] if inside else [origin]
            yield from ((node.lineno, name, when) for name in names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and is_dotted(node.value):
            yield node.lineno, node.value, later
        elif isinstance(node, ast.Call) and called(node) in IMPORTERS and node.args:
            yield from ((node.lineno, name, later) for name in named_modules(node.args[0]))
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for child in node.body:
                yield from visit(child, When.TYPING)
            for child in node.orelse:
                yield from visit(child, when)
            return
        inner = later if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else when
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inner)

    return visit(tree, When.LOADING)


def is_dotted(text: str) -> bool:
    """Tell whether a text is the name of a module of the package."""
    return DOTTED.fullmatch(text) is not None


def called(node: ast.Call) -> str:
    """`import_module`, also of `importlib.import_module`; methods of other things have other names."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr if ast.unparse(node.func.value) == "importlib" else ""
    return node.func.id if isinstance(node.func, ast.Name) else ""


def named_modules(argument: ast.expr) -> list[str]:
    """The modules that an argument names; f"espalier.io.{name}" is `espalier.io.?`, anything else "?"."""
    if isinstance(argument, ast.Constant):
        return [] if is_dotted(str(argument.value)) else [str(argument.value)]
    if isinstance(argument, ast.IfExp):
        return named_modules(argument.body) + named_modules(argument.orelse)
    if isinstance(argument, ast.JoinedStr) and isinstance(argument.values[0], ast.Constant):
        start = str(argument.values[0].value)
        return [f"{start}?"] if start.count(".") >= 2 and start.endswith(".") else ["?"]
    return ["?"]


def imported(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return the modules that each module imports when it runs; keys and values are dotted names in the package.

    trees : path below the package -> its syntax tree.
    """
    names = {path: ".".join(Path(path).with_suffix("").parts).removesuffix("__init__").strip(".") for path in trees}
    modules = {*names.values()} - {""}
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for path, tree in trees.items():
        if not names[path]:
            continue
        for _, name, when in imports(tree, path):
            target = name.removeprefix("espalier.")
            if when is not When.TYPING and name != target and not name.endswith("?"):
                graph[names[path]] |= {target if target in modules else target.rpartition(".")[0]} & modules
    return {name: {*sorted(targets - {name})} for name, targets in sorted(graph.items())}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules each of which imports the others, by way of others of the set perhaps."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in sorted(graph[module]):
            if target not in index:
                visit(target)
            low[module] = min(low[module], low[target]) if target in stack else low[module]
        if low[module] == index[module]:
            at = stack.index(module)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for module in graph:
        if module not in index:
            visit(module)
    return sorted(group for group in found if len(group) > 1)
