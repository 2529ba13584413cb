"""Imports point up the list of layers only; private names stay in their file, words of an application in its layers."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SRC = Path(__file__).resolve().parents[1] / "src" / "espalier"

# Each layer and the layers it may import, top of the library first. "*" is every layer above.
LAYERS: dict[str, str] = {
    "errors": "",
    "lazy": "",
    "regex": "errors",
    "phrases": "",
    "store": "errors",
    "text_files": "errors",
    "tags": "errors",
    "document": "errors tags",
    "corpus": "errors tags document",
    "potentials": "errors",
    "segment_potentials": "errors potentials",
    "kernels": "",
    "parallel": "errors kernels",
    "inference": "errors potentials segment_potentials kernels parallel",
    "rules": "errors lazy regex phrases corpus kernels tags",
    "features": "errors lazy regex store phrases corpus document kernels rules",
    "metrics": "errors tags corpus",
    "pages": "errors",
    "models": "errors corpus features potentials segment_potentials kernels parallel inference",
    "decoders": "errors lazy potentials segment_potentials rules kernels inference parallel corpus",
    "learning": "*",
    "estimators": "*",
    "distributed": "*",
    "joint": "*",
    "io": "errors text_files tags document",
    "tasks": "errors corpus features rules io",
    "extract": "*",
    "recipes": "*",
    "citations": "*",
    "loading": "*",
    "documents": "*",
    "bridges": "*",
    "experiments": "*",
    "cluster": "*",
    "server": "*",
    "workbench": "*",
    "cli": "*",
    "__main__": "cli",
}

# Packages from outside, besides the standard library and NumPy, that a layer may import anywhere in a module ...
OUTSIDE: dict[str, set[str]] = {
    "kernels": {"numba", "llvmlite"},
    "tasks": {"tomli"},
    "citations": {"tomli"},
    "cluster": {"tomli"},
    "bridges": {"spacy", "torch"},
    "server": {"anyio", "fastapi", "starlette", "pydantic", "uvicorn"},
    "workbench": {"fastapi", "pydantic"},
    "cli": {"typer", "rich", "tomli"},
}
# ... and those that it may import inside functions or for type checking only.
LAZY: dict[str, set[str]] = {
    **{layer: {"scipy"} for layer in LAYERS if layer != "kernels"},
    "parallel": {"threadpoolctl"},
    "estimators": {"scipy", "sklearn"},
    "experiments": {"scipy", "joblib"},
    "distributed": {"scipy", "joblib", "distributed"},
    "documents": {"scipy", "tomli", "pypdfium2"},
    "cluster": {"scipy", "joblib", "dask", "distributed", "fsspec", "pyarrow"},
    "cli": {"scipy", "uvicorn", "pyarrow"},
}

# Functions that import a module whose name is text, and the modules that may give them a name which is no constant:
# their names come from a table of the same module, from the caller, or from a model file's maker.
IMPORTERS = ("import_module", "__import__", "need")
COMPUTED = {
    "__init__.py",
    "lazy.py",
    "cli/serve.py",
    "estimators/persist.py",
    "cluster/stores.py",
    "cluster/labeller.py",
}
# The one module that may import a layer below it, inside a function: what learns here never does.
DOORS = {"learning/jobs.py": "distributed"}
# Layers that may import the package itself, inside functions, for its version.
WHOLE = {"cluster", "server", "cli"}
# Packages that import some of their names on use, beside the package itself.
ON_USE = {"decoders/__init__.py", "rules/__init__.py"}
DOTTED = re.compile(r"espalier(\.[a-z_0-9]+)+")

# Words of one application, and where they may be used in code.
WORDS = {
    *("author", "authors", "editor", "editors", "journal", "journals", "booktitle", "publisher", "proceedings"),
    *("citation", "citations", "bibliography", "bibliographic", "bibtex", "csl", "doi", "isbn", "issn"),
}
# The package itself is among them, because its table names the module that knows the bundled models.
APPLICATION = (
    *("tasks/", "citations/", "documents/", "experiments/", "cli/", "server/", "workbench/"),
    *("io/tei", "loading", "__init__"),
)

MODULES = sorted(path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py"))


def layer_of(module: str) -> str:
    """`rules/nodes.py` is in the layer `rules`; the package's own `__init__.py` in none."""
    return module.split("/")[0].removesuffix(".py")


def allowed_layers(layer: str) -> set[str]:
    names = list(LAYERS)
    above = names[: names.index(layer)]
    return set(above) if LAYERS[layer] == "*" else set(LAYERS[layer].split())


def imports(tree: ast.Module, module: str) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, dotted name, is it lazy) of every import; relative ones are made absolute.

    A module that is named by text is imported, too, lazily: in a table of classes, in the arguments of a process that
    begins with `-m`, or in a call of `import_module`. A name that is computed there is "?".
    """
    package = ["espalier", *Path(module).parent.parts]

    def visit(node: ast.AST, lazy: bool) -> Iterator[tuple[int, str, bool]]:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [] if not node.level else package[: len(package) - node.level + 1]
            origin = ".".join(base + ([node.module] if node.module else []))
            # `from espalier import rules` imports the module espalier.rules.
            names = [f"{origin}.{alias.name}" for alias in node.names] if origin == "espalier" else [origin]
            yield from ((node.lineno, name, lazy) for name in names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value):
            yield node.lineno, node.value, True
        elif isinstance(node, ast.Call) and called(node) in IMPORTERS and node.args:
            yield from ((node.lineno, name, True) for name in named_modules(node.args[0]))
        inner = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or is_type_checking(node)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, inner)

    return visit(tree, False)


def called(node: ast.Call) -> str:
    """`import_module`, also of `importlib.import_module`; methods of other things have other names."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr if ast.unparse(node.func.value) == "importlib" else ""
    return node.func.id if isinstance(node.func, ast.Name) else ""


def named_modules(argument: ast.expr) -> list[str]:
    """The modules that an argument names; of f"espalier.io.{name}" the package, of anything else "?"."""
    if isinstance(argument, ast.Constant):
        return [] if DOTTED.fullmatch(str(argument.value)) else [str(argument.value)]
    if isinstance(argument, ast.IfExp):
        return named_modules(argument.body) + named_modules(argument.orelse)
    if isinstance(argument, ast.JoinedStr) and isinstance(argument.values[0], ast.Constant):
        start = str(argument.values[0].value)
        return [start.rstrip(".")] if start.count(".") >= 2 and start.endswith(".") else ["?"]
    return ["?"]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def complaints(source: str, module: str) -> list[str]:
    """Every import of a module that the tables do not allow."""
    layer = layer_of(module)
    found = []
    for line, name, lazy in imports(ast.parse(source), module):
        top, _, rest = name.partition(".")
        if name == "?":
            fine = module in COMPUTED
        elif name == "espalier" and lazy:
            fine = layer in WHOLE
        elif top == "espalier":
            target = rest.split(".")[0]
            if module == "__init__.py":
                fine = lazy
            else:
                fine = target == layer or target in allowed_layers(layer) or (lazy and DOORS.get(module) == target)
        elif module == "__init__.py":
            fine = top in sys.stdlib_module_names
        else:
            known = {"numpy"} | OUTSIDE.get(layer, set()) | (LAZY.get(layer, set()) if lazy else set())
            fine = top in sys.stdlib_module_names or top in known
        if not fine:
            found.append(f"{module}:{line}: imports {name}{'' if lazy else ' at module level'}")
    return found


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_layer(module: str) -> None:
    assert module == "__init__.py" or layer_of(module) in LAYERS, f"{module} is in no layer; add it to LAYERS"


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_up(module: str) -> None:
    if module != "__init__.py" and layer_of(module) not in LAYERS:
        pytest.fail(f"{module} is in no layer")
    assert complaints((SRC / module).read_text(encoding="utf-8"), module) == []


@pytest.mark.parametrize("module", sorted(COMPUTED))
def test_the_list_of_computed_imports_only_shrinks(module: str) -> None:
    tree = ast.parse((SRC / module).read_text(encoding="utf-8"))
    assert "?" in {name for _, name, _ in imports(tree, module)}, f"take {module} off COMPUTED"


def hooks(source: str) -> list[int]:
    """The lines of a module that give it a `__getattr__`, by a function, an assignment or an import."""
    found = []
    for node in ast.parse(source).body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.asname or alias.name for alias in node.names]
        found += [node.lineno] if "__getattr__" in names else []
    return found


@pytest.mark.parametrize("module", [m for m in MODULES if m != "__init__.py"])
def test_only_listed_packages_import_on_use(module: str) -> None:
    found = hooks((SRC / module).read_text(encoding="utf-8"))
    assert bool(found) is (module in ON_USE), f"{module}: lines {found}: a `__getattr__` of a module"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def __getattr__(name): ...", [1]),
        ("x = 1\n__getattr__, __dir__ = on_use(__name__, {})", [2]),
        ("__getattr__ = f", [1]),
        ("from espalier.lazy import get as __getattr__", [1]),
        ("class A:\n    def __getattr__(self, name): ...", []),
    ],
)
def test_hooks_are_seen(source: str, lines: list[int]) -> None:
    assert hooks(source) == lines


@pytest.mark.parametrize(
    ("module", "source", "wrong"),
    [
        ("tags.py", "from espalier.errors import LabelError", False),
        ("tags.py", "from espalier.corpus import Corpus", True),
        ("tags.py", "from .corpus import Corpus", True),
        ("tags.py", "from . import corpus", True),
        ("tags.py", "from espalier import corpus", True),
        ("tags.py", "import espalier", True),
        ("rules/automaton.py", "from .nodes import Node", False),
        ("rules/automaton.py", "from ..kernels import chain", False),
        ("rules/automaton.py", "from ..models import hmm", True),
        ("kernels/chain.py", "import numba", False),
        ("models/crf.py", "import numba", True),
        ("kernels/chain.py", "from espalier.errors import InputError", True),
        ("metrics/x.py", "import scipy.stats", True),
        ("metrics/x.py", "def f():\n    import scipy.stats", False),
        ("metrics/x.py", "class A:\n    import scipy.stats", True),
        ("metrics/x.py", "if TYPE_CHECKING:\n    from scipy.sparse import csr_array", False),
        ("estimators/crf.py", "def f():\n    from sklearn.base import BaseEstimator", False),
        ("estimators/crf.py", "from sklearn.base import BaseEstimator", True),
        ("models/crf.py", "def f():\n    from sklearn.base import BaseEstimator", True),
        ("learning/sgd.py", "from espalier.decoders import viterbi", False),
        ("learning/sgd.py", "from espalier.estimators import CRF", True),
        ("cli/parse.py", "import typer\nfrom espalier.citations import parser", False),
        ("__init__.py", "from espalier.models import CRF", True),
        ("__init__.py", "def __getattr__(name):\n    from espalier.models import CRF", False),
        ("__init__.py", "import numpy", True),
        ("learning/x.py", 'KINDS = {"crf": ("espalier.estimators.crf", "CRF")}', True),
        ("estimators/x.py", 'KINDS = {"crf": ("espalier.estimators.crf", "CRF")}', False),
        ("learning/x.py", 'def f():\n    """See espalier.estimators.crf."""', False),
        ("server/x.py", "from espalier.workbench.bench import Bench", True),
        ("workbench/x.py", "from espalier.server.core import Core", False),
        ("workbench/x.py", 'run([sys.executable, "-m", "espalier.cli.teaching"])', True),
        ("cli/x.py", 'run([sys.executable, "-m", "espalier.cli.teaching"])', False),
        ("learning/x.py", 'import_module("espalier.cli.app")', True),
        ("learning/x.py", 'importlib.import_module(f"espalier.cli.{name}")', True),
        ("io/__init__.py", 'import_module(f"espalier.io.{name}")', False),
        ("learning/x.py", 'import_module(f"espalier.{name}")', True),
        ("learning/x.py", "import_module(name)", True),
        ("cluster/labeller.py", "import_module(module)", False),
        ("learning/x.py", 'import_module("typer")', True),
        ("cli/x.py", 'version = import_module("espalier").__version__', False),
        ("tasks/x.py", 'version = import_module("espalier").__version__', True),
        ("cluster/x.py", 'need("pyarrow.parquet")', False),
        ("learning/x.py", 'need("pyarrow")', True),
        ("rules/x.py", 'self.need(",")', False),
        ("tasks/x.py", 'import_module("tomllib" if new else "tomli")', False),
    ],
)
def test_the_test_itself(module: str, source: str, wrong: bool) -> None:
    assert bool(complaints(source, module)) is wrong


def measuring() -> ModuleType:
    """The script that measures the house; it has the scan for private names."""
    path = SRC.parents[1] / "scripts" / "measure_house.py"
    spec = importlib.util.spec_from_file_location("measure_house", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_private_names_stay_in_their_file() -> None:
    house = measuring()
    assert house.private_names(house.sources(SRC.parents[1])) == []


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("from espalier.models.crf import _weights", ["b.py:1 _weights"]),
        ("def f(model):\n    return model._weights", ["b.py:2 _weights"]),
        ("from espalier.models import crf\ncrf._weights()", ["b.py:2 _weights"]),
        ("class B(A):\n    def f(self):\n        return self._weights", []),
        ("class B(A):\n    def f(self):\n        return super()._weights", []),
        ("def _weights(): ...\n_weights()", []),
        ("value._replace(x=1)", []),
    ],
)
def test_private_names_are_seen(use: str, found: list[str]) -> None:
    trees = {"a.py": ast.parse("class A:\n    def _weights(self): ..."), "b.py": ast.parse(use)}
    assert measuring().private_names(trees) == found


def test_a_rule_form_stands_in_few_files() -> None:
    """Those that CONTRIBUTING names, and discovery, which counts some forms faster."""
    house = measuring()
    forms = {"nodes", "meaning", "lowering", "machines", "text", "language"}
    found = house.naming(house.sources(SRC.parents[1]), "rule form")
    assert set(found) <= {*(f"rules/{name}.py" for name in forms), "learning/discovery_clauses.py"}
    assert len(found) <= 6


def words_of_code(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, lower-case word) of identifiers and string constants; docstrings and comments are exempt."""
    tree = ast.parse(source)
    exempt = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        texts: list[str] = []
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in exempt:
            texts = [node.value]
        elif isinstance(node, ast.alias):
            texts = [node.name, node.asname or ""]
        else:
            fields = (getattr(node, name, None) for name in ("id", "attr", "arg", "name"))
            texts = [text for text in fields if isinstance(text, str)]
        line = getattr(node, "lineno", 0)
        for text in texts:
            # Split snake_case, CamelCase and running text into words.
            yield from ((line, word.lower()) for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text))


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith(APPLICATION)])
def test_no_application_words(module: str) -> None:
    source = (SRC / module).read_text(encoding="utf-8")
    assert [f"{module}:{line}: {word}" for line, word in words_of_code(source) if word in WORDS] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"""About an author."""', set()),
        ("x = 1  # author", set()),
        ("def f():\n    '''author'''\n    return 1", set()),
        ('LABEL = "author"', {"author"}),
        ('print(f"the {x} journal")', {"journal"}),
        ("first_author = 1", {"author"}),
        ("class BookTitle: pass", set()),
        ("class JournalRule: pass", {"journal"}),
        ("f(authors=1)", {"authors"}),
        ("authority = authorise()", set()),
        ("record.DOI", {"doi"}),
    ],
)
def test_words_of_code(source: str, found: set[str]) -> None:
    assert {word for _, word in words_of_code(source)} & WORDS == found
