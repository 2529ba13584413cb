"""Candidates become scores, and the best labelling under rules is the answer: by hand, and against enumeration."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.errors import InputError
from espalier.extract.claims import Claim, places_of
from espalier.rules.meaning import degrees

TEXT = "Ann Lee left Ulm with Bob Ray in May."


def fields(found: Any) -> list[tuple[str, str]]:
    return [(field.label, field.text) for field in found.extraction.fields]


@pytest.mark.parametrize(
    "candidate",
    [
        {"who": "Ann Lee", "where": "Ulm"},
        '{"who": "Ann Lee", "where": "Ulm"}',
        'Sure! Here it is:\n```json\n{"who": ["Ann Lee"], "where": "Ulm", "when": null}\n```\nAnything else?',
        [{"label": "who", "text": "Ann Lee"}, {"label": "where", "text": "Ulm", "score": 0.9}],
        {"entities": [{"label": "who", "value": "Ann Lee"}, {"label": "where", "text": "Ulm", "start": 13}]},
        {"who": {"text": "Ann Lee", "confidence": 0.7}, "where": [{"text": "Ulm"}], "when": ""},
        es.Document.from_tokens(["Ann", "Lee", "left", "Ulm"], ["B-who", "I-who", "O", "B-where"]),
    ],
)
def test_one_candidate_in_every_form(candidate: Any) -> None:
    found = es.reconcile(TEXT, candidate)
    assert fields(found) == [("who", "Ann Lee"), ("where", "Ulm")]
    assert found.extraction.certificate.proven
    assert (found.invented, found.slips, found.dropped, found.added) == ((), (), (), ())


def test_strings_that_are_not_quite_in_the_text() -> None:
    found = es.reconcile(TEXT, {"who": ["ANN  LEE", "Bob Rays"], "where": "Ulm .", "when": "December 1999"})
    assert fields(found) == [("who", "Ann Lee"), ("where", "Ulm"), ("who", "Bob Ray")]
    assert [(slip.claim.text, slip.text) for slip in found.slips] == [("Bob Rays", "Bob Ray"), ("Ulm .", "Ulm")]
    assert [(claim.label, claim.text) for claim in found.invented] == [("when", "December 1999")]


SPELLINGS = ["1234.50", "1,234.50", "1.234,50", "1 234,50", "1\u00a0234.50", "1\u202f234,50", "1'234.50", "1’234.50"]


@pytest.mark.parametrize("written", SPELLINGS)
@pytest.mark.parametrize("given", [*SPELLINGS, 1234.5])
def test_a_number_is_the_same_however_its_thousands_are_separated(written: str, given: str | float) -> None:
    found = es.reconcile(f"Total {written} EUR, 15 % of 8230", [{"total": given}])
    assert fields(found) == [("total", written)]
    assert [slip.text for slip in found.slips] == ([] if str(given).split() == written.split() else [written])


@pytest.mark.parametrize(
    ("written", "given", "answer"),
    [
        # A part of a number is another number; whole ones come first.
        ("1,234.50", "234.50", None),
        ("1,234.50 and 234.50", "234.50", "234.50"),
        ("11,234.50", "1234.50", None),
        ("234.50", "1234.50", None),
        # So is one with other digits, or with the point elsewhere.
        ("1,234.60", "1234.50", None),
        ("1,234.5", "1234.50", None),
        ("123450", "1234.50", None),
        ("12.3450", "1234.50", None),
        ("1,234.500", "1234500", None),
        ("1,234,567", "1.234567", None),
        ("Bob 1998", "Bob 1999", None),
        ("1,234.00", 1234, "1,234.00"),
        ("0,500", "0500", None),
        # Signs count.
        ("-1,234.50", "-1234.50", "-1,234.50"),
        ("−$1,234.50", "-1234.50", "−$1,234.50"),
        ("(1,234.50)", "-1234.50", "(1,234.50)"),
        ("1,234.50-", "-1234.50", "1,234.50-"),
        ("-1,234.50", "1234.50", None),
        ("1,234.50", "-1234.50", None),
        # Long ones, those of India, and digits that are no values.
        ("1,234,567,890.50", "1234567890.50", "1,234,567,890.50"),
        ("12,34,567.50", "1234567.50", "12,34,567.50"),
        ("978-3-16-148410-0", "9783161484100", "978-3-16-148410-0"),
        ("12.05.1999", "12/05/1999", "12.05.1999"),
        ("12.05.1999", "1999", "1999"),
        ("at 10.30", "10:30", "10.30"),
        ("12th May 1999", "12 May 1999", "12th May 1999"),
        ("Room 12 345 books", "345 bookz", "345 books"),
        ("pages 12-34", "12–34", "12-34"),
    ],
)
def test_a_claim_is_taken_for_no_other_number(written: str, given: str | float, answer: str | None) -> None:
    found = es.reconcile(f"Total {written} EUR", [{"total": given}])
    assert [text for _, text in fields(found)] == ([] if answer is None else [answer])
    assert [claim.text for claim in found.invented] == ([] if answer else [str(given)])


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    text=st.lists(st.sampled_from(["1", "23", "456", "-", ",", ".", "'", " ", "a", "("]), min_size=1, max_size=14),
    claim=st.lists(st.sampled_from(["1", "23", "456", "-", ",", ".", " ", "a"]), min_size=1, max_size=6),
)
def test_a_claim_is_taken_for_its_own_digits_only(text: list[str], claim: list[str]) -> None:
    string = "".join(claim)
    document = es.Document.from_text("".join(text))
    for place in places_of(Claim("x", string, 0), document, document.words):
        start, end = document.tokens[place.first][0], document.tokens[place.end - 1][1]
        digits = [[sign for sign in one if sign.isdigit()] for one in (document.text[start:end], string)]
        assert digits[0] == digits[1]


def test_two_answers_for_one_field_and_a_rule() -> None:
    candidates = [{"who": "Ann Lee"}, {"who": "Bob Ray"}, {"who": "Bob Ray"}]
    found = es.reconcile(TEXT, candidates, "Once: who once [hard]\nNeed: who required [hard]")
    assert fields(found) == [("who", "Bob Ray")]
    assert [claim.text for claim in found.dropped] == ["Ann Lee"]
    alone = es.reconcile(TEXT, {"who": ["Ann Lee", "Bob Ray"]}, "Once: who once [penalty 1]", penalties={"Once": 9.0})
    assert len(fields(alone)) == 1
    assert alone.explain().cause == ("Once",)
    trusted = es.reconcile(TEXT, candidates[:2], "Once: who once [hard]\nNeed: who required [hard]", trust=[0.95, 0.6])
    assert fields(trusted) == [("who", "Ann Lee")]


def test_a_string_that_stands_in_the_text_twice() -> None:
    text = "Ulm, near Ulm"
    assert [f.start for f in es.reconcile(text, {"where": "Ulm"}).extraction.fields] == [0]
    assert [f.start for f in es.reconcile(text, {"where": ["Ulm", "Ulm"]}).extraction.fields] == [0, 10]
    told = es.reconcile(text, {"where": {"text": "Ulm", "start": 10}})
    assert [f.start for f in told.extraction.fields] == [10]
    ruled = es.reconcile(text, {"where": "Ulm"}, "F: first in O [hard]\nN: where required [hard]")
    assert [f.start for f in ruled.extraction.fields] == [10]


def test_rules_may_add_what_nobody_claimed() -> None:
    found = es.reconcile("call 555 now", {"who": "Zoe"}, "Number: token is number -> phone [penalty 9]")
    assert fields(found) == [("phone", "555")]
    assert [field.text for field in found.added] == ["555"]
    assert [claim.text for claim in found.invented] == ["Zoe"]


def test_pseudo_labels_and_nothing_at_all() -> None:
    found = es.reconcile(TEXT, {"who": "Ann Lee"})
    assert found.labelled.tags[:3] == ["B-who", "I-who", "O"]
    assert fields(es.reconcile("", {"who": "Ann"})) == []
    assert fields(es.reconcile(TEXT, [])) == []
    impossible = es.reconcile(TEXT, {"who": "Ann"}, "A: who required [hard]\nB: count(who) <= 0 [hard]")
    assert not impossible.extraction.certificate.proven


@pytest.mark.parametrize(
    ("candidate", "options", "complaint"),
    [
        (7, {}, "the candidates are int"),
        ({"who": "Ann"}, {"trust": 1.5}, "trust is 1.5"),
        ({"who": "Ann"}, {"trust": [0.5, 0.5]}, "or 1 of them"),
    ],
)
def test_what_is_refused(candidate: Any, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        es.reconcile(TEXT, candidate, **options)


WORDS = ["a", "b", "c"]


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    candidates=st.lists(
        st.dictionaries(st.sampled_from(["x", "y"]), st.sampled_from(["a", "b", "a b", "d"])), max_size=3
    ),
    rules=st.sampled_from(["", "Once: x once [hard]", "Need: y required [penalty 2]\nOrder: x before y [penalty 1]"]),
)
def test_the_answer_is_the_best_of_all_labellings(words: list[str], candidates: list[Any], rules: str) -> None:
    found = es.reconcile(" ".join(words), candidates, rules or None, labels=["x", "y"])
    names, unary = found.decoding.vocabulary.names, found.potentials.unary
    assert (unary <= 0).all()  # sums of log probabilities
    best = -math.inf
    for y in itertools.product(range(len(names)), repeat=len(words)):
        tags = [names[j] for j in y]
        bad = any(tag[0] == "I" and (t == 0 or tags[t - 1][1:] != tag[1:]) for t, tag in enumerate(tags))
        broken = degrees(found.rules, words, tags)
        price = sum(float(rho) * int(d) for rho, d in zip(found.rules.penalties, broken, strict=True) if d)
        best = best if bad else max(best, sum(unary[t, j] for t, j in enumerate(y)) - price)
    assert found.decoding.score == pytest.approx(best)
    assert found.extraction.certificate.proven
    claimed = {
        (claim["text"], claim["label"]) for c in candidates for claim in [{"label": k, "text": v} for k, v in c.items()]
    }
    assert {(claim.text, claim.label) for claim in found.invented} <= claimed
    for claim in found.invented:
        assert claim.text not in " ".join(words)
    assert json.dumps(found.extraction.to_dict())
