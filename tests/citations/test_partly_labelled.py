"""References of which labels are known in part: those of LinkedBooks, values found in a string, what stays open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.citations.partly_labelled import from_linkedbooks, label_deposited, printed, read_partly_labelled
from espalier.citations.record import LABELS
from espalier.citations.schemes import load_scheme
from espalier.document import Document
from espalier.errors import InputError
from espalier.tasks import load_task

SCHEME = load_scheme("linkedbooks")
TAGS = set(load_task("citations").labels)
PIECES = ["Chang", "G", "2009", "82", "7", "–", "11", "Behav", "Proc", "(", ")", ",", ".", "in", "vol", "pp", "x"]


def fields(document: Document) -> list[tuple[str, str]]:
    """Return the labels of a document, and their words."""
    return [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]


def left_open(document: Document) -> list[str]:
    """Return the stretches that nobody knows."""
    return [document.text[a:b] for a, b in document.unknown]


def venetian(kind: str, *parts: tuple[str, str]) -> Document:
    """Convert a reference of LinkedBooks, given label by label; "O" is no label."""
    words, tags = [], []
    for label, text in parts:
        several = text.split()
        words += several
        tags += ["O"] * len(several) if label == "O" else [f"B-{label}", *[f"I-{label}"] * (len(several) - 1)]
    row = {"id": "x", "tokens": words, "bio": tags, "kind": kind, "breaks": []}
    return from_linkedbooks(row, SCHEME)


def plain(document: Document) -> list[tuple[str, str]]:
    """Return fields without blanks, whichever way the text was put together."""
    return [(label, text.replace(" ", "")) for label, text in fields(document)]


def test_a_book_with_its_editor() -> None:
    found = venetian(
        "secondary",
        ("title", "Carte di corte ,"),
        ("author", "a cura di G . Berti ,"),
        ("publicationplace", "Bologna"),
        ("year", "1987"),
    )
    assert plain(found) == [
        ("title", "Cartedicorte,"),
        ("editor", "acuradiG.Berti,"),
        ("location", "Bologna"),
        ("date", "1987"),
    ]
    assert not found.unknown


def test_an_article_and_its_journal_are_told_apart_by_their_place() -> None:
    found = venetian(
        "meta-annotation",
        ("author", "L . Rossi ,"),
        ("title", "Prezzi ,"),
        ("conjunction", "in"),
        ("title", "« Il libro »,"),
        ("publicationnumber-year", "VI , fasc . 3 ( 1912 ),"),
        ("pagination", "pp . 74 - 84 ."),
    )
    assert [label for label, _ in plain(found)] == [
        "author",
        "title",
        "container-title",
        "volume",
        "issue",
        "date",
        "pages",
    ]
    assert dict(plain(found))["container-title"] == "in«Illibro»,"
    assert dict(plain(found))["issue"] == "fasc.3"


def test_an_article_and_its_journal_as_one_title_are_cut() -> None:
    found = venetian(
        "meta-annotation", ("author", "Rossi ,"), ("title", "Documenti del sec . XI , « Atti »,"), ("year", "1944")
    )
    assert plain(found)[1:3] == [("title", "Documentidelsec.XI,"), ("container-title", "«Atti»,")]


def test_what_cannot_be_told_apart_is_left_open() -> None:
    found = venetian("meta-annotation", ("author", "Rossi ,"), ("title", "Documenti Archivio Veneto"), ("year", "1944"))
    assert [label for label, _ in plain(found)] == ["author", "date"]
    assert [text.replace(" ", "") for text in left_open(found)] == ["DocumentiArchivioVeneto"]
    assert (found.tags or [])[2] is None


def test_words_without_a_label_are_left_open_but_cue_words_are_not() -> None:
    found = venetian("secondary", ("author", "Rossi ,"), ("O", "sciocchezze"), ("title", "Storia"))
    assert [text.strip() for text in left_open(found)] == ["sciocchezze"]


@pytest.mark.parametrize(
    ("words", "breaks", "expected"),
    [
        (["W", ".", "J", ".", "Bouwsma", ",", "Venice"], [], "W. J. Bouwsma, Venice"),
        (["Rove", "-", "reto", ",", "1968"], [2], "Rovereto, 1968"),
        (["l", "’", "anno", "(", "1849", "-", "1859", "),"], [], "l’anno (1849-1859),"),
        (['"', "Due", "città", '"', ",", "in"], [], '"Due città", in'),
        (["«", "Atti", "»", ",", "n", ".", "2"], [], "«Atti», n. 2"),
    ],
)
def test_tokens_are_put_together_as_printed(words: list[str], breaks: list[int], expected: str) -> None:
    text, offsets = printed(words, breaks)
    assert text == expected
    kept = [text[a:b] for a, b in offsets if a < b]
    assert kept == [word for word, (a, b) in zip(words, offsets, strict=True) if a < b]


@given(
    st.lists(st.text("aA1.,«»\"’'(-", min_size=1, max_size=3), min_size=1, max_size=12),
    st.sets(st.integers(0, 11), max_size=4),
)
def test_no_letter_is_lost_or_moved_by_putting_tokens_together(words: list[str], breaks: set[int]) -> None:
    text, offsets = printed(words, breaks)
    letters = [sign for sign in "".join(words) if sign.isalnum()]
    assert [sign for sign in text if sign.isalnum()] == letters
    assert [text[a:b] for a, b in offsets if a < b] == [w for w, (a, b) in zip(words, offsets, strict=True) if a < b]
    assert all(word == "-" for word, (a, b) in zip(words, offsets, strict=True) if a == b)


VALUES = {
    "container-title": "Behav Proc",
    "volume": "82",
    "page-first": "7",
    "author": [{"literal": "G Chang"}],
    "issued": {"date-parts": [[2009]]},
    "type": "article-journal",
}


def test_values_label_where_they_are_found_and_nothing_else() -> None:
    found = label_deposited("Chang G, Xiao Z (2009) Hoarding by rats. Behav Proc 82:7–11", VALUES)
    assert fields(found) == [
        ("author", "Chang G"),
        ("date", "(2009"),
        ("container-title", "Behav Proc"),
        ("volume", "82"),
        ("pages", "7–11"),
    ]
    tags = dict(zip(found.words, found.tags or [], strict=True))
    assert tags["Xiao"] is None
    assert tags["Hoarding"] is None
    assert tags["2009"] == "I-date"


def test_cue_words_belong_to_the_value() -> None:
    found = label_deposited("Chang, G.: Rats. In: Behav Proc, vol. 82, pp. 7-11, 2009b.", VALUES)
    assert fields(found)[1:] == [
        ("container-title", "In: Behav Proc"),
        ("volume", "vol. 82"),
        ("pages", "pp. 7-11"),
        ("date", "2009b"),
    ]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Chang G (2009) Rats 82. Behav Proc 82:7", "volume"),  # twice: which one?
        ("Rats, by G. Chang. 2009", "author"),  # not in front
        ("Chang G. Rats. May 2009.", "date"),  # the month is part of it
        ("Chang G. New Behav Proc 82", "container-title"),  # a word before it: part of the name?
    ],
)
def test_what_is_not_sure_is_left_open(text: str, missing: str) -> None:
    assert missing not in dict(fields(label_deposited(text, VALUES)))


@given(st.lists(st.sampled_from(PIECES), max_size=15))
def test_every_token_has_a_tag_of_the_task_or_none(words: list[str]) -> None:
    tags = label_deposited(" ".join(words), VALUES).tags or []
    assert {tag for tag in tags if tag is not None} <= TAGS
    assert all(before is not None for before, tag in zip([None, *tags], tags, strict=False) if (tag or "")[:2] == "I-")


def test_sets_are_read_with_their_weights_without_copies_and_excluded_keys(tmp_path: Path) -> None:
    rows = [
        {
            "id": str(k),
            "tokens": text.split(),
            "bio": ["B-title"] * len(text.split()),
            "kind": "secondary",
            "breaks": [],
        }
        for k, text in enumerate(("Storia", "Storia .", "Cronaca", "Diarii"))
    ]
    for name, several in (("linkedbooks/normalised/train.jsonl.gz", rows), ("crossref_real/normalised/all.jsonl", [])):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in several), encoding="utf-8")
    found = list(read_partly_labelled(tmp_path, {"linkedbooks": 0.3, "deposited": 1.0}, exclude={"cronaca"}))
    assert [(document.text, weight) for document, weight in found] == [("Storia", 0.3), ("Diarii", 0.3)]
    assert list(read_partly_labelled(tmp_path, {"linkedbooks": 0.0})) == []
    (tmp_path / "linkedbooks/normalised/train.jsonl.gz").unlink()
    with pytest.raises(InputError, match=r"no train\.jsonl\.gz"):
        list(read_partly_labelled(tmp_path, {"linkedbooks": 1.0}))


def test_the_scheme_gives_labels_of_ours_alone() -> None:
    told = {label for refinement in SCHEME.refinements for label in refinement.fields}
    inner = {"part-title", "number-year", "number", "folder", "specification"}  # each has a last rule that renames it
    assert (told | set(SCHEME.labels.values())) - inner <= set(LABELS)
