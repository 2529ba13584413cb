"""Any model's fields, confidences, certificates and alternatives: against enumeration, and against the model itself."""

from __future__ import annotations

import gc
import weakref
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import espalier as es
from espalier import store
from espalier.corpus import Corpus
from espalier.decoders.base import Status
from espalier.document import Document, Span
from espalier.errors import InfeasibleError, InputError, ModelFileError, NotFittedError, ResultWarning
from espalier.extract.answers import FieldNames
from espalier.extract.confidence import Calibration, Curve
from espalier.metrics import calibration
from espalier.rules.meaning import degrees

RELEASES = Path(__file__).parents[1] / "releases" / "0.1.0"
ORCHARD = Path(__file__).parents[2] / "examples" / "orchard"
RULES = "Once: each field once [penalty 1.5]\nPriced: price required [penalty 0.7]"


def adverts(name: str, n: int = 40) -> list[Document]:
    return es.read(ORCHARD / name)[:n]


@pytest.fixture(scope="module")
def model() -> es.CRF:
    return es.CRF(["lower", "shape"], l2=0.3).fit(Corpus.from_documents(adverts("train.txt")))


def small_model() -> es.CRF:
    X = [["plum", "35"], ["pear", "x", "40"], ["fig", "12", "x"]]
    y = [["fruit", "price"], ["fruit", "O", "price"], ["fruit", "price", "O"]]
    return es.CRF(["lower"], l2=0.4).fit(X, y)


def test_answers_are_the_best_of_all_labellings_with_their_probabilities() -> None:
    model, rules = small_model(), es.rules(RULES)
    extractor = es.Extractor(model, rules)
    document = Document.from_text("pear 40 plum")
    chain, names = model.potentials([document.words])[0], model.labels_.names
    every = list(product(range(len(names)), repeat=3))

    def score(y: tuple[int, ...]) -> float:
        broken = degrees(rules, document.words, [names[j] for j in y], text=document.text)
        return float(chain.score(y)) - float(broken @ rules.penalties)

    ranked = sorted(every, key=score, reverse=True)
    found = extractor.extract(document, k=4)
    priced = np.array([score(y) for y in every])  # all of these rules count
    p = np.exp(priced - np.logaddexp.reduce(priced))
    for reading, y in zip((found, *found.alternatives), ranked, strict=False):
        expected = document.with_tags([names[j] for j in y]).spans
        assert reading.spans == expected
        assert reading.certificate is not None
        assert reading.certificate.status is Status.OPTIMAL
        assert reading.certificate.bound == pytest.approx(score(y), abs=1e-5)
        paid = degrees(rules, document.words, [names[j] for j in y], text=document.text) @ rules.penalties
        assert sum(v.price for v in reading.violations) == pytest.approx(float(paid))
    assert found.confidence == pytest.approx(p[every.index(ranked[0])], abs=1e-5)
    token = [sum(p[m] for m, other in enumerate(every) if other[t] == ranked[0][t]) for t in range(3)]
    runs = [[t for t, (a, b) in enumerate(document.tokens) if f.start <= a and b <= f.end] for f in found.fields]
    expected_sure = [min(token[t] for t in run) for run in runs]
    assert [f.confidence for f in found.fields] == pytest.approx(expected_sure, abs=1e-5)


@pytest.mark.parametrize("path", sorted(RELEASES.glob("*.espalier")), ids=lambda path: path.stem)
def test_every_kind_of_model_extracts_what_it_predicts(path: Path) -> None:
    extractor = es.load(path)
    texts = ["Ada Plum (1950). Wires and walls.", "plum 35 in Ludlow , a tree .", "x", ""]
    for text, found in zip(texts, extractor.extract_many(texts, k=2), strict=True):
        document = Document.from_text(text)
        [tags] = extractor.model.predict([document.words])
        spans = list(document.with_tags(tags).spans or ())
        own = [span for span in found.spans if span.label != "other"]
        assert own == [span for span in spans if span.label != "other"]
        assert found.certificate is not None
        assert extractor.label([document])[0].spans == tuple(spans)
        for other in found.alternatives:
            assert other.confidence <= found.confidence + 1e-9 or found.certificate.status is not Status.OPTIMAL


def test_a_batch_says_what_single_calls_say(model: es.CRF) -> None:
    extractor = es.Extractor(model, RULES)
    texts = [document.text for document in adverts("test.txt", 20)] + ["", " ", "£"]
    one_by_one = [extractor.extract(text, k=2) for text in texts]
    for batch in (3, 100):
        assert list(extractor.extract_many(texts, k=2, batch=batch)) == one_by_one


def test_a_stream_keeps_nothing_that_its_reader_let_go(model: es.CRF) -> None:
    stream = es.Extractor(model).extract_many(document.text for document in adverts("test.txt"))
    first = weakref.ref(next(stream))
    assert gc.isenabled()
    next(stream)
    assert first() is None


def test_garbage_is_looked_for_again_after_a_batch_and_only_if_it_was_before(model: es.CRF) -> None:
    extractor = es.Extractor(model)
    with pytest.raises(InputError):
        list(extractor.extract_many([1]))  # type: ignore[list-item]
    assert gc.isenabled()
    gc.disable()
    try:
        extractor.extract("Plum, 35")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_fields_of_a_hierarchy_are_those_of_every_level() -> None:
    X = [["Ada", "Plum", "1950"], ["Eve", "Pear", "1960"]]
    y = [["B-authors/B-first", "I-authors/B-last", "B-date"]] * 2
    extractor = es.Extractor(es.CRF(["lower", "shape"], l2=0.1).fit(X, y))
    assert set(extractor.labels) == {"authors/first", "authors/last", "date"}
    found = extractor.extract("Ada Pear 1950")
    places = [Span(0, 8, "authors"), Span(0, 3, "authors/first"), Span(4, 8, "authors/last"), Span(9, 13, "date")]
    assert list(found.spans) == places
    assert found.to_document().spans == tuple(places)


def test_names_of_fields() -> None:
    names = FieldNames.of(["O", "B-a", "I-a", "b"], {"a": "x"})
    assert names.names == (None, "x", "x", "b")
    assert names.fields == ("x", "b")
    assert FieldNames.of(["O", "a"], outside="rest").names == ("rest", "a")


@pytest.mark.filterwarnings("ignore:.*say.? little about confidences")
def test_calibration_makes_confidences_come_true_and_is_kept(model: es.CRF, tmp_path: Path) -> None:
    dev = adverts("test.txt", 60)
    raw = es.Extractor(model)
    extractor = es.Extractor(model, RULES).calibrate(dev)
    before, after = (one.judge(one.extract_many(dev), dev)["field"] for one in (raw, extractor))
    assert calibration(after.sure, after.right).error <= calibration(before.sure, before.right).error + 1e-9
    path, again = tmp_path / "one.espalier", tmp_path / "two.espalier"
    extractor.attribution = "Sixty adverts."
    extractor.save(path)
    loaded = es.load(path)
    text = dev[0].text
    assert loaded.extract(text, k=3) == extractor.extract(text, k=3)
    assert loaded.rules == extractor.rules
    loaded.save(again)
    assert path.read_bytes() == again.read_bytes()
    assert es.load(again).attribution == "Sixty adverts."


@pytest.mark.filterwarnings("ignore:.*say.? little about confidences")
def test_a_corpus_calibrates_too_and_unlabelled_texts_do_not(model: es.CRF) -> None:
    corpus = Corpus.from_documents(adverts("test.txt", 30))
    assert "record" in es.Extractor(model).calibrate(corpus).calibration.corrections
    with pytest.raises(InputError, match="nothing to compare"):
        es.Extractor(model).calibrate([Document.from_text("Plum")])


def test_other_rules_and_back(model: es.CRF) -> None:
    extractor = es.Extractor(model)
    ruled = extractor.with_rules('None: token in "£" -> not price [penalty 50]')
    text = "Plum 'Opal', £35."
    assert [f.text for f in extractor.extract(text).get("price")] == ["£35"]
    assert "£" not in "".join(f.text for f in ruled.extract(text).get("price"))
    assert "None" in str(ruled.explain(text))
    assert extractor.rules.names == ()


def test_hard_rules_that_nothing_keeps() -> None:
    extractor = es.Extractor(small_model(), 'A: token in "pear" -> fruit [hard]\nB: token in "pear" -> price [hard]')
    found = extractor.extract("pear 40")
    assert found.certificate is not None
    assert found.certificate.status is Status.INFEASIBLE
    assert {v.name for v in found.violations} <= {"A", "B"}
    assert found.violations
    assert found.certificate.conflict == ("A", "B")
    assert [found.confidence, *(field.confidence for field in found.fields)] == [0.0] * (1 + len(found.fields))
    extractor.calibration = Calibration(record=Curve(np.array([0.5]), np.array([0.97])))
    assert extractor.extract("pear 40").confidence == 0.0
    with pytest.raises(InfeasibleError, match=r"hard rules exclude each other: A, B; give one a penalty"):
        extractor.explain("pear 40")


def test_labels_under_hard_rules_that_nothing_keeps_are_those_of_an_extraction() -> None:
    # One broken rule is possible: all is "pear", though the model would give much for many tokens of "plum".
    model = es.CRF(l2=0.1).fit([["x"] * 20, ["y"]], [["plum"] * 20, ["pear"]], labels=["plum", "pear", "fig"])
    rules = "Some: fig required [hard]\nNone: count(fig) <= 0 [hard]\nNo: count(plum) <= 0 [hard]"
    extractor, document = es.Extractor(model, rules), Document.from_text(" ".join("x" * 20))
    found = extractor.extract(document)
    assert [(field.label, field.start, field.end) for field in found.fields] == [("pear", 0, 39)]
    assert found.certificate.conflict == ("Some", "None")
    with pytest.warns(ResultWarning, match="no labelling for 1 of 1"):
        (labelled,) = extractor.label([document])
    assert labelled.spans == found.spans
    potentials = extractor.score([document]).potentials
    answer = es.decode(potentials, rules, tokens=[document.words], labels=model.labels_, relax=True)
    assert answer[0].names() == ["pear"] * 20
    assert extractor.decode(extractor.score([document])).y.tolist() == answer.labels.tolist()


def test_a_count_that_a_short_text_cannot_reach_is_impossible_without_a_word_from_numpy() -> None:
    extractor = es.Extractor(small_model(), "Five: count(fruit) == 5 [hard]")
    found = extractor.extract("pear 40")
    assert found.certificate is not None
    assert (found.confidence, found.certificate.conflict) == (0.0, ("Five",))
    with pytest.raises(InfeasibleError, match="the hard rule Five cannot be kept"):
        extractor.explain("pear 40")


def test_a_model_of_segments_is_not_sure_of_the_impossible_either() -> None:
    X = [["plum", "35"], ["pear", "40"], ["plum", "12"]]
    model = es.SemiCRF(max_length=2).fit(X, [["B-fruit", "B-price"]] * 3)
    found = es.Extractor(model, "A: fruit required [hard]\nB: not fruit required [hard]").extract("plum 35")
    assert [found.confidence, *(field.confidence for field in found.fields)] == [0.0] * (1 + len(found.fields))


def test_two_stages_are_certified_as_what_they_are() -> None:
    extractor = es.load(RELEASES / "two-stage.espalier")
    found = extractor.extract("plum 35 in Ludlow , a tree .")
    assert found.certificate is not None
    assert found.certificate.status in (Status.OPTIMAL, Status.BOUNDED)
    assert str(extractor.explain("plum 35 in Ludlow"))


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="takes a fitted model, not str"):
        es.Extractor("model")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError, match="call fit first"):
        es.Extractor(es.CRF())
    extractor = es.Extractor(small_model())
    with pytest.raises(AttributeError, match=r"its estimator has: \.model\.predict"):
        _ = extractor.predict
    with pytest.raises(AttributeError, match="no attribute 'parse'"):
        _ = extractor.parse
    with pytest.raises(InputError, match="a text is a string, not int"):
        extractor.extract(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="several texts, not a string"):
        extractor.extract_many("plum")
    with pytest.raises(InputError, match="rules are a RuleSet or a text, not list"):
        es.Extractor(small_model(), ["Once: each field once"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="names of fields are not a table of strings"):
        es.Extractor(small_model(), names={"fruit": None})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="names: the model has no field 'friut'; did you mean 'fruit'"):
        es.Extractor(small_model(), names={"friut": "kind"})
    with pytest.raises(InputError, match="names: the model has no field 'colour'; its fields are fruit, price"):
        es.Extractor(small_model(), names={"colour": "kind"})
    with pytest.raises(InputError, match="takes documents with labels"):
        extractor.calibrate(["plum 35"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="text 1 is a int"):
        list(extractor.extract_many(["plum", 3]))  # type: ignore[list-item]


def test_a_map_that_changes_nothing() -> None:
    assert Calibration().to_header() == {}
    p = np.array([0.25, 1.0])
    np.testing.assert_array_equal(Calibration().of_fields(p), p)


def test_other_names_are_used_everywhere_and_kept(tmp_path: Path) -> None:
    X, y = [["a", "1"], ["b", "2"]], [["B-x", "B-n"]] * 2
    extractor = es.Extractor(es.CRF(["lower", "shape"], l2=0.1).fit(X, y), names={"x": "letter"})
    document, right = Document.from_text("a 1"), (Span(0, 1, "letter"), Span(2, 3, "n"))
    extractor.save(tmp_path / "named.espalier")
    for one in (extractor, es.load(tmp_path / "named.espalier")):
        assert set(one.labels) == {"letter", "n"}
        assert one.extract(document).spans == right
        assert one.label([document])[0].spans == right
    header, arrays = store.load(tmp_path / "named.espalier")
    store.save(tmp_path / "named.espalier", {**header, "names": ["letter"]}, arrays)
    with pytest.raises(ModelFileError, match=r"named\.espalier: names of fields are not a table"):
        es.load(tmp_path / "named.espalier")
    for spans in (right, (Span(0, 1, "x"), Span(2, 3, "n"))):  # gold may have either name
        assert extractor.judge([extractor.extract(document)], [Document.from_text("a 1", spans)])["record"].right.all()


def test_fields_of_a_hierarchy_have_other_names_by_their_paths() -> None:
    X, y = [["Ada", "Plum", "1950"], ["Eve", "Pear", "1960"]], [["B-authors/B-first", "I-authors/B-last", "B-date"]] * 2
    names = {"authors": "people", "authors/first": "given", "date": "year"}
    extractor = es.Extractor(es.CRF(["lower", "shape"], l2=0.1).fit(X, y), names=names)
    assert set(extractor.labels) == {"given", "authors/last", "year"}
    found = extractor.extract("Ada Pear 1950")
    assert [field.label for field in found.fields] == ["people", "given", "authors/last", "year"]
    assert extractor.label([Document.from_text("Ada Pear 1950")])[0].spans == found.spans


def test_labels_of_documents_keep_rules_about_their_texts() -> None:
    extractor = es.Extractor(small_model(), "Gap: if text ~ /plum  / then not fruit required [hard]")
    document = Document.from_text("plum  40")
    found = extractor.extract(document)
    assert not found.get("fruit")
    assert extractor.label([document])[0].spans == found.spans


def test_a_model_that_has_only_scores_labels_too() -> None:
    class Scores:
        def __init__(self, model: es.CRF) -> None:
            self.labels_, self.potentials = model.labels_, model.potentials

    extractor = es.Extractor(Scores(small_model()), "One: each field once [penalty 2]")  # type: ignore[arg-type]
    documents = [Document.from_text("plum 40"), Document.from_text(""), Document.from_text("pear")]
    found = list(extractor.extract_many(documents))
    assert [document.spans for document in extractor.label(documents)] == [one.spans for one in found]


def test_what_only_a_later_reading_has_is_no_surer_than_that_the_best_is_wrong() -> None:
    for name in ("semicrf", "crf"):
        extractor = es.load(RELEASES / f"{name}.espalier")
        extractor.calibration = Calibration(record=Curve(np.array([0.5]), np.array([0.97])))
        found = extractor.extract("plum 35 in Ludlow , a tree .", k=5)
        known = {(field.label, field.start, field.end) for field in found.fields}
        later = [f for other in found.alternatives for f in other.fields if (f.label, f.start, f.end) not in known]
        assert later
        assert all(field.confidence <= 1.0 - found.confidence + 1e-6 for field in later)
