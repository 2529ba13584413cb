"""Rule sets as a whole: the tables of labels, the rules of the tasks, errors, and the table for the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_compile_cases import FAST, LABEL_SETS

import espalier
from espalier.corpus import Labels
from espalier.errors import LabelError, RuleError
from espalier.rules import Rule, degrees, rules
from espalier.rules import nodes as n
from espalier.rules.compile import compile_rules, degrees_of
from espalier.rules.forms import PathTable
from espalier.rules.lowering import support_table
from espalier.tags import is_tag, segments

TASKS = Path(espalier.__file__).parent / "tasks"


@pytest.mark.parametrize("kind", LABEL_SETS)
@FAST
@given(data=st.data())
def test_pairs_of_labels_tell_all_borders(kind: str, data: st.DataObject) -> None:
    """Segments found by following the labels are those found from pairs alone."""
    names = LABEL_SETS[kind]
    table = PathTable.of(names)
    y = data.draw(st.lists(st.integers(0, len(names) - 1), max_size=8))
    tags = [names[j] if is_tag(names[j]) else "I-" + names[j].replace("/", "/I-") for j in y]
    found = segments(tags)
    before = [-1, *y][: len(y)]
    opened, closed = {}, {}
    for path in table.paths:
        column = table.paths.index(path)
        inside, kept = table.inside[:, column], table.kept[:, :, column]
        opened[path] = [t for t, (i, j) in enumerate(zip(before, y, strict=True)) if inside[j] and not kept[i, j]]
        closed[path] = [t for t in range(1, len(y)) if inside[y[t - 1]] and not kept[y[t - 1], y[t]]]
        closed[path] += [len(y)] if y and inside[y[-1]] else []
    assert sorted(found) == sorted(
        (a, b, path) for path in table.paths for a, b in zip(opened[path], closed[path], strict=True)
    )


def test_a_path_table_by_hand() -> None:
    table = PathTable.of(("O", "B-s/B-p", "I-s/B-p", "I-s/I-p"))
    p, s, both = n.Fields(("p",)), n.Fields(("s",)), n.Fields(("p", "s"))
    assert table.paths == ("s", "s/p")
    assert table.around(both).tolist() == [0, 2, 2, 2]
    assert table.opened(s).tolist()[-1] == [0, 1, 1, 1]  # at the first token even I- opens a segment
    assert table.opened(p)[3].tolist() == [0, 1, 1, 0]
    assert table.opened(s)[3].tolist() == [0, 1, 0, 0]
    assert table.closed(both)[3].tolist() == [2, 2, 1, 0]
    assert table.borders()[3].tolist() == [True, True, True, False]
    assert table.borders()[0].tolist() == [False, True, True, True]
    assert not table.borders()[-1].any()


def fields_of_rules(text: str) -> list[str]:
    return sorted({name for rule in rules(text) for fields in n.fields_of(rule.node) for name in fields.names} - {"O"})


@pytest.mark.parametrize(("task", "others"), [("cora", {"AppearsOnce": "linear"}), ("ads", {"FieldLength": "monitor"})])
def test_the_rules_of_the_tasks_are_local_but_one(task: str, others: dict[str, str]) -> None:
    text = (TASKS / f"{task}.rules").read_text(encoding="utf-8")
    chosen = rules(text)
    labels = Labels([*fields_of_rules(text), "title", "O"] if task == "ads" else fields_of_rules(text))
    compiled = compile_rules(chosen, labels)
    assert {name: form for name, form in zip(chosen.names, compiled.form, strict=True) if form != "local"} == others
    assert {table.rule for table in compiled.local_tables()} == {k for k, f in enumerate(compiled.form) if f == "local"}
    tokens = ["Lee", ".", "pp.", "proc", "1994", "$", "ft", "."]
    grounded = compiled.ground(tokens)
    for shift in range(len(labels)):
        y = [(shift + t // 2) % len(labels) for t in range(len(tokens))]
        assert degrees_of(grounded, y).tolist() == degrees(chosen, tokens, labels.decode(y)).tolist()


def test_a_rule_about_an_unknown_field() -> None:
    with pytest.raises(RuleError, match="rule 'R': unknown field 'titel'; did you mean 'title'"):
        compile_rules(rules("R: first in titel"), ("title", "date"))


def test_two_functions_of_one_name() -> None:
    one, other = (rules("R: token is odd -> a", predicates={"odd": f}) for f in (str.isupper, str.islower))
    with pytest.raises(RuleError, match="rule 'S': two different functions are named 'odd'"):
        compile_rules(one + Rule("S", other[0].node), ("a", "b"))
    assert compile_rules(one + Rule("S", one[0].node), ("a", "b")).form == ("local", "local")


def test_a_malformed_tag() -> None:
    with pytest.raises(LabelError, match="no B- or I- mark"):
        compile_rules(rules("R: first in O"), ("O", "B-a/b"))


def test_labels_may_be_any_sequence_of_names() -> None:
    compiled = compile_rules(rules("R: first in a"), ["a", "b"])
    assert compiled.labels == Labels(["a", "b"])
    assert (compiled.K, compiled.form) == (1, ("local",))


def test_the_support_table_covers_every_node_type() -> None:
    table = support_table()
    assert list(table) == [node.__name__ for node in n.NODE_TYPES]
    assert all(list(row) == ["local", "linear", "monitor", "automaton"] for row in table.values())
    assert all(cell for row in table.values() for cell in row.values())
    assert table["Once"]["local"] == "no"
    assert table["Once"]["linear"] == table["Implies"]["local"] == "yes"
    assert {row["monitor"] for row in table.values()} == {"yes"}
