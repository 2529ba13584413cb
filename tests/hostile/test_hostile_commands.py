"""The command line on files made to harm: an exit code and a message, never a traceback."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from bounds import bounded

from citation_models import reference
from espalier.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def espalier(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return its exit code, output and messages."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


def test_parse_a_line_of_ten_megabytes(espalier: Run, tmp_path: Path) -> None:
    """It is set aside, by its place, and the others are parsed."""
    path = tmp_path / "refs.txt"
    path.write_text(f"{reference(1)}\n{'word ' * 2_000_000}\n{reference(2)}\n", encoding="utf-8")
    with bounded(60.0):
        code, out, messages = espalier("parse", path, "--format", "jsonl")
    assert code == 1
    assert [json.loads(line)["text"] for line in out.splitlines()] == [reference(1), reference(2)]
    assert "refs.txt:2: " in messages.replace("\n", "")
    assert "Traceback" not in messages


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("x.jsonl", b"[" * 200_000, "nested too deeply"),
        ("x.jsonl", b'{"text": "a", "w": 1e999}\n', "1e999"),
        ("x.jsonl", b"\xff\xfe\x00", "is not utf-8"),
        ("x.jsonl.gz", gzip.compress(b'{"text": "a"}\n' * 500)[:-9], "truncated or damaged"),
        ("x.tei", b'<!DOCTYPE a [<!ENTITY b "c">]><TEI>&b;</TEI>', "entities are not resolved"),
    ],
    ids=["nested", "number", "bytes", "gzip", "entities"],
)
def test_convert(espalier: Run, tmp_path: Path, name: str, data: bytes, what: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    chosen = ["--from", "jsonl"] if "jsonl" in name else []
    code, _, messages = espalier("convert", path, tmp_path / "out.jsonl", *chosen)
    assert code == 2
    assert what in " ".join(messages.split())
    assert "Traceback" not in messages
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "\udcff"])
def test_names_of_files(espalier: Run, tmp_path: Path, name: str) -> None:
    for command in (["parse", name], ["convert", name, tmp_path / "out.jsonl"], ["run", name]):
        code, _, messages = espalier(*command)
        assert code == 2
        assert "Traceback" not in messages
