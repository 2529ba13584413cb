"""The page on capacity: its Python runs, its job is a job, and it knows every key, as does the example."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from espalier.cluster import Settings, read_settings

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_python() -> None:
    assert blocks("python")
    for code in blocks("python"):
        exec(code, {})


def test_the_job(tmp_path: Path) -> None:
    (text,) = blocks("toml")
    path = tmp_path / "job.toml"
    path.write_text(text, encoding="utf-8")
    assert read_settings(path).keep == ("id",)


def test_every_key_is_described() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE) == [field.name for field in fields(Settings)]
    defaults = {f.name: f"{f.default:,}".replace(",", " ") for f in fields(Settings) if isinstance(f.default, int)}
    for name, value in defaults.items():
        assert re.search(rf"^\| `{name}` \|.*\| {value} \|$", PAGE, flags=re.MULTILINE), name


def test_the_example() -> None:
    found = read_settings(ROOT / "examples" / "job.toml")
    assert found.input == (str(ROOT / "examples" / "references.txt"),)
    assert found.model == "citations"
