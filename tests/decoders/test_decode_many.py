"""Many sequences in one call: every form of scores against enumeration, one by one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.corpus import Labels
from espalier.decoders import Status, decode
from espalier.errors import InfeasibleError, InputError
from espalier.potentials import Potentials
from espalier.rules import RuleSet
from espalier.rules.meaning import degrees
from oracles import chain_score

TAGS = ["O", "B-a", "I-a", "B-b", "I-b"]
PLAIN = ["a", "b", "c"]
RULES = {
    "Once": "Once: a once [penalty 1.5]",
    "Need": "Need: b required [hard]",
    "Word": 'Word: token in "x" -> a [penalty 2]',
    "Order": "Order: a before b [penalty 1]",
    "Long": "Long: length(a) <= 2 [hard]",
}
WORDS = ["x", "y", ","]


def valid(tags: tuple[str, ...]) -> bool:
    """Does every I- continue a tag of its name? (Written again, so that the library is not asked.)"""
    return all(
        tag[:2] != "I-" or (t > 0 and tags[t - 1] in (f"B-{tag[2:]}", f"I-{tag[2:]}")) for t, tag in enumerate(tags)
    )


def best_score(p: Potentials, rules: RuleSet, tokens: list[str], labels: list[str], keep_valid: bool) -> float:
    """The best score of all labellings, from the definition."""
    best = -math.inf
    for y in itertools.product(range(len(labels)), repeat=p.n_tokens):
        names = tuple(labels[j] for j in y)
        if keep_valid and not valid(names):
            continue
        broken = degrees(rules, tokens, list(names))
        price = sum(float(rho) * int(d) for rho, d in zip(rules.penalties, broken, strict=True) if d)
        best = max(best, chain_score(p, y) - price)
    return best


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    labels=st.sampled_from([TAGS, PLAIN]),
    chosen=st.lists(st.sampled_from(sorted(RULES)), max_size=3, unique=True),
    keep=st.sampled_from([None, False]),
    form=st.sampled_from(["mask", "lengths", "ragged", "potentials"]),
    transitions=st.booleans(),
)
def test_every_form_gives_the_best_labelling_of_every_sequence(seed, labels, chosen, keep, form, transitions) -> None:
    rng = np.random.default_rng(seed)
    N, T, L = int(rng.integers(1, 5)), int(rng.integers(1, 5)), len(labels)
    scores = rng.normal(size=(N, T, L)) * 2
    places = rng.random((N, T)) < 0.7
    if form != "mask":
        places = np.arange(T) < places.sum(axis=1)[:, None]
    trans, start, end = (rng.normal(size=shape) * transitions for shape in ((L, L), L, L))
    words = [[str(w) for w in rng.choice(WORDS, int(row.sum()))] for row in places]
    rules = RuleSet.from_text("\n".join(RULES[name] for name in chosen)) if chosen else RuleSet([])
    junk = np.where(places[:, :, None], scores, np.nan)  # padding may hold anything
    each = [Potentials(scores[i, places[i]], trans, start, end) for i in range(N)]
    given_: dict[str, tuple[Any, dict[str, Any]]] = {
        "mask": ((junk, trans, start, end), {"mask": places.astype(int)}),
        "lengths": ((junk, trans, start, end), {"lengths": places.sum(axis=1)}),
        "ragged": ([p.unary.tolist() for p in each], {}),
        "potentials": (each, {}),
    }
    if form == "ragged":
        each = [Potentials(p.unary.reshape(-1, L)) for p in each]
        if not any(p.n_tokens for p in each):
            return  # lists without any number tell no number of labels
    batch, options = given_[form]
    found = decode(batch, rules, tokens=words, labels=labels, valid_tags=keep, **options)
    assert len(found) == N
    assert found.valid_tags is (labels is TAGS and keep is None)
    for i, one in enumerate(found):
        expected = best_score(each[i], rules, words[i], labels, found.valid_tags)
        assert one.valid_tags == found.valid_tags
        if expected == -math.inf:
            assert one.status is found.certificates[i].status is Status.INFEASIBLE
            continue
        assert one.status is found.certificates[i].status is Status.OPTIMAL
        assert one.score == pytest.approx(expected)
        assert found.scores[i] == pytest.approx(expected)
        names = one.names()
        again = degrees(rules, words[i], names)
        paid = sum(float(r) * int(d) for r, d in zip(rules.penalties, again, strict=True) if d)
        assert chain_score(each[i], [labels.index(n) for n in names]) - paid == pytest.approx(expected)
        assert sum(v.price for v in one.violations) == pytest.approx(paid)


def test_answers_go_back_to_their_places() -> None:
    scores = np.zeros((2, 4, 3))
    scores[:, :, 1] = 1.0
    mask = [[0, 1, 0, 1], [0, 0, 0, 0]]
    found = decode(scores, labels=PLAIN, mask=mask)
    assert found.padded(fill=-100).tolist() == [[-100, 1, -100, 1], [-100] * 4]
    assert found.names() == [["b", "b"], []]
    assert found.proven.tolist() == [True, True]
    assert decode([scores[0], scores[0, :1]], labels=PLAIN).padded().tolist() == [[1, 1, 1, 1], [1, -1, -1, -1]]
    assert [one.names() for one in found[:1]] == [["b", "b"]]


def test_padded_tokens_are_cut_with_the_scores() -> None:
    scores, rules = np.zeros((1, 3, 3)), 'Word: token in "x" -> b [hard]'
    found = decode(scores, rules, tokens=[["x", "", "x"]], labels=PLAIN, mask=[[1, 0, 1]])
    assert found.names() == [["b", "b"]]
    assert decode(scores, rules, tokens=[["x"]], labels=PLAIN, lengths=[1]).names() == [["b"]]


@pytest.mark.parametrize("options", [{"k": 3}, {"method": "astar"}, {"text": ["x y", "y"]}, {"max_nodes": 100}])
def test_what_compiled_passes_do_not_give_is_given_one_by_one(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    each, words = [rng.normal(size=(2, 3)), rng.normal(size=(1, 3))], [["x", "y"], ["y"]]
    rules = "Once: a once [penalty 2]\nT: if text ~ /x/ then count(b) >= 1 [hard]"
    found = decode(each, rules, tokens=words, labels=PLAIN, **options)
    for i, one in enumerate(found):
        own = {name: value[i] if name == "text" else value for name, value in options.items()}
        alone = decode(each[i], rules, tokens=words[i], labels=PLAIN, **own)
        assert [a.names() for a in one] == [a.names() for a in alone]
        assert found.scores[i] == pytest.approx(alone.score)
        assert found.names()[i] == alone.names()


def test_known_labels_and_other_prices() -> None:
    scores, rules = np.zeros((2, 2, 3)), "Need: b required [penalty 1]"
    found = decode(
        scores, rules, tokens=[["x", "y"]] * 2, labels=PLAIN, clamp=[{0: "c"}, None], penalties={"Need": 5.0}
    )
    assert found[0].names()[0] == "c"
    assert [one.score for one in found] == [0.0, 0.0]
    with pytest.raises(InputError, match=r"sequence 1: .*cannot be clamped"):
        decode(scores, labels=PLAIN, clamp=[None, {5: "c"}])


def test_where_nothing_is_possible() -> None:
    rules = "A: a required [hard]\nNo: count(a) <= 0 [hard]\nB: count(b) <= 0 [hard]"
    scores = np.zeros((2, 2, 3))
    words = [["x", "y"]] * 2
    found = decode(scores, rules, tokens=words, labels=PLAIN)
    assert found.padded().tolist() == [[-1, -1], [-1, -1]]
    assert found[0].certificate.conflict == ("A", "No")
    with pytest.raises(InfeasibleError, match="A, No"):
        found.names()
    relaxed = decode(scores, rules, tokens=words, labels=PLAIN, relax=True)
    assert relaxed[1].status is Status.INFEASIBLE
    assert relaxed.names()[1] == relaxed[1].names()


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(0)
    scores, words = rng.normal(size=(300, 12, 5)), [["x"] * 12] * 300
    one, two = (decode(scores, RULES["Once"], tokens=words, labels=TAGS, threads=t) for t in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.scores, two.scores)


class Tensor:
    """Behaves as a tensor on another device that records gradients: NumPy may not have it before three questions."""

    def __init__(self, array: np.ndarray, steps: tuple[str, ...] = ("detach", "cpu", "float")) -> None:
        self.array, self.steps = array, steps
        self.ndim, self.shape = array.ndim, array.shape

    def ask(self, step: str) -> Tensor:
        return Tensor(self.array, tuple(s for s in self.steps if s != step))

    def detach(self) -> Tensor:
        return self.ask("detach")

    def cpu(self) -> Tensor:
        return self.ask("cpu")

    def float(self) -> Tensor:
        return self.ask("float")

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        if self.steps:
            raise RuntimeError(f"first call {self.steps[0]}()")
        return self.array


class Shared:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.ndim = array, array.ndim

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("wrap", [Tensor, Shared, np.ndarray.tolist, lambda a: a.astype(np.float32)])
def test_arrays_of_any_library(wrap: Any) -> None:
    scores = np.random.default_rng(0).integers(-4, 4, (3, 4, 5)).astype(np.float64)
    mask = np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
    plain = decode(scores, labels=TAGS, mask=mask)
    assert decode(wrap(scores), labels=TAGS, mask=wrap(mask)).names() == plain.names()
    assert decode(wrap(scores), labels=TAGS, lengths=[4, 2, 1]).names() == plain.names()
    assert decode([wrap(scores[0])], labels=TAGS).names() == plain.names()[:1]
    assert decode(wrap(scores[0]), labels=TAGS).names() == plain[0].names()
    together = (wrap(scores), wrap(np.eye(5)), None, wrap(np.ones(5)))
    apart = (scores, np.eye(5), None, np.ones(5))
    assert decode(together, labels=TAGS).scores.tolist() == decode(apart, labels=TAGS).scores.tolist()


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    logits = torch.randn(2, 3, 5, requires_grad=True)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    found = decode(logits, labels=TAGS, mask=mask)
    assert found.names() == decode(logits.detach().numpy(), labels=TAGS, mask=mask.numpy()).names()
    half = logits.to(torch.bfloat16)
    assert decode(half, labels=TAGS).names() == decode(half.float(), labels=TAGS).names()
    assert decode(logits[0], labels=TAGS).names() == found.names()[0]


def test_when_tags_are_kept_valid() -> None:
    scores = np.array([[0.0, 0.5, 2.0]])
    assert decode(scores, labels=["O", "B-a", "I-a"]).names() == ["B-a"]
    assert decode(scores, labels=["O", "B-a", "I-a"]).valid_tags
    assert decode(scores, labels=["O", "B-a", "I-a"], valid_tags=False).names() == ["I-a"]
    for labels in (["x", "y", "z"], ["O", "I-b", "I-a"], ["O", "B-a", "L-a"], ["O", "B-b", "I-a"]):
        found = decode(scores, labels=labels)
        assert (found.names(), found.valid_tags) == ([labels[2]], False)
        with pytest.raises(InputError, match="tags cannot be kept valid"):
            decode(scores, labels=labels, valid_tags=True)
    marginals = es.decoders.marginals(scores, labels=["O", "B-a", "I-a"])
    assert marginals.probabilities[0, 2] == 0.0
    assert es.explain(scores, labels=["O", "B-a", "I-a"]).before.names() == ["B-a"]


BATCH = np.zeros((2, 3, 3))


@pytest.mark.parametrize(
    ("scores", "options", "complaint"),
    [
        (BATCH, {"mask": np.ones((2, 3)), "lengths": [1, 2]}, "both mask and lengths"),
        (BATCH, {"mask": np.ones((2, 2))}, r"mask has shape \(2, 2\)"),
        (BATCH, {"mask": np.full((2, 3), 2)}, "other values than 0 and 1"),
        (BATCH, {"lengths": [1, 4]}, "sequence 1 has length 4, expected 0 to 3"),
        (BATCH, {"lengths": [1.0, 2.0]}, "expected 2 whole numbers"),
        (BATCH, {"lengths": [1]}, "expected 2 whole numbers"),
        (BATCH[0], {"lengths": [1, 2]}, "for batches of shape"),
        ([Potentials(BATCH[0])], {"lengths": [1]}, "a list of potentials has no padding"),
        ([BATCH[0], BATCH[0, :1]], {"lengths": [1, 1]}, "the batch of scores is of type list"),
        ([BATCH[0], BATCH[0, :, :2]], {}, "2 and 3 labels"),
        ([BATCH[0], BATCH[0, 0]], {}, r"sequence 1 has scores of shape \(3,\)"),
        ([BATCH[0], BATCH[0] * np.nan], {}, "sequence 1.*nan"),
        ([BATCH[0], object()], {}, "sequence 1 is of type object"),
        (BATCH * np.nan, {}, "nan"),
        ((BATCH, np.zeros((2, 3, 3))), {}, "share transitions"),
        ((BATCH,) * 5, {}, "a tuple of 5 arrays"),
        (BATCH, {"tokens": "x"}, "tokens is a string"),
        (BATCH, {"tokens": [["x"] * 3]}, "2 sequences of scores, but tokens is 1 lists"),
        (BATCH, {"tokens": [["x"] * 3, ["x"]]}, "sequence 1 has 3 rows of scores, but 1 tokens"),
        (BATCH, {"rules": "A: a once"}, "pass tokens=, one list"),
        (BATCH, {"clamp": {0: "a"}}, "clamp of a batch is one value for each of its 2 sequences"),
        (BATCH, {"text": "x"}, "text of a batch"),
        (BATCH, {"labels": ["a", "b"]}, "potentials of 3 labels"),
        (BATCH, {"width": 3}, "'auto' has no option 'width'"),
    ],
)
def test_bad_batches_are_explained(scores: Any, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        decode(scores, **{"labels": PLAIN, **options})


def test_a_batch_without_sequences_or_tokens() -> None:
    assert decode(np.zeros((0, 4, 3)), labels=PLAIN).names() == []
    assert decode(np.zeros((2, 0, 3)), labels=PLAIN).names() == [[], []]
    assert decode([np.zeros((0, 3)), np.zeros((1, 3))], labels=Labels(PLAIN)).names() == [[], ["a"]]
