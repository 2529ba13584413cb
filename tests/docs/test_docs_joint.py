"""Several layers at once: the blocks of the page print what stands below them."""

from __future__ import annotations

from doc_pages import run_page


def test_blocks_print_what_stands_below_them() -> None:
    ran = list(run_page("docs/joint.md", skip=("python ", "espalier ")))
    assert len(ran) >= 3
    for block, printed, shown in ran:
        assert printed == shown, block
