"""What texts are usual, against SciPy's distance and counting; corrections of probabilities; what a model file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import espalier as es
from espalier.document import Document, Span
from espalier.errors import ModelFileError, ResultWarning
from espalier.extract.calibrating import Trial, isotonic, learn_calibration, tried
from espalier.extract.confidence import SIGNS, Calibration, Correction, Familiarity, Verdicts, signs_of

rng = np.random.default_rng(0)
USUAL = rng.normal([3.0, 1.5, -4.0, 7.0], [0.5, 0.3, 1.0, 0.8], (1000, 4))
ONES = np.ones(1000)
ORCHARD = Path(__file__).parents[2] / "examples" / "orchard"


def verdicts(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> Verdicts:
    return Verdicts(sure, right, np.arange(len(sure)), np.full(len(sure), ""))


def trial(sure: NDArray[np.float64], right: NDArray[np.bool_], signs: NDArray[np.float64] | None) -> Trial:
    own = verdicts(sure, right)
    return Trial({"field": own, "record": own}, signs)


def test_signs_are_what_the_page_says() -> None:
    lengths, fields = np.array([2, 0, 3]), np.array([2.0, 0.0, 1.0])
    p, score = np.array([0.5, 1.0, 0.25, 0.5, 0.0]), np.array([1.0, 3.0, -np.inf, 5.0, 1.0])
    found = signs_of(lengths, fields, p, score)
    doubt = (np.log(4) + np.log(2) - np.log(1e-6)) / 3
    np.testing.assert_allclose(found[0], [np.log(2), np.log(2), np.log(0.001 + np.log(2) / 2), 2.0])
    np.testing.assert_allclose(found[1], [0.0, 0.0, np.log(0.001), 0.0])
    np.testing.assert_allclose(found[2], [np.log(3), 0.0, np.log(0.001 + doubt), (-1000 + 6) / 3])


def test_distances_are_those_of_scipy_and_one_text_in_a_hundred_is_beyond() -> None:
    mahalanobis = pytest.importorskip("scipy.spatial.distance").mahalanobis
    usual = Familiarity.learn(USUAL, ONES)
    inverse = np.linalg.inv(np.cov(USUAL.T, bias=True) + 1e-6 * np.eye(4))
    expected = [mahalanobis(row, USUAL.mean(axis=0), inverse) ** 2 for row in USUAL[:50]]
    np.testing.assert_allclose(usual.distances(USUAL[:50]), expected, rtol=1e-5)
    assert sum(one is not None for one in usual.judge(USUAL)) == pytest.approx(10, abs=1)


def test_weights_are_copies() -> None:
    weight = rng.integers(1, 4, 300).astype(np.float64)
    weighted = Familiarity.learn(USUAL[:300], weight)
    copied = Familiarity.learn(np.repeat(USUAL[:300], weight.astype(int), axis=0), np.ones(int(weight.sum())))
    np.testing.assert_allclose(weighted.mean, copied.mean, rtol=1e-6)
    np.testing.assert_allclose(weighted.inverse, copied.inverse, rtol=1e-6)
    assert weighted.limit == pytest.approx(copied.limit, rel=0.05)
    p, right = rng.random(300), rng.random(300) < 0.5
    one, other = (
        isotonic(p, right, weights=weight, least=1),
        isotonic(np.repeat(p, weight.astype(int)), np.repeat(right, weight.astype(int)), least=1),
    )
    np.testing.assert_allclose(one.raw, other.raw, atol=1e-6)
    np.testing.assert_allclose(one.calibrated, other.calibrated, atol=1e-6)


@pytest.mark.parametrize(("sign", "far", "reason"), [(1, -9, "few fields"), (3, -9, "little known"), (2, 9, "unsure")])
def test_the_reason_is_the_sign_that_is_far_off(sign: int, far: float, reason: str) -> None:
    usual = Familiarity.learn(USUAL, ONES)
    strange = usual.mean + far * np.eye(4)[sign] / np.sqrt(usual.inverse[sign, sign])
    (found,) = usual.judge(strange[None])
    assert found is not None
    assert found.reason == reason
    assert found.distance == pytest.approx(81 / usual.limit, abs=0.02)


def test_a_sign_that_tells_right_from_wrong_is_used_and_an_idle_one_is_not() -> None:
    n = 20_000
    signs = rng.normal(0, 1, (n, 4))
    p = rng.uniform(0.05, 0.95, n)
    truth = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + 1.5 * signs[:, 3] - 0.5)))
    right = rng.random(n) < truth
    found = learn_calibration([trial(p, right, signs)])
    correction = found.corrections["record"]
    assert correction.slope == pytest.approx(1.0, abs=0.08)
    np.testing.assert_allclose(correction.weights, [0, 0, 0, 1.5], atol=0.08)
    usual = found.usual
    assert usual is not None
    near = usual.distances(signs) <= usual.limit
    assert np.abs(found.of_records(p, signs) - truth)[near].mean() < 0.02


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9), st.integers(0, 2**16))
@settings(deadline=None, derandomize=True, max_examples=50)
def test_a_more_probable_answer_to_one_text_is_never_less_sure(ps: list[float], seed: int) -> None:
    draw = np.random.default_rng(seed)
    right = draw.random(200) < draw.random()
    found = learn_calibration([trial(draw.random(200), right, draw.normal(0, 1, (200, 4)))])
    signs = np.repeat(draw.normal(0, 3, (1, 4)), len(ps), axis=0)
    for sure in (found.of_records(np.array(sorted(ps)), signs), found.of_fields(np.array(sorted(ps)), signs)):
        assert (np.diff(sure) >= 0).all()
        assert ((sure >= 0) & (sure <= 1)).all()


def test_no_answer_to_an_unfamiliar_text_is_surer_than_those_came_true() -> None:
    signs = USUAL.copy()
    signs[:10] += 50.0
    right = np.arange(1000) >= 10  # only the ten strange ones are wrong
    found = learn_calibration([trial(np.full(1000, 0.9), right, signs)])
    assert found.of_records(np.array([0.99]), signs[:1])[0] < 0.15
    assert found.of_records(np.array([0.99]), signs[500:501])[0] > 0.9
    assert [one is not None for one in found.unfamiliar(signs[[0, 500]])] == [True, False]


@given(st.integers(1, 49), st.booleans(), st.integers(0, 2**16))
@settings(deadline=None, derandomize=True, max_examples=50)
def test_few_texts_never_change_the_order_of_answers(n: int, with_signs: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    p, right = draw.random(n).round(3), draw.random(n) < draw.random()
    found = learn_calibration([trial(p, right, draw.normal(0, 1, (n, 4)) if with_signs else None)])
    asked = np.linspace(0.001, 0.999, 500)
    usual = np.zeros((500, 4)) if found.usual is None else np.repeat(found.usual.mean[None], 500, axis=0)
    for sure in (found.of_records(asked, usual), found.of_fields(asked, usual)):
        assert (np.diff(sure) > 0).all()
    again = Calibration.from_header({"calibration": found.to_header()})
    assert again.of_records(asked, usual).tolist() == found.of_records(asked, usual).tolist()


@pytest.mark.parametrize("signs", [USUAL[:40], None])
def test_few_texts_say_whether_the_model_promises_too_much(signs: NDArray[np.float64] | None) -> None:
    p = np.full(40, 0.9)
    found = learn_calibration([trial(p, np.arange(40) % 2 == 0, signs)])
    assert found.of_records(np.array([0.9]), None if signs is None else signs[:1])[0] == pytest.approx(0.5, abs=0.1)


def test_many_answers_are_weighed_in_blocks_as_ever() -> None:
    p, right = rng.random(400), rng.random(400) < 0.7
    found = learn_calibration([trial(p, right, None)])
    block = isotonic(p, right)
    assert found.record is not None
    assert found.record.calibrated.tolist() == block.calibrated.tolist()


def test_the_limit_of_few_texts_is_the_one_that_one_normal_text_in_a_hundred_goes_beyond() -> None:
    draw, beyond = np.random.default_rng(3), []
    for _ in range(300):
        usual = Familiarity.learn(draw.normal(0, 20, (20, 4)), np.ones(20))  # wide: what is added to Σ hardly counts
        beyond.append((usual.distances(draw.normal(0, 20, (200, 4))) > usual.limit).mean())
    assert np.mean(beyond) == pytest.approx(0.01, abs=0.004)


def test_few_texts_that_are_all_alike_still_leave_room_for_another() -> None:
    usual = Familiarity.learn(np.repeat([[3.0, np.log(3), -4.0, 7.0]], 20, axis=0), np.ones(20))
    assert usual.judge(np.array([[3.0, np.log(2), -4.0, 7.0]])) == [None]  # one field fewer
    (found,) = usual.judge(np.array([[5.0, 0.0, -0.5, -1.0]]))
    assert found is not None


def test_what_nobody_has_tried_is_half_as_sure() -> None:
    found = learn_calibration([trial(np.full(20, 0.9), np.arange(20) >= 4, USUAL[:20])])
    assert found.of_records(np.array([0.99]), USUAL[:1] + 50.0)[0] == pytest.approx(0.4)
    assert found.of_records(np.array([0.99]), USUAL[:1])[0] > 0.8


def test_very_few_texts_say_nothing_about_what_is_usual() -> None:
    few = learn_calibration([trial(np.linspace(0, 1, 9), np.arange(9) > 4, USUAL[:9])])
    assert few.usual is None
    assert few.unfamiliar(USUAL[:2]) == [None, None]
    assert learn_calibration([trial(np.linspace(0, 1, 300), np.arange(300) > 9, None)]).usual is None


def test_a_file_says_the_same_again_and_a_damaged_one_is_refused() -> None:
    found = learn_calibration([trial(rng.random(1000), rng.random(1000) < 0.7, USUAL)])
    header = found.to_header()
    again = Calibration.from_header({"calibration": header})
    p = rng.random(20)
    assert again.of_records(p, USUAL[:20]).tolist() == found.of_records(p, USUAL[:20]).tolist()
    assert again.of_fields(p, USUAL[:20]).tolist() == found.of_fields(p, USUAL[:20]).tolist()
    damaged: list[dict[str, Any]] = [
        {"usual": 3},
        {"usual": {**header["usual"], "mean": [1.0]}},
        {"usual": {**header["usual"], "limit": float("nan")}},
        {"corrections": 3},
        {"corrections": {"record": {"slope": 1}}},
        {"corrections": {"record": {**header["corrections"]["record"], "slope": -1}}},
        {"corrections": {"record": {**header["corrections"]["record"], "weights": [1.0] * (len(SIGNS) + 1)}}},
    ]
    for change in damaged:
        with pytest.raises(ModelFileError):
            Calibration.from_header({"calibration": {**header, **change}})


def test_a_correction_of_nothing_changes_nothing_much() -> None:
    same = Correction(1.0, np.zeros(4), 0.0)
    p = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(same(p, np.zeros((19, 4))), p, atol=0.003)


def test_prose_is_unfamiliar_to_an_extractor_of_adverts_and_the_extraction_says_so(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    fruits = ("Plum", "Pear", "Quince", "Medlar")

    def advert() -> Document:
        name, price = str(draw.choice(fruits)), str(draw.integers(10, 99))
        spans = (Span(0, len(name), "fruit"), Span(len(name) + 1, len(name) + 3, "price"))
        return Document.from_text(f"{name} {price}", spans)

    train, dev = [advert() for _ in range(60)], [advert() for _ in range(120)]
    extractor = es.Extractor(es.CRF().fit(es.Corpus.from_documents(train))).calibrate(dev)
    assert tried(extractor, dev).signs is not None
    path = tmp_path / "adverts.espalier"
    extractor.save(path)
    prose = "nobody had ever said that it would rain on us all through that long night by the sea"
    for one in (extractor, es.load(path)):
        found = one.extract(prose)
        assert found.unfamiliar is not None
        assert found.to_dict()["unfamiliar"] == {
            "distance": found.unfamiliar.distance,
            "reason": found.unfamiliar.reason,
        }
        usual = one.extract("Pear 35", k=2)
        assert usual.unfamiliar is None
        assert "unfamiliar" not in usual.to_dict()


def test_fields_of_one_text_share_its_signs() -> None:
    found = learn_calibration([trial(rng.random(1000), rng.random(1000) < 0.7, USUAL)])
    p, text = rng.random(60), rng.integers(0, 12, 60)
    signs = np.concatenate([USUAL[:11], USUAL[:1] + 50.0])  # the last one is unfamiliar
    assert found.of_fields(p, signs, text).tolist() == found.of_fields(p, signs[text]).tolist()


def test_twenty_adverts_calibrate_and_leave_the_order_and_strangers_are_told() -> None:
    train, test = (es.Corpus.from_documents(es.read(f"{ORCHARD}/{name}.txt")) for name in ("train", "test"))
    model = es.CRF(l2=0.5).fit(train)
    new = [document.text for document in es.read(f"{ORCHARD}/new.txt")]
    raw = np.array([found.confidence for found in es.Extractor(model).extract_many(new)])
    with pytest.warns(ResultWarning, match="20 texts say little about confidences; 50 and more are better"):
        extractor = es.Extractor(model).calibrate(test)
    found = list(extractor.extract_many(new))
    sure = np.array([one.confidence for one in found])
    familiar = np.array([one.unfamiliar is None for one in found])
    assert familiar.sum() >= 18
    assert np.argsort(sure[familiar]).tolist() == np.argsort(raw[familiar]).tolist()
    letter = "Dear Sir, please find enclosed our invoice for the repair of the roof, which is due by the end of May."
    for stranger in (letter, "def f(x): return x"):
        answer = extractor.extract(stranger)
        assert answer.unfamiliar is not None
        assert answer.confidence < np.median(sure)
