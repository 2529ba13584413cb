"""Word classes against a PPMI written as loops, NumPy's own SVD, brute-force k-means steps, and planted classes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.estimators.crf import CRF
from espalier.estimators.persist import load
from espalier.features.extract import FeatureExtractor
from espalier.features.fields import normalised
from espalier.features.word_classes import WordClasses, _ppmi, _vectors, kmeans

relaxed = settings(deadline=None, derandomize=True, max_examples=40)


def planted(n: int = 400, seed: int = 0) -> Corpus:
    """Sentences 'article adjective noun verb' from four disjoint lists of words."""
    rng = np.random.default_rng(seed)
    lists = [[f"{kind}{i}" for i in range(12)] for kind in ("art", "adj", "noun", "verb")]
    return Corpus.from_tokens([[str(rng.choice(words)) for words in lists] for _ in range(n)])


SMALL = {"clusters": (4, 8), "dimensions": 6, "normalise": "lower"}


# The parts.


def naive_ppmi(sequences: list[list[int]], W: int, C: int, context: int) -> np.ndarray:
    """Counts in dictionaries; rare words are -1 and no context; C stands for the place beyond the ends."""
    pairs: Counter = Counter()
    for words in sequences:
        for t, w in enumerate(words):
            for offset in range(-context, context + 1):
                if w < 0 or offset == 0:
                    continue
                c = words[t + offset] if 0 <= t + offset < len(words) else C
                if 0 <= c < C or not 0 <= t + offset < len(words):
                    pairs[w, offset, c] += 1
    of_word, of_context = Counter(), Counter()
    for (w, offset, c), n in pairs.items():
        of_word[w] += n
        of_context[offset, c] += n
    total = sum(n**0.75 for n in of_context.values())
    table = np.zeros((W, 2 * context * (C + 1)))
    offsets = [o for o in range(-context, context + 1) if o]
    for (w, offset, c), n in pairs.items():
        pmi = math.log(n * total / (of_word[w] * of_context[offset, c] ** 0.75))
        table[w, offsets.index(offset) * (C + 1) + c] = max(pmi, 0.0)
    return table


@relaxed
@given(st.lists(st.lists(st.integers(-1, 5), max_size=6), min_size=1, max_size=5), st.integers(1, 5), st.integers(1, 3))
def test_ppmi_is_the_naive_one(sequences: list[list[int]], C: int, context: int) -> None:
    ids = np.array([w for s in sequences for w in s], np.int64)
    indptr = np.cumsum([0, *map(len, sequences)])
    np.testing.assert_allclose(
        _ppmi([(ids, indptr)], 6, C, context).toarray(), naive_ppmi(sequences, 6, C, context), atol=1e-12
    )


@pytest.mark.parametrize("columns", [9, 30])
def test_vectors_are_the_dense_svd(columns: int) -> None:
    from scipy.sparse import csr_array

    dense = np.random.default_rng(0).random((12, columns))
    dense[3] = 0
    found = _vectors(csr_array(dense), 4)
    u, s, vt = np.linalg.svd(dense, full_matrices=False)
    for d in range(4):
        u[:, d] *= 1 if vt[d, np.abs(vt[d]).argmax()] > 0 else -1
    rows = u[:, :4] * np.sqrt(s[:4])
    lengths = np.linalg.norm(rows, axis=1)
    for w in range(12):
        np.testing.assert_allclose(found[w], 0 if w == 3 else rows[w] / lengths[w], atol=1e-9)
    with pytest.raises(InputError, match="lower it"):
        _vectors(csr_array(dense), min(dense.shape))


@relaxed
@given(st.integers(2, 30), st.integers(1, 6), st.integers(0, 5))
def test_kmeans_stops_at_a_fixed_point(n: int, k: int, seed: int) -> None:
    k = min(k, n)
    points = np.random.default_rng(seed).normal(size=(n, 2))
    found = kmeans(points, k, np.random.default_rng(seed), rounds=1000)
    assert set(found.tolist()) == set(range(k))
    centres = np.array([points[found == c].mean(axis=0) for c in range(k)])
    for point, own in zip(points, found, strict=True):
        distances = [math.dist(point, centre) for centre in centres]
        assert distances[own] == pytest.approx(min(distances), abs=1e-7)


def test_kmeans_by_hand() -> None:
    points = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    found = kmeans(points, 3, np.random.default_rng(0))
    assert found[0] == found[1] != found[2] == found[3] != found[4]
    same = kmeans(np.zeros((4, 2)), 3, np.random.default_rng(0))  # fewer points than clusters: some stay empty
    assert len(same) == 4


# The whole.


def test_planted_classes_are_found() -> None:
    classes = WordClasses.learn(planted(), **SMALL)
    assert len(classes.words) == 48
    assert classes.members.shape == (48, 2)
    np.testing.assert_allclose(np.linalg.norm(classes.vectors, axis=1), 1, rtol=1e-5)
    kinds = [word.rstrip("0123456789") for word in classes.words]
    for a, b in itertools.combinations(range(48), 2):
        assert (classes.members[a, 0] == classes.members[b, 0]) == (kinds[a] == kinds[b])


def test_same_text_same_classes() -> None:
    first, second = (WordClasses.learn(planted(), **SMALL) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    parts = [planted()[np.arange(200)], planted()[np.arange(200, 400)]]
    assert WordClasses.learn(parts, **SMALL) == first
    assert first != WordClasses.learn(planted(seed=1), **SMALL)
    assert first != "classes"
    assert repr(first) == "<WordClasses: 48 words, clusters (4, 8), 6 dimensions>"
    with pytest.raises(ValueError, match="read-only"):
        first.members[0] = 1


def test_rare_words_have_no_class() -> None:
    text = Corpus.from_tokens([*planted(), ["art0", "Hapax", "noun1"]])
    classes = WordClasses.learn(text, min_count=2, **SMALL)
    assert classes.rows(["hapax", "ART0", "never"]).tolist()[::2] == [-1, -1]
    assert classes.words[classes.rows(["ART0"])[0]] == "art0"
    counts = [sum(word == w for s in text for word in s) for w in classes.words]
    assert counts == sorted(counts, reverse=True)


def test_normalisation() -> None:
    words = ["Smith", "1998", "2003a", "314", "1234567", "12--17", "*PHONE*3*2", "**", "A1", "4*5*"]
    expected = ["smith", "YYYY", "YYYY", "000", "00000", "0-0", "*phone*", "**", "a1", "4*5*"]
    assert normalised(words, "classes") == expected
    assert normalised(words[:2], "lower") == ["smith", "1998"]
    assert normalised(words[:2], "none") == words[:2]


def test_features_and_saving(tmp_path: Path) -> None:
    text = planted(40)
    classes = WordClasses.learn(planted(), **SMALL)
    kinds = [["a", "b", "c", "d"] for _ in text]
    known = ["art0", "adj1", "noun2", "verb3"]
    extractor = FeatureExtractor(["classes:w[-1,0]", "chunk(vector:w)", "vector:w"], definitions=classes.fields("w"))
    model = CRF(extractor).fit(text[:2], kinds[:2])
    assert model.predict([known]) == [["a", "b", "c", "d"]]  # though none of these words need be in the labelled text
    names = {name for name, _ in model.weights()}
    row = classes.rows(["art0"])[0]
    assert f"classes:w=4/{classes.members[row, 0]}" in names
    assert "vector:w[5]" in names
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    for a, b in zip(again.predict_marginals(text), model.predict_marginals(text), strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_name_for_two_sets_of_classes() -> None:
    first, second = (WordClasses.learn(planted(seed=seed), **SMALL) for seed in (0, 1))
    with pytest.raises(InputError, match="two different sets of word classes have the name 'w'"):
        FeatureExtractor([first.fields("w")[0], second.fields("w")[1]])


def test_state() -> None:
    classes = WordClasses.learn(planted(), **SMALL)
    state = classes.to_state()
    assert WordClasses.from_state(state) == classes
    damaged = [
        {"members": state["members"][:-1]},
        {"members": state["members"] + 9},
        {"vectors": state["vectors"].astype(np.float64)},
        {"vectors": np.full_like(state["vectors"], np.nan)},
        {"sizes": np.array([4, 4])},
        {"normalise/text": np.frombuffer(b"upper", np.uint8)},
        {"words/lengths": state["words/lengths"][:-1]},
    ]
    for change in damaged:
        with pytest.raises(ModelFileError, match="stored"):
            WordClasses.from_state(state | change)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"clusters": (4, 64)}, "48 words occur at least 3 times; more are needed than there are clusters"),
        ({"dimensions": 0}, "dimensions is 0; expected a whole number of at least 1"),
        ({"dimensions": 2.0}, "dimensions is 2.0"),
        ({"context": True}, "context is True"),
        ({"clusters": (4, -1)}, r"clusters\[1\] is -1"),
        ({"clusters": (4, 4)}, "a size is listed twice"),
        ({"min_count": 10**6}, "0 words occur at least 1000000 times"),
        ({"normalise": "stem"}, "expected 'none', 'lower' or 'classes'"),
    ],
)
def test_bad_parameters(parameters: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        WordClasses.learn(planted(), **(SMALL | parameters))


def test_bad_text() -> None:
    with pytest.raises(InputError, match="expected a Corpus or several; found list"):
        WordClasses.learn([[["a", "b"]]], **SMALL)
    with pytest.raises(InputError, match="0 words occur"):
        WordClasses.learn([], **SMALL)
    with pytest.raises(InputError, match="a word is listed twice"):
        WordClasses(("a", "a"), (1,), np.zeros((2, 1)), np.zeros((2, 1)))


def test_no_clusters_and_words_without_contexts() -> None:
    text = Corpus.from_tokens([*planted(100), *[["alone"]] * 5])
    classes = WordClasses.learn(text, clusters=(), dimensions=3, normalise="lower")
    assert classes.members.shape == (49, 0)
    assert np.isfinite(classes.vectors).all()
