"""Decoders by name: ours, and those that other packages bring."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from espalier.decoders.base import Decoder, Decoding, Problem
from espalier.decoders.many import auto
from espalier.errors import InputError, nearest
from espalier.registry import Registered

__all__ = ["DECODERS", "auto", "check_options", "find", "run", "sampler"]

DECODERS = Registered("decoders", Decoder)
"""Every method that can be asked for by name."""


def find(method: str) -> Decoder:
    """Return a decoder by name, or by its place, `module:object`; an unknown name is an error with the nearest one."""
    try:
        return DECODERS.named(str(method))
    except KeyError:
        names = ["auto", *DECODERS]
        near = nearest(str(method), names, f"methods: {', '.join(names)}")
        raise InputError(f"unknown method {method!r}", hint=near) from None


def sampler(method: str = "auto") -> Decoder:
    """Return the decoder of that name, which must draw labellings; for "auto" the first that does."""
    if method == "auto":
        found = next((decoder for decoder in DECODERS.values() if decoder.sample), None)
    else:
        found = find(method)
    if found is None or found.sample is None:
        ways = ["auto", "exact", *(name for name, decoder in DECODERS.items() if decoder.sample)]
        raise InputError(f"method {method!r} draws no labellings", hint=f"use {' or '.join(map(repr, ways))}")
    return found


def run(problem: Problem, method: str = "auto", *, k: int = 1, **options: Any) -> Decoding:
    """Decode by a method's name; refuse options it does not have, and rules it does not take."""
    if method == "auto":
        check_options("auto", auto, options)
        return auto(problem, k=k, **options)
    decoder = find(method)
    check_options(method, decoder.decode, options)
    verdict = decoder.accepts(problem.grounded.compiled)
    # A rule without a price asks nothing of a decoder.
    if not verdict.ok and problem.globals:
        raise InputError(f"{verdict.reason}", hint="use method='auto', or leave the rule out")
    return decoder.decode(problem, k=k, **options)


def check_options(method: str, function: Any, options: dict[str, Any], more: Iterable[str] = ()) -> None:
    """Refuse options that a method does not have; more : some that it has besides its own."""
    known = [name for name in inspect.signature(function).parameters if name not in ("problem", "k", "n")]
    known += more
    for name in options:
        if name not in known:
            near = nearest(name, known, f"its options: {', '.join(known)}" if known else "it has none")
            raise InputError(f"method {method!r} has no option {name!r}", hint=near)
