"""How large the house is, and how long its corridors are: the figures that a change of its plan is judged by.

    python scripts/measure_house.py [--tree DIRECTORY] [--json FILE] [--list FIGURE | --walk parse|train|fit]

parse, train: files     files of the package in which a function runs, in a new process with warm kernels
parse, train: modules   modules of the package that are loaded at the end
fit to optimiser        files in which a function runs from `CRF().fit` on, until the optimiser is called; it counts too
lines, files of src     of all Python files of the package
rule form ...           files that name an existing rule form (`Before`), output format (RIS), base model (`SemiCRF`)
private names           places that import a `_name` of another file, or ask another object than `self` for one
class names shared      names that two or more classes of the package have

`parse` reads one reference. `train` learns from labelled adverts, with rules and raw text (`examples/orchard`). Files
and modules are those below `src/espalier` of the tree. `--list` shows what a figure counts. `--walk` shows the files of
a walk, in the order in which they are met: functions that run while a module is loaded do not count there.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve().parents[1]
ONE = "L. O. Andersen. Program analysis and specialization for the C programming language. PhD thesis, DIKU, 1994."
OPTIMISER = "learning/lbfgs.py"

# What is looked for: identifiers, names of files, and whole strings. In `rules` also the word "before", as a string or
# a function; elsewhere it is an ordinary word. The semi-CRF is the model that nobody takes if nothing is said: learners
# that choose the HMM or the CRF by themselves name it, and a new model need not be named there.
NAMED = {
    "rule form": ("Before",),
    "output format": ("ris", "to_ris"),
    "base model": ("SemiCRF", "semicrf"),
}

# Where a new one need not be: the tables of papers use models and rules, and readers of bibliographies read formats
# that are written, too. What an addition really needs is tried out by tests: a format in one file by
# `test_citation_formats_streams.py`, a model of forty lines by `test_toy_model.py`.
ELSEWHERE = ("experiments/", "citations/bibliographies/")

# What this script found in 0.1.0, and what we aim at.
RELEASED = {
    "parse: files": (98, 50),
    "parse: modules": (162, 90),
    "train: files": (99, 60),
    "train: modules": (212, 120),
    "train: modules of citations": (23, 0),
    "train: modules of cluster": (16, 0),
    "fit to optimiser: files": (30, 8),
    "lines of src": (53_531, 46_000),
    "files of src": (381, None),
    "rule form: files": (14, 6),
    "output format: files": (5, 1),
    "base model: files": (7, 4),
    "private names of other files": (22, 0),
    "class names shared": (43, 0),
}


# The walks: run in a process of their own, with the package of the tree first on the path.


def walk(name: str, tree: Path) -> dict[str, list[str]]:
    """Run one walk twice, the first time to compile kernels; return its files in order, and the modules loaded."""
    surroundings = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(Path(__file__).resolve()), "--tree", str(tree)]
    for option in ("--run", "--trace"):
        done = subprocess.run([*command, option, name], env=surroundings, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{name} in {tree} failed:\n{done.stderr}")
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def trace(name: str, tree: Path) -> dict[str, list[str]]:
    """Run one walk in this process and watch which functions run."""
    root = f"{tree / 'src' / 'espalier'}{os.sep}"
    files: dict[str, None] = {}
    walked: dict[str, None] = {}
    loading = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal loading
        code = frame.f_code
        if code.co_name == "<module>":
            loading += {"call": 1, "return": -1}.get(event, 0)
        # Bodies of modules and classes are no functions: their variables have no fixed places.
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(root):
            file = code.co_filename[len(root) :]
            files.setdefault(file)
            if not loading:
                walked.setdefault(file)

    perform(name, tree, watch)
    sys.setprofile(None)
    modules = sorted(m for m in sys.modules if m.split(".")[0] == "espalier")
    return {"files": list(files), "walked": list(walked), "modules": modules}


def perform(name: str, tree: Path, watch: Any) -> None:
    """Parse, train or fit, watched."""
    orchard = tree / "examples" / "orchard"
    with tempfile.TemporaryDirectory() as directory:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (the answers are not the question)
        if name == "fit":
            fit(orchard / "train.txt", watch)
        else:
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


def fit(path: Path, watch: Any) -> None:
    """Fit a CRF; watch until the optimiser has been called."""
    import espalier as es
    from espalier.io import read

    corpus, model = es.Corpus.from_documents(read(path)), es.CRF(max_iterations=2)

    def until(frame: FrameType, event: str, argument: Any) -> None:
        watch(frame, event, argument)
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.endswith(OPTIMISER):
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]

    threading.setprofile(until)
    sys.setprofile(until)
    model.fit(corpus)


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


def naming(trees: dict[str, ast.Module], what: str) -> list[str]:
    """Return the files that name an existing rule form, output format or base model, its own file included."""
    found = []
    for path, tree in trees.items():
        named = {Path(path).stem, *words(tree)} & {*NAMED[what]}
        if what == "rule form" and path.startswith("rules/"):
            named |= words(tree, only_called=True) & {"before"}
        if named and not path.startswith(ELSEWHERE):
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


def shared_classes(trees: dict[str, ast.Module]) -> list[str]:
    """Return the names of classes that two or more classes have, as 'Name: file, file'."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not is_private(node.name):
                homes[node.name].append(path)
    return [f"{name}: {', '.join(files)}" for name, files in sorted(homes.items()) if len(files) > 1]


def measure(tree: Path) -> dict[str, list[str]]:
    """Return for each figure what it counts."""
    trees = sources(tree)
    parse, train, fit_walk = (walk(name, tree) for name in ("parse", "train", "fit"))
    lines = [
        line for path in trees for line in (tree / "src" / "espalier" / path).read_text(encoding="utf-8").splitlines()
    ]
    return {
        "parse: files": parse["files"],
        "parse: modules": parse["modules"],
        "train: files": train["files"],
        "train: modules": train["modules"],
        "train: modules of citations": [m for m in train["modules"] if m.startswith("espalier.citations")],
        "train: modules of cluster": [m for m in train["modules"] if m.startswith("espalier.cluster")],
        "fit to optimiser: files": fit_walk["files"],
        "lines of src": lines,
        "files of src": list(trees),
        **{f"{what}: files": naming(trees, what) for what in NAMED},
        "private names of other files": private_names(trees),
        "class names shared": shared_classes(trees),
    }


def main() -> None:
    """Print the table, or one of its lists."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tree", type=Path, default=HERE, help="a checkout; by default this one")
    parser.add_argument("--json", metavar="FILE", help="write the figures, as an object")
    parser.add_argument("--list", metavar="FIGURE", help="show what a figure counts")
    for option, text in (
        ("walk", "show the files of a walk in order"),
        ("run", "(used by itself)"),
        ("trace", "(same)"),
    ):
        parser.add_argument(f"--{option}", choices=("parse", "train", "fit"), help=text)
    options = parser.parse_args()
    tree = options.tree.resolve()
    if options.run or options.trace:
        found = trace(options.trace, tree) if options.trace else perform(options.run, tree, lambda *event: None)
        print(json.dumps(found))
    elif options.walk:
        print("\n".join(walk(options.walk, tree)["walked"]))
    else:
        found = measure(tree)
        if options.list:
            print("\n".join(found[options.list]))
            return
        print(f"{'':<30} {'0.1.0':>7} {'here':>7} {'aim':>7}")
        for name, counted in found.items():
            before, aim = RELEASED[name]
            print(f"{name:<30} {before:>7,} {len(counted):>7,} {'' if aim is None else format(aim, ','):>7}")
        if options.json:
            Path(options.json).write_text(json.dumps({name: len(counted) for name, counted in found.items()}, indent=1))


if __name__ == "__main__":
    main()
