"""Which code a figure came from: imports are followed, words are passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from espalier.papers.tables import sources
from espalier.papers.tables.sources import code_digest, meant_by, modules_of


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small library: `a` uses `b` inside a function and `c` for types alone; `d` has nothing to do with it."""
    root = tmp_path / "espalier"
    (root / "deep").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "a.py": (
            '"""A."""\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from espalier import c\n\n'
            'def f():\n    """Do."""\n    from espalier.deep.b import g  # later\n    return g() + 1\n'
        ),
        "deep/__init__.py": "",
        "deep/b.py": "def g():\n    return 1\n",
        "deep/words.txt": "one\n",
        "c.py": "x = 1\n",
        "d.py": "x = 1\n",
    }
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    forget()
    yield root
    forget()


def forget() -> None:
    for one in (code_digest, modules_of, meant_by, sources._imported):
        one.cache_clear()


def digest() -> str:
    forget()
    return code_digest("espalier.a")


def test_imports_are_followed(house: Path) -> None:
    assert modules_of("espalier.a") == ("espalier", "espalier.a", "espalier.deep", "espalier.deep.b")


@pytest.mark.parametrize(
    ("file", "before", "after", "same"),
    [
        ("a.py", "# later", "# sooner", True),
        ("a.py", '"""Do."""', '"""Do it."""', True),
        ("a.py", "+ 1", "+ 2", False),
        ("deep/b.py", "return 1", "return 2", False),
        ("deep/words.txt", "one", "two", False),
        ("c.py", "x = 1", "x = 2", True),
        ("d.py", "x = 1", "x = 2", True),
    ],
)
def test_what_changes_the_digest(house: Path, file: str, before: str, after: str, same: bool) -> None:
    first, path = digest(), house / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    assert (digest() == first) == same


def test_a_table_does_not_depend_on_what_has_nothing_to_do_with_it() -> None:
    used = modules_of("espalier.papers.tables.ccm12")
    assert {"espalier.estimators.hmm", "espalier.learning.codl", "espalier.decoders.batch"} <= set(used)
    assert not [name for name in used if name.split(".")[1:2] in (["citations"], ["server"], ["cli"], ["documents"])]


def test_words_about_a_table_are_no_code() -> None:
    said = meant_by("espalier.papers.tables.ccm12_inputs")
    assert "remark=" not in said
    assert "measure=" in said
