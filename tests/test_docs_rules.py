"""The page about rules does what it says: every form parses, every block runs and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import espalier as es
from espalier.decoders import DECODERS
from espalier.errors import InputError
from espalier.rules.lowering import FORMS
from espalier.rules.nodes import NODE_TYPES, walk
from espalier.rules.text import KEYWORDS

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "scripts"))

from rules_tables import fill  # noqa: E402

PAGE = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
LABELS = ["fruit", "form", "price", "place"]


def first_column(head: str) -> list[str]:
    """The code in the first column of the table with this head."""
    table = PAGE.split(f"| {head} | holds if |\n|---|---|\n")[1].split("\n\n")[0]
    return [re.match(r"\| `(.*?)` \|", line)[1] for line in table.splitlines()]


def node_of(text: str):
    return es.rules(f"R: {text}", labels=LABELS, lexicons={"places.txt": ["Ludlow"]})["R"].node


def test_blocks_print_what_stands_below_them() -> None:
    names: dict[str, object] = {}
    printed = None
    ran = 0
    for language, block in BLOCKS:
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, "docs/rules.md", "exec"), names)
            printed = out.getvalue()
            ran += 1
        elif language == "text":
            assert block == printed
    assert ran == sum(language == "text" for language, _ in BLOCKS) >= 10


def test_every_rule_and_condition_of_the_tables_parses() -> None:
    rules = [node_of(text) for text in first_column("rule")]
    conditions = [node_of(f"{text} -> price") for text in first_column("condition")]
    assert {type(inner) for node in rules for inner in walk(node)} == set(NODE_TYPES)
    assert len(set(rules)) == len(rules)
    assert len(set(conditions)) == len(conditions)


def test_every_word_of_the_language_is_on_the_page() -> None:
    code = " ".join(re.findall(r"`([^`\n]+)`", PAGE))
    assert [word for word in sorted(KEYWORDS | {"hard", "penalty"}) if not re.search(rf"\b{word}\b", code)] == []


def test_tables_are_those_of_the_code() -> None:
    assert fill(PAGE) == PAGE, "run: python scripts/rules_tables.py docs/rules.md"
    assert re.findall(r"<!-- begin (\w+) -->", PAGE) == ["lowering", "decoders"]
    rows = {name: PAGE.split(f"\n| `{name}` |")[1].split("\n")[0] for name in DECODERS}
    assert rows["viterbi"].count("`") == 2 * 10  # it takes only Implies and Change
    assert rows["astar"].endswith(" none |")


def test_the_script_mends_a_page(tmp_path: Path) -> None:
    page = tmp_path / "rules.md"
    page.write_text(re.sub(r"(<!-- begin lowering -->).*?(<!-- end lowering -->)", r"\1\2", PAGE, flags=re.DOTALL))
    assert page.read_text() != PAGE
    subprocess.run([sys.executable, ROOT / "scripts" / "rules_tables.py", page], check=True)
    assert page.read_text(encoding="utf-8") == PAGE


@pytest.mark.parametrize("node", NODE_TYPES, ids=lambda node: node.__name__)
def test_examples_are_of_the_type_they_stand_for(node) -> None:
    assert type(es.rules(f"R: {FORMS[node].example}")["R"].node) is node
    assert tuple(FORMS) == NODE_TYPES


def test_pages_without_known_markers_are_refused() -> None:
    with pytest.raises(InputError, match="no table is named 'lowerings'; did you mean 'lowering'"):
        fill("<!-- begin lowerings -->\n<!-- end lowerings -->")
    with pytest.raises(InputError, match="no pair of markers"):
        fill("nothing here")


def test_the_task_file_of_the_page_loads(tmp_path: Path) -> None:
    [block] = [block for language, block in BLOCKS if language == "toml"]
    (tmp_path / "orchard.toml").write_text(block, encoding="utf-8")
    task = es.load_task(tmp_path / "orchard.toml")
    assert (task.name, list(task.labels), task.rules.names) == ("orchard", LABELS, ("Once", "Price"))
    assert task.defaults == {"model": "crf", "l2": 0.5}


def test_links_and_names_exist() -> None:
    for name in re.findall(r"\bes\.(\w+)", PAGE):
        assert hasattr(es, name)
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / link).exists(), link
