"""Records for people: names over text, drawn by hand here."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import Espalier
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import espalier as es
from espalier.cli.show import _sure, field_styles, show
from espalier.document import Document, Span
from espalier.extract import confidence
from espalier.extract.extraction import Extraction


def drawn(document: Document, width: int = 80) -> list[str]:
    return [line.plain for line in show(document, {}, width)]


def test_names_stand_over_their_fields() -> None:
    document = Document.from_text("a Bramley apple, £45", [Span(2, 9, "variety"), Span(10, 15, "kind")])
    assert drawn(document) == [
        "  variety kind",
        "a Bramley apple, £45",
    ]


def test_a_long_field_is_underlined_and_a_short_one_makes_room() -> None:
    document = Document.from_text("plum 'Old Green Gage', £4 Ely", [
        Span(0, 4, "fruit"), Span(6, 20, "name"), Span(23, 25, "price"), Span(26, 29, "place"),
    ])  # fmt: skip
    assert drawn(document) == [
        "fruit name ─────────   price place",
        "plum 'Old Green Gage', £4    Ely",
    ]


def test_lines_are_broken_and_the_name_is_repeated() -> None:
    document = Document.from_text("see Old Green Gage now", [Span(4, 18, "name")])
    assert drawn(document, 12) == ["    name", "see Old", "name ─────", "Green Gage", "", "now"]


def test_the_innermost_field_is_named() -> None:
    document = Document.from_text("Ada Byron", [Span(0, 9, "person"), Span(4, 9, "person/last")])
    assert drawn(document) == ["person person/last", "Ada    Byron"]


def test_touching_fields_inside_a_word() -> None:
    document = Document.from_text("£4/Ely", [Span(0, 2, "price"), Span(3, 6, "place")])
    assert drawn(document) == ["price place", "£4/   Ely"]  # no name is cut


def test_wide_and_invisible_signs() -> None:
    document = Document.from_text("梨 \x1b[31mEly", [Span(0, 1, "x"), Span(7, 10, "place")])
    assert drawn(document) == ["x       place", "梨 �[31mEly"]


def test_half_a_character(espalier: Espalier, model: Path) -> None:
    # JSON can hold a lone surrogate; UTF-8 cannot.
    code, out, _ = espalier("label", "-", "-m", model, "-f", "table", stdin='{"text": "plum \\ud83d"}\n')
    assert (code, out.splitlines()[2].rstrip()) == (0, "      plum �")
    code, out, _ = espalier("label", "-", "-m", model, stdin='{"text": "plum \\ud83d"}\n')
    assert code == 0
    assert '"text": "plum \\ud83d"' in out


def test_a_word_wider_than_the_line_is_kept() -> None:
    assert drawn(Document.from_text("abcdefgh ij"), 4) == ["", "abcdefgh", "", "ij"]


@given(st.text(alphabet="ab £\n梨", max_size=60), st.data(), st.integers(4, 30))
@settings(deadline=None, derandomize=True, max_examples=100)
def test_no_word_is_lost_and_lines_fit(text: str, data: st.DataObject, width: int) -> None:
    document = Document.from_text(text)
    tags = [data.draw(st.sampled_from(["O", "B-x", "I-x", "B-longer"])) for _ in document.tokens]
    document = document.with_tags(tags)
    lines = drawn(document, width)[1::2]
    assert "".join("".join(lines).split()) == "".join(text.split())  # names may draw a word apart
    pieces = [len(Document.from_text(word).tokens) for word in text.split()]
    room = [cell_len(word) + (n > 1) * n * len("longer ") for word, n in zip(text.split(), pieces, strict=True)]
    longest = max(room, default=0)
    assert all(cell_len(line) <= max(width, longest) for line in lines)


def test_colours_depend_on_the_fields_only() -> None:
    tags, plain = field_styles(["B-x", "I-x", "B-y", "O"]), field_styles(["O", "x", "y"])
    assert tags == plain
    assert len(set(tags.values())) == 2


def test_table_on_stdout_and_in_a_file(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    expected = "   1  99% sure   <stdin>:1\n      fruit   price  place\n      plum at £ 3 in Ely\n\n"
    assert espalier("label", "-", "-m", model, "-f", "table", stdin="plum at £ 3 in Ely\n") == (0, expected, "")
    path = tmp_path / "shown.txt"
    assert espalier("label", "-", "-m", model, "-f", "table", "-o", path, stdin="plum at £ 3 in Ely\n").code == 0
    assert path.read_text(encoding="utf-8") == expected


def test_colour_where_it_is_forced(espalier: Espalier, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = espalier("label", "-", "-m", model, "-f", "table", stdin="plum\n").out
    assert "\x1b[1;32mplum\x1b[0m" in out


def test_records_keep_their_places(espalier: Espalier, model: Path, corpus: Path, tmp_path: Path) -> None:
    """Lines of plain text, numbers of other records; what is left out does not change them."""
    text = tmp_path / "new.txt"
    text.write_text("nobody knows what this is about\n\nplum at £ 3 in Ely\n", encoding="utf-8")
    done = espalier("label", text, corpus, "-m", model, "-f", "table", "--min-confidence", "0.9")
    heads = [line for line in done.out.splitlines() if " sure " in line]
    places = [f"{text}:3", *(f"{corpus}, record {i}" for i in (1, 2, 3))]
    assert [line.split("   ")[-1] for line in heads] == places


def test_rules_are_said_in_words(espalier: Espalier, tmp_path: Path) -> None:
    X, y = [["plum", "in", "Ely"], ["Ely", "fig"]], [["fruit", "O", "place"], ["place", "fruit"]]
    path = tmp_path / "ruled.espalier"
    rules = "One: fruit once [penalty 0.01]\nNone: count(place) <= 0 [penalty 0.01]"
    es.Extractor(es.CRF(["lower"], l2=0.001).fit(X, y), rules).save(path)
    shown = espalier("label", "-", "-m", path, "-f", "table", stdin="plum in Ely\nplum in Ely fig\n").out
    one, two = [line.strip() for line in shown.splitlines() if "breaks" in line]
    assert one == "breaks the rule None (count(place) <= 0)"
    assert two == "breaks the rules One (fruit once), None (count(place) <= 0)"


def test_why_a_text_is_unfamiliar_is_a_sentence() -> None:
    words = [word for pair in confidence._WORDS.values() for word in pair]
    assert sorted(words) == sorted(confidence._SENTENCES)
    assert confidence.Unfamiliar(1.5, "unsure").sentence == "the model is unsure of all of it"
    record = Extraction("plum", (), 0.3, None, unfamiliar=confidence.Unfamiliar(1.5, "unsure"))
    assert _sure(record).plain == "30% sure   unfamiliar: the model is unsure of all of it"
