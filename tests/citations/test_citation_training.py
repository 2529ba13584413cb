"""The training material: schemes that convert labels, keys, parts, evaluation and calibration."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.calibration import calibrate, isotonic, judged
from espalier.citations.evaluation import evaluate, fields_of
from espalier.citations.record import LABELS, Field, Record
from espalier.citations.schemes import Scheme, load_scheme
from espalier.citations.training import (
    RARE,
    SOURCES,
    Example,
    Source,
    compacted,
    divide,
    key_of,
    part_of,
    plain_tags,
    read_sources,
)
from espalier.document import Document, Span
from espalier.errors import InputError
from espalier.estimators.crf import CRF

PROPERTY = settings(deadline=None, derandomize=True, max_examples=60)


def tagged(*fields: tuple[str, str]) -> Document:
    """Fields in order, joined by one space; a label "" leaves the text unlabelled."""
    text, spans = "", []
    for label, content in fields:
        text += " " * bool(text)
        if label:
            spans.append(Span(len(text), len(text) + len(content), label))
        text += content
    return Document.from_text(text, spans)


def shown(document: Document) -> list[tuple[str, str]]:
    return [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]


def converted(scheme: str, *fields: tuple[str, str]) -> list[tuple[str, str]]:
    return shown(load_scheme(scheme).convert(tagged(*fields)))


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ("12,", [("volume", "12,")]),
        ("23(6),", [("volume", "23"), ("issue", "(6),")]),
        ("Vol. 81, No. 5,", [("volume", "Vol. 81,"), ("issue", "No. 5,")]),
        ("vol.4, n°13,", [("volume", "vol.4,"), ("issue", "n°13,")]),
        ("n°22.", [("issue", "n°22.")]),
        ("51/13,", [("volume", "51/"), ("issue", "13,")]),
        ("2000;355(9222):", [("date", "2000;"), ("volume", "355"), ("issue", "(9222):")]),
        ("45 (1930),", [("volume", "45"), ("date", "(1930),")]),
        ("86(11):2278–2324,", [("volume", "86"), ("issue", "(11):"), ("pages", "2278–2324,")]),
        ("36(6),693-695.", [("volume", "36"), ("issue", "(6),"), ("pages", "693-695.")]),
        ("Vol. 12/13, No. 4/1", [("volume", "Vol. 12/13,"), ("issue", "No. 4/1")]),
        ("vol 79-3,", [("volume", "vol 79-3,")]),
        ("(Vol. 3, Part A,", [("volume", "(Vol. 3, Part A,")]),
    ],
)
def test_anystyle_volumes_are_divided(volume: str, expected: list[tuple[str, str]]) -> None:
    found = converted("anystyle", ("journal", "Acta,"), ("volume", volume))
    assert found == [("container-title", "Acta,"), *expected]


@pytest.mark.parametrize(
    ("note", "label"),
    [
        ("[Accessed 5 May 2015]", "accessed"),
        ("Retrieved March 23, 2016, from Nowhere:", "accessed"),
        ("Retrieved from", "url"),
        ("Available:", "url"),
        ("Cited 76 times.", "note"),
        ("in press.", "note"),
        ("(Unpublished doctoral dissertation).", "genre"),
    ],
)
def test_anystyle_notes(note: str, label: str) -> None:
    found = load_scheme("anystyle").convert(tagged(("title", "On it."), ("note", note), ("url", "http://x.org")))
    assert plain_tags(found)[3] == label


def test_institutions_are_those_of_theses_and_reports() -> None:
    house = ("publisher", "University of Ely.")
    assert converted("anystyle", ("title", "T."), house)[-1][0] == "publisher"
    assert converted("anystyle", ("title", "T."), ("genre", "PhD thesis,"), house)[-1][0] == "institution"
    body = ("institution", "University of Ely")
    assert converted("grobid", ("author", "A"), ("title", "T"), ("tech", "PhD thesis"), body)[-1][0] == "institution"
    assert converted("grobid", ("author", "A"), ("title", "T"), body)[-1][0] == "publisher"
    assert converted("grobid", ("title", "T"), body)[-1][0] == "author"


def test_grobid_marks_go_to_the_field_they_end() -> None:
    """Worked by hand: marks end a field, brackets and quotation marks open one, cue words lead to what follows."""
    text = 'Lee, J. "On trees," In K. Roe (Ed.), Woods, vol. 3, pp. 5-9 (1990).'
    pieces = [
        *[("author", "Lee, J."), ("title", "On trees"), ("editor", "K. Roe"), ("booktitle", "Woods")],
        *[("volume", "3"), ("pages", "5-9"), ("date", "1990")],
    ]
    spans, at = [], 0
    for label, piece in pieces:
        at = text.index(piece, at)
        spans.append(Span(at, at + len(piece), label))
        at += len(piece)
    assert shown(load_scheme("grobid").convert(Document.from_text(text, spans))) == [
        ("author", "Lee, J."),
        ("title", '"On trees,"'),
        ("editor", "In K. Roe (Ed.),"),
        ("container-title", "Woods,"),
        ("volume", "vol. 3,"),
        ("pages", "pp. 5-9"),
        ("date", "(1990)."),
    ]


@pytest.mark.parametrize(
    ("identifier", "label"),
    [
        ("10.1016/j.apgeog.2015.08.002", "doi"),
        ("https://doi.org/10.1/x", "url"),
        ("arXiv:1702.08605", "note"),
        ("ISBN 978-1-941643-00-6", "isbn"),
        ("978-1-60558-905-3", "isbn"),
        ("1234-567X", "issn"),
        ("3GPP TS 23.287", "genre"),
        ("PMCID:PMC2671603", "note"),
    ],
)
def test_grobid_identifiers_by_form(identifier: str, label: str) -> None:
    assert converted("grobid", ("title", "T"), ("identifier", identifier))[-1][0] == label


def test_grobid_books_and_what_works_appear_in() -> None:
    assert converted("grobid", ("author", "A"), ("booktitle", "Woods"))[-1] == ("title", "Woods")
    assert converted("grobid", ("title", "T"), ("booktitle", "Woods"))[-1] == ("container-title", "Woods")
    assert converted("grobid", ("author", "A"), ("booktitle", "Proc. Woods"))[-1] == ("container-title", "Proc. Woods")


def test_brill_series() -> None:
    found = converted("brill", ("author", "A"), ("booktitle", "Esra"), ("title", "HAT"), ("volume", "1"))
    assert [label for label, _ in found] == ["author", "title", "collection-title", "volume"]


def test_unknown_words_between_fields_are_other() -> None:
    found = converted("grobid", ("title", "T"), ("", "quux,"), ("pages", "5-9"))
    assert found == [("title", "T"), ("other", "quux,"), ("pages", "5-9")]


PIECES = st.lists(
    st.tuples(st.sampled_from(["", *load_scheme("grobid").labels]), st.text("aB1 .,(“\"'é", min_size=1, max_size=8)),
    min_size=1,
    max_size=6,
)


@PROPERTY
@given(PIECES, st.sampled_from(["grobid", "anystyle"]))
def test_every_character_ends_up_in_one_field(pieces: list[tuple[str, str]], name: str) -> None:
    scheme = load_scheme(name)
    known = [(label if label in scheme.labels else "", text.strip()) for label, text in pieces if text.strip()]
    found = scheme.convert(tagged(*known))
    assert "".join(text for _, text in shown(found)).replace(" ", "") == found.text.replace(" ", "")
    assert {label for label, _ in shown(found)} <= set(LABELS)
    assert len(plain_tags(found, LABELS)) == len(found.tokens)


def test_mistakes_in_schemes_are_named() -> None:
    with pytest.raises(InputError, match="no scheme is named 'anystile'; did you mean 'anystyle'"):
        load_scheme("anystile")
    with pytest.raises(InputError, match="unknown key 'lables'"):
        Scheme.from_table("my", {"lables": {}})
    with pytest.raises(InputError, match="'labels' is missing"):
        Scheme.from_table("my", {})
    with pytest.raises(InputError, match="2 fields need 1 groups"):
        Scheme.from_table("my", {"labels": {}, "refine": [{"label": "a", "fields": ["b", "c"]}]})
    with pytest.raises(InputError, match="not a regular expression"):
        Scheme.from_table("my", {"labels": {}, "refine": [{"label": "a", "pattern": "(", "fields": ["b"]}]})
    with pytest.raises(InputError, match=r"no label 'autor'.*did you mean 'author'"):
        converted("anystyle", ("autor", "A"))
    with pytest.raises(InputError, match="no labels to convert"):
        load_scheme("grobid").convert(Document.from_text("A"))
    with pytest.raises(InputError, match="'foo', which the task does not know"):
        plain_tags(tagged(("foo", "A")), LABELS)


def test_keys_ignore_marks_case_and_the_number_in_the_list() -> None:
    one = tagged(("citation-number", "[13]"), ("author", "S. E. Han,"), ("title", "Nano-Lett."))
    two = tagged(("author", "s e han"), ("title", "Nano Lett"))
    assert key_of(one) == key_of(two) == "sehannanolett"


def test_parts_never_change() -> None:
    """Recorded once: a change would move test references into training."""
    expected = ["train", "dev", "dev", "test", "dev", "test", "train", "train"]
    assert [part_of(key) for key in "abcdefgh"] == expected
    shares = np.unique([part_of(str(i)) for i in range(4000)], return_counts=True)
    assert dict(zip(*shares, strict=True)) == {"dev": pytest.approx(400, rel=0.2), "test": pytest.approx(600, rel=0.2),
                                               "train": pytest.approx(3000, rel=0.05)}  # fmt: skip


def test_sources_are_read_once_each(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<dataset><sequence><title>On oaks.</title></sequence></dataset>", encoding="utf-8")
    lines = [{"text": text, "spans": [[0, len(text), "title"]]} for text in ("On Oaks", "On elms", "On ash")]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    sources = (Source("a", "a.xml", "anystyle"), Source("b", "b.jsonl", "grobid", 0.5))
    found = read_sources(tmp_path, sources, exclude=["onash"])
    assert [(e.source.name, e.key) for e in found] == [("a", "onoaks"), ("b", "onelms")]
    parts = divide(found)
    assert sorted(e.key for part in parts.values() for e in part) == ["onelms", "onoaks"]
    with pytest.raises(InputError, match=r"the set 'c' is missing: there is no c\.xml"):
        read_sources(tmp_path, (Source("c", "c.xml", "anystyle"),))


def test_real_sources_convert_without_rest(data_dir: Path) -> None:
    """The first references of every set, as they are: all labels known, no key in two parts."""
    for source in SOURCES:
        if not (data_dir / source.file).exists():
            pytest.skip(f"{source.file} is not there")
    examples = read_sources(data_dir, SOURCES[:2])
    assert len(examples) > 2000
    for example in examples[::10]:
        plain_tags(example.document, LABELS)


def test_fields_are_judged_without_the_marks_around_them() -> None:
    words = ["(", "1990", ")", ".", "On", "oaks", "."]
    gold = ["date", "date", "date", "date", "title", "title", "title"]
    moved = ["title", "date", "date", "title", "title", "title", "title"]
    assert fields_of(words, gold) == [("date", 1, 2), ("title", 4, 6)]
    assert fields_of(words, ["other"] * 4 + ["title"] * 3) == [("other", 1, 2), ("title", 4, 6)]
    found = evaluate([words], [gold], [moved])
    assert (found.fields.f1, found.exact, found.references) == (1.0, 1.0, 1)
    assert found.tokens == pytest.approx(5 / 7)


def test_references_with_rare_fields_count_more() -> None:
    source = Source("some", "some.xml", "anystyle", weight=0.5)
    plain, thesis = tagged(("author", "A."), ("title", "T.")), tagged(("title", "T."), ("genre", "Thesis."))
    series = tagged(("genre", "Thesis."), ("collection-title", "Trees."))
    weights = [Example(document, source, "key").weight for document in (plain, thesis, series)]
    assert weights == [0.5, 0.5 * RARE["genre"], 0.5 * RARE["collection-title"]]
    assert RARE["collection-title"] > RARE["genre"] > 1
    assert RARE.keys() <= set(LABELS)


def test_evaluation_by_hand() -> None:
    words = [["A", "B", "C"], ["D"]]
    found = evaluate(words, [["author", "title", "note"], ["date"]], [["author", "title", "title"], ["date"]])
    assert (found.fields.precision, found.fields.recall) == (2 / 3, 2 / 4)  # of A, BC, D; of A, B, C, D
    assert found.exact == 0.5
    assert found.core.f1 == 2 / 3  # author and date of author, title and date; the note does not count
    assert found.per_field["title"].f1 == 0
    assert found.per_field["author"].f1 == 1
    assert evaluate([["C"]], [["note"]], [["genre"]]).exact == 1  # neither is judged
    assert found.to_dict()["field_f1"] == pytest.approx(4 / 7)


@PROPERTY
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=40))
def test_isotonic_is_the_monotone_fit(answers: list[tuple[int, bool]]) -> None:
    """Against scikit-learn, before the pull towards the mean; blocks of equal values are one point."""
    isotonic_regression = pytest.importorskip("sklearn.isotonic").isotonic_regression
    p = np.array([k / 20 for k, _ in answers])
    right = np.array([hit for _, hit in answers], float)
    raw, values = isotonic(p, right, least=1)
    levels, inverse = np.unique(p, return_inverse=True)
    n, s = np.bincount(inverse), np.bincount(inverse, right)
    fit = isotonic_regression(s / n, sample_weight=n)
    blocks = [np.flatnonzero(fit == v) for v in np.unique(fit)]
    assert raw == pytest.approx([np.average(levels[b], weights=n[b]) for b in blocks], abs=1e-5)
    expected = [(s[b].sum() + right.mean()) / (n[b].sum() + 1) for b in blocks]
    assert values == pytest.approx(np.maximum.accumulate(expected), abs=1e-5)


def test_isotonic_joins_small_blocks_and_refuses_nothing() -> None:
    raw, values = isotonic(np.linspace(0, 1, 100), np.linspace(0, 1, 100) > 0.5, least=30)
    assert len(raw) <= 4
    assert np.all(np.diff(values) >= 0)
    with pytest.raises(InputError, match="at least one"):
        isotonic([], [])


def record(text: str, *fields: tuple[str, int, int, float], sure: float = 0.5) -> Record:
    return Record(text, tuple(Field(label, text[a:b], a, b, p) for label, a, b, p in fields), sure)


def test_fields_and_records_are_judged() -> None:
    gold = tagged(("title", "On oaks."), ("date", "1990"))
    right = record(gold.text, ("title", 0, 7, 0.9), ("date", 7, 13, 0.8))  # the full stop is with the date
    wrong = record(gold.text, ("title", 0, 8, 0.7), ("pages", 9, 13, 0.6), sure=0.2)
    found = judged([right, wrong], [gold, gold])
    assert found["field"].sure.tolist() == [0.9, 0.8, 0.7, 0.6]
    assert found["field"].right.tolist() == [True, True, True, False]
    assert found["record"].sure.tolist() == [0.5, 0.2]
    assert found["record"].right.tolist() == [True, False]
    assert set(calibrate([right, wrong], [gold, gold])) == {"field", "record"}
    with pytest.raises(InputError, match="another text"):
        judged([right], [tagged(("title", "On elms."))])


def test_compacted_models_say_nearly_the_same() -> None:
    X = [["On", "oaks", "1990"], ["On", "elms", "1991"], ["Oaks", "2001"]]
    y = [["title", "title", "date"], ["title", "title", "date"], ["title", "date"]]
    model = CRF(l2=0.1).fit(X, y)
    small = compacted(model, least=0.05)
    assert len(small.model_.w) < len(model.model_.w)
    assert np.abs(small.model_.w).min() >= 0.04
    assert small.predict(X) == model.predict(X) == y
    for one, other in zip(small.predict_marginals(X), model.predict_marginals(X), strict=True):
        assert np.abs(one - other).max() < 0.1
