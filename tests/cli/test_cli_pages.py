"""`evaluate --report`, `compare` and `reproduce --html`: pages and tables about models and tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Espalier

from espalier.cli.results import results_markdown, results_page
from espalier.experiments.protocol import Result, Table


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
    assert "[Ely: B-price → B-place]" in html
    assert "<script" not in html


def test_compare_says_which_is_better_or_that_it_may_be_chance(
    espalier: Espalier, model: Path, worse: Path, corpus: Path
) -> None:
    code, out, _ = espalier("compare", model, model, "--data", corpus, "--resamples", "200")
    assert code == 0
    assert "may be chance" in out
    code, out, _ = espalier("compare", worse, model, "--data", corpus, "--json", "--resamples", "200")
    assert code == 0
    rows = {row["metric"]: row for row in json.loads(out)["metrics"]}
    assert rows["token_accuracy"]["b"] == 1.0
    assert rows["token_accuracy"]["difference"] == 1.0 - rows["token_accuracy"]["a"] > 0
    assert 0 < rows["token_accuracy"]["p_bootstrap"] <= 1


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
