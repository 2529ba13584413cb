"""The public surface: few names, sorted, all there, and nothing imported before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import espalier

ROOT = Path(__file__).resolve().parents[1]


def test_names_are_sorted_few_and_importable():
    assert espalier.__all__ == sorted(espalier.__all__)
    assert len(espalier.__all__) <= 30
    for name in (*espalier.__all__, *espalier._ELSEWHERE):
        assert getattr(espalier, name).__doc__
    assert set(dir(espalier)) == {*espalier.__all__, "__version__"}


def test_type_checkers_see_the_same_names():
    """The lazy table and the imports for type checkers say the same."""
    source = Path(espalier.__file__).read_text()
    shown = {line.rsplit(" as ", 1)[1] for line in source.splitlines() if line.startswith("    from espalier.")}
    assert shown == {*espalier.__all__, *espalier._ELSEWHERE}


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'crf'"):
        _ = espalier.crf


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import espalier", ["numpy", "numba", "scipy", "sklearn"]),
        ("from espalier import CRF, load", ["sklearn", "scipy.optimize", "typer", "rich"]),
        ("from espalier import read, write", ["numba", "scipy", "sklearn"]),
    ],
)
def test_nothing_heavy_is_imported_early(statement, absent):
    code = f"{statement}\nimport sys\nprint([name for name in {absent!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found.strip() == "[]"


def test_version_is_that_of_the_package():
    assert f'\nversion = "{espalier.__version__}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def undocumented(cls: type, method: str) -> list[str]:
    """The parameters of a method that no docstring lists, its own or that of a base class that promises the same."""
    import inspect

    parameters = [name for name in inspect.signature(getattr(cls, method)).parameters if name not in ("self", "cls")]
    written = [inspect.getdoc(vars(base)[method]) or "" for base in cls.__mro__ if method in vars(base)]
    listed = [text.partition("Parameters\n----------\n")[2].partition("\n\n")[0] for text in written]
    return [name for name in parameters if not any(f"\n{name} :" in f"\n{text}" for text in listed)]


ANSWERS = ("predict", "predict_k", "predict_marginals", "explain", "score", "save")
USED = {
    "Extractor": (
        "extract",
        "extract_many",
        "explain",
        "calibrate",
        "from_file",
        "label",
        "save",
        "tags",
        "with_rules",
    ),
    "Extraction": ("get",),
    "Corpus": ("from_documents", "from_tokens", "label_names", "tokens", "with_labels"),
    "Document": ("from_text", "from_tokens", "with_tags"),
    **dict.fromkeys(("CRF", "Perceptron", "CCM", "CoDL", "EM", "WordLearner"), ("fit", *ANSWERS)),
    **dict.fromkeys(("PosteriorRegularization", "GeneralizedExpectation"), ("fit", *ANSWERS)),
    **dict.fromkeys(("HMM", "SemiCRF", "SampleRank", "TwoStage", "Experts"), ANSWERS),
}


@pytest.mark.parametrize(("name", "method"), [(name, method) for name, several in USED.items() for method in several])
def test_what_people_call_says_what_each_parameter_is(name, method):
    assert undocumented(getattr(espalier, name), method) == []


def test_a_parameter_without_a_word_is_found():
    class Tree:
        def prune(self, branch: str, year: int) -> None:
            """Cut.

            Parameters
            ----------
            branch : which.
            """

    assert undocumented(Tree, "prune") == ["year"]
