"""Imports point up the list of layers only; private names stay in their file, words of an application in its layers."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "espalier"
sys.path.insert(0, str(ROOT / "scripts"))

import measure_house  # noqa: E402
from house_imports import When, cycles, imported, imports  # noqa: E402

# Each layer and the layers it may import, top of the library first. "*" is every layer above.
LAYERS: dict[str, str] = {
    "errors": "",
    "lazy": "",
    "registry": "errors",
    "regex": "errors",
    "phrases": "",
    "store": "errors",
    "text_files": "errors",
    "tags": "errors",
    "document": "errors tags",
    "corpus": "errors tags document",
    "potentials": "errors",
    "kernels": "",
    "parallel": "errors kernels",
    "inference": "errors potentials kernels parallel",
    "lanes": "errors potentials kernels parallel inference",
    "rules": "errors lazy regex phrases corpus kernels tags",
    "features": "errors lazy regex store phrases corpus document kernels rules",
    "metrics": "errors tags corpus",
    "pages": "errors",
    "models": "errors corpus features potentials kernels parallel inference lanes",
    "decoders": "errors lazy registry potentials rules kernels inference lanes parallel corpus",
    "learning": "*",
    "estimators": "*",
    "io": "errors text_files tags document",
    "tasks": "errors corpus features rules io",
    "extract": "*",
    "recipes": "*",
    "citations": "*",
    "loading": "*",
    "documents": "*",
    "bridges": "*",
    "joint": "*",
    "papers": "*",
    "cluster": "*",
    "server": "*",
    "workbench": "*",
    "cli": "*",
    "__main__": "cli",
}

# Houses on the core, and who may know one besides itself: take its folder away, and all the rest works. The package
# itself knows them by the names that it offers.
HOUSES = {"joint": {"papers"}, "papers": {"cli"}, "cluster": {"cli"}}

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
    "papers": {"scipy", "joblib"},
    "documents": {"scipy", "tomli", "pypdfium2"},
    "cluster": {"scipy", "joblib", "dask", "distributed", "fsspec", "pyarrow"},
    "cli": {"scipy", "uvicorn", "pyarrow"},
}

# Modules that import one whose name is computed: it comes from a table of the same module, from the caller, or from a
# model file's maker.
COMPUTED = {
    "__init__.py",
    "lazy.py",
    "cli/serve.py",
    "registry.py",
    "cluster/stores.py",
    "cluster/labeller.py",
}
# Layers that may import the package itself, inside functions, for its version.
WHOLE = {"cluster", "server", "cli"}
# Packages that import some of their names on use, beside the package itself.
ON_USE = {"decoders/__init__.py", "rules/__init__.py"}

# Words of one application, and where they may be used in code.
WORDS = {
    *("author", "authors", "editor", "editors", "journal", "journals", "booktitle", "publisher", "proceedings"),
    *("citation", "citations", "bibliography", "bibliographic", "bibtex", "csl", "doi", "isbn", "issn"),
}
# The package itself is among them, because its table names the module that knows the bundled models.
APPLICATION = (
    *("tasks/", "citations/", "documents/", "papers/", "cli/", "server/", "workbench/"),
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


def complaints(source: str, module: str) -> list[str]:
    """Every import of a module that the tables do not allow."""
    layer = layer_of(module)
    found = []
    for line, name, when in imports(ast.parse(source), module):
        lazy = when is not When.LOADING
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
                known = allowed_layers(layer) - {house for house, who in HOUSES.items() if layer not in who}
                fine = target == layer or target in known
        elif module == "__init__.py":
            fine = top in sys.stdlib_module_names
        else:
            known = {"numpy"} | OUTSIDE.get(layer, set()) | (LAZY.get(layer, set()) if lazy else set())
            fine = top in sys.stdlib_module_names or top in known
        if not fine:
            found.append(f"{module}:{line}: imports {name}{'' if lazy else ' at module level'}")
    return found


@pytest.mark.parametrize("file", sorted(SRC.rglob("entry_points.txt")), ids=lambda file: file.parent.name)
def test_rows_name_what_is_in_their_folder(file: Path) -> None:
    """Modules are named there by text: by a house its own, by the core none of a house."""
    found = re.findall(r"^\S+ = espalier\.(\w+)[\w.]*:\w+$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    assert len(found) == file.read_text(encoding="utf-8").count(" = ")
    assert {*found} & {*HOUSES} == {*found} & {file.parent.name} & {*HOUSES}
    assert file.parent == SRC or {*found} == {file.parent.name}


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_layer(module: str) -> None:
    assert module == "__init__.py" or layer_of(module) in LAYERS, f"{module} is in no layer; add it to LAYERS"


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_up(module: str) -> None:
    if module != "__init__.py" and layer_of(module) not in LAYERS:
        pytest.fail(f"{module} is in no layer")
    assert complaints((SRC / module).read_text(encoding="utf-8"), module) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycles(imported(measure_house.sources(ROOT))) == []


@pytest.mark.parametrize(
    ("sources", "circles"),
    [
        ({"a.py": "import espalier.b", "b.py": "from espalier.a import x"}, [["a", "b"]]),
        ({"a.py": "def f():\n    from espalier import b", "b.py": "from . import a"}, [["a", "b"]]),
        ({"a.py": 'KINDS = {"b": "espalier.b"}', "b.py": "import espalier.a"}, [["a", "b"]]),
        ({"a.py": "if TYPE_CHECKING:\n    import espalier.b", "b.py": "import espalier.a"}, []),
        (
            {"a.py": "if TYPE_CHECKING:\n    x = 1\nelse:\n    import espalier.b", "b.py": "import espalier.a"},
            [["a", "b"]],
        ),
        ({"p/__init__.py": "from espalier.p.a import x", "p/a.py": "from espalier.p import b", "p/b.py": ""}, []),
        ({"p/__init__.py": "from espalier.p.a import x", "p/a.py": "from espalier.p import y"}, [["p", "p.a"]]),
        ({f"{m}.py": f"import espalier.{n}" for m, n in ("ab", "bc", "ca", "da", "ee")}, [["a", "b", "c"]]),
        ({"a.py": "import espalier", "__init__.py": "import espalier.a"}, []),
    ],
)
def test_circles_are_seen(sources: dict[str, str], circles: list[list[str]]) -> None:
    assert cycles(imported({path: ast.parse(source) for path, source in sources.items()})) == circles


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
        ("server/x.py", "from espalier.papers.tables.protocol import Table", True),
        ("cli/x.py", "from espalier.papers.tables.protocol import Table", False),
        ("estimators/x.py", 'KIND = "espalier.papers.segments.semicrf"', True),
        ("recipes/x.py", "def f():\n    from espalier.papers.samplerank import method", True),
        ("papers/x.py", "from espalier.joint.layers import TextLayer", False),
        ("joint/x.py", "from espalier.papers.segments import semicrf", True),
        ("extract/x.py", "from espalier.joint.layers import TextLayer", True),
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


def test_private_names_stay_in_their_file() -> None:
    assert measure_house.private_names(measure_house.sources(ROOT)) == []


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
    assert measure_house.private_names(trees) == found


def test_a_rule_form_stands_in_few_files() -> None:
    """Those that CONTRIBUTING names, and discovery, which counts some forms faster."""
    forms = {"nodes", "meaning", "lowering", "machines", "text", "language"}
    found = measure_house.naming(measure_house.sources(ROOT))
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
