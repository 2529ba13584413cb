"""What learns in this process never imports what learns over processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = """
import sys
import warnings
import espalier as es

warnings.simplefilter("ignore")
X = [["Ann", ",", "1990"], ["Bob", ".", "2001"], ["Ann", "Bob", ",", "15"]]
Y = [["name", "O", "year"], ["name", "O", "year"], ["name", "name", "O", "year"]]
RULES = 'Year: token ~ /\\\\d+/ -> year'
{work}
far = ("espalier.distributed", "espalier.cluster", "joblib", "dask")
print(sorted(name for name in sys.modules if name.startswith(far)))
"""

LOCAL = [
    "es.CRF(max_iterations=2).fit(X, Y).predict(X)",
    "es.CCM(es.HMM(), RULES).fit(X, Y)",
    "es.EM(iterations=1).fit(X, Y, unlabelled=X)",
    "es.CoDL(es.CCM(es.HMM(), RULES), cycles=1).fit(X, Y, unlabelled=X)",
    "es.CoDL(es.CRF(max_iterations=2), update='pool', cycles=1).fit(X, Y, unlabelled=X)",
    "es.PosteriorRegularization(es.HMM(), RULES, iterations=1).fit(X, Y, unlabelled=X)",
    "es.PosteriorRegularization(es.CRF(max_iterations=2), RULES, iterations=1).fit(X, Y, unlabelled=X)",
    "es.GeneralizedExpectation(es.CRF(max_iterations=2), RULES, max_iterations=2).fit(X, Y, unlabelled=X)",
    "es.discover(es.Corpus.from_tokens(X, Y), es.Corpus.from_tokens(X, Y), penalties=None)",
]


def loaded(work: str) -> str:
    code = HERE.replace("{work}", work)
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_local_learning_never_opens_the_door() -> None:
    assert loaded("\n".join(LOCAL)) == "[]"


def test_a_number_of_jobs_does() -> None:
    """The test above can fail: one job is work in parts already."""
    assert "espalier.distributed" in loaded("es.CRF(max_iterations=2, jobs=1).fit(X, Y)")


@pytest.mark.parametrize("name", ["estimators", "learning"])
def test_one_module_has_the_door(name: str) -> None:
    import espalier

    package = Path(espalier.__file__).parent / name
    doors = [path.name for path in package.glob("*.py") if "import distributed" in path.read_text(encoding="utf-8")]
    assert doors == (["jobs.py"] if name == "learning" else [])
