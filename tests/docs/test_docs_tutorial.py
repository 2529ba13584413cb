"""The tutorial does what it says: its commands run in order, print what stands below them, and make a better model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doc_pages import ROOT, blocks, copy_examples, page, run_page, same

import espalier as es
from kept_nets import kept_nets

PAGE = page("docs/tutorial.md")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str]]:
    """Every block with what it printed and what is shown, run once in a directory with the examples."""
    directory = tmp_path_factory.mktemp("tutorial")
    copy_examples(directory)
    with pytest.MonkeyPatch.context() as patch, kept_nets():
        patch.chdir(directory)
        return list(run_page("docs/tutorial.md", skip=("pip ", "espalier warm", "espalier examples")))


def figures(ran: list[tuple[str, str, str]], which: int) -> list[float]:
    """Token accuracy, field F1 or exactness after every `evaluate`, in the page's order."""
    pattern = r"^token accuracy ([\d.]+)    field F1 ([\d.]+)    exact ([\d.]+)"
    return [float(found[which]) for _, printed, _ in ran for found in re.findall(pattern, printed, re.MULTILINE)]


def test_everything_is_shown_as_it_is_printed(ran: list[tuple[str, str, str]]) -> None:
    assert len(ran) == 11
    for block, printed, shown in ran:
        assert shown, block
        # Confidence and accuracy may move by some points where training stops a step earlier; records may not.
        close = same(shown, printed, tolerance=0.0 if "bibtex" in block else 5.0)
        assert close, f"run: python tests/docs/doc_pages.py docs/tutorial.md\n{block}\n{printed}"


@pytest.mark.parametrize("which", [0, 1, 2])
def test_labels_and_rules_make_the_model_better(ran: list[tuple[str, str, str]], which: int) -> None:
    steps = figures(ran, which)
    assert len(steps) == 4
    assert steps[:3] == sorted(set(steps[:3]))
    assert steps[-1] >= steps[2]  # raw text need not help
    assert steps[-1] - steps[0] > 20


def test_the_python_form_comes_to_the_same(ran: list[tuple[str, str, str]]) -> None:
    by_python = [float(f) * 100 for f in re.findall(r"^\w+ +([01]\.\d+)$", ran[-1][1], re.MULTILINE)]
    assert by_python == pytest.approx(figures(ran, 1), abs=0.051)


def test_files_are_shown_as_they_are() -> None:
    [rules] = [block.text for block in blocks(PAGE) if block.language == "rules"]
    assert rules == page("examples/wall/wall.rules")
    raw, first = page("examples/wall/raw.txt"), blocks(PAGE)[1].text
    assert raw.startswith(first)
    [labelled] = [block.text for block in blocks(PAGE) if block.language == "xml"]
    assert labelled in page("examples/wall/labelled.txt")


def test_the_data_are_what_the_page_says() -> None:
    labelled, test, raw = (es.read(ROOT / "examples" / "wall" / f"{name}.txt") for name in ("labelled", "test", "raw"))
    assert (len(labelled), len(test), len(raw)) == (3, 12, 40)
    texts = [document.text for document in labelled + test + raw]
    assert len(set(texts)) == len(texts)
    assert all(document.spans is None for document in raw)
    for document in labelled + test:
        covered = "".join(document.text[span.start : span.end] for span in document.spans or ())
        assert covered.replace(" ", "") == document.text.replace(" ", ""), "every mark is in a field"
        assert len(document.spans or ()) in (5, 6)


def test_the_rules_are_kept_by_the_labels() -> None:
    from espalier.rules import degree

    task = es.load_task("citations")
    rules = es.RuleSet.from_text(page("examples/wall/wall.rules"), labels=task.labels)
    for name in ("labelled", "test"):
        corpus = es.Corpus.from_documents(es.read(ROOT / "examples" / "wall" / f"{name}.txt"), marks=False)
        for tokens, tags in zip(corpus, corpus.all_labels(), strict=True):
            assert [degree(rule, tokens, tags) for rule in rules] == [0] * rules.K


def test_the_directory_is_on_the_examples_page() -> None:
    assert Path(ROOT / "examples" / "wall").is_dir()
    listed = page("examples/README.md")
    for name in ("labelled.txt", "raw.txt", "test.txt", "wall.rules"):
        assert f"`{name}`" in listed
