"""Nothing is lost: each letter and digit of a reference is in every format, or a word of a closed table has gone."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from citation_works import record_of
from hypothesis import example, given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.citations.formats import FORMATS
from espalier.citations.normalise.kept import ORDINALS, SILENT
from espalier.citations.record import LABELS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "nothing-lost.md").read_text(encoding="utf-8")


def loaded() -> ModuleType:
    """Return `bench/lost.py`, whose readers of formats share no code with the writers."""
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        spec = importlib.util.spec_from_file_location("lost", ROOT / "bench" / "lost.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "bench"))
    return module


bench = loaded()
SOME = """JSTOR, www.jstor.org/stable/12 ISBN 0-19-853453-1 978-0-306-40615-7 ISO 690:2021 pp. 284-7 vol. 12(3) no.
third edition 2nd ed. May 1999 03/12/2003 doi:10.1016/j.cell.2003.01.002 Available from https://a.org/b accessed on
in press Smith, J. K. and et al. [Knu84] S12 ff Suppl. 2004a Müller 第3版 arXiv:1607.08115 1998/99 Version
1.2 432 p. XII n.d. &"""
WORDS = st.sampled_from(SOME.split())
PIECES = st.tuples(st.sampled_from(LABELS), st.lists(WORDS, min_size=1, max_size=5).map(" ".join))
# Sign by sign: `st.text` also takes strings from modules that happen to be loaded, and would not find the same twice.
LETTERS = st.lists(st.sampled_from([chr(k) for k in range(32, 127)]), min_size=1, max_size=12).map("".join)
STRINGS = st.tuples(
    st.sampled_from(LABELS),
    LETTERS.filter(lambda text: text.strip() and text.isascii() and any(map(str.isalnum, text))),
)


@pytest.mark.parametrize("format", FORMATS)
@given(st.lists(PIECES | STRINGS, min_size=1, max_size=6))
@example([("url", "JSTOR, www.jstor.org/stable/12")])
@example([("isbn", "ISBN 0-306-40615-2, 978-0-306-40615-7")])
@example([("doi", "ISO 690:2021")])
@example([("citation-number", "[Knu84]")])
@example([("note", "n.d."), ("other", "n.d.")])
@example([("institution", "ed."), ("title", "ed.")])
@example([("title", "0"), ("title", "A"), ("citation-number", "A")])
@settings(deadline=None, derandomize=True, max_examples=120)
def test_no_word_of_any_record_is_lost(format: str, pieces: list[tuple[str, str]]) -> None:
    assert bench.lost(record_of(*pieces), format) == []


def test_references_of_all_sets_lose_nothing() -> None:
    data = Path(os.environ.get("ESPALIER_DATA", ROOT.parent / "shared" / "data"))
    texts = [text for text in bench.references(data, 12) if text.strip()]
    if not texts:
        pytest.skip("needs the shared data sets (set ESPALIER_DATA)")
    found = bench.count(es.load("citations").parse_many(texts), list(FORMATS))
    assert {name: several for name, several in found.items() if several} == {}


def test_the_law_can_fail() -> None:
    record = record_of(("title", "On pears"), ("url", "JSTOR, www.jstor.org/stable/12"))
    assert bench.lost(record, "bibtex") == []
    record.__dict__["work"] = es.load("citations").parse("On pears").work  # what forgot the address
    assert ("url", "jstor") in bench.lost(record, "bibtex")


@pytest.mark.parametrize(
    ("label", "text", "kept"),
    [
        ("url", "JSTOR, www.jstor.org/stable/12", True),
        ("url", "Available from: https://a.org/b", False),
        ("isbn", "ISBN 0-306-40615-2, 978-0-306-40615-7", True),
        ("isbn", "ISBN 0-306-40615-2", False),
        ("note", "n.d.", False),
        ("other", "(o. J.)", False),
        ("other", "o. J. Verlag", True),
        ("pages", "pp. 284-7", False),
        ("date", "May 3rd, 1999", False),
        ("date", "2015년 3월 2일", False),
        ("accessed", "Erişim tarihi: 12.06.2016", False),
        ("accessed", "ogląd 12.06.2016", False),
        ("pages", "645-668쪽", False),
        ("pages", "45–68. o.", False),
        ("volume", "29ᵉ année", False),
        ("volume", "제24권 제3호", False),
        ("volume", "LV. évf., 3. sz.", False),
        ("edition", "Third edition", False),
        ("citation-number", "[12]", False),
        ("citation-number", "[１２]", False),
        ("citation-number", "¹", False),
        ("citation-number", "[Knu84]", True),
    ],
)
def test_a_field_is_kept_whole_where_a_word_would_go(label: str, text: str, kept: bool) -> None:
    assert any(pair[0] == label for pair in record_of(("title", "On"), (label, text)).work.unread) == kept


@pytest.mark.parametrize("label", SILENT)
def test_the_page_lists_every_word_that_may_go(label: str) -> None:
    row = next((line for line in PAGE.splitlines() if line.startswith(f"| {label} |")), "")
    listed = row.rstrip("| ").rpartition("| ")[2].split() if SILENT[label] else []
    assert frozenset(listed) == SILENT[label]


def test_the_page_lists_every_ordinal() -> None:
    assert frozenset(PAGE.partition("<!-- ordinals -->")[2].partition("<!-- end -->")[0].split()) == ORDINALS
