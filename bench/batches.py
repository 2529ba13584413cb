"""Batches of anybody's logits under ten rules, in one call of `es.decode`: 1,000 sequences of 64 tokens and 9 tags.

The logits are noise with a bias for O: most answers break a rule without the rules, which real scores do far less
often. Peers: plain Viterbi on the same scores (no rule but valid tags), and `es.decode` called for one sequence after
another. Ours is on one thread; the target is one second.
"""

from __future__ import annotations

import numpy as np

import espalier as es
from common import Row, arguments, compare, cpu_time, interleaved, parsed, write_json

LABELS = ["O", *(f"{mark}-{name}" for name in ("per", "loc", "org", "misc") for mark in "BI")]
RULES = r"""
Once: per once [penalty 2]
Start: first in O, per, org [penalty 1]
Need: org required [penalty 3]
Few: count(loc) <= 2 [hard]
Long: length(per) <= 4 [penalty 2]
Order: per before org [penalty 1.5]
Comma: token in "," -> O [hard]
Year: token ~ /\d+/ -> not per [penalty 3]
Most: count(per) + count(org) + count(loc) + count(misc) <= 6 [penalty 1]
Firm: if any token in "Inc" then count(org) >= 1 [hard]
"""
TARGET = 1.0  # seconds for the whole batch
ALONE = 50  # sequences that are decoded one by one


def drawn(N: int, T: int) -> tuple[np.ndarray, list[list[str]]]:
    """Return logits [N, T, L] and tokens."""
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(3000)] + [","] * 200 + ["Inc"] * 20 + ["1999", "12"] * 20
    logits = rng.normal(size=(N, T, len(LABELS))).astype(np.float32) * 2
    logits[:, :, 0] += 3
    return logits, [[str(word) for word in rng.choice(words, T)] for _ in range(N)]


def rows_of(N: int, T: int, rounds: int) -> list[Row]:
    """Time a batch; words are read and rules compiled within it."""
    logits, tokens = drawn(N, T)

    def ours() -> object:
        return es.decode(logits, RULES, tokens=tokens, labels=LABELS, threads=1)

    def alone() -> object:
        return [es.decode(logits[i], RULES, tokens=tokens[i], labels=LABELS) for i in range(min(ALONE, N))]

    found, bare = ours(), es.decode(logits, labels=LABELS, threads=1)
    alone()
    broken = np.mean([one != other for one, other in zip(found.names(), bare.names(), strict=True)])
    print(f"    {100 * broken:.0f} % of the answers are not what they are without rules")
    times = interleaved(
        rounds,
        lambda: cpu_time(ours, 1),
        lambda: cpu_time(lambda: es.decode(logits, labels=LABELS, threads=1), 1),
        lambda: cpu_time(alone, 1),
    )
    name = f"[{N}, {T}, {len(LABELS)}] under ten rules"
    return [
        compare(f"{name}", "s", times[0], TARGET, "target"),
        compare(f"{name}", "s", times[0], times[1], "no rules"),
        compare(f"{name}", "s", times[0], times[2] * N / min(ALONE, N), "one by one"),
        compare(f"{name}: proven", "%", 100 * float(found.proven.mean()), 100.0, "all", higher_is_better=True),
    ]


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sequences", type=int, default=1000)
    options = parsed(parser, rounds=1, sequences=20)
    print(f"{'':<58} {'ours':>12} {'peer':>12} {'unit':<10} {'ratio':>8}")
    write_json(options.json, rows_of(options.sequences, 64, options.rounds))


if __name__ == "__main__":
    main()
