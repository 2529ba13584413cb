"""The page on documents: its blocks print what stands below them, and its tables name what there is."""

from __future__ import annotations

from doc_pages import page, run_page

from espalier.cluster.plan import PLACES
from espalier.documents.layout.words import MOST_CHARACTERS
from espalier.documents.reading import confined
from espalier.documents.reading.docx import DEPTH, EXPANSION, MOST_BYTES
from espalier.documents.reading.pdf import MOST_PAGES
from espalier.documents.sources import LARGEST_DOCUMENT

NAME = "docs/documents.md"
PAGE = page(NAME)


def test_blocks_print_what_stands_below_them() -> None:
    ran = list(run_page(NAME, skip=("espalier ",)))
    assert len(ran) == 2
    for block, printed, shown in ran:
        assert printed.rstrip() == shown.rstrip(), block


def test_every_part_of_a_place_is_explained() -> None:
    for name in PLACES:
        assert f"`{name}`" in PAGE


def test_limits_are_those_of_the_code() -> None:
    assert f"at\nmost {LARGEST_DOCUMENT >> 20} MB" in PAGE
    assert f"at most {MOST_PAGES:,} pages" in PAGE
    assert f"| {confined.SECONDS:.0f} seconds, and {confined.SECONDS_EACH:.0f} for each megabyte of the file |" in PAGE
    assert f"| {confined.MEGABYTES:.0f} MB, and {confined.MEGABYTES_EACH:.0f} for each megabyte of the file |" in PAGE
    assert f"{confined.LINES:,} lines, {confined.CHARACTERS // 1_000_000} million characters" in PAGE
    assert f"{MOST_CHARACTERS:,} characters of a page" in PAGE
    assert f"8 MB or {EXPANSION} times its size, and never to more than {MOST_BYTES >> 20} MB" in PAGE
    assert f"{DEPTH:,} elements" in PAGE
