"""`evaluate --report`, `compare` and `reproduce --html`: pages and tables about models and tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Espalier

from espalier.cli.compare import comparison_table
from espalier.cli.results import results_markdown, results_page
from espalier.papers.tables.protocol import Result, Table


@pytest.fixture
def worse(corpus: Path, tmp_path: Path, espalier: Espalier) -> Path:
    """A model that has seen one record only, with other labels."""
    data, path = tmp_path / "one.txt", tmp_path / "worse.espalier"
    data.write_text("<fruit>plum at</fruit> <price>£ 3 in</price> <place>Ely</place>\n", encoding="utf-8")
    assert espalier("train", "--labelled", data, "--output", path).code == 0
    return path


def test_the_report_of_a_model_is_a_page(espalier: Espalier, model: Path, corpus: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    code, out, _ = espalier("evaluate", "--model", model, "--data", corpus, "--report", page)
    assert code == 0
    assert "token accuracy 100.0" in out
    html = page.read_text(encoding="utf-8")
    for part in ("<h2>Fields</h2>", "<h2>Confusion</h2>", "<h2>Confidence</h2>", "fruit", "100.00"):
        assert part in html


def test_the_report_shows_mistakes_and_escapes_them(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    data, page = tmp_path / "wrong.jsonl", tmp_path / "report.html"
    record = {"tokens": ["plum", "in", "Ely", "<script>"], "bio": ["B-fruit", "O", "B-price", "B-fruit"]}
    data.write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert espalier("evaluate", "--model", model, "--data", data, "--report", page, "--json").code == 0
    html = page.read_text(encoding="utf-8")
    assert "[Ely: price → place]" in html
    assert "<script" not in html


def test_evaluate_shows_records_with_mistakes(espalier: Espalier, model: Path, corpus: Path, tmp_path: Path) -> None:
    """The most wrong tokens first; neighbours with one mistake together; marks only where the field is right."""
    wrong = "in <price>Ely</price> a <fruit>plum</fruit> at <place>£ 9</place>\n<fruit>plum</fruit> at £ 3\n"
    marks = {"tokens": ["plum", "at", "£", "9"], "bio": ["B-fruit", "O", "B-price", "B-price"]}
    data, tagged = tmp_path / "wrong.txt", tmp_path / "marks.jsonl"
    data.write_text(corpus.read_text(encoding="utf-8") + wrong, encoding="utf-8")
    tagged.write_text(json.dumps(marks) + "\n", encoding="utf-8")
    told = json.loads(espalier("evaluate", "-m", model, "-d", data, "--errors", "9", "--json").out)["errors"]
    assert told == [
        {"record": 4, "tokens": 3, "text": "in [Ely: price → place] a plum at [£ 9: place → price]"},
        {"record": 5, "tokens": 2, "text": "plum at [£ 3: O → price]"},
    ]
    code, out, _ = espalier("evaluate", "-m", model, "-d", data, "--errors", "1")
    assert code == 0
    assert "2 records with mistakes; here are 1\n" in out
    assert out.endswith("     4             3  in [Ely: price → place] a plum at [£ 9: place → price]\n")
    assert "no record has a mistake" in espalier("evaluate", "-m", model, "-d", corpus, "--errors", "1").out
    told = json.loads(espalier("evaluate", "-m", model, "-d", tagged, "--errors", "1", "--json").out)["errors"]
    assert told[0]["text"] == "plum at £ [9: B-price → I-price]"


def test_compare_says_which_is_better_or_that_it_may_be_chance(
    espalier: Espalier, model: Path, worse: Path, corpus: Path
) -> None:
    code, out, err = espalier("compare", model, model, "--data", corpus, "--resamples", "200")
    assert code == 0
    assert "may be chance" in out
    assert err == "espalier: the models are compared on 3 records only; 30 or more tell more\n"
    code, out, _ = espalier("compare", worse, model, "--data", corpus, "--json", "--resamples", "200")
    assert code == 0
    rows = {row["metric"]: row for row in json.loads(out)["metrics"]}
    assert rows["token_accuracy"]["b"] == 1.0
    assert rows["token_accuracy"]["difference"] == 1.0 - rows["token_accuracy"]["a"] > 0
    assert 0 < rows["token_accuracy"]["p_bootstrap"] <= 1


@pytest.mark.parametrize(
    ("low", "high", "bootstrap", "wilcoxon", "sure"),
    [
        (-0.21, -0.01, 0.035, 0.04, True),
        (-0.21, -0.01, 0.035, 0.25, False),
        (-0.21, 0.0, 0.035, 0.04, False),
        (-0.21, -0.01, 0.06, 0.04, False),
    ],
)
def test_a_difference_is_claimed_if_both_tests_and_the_interval_say_so(
    low: float, high: float, bootstrap: float, wilcoxon: float, sure: bool
) -> None:
    row = {"metric": "token_accuracy", "a": 0.9, "b": 0.8, "difference": -0.1, "low": low, "high": high}
    *_, words = comparison_table("a", "b", [{**row, "p_bootstrap": bootstrap, "p_wilcoxon": wilcoxon}])
    said = "A is better in token accuracy (p < 0.05)"
    assert words == (said if sure else "the difference may be chance")


@pytest.mark.parametrize("arguments", [("--resamples", "3"), ("--from", "nonsense")])
def test_compare_refuses_what_makes_no_sense(espalier: Espalier, model: Path, corpus: Path, arguments) -> None:
    code, _, err = espalier("compare", model, model, "--data", corpus, *arguments)
    assert code == 2
    assert arguments[1] in err


TOY = Table(
    name="toy", title="A <toy>", source="nobody", metric="points", minutes=0.5, needs=(),
    published={"a, right": {"1": 4.0, "20": None}}, settings=lambda row, column: {}, measure=lambda data, cell: 0.0,
    remark="Ours has <other> paint.",
)  # fmt: skip
RESULTS = [Result("toy", "a, right", "1", 4.0, 5.0, 0.25, 5), Result("toy", "a, right", "20", None, 3.0, None, 1)]


def test_reproduced_tables_as_a_page_with_curves() -> None:
    html = results_page([TOY], RESULTS, {"toy": 7.0})
    assert "A &lt;toy&gt;" in html
    assert html.count("<polyline") == 1
    assert "+1.00" in html
    assert "7 s of work" in html
    assert "Ours has &lt;other&gt; paint." in html


def test_reproduced_tables_as_markdown() -> None:
    lines = results_markdown([TOY], RESULTS, {"toy": 7.0}).splitlines()
    assert "| a, right | 5.00 ± 0.2 (4.00) | 3.00 |" in lines
    assert "## toy" in lines
    assert "Ours has <other> paint." in lines
    assert any("minutes of work" in line for line in lines)
