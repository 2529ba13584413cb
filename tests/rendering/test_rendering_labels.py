"""Labels of marked renderings: variables, cue words, marks, people, and what form decides."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked import ROLE, Rendering
from rendering.labels import CLOSE, read_marked

from espalier.citations.record import LABELS
from espalier.citations.schemes import load_scheme


def test_variables_label_their_words_and_marks_go_by_the_convention() -> None:
    r = Rendering()
    raw = (
        r.names("author", "Smith, J.", "author")
        + " "
        + r.node("date", "(2001). ", "issued")
        + r.text("title", "“On it.”")
    )
    raw += " " + r.group(
        r.text("container-title", "J. Things"),
        " ",
        r.text("volume", "12"),
        r.text("issue", "(3)"),
        ": ",
        r.text("page", "4–5"),
        ".",
    )
    assert r.fields(raw) == [
        ("author", "Smith, J."),
        ("date", "(2001)."),
        ("title", "“On it.”"),
        ("container-title", "J. Things"),
        ("volume", "12"),
        ("issue", "(3):"),
        ("pages", "4–5."),
    ]


def test_a_cue_word_belongs_to_what_it_announces() -> None:
    r = Rendering()
    editor, book = r.names("editor", "J. Roe (ed.), ", "editor"), r.text("container-title", "The Book")
    pages = r.group(r.node("label", "pp. ", "page"), r.text("page", "3–9"))
    assert r.fields(r.text("title", "Part. ") + r.group(r.term("in", "In "), editor, book) + ", " + pages) == [
        ("title", "Part."),
        ("editor", "In J. Roe (ed.),"),
        ("container-title", "The Book,"),
        ("pages", "pp. 3–9"),
    ]
    by = r.group(r.value("edited by "), r.names("editor", "J. Roe", "editor"))
    assert r.fields(r.text("title", "Part. ") + r.group(r.term("in", "In "), book, ", ", by)) == [
        ("title", "Part."),
        ("container-title", "In The Book,"),
        ("editor", "edited by J. Roe"),
    ]


def test_a_cue_word_at_the_end_of_a_group_belongs_to_what_is_before() -> None:
    r = Rendering()
    raw = (
        r.text("title", "A book. ")
        + r.group(r.text("number-of-pages", "231"), r.value(" p."))
        + " "
        + r.text("collection-title", "Dominos")
    )
    assert r.fields(raw, "book")[1] == ("pages", "231 p.")


def test_a_word_that_announces_the_book_belongs_to_it_even_behind_the_pages() -> None:
    r = Rendering()
    pages = r.group(r.text("page", "63–79"), " in ")
    assert r.fields(r.text("title", "Part. ") + pages + r.text("container-title", "The Book")) == [
        ("title", "Part."),
        ("pages", "63–79"),
        ("container-title", "in The Book"),
    ]
    # Where no book follows, it stays: the Turkish style has `in` behind the book.
    book = r.group(r.text("container-title", "The Book"), r.term("in", " in "))
    assert r.fields(r.text("title", "Part. ") + book + r.text("page", "(pp. 63–79)"))[1] == (
        "container-title",
        "The Book in",
    )


def test_a_word_for_an_edition_belongs_to_its_number_and_one_for_pages_to_none_but_pages() -> None:
    r = Rendering()
    date = r.group(r.value("Aufl. "), r.node("date", "(1991), ", "issued"))
    raw = r.text("title", "A book, ") + r.group(r.text("edition", "2. "), date) + r.text("page", "37")
    assert r.fields(raw, "chapter")[1:3] == [("edition", "2. Aufl."), ("date", "(1991),")]
    raw = r.text("title", "A book. ") + r.group(r.node("date", "2013. ", "issued"), r.value("p."))
    assert r.fields(raw, "book")[1:] == [("date", "2013."), ("pages", "p.")]


def test_people_are_who_the_data_say() -> None:
    r = Rendering()
    raw = r.names("author", "Roe, J. (ed.). ", "editor") + r.text("title", "A book")
    assert r.fields(raw, "book")[0] == ("editor", "Roe, J. (ed.).")


@pytest.mark.parametrize("role", [" (eds), ", ", "])
def test_two_lists_of_one_node(role: str) -> None:
    r = Rendering()
    lists = f"in R. Doe{ROLE['editor']} and S. Roe{ROLE['editor']}{role}M. Moe{ROLE['translator']} (trans.), "
    raw = (
        r.text("title", "Part. ") + r.node("names", lists, "editor translator") + r.text("container-title", "The Book")
    )
    assert r.fields(raw)[1:] == [
        ("editor", f"in R. Doe and S. Roe{role}".strip()),
        ("translator", "M. Moe (trans.),"),
        ("container-title", "The Book"),
    ]


@pytest.mark.parametrize(
    "first", ["Doe R{0} and Roe S{0} (Eds), ", "Doe R{0}, Roe S{0}, editors; ", "Doe, R.,{0} & Roe, S.{0} (eds.), "]
)
def test_two_lists_of_one_node_with_family_names_first(first: str) -> None:
    r = Rendering()
    marked = re.sub(r"(,? \w\.?,?)\{0\}", rf"{ROLE['editor']}\1", first)
    lists = f"{marked}Moe{ROLE['translator']} M (Trans). "
    raw = r.text("title", "Part. ") + r.node("names", lists, "editor translator") + r.text("publisher", "Reed")
    assert r.fields(raw)[1:3] == [
        ("editor", first.replace("{0}", "").strip()),
        ("translator", "Moe M (Trans)."),
    ]


def test_a_key_in_brackets_is_a_citation_number_and_a_bare_one_is_not() -> None:
    r = Rendering()
    key = r.names("author", "Heath", "author") + " " + r.node("date", "1978", "issued")
    rest = r.names("author", "J. Heath", "author") + ", " + r.text("title", "It")
    assert r.fields(f"[{key}] {rest}")[0] == ("citation-number", "[Heath 1978]")
    assert [label for label, _ in r.fields(f"{key}: {rest}")] == ["author", "date", "author", "title"]


@pytest.mark.parametrize(
    ("phrase", "label"),
    [
        ("place unknown", "location"),
        ("n.d.", "date"),
        ("[s. l.]", "location"),
        ("in press", "note"),
        ("[Internet]", "genre"),
        ("PhD thesis", "genre"),
        ("Anon", "author"),
    ],
)
def test_some_words_speak_for_themselves(phrase: str, label: str) -> None:
    r = Rendering()
    raw = r.text("title", "A title") + ", " + r.value(phrase) + ", " + r.text("volume", "3")
    assert (label, phrase + ",") in r.fields(raw)


def test_the_word_before_an_address_stays_with_the_day_of_access() -> None:
    r = Rendering()
    day, place = r.node("date", "May 5, 2015", "accessed"), r.text("URL", "http://x.org")
    assert r.fields(r.text("title", "It. ") + r.group(r.value("Retrieved "), day, ", ", r.value("from "), place))[
        1:
    ] == [
        ("accessed", "Retrieved May 5, 2015, from"),
        ("url", "http://x.org"),
    ]
    assert r.fields(
        r.text("title", "It. ") + r.group("[", r.value("Accessed "), day, "]. ", r.value("Available at "), place)
    )[1:] == [
        ("accessed", "[Accessed May 5, 2015]."),
        ("url", "Available at http://x.org"),
    ]


def test_a_first_date_is_a_date_beside_the_date_and_a_note_in_words() -> None:
    r = Rendering()
    raw = (
        r.text("title", "It. ")
        + r.node("date", "2001", "issued")
        + r.group(" [", r.node("date", "1953", "original-date"), "]")
    )
    assert r.fields(raw, "reprint")[1] == ("date", "2001 [1953]")
    words = r.group("(", r.value("Original work published "), r.node("date", "1953", "original-date"), ")")
    assert r.fields(r.text("title", "It. ") + r.node("date", "2001. ", "issued") + words, "reprint")[2] == (
        "note",
        "(Original work published 1953)",
    )


def test_form_and_kind_decide_the_last_labels() -> None:
    r = Rendering()
    assert r.fields(r.text("title", "It. ") + r.text("DOI", "https://doi.org/10.1/x"))[1][0] == "url"
    assert r.fields(r.text("title", "It. ") + r.text("DOI", "doi:10.1/x"))[1][0] == "doi"
    thesis = (
        r.text("title", "It. ") + r.text("genre", "Praca doktorska, ") + r.text("publisher", "Uniwersytet Warszawski")
    )
    assert r.fields(thesis, "thesis")[2][0] == "institution"
    assert r.fields(thesis, "book")[2][0] == "publisher"
    archive = r.text("title", "It. ") + r.text("number", "arXiv:1234.5678")
    assert r.fields(archive, "preprint")[1][0] == "note"


@pytest.mark.parametrize("quoted", ["« Ça »", "„Das“", "»Das«", "《书》", "「本」", "“It”", '"It"'])
def test_an_opening_mark_begins_the_title_and_a_closing_one_ends_it(quoted: str) -> None:
    r = Rendering()
    raw = r.names("author", "Roe, J.:", "author") + " " + r.text("title", quoted) + ", " + r.text("publisher", "Press")
    assert r.fields(raw, "book")[1] == ("title", quoted + ",")


def test_every_variable_has_one_of_our_labels() -> None:
    assert set(load_scheme("csl").labels.values()) <= set(LABELS)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", *load_scheme("csl").labels]), st.text("aB1 .,(“\"'é«№", min_size=1, max_size=9)),
        min_size=1,
    )
)
def test_every_character_is_in_exactly_one_field(parts: list[tuple[str, str]]) -> None:
    r = Rendering()
    raw = " ".join(r.node("text", text, variable) for variable, text in parts)
    plain = " ".join(re.sub("\ue000..|[\ue000-\uf8ff]", "", raw).split())
    assert read_marked(raw, r.nodes).text == plain
    fields = r.fields(raw)
    assert "".join("".join(text.split()) for _, text in fields) == "".join(plain.split())
    assert CLOSE not in plain
