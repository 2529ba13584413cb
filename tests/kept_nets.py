"""Nets that were trained in this process already are not trained again.

Training is exact: the same net on the same data, by the same plan, ends at the same weights (`test_conv_crf.py` tries
that). Pages that train the same model by a command and in Python, or once without rules and once with them, train its
net once. A run that differs in anything is a run of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import pytest

from espalier.learning import net_training
from espalier.learning.checkpoint import run_key

_ENDS: dict[str, net_training.Run] = {}
_train = net_training.train_net


@contextmanager
def kept_nets(**hurry: Any) -> Iterator[None]:
    """Train every net once; hurry : other settings of a net that learns from where it was, for fewer steps."""
    from espalier.recipes import adapting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(net_training, "train_net", _once)
        patch.setattr(adapting, "NET", adapting.NET | hurry)
        yield


def _once(run: net_training.Run, shape: Any, data: Any, plan: Any, **more: Any) -> net_training.Run:
    if any(more.get(name) is not None for name in ("score", "progress", "keep", "term")):
        return _train(run, shape, data, plan, **more)
    key = f"{run_key(shape, plan, data, run)} {run.search.decay} {run.mean is None}"
    if key not in _ENDS:
        _ENDS[key] = copy.deepcopy(_train(run, shape, data, plan, **more))
        return run
    ended = copy.deepcopy(_ENDS[key])
    for field in fields(run):
        setattr(run, field.name, getattr(ended, field.name))
    return run
