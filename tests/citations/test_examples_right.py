"""A demo without a flaw: the forty example references are cut and parsed right.

`example_records.jsonl` has what each reference says, read by a person, in the words of CSL. A record that comes out
otherwise is a mistake of the parser, or a reference that does not belong into a demo; never change the file to please
the parser.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from espalier.cli import main

ROOT = Path(__file__).resolve().parents[2]
RIGHT = [
    json.loads(line)
    for line in (Path(__file__).parent / "example_records.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    output = tmp_path_factory.mktemp("examples") / "found.jsonl"
    assert main(["parse", str(ROOT / "examples" / "references.txt"), "-o", str(output)]) == 0
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def test_every_line_is_one_reference(found: list[dict[str, object]]) -> None:
    lines = (ROOT / "examples" / "references.txt").read_text(encoding="utf-8").splitlines()
    assert [record["text"] for record in found] == lines == [right["text"] for right in RIGHT]
    assert len(lines) == 40


@pytest.mark.parametrize("number", range(40))
def test_every_value_is_right(found: list[dict[str, object]], number: int) -> None:
    csl = {name: value for name, value in found[number]["csl"].items() if name not in ("id", "custom")}
    assert csl == RIGHT[number]["csl"]


def test_the_examples_are_varied() -> None:
    kinds = {right["csl"]["type"] for right in RIGHT}
    assert kinds >= {"article-journal", "book", "chapter", "paper-conference", "thesis", "report", "software"}
    assert sum(not right["text"].isascii() for right in RIGHT) > 10
