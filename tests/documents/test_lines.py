from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.documents.deciding.features import attributes, seen
from espalier.documents.deciding.model import bundled
from espalier.documents.deciding.units import units_of
from espalier.documents.lines import PrintedText, TextLine

TEXTS = st.lists(st.tuples(st.text("ab .", max_size=4), st.integers(0, 2)), max_size=8)


@given(TEXTS)
def test_every_line_stands_in_the_text_where_it_says(rows: list[tuple[str, int]]) -> None:
    page, lines = 1, []
    for text, step in rows:
        page += step
        lines.append(TextLine(text, page=page))
    printed = PrintedText.of(lines)
    assert [printed.text[line.start : line.end] for line in printed.lines] == [text for text, _ in rows]
    # Pages and lines come back from the text alone.
    pages = printed.text.split("\f")
    assert len(pages) == page
    for number, content in enumerate(pages, 1):
        texts = [line.text for line in lines if line.page == number]
        assert content == "\n".join(texts)
    for number, line in enumerate(printed.lines):
        for offset in range(line.start, line.end):
            assert printed.line_at(offset) == number


def test_pages_do_not_go_backwards() -> None:
    with pytest.raises(ValueError, match="page 1 comes after one of page 2"):
        PrintedText.of([TextLine("a", page=2), TextLine("b", page=1)])


def test_scores_without_kernels_are_those_of_the_crf() -> None:
    model = bundled()
    lines = [TextLine(text) for text in ("References", "[1] Smith, J. (1990). Wires.", "Orchard 3, 4-9.", "zzzz")]
    own = attributes(seen(units_of(lines)))
    own[2].append("an attribute that nobody has seen")
    for crf, scores in ((model.first, model.first_scores), (model.second, model.second_scores)):
        wanted, found = crf.potentials([own]), scores.potentials(own)
        np.testing.assert_allclose(found.unary, wanted.unary, rtol=1e-12)
        np.testing.assert_array_equal(found.trans, wanted.trans)
        np.testing.assert_array_equal(found.indptr, wanted.indptr)
