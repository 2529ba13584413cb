"""What a recurrence has a second form for: eight sequences at a time against plain loops, on one core.

marginals     probabilities of the best labels: lanes against log space
best labels   lanes, which add up the scores as well, against plain loops over scores
many labels   138 of them, most steps forbidden, as between nested tags, decoded without rules: lanes against one text
              at a time, which two matrices ask for
new process   one reference by the bundled model, in NumPy alone against with Numba loaded first: processor time
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from common import Row, arguments, compare, parsed, write_json
from espalier import inference
from espalier.corpus import Corpus, Labels
from espalier.decoders.batch import decode_batch
from espalier.decoders.probabilities import answer_probabilities
from espalier.lanes import rows_of_types, tag_rows
from espalier.potentials import ChainBatch
from espalier.rules.compile import compile_rules
from espalier.rules.ruleset import RuleSet

LABELS, MANY = 27, 138


def texts(n: int, labels: int = LABELS, forbidden: float = 1 / 3) -> ChainBatch:
    """Draw scores of texts of 5 to 59 tokens; forbidden : so many of the transitions."""
    rng = np.random.default_rng(0)
    indptr = np.append(0, np.cumsum(rng.integers(5, 60, n))).astype(np.int64)
    trans = np.where(rng.random((labels, labels)) < forbidden, -np.inf, rng.normal(size=(labels, labels)))
    np.fill_diagonal(trans, 0.0)
    kind, nothing = np.zeros(indptr[-1], np.int32), np.zeros(labels)
    return ChainBatch(indptr, 2.0 * rng.normal(size=(indptr[-1], labels)), trans[None], kind, nothing, nothing)


def milliseconds(works: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the best processor time of each, in turns."""
    best = [float("inf")] * len(works)
    for _ in range(rounds + 1):  # the first one compiles
        for k, work in enumerate(works):
            before = time.process_time()
            work()
            best[k] = min(best[k], time.process_time() - before)
    return [1e3 * seconds for seconds in best]


PARSE = """
import time
import espalier as es
es.load("citations").parse("Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.")
print(time.process_time())
"""


def new_process(first: str, rounds: int) -> float:
    """Return the least processor time, in milliseconds, of a process that parses one reference after `first`."""
    command = [sys.executable, "-c", first + PARSE]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(rounds)]
    return 1e3 * min(float(run.stdout) for run in runs)


def main() -> None:
    """Measure, and write what was asked for."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--texts", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=10)
    options = parsed(parser, texts=10, rounds=1)
    batch = texts(options.texts)
    y = inference.viterbi(batch, threads=1).labels
    rows = rows_of_types(batch.unary, np.arange(len(batch.unary)))
    wide = texts(options.texts, MANY, 0.85)
    twice = replace(wide, trans=np.repeat(wide.trans, 2, axis=0))
    corpus = Corpus.from_tokens([["x"] * n for n in np.diff(wide.indptr).tolist()])
    free = compile_rules(RuleSet([]), Labels([str(j) for j in range(MANY)]))
    pairs: dict[str, list[Callable[[], object]]] = {
        "marginals": [lambda: answer_probabilities(batch, y), lambda: inference.marginals(batch, threads=1)],
        "best labels": [
            lambda: tag_rows(batch.indptr, rows, batch.trans[0], batch.start, batch.end, 1),
            lambda: inference.viterbi(batch, threads=1),
        ],
        "many labels": [lambda own=own: decode_batch(own, free, corpus, threads=1) for own in (wide, twice)],
    }
    found: list[Row] = []
    for name, works in pairs.items():
        ours, peer = milliseconds(works, options.rounds)
        found.append(compare(f"{name}, {len(batch.unary):,} tokens", "ms", ours, peer, "one text at a time"))
    ours, peer = (new_process(first, options.rounds) for first in ("", "import numba\n"))
    found.append(compare("new process, one reference", "ms", ours, peer, "with Numba"))
    write_json(options.json, found)


if __name__ == "__main__":
    main()
