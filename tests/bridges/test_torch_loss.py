"""The functions of PyTorch: values against enumeration, gradients against finite differences (`gradcheck`)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from espalier.errors import InputError
from espalier.rules.meaning import degrees

torch = pytest.importorskip("torch", reason="needs the extra torch")

RULES = 'Once: a once [penalty 1.5]\nWord: token in "x" -> b [penalty 0.7]\nOrder: b before c [penalty 0.4]'
LABELS = ["a", "b", "c"]
WORDS = ["x", "y", "x", "z"]


def bridge():
    from espalier.bridges import torch_loss

    return torch_loss


def drawn(seed: int) -> tuple:
    generator = torch.Generator().manual_seed(seed)

    def tensor(*shape: int) -> object:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()

    penalties = torch.rand(3, generator=generator, dtype=torch.float64).requires_grad_()
    return tensor(4, 3), tensor(3, 3), tensor(3), tensor(3), penalties


def scores(unary, trans, start, end, penalties) -> dict[tuple[int, ...], float]:
    """S(y) of every labelling, from the definition."""
    rules = bridge().compiled_rules(RULES, LABELS).rules
    u, tr, s, e, rho = (x.detach().numpy() for x in (unary, trans, start, end, penalties))
    found = {}
    for y in itertools.product(range(3), repeat=4):
        broken = degrees(rules, WORDS, [LABELS[j] for j in y])
        total = sum(u[t, j] for t, j in enumerate(y)) + sum(tr[i, j] for i, j in itertools.pairwise(y))
        found[y] = total + s[y[0]] + e[y[-1]] - float(np.dot(rho, broken))
    return found


def test_values_equal_enumeration() -> None:
    inputs = drawn(0)
    every = np.array(list(scores(*inputs).values()))
    log_z = math.log(np.exp(every).sum())
    p = np.exp(every - log_z)
    unary, trans, start, end, penalties = inputs
    compiled = bridge().compiled_rules(RULES, LABELS)
    found = bridge().rule_sums(unary, compiled, WORDS, trans=trans, start=start, end=end, penalties=penalties)
    assert found.log_z.item() == pytest.approx(log_z)
    assert found.entropy.item() == pytest.approx(float(-(p * np.log(p)).sum()))
    gold = torch.tensor([[0, 1, 1, 2]])
    loss = bridge().rule_loss(
        unary[None], gold, compiled, [WORDS], trans=trans, start=start, end=end, penalties=penalties
    )
    assert loss.item() == pytest.approx(log_z - scores(*inputs)[0, 1, 1, 2])


@pytest.mark.parametrize("output", [0, 1])
def test_gradients_equal_differences(output: int) -> None:
    compiled = bridge().compiled_rules(RULES, LABELS)

    def function(unary, trans, start, end, penalties):
        return bridge().rule_sums(unary, compiled, WORDS, trans=trans, start=start, end=end, penalties=penalties)[
            output
        ]

    assert torch.autograd.gradcheck(function, drawn(1))
    by_place = (drawn(2)[0], torch.randn(3, 3, 3, dtype=torch.float64, requires_grad=True), *drawn(2)[2:])
    assert torch.autograd.gradcheck(function, by_place)


def test_gradients_of_losses_equal_differences() -> None:
    compiled = bridge().compiled_rules(RULES, LABELS)
    gold = torch.tensor([[-100, 0, 1, 2, 1], [0, 0, -100, -100, -100]])
    words = [WORDS, ["x", "z"]]
    logits = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    _, trans, start, end, penalties = drawn(3)

    def labelled(logits, trans, start, end, penalties):
        return bridge().rule_loss(logits, gold, compiled, words, trans=trans, start=start, end=end, penalties=penalties)

    def unlabelled(logits, trans, penalties):
        return bridge().agreement_loss(logits, compiled, words, mask=gold >= 0, trans=trans, penalties=penalties)

    assert torch.autograd.gradcheck(labelled, (logits, trans, start, end, penalties))
    assert torch.autograd.gradcheck(unlabelled, (logits, trans, penalties))
    assert unlabelled(logits, trans, penalties).item() > 0


def test_hard_rules_and_valid_tags() -> None:
    labels = ["O", "B-a", "I-a"]
    compiled = bridge().compiled_rules("Need: a required [hard]", labels)
    logits = torch.zeros(1, 2, 3, requires_grad=True)
    # Of the five valid labellings of two tags (O O, O B, B O, B B, B I) four have an a; of all nine, five are valid.
    assert bridge().rule_sums(logits[0], compiled, ["x", "y"]).log_z.item() == pytest.approx(math.log(4))
    loss = bridge().agreement_loss(logits, compiled, [["x", "y"]])
    assert loss.item() == pytest.approx(math.log(9 / 4))
    loss.backward()
    assert torch.isfinite(logits.grad).all()
    assert logits.grad[0, 0, 2] > 0  # an I- at the beginning is never valid: its score should fall
    with pytest.raises(InputError, match="sequence 0: the labels break the hard rule 'Need'"):
        bridge().rule_loss(logits, torch.tensor([[0, 0]]), compiled, [["x", "y"]])


def test_bad_shapes_are_explained() -> None:
    compiled = bridge().compiled_rules(RULES, LABELS)
    with pytest.raises(InputError, match="one list for each"):
        bridge().agreement_loss(torch.zeros(2, 3), compiled, [["x"] * 3])
    with pytest.raises(InputError, match="sequence 0 has 3 rows of scores, but 1 tokens"):
        bridge().agreement_loss(torch.zeros(1, 3, 3), compiled, [["x"]])


def test_a_rule_without_an_automaton_is_refused() -> None:
    compiled = bridge().compiled_rules("Same: count(a) == count(b) [penalty 1]", LABELS)
    with pytest.raises(InputError, match="rule 'Same' has no exact expectation"):
        bridge().rule_sums(torch.zeros(2, 3), compiled, ["x", "y"])
