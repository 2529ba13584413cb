"""Parsing references: any text becomes records whose fields are spans of it, and every writer takes them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from fuzzing import Campaign
from hypothesis import strategies as st
from mutations import ODD, damaged

from citation_models import reference, tiny_model
from espalier.citations.formats import FORMATS, write
from espalier.citations.parser import Parser
from espalier.citations.splitting import LAYOUTS, split_references
from espalier.errors import FormatError

REFERENCES = [reference(n) for n in range(6)]
LISTS = ["\n".join(REFERENCES), "\n\n".join(REFERENCES[:3]), "[1] " + "\n[2] ".join(REFERENCES[:3])]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(tiny_model())


def test_any_text_is_parsed(campaign: Campaign, parser: Parser) -> None:
    def accepts(text: str) -> bool:
        record = parser.parse(text)
        covered = set()
        for field in record.fields:
            assert text[field.start : field.end] == field.text
            assert 0.0 <= field.confidence <= 1.0
            covered |= set(range(field.start, field.end))
        for format in FORMATS:
            written = "".join(write([record], format))
            written.encode()
            if format in ("csl", "jsonl"):
                json.loads(written)
            elif format in ("tei", "endnote"):
                ET.fromstring(written)
        return covered >= {i for i, sign in enumerate(text) if not sign.isspace()}

    odd = st.lists(st.sampled_from(ODD), max_size=9).map("".join)
    texts = st.one_of(damaged(REFERENCES), odd, st.text(max_size=60))
    campaign.fuzz("parser", texts, accepts, few=60)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_text_is_split(campaign: Campaign, layout: str) -> None:
    """References that were cut out of a text, put together, are the text but for its blanks and markers."""

    def accepts(text: str) -> bool:
        refused: list[FormatError] = []
        found = list(split_references(text, layout, refused=refused))
        lines = text.count("\n") + text.count("\r") + 1
        assert all(1 <= one.line <= lines and one.text.strip() for one in found)
        assert not refused  # that is for texts far longer than these
        at = 0
        for piece in "".join(one.text for one in found).split():
            assert (at := "".join(text.split()).find("".join(piece.split()), at)) >= 0
        return bool(found)

    campaign.fuzz("splitting", damaged(LISTS), accepts, few=40)
