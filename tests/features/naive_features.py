"""The oracle: what each template means, token by token, as dictionaries. Slow, and shares no code with `src`."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise, product

import numpy as np

from espalier.features.conditions import ConditionField
from espalier.features.declare import Call, Lexicon, RegexField, SequenceCall, TableField, Vectors
from espalier.features.fields import NamedField
from espalier.features.word_classes import WordClasses

Spec = list[tuple[str, int]]
"""A template: (field, offset) pairs."""

PLACES = ["New York", "New York City", "St. Louis", "York", "A.B.", "new", "ß-x"]
MONTHS = ["May", "june", "STRASSE"]
BROWN = {"New": ["0", "01"], "may": ["1"], ".": ["1", "11"], "a": []}
VECTORS = {"New": [0.5, 0.0], "york": [-1.0, 2.0], "aa": [0.0, 0.0]}
CLASSES = {"new": ([1, 4], [0.5, -0.25]), "YYYY": ([0, 2], [1.0, 0.0]), "000": ([1, 0], [0.0, 0.0])}
"""Of words with case and numbers taken out: clusters of sizes 2 and 5, and a vector."""


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
    RegexField("year", "[12][0-9]{3}"),
    ConditionField("pair", 'in phrase (/[A-Z].*/ "." or "a" "a"+)'),
    ConditionField("near", 'within -2..3 "new"'),
    ConditionField("upper", "is uppercase"),
    Lexicon("places", PLACES),
    Lexicon("exact", PLACES, fold=False),
    Lexicon("months", MONTHS),
    TableField("brown", BROWN),
    TableField("folded", BROWN, fold=True),
    Vectors("v", tuple(VECTORS), [*VECTORS.values()]),
    Vectors("folded", tuple(VECTORS), [*VECTORS.values()], fold=True),
    *WordClasses(
        tuple(CLASSES), (2, 5), np.array([c for c, _ in CLASSES.values()]), np.array([v for _, v in CLASSES.values()])
    ).fields("text"),
]
FIELDS = [
    *("word", "lower", "shape", "fullshape", "length", "flags", "bias", "edge", "position3", "position5"),
    *("prefix1", "prefix3", "suffix1", "suffix2"),
    *(field.text for field in DEFINITIONS),
    *("quoted", "bracketed", "chunkindex", "chunklength", "sentenceindex", "sentencelength"),
    *("chunk(lower)", "chunk-1(flags)", "chunk+2(word)", "sentence(shape)*0.25", "sentence+1(lexicon:places)"),
    *("chunkfirst(lower)", "chunklast-1(word)", "sentencefirst(prefix1)", "sentencelast+1(vectors:v)*3.0"),
    *("chunk(vectors:v)", "sentence(vector:text)*1.5", "chunk(call:weights)", "chunk(sequence:distance)"),
    *("before(regex:year)", "after(flags)", "before(lower)*0.5", "after(chunk-1(lexicon:months))"),
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
    if field == "bias" or field.startswith(("regex:", "condition:")):
        return field + at
    if field in ("quoted", "bracketed"):
        return field + at
    if "(" in field:
        inner = field[field.index("(") + 1 : field.rindex(")")]
        return field + at + field_name(inner, value, "").removeprefix(inner)
    return f"{field}{at}[{value}]" if field.startswith("vector") else f"{field}{at}={value}"


def values(field: str, tokens: list[str], t: int) -> dict[str, float]:
    word, T = tokens[t], len(tokens)
    if field in ("quoted", "bracketed") or field.startswith(("chunk", "sentence", "before", "after")):
        return span_values(field, tokens, t)
    if field.startswith("position"):
        return {str(int(field[8:]) * t // T): 1.0}
    if field == "edge":
        return dict.fromkeys(["first"] * (t == 0) + ["last"] * (t == T - 1), 1.0)
    if field.startswith("sequence:"):
        said = {"repeats": repeats, "distance": distance}[field[9:]](tokens)[t]
        return {k: w for k, w in said.items() if w} if isinstance(said, dict) else dict.fromkeys(said, 1.0)
    if field.startswith("condition:"):
        return {"": 1.0} if condition_holds(field, tokens, t) else {}
    if field.startswith("lexicon:"):
        entries = MONTHS if field == "lexicon:months" else PLACES
        tag = lexicon_tags(tokens, entries, fold=field != "lexicon:exact")[t]
        return {tag: 1.0} if tag else {}
    return word_values(field, word)


def condition_holds(field: str, tokens: list[str], t: int) -> bool:
    if field == "condition:upper":
        return tokens[t].isupper()
    if field == "condition:near":
        return any(word.lower() == "new" for word in tokens[max(t - 2, 0) : t + 4])
    pairs = [u for u in range(len(tokens) - 1) if re.match("[A-Z]", tokens[u]) and tokens[u + 1] == "."]
    same = [u for u in range(len(tokens) - 1) if tokens[u].lower() == tokens[u + 1].lower() == "a"]
    return t in pairs or t - 1 in pairs or t in same or t - 1 in same


def span_values(field: str, tokens: list[str], t: int) -> dict[str, float]:
    if field == "quoted":
        marks = [word in ('"', "“", "”", "``", "''") for word in tokens]
        return {"": 1.0} if not marks[t] and sum(marks[:t]) % 2 and any(marks[t:]) else {}
    if field == "bracketed":
        opened = 0
        for word in tokens[:t]:
            opened = opened + 1 if word in list("([{") else max(opened - 1, 0) if word in list(")]}") else opened
        inside = opened and tokens[t] not in list("([{)]}") and any(word in list(")]}") for word in tokens[t:])
        return {"": 1.0} if inside else {}
    unit = "chunk" if field.startswith("chunk") else "sentence"
    stretches = naive_stretches(tokens, unit)
    own = next(i for i, stretch in enumerate(stretches) if t in stretch)
    if field == unit + "index":
        return {str(own) if own < 9 else "9+": 1.0}
    if field == unit + "length":
        return {length_bin(len(stretches[own])): 1.0}
    parts = re.fullmatch(r"([a-z]+)([+-][0-9]+)?\((.*)\)(?:\*([0-9.]+))?", field)
    assert parts
    scope, shift, inner, value = parts[1], int(parts[2] or 0), parts[3], float(parts[4] or 1)
    if scope == "before":
        places = list(range(t))
    elif scope == "after":
        places = list(range(t + 1, len(tokens)))
    else:
        places = list(stretches[own + shift]) if 0 <= own + shift < len(stretches) else []
        places = places[:1] if scope.endswith("first") else places[-1:] if scope.endswith("last") else places
    found = [values(inner, tokens, place) for place in places]
    names = {name for one in found for name in one}
    if inner.startswith("vector"):
        means = {name: sum(one.get(name, 0.0) for one in found) / len(found) for name in names}
        return {name: value * mean for name, mean in means.items() if mean}
    return {name: value * max(one[name] for one in found if name in one) for name in names}


def naive_stretches(tokens: list[str], unit: str) -> list[range]:
    """Go from token to token; a stretch is closed where the next token may not join it."""
    borders = [0]
    for t in range(1, len(tokens)):
        joins = not any(c.isalnum() for c in tokens[t]) and ends_stretch(tokens, t, unit)
        if ends_stretch(tokens, t - 1, unit) and not joins:
            borders.append(t)
    return [range(a, b) for a, b in pairwise([*borders, len(tokens)])]


def ends_stretch(tokens: list[str], t: int, unit: str) -> bool:
    word = tokens[t]
    if unit == "chunk" and word in ("``", "''"):
        return True
    if not word or word[-1] not in ('.,;:"“”' if unit == "chunk" else ".!?"):
        return False
    if word[-1] != ".":
        return True
    stem = word[:-1] or (tokens[t - 1] if t else "")
    return not ((len(stem) == 1 and stem.isalpha()) or stem.lower() in ("st", "pp", "dr"))


def word_values(field: str, word: str) -> dict[str, float]:
    if field in ("classes:text", "vector:text"):
        number = "YYYY" if re.fullmatch("(18|19|20)[0-9]{2}[a-z]?", word) else "0" * len(word)
        is_number = word.isdecimal() or number == "YYYY"
        clusters, vector = CLASSES.get(number if is_number else word.lower(), ([], []))
        if field == "vector:text":
            return {str(d): x for d, x in enumerate(vector) if x}
        return {f"{size}/{k}": 1.0 for size, k in zip((2, 5), clusters, strict=False)}
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
