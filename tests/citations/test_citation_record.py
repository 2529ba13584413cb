"""A record's fields give its text back, and nothing else may be made into a record."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise.text import collapse, strip_separators, trim
from espalier.citations.record import LABELS, Field, Record, Work
from espalier.decoders.base import Violated
from espalier.errors import InputError, LabelError

TEXT = "Andersen, L. (1994). Program  analysis."


def field(label: str, start: int, end: int, confidence: float = 0.9, text: str = TEXT) -> Field:
    return Field(label, text[start:end], start, end, confidence)


WHOLE = (field("author", 0, 12), field("date", 13, 20), field("title", 21, 39))


def test_labels() -> None:
    assert len(LABELS) == len(set(LABELS)) == 23
    assert LABELS[0] == "author"
    assert LABELS[-1] == "other"


def test_a_record_and_its_work() -> None:
    violated = Violated("Start", 0, 1, 2.5)
    record = Record(TEXT, WHOLE, 0.8, None, violations=(violated,))
    assert record.certificate is None
    assert [found.text for found in record.get("title")] == ["Program  analysis."]
    assert record.get("doi") == []
    assert isinstance(record.work, Work)
    assert record.work is record.work
    assert record.work.authors[0].family == "Andersen"
    assert record.work.issued is not None
    assert record.work.issued.parts == ((1994,),)
    again = pickle.loads(pickle.dumps(record))
    assert again == record
    assert again.work == record.work
    assert hash(again) == hash(record)


def test_to_dict() -> None:
    record = Record(TEXT, WHOLE, 0.8, None, violations=(Violated("Start", 0, 1, 2.5),))
    found = record.to_dict()
    assert list(found) == ["text", "fields", "csl", "confidence", "certificate", "violations"]
    assert found["fields"][1] == {"label": "date", "text": "(1994).", "start": 13, "end": 20, "confidence": 0.9}
    assert found["violations"] == [{"name": "Start", "position": 0, "amount": 1, "price": 2.5}]


def test_other_formats_are_at_hand() -> None:
    record = Record(TEXT, WHOLE, 0.8, None)
    assert "Andersen" in record.to_bibtex()
    assert "Andersen" in record.to("ris")
    assert "Andersen" in record.to_tei()
    assert record.to_csl()["author"] == [{"family": "Andersen", "given": "L."}]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (WHOLE[:2], "characters 20..39 are in no field"),
        (WHOLE[1:], "characters 0..13 are in no field: 'Andersen, L. '; label them 'other'"),
        ((WHOLE[1], WHOLE[0], WHOLE[2]), "characters 0..13 are in no field"),
        ((WHOLE[0], field("date", 5, 20), WHOLE[2]), r"field 1 \(date\) is at 5..20, but must be a stretch of 12..39"),
        ((WHOLE[0], field("date", 13, 13), *WHOLE[1:]), "not empty"),
        ((*WHOLE[:2], Field("title", "x", 21, 40, 0.9)), "must be a stretch of 20..39"),
        ((*WHOLE[:2], Field("title", "Program analysis.x", 21, 39, 0.9)), "is not the text at its place"),
        ((*WHOLE[:2], field("title", 21, 39, 1.5)), r"confidence of field 2 \(title\) is 1.5"),
        ((*WHOLE[:2], field("title", 21, 39, float("nan"))), "confidence of field 2"),
    ],
)
def test_bad_fields_are_refused(fields: tuple[Field, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Record(TEXT, fields, 0.8, None)


def test_bad_labels_confidences_and_alternatives_are_refused() -> None:
    with pytest.raises(LabelError, match="did you mean 'author'"):
        Record(TEXT, (field("authors", 0, 39),), 0.8, None)
    with pytest.raises(LabelError, match="did you mean 'title'"):
        Record(TEXT, WHOLE, 0.8, None).get("titel")
    with pytest.raises(InputError, match="confidence of the record is -1"):
        Record(TEXT, WHOLE, -1, None)
    with pytest.raises(InputError, match="alternative 0 is a reading of another text"):
        Record(TEXT, WHOLE, 0.8, None, alternatives=(Record("x", (Field("other", "x", 0, 1, 1.0),), 0.5, None),))


def test_white_space_needs_no_field() -> None:
    assert Record("", (), 1.0, None).work == Work()
    assert Record(" \t\u00a0\n", (), 1.0, None).fields == ()
    with pytest.raises(InputError, match="in no field"):
        Record("\u200b", (), 1.0, None)  # a zero-width space is no white space


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Deep learning,” ", "Deep learning"),
        ('"Deep learning."', "Deep learning"),
        ("‘Don’t stop’,", "Don’t stop"),
        ("„Über alles“.", "Über alles"),
        ("»Das Wort«,", "Das Wort"),
        ("«Le mot».", "Le mot"),
        ("「言葉」。", "言葉"),
        ("``Title,''", "Title"),
        ("'Title'", "Title"),
        ("'Tis the season", "'Tis the season"),
        ("the Jones'", "the Jones'"),
        ("Smith, J.", "Smith, J."),
        ("In the U.S.", "In the U.S."),
        ("(n.d.).", "n.d."),
        ("(1994),", "1994"),
        ("12(3),", "12(3)"),
        ("p(a < b)", "p(a < b)"),
        ("“a” and “b”", "“a” and “b”"),
        ("Eds.)", "Eds"),
        ("((a)", "a"),
        ("What is life?", "What is life?"),
        ("and so on...", "and so on..."),
        (". .NET and -5", ".NET and -5"),
        (" a\u00a0 b\n", "a b"),
        ("...", ""),
        (").", ""),
        ("", ""),
    ],
)
def test_values_are_trimmed(text: str, expected: str) -> None:
    assert trim(text) == expected


@given(st.text(st.sampled_from("ab .,;:()[]\"'“”„‘’«»`-\n") | st.characters(), max_size=30))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_trimming_only_cuts(text: str) -> None:
    for shorter in (trim(text), strip_separators(text)):
        assert shorter in collapse(text)
        assert [c for c in shorter if c.isalnum()] == [c for c in text if c.isalnum()]
