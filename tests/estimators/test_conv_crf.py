"""`ConvCRF`: learning, labels, files, and texts of any length."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import espalier as es
from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.estimators.persist import pack, unpack
from espalier.models.conv import ScoringNet, initial

NAMES = ["Ann", "Bob", "Eve", "Ada", "Max", "Tom"]
PLACES = ["Ulm", "Rome", "Pau", "Bath", "Oslo", "Graz"]
SMALL = {"channels": 8, "dilations": (1, 2), "embedding": 8, "buckets": 256}


def sentences(n, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        X.append([str(rng.choice(NAMES)), "Lee", str(rng.choice(["in", "of"])), str(rng.choice(PLACES)), "."])
        y.append(["B-who", "I-who", "O", "B-where", "O"])
    return X, y


def small(**options):
    return es.ConvCRF(**SMALL | {"epochs": 20, "crf_epochs": 3, "min_steps": 0, "rate": 0.01} | options)


@pytest.fixture(scope="module")
def fitted():
    return small().fit(*sentences(60))


def test_it_learns(fitted) -> None:
    X, y = sentences(30, seed=1)
    assert fitted.score(X, y) == 1.0
    assert [p.phase for p in fitted.history_] == ["tokens"] * 20 + ["sequences"] * 3
    assert fitted.history_[-1].loss < 0.2 * fitted.history_[0].loss


def test_what_tags_forbid_is_forbidden_as_in_a_crf(fitted) -> None:
    X, y = sentences(60)
    crf = es.CRF(["lower"]).fit(X, y)
    ours, theirs = fitted.potentials(X), crf.potentials(X)
    assert fitted.labels_ == crf.labels_
    np.testing.assert_array_equal(np.isneginf(ours.trans), np.isneginf(theirs.trans))
    np.testing.assert_array_equal(np.isneginf(ours.start), np.isneginf(theirs.start))
    assert np.isneginf(ours.trans).any()
    assert np.isfinite(ours.end).all()


@pytest.mark.parametrize("crf_epochs", [0, 2])
def test_any_number_of_threads_gives_the_same_bits(crf_epochs) -> None:
    X, y = sentences(40)
    models = [small(epochs=2, crf_epochs=crf_epochs, threads=n).fit(X, y) for n in (1, 2, 5)]
    for model in models[1:]:
        for name, w in models[0].net_.weights.items():
            np.testing.assert_array_equal(model.net_.weights[name], w)


def test_a_seed_decides(fitted) -> None:
    X, y = sentences(20)
    one, other, third = (small(epochs=1, crf_epochs=0, seed=s).fit(X, y).net_.weights["output"] for s in (1, 1, 2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, third)


@pytest.mark.parametrize(("storage", "error"), [("int8", 0.2), ("float16", 0.02), ("float32", 0.0)])
def test_files(fitted, tmp_path, storage, error) -> None:
    X, _ = sentences(30, seed=2)
    fitted.set_params(storage=storage).save(tmp_path / "net.espalier")
    again = es.load(tmp_path / "net.espalier").model
    assert again.get_params() | {"progress": None} == fitted.get_params()
    assert again.predict(X) == fitted.predict(X)
    difference = np.abs(again.potentials(X).unary - fitted.potentials(X).unary).max()
    rounding = 1e-5  # products of matrices round by what stands beside a word when it is first met
    assert difference <= error + rounding
    assert (difference <= rounding) == (error == 0)
    np.testing.assert_array_equal(again.potentials(X).trans, fitted.potentials(X).trans)


def test_a_file_in_bytes_is_small(fitted, tmp_path) -> None:
    sizes = []
    for storage in ("int8", "float16", "float32"):
        fitted.set_params(storage=storage).save(tmp_path / "net.espalier")
        sizes.append((tmp_path / "net.espalier").stat().st_size)
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_damaged_net_is_not_loaded(fitted) -> None:
    fitted.storage = "int8"
    header, arrays = pack(fitted)
    unpack(header, arrays)
    for wrong in ({"block0": arrays["block0"][:-1]}, {"table/scale": arrays["table/scale"][:-1]}):
        with pytest.raises(ModelFileError, match="of the size"):
            unpack(header, arrays | wrong)
    with pytest.raises(ModelFileError, match="other labels"):
        unpack(header | {"labels": header["labels"][:-1]}, arrays)
    with pytest.raises(ModelFileError, match="kernel is 2"):
        unpack(header | {"shape": header["shape"] | {"kernel": 2}}, arrays)


def test_a_batch_changes_nothing(fitted) -> None:
    """Lengths from 0 to 300, in any order and in any company."""
    rng = np.random.default_rng(0)
    words = [*NAMES, *PLACES, "in", "żółw", "日本", "x" * 5000, "🙂", "\ud800", ""]
    X = [[words[k] for k in rng.integers(0, len(words), n)] for n in [0, 1, 2, 3, 299, 300, 17, 0, 64, *range(40)]]
    together = fitted.potentials(X)
    assert np.isfinite(together.unary).all()
    order = rng.permutation(len(X))
    shuffled = fitted.potentials([X[i] for i in order])
    for place, i in enumerate(order.tolist()):
        np.testing.assert_allclose(shuffled[place].unary, together[i].unary, rtol=1e-4, atol=1e-4)
    alone = np.concatenate([fitted.potentials([x]).unary for x in X])
    np.testing.assert_allclose(alone, together.unary, rtol=1e-4, atol=1e-4)
    assert [len(found) for found in fitted.predict(X)] == [len(x) for x in X]


def test_no_text_at_all(fitted) -> None:
    assert fitted.predict([]) == []
    assert fitted.predict([[]]) == [[]]
    assert fitted.potentials([[]]).unary.shape == (0, len(fitted.labels_))


def test_one_token_and_one_label() -> None:
    model = small(epochs=2).fit([["a"]], [["x"]])
    assert model.predict([["b", "c"], ["a"]]) == [["x", "x"], ["x"]]


def test_spaces_are_read() -> None:
    """Two dots: with a space before it a dot is b, else a."""
    together, apart = es.Document.from_text("x. x."), es.Document.from_text("x . x.")
    tags = [["O", "B-a", "O", "B-a"], ["O", "B-b", "O", "B-a"]]
    corpus = Corpus.from_documents([together, apart] * 20).with_labels(tags * 20)
    model = small(epochs=40).fit(corpus)
    assert model.predict([together, apart]) == tags


def test_partial_labels_are_enough() -> None:
    X, y = sentences(60)
    rng = np.random.default_rng(0)
    some = [[None if rng.random() < 0.5 else tag for tag in tags] for tags in y]
    assert small().fit(X, some).score(*sentences(30, seed=1)) == 1.0


def test_weights_of_zero_are_no_examples() -> None:
    X, y = sentences(60)
    wrong = [["O"] * 5] * 60
    model = small().fit(X + X, y + wrong, sample_weight=[1.0] * 60 + [0.0] * 60)
    assert model.score(X, y) == 1.0


def test_held_out_data_choose_the_epoch() -> None:
    X, y = sentences(30)
    dev = sentences(10, seed=3)
    seen = []
    model = small(patience=2, progress=seen.append).fit(X, y, dev=dev)
    scores = [p.score for p in model.history_]
    assert seen == model.history_
    assert model.score(*dev) == max(scores)
    assert len(scores) < 23
    assert {p.phase for p in seen} == {"tokens", "sequences"}


def test_a_moving_average() -> None:
    X, y = sentences(60)
    last, mean = (small(average=a).fit(X, y) for a in (0.0, 0.9))
    assert mean.score(X, y) == 1.0
    assert not np.array_equal(last.net_.weights["output"], mean.net_.weights["output"])


def test_dropout_hides_what_it_says_and_is_stored() -> None:
    """The loss of the first step is that of the weights at the start, which `ScoringNet` knows without training."""
    X, y = sentences(8)
    plain = small(dropout=[0] * 5, epochs=1, crf_epochs=0).fit(X, y)
    shape = plain.net_.shape
    scores = ScoringNet(shape, initial(shape, np.random.default_rng(0))).scores(Corpus.from_tokens(X), 1)
    gold = [plain.labels_.names.index(tag) for tags in y for tag in tags]
    expected = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(gold)), gold]
    assert plain.history_[0].loss == pytest.approx(expected.mean(), rel=1e-5)
    assert small(epochs=1, crf_epochs=0).fit(X, y).history_[0].loss != pytest.approx(expected.mean(), rel=1e-3)
    header, arrays = pack(plain)
    assert unpack(header, arrays).get_params()["dropout"] == (0,) * 5
    del header["dropout"]  # as files were before it could be chosen
    assert unpack(header, arrays).get_params()["dropout"] == es.ConvCRF().dropout


def test_few_sequences_make_a_small_net_that_learns_sequences_at_once() -> None:
    model = es.ConvCRF(warm_start=True, seed=1).fit(*sentences(20))
    shape = model.net_.shape
    assert (shape.channels, shape.dilations, shape.embedding, shape.buckets) == (64, (1, 2, 4, 8), 32, 8192)
    assert {p.phase for p in model.history_} == {"sequences"}
    assert model.score(*sentences(30, seed=1)) == 1.0
    many = model.plan(2000)
    assert (many.epochs, many.crf_epochs, many.crf_rate, many.min_steps) == (14, 3, 5e-4, 1000)
    assert (es.ConvCRF(min_steps=7).plan(20).epochs, es.ConvCRF(channels=8).plan(20).epochs) == (14, 0)
    partly = es.ConvCRF(channels=8, epochs=0, crf_epochs=1, min_steps=0).fit(*sentences(2)).net_.shape
    assert (partly.channels, partly.embedding) == (8, 48)
    two = sentences(1000)
    assert model.set_params(epochs=1, min_steps=0).fit(two[0] * 2, two[1] * 2).net_.shape == shape  # a warm start


def test_a_warm_start_goes_on() -> None:
    X, y = sentences(60)
    model = small(warm_start=True).fit(X, y)
    before = model.history_[-1].loss
    model.set_params(epochs=1, crf_epochs=0, rate=1e-4).fit(X, y)
    assert model.history_[0].loss < 2 * before + 0.1
    assert model.fit(X, y, labels=["B-new", *model.labels_.names]).score(X, y) == 1.0
    with pytest.raises(InputError, match="another shape"):
        model.set_params(channels=9).fit(X, y)


def test_a_prior_holds_what_it_knows(fitted) -> None:
    X, y = [["Kim", "Lee", ":", "Ulm"]], [["B-who", "I-who", "O", "B-where"]]
    options = {"prior": fitted.learned_, "channels": 99, "epochs": 10, "crf_epochs": 1}
    model = small(**options).fit(X, y)
    assert model.net_.shape == fitted.net_.shape
    assert model.score(*sentences(30, seed=1)) == 1.0
    free, held = (small(**options | {"decay": decay}).fit(X, y).net_.weights for decay in (0.0, 20.0))

    def moved(weights) -> float:
        return float(np.abs(weights["block0"] - fitted.net_.weights["block0"]).sum())

    assert moved(held) < 0.7 * moved(free)
    new = small(**options).fit(X, [["B-who", "I-who", "B-mark", "B-where"]], labels=[*fitted.labels_.names, "B-mark"])
    assert "B-mark" in new.labels_.names
    with pytest.raises(InputError, match="would forget"):
        small(**options).fit(X, y, labels=["O", "B-who", "I-who", "B-where"][:-1])


def test_copies_are_learned_from_too() -> None:
    X, y = sentences(8)
    assert small(copies=4, epochs=30).fit(X, y).score(*sentences(30, seed=1)) > 0.9


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"epochs": -1}, "epochs is -1"),
        ({"average": 1.0}, "average is 1.0"),
        ({"dropout": (0.1, 0.1)}, r"dropout is \(0.1, 0.1\)"),
        ({"dropout": (1, 0, 0, 0, 0)}, "dropout is"),
        ({"storage": "int4"}, "storage is 'int4'"),
        ({"prior": 3}, "prior is a int"),
        ({"dilations": (1, 0)}, "dilations are"),
        ({"shards": 0}, "shards is 0"),
    ],
)
def test_parameters_that_make_no_sense(options, what) -> None:
    with pytest.raises(InputError, match=what):
        small(**options).fit(*sentences(2))


SCRIPT = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
import espalier as es
X, y = [["Ann", "in", "Ulm"]] * 20, [["B-who", "O", "B-where"]] * 20
model = es.ConvCRF(8, dilations=(1,), buckets=64, epochs=3, crf_epochs=0, min_steps=0)
model.fit(X, y, dev=(X, y))
model.save(sys.argv[1])
again = es.load(sys.argv[1]).model
assert again.potentials(X).unary.shape == (60, 3)
assert not [name for name in sys.modules if name.startswith("espalier.kernels.") and "layout" not in name]
assert not any(name.split(".")[0] == "scipy" for name in sys.modules)
"""


def test_tokens_are_learned_without_compiled_code(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "m.espalier")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


ONE = """
import sys
import espalier as es
assert [field.text for field in es.load(sys.argv[1]).extract("Ann Lee in Ulm .").fields] == ["Ann Lee", "Ulm"]
assert "numba" not in sys.modules
assert "scipy" not in sys.modules
"""


def test_one_text_loads_no_compiled_code(fitted, tmp_path) -> None:
    fitted.save(tmp_path / "m.espalier")
    done = subprocess.run(
        [sys.executable, "-c", ONE, str(tmp_path / "m.espalier")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
