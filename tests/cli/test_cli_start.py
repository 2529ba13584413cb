"""The start of a command: what it imports, how often it looks for garbage, and one command without the others."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

import pytest
import typer
from cli_runs import Espalier

from espalier.cli.app import COMMANDS, GROUPS, app
from espalier.cli.garbage import YOUNG, seldom

ONE = "L. O. Andersen. Program analysis and specialization for the C programming language. PhD thesis, DIKU, 1994."
PARSE = """
import json, sys
from espalier.cli import main
code = main(["parse", "--format", "bibtex", "-"])
sys.exit(code or json.dumps(sorted(sys.modules)))
"""
NEEDLESS = (
    "espalier.cluster",
    "espalier.decoders.ilp",
    "espalier.decoders.table",
    "espalier.estimators.perceptron",
    "espalier.estimators.semicrf",
    "espalier.learning.lbfgs",
    "espalier.learning.penalty_training",
    "espalier.metrics",
    "espalier.distributed",
    "joblib",
    "scipy",
    "sklearn",
)


def test_parsing_imports_no_training_and_no_cluster() -> None:
    done = subprocess.run([sys.executable, "-c", PARSE], input=ONE, capture_output=True, text=True)
    assert done.stdout.startswith("@phdthesis{andersen1994program,")
    loaded = json.loads(done.stderr)
    assert "espalier.estimators.ccm" in loaded
    assert [name for name in NEEDLESS if name in loaded] == []


def test_garbage_is_sought_less_often_and_then_as_before() -> None:
    before = gc.get_threshold()

    @seldom()
    def inside() -> tuple[int, int, int]:
        return gc.get_threshold()

    assert inside() == (max(YOUNG, before[0]), *before[1:])
    assert gc.get_threshold() == before
    with pytest.raises(ZeroDivisionError), seldom():
        _ = 1 / 0
    assert gc.get_threshold() == before


def test_whoever_seeks_less_often_already_is_left_alone() -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(2 * YOUNG, 3, 4)
        with seldom():
            assert gc.get_threshold() == (2 * YOUNG, 3, 4)
        assert gc.get_threshold() == (2 * YOUNG, 3, 4)
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize(("arguments", "frozen"), [("", True), ("['--version']", False)])
def test_only_the_process_of_a_command_leaves_its_garbage_to_the_system(arguments: str, frozen: bool) -> None:
    script = f"""
import gc, sys
from espalier.cli import main
sys.argv = ["espalier", "--version"]
code, enabled = main({arguments}), gc.isenabled()
sys.exit(code or (enabled and (gc.get_freeze_count() > 0) is {frozen}) and 7)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.startswith("espalier ")


@pytest.mark.parametrize("name", [command.__name__ for command in COMMANDS])
def test_a_command_alone_says_what_it_says_among_the_others(
    espalier: Espalier, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    alone = espalier(name, "--help")
    typer.main.get_command(app).main(args=[name, "--help"], prog_name="espalier", standalone_mode=False)
    assert alone == (0, capsys.readouterr().out, "")


def test_groups_and_misspelled_commands_still_know_all_commands(espalier: Espalier) -> None:
    for name, (_, commands) in GROUPS.items():
        code, out, _ = espalier(name, "--help")
        assert code == 0
        assert all(command.__name__ in out for command in commands)
    code, _, err = espalier("pars", "x")
    assert code == 2
    assert "parse" in err


def test_a_format_that_does_not_exist_is_refused_before_anything_is_loaded() -> None:
    script = "import sys; from espalier.cli import main; code = main(['parse', '-f', 'bibtx', '-']); "
    script += "sys.exit(7 if code == 2 and 'numba' not in sys.modules else 1)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr == "espalier: unknown format 'bibtx'; did you mean 'bibtex'?\n"
