"""What a recurrence has a second form for: eight sequences at a time against plain loops, on one core.

marginals     probabilities of the best labels: lanes against log space
best labels   lanes, which add up the scores as well, against plain loops over scores
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from common import Row, arguments, compare, parsed, write_json
from espalier import inference
from espalier.decoders.probabilities import answer_probabilities
from espalier.lanes import rows_of_types, tag_rows
from espalier.potentials import ChainBatch

LABELS = 27


def texts(n: int) -> ChainBatch:
    """Draw scores of texts of 5 to 59 tokens; a third of the transitions is forbidden."""
    rng = np.random.default_rng(0)
    indptr = np.append(0, np.cumsum(rng.integers(5, 60, n))).astype(np.int64)
    trans = np.where(rng.random((LABELS, LABELS)) < 1 / 3, -np.inf, rng.normal(size=(LABELS, LABELS)))
    np.fill_diagonal(trans, 0.0)
    kind, nothing = np.zeros(indptr[-1], np.int32), np.zeros(LABELS)
    return ChainBatch(indptr, 2.0 * rng.normal(size=(indptr[-1], LABELS)), trans[None], kind, nothing, nothing)


def milliseconds(works: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the best processor time of each, in turns."""
    best = [float("inf")] * len(works)
    for _ in range(rounds + 1):  # the first one compiles
        for k, work in enumerate(works):
            before = time.process_time()
            work()
            best[k] = min(best[k], time.process_time() - before)
    return [1e3 * seconds for seconds in best]


def main() -> None:
    """Measure, and write what was asked for."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--texts", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=10)
    options = parsed(parser, texts=10, rounds=1)
    batch = texts(options.texts)
    y = inference.viterbi(batch, threads=1).labels
    rows = rows_of_types(batch.unary, np.arange(len(batch.unary)))
    pairs: dict[str, list[Callable[[], object]]] = {
        "marginals": [lambda: answer_probabilities(batch, y), lambda: inference.marginals(batch, threads=1)],
        "best labels": [
            lambda: tag_rows(batch.indptr, rows, batch.trans[0], batch.start, batch.end, 1),
            lambda: inference.viterbi(batch, threads=1),
        ],
    }
    found: list[Row] = []
    for name, works in pairs.items():
        ours, peer = milliseconds(works, options.rounds)
        found.append(compare(f"{name}, {len(batch.unary):,} tokens", "ms", ours, peer, "plain loops"))
    write_json(options.json, found)


if __name__ == "__main__":
    main()
