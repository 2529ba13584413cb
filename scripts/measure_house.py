"""How large the house is, and how long its corridors are, against what it may have: the budgets of `budgets.toml`.

    python scripts/measure_house.py [--json FILE] [--part NAME] [--tighten] [--walk parse|train]

For each part of the package, and for `src`, `scripts` and `bench` as a whole:

code     lines of Python that hold code: no blanks, no comments, no docstrings
nodes    of its syntax trees, docstrings left out: lines can be packed, nodes cannot
web      lines of JavaScript, CSS and HTML
data     lines of data files: TOML, rules, lists of words
binary   thousand bytes of models and arrays

For the public calls (`WALKS`), in a process that has made each once before: files of the package in which a function
runs, functions that run, and how deep they call each other. Then how long functions are, how many arguments kernels
take, what `recurrences.toml` lists of each sort, import cycles, and private names that another file uses.

Every figure has a budget, and the program fails where a figure is larger. A budget is a number, or, where it went up,
`{budget = 120, was = 100, why = "..."}`. `--tighten` writes the figures of today where they are smaller. `--part`
shows the files of a part, the largest first; `--walk` those that a command meets, in order: functions that run while a
module is loaded do not count there.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from house_imports import cycles, imported

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parents[1]
BUDGETS, RECURRENCES = Path("scripts/budgets.toml"), Path("scripts/recurrences.toml")
SORTS = ("viterbi", "forward-backward", "k best", "soft-dd", "a*")
ONE = "L. O. Andersen. Program analysis and specialization for the C programming language. PhD thesis, DIKU, 1994."

# The parts of the package that are not its core. Whatever else is there, a new file, too, is core.
PARTS = {
    "papers": ("papers",),
    "joint, cluster": ("joint", "cluster"),
    "cli": ("cli",),
    "workbench": ("workbench", "server"),
    "citations": ("citations",),
    "documents": ("documents",),
}
CORE = "core"
WEB = {".js", ".css", ".html"}
BINARY = {".espalier", ".npy"}
MADE = {".pyc", ".nbc", ".nbi"}  # by Python and Numba

# A rule form, and where another need not be named: the tables of papers use all of them.
RULE_FORM = "Before"


# Sizes.


def part_of(path: Path) -> str:
    """Return the part of the package that a file below `src/espalier` belongs to."""
    room = path.parts[0].removesuffix(".py")
    return next((part for part, rooms in PARTS.items() if room in rooms), CORE)


def files_of(tree: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of `src`, `scripts` and `bench`, each with its part."""
    for place in ("src", "scripts", "bench"):
        for path in sorted((tree / place).rglob("*")):
            made = path.suffix in MADE or ".egg-info" in str(path)
            if path.is_file() and not made and path not in (tree / BUDGETS, tree / RECURRENCES):  # what is said of it
                inside = path.relative_to(tree / place)
                yield (part_of(Path(*inside.parts[1:])) if place == "src" else place), path


def size(path: Path) -> dict[str, int]:
    """Return the size of a file, in the column where it counts."""
    if path.suffix == ".py":
        return code_size(path.read_text(encoding="utf-8"))
    if path.suffix in BINARY:
        return {"binary": round(path.stat().st_size / 1000)}
    lines = sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
    return {"web" if path.suffix in WEB else "data": lines}


def code_size(source: str) -> dict[str, int]:
    """Return the lines of a source that hold code, and the nodes of its tree; docstrings are neither."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes, said = 0, set()
    for node in ast.walk(tree):
        nodes += 1
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            said |= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
            nodes -= 2
    empty = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in empty:
            lines |= {*range(token.start[0], token.end[0] + 1)}
    return {"code": len(lines - said), "nodes": nodes}


def sizes(tree: Path) -> dict[str, int]:
    """Return the size of every part, of `src`, and of all."""
    found = Counter[str]()
    for part, path in files_of(tree):
        for total in {part, "all", part if part in ("scripts", "bench") else "src"}:
            found.update({f"{total}: {column}": n for column, n in size(path).items()})
    return dict(sorted(found.items()))


# Walks of the public calls.


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the public calls that are watched."""
    import espalier as es

    scores = [[0.0, 1.0], [0.5, 0.0], [0.0, 1.0]]
    yield "decode", lambda: es.decode(scores)
    once = "Once: each field once [hard]"
    yield "decode with a rule", lambda: es.decode(scores, once, tokens=list("abc"), labels=["x", "y"])
    texts = [["Plum", "35"], ["Pear", "40"], ["Plum", "12"]] * 5
    tags = [["B-fruit", "B-price"]] * 15
    yield "CRF.fit", lambda: es.CRF(l2=0.1).fit(texts, tags)
    extractor = es.Extractor(es.CRF(l2=0.1).fit(texts, tags), "A: each field once")
    yield "extract_many", lambda: list(extractor.extract_many(["Plum 12", "Pear 40 x"] * 600))
    raw = [["Plum", "35"], ["Fig", "9"]] * 10
    rules = es.rules("A: each field once")
    yield "CoDL.fit, HMM", lambda: es.CoDL(es.CCM(es.HMM(), rules)).fit(texts, tags, unlabelled=raw)
    crf = es.CCM(es.CRF(), rules)
    yield "CoDL.fit, CRF", lambda: es.CoDL(crf, update="pool").fit(texts, tags, unlabelled=raw)


def watched(call: Callable[[], object], root: str) -> dict[str, int]:
    """Return in how many files functions run, how many do, and how deep."""
    functions: set[tuple[str, str]] = set()
    deepest = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal deepest
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(root) or code.co_name == "<module>":
            return
        functions.add((code.co_filename, getattr(code, "co_qualname", code.co_name)))
        depth, above = 0, frame
        while above is not None:
            depth += above.f_code.co_filename.startswith(root)
            above = above.f_back  # type: ignore[assignment]
        deepest = max(deepest, depth)

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return {"files": len({file for file, _ in functions}), "functions": len(functions), "depth": deepest}


def walks_here(tree: Path) -> dict[str, int]:
    """Return the walks of the public calls, in this process; each is made once before it is watched."""
    root, found = f"{tree / 'src' / 'espalier'}{os.sep}", {}
    for name, call in calls():
        call()
        found.update({f"{name}: {what}": n for what, n in watched(call, root).items()})
    return found


# The walks of two commands, file by file, for `docs/architecture.md`.


def printed(options: str, tree: Path) -> str:
    """Run this script with other options in a process with the package of the tree first; return its last line."""
    surroundings = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(Path(__file__).resolve()), "--tree", str(tree), *options.split()]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{options} in {tree} failed:\n{done.stderr}")
    return done.stdout.splitlines()[-1]


def walk(name: str, tree: Path) -> list[str]:
    """Run one walk twice, the first time to compile kernels; return its files in order."""
    printed(f"--run {name}", tree)
    found: list[str] = json.loads(printed(f"--trace {name}", tree))
    return found


def trace(name: str, tree: Path) -> list[str]:
    """Run one walk in this process and return the files in which functions run."""
    root = f"{tree / 'src' / 'espalier'}{os.sep}"
    walked: dict[str, None] = {}
    loading = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal loading
        code = frame.f_code
        if code.co_name == "<module>":
            loading += {"call": 1, "return": -1}.get(event, 0)
        # Bodies of modules and classes are no functions: their variables have no fixed places.
        ours = code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(root)
        if event == "call" and ours and not loading:
            walked.setdefault(code.co_filename[len(root) :])

    perform(name, tree, watch)
    sys.setprofile(None)
    return list(walked)


def perform(name: str, tree: Path, watch: Any) -> None:
    """Parse or train, watched."""
    orchard = tree / "examples" / "orchard"
    with tempfile.TemporaryDirectory() as directory:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (the answers are not the question)
        threading.setprofile(watch)
        sys.setprofile(watch)
        from espalier.cli import main

        one, model = Path(directory) / "one.txt", Path(directory) / "model.espalier"
        one.write_text(ONE + "\n", encoding="utf-8")
        extra = ["--rules", orchard / "orchard.rules", "--unlabelled", orchard / "train.txt", "--output", model]
        commands = {
            "parse": ["parse", one, "--format", "bibtex"],
            "train": ["train", "--labelled", orchard / "test.txt", *extra],
        }
        if main([str(word) for word in commands[name]]):
            raise SystemExit(1)
        sys.stdout = sys.__stdout__


# What can be read from the text alone.


def sources(tree: Path) -> dict[str, ast.Module]:
    """Parse every file of the package: path below `src/espalier` -> tree."""
    root = tree / "src" / "espalier"
    return {
        path.relative_to(root).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.py"))
    }


def words(tree: ast.AST, *, only_called: bool = False) -> set[str]:
    """Return the identifiers of a file and its strings, each as a whole; or only strings, functions and attributes."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif only_called:
            continue
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found.update((node.module or "").split("."), (alias.name for alias in node.names))
        elif isinstance(node, ast.Import):
            found.update(part for alias in node.names for part in alias.name.split("."))
    return found


def naming(trees: dict[str, ast.Module]) -> list[str]:
    """Return the files that name a rule form, its own file included: in `rules` also by the word "before"."""
    found = []
    for path, tree in trees.items():
        named = words(tree) & {RULE_FORM}
        if path.startswith("rules/"):
            named |= words(tree, only_called=True) & {"before"}
        if named and not path.startswith("papers/"):
            found.append(path)
    return found


def is_private(name: str) -> bool:
    """Tell whether a name is private; `__init__` and the like are not, nor is `_` alone."""
    return name.startswith("_") and name.strip("_") != "" and not name.endswith("__")


def private_names(trees: dict[str, ast.Module]) -> list[str]:
    """Return where a private name of another file is used, as 'file:line name'; a subclass may ask `self`."""
    ours = {path: defined(tree) for path, tree in trees.items()}
    everybody = set().union(*ours.values())
    found = []
    for path, tree in trees.items():
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("espalier"):
                names = [alias.name for alias in node.names if is_private(alias.name)]
            elif isinstance(node, ast.Attribute) and not of_itself(node.value):
                names = [node.attr] if node.attr in everybody - ours[path] else []
            found += [f"{path}:{node.lineno} {name}" for name in names]
    return found


def of_itself(node: ast.expr) -> bool:
    """Tell whether an expression is `self`, `cls` or `super()`."""
    if isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Name) and node.id in ("self", "cls", "super")


def defined(tree: ast.Module) -> set[str]:
    """Return the private names that a file defines: functions, classes, variables, attributes of `self`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
    return {name for name in names if is_private(name)}


def recurrences(tree: Path) -> dict[str, int]:
    """Return how many recurrences of each sort `recurrences.toml` lists; their parts and callers are none."""
    listed = tomllib.loads((tree / RECURRENCES).read_text(encoding="utf-8"))
    return {f"recurrences: {sort}": len(listed[sort]) for sort in SORTS}


def functions(trees: dict[str, ast.Module]) -> dict[str, int]:
    """Return how long functions are, in lines without docstrings, and how many arguments a compiled kernel takes."""
    lengths, arguments = [], []
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            said = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            lines = (node.end_lineno or 0) - node.lineno + 1
            lengths.append(lines - ((said.end_lineno or 0) - said.lineno + 1 if said else 0))
            if "kernels" in Path(path).with_suffix("").parts and node.decorator_list:
                arguments.append(len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs))
    return {
        "lines of the longest function": max(lengths),
        "functions over 80 lines": sum(length > 80 for length in lengths),
        "most arguments of a kernel": max(arguments),
        "kernels with more than 12 arguments": sum(n > 12 for n in arguments),
    }


# Figures and budgets.


def measure(tree: Path) -> dict[str, int]:
    """Return all figures; those of the public calls come from a process of their own."""
    trees = sources(tree)
    return {
        **sizes(tree),
        **json.loads(printed("--calls", tree)),
        **functions(trees),
        **recurrences(tree),
        "import cycles": len(cycles(imported(trees))),
        "private names of other files": len(private_names(trees)),
        "files that name a rule form": len(naming(trees)),
    }


def budget_of(entry: Any) -> int:
    """Return the number of a budget, which may have its reason beside it."""
    return int(entry["budget"] if isinstance(entry, dict) else entry)


def too_large(figures: dict[str, int], budgets: dict[str, Any]) -> list[str]:
    """Return what is larger than its budget or has none, and budgets that count nothing or went up without a reason."""
    found = [f"{name}: no budget" for name in figures if name not in budgets]
    for name, entry in budgets.items():
        if name not in figures:
            found.append(f"{name}: a budget of nothing")
        elif figures[name] > budget_of(entry):
            found.append(f"{name}: {figures[name]:,}, and {budget_of(entry):,} at most")
        if isinstance(entry, dict) and not (entry["budget"] > entry["was"] and entry["why"].strip()):
            found.append(f"{name}: a budget that went up says why, one that did not is a number")
    return found


def tightened(text: str, figures: dict[str, int]) -> str:
    """Return the file of budgets with smaller ones where figures are smaller, and a line for each that has none."""
    budgets = tomllib.loads(text)
    for name, figure in figures.items():
        entry = budgets.get(name)
        if entry is None:
            text += f'"{name}" = {figure}\n'
        elif figure < budget_of(entry):
            still_up = isinstance(entry, dict) and figure > entry["was"]
            old, new = (r"= \{budget = \d+", "= {budget = ") if still_up else ("= .*", "= ")
            text = re.sub(f'(?m)^"{re.escape(name)}" {old}', f'"{name}" {new}{figure}', text)
    return text


def main() -> None:
    """Print all figures and their budgets, or the files of one part or walk."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tree", type=Path, default=HERE, help="a checkout; by default this one")
    parser.add_argument("--json", metavar="FILE", help="write the figures, as an object")
    parser.add_argument("--part", help="show the files of a part of the package, the largest first")
    parser.add_argument("--tighten", action="store_true", help="make budgets as small as the figures are")
    parser.add_argument("--walk", choices=("parse", "train"), help="show the files of a walk in order")
    parser.add_argument("--run", choices=("parse", "train"), help="(used by itself)")
    parser.add_argument("--trace", choices=("parse", "train"), help="(same)")
    parser.add_argument("--calls", action="store_true", help="(same)")
    options = parser.parse_args()
    tree = options.tree.resolve()
    if options.run or options.trace or options.calls:
        if options.calls:
            found: Any = walks_here(tree)
        else:
            found = trace(options.trace, tree) if options.trace else perform(options.run, tree, lambda *event: None)
        print(json.dumps(found))
    elif options.walk:
        print("\n".join(walk(options.walk, tree)))
    elif options.part:
        counted = [(size(path), path) for part, path in files_of(tree) if part == options.part]
        for columns, path in sorted(counted, key=lambda row: -max(row[0].values())):
            print(f"{path.relative_to(tree).as_posix():<60} {columns}")
    else:
        report(measure(tree), options)


def report(figures: dict[str, int], options: argparse.Namespace) -> None:
    """Print the figures beside their budgets; fail where one is too large."""
    path = HERE / BUDGETS
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if options.tighten:
        path.write_text(tightened(path.read_text(encoding="utf-8"), figures), encoding="utf-8")
    budgets = tomllib.loads(path.read_text(encoding="utf-8"))
    print(f"{'':<40} {'here':>9} {'at most':>9}")
    for name, figure in figures.items():
        print(f"{name:<40} {figure:>9,} {format(budget_of(budgets[name]), ',') if name in budgets else '':>9}")
    wrong = too_large(figures, budgets)
    if wrong:
        sys.exit("\n".join(["", *wrong]))


if __name__ == "__main__":
    main()
