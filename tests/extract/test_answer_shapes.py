"""`reconcile` takes any shape of answer: a table of real ones, and nonsense made of their parts."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from answer_shapes import BOTH, KNOWN, OTHER, PLAIN, SAME, TEXT
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.extract.loose_json import CUT, values_in

LABELS = ["who", "where", "when"]


def fields(found: Any) -> list[tuple[str, str]]:
    return [(field.label, field.text) for field in found.extraction.fields]


def test_the_table_is_long() -> None:
    assert len(SAME) + len(KNOWN) + len(OTHER) >= 200


@pytest.mark.parametrize("name", [name for name in SAME if name != "a generator"])
def test_shapes_that_say_the_same(name: str) -> None:
    for labels in (None, LABELS):
        found = es.reconcile(TEXT, SAME[name], labels=labels)
        assert fields(found) == BOTH
        assert (found.invented, found.dropped, found.added) == ((), (), ())
        assert labels is not None or {claim.label for claim in (slip.claim for slip in found.slips)} <= {"who"}


def test_a_generator_is_read_once() -> None:
    assert fields(es.reconcile(TEXT, SAME["a generator"])) == BOTH


@pytest.mark.parametrize("name", KNOWN)
def test_shapes_that_known_labels_explain(name: str) -> None:
    assert fields(es.reconcile(TEXT, KNOWN[name], labels=LABELS)) == BOTH


@pytest.mark.parametrize(("name", "candidate", "said", "why"), OTHER, ids=[row[0] for row in OTHER])
def test_shapes_that_say_less(name: str, candidate: Any, said: list[tuple[str, str]], why: str) -> None:
    found = es.reconcile(TEXT, candidate)
    assert fields(found) == said
    assert any(why in one.why for one in found.unread) if why else True
    assert all(one.what is not None and one.candidate >= 0 for one in found.unread)


def test_labels_that_nobody_asked_for_are_said() -> None:
    found = es.reconcile(TEXT, {"who": "Ann Lee", "mood": "May"}, labels=LABELS)
    assert fields(found) == [("who", "Ann Lee")]
    assert [(one.what, one.why) for one in found.unread] == [("mood: May", "no such field is asked for")]


def test_known_labels_come_before_names_of_items() -> None:
    found = es.reconcile("Plum, type A, 3 May", {"type": "A", "text": "Plum"}, labels=["type", "text"])
    assert fields(found) == [("text", "Plum"), ("type", "A")]
    cities = {"from": {"city": "Ulm"}, "to": {"city": "Ely"}}
    dotted = es.reconcile("Ulm to Ely", cities, labels=["from.city", "to.city"])
    assert fields(dotted) == [("from.city", "Ulm"), ("to.city", "Ely")]


def test_a_candidate_that_says_nothing_has_no_vote() -> None:
    alone = es.reconcile(TEXT, {"who": "Ann Lee"})
    beside = es.reconcile(TEXT, ["Sorry, no.", {"who": "Ann Lee"}, None])
    assert beside.extraction.fields == alone.extraction.fields
    assert [one.candidate for one in beside.unread] == [0, 2]


def test_of_two_answers_the_better_is_kept_with_its_share() -> None:
    bill = "Total 12 of 13"
    tied = es.reconcile(bill, [{"total": "12"}, {"total": "13"}])
    assert fields(tied) == [("total", "12")]
    alone = es.reconcile(bill, {"total": "12"}).extraction.fields[0].confidence
    assert tied.extraction.fields[0].confidence == pytest.approx(alone / 2, abs=0.05)
    assert [claim.text for claim in tied.dropped] == ["13"]
    assert fields(es.reconcile(bill, [{"total": "12"}, {"total": "13"}], trust=[0.6, 0.8])) == [("total", "13")]
    more = es.reconcile(bill, [{"total": "12"}, {"total": "13"}, {"total": "13"}])
    assert fields(more) == [("total", "13")]
    assert 2 / 3 >= more.extraction.fields[0].confidence > tied.extraction.fields[0].confidence
    labels = ["who", "where", *(f"other{k}" for k in range(60))]
    named = es.reconcile(TEXT, [{"who": "Ulm"}, {"where": "Ulm"}], labels=labels)
    assert fields(named) == [("who", "Ulm")]
    longer = es.reconcile(TEXT, [{"who": "Ann Lee"}, {"who": "Ann"}])
    assert fields(longer) == [("who", "Ann Lee")]
    ruled = es.reconcile(
        bill, [{"total": "12"}, {"total": "13"}], "Last: token is last -> total [hard]\nOnce: total once [hard]"
    )
    assert fields(ruled) == [("total", "13")]
    sure = es.reconcile(bill, [{"total": {"text": "12", "score": 0.2}}, {"total": {"text": "13", "score": 0.9}}])
    assert fields(sure) == [("total", "13")]


def test_numbers_that_are_nearly_json_keep_every_digit() -> None:
    for written in ("1,234.50", "1234.50", "007", "1e5", "-3"):
        [found] = values_in(f"{{total: {written}, b: 2}}")
        assert found.value == {"total": written, "b": "2"}


def test_quotes_inside_quotes() -> None:
    [found] = values_in('{"a": "the "old" town", \'b\': \'Ann\'s\', "c": "x"}')
    assert found.value == {"a": 'the "old" town', "b": "Ann's", "c": "x"}
    assert [one.value for one in values_in('{"a": "x')] == [{"a": CUT}]


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab'\"\\\n{}[]:,é", max_size=6),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1), inner, max_size=3),
        max_leaves=8,
    ).filter(lambda value: isinstance(value, list | dict))
)
def test_json_is_read_as_json(value: Any) -> None:
    assert [one.value for one in values_in(f"so: {json.dumps(value)}!")] == [value]


SIGNS = [*"{}[]()\"'“:,\\|#= \n", "**", "//", "/*", "*/", "...", "```json", "<who>", "</who>", "- "]
NAMES = ["who", "where", "null", "label", "text", "value", "start", "end", "arguments", "entities", "tokens", "tags"]
PARTS = st.sampled_from([*SIGNS, *NAMES, "0", "7", "1,234", "B-who", "Ann Lee", "Ulm"])


@settings(deadline=None, derandomize=True, max_examples=600)
@given(parts=st.lists(PARTS, max_size=25), cut=st.integers(0, len(PLAIN)), known=st.booleans())
def test_no_text_stops_it_and_no_claim_is_made_up(parts: list[str], cut: int, known: bool) -> None:
    for answer in ("".join(parts), " ".join(parts), PLAIN[:cut] + "".join(parts)):
        found = es.reconcile(TEXT, answer, labels=LABELS if known else None)
        for field in found.extraction.fields:
            assert TEXT[field.start : field.end] == field.text
        assert not known or {field.label for field in found.extraction.fields} <= set(LABELS)
        for claim in found.invented:
            assert claim.text not in TEXT
        assert all(isinstance(one.what, str) and one.why for one in found.unread)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["who", "Ann Lee", "Ulm", "B-who", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["who", "label", "text", "start", "end", "span", "arguments", "tokens", "tags", "score"]),
            inner,
            max_size=4,
        )
        | st.tuples(inner, inner)
    ),
    max_leaves=10,
)


@settings(deadline=None, derandomize=True, max_examples=600)
@given(value=VALUES, known=st.booleans())
def test_no_value_stops_it(value: Any, known: bool) -> None:
    found = es.reconcile(TEXT, [value], labels=LABELS if known else None)
    assert found.extraction.certificate.proven


@pytest.mark.parametrize(
    "answer", ["{" * 20_000, '{"a":' * 20_000, "[" * 5_000 + "]" * 5_000, '{"a": "' + " '" * 20_000]
)
def test_hostile_answers_take_no_long_time(answer: str) -> None:
    started = time.perf_counter()
    es.reconcile(TEXT, answer)
    assert time.perf_counter() - started < 20
    ring: list[Any] = []
    ring.append(ring)
    assert es.reconcile(TEXT, [ring]).unread
