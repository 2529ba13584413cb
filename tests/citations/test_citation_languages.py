"""Words of citing by language: what a file may say, and what is looked up in all of them."""

from __future__ import annotations

import pytest

from espalier.citations.languages import (
    ROLES,
    before,
    behind,
    entries,
    folded,
    languages,
    months,
    numerals,
    other_months,
    printed,
    seasons,
    tables,
    words,
)

TWELVE = 12


@pytest.mark.parametrize("language", languages())
def test_a_file_says_what_is_known(language: str) -> None:
    table = tables()[language]
    assert set(table) <= set(ROLES)
    assert all(len(row.split()) == TWELVE for row in table.get("months", ()))
    assert len(table.get("seasons", "1234")) == 4
    for role in table:
        assert all(entry.count("{}") <= 1 for entry in entries(role, language) if role != "date")


@pytest.mark.parametrize("language", [language for language in languages() if "months" in tables()[language]])
def test_every_month_is_read_as_it_is_printed(language: str) -> None:
    for number, name in enumerate(printed(language)["months"], start=1):
        assert number in (months()[folded(name)], other_months().get(folded(name)))


def test_a_month_in_short_is_a_beginning_that_only_one_has() -> None:
    found = [months()[name] for name in ("jan", "febr", "mrz", "avr", "maj", "сент", "νοεμ", "kwie", "tamm")]
    assert found == [1, 2, 3, 4, 5, 9, 11, 4, 1]
    assert not {"ju", "m", "des", "srp"} & set(months())
    assert (other_months()["listopad"], months()["listopad"]) == (10, 11)


def test_words_stand_before_or_behind_a_value() -> None:
    assert {"vol", "bd", "tom", "cilt"} <= before("volume")
    assert "volume" not in behind("volume")
    assert {"jahrgang", "evf", folded("권")} <= behind("volume")
    assert "others" in words("others")
    assert words("others", "and") >= {"und", "otros"}


def test_seasons_and_numbers() -> None:
    assert [seasons()[name] for name in ("spring", "ete", "herbst", "zima", "冬")] == [1, 2, 3, 4, 4]
    assert (numerals("ordinals")["septieme"], numerals("few", 2)["drei"]) == ("7", "3")


@pytest.mark.parametrize("text", ["Éte", "MAYIS", "Straße", "ＡＢＣ", "Μαΐου", "май", "제3권"])
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text) == folded(text.upper())
