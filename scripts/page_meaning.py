"""What rules cost, written from the tables of `docs/rules.md` and from nothing else: a second opinion.

A rule is drawn as a pair: its text, for the library, and a function (tokens, labels) -> degree, for the brute force.
The functions below share no code with `espalier.rules`, so that one mistake cannot hide in both.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

WORDS = ("x", "y", "12", "7", ".", ",", "Ab")
VOCABULARIES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("a", "b", "c"), ("a", "b", "c")),
    (("a", "b", "O"), ("a", "b")),
    (("O", "B-a", "I-a", "B-b"), ("a", "b")),
    (("O", "B-a", "I-a", "B-b", "I-b"), ("a", "b")),
    (("s/p", "s/q", "b"), ("s", "p", "q", "s/p", "b")),
    (("B-s/B-p", "I-s/I-p", "I-s/B-p", "O"), ("s", "p", "s/p")),
)
"""Labels, and the fields that rules may name."""

Holds = Callable[[Sequence[str], int], bool]
Degree = Callable[["Page"], int]


class Piece(NamedTuple):
    """A segment: its path, its first token and the one behind its last."""

    path: str
    start: int
    end: int


class Page:
    """A labelled sequence, read as the page says."""

    def __init__(self, tokens: Sequence[str], labels: Sequence[str]) -> None:
        self.tokens, self.labels = tokens, labels
        self.paths = [_paths(label) for label in labels]
        self.pieces: list[Piece] = []
        opened: list[tuple[str, int]] = []
        for t, label in enumerate(labels):
            marks, paths = _marks(label), self.paths[t]
            goes_on = 0
            while (
                goes_on < min(len(paths), len(opened))
                and opened[goes_on][0] == paths[goes_on]
                and marks[goes_on] != "B"
            ):
                goes_on += 1
            self._close(opened, goes_on, t)
            opened += [(path, t) for path in paths[goes_on:]]
        self._close(opened, 0, len(labels))

    def _close(self, opened: list[tuple[str, int]], keep: int, end: int) -> None:
        while len(opened) > keep:
            path, start = opened.pop()
            self.pieces.append(Piece(path, start, end))

    def of(self, wanted: Chosen) -> list[Piece]:
        return [piece for piece in self.pieces if wanted.segment(piece.path)]

    def inside(self, t: int, wanted: Chosen) -> bool:
        """Is token t in the fields?  Beyond the ends nothing is in a field."""
        return wanted.token(self.paths[t] if 0 <= t < len(self.paths) else [])

    def borders(self) -> list[int]:
        found = {t for piece in self.pieces for t in (piece.start, piece.end)}
        return sorted(found - {0, len(self.labels)})


class Chosen(NamedTuple):
    """A set of fields as the page names them: some, `any field`, `anything`, or any but some."""

    text: str
    names: tuple[str, ...]
    kind: str

    def token(self, paths: Sequence[str]) -> bool:
        named = any(_called(name, path) for name in self.names for path in paths)
        return {"named": named, "field": bool(paths), "anything": True, "but": not named}[self.kind]

    def segment(self, path: str) -> bool:
        return self.token([path]) if self.kind != "but" else not any(_called(name, path) for name in self.names)


def _paths(label: str) -> list[str]:
    parts = [] if label == "O" else [part[2:] if part[:2] in ("B-", "I-") else part for part in label.split("/")]
    return ["/".join(parts[: d + 1]) for d in range(len(parts))]


def _marks(label: str) -> list[str]:
    return [part[0] if part[:2] in ("B-", "I-") else "" for part in label.split("/")]


def _called(name: str, path: str) -> bool:
    return path == name or path.endswith("/" + name)


def fits(labels: Sequence[str]) -> bool:
    """Does every I- tag continue something?  Plain labels always fit."""
    before: list[str] = []
    for label in labels:
        paths, marks = _paths(label), _marks(label)
        begun = False
        for depth, path in enumerate(paths):
            begun = begun or marks[depth] == "B"
            if marks[depth] == "I" and (begun or depth >= len(before) or before[depth] != path):
                return False
        before = paths
    return True


# Conditions on tokens.


def _word(rng: random.Random) -> tuple[str, Holds]:
    words = rng.sample(WORDS, rng.randint(1, 2))
    return "in " + ", ".join(f'"{w}"' for w in words), lambda x, t: x[t].lower() in [w.lower() for w in words]


def _pattern(rng: random.Random) -> tuple[str, Holds]:
    pattern = rng.choice([r"\d+", "[xy]", "[A-Z].*"])
    return f"~ /{pattern}/", lambda x, t: re.fullmatch(pattern, x[t]) is not None


def _kind(rng: random.Random) -> tuple[str, Holds]:
    kinds: dict[str, Holds] = {
        "punctuation": lambda x, t: x[t] in ".,",
        "number": lambda x, t: x[t].isdigit(),
        "capitalised": lambda x, t: x[t] == "Ab",
        "first": lambda x, t: t == 0,
        "last": lambda x, t: t == len(x) - 1,
    }
    name = rng.choice(sorted(kinds))
    return f"is {name}", kinds[name]


def _shape(rng: random.Random) -> tuple[str, Holds]:
    shape = rng.choice(["x", "d", "Xx", "."])
    shapes = {"x": "x", "y": "x", "12": "d", "7": "d", ".": ".", ",": ",", "Ab": "Xx"}
    return f'shape "{shape}"', lambda x, t: shapes[x[t]] == shape


def _at(rng: random.Random) -> tuple[str, Holds]:
    first, last = sorted(rng.choices([0, 1, 2], k=2)) if rng.random() < 0.5 else sorted(rng.choices([-3, -2, -1], k=2))
    return f"at {first}..{last}", lambda x, t: first <= (t - len(x) if first < 0 else t) <= last


def condition(rng: random.Random, depth: int = 1) -> tuple[str, Holds]:
    """Draw a condition on a token: its text without the word `token`, and when it holds."""
    if depth and rng.random() < 0.35:
        (one, f), (two, g) = condition(rng, 0), condition(rng, 0)
        made: list[tuple[str, Holds]] = [
            (f"(({one}) and ({two}))", lambda x, t: f(x, t) and g(x, t)),
            (f"(({one}) or ({two}))", lambda x, t: f(x, t) or g(x, t)),
            (f"not ({one})", lambda x, t: not f(x, t)),
            (f"previous ({one})", lambda x, t: t > 0 and f(x, t - 1)),
            (f"next ({one})", lambda x, t: t + 1 < len(x) and f(x, t + 1)),
        ]
        return rng.choice(made)
    return rng.choice([_word, _pattern, _kind, _shape, _at])(rng)


# Rules.


def fields(rng: random.Random, known: Sequence[str], *, leading: bool = False) -> Chosen:
    """Draw a set of fields."""
    kind = rng.choice(["named"] * 5 + ["field", "but"])
    if kind == "field":
        return Chosen("any field", (), kind)
    names = tuple(rng.sample(list(known), rng.randint(1, min(2, len(known)))))
    text = ", ".join(f'"{name}"' for name in names)
    return Chosen(("any but " if kind == "but" else "") + text, names, kind)


def _wrong_token(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    then = fields(rng, known)
    (text, holds), offset = condition(rng), rng.choice([-1, 0, 0, 1])
    given = fields(rng, known) if rng.random() < 0.4 else Chosen("", (), "anything")
    where = f"token {text}" if given.kind == "anything" else f"label {given.text} and token {text}"
    arrow = {-1: "-> previous", 0: "->", 1: "-> next"}[offset]

    def degree(p: Page) -> int:
        at = [t for t in range(len(p.tokens)) if holds(p.tokens, t) and p.inside(t, given)]
        return sum(not p.inside(t + offset, then) for t in at)

    return f"{where} {arrow} {then.text}", degree


def _ends(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    then, first = fields(rng, known), rng.random() < 0.5

    def degree(p: Page) -> int:
        return int(bool(p.tokens) and not p.inside(0 if first else len(p.tokens) - 1, then))

    return f"{'first' if first else 'last'} in {then.text}", degree


def _positions(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    then, end = fields(rng, known), rng.randint(0, 2)
    return f"tokens 0..{end} are {then.text}", lambda p: sum(
        not p.inside(t, then) for t in range(min(end + 1, len(p.tokens)))
    )


def _change(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    (text, holds), where = condition(rng), rng.choice(["after", "before", "at"])

    def degree(p: Page) -> int:
        def kept(t: int) -> bool:
            behind, ahead = holds(p.tokens, t), holds(p.tokens, t - 1)
            return {"after": ahead, "before": behind, "at": ahead or behind}[where]

        return sum(not kept(t) for t in p.borders())

    return f"change only {where} ({text})", degree


def _once(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    wanted = fields(rng, known)

    def degree(p: Page) -> int:
        if wanted.kind != "named":  # each path is a field of its own
            paths = {piece.path for piece in p.of(wanted)}
            return sum(sum(piece.path == path for piece in p.pieces) - 1 for path in paths)
        found = [sum(_called(name, piece.path) for piece in p.pieces) for name in wanted.names]
        return sum(max(0, n - 1) for n in found)

    return ("each field once" if wanted.kind == "field" else f"{wanted.text} once"), degree


def _length(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    wanted, n, sign = fields(rng, known), rng.randint(1, 3), rng.choice(["<=", ">=", "=="])

    def degree(p: Page) -> int:
        lengths = [piece.end - piece.start for piece in p.of(wanted)]
        short = 0 if sign == "<=" else sum(length < n for length in lengths)
        return short + (0 if sign == ">=" else sum(max(0, length - n) for length in lengths))

    return f"length({wanted.text}) {sign} {n}", degree


def _sum(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    text, parts, used = "", [], set()
    for _ in range(rng.randint(1, 3)):
        wanted, unit, c = fields(rng, known), rng.choice(["count", "tokens"]), rng.choice([-2, -1, 1, 2])
        if (unit, wanted.kind, frozenset(wanted.names)) not in used:
            used.add((unit, wanted.kind, frozenset(wanted.names)))
            text += f" {'-' if c < 0 else '+'} {abs(c)} {unit}({wanted.text})"
            parts.append((c, unit, wanted))
    text = text[3:] if text.startswith(" + ") else text[1:]
    bound, sign = rng.randint(-1, 3), rng.choice(["<=", ">=", "==", "!=", "<", ">"])

    def degree(p: Page) -> int:
        total = 0
        for c, unit, wanted in parts:
            tokens = sum(p.inside(t, wanted) for t in range(len(p.tokens)))
            total += c * (len(p.of(wanted)) if unit == "count" else tokens)
        over = total - bound
        missed = {"<=": over, ">=": -over, "==": abs(over), "!=": int(over == 0), "<": over + 1, ">": 1 - over}
        return max(0, missed[sign])

    return f"{text} {sign} {bound}", degree


def _presence(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    a, b = fields(rng, known), fields(rng, known)
    name = f'"{rng.choice(list(known))}"'
    one = Chosen(name, (name[1:-1],), "named")
    return rng.choice(
        [
            (f"{name} required", lambda p: int(not p.of(one))),
            (f"{a.text} excludes {b.text}", lambda p: len(p.of(b)) if p.of(a) else 0),
            (f"{a.text} requires {b.text}", lambda p: int(bool(p.of(a)) and not p.of(b))),
        ]
    )


def _order(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    a, b = fields(rng, known), fields(rng, known)

    def before(p: Page) -> int:
        return sum(any(other.end <= piece.start for other in p.of(b)) for piece in p.of(a))

    def later(p: Page) -> int:
        return int(any(not any(other.start >= piece.end for other in p.of(b)) for piece in p.of(a)))

    return rng.choice(
        [
            (f"{a.text} before {b.text}", before),
            (f"{a.text} followed later by {b.text}", later),
            (f"{a.text} followed by {b.text}", lambda p: sum(not p.inside(piece.end, b) for piece in p.of(a))),
        ]
    )


def _input(rng: random.Random, known: Sequence[str]) -> tuple[str, Degree]:
    text, holds = condition(rng)
    found = rng.choice(["12", "x y", "Ab"])
    return rng.choice(
        [
            (f"any token {text}", lambda p: int(not any(holds(p.tokens, t) for t in range(len(p.tokens))))),
            (f"text ~ /{found}/", lambda p: int(found not in " ".join(p.tokens))),
        ]
    )


SIMPLE = (_wrong_token, _wrong_token, _ends, _positions, _change, _once, _length, _sum, _presence, _order, _input)


def rule(rng: random.Random, known: Sequence[str], depth: int = 1) -> tuple[str, Degree]:
    """Draw a rule: its text, and its degree by the page."""
    if depth and rng.random() < 0.3:
        (one, f), (two, g) = rule(rng, known, depth - 1), rule(rng, known, depth - 1)
        made: list[tuple[str, Degree]] = [
            (f"if ({one}) then ({two})", lambda p: g(p) if f(p) == 0 else 0),
            (f"({one}) and ({two})", lambda p: f(p) + g(p)),
            (f"({one}) or ({two})", lambda p: min(f(p), g(p))),
            (f"not ({one})", lambda p: int(f(p) == 0)),
        ]
        return rng.choice(made)
    return rng.choice(SIMPLE)(rng, known)
