"""SIGKILL in the middle of training, parsing, saving and serving: what was confirmed is there, and whole.

A few kills of each kind, at moments that depend on the seed; `scripts/kill_hundred.py` does more of them. Kills of
`espalier run` and of its workers have tests of their own, in tests/cli and tests/cluster.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from kill_hundred import SHARES, main, strike_all
from kill_kinds import KINDS, Damage, Replaced

KILLS = {"save": 3, "train": 2, "parse": 2, "stream": 1, "serve": 1}


@pytest.mark.parametrize("kind", KILLS)
def test_a_kill_loses_nothing(kind: str, tmp_path: Path) -> None:
    tally, wrong = strike_all(kind, KILLS[kind], 1, tmp_path / kind)
    assert wrong == []
    assert (tally.kills, tally.damaged) == (KILLS[kind], 0)


def test_a_hundred_is_a_hundred() -> None:
    assert set(SHARES) == set(KINDS)
    assert sum(SHARES.values()) == 100


CARELESS = """
import sys, time
with open(sys.argv[1], "wb", 0) as file:
    for _ in range(50):
        file.write(b"new")
        time.sleep(0.01)
"""


class _Careless(Replaced):
    """A writer that does what nobody should: it opens the file under its own name and writes slowly."""

    def __init__(self, target: Path) -> None:
        self.target, self.old, self.new, self.seconds = target, b"old", b"new" * 50, 0.5
        self.command = [sys.executable, "-c", CARELESS, str(target)]


def test_a_careless_writer_is_found_out(tmp_path: Path) -> None:
    """Or the tests above would show nothing."""
    rng, target = random.Random(0), _Careless(tmp_path / "out")

    def strike_often() -> None:
        for _ in range(20):
            target.strike(rng)

    with pytest.raises(Damage, match="neither the old nor the new"):
        strike_often()


def test_the_script_says_what_was_damaged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(KINDS, "parse", lambda directory: _Careless(directory / "out"))
    assert main(["--kills", "12", "--only", "parse"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("| kind | kills | old state | new state | damaged | fragments |\n|---|")
    assert "parse, kill " in said.err
