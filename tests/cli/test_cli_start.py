"""The start of a command: what it imports, and one command without the others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from cli_runs import Espalier

from espalier.cli.app import COMMANDS, GROUPS, application

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
    "espalier.papers.segments.semicrf",
    "espalier.learning.lbfgs",
    "espalier.learning.penalty_training",
    "espalier.metrics",
    "joblib",
    "numba",
    "scipy",
    "sklearn",
)


def test_parsing_one_reference_imports_no_training_no_cluster_and_no_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", PARSE], input=ONE, capture_output=True, text=True)
    assert done.stdout.startswith("@phdthesis{andersen1994program,")
    loaded = json.loads(done.stderr)
    assert "espalier.estimators.ccm" in loaded
    assert [name for name in NEEDLESS if name in loaded] == []


TRAIN = """
import json, sys
from espalier.cli import main
code = main(["train", "--labelled", "examples/orchard/train.txt", "--rules", "examples/orchard/orchard.rules",
             "--unlabelled", "examples/orchard/new.txt", "--method", "codl", "--output", sys.argv[1]])
sys.exit(code or json.dumps(sorted(sys.modules)))
"""


def test_training_on_adverts_imports_no_references_and_no_cluster(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRAIN, str(tmp_path / "m.espalier")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).resolve().parents[2])
    loaded = json.loads(done.stderr.splitlines()[-1])  # behind what training says
    assert "espalier.estimators.codl" in loaded
    others = ("citations", "cluster", "papers", "workbench", "cli.parse", "cli.label")
    assert [name for name in loaded if name.startswith(tuple(f"espalier.{other}" for other in others))] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_alone_says_what_it_says_among_the_others(
    espalier: Espalier, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    alone = espalier(name, "--help")
    typer.main.get_command(application()).main(args=[name, "--help"], prog_name="espalier", standalone_mode=False)
    assert alone == (0, capsys.readouterr().out, "")


def test_groups_and_misspelled_commands_still_know_all_commands(espalier: Espalier) -> None:
    for name, commands in GROUPS.items():
        code, out, _ = espalier(name, "--help")
        assert code == 0
        assert all(command in out for command in commands)
    code, _, err = espalier("pars", "x")
    assert code == 2
    assert "parse" in err


def test_a_format_that_does_not_exist_is_refused_before_anything_is_loaded() -> None:
    script = "import sys; from espalier.cli import main; code = main(['parse', '-f', 'bibtx', '-']); "
    script += "sys.exit(7 if code == 2 and 'numba' not in sys.modules else 1)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr == "espalier: unknown format 'bibtx'; did you mean 'bibtex'?\n"
