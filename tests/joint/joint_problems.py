"""Random joint problems, and their answers by enumeration: the meaning of docs/joint.md, written from the page."""

from __future__ import annotations

import math
from itertools import groupby, product

import numpy as np

from espalier.joint import JointProblem, PairLayer, TextLayer
from espalier.joint.decoding import JointDecoding

TAGS = ["O", "B-per", "I-per", "B-loc", "I-loc"]
PLAIN = ["O", "per", "loc"]
WORDS = ["noun", "verb"]
RELATIONS = ["none", "lives", "kills"]
PRICES = ["[hard]", "[penalty 0.4]", "[penalty 1.5]", "", "[penalty 0]"]
ACROSS = [
    "lives joins per and loc",
    "kills joins per and per",
    "lives, kills joins per and per, loc",
    "kills joins not loc and loc",
    "per, loc of names -> noun of words",
    "O of names -> verb of words",
    "same token -> same field of names",
    "same token -> same per of names",
    "same token -> same field of names where token ~ /[A-Z].*/",
]
OWN = [None, None, "Few: count(per) <= 1 [hard]", "Start: first in O [penalty 1]", "Order: per before loc [penalty 2]"]


def random_problem(rng: np.random.Generator, T: int = 3) -> JointProblem:
    """Two layers over one or two texts, and up to three pairs."""
    lengths = [int(rng.integers(1, T + 1))] if rng.random() < 0.6 else [int(rng.integers(1, 3)) for _ in range(2)]
    several = len(lengths) > 1 or rng.random() < 0.2
    tokens = [[str(rng.choice(["Ann", "Ulm", "saw"])) for _ in range(n)] for n in lengths]
    labels = TAGS if rng.random() < 0.6 else PLAIN
    scale = float(rng.choice([0.5, 2.0]))

    def layer(labels: list[str], rules: str | None = None) -> TextLayer:
        def draw(shape: tuple[int, ...]) -> np.ndarray:
            drawn = rng.normal(size=shape) * scale
            return np.round(drawn) if rng.random() < 0.15 else drawn  # ties

        L = len(labels)
        scores = [(draw((n, L)), draw((L, L)), draw((L,)), None) for n in lengths]
        shown, given = (scores, tokens) if several else (scores[0], tokens[0])
        return TextLayer(shown, labels=labels, tokens=given, rules=rules)

    places = []
    for _ in range(int(rng.integers(0, 4))):
        pair = []
        for _ in range(2):
            text = int(rng.integers(len(lengths)))
            start = int(rng.integers(lengths[text]))
            end = int(rng.integers(start + 1, lengths[text] + 1))
            pair.append((text, start, end) if several else (start, end))
        places.append(tuple(pair))
    relations = RELATIONS if rng.random() < 0.8 else RELATIONS[1:]  # without "none" hard rules may exclude everything
    layers = {
        "names": layer(labels, OWN[rng.integers(len(OWN))]),
        "pairs": PairLayer("names", places, rng.normal(size=(len(places), len(relations))) * scale, labels=relations),
        "words": layer(WORDS),
    }
    chosen = rng.choice(len(ACROSS), size=int(rng.integers(1, 5)), replace=False)
    rules = "\n".join(f"R{k}: {ACROSS[k]} {PRICES[rng.integers(len(PRICES))]}" for k in chosen)
    return JointProblem(layers, rules)


def field(label: str) -> str:
    return label.removeprefix("B-").removeprefix("I-")


def named(fields, label: str) -> bool:
    return (field(label) in fields.names) != fields.negated


def found_segments(names: list[str], fields) -> set[tuple[int, int]]:
    """Segments of these fields: a B- tag and the I- tags behind it; plain labels: runs of tokens in the fields."""
    if any(name[:2] in ("B-", "I-") for name in TAGS) and any(name[:2] in ("B-", "I-") for name in names):
        found = set()
        for start, name in enumerate(names):
            end = start + 1
            while end < len(names) and names[end].startswith("I-") and named(fields, names[end]):
                end += 1
            if name.startswith("B-") and named(fields, name):
                found.add((start, end))
        return found
    runs, t, found = groupby(names, lambda name: named(fields, name)), 0, set()
    for inside, run in runs:
        end = t + len(list(run))
        if inside:
            found.add((t, end))
        t = end
    return found


def counted(problem: JointProblem, node, names: dict[str, list[list[str]]]) -> int:
    """The degree of one rule, as the page says it; names : a list for each text of each layer."""
    kind = type(node).__name__
    if kind == "Joins":
        pairs, total = problem.layers["pairs"], 0
        tagged = problem.layers["names"].labels == TAGS
        for (head, tail), label in zip(pairs.places, names["pairs"][0], strict=True):
            if named(node.labels, label):
                for place, fields in ((head, node.head), (tail, node.tail)):
                    text, start, end = place if len(place) == 3 else (0, *place)
                    line = names["names"][text]
                    if tagged and not any(name[:2] in ("B-", "I-") for name in line):
                        total += 1  # no segment at all
                    else:
                        total += (start, end) not in found_segments(line, fields)
        return total
    if kind == "Across":
        here, there = names[node.layer], names[node.other]
        both = [pair for a, b in zip(here, there, strict=True) for pair in zip(a, b, strict=True)]
        return sum(named(node.given, a) and not named(node.fields, b) for a, b in both)
    layer, seen, total = problem.layers[node.layer], {}, 0
    texts = layer.tokens if layer.several else [layer.tokens]
    capital = "[A-Z]" in str(node)
    for tokens, line in zip(texts, names[node.layer], strict=True):
        for token, label in zip(tokens, line, strict=True):
            if capital and not token[0].isupper():
                continue
            now = field(label) if node.fields is None or named(node.fields, label) else None
            total += token in seen and seen[token] != now
            seen[token] = now
    return total


def enumerated(problem: JointProblem) -> list[tuple[float, dict[str, list[list[str]]]]]:
    """Every answer of finite score, best first; each chain by `espalier.decode`'s own reference, `evaluate`."""
    from espalier.decoders.base import evaluate

    options = []
    for chain in problem.chains:
        every = product(range(chain.problem.L), repeat=chain.problem.T)
        scored = [(evaluate(chain.problem, y).score, y) for y in every]
        options.append([(score, y) for score, y in scored if score > -math.inf])
    found = []
    for answer in product(*options):
        names: dict[str, list[list[str]]] = {}
        for chain, (_, y) in zip(problem.chains, answer, strict=True):
            names.setdefault(chain.layer, []).append([chain.problem.labels.names[j] for j in y])
        score = sum(part for part, _ in answer)
        for rule, price in zip(problem.joint_rules, problem.penalties, strict=True):
            degree = counted(problem, rule.node, names)
            score -= degree * price if degree else 0.0
        if score > -math.inf:
            found.append((score, names))
    return sorted(found, key=lambda item: -item[0])


def check(problem: JointProblem, **options) -> JointDecoding:
    """Compare an answer with enumeration, and return it. A false certificate is an error."""
    every = enumerated(problem)
    answer = problem.decode(**options)
    best = every[0][0] if every else -math.inf
    near = 1e-6 * max(1.0, abs(best)) if every else 0.0
    assert answer.certificate.bound >= best - near, (answer.certificate, best)
    if answer.names is None:
        assert not every or answer.status != "infeasible", (answer.certificate, best)
    elif answer.status == "optimal":
        assert abs(answer.score - best) <= near, (answer.certificate, answer.score, best)
    assert answer.score <= best + near
    return answer
