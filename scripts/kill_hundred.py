"""SIGKILL at random moments, a hundred times, and a look at what is left.

    python scripts/kill_hundred.py                        a hundred kills over all kinds, and a table
    python scripts/kill_hundred.py --kills 20 --only save run --seed 7

| kind | what is killed | what must be there afterwards |
|---|---|---|
| save | a process that saves two models under one name, over and over | one of the two, byte for byte |
| train | `espalier train` over an older model file | the older file or the new one, byte for byte |
| parse | `espalier parse -o` over an older file | the older file or the new one, byte for byte |
| stream | `espalier parse` to standard output | a beginning of the whole output |
| serve | `espalier serve` while records are corrected | every correction that was answered |
| run | `espalier run` with all its workers | whole partitions; in the end the rows of an undisturbed run |

The program ends with 1 if anything was lost or damaged.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kill_kinds import KINDS, Damage, Kind

SHARES = {"save": 35, "train": 15, "parse": 15, "stream": 15, "serve": 12, "run": 8}
"""How many of a hundred kills each kind gets."""


@dataclass(slots=True)
class Tally:
    """What came of the kills of one kind."""

    kind: str
    kills: int = 0
    new: int = 0
    damaged: int = 0
    fragments: int = 0
    seconds: float = 0.0

    def row(self) -> str:
        """Return a row of the table."""
        cells = (self.kind, self.kills, self.kills - self.new - self.damaged, self.new, self.damaged, self.fragments)
        return "| " + " | ".join(map(str, cells)) + " |"


def strike_all(kind: str, kills: int, seed: int, directory: Path) -> tuple[Tally, list[str]]:
    """Kill one kind so many times; return the counts, and what was wrong."""
    tally, wrong, rng, begin = Tally(kind), [], random.Random(f"{kind} {seed}"), time.perf_counter()
    directory.mkdir(parents=True)
    target: Kind = KINDS[kind](directory)  # type: ignore[operator]
    for _ in range(kills):
        tally.kills += 1
        try:
            tally.new += target.strike(rng)
        except Damage as damage:
            tally.damaged += 1
            wrong.append(f"{kind}, kill {tally.kills}: {damage}")
    tally.fragments = sum(path.name.endswith((".part", ".tmp")) for path in directory.rglob(".*"))
    try:
        target.finish()
    except Damage as damage:
        wrong.append(f"{kind}, in the end: {damage}")
    tally.seconds = time.perf_counter() - begin
    return tally, wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, look, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how many, over all kinds")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), help="these kinds alone")
    chosen = parser.parse_args(arguments)
    whole = sum(SHARES[kind] for kind in chosen.only)
    sys.stdout.write("| kind | kills | old state | new state | damaged | fragments |\n|---|---|---|---|---|---|\n")
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        for kind in chosen.only:
            kills = max(1, round(chosen.kills * SHARES[kind] / whole))
            tally, found = strike_all(kind, kills, chosen.seed, Path(directory) / kind)
            sys.stdout.write(f"{tally.row()}\n")
            sys.stdout.flush()
            sys.stderr.write(f"{kind}: {tally.seconds:.0f} s\n")
            wrong += found
    for what in wrong:
        sys.stderr.write(f"{what}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
