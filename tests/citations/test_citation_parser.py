"""The parser: fields that give the text back, the same answer in any company, rules, alternatives, bad input."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from citation_models import RULES, pieces, reference, tiny_model, tiny_parser, training_set
from espalier.citations.formats import FORMATS, write
from espalier.citations.parser import LONGEST, Parser
from espalier.citations.record import LABELS, Record
from espalier.corpus import Corpus
from espalier.decoders.base import Status
from espalier.document import Document
from espalier.errors import InputError, LabelError, ModelFileError, NotFittedError
from espalier.extract.answers import FieldNames
from espalier.extract.confidence import Calibration
from espalier.loading import load
from espalier.rules.meaning import degrees


def covers(record: Record) -> None:
    """Every character is in exactly one field, or it is white space."""
    rest = list(record.text)
    for field in record.fields:
        assert record.text[field.start : field.end] == field.text
        assert 0 <= field.confidence <= 1
        rest[field.start : field.end] = " " * len(field.text)
    assert not "".join(rest).strip()
    assert sum(len(field.text) for field in record.fields) <= len(record.text)


@pytest.mark.parametrize("n", [50, 51, 62, 73])
def test_references_like_those_it_has_seen(n: int) -> None:
    record = tiny_parser().parse(reference(n))
    assert [(field.label, field.text) for field in record.fields] == pieces(n)
    assert record.certificate.status is Status.OPTIMAL
    assert record.violations == ()
    assert record.confidence > 0.5
    covers(record)


def test_labels_and_rules() -> None:
    parser = tiny_parser()
    assert parser.labels == ("author", "title", "container-title", "volume", "pages", "date")
    assert parser.rules.names == ("Once", "Pages", "Titled")
    assert "3 rules" in repr(parser)
    assert Parser(tiny_model(), "Dated: date required [penalty 1]").rules.names == ("Dated",)
    assert len(Parser(tiny_model().base_).rules) == 0


def test_a_record_is_the_same_in_any_company() -> None:
    parser = tiny_parser()
    texts = [reference(n) for n in range(40)] + [
        "",
        "  ",
        "\u00a0",
        "x",
        "Ø",
        reference(3) + " " + reference(4),
        "pp pp",
    ]
    one_by_one = [parser.parse(text) for text in texts]
    for batch in (1, 2, 7, 512):
        assert list(parser.parse_many(texts, batch=batch)) == one_by_one
    assert [record.text for record in one_by_one] == texts


def test_a_stream_is_read_no_further_than_a_batch() -> None:
    taken = []

    def texts() -> Iterator[str]:
        for n in range(100):
            taken.append(n)
            yield reference(n)

    records = tiny_parser().parse_many(texts(), batch=8)
    assert taken == []
    assert next(records).text == reference(0)
    assert len(taken) == 8


def test_a_text_without_tokens_has_no_fields() -> None:
    record = tiny_parser().parse(" \n\t ")
    assert (record.text, record.fields, record.confidence) == (" \n\t ", (), 0.0)
    assert record.certificate is not None


def test_the_answer_is_the_best_of_all_labellings_and_so_are_the_alternatives() -> None:
    parser, model = tiny_parser(), tiny_model()
    text = "Ada pp 1950"
    words = text.split()
    chain = model.potentials(Corpus.from_tokens([words]))[0]
    names = model.labels_.names

    def score(y: tuple[int, ...]) -> float:
        broken = degrees(parser.rules, words, [names[j] for j in y], text=text)
        return chain.score(y) - float(broken @ parser.rules.penalties)

    ranked = sorted(product(range(len(names)), repeat=3), key=score, reverse=True)[:5]
    record = parser.parse(text, k=5)
    for found, y in zip((record, *record.alternatives), ranked, strict=True):
        tokens = [label for f in found.fields for label in [f.label] * len(f.text.split())]
        assert tokens == [names[j] for j in y]
        broken = degrees(parser.rules, words, tokens, text=text)
        paid = {
            name: rho * d for name, rho, d in zip(parser.rules.names, parser.rules.penalties, broken, strict=True) if d
        }
        for name, price in paid.items():
            assert sum(v.price for v in found.violations if v.name == name) == pytest.approx(price)
        assert {v.name for v in found.violations} == set(paid)
        assert found.certificate.status is Status.OPTIMAL
        covers(found)
    probabilities = [found.confidence for found in (record, *record.alternatives)]
    assert sum(probabilities) <= 1 + 1e-6
    assert parser.parse(text) == replace(record, alternatives=())


STEEP = Calibration.from_header(
    {"calibration": {"field": [[0.1, 0.9], [0.2, 0.95]], "record": [[0.1, 0.9], [0.2, 0.95]]}}
)


def check_readings(record: Record) -> None:
    """Readings of one text are exclusive: at most 1 together, never rising, and what only they have is bounded."""
    sure = [reading.confidence for reading in (record, *record.alternatives)]
    assert sum(sure) <= 1 + 1e-9
    assert sorted(sure, reverse=True) == sure
    best = {(field.label, field.start, field.end): field.confidence for field in record.fields}
    for other in record.alternatives:
        for field in other.fields:
            same = best.get((field.label, field.start, field.end))
            if same is None:
                assert field.confidence <= 1 - record.confidence + 1e-9
            else:
                assert field.confidence == pytest.approx(same, abs=2e-6)


def test_alternatives_are_exclusive_under_any_calibration() -> None:
    texts = [reference(n) for n in range(8)] + ["Ada pp 1950", "x", "Plum Plum Plum", "1950 1950"]
    for parser in (tiny_parser(), Parser(tiny_model(), calibration=STEEP), Parser(tiny_model(tags=True), "")):
        for text in texts:
            check_readings(parser.parse(text, k=6))


def test_a_reading_is_as_sure_however_many_are_asked_for() -> None:
    parser = Parser(tiny_model(), calibration=STEEP)
    six = parser.parse("Ada pp 1950", k=6)
    assert len(six.alternatives) == 5
    for k in range(2, 6):
        assert parser.parse("Ada pp 1950", k=k).alternatives == six.alternatives[: k - 1]
    every = Parser(tiny_model(), "").parse("Ada", k=1000)  # one token: each label is a reading, one of them is right
    sure = [reading.confidence for reading in (every, *every.alternatives)]
    assert every.odd == ()
    assert len(sure) == len(parser.labels)
    assert sum(sure) == pytest.approx(1, abs=1e-5)


def test_what_looks_odd_is_less_sure_and_no_other_reading_gains_by_it() -> None:
    odd = Parser(tiny_model(), "").parse("x", k=1000)  # nobody is called x
    sure = [reading.confidence for reading in (odd, *odd.alternatives)]
    assert odd.odd == ("initial as name",)
    assert sum(sure) < 0.9
    check_readings(odd)


def test_the_bundled_model_promises_no_more_than_one() -> None:
    examples = Path(__file__).parents[2] / "examples" / "references.txt"
    records = list(es.load("citations").parse_many(examples.read_text(encoding="utf-8").splitlines(), k=3))
    assert len(records) == 40
    for record in records:
        check_readings(record)
        assert len(record.alternatives) == 2


def test_hard_rules_that_nothing_keeps() -> None:
    parser = Parser(tiny_model(), 'A: token in "pp" -> pages [hard]\nB: token in "pp" -> date [hard]')
    record = parser.parse("Ada Plum pp 7")
    assert record.certificate.status is Status.INFEASIBLE
    assert [v.name for v in record.violations] in (["A"], ["B"])
    assert record.confidence == 0.0
    covers(record)
    assert next(iter(parser.parse_many([reference(2)]))).certificate.status is Status.OPTIMAL


def test_tags_keep_neighbours_apart() -> None:
    model = tiny_model("", tags=True)
    parser = Parser(model)
    assert parser.labels == tiny_parser().labels
    record = parser.parse(reference(52))
    assert [(field.label, field.text) for field in record.fields] == pieces(52)
    fields = FieldNames.of(["B-author", "I-author", "O", "B-title", "I-title/B-note"], outside="other")
    assert fields.names == ("author", "author", "other", "title", "title")
    assert fields.opens.tolist() == [True, False, False, True, False]


def test_labels_that_are_no_fields() -> None:
    X, y = training_set(4)
    model = es.CRF(["lower"], max_iterations=3).fit(
        X, [["jurnal" if name == "volume" else name for name in row] for row in y]
    )
    with pytest.raises(LabelError, match=r"'jurnal', which is no field of a reference.*names="):
        Parser(model)
    assert "volume" in Parser(model, names={"jurnal": "volume"}).labels


def test_models_that_cannot_parse() -> None:
    with pytest.raises(InputError, match="takes a fitted model, not str"):
        Parser("citations")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError, match="not fitted"):
        Parser(es.CRF())
    X, y = training_set(4)
    covers(Parser(es.SemiCRF(max_iterations=2).fit(X, y)).parse(reference(3)))  # segments are fields, too


def test_wrong_input() -> None:
    parser = tiny_parser()
    with pytest.raises(InputError, match="a reference is a string, not list"):
        parser.parse([reference(1)])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="several references, not a string"):
        parser.parse_many(reference(1))
    with pytest.raises(InputError, match="reference 1 is a bytes"):
        list(parser.parse_many(["a", b"b"]))  # type: ignore[list-item]
    with pytest.raises(InputError, match="k is 0"):
        parser.parse("a", k=0)
    with pytest.raises(InputError, match="batch is True"):
        parser.parse_many(["a"], batch=True)
    with pytest.raises(InputError, match=r"reference 2 has 20,001 characters; at most 20,000"):
        list(parser.parse_many(["a", "b", "c" * (LONGEST + 1)], batch=2))
    covers(parser.parse("c " * (LONGEST // 2)))


def test_calibration_is_read_from_the_model_file(tmp_path: Path) -> None:
    from espalier import store
    from espalier.estimators.persist import pack

    path = tmp_path / "tiny.espalier"
    header, arrays = pack(tiny_model())
    curve = {"field": [[0.0, 1.0], [0.25, 0.75]], "counts": True}
    store.save(path, header | {"calibration": curve}, arrays)
    raw, calibrated = tiny_parser().parse(reference(50)), Parser.from_file(path).parse(reference(50))
    expected = [0.25 + 0.5 * field.confidence for field in raw.fields]
    assert [field.confidence for field in calibrated.fields] == pytest.approx(expected, abs=1e-6)
    assert calibrated.confidence == raw.confidence
    unchanged = Parser.from_file(path, calibration=Calibration())
    assert unchanged.parse(reference(50)) == raw
    store.save(path, header | {"calibration": 3}, arrays)
    with pytest.raises(ModelFileError, match=r"tiny\.espalier: the calibration"):
        Parser.from_file(path)


def test_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tiny.espalier"
    tiny_model().save(path)
    assert type(es.load(path)) is es.Extractor
    assert isinstance(es.load(path).model, es.CCM)
    assert es.load is load
    monkeypatch.setattr("espalier.citations.parser.BUNDLED", "no-such.espalier")
    with pytest.raises(ModelFileError, match="bundled model is missing"):
        es.load("citations")
    tiny_model().save(tmp_path / "model.espalier")
    monkeypatch.setattr("espalier.citations.parser.resources.files", lambda package: tmp_path)
    monkeypatch.setattr("espalier.citations.parser.BUNDLED", "model.espalier")
    parser = es.load("citations")
    assert isinstance(parser, Parser)
    assert parser.parse(reference(5)) == tiny_parser().parse(reference(5))


def test_explanation() -> None:
    parser = Parser(tiny_model(), 'Dated: token in "wires" -> date [penalty 40]')
    explanation = parser.explain("Ada Plum. Wires and walls. Orchard Letters")
    assert "Wires" in [explanation.tokens[t] for t in explanation.changed]
    assert explanation.cause == ("Dated",)


signs = st.text(
    st.one_of(
        st.sampled_from("aZ0 .,:;-–—()[]“”\"'’&/\u00a0\u00ad\u200d\u0301ﬁ北京、。，\u3000\n\r\t\f\x00\ud800🍐🇮🇸"),
        st.characters(),
    ),
    max_size=60,
)


@given(st.lists(signs, min_size=1, max_size=4))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_any_text_gives_records_that_give_it_back_in_every_format(texts: list[str]) -> None:
    records = list(tiny_parser().parse_many(texts, k=2))
    assert [record.text for record in records] == texts
    for record in records:
        covers(record)
        assert {field.label for field in record.fields} <= set(LABELS)
        for other in record.alternatives:
            covers(other)
    for format in FORMATS:
        assert all(isinstance(piece, str) for piece in write(records, format))


@given(st.lists(signs, max_size=12), st.integers(1, 5))
@settings(deadline=None, derandomize=True, max_examples=20)
def test_any_texts_in_any_batches(texts: list[str], batch: int) -> None:
    parser = tiny_parser()
    assert list(parser.parse_many(texts, batch=batch)) == [parser.parse(text) for text in texts]


@given(signs)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_tokens_leave_nothing_out(text: str) -> None:
    inside = np.zeros(len(text), bool)
    for a, b in Document.from_text(text).tokens:
        inside[a:b] = True
    assert all(inside[i] or sign.isspace() for i, sign in enumerate(text))


def test_parsing_imports_no_scikit_learn_and_no_optimiser(tmp_path: Path) -> None:
    path = tmp_path / "tiny.espalier"
    tiny_model(RULES).save(path)
    code = (
        "import sys; from espalier.citations.parser import Parser; "
        f"print(Parser.from_file({str(path)!r}).parse('Ada Plum (1950). Wires and walls.').to_bibtex()); "
        "print([name for name in ('sklearn', 'scipy.optimize', 'typer', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
