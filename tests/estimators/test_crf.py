"""The CRF as a scikit-learn estimator, as a learner, and with bad input."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.corpus import Corpus
from espalier.errors import InputError, LabelError, ModelFileError, NotFittedError
from espalier.estimators.crf import CRF
from espalier.estimators.persist import load

X = [
    ["Anna", "Berg", "writes", "songs", "."],
    ["On", "Monday", "Carl", "Dahl", "sings", "."],
    ["Songs", "by", "Eva", "Falk", "on", "Friday", "."],
    ["Gus", "Holm", "and", "Ida", "Juhl", "meet", "on", "Sunday", "."],
    ["Nobody", "sings", "."],
    ["."],
]
Y = [
    ["B-name", "I-name", "O", "O", "O"],
    ["O", "B-day", "B-name", "I-name", "O", "O"],
    ["O", "O", "B-name", "I-name", "O", "B-day", "O"],
    ["B-name", "I-name", "O", "B-name", "I-name", "O", "O", "B-day", "O"],
    ["O", "O", "O"],
    ["O"],
]
FEATURES = ["bias", "lower", "shape[-1,0,1]", "suffix3"]


@pytest.fixture(scope="module")
def model():
    return CRF(FEATURES, l2=0.1).fit(X, Y)


def test_learns_its_training_data(model):
    assert model.predict(X) == Y
    assert model.score(X, Y) == 1.0
    assert model.predict([["Kim", "Lund", "sings", "on", "Tuesday", "."]])[0][:2] == ["B-name", "I-name"]


def test_marginals_and_alternatives(model):
    marginals = model.predict_marginals(X)
    assert [m.shape for m in marginals] == [(len(x), 4) for x in X]
    for m in marginals:
        np.testing.assert_allclose(m.sum(axis=1), 1.0)
    alternatives = model.predict_k(X, 3)
    assert [a[0][0] for a in alternatives] == Y
    assert all(a[0][1] >= a[1][1] for a in alternatives if len(a) > 1)
    # No alternative breaks the tags' validity: I-name only after a name.
    for sequence in alternatives:
        for labels, _ in sequence:
            assert all(a.endswith("name") for a, b in zip(["O", *labels], labels, strict=False) if b == "I-name")


def test_one_label_one_token():
    model = CRF(FEATURES).fit([["x"]], [["only"]])
    assert model.predict([["y"], [], ["x", "z"]]) == [["only"], [], ["only", "only"]]


def test_empty_sequences_are_ordinary():
    model = CRF(FEATURES).fit([[], *X, []], [[], *Y, []])
    assert model.predict([[], X[0], []]) == [[], Y[0], []]
    assert model.predict([]) == []
    assert model.predict_marginals([]) == []
    assert model.predict_k([], 2) == []


def test_ready_attributes_as_for_crfsuite():
    attributes = [[["w=" + w, "bias"] for w in x] for x in X]
    mapped = [[{"w": w, "bias": 1.0} for w in x] for x in X]
    a, b = CRF().fit(attributes, Y), CRF().fit(mapped, Y)
    assert a.predict(attributes) == b.predict(mapped)
    assert a.minimum_.value == pytest.approx(b.minimum_.value, rel=1e-9)
    with pytest.raises(InputError, match="ready attributes"):
        a.predict(X)
    assert ("w=Anna", "B-name") in a.weights()


def test_real_valued_attributes_scale_scores():
    heavy = [[{"w=" + w: 2.0} for w in x] for x in X]
    model = CRF().fit(heavy, Y)
    one, two = (model.potentials([[{"w=Anna": v}]]).unary for v in (1.0, 2.0))
    np.testing.assert_allclose(2 * one, two)


def test_partial_labels_help():
    partial = [[None if k % 3 else label for k, label in enumerate(y)] for y in Y]
    model = CRF(FEATURES, l2=0.1).fit(X, partial, labels=["B-name", "I-name", "B-day", "O"])
    known = [(p, y) for ps, ys in zip(model.predict(X), partial, strict=True) for p, y in zip(ps, ys, strict=True) if y]
    assert sum(p == y for p, y in known) / len(known) > 0.9


def test_sample_weights_are_repetitions():
    doubled = CRF(FEATURES, delta=1e-9, epsilon=1e-8).fit([*X, X[1]], [*Y, Y[1]])
    weighted = CRF(FEATURES, delta=1e-9, epsilon=1e-8).fit(X, Y, sample_weight=[1, 2, 1, 1, 1, 1])
    assert doubled.minimum_.value == pytest.approx(weighted.minimum_.value, rel=1e-6)
    with pytest.raises(InputError, match="one for each sequence"):
        CRF().fit(X, Y, sample_weight=[1, 2])
    with pytest.raises(InputError, match="not negative"):
        CRF().fit(X, Y, sample_weight=[-1] * 6)


def test_l1_gives_sparse_weights():
    dense, sparse = CRF(FEATURES).fit(X, Y), CRF(FEATURES, l1=0.5, l2=0.0).fit(X, Y)
    assert len(sparse.weights()) < len(dense.weights()) / 2


def test_threads_do_not_change_a_digit():
    a, b = (CRF(FEATURES, threads=t).fit(X * 50, Y * 50) for t in (1, 2))
    assert np.array_equal(a.weights_.w, b.weights_.w)
    assert np.array_equal(a.weights_.trans, b.weights_.trans)


def test_save_and_load(model, tmp_path):
    path = tmp_path / "m.espalier"
    model.save(path)
    again = load(path)
    assert again.predict(X) == Y
    assert again.get_params()["l2"] == 0.1
    assert again.training_digest_ == model.training_digest_
    for a, b in zip(again.predict_marginals(X), model.predict_marginals(X), strict=True):
        assert np.array_equal(a, b)
    given = CRF().fit([[["w=" + w] for w in x] for x in X], Y)
    given.save(path)
    assert load(path).predict([[["w=Anna"]]]) == given.predict([[["w=Anna"]]])
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ModelFileError):
        load(path)


def test_unknown_kind_of_model(tmp_path):
    from espalier import store

    path = tmp_path / "odd.espalier"
    store.save(path, {"kind": "crff", "parameters": {}}, {})
    with pytest.raises(ModelFileError, match="did you mean 'crf'"):
        load(path)
    store.save(path, {"kind": "crf", "parameters": {}, "labels": ["a"], "training_data": ""}, {})
    with pytest.raises(ModelFileError, match="lacks"):
        load(path)


class TestScikitLearn:
    def test_clone(self):
        from sklearn.base import clone

        copy = clone(CRF(FEATURES, l2=3.0))
        assert copy.get_params() == CRF(FEATURES, l2=3.0).get_params()
        assert not hasattr(copy, "labels_")

    def test_cross_validation_on_lists_and_corpora(self):
        from sklearn.model_selection import KFold, cross_val_score

        corpus = Corpus.from_tokens(X * 4, Y * 4)
        on_lists = cross_val_score(CRF(FEATURES), X * 4, Y * 4, cv=KFold(3))
        on_corpus = cross_val_score(CRF(FEATURES), corpus, cv=KFold(3))
        np.testing.assert_allclose(on_lists, on_corpus)
        assert on_corpus.min() > 0.9

    def test_grid_search_in_a_pipeline(self):
        from sklearn.model_selection import GridSearchCV, KFold
        from sklearn.pipeline import Pipeline

        search = GridSearchCV(Pipeline([("crf", CRF(FEATURES))]), {"crf__l2": [0.1, 100.0]}, cv=KFold(2))
        search.fit(X * 4, Y * 4)
        assert search.best_params_ == {"crf__l2": 0.1}
        assert search.predict(X) == Y

    def test_wrong_parameter_names_are_suggested(self):
        with pytest.raises(InputError, match="did you mean 'l2'"):
            CRF().set_params(l22=1.0)

    def test_repr_shows_what_differs(self):
        assert repr(CRF(l2=2.0)) == "CRF(l2=2.0)"


class TestBadInput:
    def test_nothing_to_learn_from(self):
        for empty in ([], [[]], [[], []]):
            with pytest.raises(InputError, match="empty"):
                CRF().fit(empty, [[] for _ in empty])
        with pytest.raises(InputError, match="labels"):
            CRF().fit(X)
        with pytest.raises(LabelError, match="every label is unknown"):
            CRF().fit([["a"]], [[None]], labels=["x"])

    def test_not_fitted(self):
        for call in (CRF().predict, CRF().predict_marginals, CRF().potentials, CRF().transform):
            with pytest.raises(NotFittedError, match="fit first"):
                call(X)

    def test_lengths_differ(self):
        with pytest.raises(InputError, match=r"sequence 0 has 5 tokens but 1 label$"):
            CRF().fit(X[:1], [["O"]])
        with pytest.raises(InputError, match="6 sequences but 1 label lists"):
            CRF().fit(X, [["O"]])

    def test_unknown_label(self):
        with pytest.raises(LabelError, match="did you mean"):
            CRF().fit(X, Y, labels=["B-nam", "I-name", "B-day", "O"])
        with pytest.raises(LabelError, match="sequence 0, token 0"):
            CRF().fit([["a"]], [["naem"]], labels=["name", "O"])

    def test_a_label_never_seen_is_possible_but_never_wins(self):
        model = CRF(FEATURES, l2=0.1).fit(X, Y, labels=["B-name", "I-name", "B-day", "I-day", "O"])
        assert model.predict(X) == Y
        assert model.predict_marginals(X)[0].shape == (5, 5)

    @pytest.mark.parametrize(
        "params",
        [
            {"l2": -1.0},
            {"l2": float("nan")},
            {"l2": "x"},
            {"l1": -0.1},
            {"transitions": "some"},
            {"max_iterations": 2.5},
            {"max_iterations": None},
            {"period": 0},
            {"epsilon": float("nan")},
        ],
    )
    def test_parameters_that_make_no_sense(self, params):
        with pytest.raises(InputError, match=next(iter(params))):
            CRF(**params).fit(X, Y)

    def test_tokens_that_are_not_strings(self):
        with pytest.raises(InputError, match="strings"):
            CRF().fit([[1, 2]], [["O", "O"]])
        with pytest.raises(InputError, match=r"is a string, not a list of tokens; Document.from_text cuts"):
            CRF().fit(["two words"], [["O"]])
        with pytest.raises(InputError, match="expected a Corpus"):
            CRF().fit("text", None)

    def test_nan_attributes(self):
        with pytest.raises(InputError, match="has the value nan"):
            CRF().fit([[{"a": float("nan")}]], [["O"]])

    def test_a_hundred_thousand_tokens(self, model):
        tokens = (X[3] * 12_000)[:100_000]
        labels = model.predict([tokens])[0]
        assert len(labels) == 100_000
        assert labels[9:18] == Y[3]


class TestWhatKernelsFollowByAddress:
    """Arrays that would lead a kernel astray are refused before it sees them."""

    def test_a_model_file_whose_parts_do_not_fit(self, model, tmp_path):
        from espalier import store

        path = tmp_path / "m.espalier"
        model.save(path)
        header, arrays = store.load(path)
        for name, broken in {
            "pairs/ptr": arrays["pairs/ptr"] * 10**9,
            "pairs/label": np.full_like(arrays["pairs/label"], 30),
            "weights": arrays["weights"].astype(np.float16),
            "trans": arrays["trans"][:1],
        }.items():
            store.save(path, header, {**arrays, name: broken})
            with pytest.raises(ModelFileError):
                load(path)

    def test_a_matrix_of_another_model(self, model):
        other = CRF(["lower"]).fit(X[:1], Y[:1])
        matrix, indptr = other.transform(X)
        with pytest.raises(InputError, match="attributes"):
            model.weights_.tag(matrix, indptr)

    def test_reference_arrays_of_any_type(self, model):
        from espalier.features.matrix import FeatureMatrix

        matrix, indptr = model.transform(X)
        wide = FeatureMatrix(
            matrix.n_attributes, matrix.token_indptr.astype(np.int32), matrix.token_refs.astype(np.int64),
            matrix.bundle_indptr, matrix.bundle_ids.astype(np.int64),
        )  # fmt: skip
        assert np.array_equal(model.weights_.tag(wide, indptr)[0], model.weights_.tag(matrix, indptr)[0])
        with pytest.raises(InputError, match="refers to number"):
            FeatureMatrix(1, np.array([0, 1]), np.array([7]), np.array([0]), np.array([], int))
        with pytest.raises(InputError, match="do not rise"):
            FeatureMatrix(1, np.array([0, 3]), np.array([0]), np.array([0]), np.array([], int))


@pytest.mark.parametrize("scale", [1e5, 1e10, 1e16])
def test_large_values_still_train(scale):
    model = CRF().fit([[{"a": scale}, {"b": scale}]], [["x", "y"]])
    assert model.predict([[{"a": scale}, {"b": scale}]]) == [["x", "y"]]


def test_empty_sequences_of_ready_attributes():
    model = CRF().fit([[["a"], ["b"]]], [["x", "y"]])
    assert model.predict([[]]) == [[]]


@pytest.mark.parametrize("value", [None, [1], 10**400])
def test_values_that_are_no_numbers(value):
    with pytest.raises(InputError, match="expected a finite number"):
        CRF().fit([[{"a": value}]], [["x"]])
