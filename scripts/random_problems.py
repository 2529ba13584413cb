"""Random problems over all forms of rules: every decoder against a brute force written from `docs/rules.md`.

    python scripts/random_problems.py --problems 10000
    python scripts/random_problems.py --problems 100000 --jobs 14 --seconds 500 --out random.txt

A problem is a few tokens, random scores and up to four rules, some hard, some paid once. The brute force
(`page_meaning.py`) prices every labelling. An answer must cost what it says, no labelling may score more than its
bound, `optimal` and `infeasible` must be true, and a method that is exact must answer. A failure prints the problem.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from page_meaning import VOCABULARIES, WORDS, Degree, Page, fits, rule

import espalier as es
from espalier.decoders import DECODERS
from espalier.decoders.api import problem_of
from espalier.decoders.table import run
from espalier.errors import InputError

CLOSE = 1e-6
PART = 100  # problems that a process takes at a time
OPTIONS: dict[str, dict[str, int]] = {"gibbs": {"sweeps": 3}, "beam": {"width": 3}}


class Drawn(NamedTuple):
    """One problem: arrays of scores, the text of its rules, and the price and degree of each by the page."""

    labels: tuple[str, ...]
    tokens: list[str]
    scores: tuple[Any, ...]
    text: str
    rules: list[tuple[float, bool, Degree]]


def drawn(seed: int) -> Drawn:
    """Draw the problem of a seed."""
    rng = random.Random(seed)
    labels, known = rng.choice(VOCABULARIES)
    tokens = rng.choices(WORDS, k=rng.randint(1, 4))
    numbers = np.random.default_rng(seed)
    T, L = len(tokens), len(labels)
    shapes = [(T, L), (L, L), (L,), (L,)]
    scores = tuple(numbers.normal(0, 1.5, shape).round(2) for shape in shapes)
    if rng.random() < 0.2:
        scores[1][rng.randrange(L), rng.randrange(L)] = -np.inf
    lines, rules = [], []
    for k in range(rng.randint(1, 4)):
        text, degree = rule(rng, known)
        penalty = rng.choice([math.inf, math.inf, *(round(rng.uniform(0, 4), 2) for _ in range(4))])
        once = rng.random() < 0.15
        option = "hard" if penalty == math.inf else f"penalty {penalty}"
        lines.append(f"R{k}: {text}  [{option}{', once' if once else ''}]")
        rules.append((penalty, once, degree))
    return Drawn(labels, tokens, scores, "\n".join(lines), rules)


def priced(problem: Drawn) -> dict[tuple[int, ...], float]:
    """Return the score of every labelling, by the page."""
    unary, trans, start, end = problem.scores
    found = {}
    for y in itertools.product(range(len(problem.labels)), repeat=len(problem.tokens)):
        names = [problem.labels[i] for i in y]
        if not fits(names):
            found[y] = -math.inf
            continue
        score = math.fsum(unary[t, i] for t, i in enumerate(y)) + start[y[0]] + end[y[-1]]
        score += math.fsum(trans[i, j] for i, j in itertools.pairwise(y))
        page = Page(problem.tokens, names)
        for penalty, once, degree in problem.rules:
            if (d := degree(page)) and penalty:
                score -= penalty * (min(1, d) if once else d)
        found[y] = score
    return found


def wrong(answer: es.Decoding, prices: dict[tuple[int, ...], float], exact: bool) -> str:
    """Return what is wrong with an answer, nothing if it is right."""
    top, said = max(prices.values()), answer.certificate
    if said.bound < top - CLOSE:
        return f"the bound is {said.bound}, but a labelling scores {top}"
    if answer.labels is None:
        if str(said.status) == "infeasible" and top > -math.inf:
            return f"infeasible, but a labelling scores {top}"
        return "no answer" if exact and top > -math.inf else ""
    price = prices[tuple(answer.labels.tolist())]
    if str(said.status) == "infeasible":
        return "infeasible, with labels"
    if abs(price - answer.score) > CLOSE and price != answer.score:
        return f"it says {answer.score}, and costs {price}"
    if str(said.status) == "optimal" and price < top - CLOSE:
        return f"optimal with {price}, but a labelling scores {top}"
    return f"not proven: {said.status}" if exact and str(said.status) != "optimal" else ""


def answers(problem: Drawn) -> list[tuple[str, bool, es.Decoding]]:
    """Return the answer of every method that takes the rules, and whether it must prove it."""
    rules = es.rules(problem.text)
    twice = [es.Potentials(*problem.scores)] * 2
    batch = es.decode(twice, rules, tokens=[problem.tokens] * 2, labels=problem.labels, threads=1)
    one = problem_of(problem.scores, rules, tokens=problem.tokens, labels=problem.labels)
    found = [("auto", True, run(one)), ("batch", True, batch[1])]
    for name, decoder in DECODERS.items():
        try:
            found.append((name, decoder.exact, run(one, name, **OPTIONS.get(name, {}))))
        except InputError:  # a method that does not take these rules says so
            continue
    return found


class Tally(NamedTuple):
    """What came of some problems: how many were played, answers by method and status, failures as text."""

    played: int
    answers: Counter[tuple[str, str]]
    failures: list[str]


def played(seeds: Iterable[int], until: float = math.inf) -> Tally:
    """Play the problems of seeds, or as many as there is time for; each failure is printed at once."""
    answered: Counter[tuple[str, str]] = Counter()
    failures: list[str] = []
    count = 0
    try:
        for seed in seeds:
            if time.time() > until:
                break
            problem = drawn(seed)
            prices = priced(problem)
            for name, exact, answer in answers(problem):
                answered[name, str(answer.status)] += 1
                if said := wrong(answer, prices, exact):
                    failures.append(f"seed {seed}, {name}: {said}\n{problem.tokens} {problem.labels}\n{problem.text}\n")
                    print(failures[-1], flush=True)
            count += 1
    except KeyboardInterrupt:  # what was played so far is a result, too
        print("interrupted", flush=True)
    return Tally(count, answered, failures)


def played_by(jobs: int, seeds: range, until: float = math.inf) -> Tally:
    """Play the problems of seeds in so many processes; the sum does not depend on how many there are."""
    if jobs == 1:
        return played(seeds, until)
    parts = [seeds[k : k + PART] for k in range(0, len(seeds), PART)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(played, parts, itertools.repeat(until)))
    return Tally(
        sum(one.played for one in found),
        sum((one.answers for one in found), Counter()),
        [text for one in found for text in one.failures],
    )


def report(found: Tally, seed: int, asked: int) -> str:
    """Return the table of `docs/reliability.md` and its last line."""
    lines = ["| method | answers | optimal | bounded | heuristic | infeasible |", "|---|---|---|---|---|---|"]
    for name in ("auto", "batch", *DECODERS):
        row = [found.answers[name, status] for status in ("optimal", "bounded", "heuristic", "infeasible")]
        lines.append(f"| {name} | {sum(row):,} | " + " | ".join(f"{n:,}" for n in row) + " |")
    of = "" if found.played == asked else f" of {asked:,}"
    lines.append(f"{found.played:,}{of} problems from seed {seed}, {len(found.failures)} failures")
    return "\n".join(lines)


def main() -> int:
    """Play the problems; print what was proven, and every failure."""
    parser = argparse.ArgumentParser(description="Compare every decoder with a brute force on random problems.")
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; each problem has its own")
    parser.add_argument("--jobs", type=int, default=1, help="processes; the counts do not depend on it")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no problem after so many seconds")
    parser.add_argument("--out", type=Path, help="write the report there, too, with the failures")
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + given.problems)
    found = played_by(given.jobs, seeds, time.time() + given.seconds)
    text = report(found, given.seed, given.problems)
    print(text)
    if given.out is not None:
        given.out.write_text("\n".join([text, *found.failures]) + "\n", encoding="utf-8")
    return int(bool(found.failures))


if __name__ == "__main__":
    raise SystemExit(main())
