"""Joint decoding of random problems over two chains and pairs, compared with enumeration: no false certificate.

Each problem has two layers over one or two texts, up to three pairs, rules of a layer's own and rules across. An answer
that is said to be the best must be the best of all, and no answer may score more than the bound; anything else is an
error. The peer is the integer program alone, without the decomposition before it.

Then the development sentences of CoNLL04: how many are proven, and what one takes: the k best of the entities, the
scores of pairs of places, and decoding. The target is 99 % and 20 ms.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from common import Row, arguments, compare, parsed, write_json
from espalier.papers.tables import conll04
from espalier.papers.tables.data import Data

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "joint"))
from joint_problems import check, random_problem

LARGEST = 2500  # answers to enumerate
TIMED = 300  # problems


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
        answer = check(problem)
        statuses[str(answer.status)] += 1
        methods[answer.certificate.method] += 1
        for method in seconds if statuses.total() <= TIMED else ():
            start = time.process_time()
            problem.decode(method=method)
            seconds[method] += time.process_time() - start
    proven = statuses["optimal"] + statuses["infeasible"]
    print(f"{wanted} problems: {proven} proven, {wanted - proven} not, 0 certificates false; {dict(statuses)}")
    print(f"by {dict(methods)}")
    ours, peer = (1000 * seconds[method] / min(wanted, TIMED) for method in ("auto", "ilp"))
    rows = [compare("joint decoding, random problems", "ms", ours, peer, "integer program alone")]
    write_json(options.json, [*rows, sentences_of_conll04(Data(options.data), options.quick)])


def sentences_of_conll04(data: Data, quick: bool) -> Row:
    """Decode the development part with the models of the table `conll04`."""
    classes = None if quick else conll04.word_classes(data, conll04.SETTINGS)
    models = conll04.fitted(conll04.sentences(data, "train"), classes, conll04.SETTINGS)
    rules = "" if quick else conll04.RULES  # a few records do not have every label
    held_out = conll04.sentences(data, "dev")
    batch = models.crf.potentials([sentence.tokens for sentence in held_out])
    taken: dict[str, list[float]] = {"auto": [], "ilp": []}
    proven = 0
    for i, sentence in enumerate(held_out):
        for method, seconds in taken.items():
            start = time.process_time()
            problem, _ = conll04.joint_problem(models, sentence.tokens, batch[i], conll04.SETTINGS, rules)
            answer = problem.decode(method=method)
            seconds.append(time.process_time() - start)
            proven += answer.certificate.proven and method == "auto"
    ours, peer = (1000 * float(np.mean(taken[method])) for method in ("auto", "ilp"))
    slowest = 1000 * float(np.quantile(taken["auto"], 0.99))
    print(
        f"conll04: {proven} of {len(held_out)} sentences proven, {ours:.1f} ms each, {slowest:.1f} ms in 99 % of them"
    )
    return compare("conll04, a sentence", "ms", ours, peer, "integer program alone")


if __name__ == "__main__":
    main()
