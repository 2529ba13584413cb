"""Keys: family, year and first title word; ASCII and unique whatever comes."""

from __future__ import annotations

import re

import pytest
from citation_works import ARTICLE, CHAPTER, THESIS, WORKS
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.formats import Keys, stem
from espalier.citations.work import Date, Name, Work

YEAR = Date(((1994, 5),))


@pytest.mark.parametrize(
    ("work", "key"),
    [
        (THESIS, "andersen1994program"),
        (ARTICLE, "berg2003why"),
        (CHAPTER, "ortegaygasset1999on"),
        (Work(authors=(Name("Müller"),), issued=YEAR, title="Über alles"), "muller1994uber"),
        (Work(authors=(Name("Li"),), issued=Date(((2004,),), literal="2004b"), title="On X"), "li2004bon"),
        (Work(authors=(Name("Li"),), issued=Date(((2004,),), literal="2004-"), title="On X"), "li2004on"),
        (Work(authors=(Name("Søndergård"),), title="Straße"), "sondergardstrasse"),
        (Work(authors=(Name("O'Brien-Łuk"),), issued=YEAR), "obrienluk1994"),
        (Work(editors=(Name("Jones"),), issued=YEAR, title="The Art of C"), "jones1994art"),
        (Work(authors=(Name(literal="The World Health Organization"),), issued=YEAR), "world1994"),
        (Work(title="A"), "a"),
        (Work(title="The Bible", issued=YEAR), "bible1994"),
        (Work(title="1984", issued=Date(((1949,),))), "ref19841949"),
        (Work(container_title="Nature", issued=YEAR), "nature1994"),
        (Work(authors=(Name("李", "明"),), title="中文", issued=YEAR), "li1994"),
        (Work(authors=(Name("김", "철수"),), issued=YEAR), "gim1994"),
        (Work(authors=(Name(literal="やまだ"),), issued=YEAR), "yamada1994"),
        (Work(authors=(Name("محمد"),), issued=YEAR), "mhmd1994"),
        (Work(authors=(Name("山田"),), issued=YEAR), "u5c71u75301994"),
        (Work(title="日本の歴史", issued=YEAR), "u65e5u672cnou6b741994"),
        (Work(authors=(Name("Щербаков"),), title="Теория", issued=YEAR), "shcherbakov1994teoriya"),
        (Work(authors=(Name("Παπαδόπουλος"),), issued=YEAR), "papadopoylos1994"),
        (Work(issued=Date(literal="in press")), "ref"),
        (Work(), "ref"),
    ],
)
def test_stems(work: Work, key: str) -> None:
    assert stem(work) == key


def test_the_same_key_is_not_given_twice() -> None:
    keys = Keys()
    work = Work(title="One")
    given_keys = [keys(work) for _ in range(60)]
    assert given_keys[:3] == ["one", "onea", "oneb"]
    assert given_keys[26:29] == ["onez", "oneaa", "oneab"]
    assert given_keys[53] == "oneba"
    assert len(set(given_keys)) == 60


def test_a_stem_that_looks_like_another_with_a_letter() -> None:
    keys = Keys()
    assert [keys(Work(title=title)) for title in ("onea", "one", "one", "onea")] == ["onea", "one", "oneb", "oneaa"]


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.lists(WORKS, max_size=3))
def test_any_keys_are_ascii_unique_and_start_with_a_letter(works: list[Work]) -> None:
    keys = Keys()
    found = [keys(work) for work in works * 2]
    assert len(set(found)) == len(found)
    assert all(re.fullmatch("[a-z][a-z0-9]*", key) for key in found)
