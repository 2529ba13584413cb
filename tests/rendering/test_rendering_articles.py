"""Articles in layouts that styles lack: the strings that they give, and their labels."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
from rendering.articles import LAYOUTS, SHORT_MONTHS, write_article
from rendering.words import Words

from espalier.document import Document

ARTICLE: dict[str, Any] = {
    "kind": "article",
    "title": "On things",
    "author": [{"family": "Doe", "given": "Jane Ann"}, {"family": "Roe", "given": "Richard"}],
    "container-title": "Journal of Things",
    "container-title-short": "J. Things",
    "volume": "12",
    "issue": "3",
    "page": "45-49",
    "issued": {"date-parts": [[2001, 5]]},
}
SHAPES = {
    "acm-proceedings": r"Doe, J\. A\. and Roe, R\. 2001\. On things\. J\S+( of)? Things\. "
    r"12, 3 \((May\. )?2001\), 45(\D49)?\.",
    "acs": r"Doe, J\. A\.; Roe, R\. (On things\. )?J\S+( of)? Things 2001, 12( \(3\))?, 45(\D49)?\.?",
    "vancouver": r"Doe JA, Roe R\. On( things)?\. J\S+( of)? Things\.? 2001( [\w.]+( \d+)?)?; ?12\(3\): ?45(\D49)?\.",
    "abnt": r"DOE, J\. A\.; ROE, R\. On things\. Journal of Things, [\w .]+, "
    r"v\. 12, n\. 3, p\. 45(\D49)?, (maio\. )?2001\.",
}


def written(layout: str, seed: int) -> Document:
    found = write_article(Random(seed), Words.read("train"), ARTICLE, layout)
    assert found is not None
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_text_has_the_shape_of_the_layout(layout: str) -> None:
    texts = {written(layout, seed).text for seed in range(40)}
    assert len(texts) > 3
    for text in texts:
        assert re.fullmatch(SHAPES[layout], text), text
    assert any("49" not in text for text in texts)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_labels(layout: str) -> None:
    for seed in range(10):
        document = written(layout, seed)
        found = [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]
        values = {label: re.sub(r"^(?:[vnp]\. |\()|[).,;:]+$", "", text).strip("(). ,;:") for label, text in found}
        assert values["volume"] == "12"
        assert values["pages"].startswith("45")
        assert values.get("issue", "3") == "3"
        assert "2001" in values["date"]
        assert ("location" in values) == (layout == "abnt")
        dates = [label for label, _ in found].count("date")
        assert dates == (2 if layout == "acm-proceedings" else 1)


def test_what_lacks_something_is_not_written() -> None:
    for missing in ("author", "issued", "container-title", "volume", "page"):
        item = {name: value for name, value in ARTICLE.items() if name != missing}
        assert write_article(Random(0), Words.read("train"), item, "acs") is None
    assert write_article(Random(0), Words.read("train"), {**ARTICLE, "kind": "book"}, "acs") is None


def test_every_language_has_twelve_months() -> None:
    assert {len(months) for months in SHORT_MONTHS.values()} == {12}
