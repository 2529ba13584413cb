"""`espalier rules check`, `show` and `discover`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cli_runs import TAGGED, Espalier

from espalier.cli.app import GROUPS
from espalier.tasks.task import load_task

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from write_commands import reference

RULES = """\
# what a market says
Once:   each field once
Price:  token in "£" -> price   [penalty 2.5]
Order:  fruit before price      [hard, once]
"""


@pytest.fixture
def rules_file(tmp_path: Path) -> Path:
    path = tmp_path / "market.rules"
    path.write_text(RULES, encoding="utf-8")
    return path


def test_check_names_the_form_of_every_rule(espalier: Espalier, rules_file: Path) -> None:
    warned = "espalier: names of fields are not checked; --data FILE or --labels NAMES says which there are\n"
    for labels, said in (([], warned), (["--labels", "fruit,price, place"], "")):
        code, out, err = espalier("rules", "check", rules_file, *labels)
        assert (code, err) == (0, said)
        rows = [line.split()[0] + " " + line.split()[-1] for line in out.splitlines()]
        assert rows == ["name form", "Once linear", "Price local", "Order monitor"]
    code, out, _ = espalier("rules", "check", rules_file, "--json")
    assert json.loads(out)["rules"][1] == {
        "name": "Price",
        "rule": 'token in "£" -> price',
        "penalty": 2.5,
        "once": False,
        "form": "local",
    }


def test_check_names_all_mistakes_with_their_lines(espalier: Espalier, rules_file: Path) -> None:
    rules_file.write_text(RULES + "More: cherry once\nOnce: fruit once\nOdd: frut once\n   \n", encoding="utf-8")
    code, out, err = espalier("rules", "check", rules_file, "--labels", "fruit,price,place")
    assert code == 2
    assert "Price" in out
    assert "line 5, column 7: unknown field 'cherry'" in err
    assert "line 6, column 1: a second rule named 'Once'" in err
    assert "line 7, column 6: unknown field 'frut'; did you mean 'fruit'?" in err
    code, out, _ = espalier("rules", "check", rules_file, "--labels", "fruit,price,place", "--json")
    assert code == 2
    assert len(json.loads(out)["mistakes"]) == 3


def test_check_counts_over_labelled_records(espalier: Espalier, rules_file: Path, corpus: Path) -> None:
    """By hand: three records, each with a fruit, a price and a place; the price stands behind the fruit in all."""
    more = 'Last: last in place\nFree: token in "free" -> price\nPence: if any token in "p" then not price required\n'
    rules_file.write_text(RULES + more, encoding="utf-8")
    code, out, err = espalier("rules", "check", rules_file, "--data", corpus, "--json")
    assert (code, err) == (0, "espalier: rules that never apply to these records: Free, Pence\n")
    counts = {
        row["name"]: [row[c] for c in ("applies", "kept", "broken", "first_broken")] for row in json.loads(out)["rules"]
    }
    assert counts == {
        "Once": [9, 9, 0, None],
        "Price": [3, 3, 0, None],
        "Order": [3, 3, 0, None],
        "Last": [3, 2, 1, 3],
        "Free": [0, 0, 0, None],
        "Pence": [0, 0, 0, None],
    }
    table = espalier("rules", "check", rules_file, "--data", corpus).out.splitlines()
    assert table[0].split()[-5:] == ["applies", "kept", "broken", "first", "broken"]
    assert table[4].split()[-5:] == ["3", "2", "1", "record", "3"]


def test_check_knows_the_fields_of_labelled_records(espalier: Espalier, rules_file: Path, corpus: Path) -> None:
    rules_file.write_text("Once: prise once\nShop: shop once\n", encoding="utf-8")
    code, _, err = espalier("rules", "check", rules_file, "--data", corpus)
    assert code == 2
    assert "line 1, column 7: unknown field 'prise'; did you mean 'price'?" in err
    assert "unknown field 'shop'" in err
    code, _, err = espalier("rules", "check", rules_file, "--data", corpus, "--labels", "shop")
    assert "unknown field 'shop'" not in err
    plain = corpus.with_name("plain.txt")
    plain.write_text("plum at £ 3\n", encoding="utf-8")
    code, _, err = espalier("rules", "check", rules_file, "--data", plain)
    assert code == 2
    assert "no record is labelled" in err


def test_check_counts_for_a_task(espalier: Espalier, tmp_path: Path, rules_file: Path, corpus: Path) -> None:
    task = tmp_path / "market.toml"
    task.write_text(
        'labels = ["fruit", "price", "place", "shop"]\n[rules]\ntext = "Shop: shop required"\n', encoding="utf-8"
    )
    code, out, _ = espalier("rules", "check", task, "--data", corpus, "--json")
    [row] = json.loads(out)["rules"]
    assert (code, row["applies"], row["broken"], row["first_broken"]) == (0, 3, 3, 1)


def test_check_and_show_a_task(espalier: Espalier, tmp_path: Path, rules_file: Path) -> None:
    task = tmp_path / "market.toml"
    task.write_text('labels = ["fruit", "price", "place"]\n[rules]\nfile = "market.rules"\n', encoding="utf-8")
    checked, shown = espalier("rules", "check", task), espalier("rules", "show", task)
    assert checked == shown
    assert "2.5" in shown.out
    assert "hard, once" in shown.out
    assert "to learn" in shown.out
    told = json.loads(espalier("rules", "show", task, "--json").out)
    assert (told["task"], told["labels"], len(told["rules"])) == ("market", ["fruit", "price", "place"], 3)
    assert espalier("rules", "show", "cora").code == 0
    task.write_text('labels = ["fruit"]\n', encoding="utf-8")
    assert espalier("rules", "show", task).out == "market has no rules\n"


@pytest.fixture
def wrong_model(espalier: Espalier, tmp_path: Path) -> Path:
    """A model that has learned to call every plum a fruit, also where it is a place."""
    path, model = tmp_path / "wrong.txt", tmp_path / "wrong.espalier"
    path.write_text(TAGGED + "<fruit>plum</fruit> in <fruit>plum</fruit>\n", encoding="utf-8")
    assert espalier("train", "-l", path, "-o", model, "--set", "l2=0.01").code == 0
    return model


def test_discover_writes_a_task_that_can_be_loaded(espalier: Espalier, tmp_path: Path, wrong_model: Path) -> None:
    data, output = tmp_path / "dev.txt", tmp_path / "found.toml"
    data.write_text(TAGGED + "<fruit>plum</fruit> in <place>plum</place>\n" * 2, encoding="utf-8")
    code, out, err = espalier("rules", "discover", "-m", wrong_model, "-d", data, "-o", output)
    assert (code, err) == (0, "")
    assert "1 rule of" in out
    task = load_task(output)
    assert task.rules.K == 1
    assert "# support" in output.read_text(encoding="utf-8")
    told = json.loads(espalier("rules", "discover", "-m", wrong_model, "-d", data, "--json").out)
    assert [row["name"] for row in told["rules"]] == list(task.rules.names)
    assert told["rules"][0]["separated"] == [3, 4]
    stdout = espalier("rules", "discover", "-m", wrong_model, "-d", data, "-o", "-").out
    assert stdout == output.read_text(encoding="utf-8")
    every = json.loads(espalier("rules", "discover", "-m", wrong_model, "-d", data, "--cover", 0, "--json").out)
    assert len(every["rules"]) == every["important"] > 1
    few = espalier("rules", "discover", "-m", wrong_model, "-d", data, "--cover", 0, "--max", 2, "--json").out
    assert json.loads(few)["rules"] == every["rules"][:2]
    kinds = espalier("rules", "discover", "-m", wrong_model, "-d", data, "--templates", "singleton, presence", "--json")
    assert {row["template"] for row in json.loads(kinds.out)["rules"]} <= {"singleton", "presence"}


def test_discover_without_a_model(espalier: Espalier, corpus: Path) -> None:
    code, out, err = espalier("rules", "discover", "-d", corpus, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["sequences"] == 3


def test_the_table_of_discover_has_no_empty_column(espalier: Espalier, tmp_path: Path, wrong_model: Path) -> None:
    """Answers of folds cannot be asked again under a rule; where no labelling breaks a rule, both counts are shown."""
    data = tmp_path / "dev.txt"
    data.write_text(TAGGED + "<fruit>plum</fruit> in <place>plum</place>\n" * 2, encoding="utf-8")
    out = espalier("rules", "discover", "-m", wrong_model, "-d", data).out
    assert out.splitlines()[2].split()[-3:] == ["importance", "penalty", "±"]
    assert " 2 : 0 " in out
    out = espalier("rules", "discover", "-d", data).out
    assert out.splitlines()[2].split()[-2:] == ["importance", "penalty"]
    assert "∞" not in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["check", "nowhere.rules"], "nowhere.rules"),
        (["check", "nowhere.toml"], "nowhere.toml"),
        (["check", "cora", "--labels", "a"], "a task has its own labels"),
        (["show", "citatons"], "did you mean 'citations'"),
        (["discover"], "--data"),
        (["discover", "-d", "DATA", "-o", "found.txt"], "ends in .toml"),
        (["discover", "-d", "DATA", "-o", "nowhere/found.toml"], "does not exist"),
        (["discover", "-d", "DATA", "--templates", "singelton"], "did you mean 'singleton'"),
        (["discover", "-d", "DATA", "--importance", "-1"], "importance is -1"),
        (["chek"], "chek"),
    ],
)
def test_wrong_use(espalier: Espalier, corpus: Path, arguments: list[str], complaint: str) -> None:
    code, out, err = espalier("rules", *[str(corpus) if word == "DATA" else word for word in arguments])
    assert (code, out) == (2, "")
    assert err.startswith(("espalier: ", "Usage: espalier rules"))
    assert complaint in err


def test_records_without_labels_or_alone(espalier: Espalier, tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("<fruit>plum</fruit> in Ely\n", encoding="utf-8")
    assert "too few" in espalier("rules", "discover", "-d", path).err
    path.write_text('{"text": "plum in Ely"}\n', encoding="utf-8")
    assert "no record is labelled" in espalier("rules", "discover", "-d", path, "--from", "jsonl").err


@pytest.mark.parametrize(("group", "command"), [(g, c) for g, commands in GROUPS.items() for c in commands])
def test_help_agrees_with_the_page(espalier: Espalier, group: str, command: str) -> None:
    code, out, _ = espalier(group, command, "--help")
    assert code == 0
    section = reference().split(f"## espalier {group} {command}\n")[1].split("\n## ")[0]
    options = {part.strip("`,") for part in section.split() if part.startswith("`--")}
    assert options
    assert all(option in out for option in options)
    assert group in espalier("--help").out
