"""A field whose examples all have one word may have two in the next text."""

from __future__ import annotations

import io

import espalier as es
from espalier.recipes import train
from espalier.tags import with_inside

TEXTS = [
    "<fruit>plum</fruit> at <price>£ 3</price> in <place>Ely</place>",
    "<fruit>pear</fruit> for <price>£ 9</price> near <place>Wye</place>",
    "in <place>Ely</place> a <fruit>plum</fruit> at <price>£ 9</price>",
]
RULES = 'Town: token in phrase "New York" -> place\nOnce: each field once\n'


def _read() -> list[es.Document]:
    return es.read(io.StringIO("\n".join(TEXTS)), "inline")


def test_two_words_where_a_rule_asks_for_them() -> None:
    trained = train(_read(), rules=RULES, penalties="hard")
    assert {"I-place", "I-fruit", "I-price"} <= set(trained.estimator.labels_)
    found = es.Extractor(trained.estimator).extract("plum at £ 4 in New York")
    assert [(field.label, field.text) for field in found.fields] == [
        ("fruit", "plum"), ("price", "£ 4"), ("place", "New York"),
    ]  # fmt: skip
    assert found.violations == ()


def test_what_has_one_word_stays_so_without_a_reason() -> None:
    trained = train(_read())
    for text in ("plum at £ 4 in Ely", "pear near Wye , fig near Rye"):
        found = es.Extractor(trained.estimator).extract(text)
        assert all(field.label == "price" or " " not in field.text for field in found.fields)


def test_tags_of_every_field_and_level() -> None:
    assert with_inside(["O", "B-a", "B-b", "I-b"]) == ["B-a", "B-b", "I-a", "I-b", "O"]
    assert with_inside(["B-a/B-x", "I-a"]) == ["B-a/B-x", "I-a", "I-a/I-x"]
    assert with_inside([]) == []
