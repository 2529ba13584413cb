"""Functions of PyTorch: what rules say of a network's scores, with gradients for scores and penalties.

`rule_sums` is log partition and entropy under rules; `rule_loss` the loss of labelled text, -log p(y | x, rules), and
`agreement_loss` that of text without labels, -log of the probability that rules hold. All are exact: forward
and backward pass are those of `espalier.decoders.partition`, on the processor, whatever device the tensors are on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Labels
from espalier.decoders.partition import Slopes, expectations_of
from espalier.decoders.questions import compiled_for, problem_of
from espalier.decoders.score_forms import as_floats
from espalier.errors import InputError, MissingExtraError, Place
from espalier.rules.compile import Compiled, compile_rules, degrees_of
from espalier.rules.ruleset import RuleSet

try:
    import torch
    from torch import Tensor
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "for a loss of PyTorch, the package 'torch' is needed", hint="run: pip install 'espalier-nlp[torch]'"
    ) from error

__all__ = ["RuleSums", "agreement_loss", "compiled_rules", "rule_loss", "rule_sums"]

IGNORED = -100
"""The label id at padding, as PyTorch's own losses have it."""


class RuleSums(NamedTuple):
    """log_z, entropy : tensors of no dimension, with gradients."""

    log_z: Tensor
    entropy: Tensor


def compiled_rules(rules: str | RuleSet, labels: Sequence[str]) -> Compiled:
    """Compile rules for the labels of a network, in the order of its columns."""
    return compiled_for(rules, Labels(labels), len(labels))


class _Sums(torch.autograd.Function):  # type: ignore[misc]
    """Log partition and entropy; backward multiplies the derivatives that forward has computed."""

    @staticmethod
    def forward(
        ctx: Any, unary: Tensor, trans: Tensor, start: Tensor, end: Tensor, penalties: Tensor, question: Any
    ) -> tuple[Tensor, Tensor]:
        """Ask for the expectations."""
        found = question(*(as_floats(tensor, "scores") for tensor in (unary, trans, start, end, penalties)))
        ctx.slopes, ctx.inputs = (found.log_z_slopes, found.entropy_slopes), (unary, trans, start, end, penalties)
        return unary.new_tensor(found.log_z), unary.new_tensor(found.entropy)

    @staticmethod
    def backward(ctx: Any, *by: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradient of every input."""
        by_log_z, by_entropy = (float(g) for g in by)
        summed = Slopes(*(by_log_z * one + by_entropy * other for one, other in zip(*ctx.slopes, strict=True)))
        unary, trans = ctx.inputs[:2]
        steps = summed.trans if trans.ndim == 3 else summed.trans.sum(axis=0)
        none = np.zeros(unary.shape[1])
        first, last = (summed.unary[0], summed.unary[-1]) if len(summed.unary) else (none, none)
        arrays = (summed.unary, steps, first, last, summed.penalties)
        pairs = zip(arrays, ctx.inputs, strict=True)
        return (*(torch.as_tensor(array, dtype=like.dtype, device=like.device) for array, like in pairs), None)


def rule_sums(
    unary: Tensor,
    rules: Compiled,
    tokens: Sequence[str],
    *,
    trans: Tensor | None = None,
    start: Tensor | None = None,
    end: Tensor | None = None,
    penalties: Tensor | None = None,
    text: str | None = None,
    valid_tags: bool | None = None,
) -> RuleSums:
    """Return log partition and entropy of one sequence under rules; each can be differentiated by scores and penalties.

    unary : [T, L]; trans : [L, L] or [T - 1, L, L]; start, end : [L]; penalties : [K], zero or more, those of the rules
    if None. rules : see `compiled_rules`. A rule without an automaton is refused by its name.
    """
    L = unary.shape[-1]
    given = [unary.new_zeros(shape) if x is None else x for x, shape in ((trans, (L, L)), (start, L), (end, L))]
    prices = torch.as_tensor(np.asarray(rules.rules.penalties)) if penalties is None else penalties

    def question(*arrays: NDArray[np.float64]) -> Any:
        scores, own = arrays[:4], arrays[4]
        return expectations_of(
            problem_of(scores, rules, tokens=tokens, penalties=own, text=text, valid_tags=valid_tags)
        )

    return RuleSums(*_Sums.apply(unary, *given, prices, question))


def rule_loss(
    logits: Tensor,
    gold: Tensor,
    rules: Compiled,
    tokens: Sequence[Sequence[str]],
    *,
    trans: Tensor | None = None,
    start: Tensor | None = None,
    end: Tensor | None = None,
    penalties: Tensor | None = None,
    valid_tags: bool | None = None,
) -> Tensor:
    """Return the mean over N sequences of -log p(gold | scores, rules).

    logits : [N, T, L]; gold : label ids [N, T], -100 at padding, which may stand anywhere; tokens : those of each
    sequence, without padding. Gold labels that break a hard rule have no probability: an error that names the rule.
    """
    losses = []
    for i, (unary, y, words) in enumerate(_sequences(logits, gold != IGNORED, tokens, gold)):
        chain = {"trans": trans, "start": start, "end": end, "penalties": penalties}
        sums = rule_sums(unary, rules, words, valid_tags=valid_tags, **chain)
        score = unary[torch.arange(len(y), device=y.device), y].sum()
        if trans is not None and len(y) > 1:
            score = (
                score
                + (trans[y[:-1], y[1:]] if trans.ndim == 2 else trans[torch.arange(len(y) - 1), y[:-1], y[1:]]).sum()
            )
        if len(y):
            score = score + (0.0 if start is None else start[y[0]]) + (0.0 if end is None else end[y[-1]])
        losses.append(sums.log_z - score + _paid(i, rules, words, y, penalties, unary))
    return torch.stack(losses).mean()


def _paid(i: int, rules: Compiled, words: Sequence[str], y: Tensor, penalties: Tensor | None, like: Tensor) -> Tensor:
    """Return what the rules charge for gold labels."""
    broken = degrees_of(rules.ground(words), y.cpu().numpy())
    prices = like.new_tensor(np.asarray(rules.rules.penalties)) if penalties is None else penalties
    hard = [k for k in np.flatnonzero(broken).tolist() if not torch.isfinite(prices[k])]
    if hard:
        name = rules.rules.names[hard[0]]
        raise InputError(
            Place(i), f": the labels break the hard rule {name!r}", hint="give the rule a price, or mend them"
        )
    counts = torch.as_tensor(broken, dtype=prices.dtype, device=prices.device)
    return (counts * torch.where(counts > 0, prices, torch.zeros_like(prices))).sum()


def agreement_loss(
    logits: Tensor,
    rules: Compiled,
    tokens: Sequence[Sequence[str]],
    *,
    mask: Tensor | None = None,
    trans: Tensor | None = None,
    penalties: Tensor | None = None,
    valid_tags: bool | None = None,
) -> Tensor:
    """Return the mean over N sequences of log Z - log Z under rules: what it takes the network to agree with them.

    With hard rules it is -log of the probability that the network gives to labellings that keep them, so no label is
    needed. logits : [N, T, L]; mask : [N, T], true at tokens.
    """
    free = compile_rules(RuleSet([]), rules.labels)
    here = torch.ones(logits.shape[:2], dtype=torch.bool) if mask is None else mask.bool()
    losses = []
    for unary, _, words in _sequences(logits, here, tokens, None):
        ruled = rule_sums(unary, rules, words, trans=trans, penalties=penalties, valid_tags=valid_tags)
        losses.append(rule_sums(unary, free, words, trans=trans, valid_tags=False).log_z - ruled.log_z)
    return torch.stack(losses).mean()


def _sequences(
    logits: Tensor, here: Tensor, tokens: Sequence[Sequence[str]], gold: Tensor | None
) -> list[tuple[Tensor, Any, Sequence[str]]]:
    """Return scores, labels and tokens of each sequence, without padding."""
    if logits.ndim != 3 or here.shape != logits.shape[:2] or len(tokens) != len(logits):
        what = (
            f"logits of shape {tuple(logits.shape)}, places of shape {tuple(here.shape)}, {len(tokens)} lists of tokens"
        )
        raise InputError(what, hint="expected (sequences, tokens, labels), (sequences, tokens), and one list for each")
    found: list[tuple[Tensor, Any, Sequence[str]]] = []
    for i, words in enumerate(tokens):
        unary = logits[i][here[i]]
        if len(unary) != len(words):
            raise InputError(Place(i), f" has {len(unary)} rows of scores, but {len(words)} tokens")
        found.append((unary, None if gold is None else gold[i][here[i]], words))
    return found
