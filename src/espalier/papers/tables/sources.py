"""Which code a figure came from: a digest of the modules that a table's module imports, and theirs, and so on.

A digest over the whole library would change with every commit and say nothing. This one follows imports from the module
that measures, those inside functions too, and leaves out what only type checkers read. Of each module it takes what is
computed: no comments, no docstrings, and of the tables themselves none of the words that only describe (`DESCRIBING`).
Files that modules read by name (tasks, rules, word lists) belong to every module of their package, and what is
registered by name (models, decoders; no tables) to whoever looks names up.

A digest that differs does not say that a figure is wrong. It says that nobody has looked since the code changed.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

__all__ = ["code_digest", "meant_by", "modules_of"]

ROOT = Path(__file__).resolve().parents[3]
"""The directory that has `espalier`."""

DESCRIBING = frozenset({"title", "metric", "minutes", "charts", "departures", "remark"})
"""Arguments of tables that say something about figures and change none."""

READ = (".toml", ".rules", ".txt", ".tsv")
ROWS, BY_NAME, TABLES = "entry_points.txt", "espalier.registry", "[espalier.tables]"


@lru_cache(maxsize=64)
def code_digest(module: str) -> str:
    """Return a SHA-256 over what a module and all that it imports from the library compute."""
    h = hashlib.sha256()
    modules = modules_of(module)
    for name in modules:
        h.update(f"{name}\0{meant_by(name)}\0".encode())
    for folder in sorted({_path(name).parent for name in modules}):
        for path in sorted(path for path in folder.iterdir() if path.suffix in READ and path.name != ROWS):
            h.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return h.hexdigest()


@lru_cache(maxsize=64)
def modules_of(module: str) -> tuple[str, ...]:
    """Return the names of a module, of its packages and of all that they import from the library, in order."""
    found: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name not in found and _exists(name):
            found.add(name)
            todo += [*_imported(name), name.rpartition(".")[0]]
    return tuple(sorted(found))


@lru_cache(maxsize=512)
def meant_by(module: str) -> str:
    """Return what a module computes: its syntax tree without docstrings and descriptions."""
    tree = _tree(module)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [one for one in node.body if not _is_text(one)] or [ast.Pass()]
        elif isinstance(node, ast.Call) and ".tables." in module:
            node.keywords = [one for one in node.keywords if one.arg not in DESCRIBING]
    return ast.unparse(tree)


def _is_text(node: ast.stmt) -> bool:
    """Is this a docstring, or a text behind a constant that says what it is?"""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@lru_cache(maxsize=512)
def _imported(module: str) -> frozenset[str]:
    """Return what a module may import from the library when it runs."""
    found: set[str] = set()
    for node in _run(_tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    if module == BY_NAME:
        found |= set(_registered())
    return frozenset(name for name in found if name.partition(".")[0] == "espalier")


def _registered() -> Iterator[str]:
    """Yield the modules that are found by name; the tables themselves are not: a cell knows its own."""
    for path in sorted(ROOT.glob(f"espalier/**/{ROWS}")):
        group = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            group = line if line.startswith("[") else group
            if "=" in line and group != TABLES:
                yield line.partition("=")[2].partition(":")[0].strip()


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, without what stands under `if TYPE_CHECKING`."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def _tree(module: str) -> ast.Module:
    return ast.parse(_path(module).read_bytes())


def _exists(module: str) -> bool:
    return bool(module) and _path(module).is_file()


def _path(module: str) -> Path:
    place = ROOT.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
