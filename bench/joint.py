"""Joint decoding of random problems over two chains and pairs, compared with enumeration: no false certificate.

Each problem has two layers over one or two texts, up to three pairs, rules of a layer's own and rules across. An answer
that is said to be the best must be the best of all, and no answer may score more than the bound; anything else is an
error. The peer is the integer program alone, without the decomposition before it.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from common import arguments, compare, parsed, write_json

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "joint"))
from joint_problems import check, random_problem

LARGEST = 4000  # answers to enumerate


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--problems", type=int, default=5000)
    options = parsed(parser)
    wanted = 20 if options.quick else options.problems
    statuses: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    seconds = {"auto": 0.0, "ilp": 0.0}
    seed = 0
    while statuses.total() < wanted:
        problem = random_problem(np.random.default_rng(seed))
        seed += 1
        if math.prod(chain.problem.L**chain.problem.T for chain in problem.chains) > LARGEST:
            continue
        statuses[check(problem)] += 1
        for method in seconds:
            start = time.process_time()
            answer = problem.decode(method=method)
            seconds[method] += time.process_time() - start
            if method == "auto":
                methods[answer.certificate.method] += 1
    proven = statuses["optimal"] + statuses["infeasible"]
    print(f"{wanted} problems: {proven} proven, {wanted - proven} not, 0 certificates false; {dict(statuses)}")
    print(f"by {dict(methods)}")
    ours, peer = (1000 * seconds[method] / wanted for method in ("auto", "ilp"))
    write_json(options.json, [compare("joint decoding, random problems", "ms", ours, peer, "integer program alone")])


if __name__ == "__main__":
    main()
