"""`--jobs` of train and of rules discover: the same model file, and the same rules, on any number of processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import Espalier

RAW = "fig at £ 3 in Ely\nplum for £ 9 near Rye\nin Wye a quince at £ 4\n" * 4
RULES = 'Once:  each field once\nPrice: token in "£" -> price\n'


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pool") / "raw.txt"
    path.write_text(RAW, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "my.rules"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.mark.parametrize("method", ["codl", "pr"])
def test_the_default_model_learns_over_processes(
    espalier: Espalier, corpus: Path, raw: Path, rules: Path, tmp_path: Path, method: str
) -> None:
    models = []
    for jobs in (1, 2):
        model = tmp_path / f"{jobs}.espalier"
        options = ("--rules", rules, "-u", raw, "--method", method, "-o", model, "--set", "max_iterations=5")
        done = espalier("train", "-l", corpus, *options, "--jobs", jobs)
        assert done.code == 0
        models.append(model.read_bytes())
    assert models[0] == models[1]


def test_rules_are_found_over_processes(espalier: Espalier, corpus: Path) -> None:
    one, two = (espalier("rules", "discover", "-d", corpus, "--json", *more) for more in ([], ["--jobs", 2]))
    assert one == two
    assert one.code == 0


def test_no_number(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    done = espalier("train", "-l", corpus, "-o", tmp_path / "m.espalier", "--jobs", 0)
    assert (done.code, done.out) == (2, "")
    assert "--jobs" in done.err
