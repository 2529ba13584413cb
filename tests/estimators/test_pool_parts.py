"""A pool in parts: what is learned does not depend on the parts, nor on what maps over them; `jobs` says what to do."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import espalier as es
from espalier.cluster import ordered_map
from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators import unlabelled
from espalier.estimators.persist import pack
from espalier.recipes import train

WHO, WHERE = ["Ann", "Bob", "Cy", "Eve"], ["Ulm", "Pau", "Rome", "Ely"]
X = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome", "1990"], ["Cy", "near", "Ely"]]
Y = [["who", "O", "where"], ["who", "O", "where", "year"], ["who", "O", "where"]]
POOL = [[who, word, where, "2001"] for who in WHO for word in ("in", "of", "at") for where in WHERE] + [[]]
RULES = "Once: each field once\nYear: token ~ /[0-9]+/ -> year"

LEARNERS = {
    "codl": es.CoDL(es.CCM(es.HMM(), RULES), relearn_penalties=True),
    "k best": es.CoDL(es.CCM(es.HMM(), RULES), k=3, weighting="score", cycles=2),
    "pool": es.CoDL(es.CCM(es.CRF(["lower"]), RULES), update="pool", cycles=2),
    "bare": es.CoDL(es.HMM(), cycles=2),
    "hard em": es.EM(es.HMM(), hard=True, iterations=3),
    "words": es.WordLearner(es.CCM(es.CRF(["lower"]), RULES), clusters=[3], dimensions=2),
}


class Counted:
    """The built-in map, which counts the parts that it has met."""

    def __init__(self) -> None:
        self.parts: list[int] = []

    def __call__(self, function, parts):
        several = list(parts)
        self.parts.append(len(several))
        return map(function, several)


def learned(model) -> tuple[dict, dict[str, bytes], str]:
    """What a model file would hold, and the history."""
    header, arrays = pack(model.fit(X, Y, unlabelled=POOL))
    return header, {name: array.tobytes() for name, array in arrays.items()}, repr(model.history_)


@pytest.mark.parametrize("name", LEARNERS)
def test_parts_change_nothing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    whole = learned(clone(LEARNERS[name]))
    monkeypatch.setattr(unlabelled, "TOKENS_A_PART", 30)
    counted = Counted()
    assert learned(clone(LEARNERS[name]).set_params(map=counted)) == whole
    assert counted.parts
    assert set(counted.parts) == {6}


@pytest.mark.parametrize("name", ["codl", "pool", "hard em"])
def test_processes_change_nothing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    whole = learned(clone(LEARNERS[name]))
    monkeypatch.setattr(unlabelled, "TOKENS_A_PART", 60)
    assert learned(clone(LEARNERS[name]).set_params(map=partial(ordered_map, jobs=2))) == whole


def test_expected_counts_of_parts_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = es.EM(es.HMM(), iterations=3).fit(X, Y, unlabelled=POOL)
    monkeypatch.setattr(unlabelled, "TOKENS_A_PART", 30)
    parts = es.EM(es.HMM(), iterations=3).fit(X, Y, unlabelled=POOL)
    assert [step.objective for step in parts.history_] == pytest.approx([step.objective for step in whole.history_])
    np.testing.assert_allclose(
        np.concatenate(parts.predict_marginals(POOL)), np.concatenate(whole.predict_marginals(POOL)), atol=1e-12
    )


def test_only_one_part_is_worked_on_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the built-in map: the scores of a pool are never all there."""
    monkeypatch.setattr(unlabelled, "TOKENS_A_PART", 30)
    seen: list[int] = []
    potentials = es.HMM.potentials

    def watched(self, corpus):
        if isinstance(corpus, Corpus):
            seen.append(corpus.n_tokens)
        return potentials(self, corpus)

    monkeypatch.setattr(es.HMM, "potentials", watched)
    es.CoDL(es.CCM(es.HMM(), RULES), cycles=1).fit(X, Y, unlabelled=POOL)
    assert max(seen) < 60
    assert sum(seen) == sum(map(len, POOL))


def test_a_map_is_no_part_of_a_file_or_a_repr(tmp_path) -> None:
    model = es.CoDL(es.CCM(es.HMM(), RULES), map=partial(ordered_map, jobs=2)).fit(X, Y, unlabelled=POOL)
    assert "map" not in pack(model)[0]["parameters"]
    assert "map" not in repr(clone(es.CoDL(es.HMM())))
    model.save(tmp_path / "m.espalier")
    assert es.load(tmp_path / "m.espalier").model.map is map


def test_parts_know_only_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unlabelled, "TOKENS_A_PART", 30)
    pool = Corpus.from_tokens(POOL)
    parts = [*unlabelled.in_parts(lambda part: part, pool, map)]
    assert [tokens for part in parts for tokens in part] == POOL
    assert all(set(part.types) == {word for tokens in part for word in tokens} for part in parts)
    monkeypatch.undo()
    assert [*unlabelled.in_parts(id, pool, map)] == [id(pool)]


# What processes did before


@pytest.mark.parametrize(
    ("model", "instead"),
    [
        (es.CRF(jobs=2), "threads"),
        (es.EM(jobs=2), "map="),
        (es.CoDL(es.HMM(), jobs=2), "map="),
        (es.PosteriorRegularization(es.HMM(), RULES, jobs=-1), "threads"),
    ],
)
def test_jobs_says_what_to_do_instead_and_learns(model, instead: str) -> None:
    """The result is that without jobs; copies and parameters still know it."""
    more = {} if isinstance(model, es.CRF) else {"unlabelled": POOL}
    with pytest.warns(FutureWarning, match=rf"jobs={model.jobs} has no effect.*{instead}") as told:
        model.fit(X, Y, **more)
    assert told[0].filename == __file__
    assert clone(model).get_params()["jobs"] == model.jobs
    plain = clone(model).set_params(jobs=None).fit(X, Y, **more)
    assert plain.predict(POOL) == model.predict(POOL)


def test_jobs_of_functions_says_so_too() -> None:
    with pytest.warns(FutureWarning, match="jobs=2 has no effect"):
        found = es.discover((X, Y), Y, jobs=2)
    assert found.rules == es.discover((X, Y), Y).rules
    documents = [es.Document.from_tokens(["plum"], ["fruit"])]
    with pytest.warns(FutureWarning, match="jobs=2 has no effect"):
        train(documents, jobs=2)


def test_a_map_that_loses_parts_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unlabelled, "TOKENS_A_PART", 30)
    with pytest.raises(InputError, match=r"map returned 5 results for 6 parts"):
        es.CoDL(es.HMM(), map=lambda function, parts: [function(part) for part in parts][1:]).fit(X, Y, unlabelled=POOL)
    with pytest.raises(InputError, match=r"map is 3; expected a function"):
        es.EM(map=3).fit(X, Y, unlabelled=POOL)


def test_an_error_says_in_which_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unlabelled, "TOKENS_A_PART", 30)

    def refusing(part: Corpus) -> int:
        if "Eve" in part.types:
            raise InputError("sequence 0 is odd")
        return len(part)

    pool, found = Corpus.from_tokens(POOL), []
    with pytest.raises(InputError, match=r"in the part that begins with sequence 32: sequence 0 is odd"):
        found.extend(unlabelled.in_parts(refusing, pool, map))
    assert sum(found) == 32
    assert sum(unlabelled.in_parts(len, pool, map)) == len(POOL)
