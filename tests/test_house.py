"""The size of the house and the length of its walks are within their budgets; and the counts are right by hand."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import measure_house  # noqa: E402
from measure_house import BUDGETS, code_size, part_of, tightened, tomllib, too_large, watched  # noqa: E402

SOURCE = '''"""What it is.

In words.
"""
# why

x = """no
docstring"""


def f(a, b):
    """Say it."""
    return (a +
            b)  # both
'''


def test_nothing_is_larger_than_its_budget() -> None:
    budgets = tomllib.loads((ROOT / BUDGETS).read_text(encoding="utf-8"))
    assert too_large(measure_house.measure(ROOT), budgets) == []


def test_lines_and_nodes_are_counted_without_docstrings() -> None:
    assert code_size(SOURCE)["code"] == 5
    assert code_size(SOURCE)["nodes"] == code_size("x = 1\ndef f(a, b):\n    return a + b")["nodes"]
    assert code_size("")["nodes"] == 1
    assert code_size("x = 1")["nodes"] == 5
    assert code_size("x = 1; y = 1")["nodes"] > code_size("x = 1")["nodes"]  # packed lines save nothing


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("corpus.py", "core"),
        ("rules/nodes.py", "core"),
        ("a_new_room/x.py", "core"),
        ("papers/tables/x.py", "papers"),
        ("cluster/x.py", "joint, cluster"),
        ("workbench/page/x.js", "workbench"),
    ],
)
def test_every_file_belongs_to_a_part(path: str, part: str) -> None:
    assert part_of(Path(path)) == part


def test_the_parts_are_all_of_it() -> None:
    found = measure_house.sizes(ROOT)
    parts = ("core", *measure_house.PARTS)
    for column in ("code", "nodes", "data"):
        assert sum(found.get(f"{part}: {column}", 0) for part in parts) == found[f"src: {column}"]
        outside = sum(found.get(f"{place}: {column}", 0) for place in ("src", "scripts", "bench"))
        assert found[f"all: {column}"] == outside


def test_functions_are_measured_without_their_docstrings() -> None:
    long = "def f():\n    '''Say\n    it.'''\n" + "    x = 1\n" * 81
    kernel = "@njit\ndef k(" + ", ".join(f"a{n}" for n in range(13)) + "): ...\ndef h(" + "a, *b): ..."
    found = measure_house.functions({"x.py": ast.parse(long), "kernels/y.py": ast.parse(kernel)})
    assert list(found.values()) == [82, 1, 13, 1]


def inner(n: int) -> int:
    return inner(n - 1) if n else 0


def test_a_walk_counts_files_functions_and_depth() -> None:
    assert watched(lambda: inner(3), __file__) == {"files": 1, "functions": 2, "depth": 6}  # with this test
    assert watched(lambda: sorted([2, 1]), str(ROOT / "src")) == {"files": 0, "functions": 0, "depth": 0}


@pytest.mark.parametrize(
    ("budget", "complaint"),
    [
        (10, ""),
        (12, ""),
        ({"budget": 10, "was": 9, "why": "letters are kept"}, ""),
        (9, "core: code: 10, and 9 at most"),
        (
            {"budget": 10, "was": 9, "why": " "},
            "core: code: a budget that went up says why, one that did not is a number",
        ),
        (
            {"budget": 10, "was": 11, "why": "x"},
            "core: code: a budget that went up says why, one that did not is a number",
        ),
    ],
)
def test_what_is_too_large_is_said(budget: Any, complaint: str) -> None:
    assert too_large({"core: code": 10}, {"core: code": budget}) == ([complaint] if complaint else [])


def test_every_figure_has_a_budget_and_every_budget_a_figure() -> None:
    assert too_large({"core: code": 10}, {"core: cod": 3}) == [
        "core: code: no budget",
        "core: cod: a budget of nothing",
    ]


def test_budgets_are_tightened_and_never_raised() -> None:
    text = '# why\n"core: code" = 1200\n"core: nodes" = 50\n"core: web" = {budget = 9, was = 5, why = "x"}\n'
    after = tightened(text, {"core: code": 1100, "core: nodes": 60, "core: web": 7, "cli: data": 2})
    assert after.startswith("# why\n")
    web = {"budget": 7, "was": 5, "why": "x"}
    assert tomllib.loads(after) == {"core: code": 1100, "core: nodes": 50, "core: web": web, "cli: data": 2}
    assert tomllib.loads(tightened(after, {"core: web": 5}))["core: web"] == 5
