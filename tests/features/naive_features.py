"""The oracle: what each template means, token by token, as dictionaries. Slow, and shares no code with `src`."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise, product

from espalier.features.lexicon import Lexicon
from espalier.features.named import Call, NamedField, Regex, SequenceCall, Table, Vectors

Spec = list[tuple[str, int]]
"""A template: (field, offset) pairs."""

PLACES = ["New York", "New York City", "St. Louis", "York", "A.B.", "new", "ß-x"]
MONTHS = ["May", "june", "STRASSE"]
BROWN = {"New": ["0", "01"], "may": ["1"], ".": ["1", "11"], "a": []}
VECTORS = {"New": [0.5, 0.0], "york": [-1.0, 2.0], "aa": [0.0, 0.0]}


def vowels(word: str) -> list[str] | None:
    return [c for c in word if c in "aeiou"] or None


def weights(word: str) -> dict[str, float]:
    return {"letters": float(sum(c.isalpha() for c in word)), "half": 0.5}


def repeats(tokens: list[str]) -> list[list[str]]:
    return [["again"] if word in tokens[:t] else [] for t, word in enumerate(tokens)]


def distance(tokens: list[str]) -> list[dict[str, float]]:
    return [{"end": float(len(tokens) - 1 - t)} for t in range(len(tokens))]


FUNCTIONS: list[NamedField] = [
    Call("vowels", vowels),
    Call("weights", weights),
    SequenceCall("repeats", repeats),
    SequenceCall("distance", distance),
]
DEFINITIONS: list[NamedField] = [
    *FUNCTIONS,
    Regex("year", "[12][0-9]{3}"),
    Lexicon("places", PLACES),
    Lexicon("exact", PLACES, fold=False),
    Lexicon("months", MONTHS),
    Table("brown", BROWN),
    Table("folded", BROWN, fold=True),
    Vectors("v", tuple(VECTORS), [*VECTORS.values()]),
    Vectors("folded", tuple(VECTORS), [*VECTORS.values()], fold=True),
]
FIELDS = [
    *("word", "lower", "shape", "fullshape", "length", "flags", "bias", "edge", "position3", "position5"),
    *("prefix1", "prefix3", "suffix1", "suffix2"),
    *(field.text for field in DEFINITIONS),
]


def text_of(spec: Spec) -> str:
    return " & ".join(f"{field}@{offset}" if offset else field for field, offset in spec)


def naive(tokens: list[str], specs: list[Spec]) -> list[dict[str, float]]:
    """The attributes of each token of one sequence, by name."""
    T = len(tokens)
    found: list[dict[str, float]] = []
    for t in range(T):
        attributes: dict[str, float] = {}
        for spec in specs:
            one_offset = len({offset for _, offset in spec}) == 1
            choices = []
            for field, offset in spec:
                place = t + offset
                at = f"@{offset}" if offset else ""
                if 0 <= place < T:
                    choices.append([(field_name(field, v, at), w) for v, w in values(field, tokens, place).items()])
                else:
                    choices.append([(f"begin@{offset}" if place < 0 else f"end@{offset}", 1.0)])
            if one_offset and not 0 <= t + spec[0][1] < T:
                choices = choices[:1]
            for pairs in product(*choices):
                weight = 1.0
                for _, w in pairs:
                    weight *= w
                attributes[" & ".join(name for name, _ in pairs)] = weight
        found.append(attributes)
    return found


def naive_vocabulary(sequences: list[list[str]], specs: list[Spec], min_count: int) -> set[str]:
    counts = Counter(name for tokens in sequences for token in naive(tokens, specs) for name in token)
    return {name for name, count in counts.items() if count >= min_count}


def field_name(field: str, value: str, at: str) -> str:
    if field == "bias" or field.startswith("regex:"):
        return field + at
    return f"{field}{at}[{value}]" if field.startswith("vectors:") else f"{field}{at}={value}"


def values(field: str, tokens: list[str], t: int) -> dict[str, float]:
    word, T = tokens[t], len(tokens)
    if field.startswith("position"):
        return {str(int(field[8:]) * t // T): 1.0}
    if field == "edge":
        return dict.fromkeys(["first"] * (t == 0) + ["last"] * (t == T - 1), 1.0)
    if field.startswith("sequence:"):
        said = {"repeats": repeats, "distance": distance}[field[9:]](tokens)[t]
        return {k: w for k, w in said.items() if w} if isinstance(said, dict) else dict.fromkeys(said, 1.0)
    if field.startswith("lexicon:"):
        entries = MONTHS if field == "lexicon:months" else PLACES
        tag = lexicon_tags(tokens, entries, fold=field != "lexicon:exact")[t]
        return {tag: 1.0} if tag else {}
    return word_values(field, word)


def word_values(field: str, word: str) -> dict[str, float]:
    if field in ("table:brown", "table:folded"):
        table = BROWN if field == "table:brown" else {k.casefold(): v for k, v in BROWN.items()}
        return dict.fromkeys(table.get(word if field == "table:brown" else word.casefold(), []), 1.0)
    if field in ("vectors:v", "vectors:folded"):
        vectors = VECTORS if field == "vectors:v" else {k.casefold(): v for k, v in VECTORS.items()}
        vector = vectors.get(word if field == "vectors:v" else word.casefold(), [])
        return {str(d): x for d, x in enumerate(vector) if x}
    if field == "call:vowels":
        return dict.fromkeys(vowels(word) or [], 1.0)
    if field == "call:weights":
        return {k: w for k, w in weights(word).items() if w}
    if field == "regex:year":
        return {"": 1.0} if re.match(r"[12][0-9][0-9][0-9]\Z", word) else {}
    if field == "flags":
        return dict.fromkeys(naive_flags(word), 1.0)
    affix = re.fullmatch(r"(prefix|suffix)([0-9]+)", field)
    if affix:
        n = int(affix[2])
        part = word[:n] if affix[1] == "prefix" else word[len(word) - n :]
        return {part: 1.0} if len(word) >= n else {}
    single = {
        "bias": "",
        "word": word,
        "lower": word.lower(),
        "fullshape": "".join(map(sign, word)),
        "shape": "".join(sign(c) for i, c in enumerate(word) if i == 0 or sign(word[i - 1]) != sign(c)),
        "length": length_bin(len(word)),
    }
    return {single[field]: 1.0}


def sign(c: str) -> str:
    if c.isupper() or c.istitle():
        return "X"
    return "x" if c.isalpha() else "0" if c.isdigit() else c


def length_bin(n: int) -> str:
    for low, high in [(6, 7), (8, 10), (11, 15)]:
        if low <= n <= high:
            return f"{low}-{high}"
    return "16+" if n >= 16 else str(n)


def naive_flags(word: str) -> set[str]:
    upper = [c.isupper() or c.istitle() for c in word]
    other = [c.isalpha() and not u for c, u in zip(word, upper, strict=True)]
    digit = [c.isdigit() and not u for c, u in zip(word, upper, strict=True)]
    flags = set()
    if any(digit):
        flags.add("digits" if all(digit) else "hasdigit")
    if any(other) and upper[0]:
        flags.add("capitalised")
    if any(upper) and not any(other):
        flags.add("allcaps")
    if any(other) and not any(upper):
        flags.add("lowercase")
    if any(other) and any(upper[1:]):
        flags.add("mixed")
    if word and not any(upper + other + digit):
        flags.add("punctuation")
    if "-" in word[1:-1]:
        flags.add("hyphen")
    if len(word) >= 2 and word.endswith("."):
        flags.add("dot")
    return flags


def lexicon_tags(tokens: list[str], entries: list[str], *, fold: bool) -> list[str]:
    """Leftmost, longest, without overlap, by trying every stretch of tokens and every way to spell it."""
    known = {entry.casefold() if fold else entry for entry in entries}
    words = [word.casefold() if fold else word for word in tokens]
    tags = [""] * len(tokens)
    t = 0
    while t < len(words):
        for end in range(len(words), t, -1):
            if all(words[t:end]) and known & spellings(words[t:end]):
                tags[t:end] = ["B"] + ["I"] * (end - t - 1)
                t = end
                break
        else:
            t += 1
    return tags


def spellings(words: list[str]) -> set[str]:
    spelled = {words[0]}
    for before, word in pairwise(words):
        gaps = [" "] if before[-1].isalnum() and word[0].isalnum() else [" ", ""]
        spelled = {text + gap + word for text in spelled for gap in gaps}
    return spelled
