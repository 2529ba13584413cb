"""The page for people from other tools does what it says: code, commands, files, and the peer's own answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doc_pages import ROOT, blocks, copy_examples, page, run_page

import espalier as es
from kept_nets import kept_nets

NAME = "docs/coming-from.md"
PAGE = page(NAME)
FILES = re.findall(r"With this `([\w.]+)`:\n\n```\w+\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str]]:
    """Every block with what it printed and what is shown, run once where the page's files are."""
    pytest.importorskip("pycrfsuite")
    directory = tmp_path_factory.mktemp("coming")
    copy_examples(directory)
    for name, text in FILES:
        (directory / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, kept_nets(min_steps=6):  # nothing that it learned is shown
        patch.chdir(directory)
        return list(run_page(NAME))


def test_blocks_print_what_stands_below_them(ran: list[tuple[str, str, str]]) -> None:
    assert len(ran) == 8
    for block, printed, shown in ran:
        assert printed == shown, block


def test_files_of_the_page() -> None:
    assert [name for name, _ in FILES] == ["mine.xml", "refs.tei.xml", "names.conll"]
    assert len([block for block in blocks(PAGE) if block.language in ("xml", "conll")]) == 3


def test_parameters_that_the_page_names_exist() -> None:
    parameters = es.CRF().get_params()
    assert parameters["l2"] == 0.1
    for name in ("l1", "max_iterations", "epsilon", "delta", "period", "min_count", "transitions"):
        assert name in parameters
        assert name in PAGE


def test_values_that_the_peer_unfolds_are_refused() -> None:
    for value in (["x", "y"], {"b": "c"}, None):
        with pytest.raises(es.EspalierError, match="sequence 0, token 0: attribute 'a' has the value"):
            es.CRF().fit([[{"a": value}]], [["p"]])


def test_a_tag_that_continues_nothing_is_impossible() -> None:
    X = [["call", "Ada", "Byron"], ["Byron", "calls"]]
    model = es.CRF(["word"], l2=0.01).fit(X, [["O", "B-name", "I-name"], ["B-name", "O"]])
    for tags in model.predict([["call", "Byron"], ["Byron", "Byron", "Byron"], ["calls", "Byron", "Byron"]]):
        for before, tag in zip(["O", *tags], tags, strict=False):
            assert tag != "I-name" or before in ("B-name", "I-name")


def test_evaluating_files_with_other_names_is_as_bad_as_the_page_says(tmp_path: Path) -> None:
    document = es.read(ROOT / "examples" / "style.xml")[0]
    assert "journal" in {span.label for span in document.spans or ()}
    assert "journal" not in es.load_task("citations").labels.names
