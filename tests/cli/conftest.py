"""A command line run in this process, a tiny corpus, and a model trained on it."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_runs import TAGGED, Espalier, Outcome

from citation_models import tiny_model
from espalier.cli import main


class Stdin(io.BytesIO):
    name = "<stdin>"


@pytest.fixture
def espalier(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Espalier:
    """Run a command line and return exit code, stdout and stderr; `stdin` is text or bytes."""

    def run(*arguments: object, stdin: str | bytes = "") -> Outcome:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        stream = io.TextIOWrapper(io.BufferedReader(Stdin(raw)), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "tagged.txt"
    path.write_text(TAGGED, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.espalier"
    assert main(["train", "--labelled", str(corpus), "--output", str(path), "--set", "l2=0.01"]) == 0
    return path


@pytest.fixture(scope="session")
def references(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("references") / "tiny.espalier"
    tiny_model().save(path)
    return path


@pytest.fixture
def parse(espalier: Espalier, references: Path) -> Any:
    def run(*arguments: object, stdin: str | bytes = "") -> Outcome:
        return espalier("parse", *arguments, "--model", references, stdin=stdin)

    return run
