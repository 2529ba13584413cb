"""A cascade of experts: who is asked, whose scores there are, what certificates say, and what thresholds cost."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_experts import NEW, RULES, X, Y

from espalier.corpus import Corpus
from espalier.decoders.probabilities import sureness
from espalier.errors import InputError
from espalier.estimators.cascade import trade_off
from espalier.estimators.ccm import CCM
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts
from espalier.estimators.hmm import HMM
from espalier.estimators.perceptron import Perceptron
from espalier.extract.extractor import Extractor
from espalier.loading import load
from espalier.potentials import ChainBatch
from espalier.server.memory import alone, joined

TEXTS = [" ".join(tokens) for tokens in [*X, *NEW[:2], ["who", "knows", "1900", ",", "Ada"], ["of", "of"]]]
TOKENS = [text.split() for text in TEXTS]


def cascade(ask_below: float | None, **options: object) -> Experts:
    return Experts([CRF(l2=3.0), HMM()], [1, 0.5], ask_below=ask_below, **options).fit(X, Y)  # type: ignore[arg-type]


def middle() -> float:
    """Return a threshold that asks about some of the sequences."""
    return float(np.median(sureness(cascade(None).experts_[0].potentials(TOKENS))))


def shares(batch: ChainBatch, i: int) -> np.ndarray:
    """Return the marginals of a sequence by enumeration."""
    chain = batch[i]
    T, L = chain.unary.shape
    found, total = np.zeros((T, L)), 0.0
    for y in product(range(L), repeat=T):
        weight = np.exp(chain.score(y) / chain.temperature)
        found[np.arange(T), list(y)] += weight
        total += weight
    return found / total if total else found


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 3), st.booleans())
def test_sureness_by_enumeration(seed: int, lengths: list[int], L: int, several: bool) -> None:
    rng = np.random.default_rng(seed)
    M, C = sum(lengths), 2 if several else 1

    def scores(*shape: int) -> np.ndarray:
        return np.where(rng.random(shape) < 0.15, -np.inf, 2 * rng.normal(size=shape))

    classes = rng.integers(0, C, M).astype(np.int32)
    batch = ChainBatch(np.cumsum([0, *lengths]), scores(M, L), scores(C, L, L), classes, scores(L), scores(L))
    expected = [float(np.prod(shares(batch, i).max(axis=1))) if T else 1.0 for i, T in enumerate(lengths)]
    np.testing.assert_allclose(sureness(batch), expected, rtol=1e-5, atol=1e-7)
    alone = [float(sureness(ChainBatch.of([batch[i]]))[0]) for i in range(len(lengths))]
    np.testing.assert_allclose(alone, expected, rtol=1e-5, atol=1e-7)


def test_the_first_expert_decides_what_it_is_sure_of() -> None:
    model, threshold = cascade(middle()), middle()
    first, every = model.experts_[0].potentials(TOKENS), cascade(None).potentials(TOKENS)
    sure = sureness(first) >= threshold
    assert 0 < sure.sum() < len(TOKENS)
    mixed = model.potentials(TOKENS)
    rng = np.random.default_rng(0)
    for i, tokens in enumerate(TOKENS):
        source = first if sure[i] else every
        assert mixed.sources[i] == ("first expert alone" if sure[i] else "product of 2 experts")
        for y in rng.integers(0, 3, (20, len(tokens))):
            assert mixed[i].score(y) == pytest.approx(source[i].score(y))
        assert model.predict([tokens])[0] == model.predict(TOKENS)[i]  # alone as in any batch
    assert model.potentials([]).sources == ()


def test_only_what_is_asked_goes_through_the_other_experts(monkeypatch: pytest.MonkeyPatch) -> None:
    model, seen = cascade(middle()), []
    inner = model.experts_[1].potentials
    monkeypatch.setattr(model.experts_[1], "potentials", lambda corpus: seen.append(len(corpus)) or inner(corpus))
    asked = sum(source != "first expert alone" for source in model.potentials(TOKENS).sources)
    assert seen == [asked]
    assert 0 < asked < len(TOKENS)
    model.ask_below = 0.0
    model.potentials(TOKENS)
    assert seen == [asked]


def test_nobody_or_everybody_is_asked() -> None:
    for ask_below, other in ((0.0, cascade(None).experts_[0]), (2.0, cascade(None))):
        model = cascade(ask_below)
        assert model.predict(TOKENS) == other.predict(TOKENS)
        assert model.predict_k(TOKENS, 3) == [
            [(y, pytest.approx(score)) for y, score in ranked] for ranked in other.predict_k(TOKENS, 3)
        ]


def test_each_kind_has_its_temperature() -> None:
    model = cascade(middle())
    model.temperature_, model.alone_temperature_ = 2.0, 0.5
    batch = model.potentials(TOKENS)
    assert set(batch.temperature.tolist()) == {2.0, 0.5}
    found = model.predict_marginals(TOKENS)
    for i, tokens in enumerate(TOKENS):
        if len(tokens) < 7:
            np.testing.assert_allclose(found[i], shares(batch, i), atol=1e-9)
    several = Extractor(model).extract_many(TEXTS)
    for text, extraction in zip(TEXTS, several, strict=True):
        assert extraction.confidence == pytest.approx(Extractor(model).extract(text).confidence, abs=1e-5)
    i = next(i for i, tokens in enumerate(TOKENS) if len(tokens) < 7)
    scores = [batch[i].score(y) / batch[i].temperature for y in product(range(3), repeat=len(TOKENS[i]))]
    best = np.exp(max(scores)) / np.exp(scores).sum()
    assert next(Extractor(model).extract_many(TEXTS[i:])).confidence == pytest.approx(best, abs=1e-5)


def test_temperatures_are_learned_for_each_kind() -> None:
    threshold = middle()
    held_out = [*X, *X], [*Y, *[[*y[:-3], "who", "who", "when"] for y in Y]]
    crf, hmm = CRF(l2=3.0).fit(X, Y), HMM().fit(X, Y)
    model = Experts.of([crf, hmm], [1, 0.5], held_out=held_out, ask_below=threshold)
    sure = sureness(crf.potentials(held_out[0])) >= threshold
    assert 0 < sure.sum() < len(sure)

    def part(which: np.ndarray) -> tuple[list[list[str]], list[list[str]]]:
        return tuple([one for one, kept in zip(side, which, strict=True) if kept] for side in held_out)  # type: ignore[return-value]

    alone = Experts.of([crf], [1], held_out=part(sure))
    asked = Experts.of([crf, hmm], [1, 0.5], held_out=part(~sure))
    assert model.alone_temperature_ == pytest.approx(alone.temperature_)
    assert model.temperature_ == pytest.approx(asked.temperature_)
    fixed = Experts.of([crf, hmm], [1, 0.5], held_out=held_out, ask_below=threshold, temperature=3.0)
    assert fixed.alone_temperature_ == fixed.temperature_ == 3.0


def test_under_rules_certificates_say_whose_scores_they_are_about(tmp_path: Path) -> None:
    model = CCM(Experts([CRF(l2=3.0), HMM()], [1, 0.5], ask_below=middle()), RULES, "fixed").fit(X, Y)
    extractor = Extractor(model)
    found = list(extractor.extract_many(TEXTS))
    said = [one.certificate.to_dict()["scores"] for one in found]
    assert set(said) == {"first expert alone", "product of 2 experts"}
    assert said == list(model.base_.potentials(TOKENS).sources)
    for i, (text, one) in enumerate(zip(TEXTS, found, strict=True)):
        assert one.certificate.proven
        single = extractor.extract(text, k=3)
        assert single.certificate == one.certificate
        assert single.certificate.to_dict() == json.loads(json.dumps(one.certificate.to_dict()))
        assert all(other.certificate.scores == said[i] for other in single.alternatives)
        assert model.predict_k([TOKENS[i]], 1)[0][0][1] == pytest.approx(one.certificate.bound, abs=1e-5)
        assert said[i] in str(model.explain(TOKENS[i]).after.certificate.scores)
    marginals = model.predict_marginals(TOKENS)
    assert all(np.allclose(own.sum(axis=1), 1) for own in marginals)
    extractor.save(tmp_path / "m.espalier")
    again = load(tmp_path / "m.espalier")
    assert again.model.base_.ask_below == middle()
    assert [(one.fields, one.confidence, one.certificate) for one in again.extract_many(TEXTS)] == [
        (one.fields, one.confidence, one.certificate) for one in found
    ]
    plain = Extractor(CCM(CRF(), RULES, "fixed").fit(X, Y)).extract(TEXTS[0])
    assert plain.certificate.scores == ""
    assert "scores" not in plain.certificate.to_dict()


def test_explanations_say_what_each_expert_adds() -> None:
    model = CCM(Experts([CRF(l2=3.0), HMM()], [1, 0.5], ask_below=middle()), RULES, "fixed").fit(X, Y)
    kinds = model.base_.potentials(TOKENS).sources
    extractor = Extractor(model)
    for tokens, text, kind in zip(TOKENS, TEXTS, kinds, strict=True):
        for found in (model.explain(tokens), extractor.explain(text)):
            assert len(found.experts) == (1 if kind == "first expert alone" else 2)
            assert sum(share.before for share in found.experts) == pytest.approx(found.before.model_score)
            assert sum(share.after for share in found.experts) == pytest.approx(found.after.model_score)
            assert f"Scores: {kind}." in str(found)
    both = Experts([CRF(), HMM()], [1, 0.5]).fit(X, Y)
    said = both.explain(NEW[0]).experts
    assert [(share.name, share.weight) for share in said] == [("0 CRF", 1.0), ("1 HMM", 0.5)]
    y = both.labels_.encode(both.predict(NEW[:1])[0])
    assert said[1].after == pytest.approx(0.5 * HMM().fit(X, Y).potentials(NEW)[0].score(y))
    assert CCM(CRF(), RULES, "fixed").fit(X, Y).explain(NEW[0]).experts == ()


def test_kept_scores_of_both_kinds_are_joined_again() -> None:
    model = CCM(Experts([CRF(l2=3.0), HMM()], [1, 0.5], ask_below=middle()), RULES, "fixed").fit(X, Y)
    batches = [model.potentials(TOKENS), *(model.potentials([tokens]) for tokens in TOKENS)]
    kept = [alone(batches[0], 0), *(alone(batch, 0) for batch in batches[2:])]
    whole, again = batches[0], joined(kept)
    assert again.sources == whole.sources
    assert again.temperature is None
    rng = np.random.default_rng(1)
    for i, tokens in enumerate(TOKENS):
        for y in rng.integers(0, 3, (10, len(tokens))):
            assert again[i].score(y) == pytest.approx(whole[i].score(y))


def test_a_trade_off_is_what_the_cascade_does() -> None:
    corpus = Corpus.from_tokens(TOKENS[: len(X)], Y)
    for model in (cascade(0.5), CCM(Experts([CRF(l2=3.0), Perceptron()], [1, 0.5]), RULES, "fixed").fit(X, Y)):
        found = trade_off(model, corpus, thresholds=[0.0, middle(), 0.9, 1.1])
        experts = getattr(model, "base_", model)
        assert found.alone.asked == found.rows[0].asked == 0
        assert found.always[1:] == found.rows[-1][1:]
        for row in found.rows:
            experts.ask_below = row.threshold
            answers = model.predict(corpus)
            assert row.whole == pytest.approx(np.mean([a == b for a, b in zip(answers, Y, strict=True)]))
            pairs = [a == b for one, gold in zip(answers, Y, strict=True) for a, b in zip(one, gold, strict=True)]
            assert row.tokens == pytest.approx(np.mean(pairs))
            kinds = experts.potentials(corpus).sources
            assert row.asked == pytest.approx(np.mean([kind != "first expert alone" for kind in kinds]))
        assert "threshold" in str(found)
        assert found.choose(1.0) == found.alone
        assert found.choose().whole >= found.always.whole - 0.001


def test_the_threshold_loses_no_more_than_allowed_from_there_on() -> None:
    corpus = Corpus.from_tokens(TOKENS[: len(X)], Y)
    found = trade_off(cascade(0.5), corpus)
    shapes = [(0.1, 0.80), (0.2, 0.91), (0.3, 0.85), (0.4, 0.899), (0.5, 0.90)]
    rows = tuple(found.alone._replace(threshold=t, asked=t, whole=w) for t, w in shapes)
    made = type(found)(rows, found.alone._replace(whole=0.7), found.always._replace(whole=0.9))
    assert made.choose(0.001).threshold == 0.4  # not 0.2, which is luck
    assert made.choose(0.0).threshold == 0.5
    assert made.choose(0.06).threshold == 0.2


def test_bad_input() -> None:
    for value in (-0.1, float("nan"), "low"):
        with pytest.raises(InputError, match="ask_below is"):
            cascade(value)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="HMM is no cascade"):
        trade_off(HMM().fit(X, Y), X, Y)
    with pytest.raises(InputError, match="labelled sequences"):
        trade_off(cascade(0.5), X)
