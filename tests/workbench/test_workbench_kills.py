"""The ledger of bench/kills.py sees what is lost; the script itself is run by tests/test_scripts.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from kills import Ledger, Loss


def fail() -> None:
    raise OSError("the server is gone")


def test_what_was_confirmed_has_to_be_there() -> None:
    ledger = Ledger()
    ledger.write(("text", "a"), True, lambda: None)
    ledger.write(("fields", 1), [[0, 4, "item"]], lambda: None)
    with pytest.raises(OSError, match="gone"):
        ledger.write(("text", "b"), True, fail)
    there = {("text", "a"): True, ("fields", 1): [[0, 4, "item"]], ("text", "b"): False}
    for last in (False, True):  # what was asked for and not answered may be there or not
        ledger.asked[("text", "b")] = True
        ledger.compare((there | {("text", "b"): last}).__getitem__)
    for key, value in ((("text", "a"), False), (("fields", 1), None), (("fields", 1), [[0, 4, "price"]])):
        with pytest.raises(Loss, match="was confirmed as"):
            ledger.compare((there | {("text", "b"): True, key: value}).__getitem__)
