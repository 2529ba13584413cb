"""Learn which stretches of a list of names are bodies: `citations/normalise/bodies.npy`.

    python scripts/train_names.py --data DIR

DIR holds `publishers` (references, and the fields that their publishers gave), `metadata` (works, whose people are
listed here in many styles, beside the bodies of `rendering/words.toml`, `rendering/abroad.toml` and
`rendering/bodies.toml`) and `wikigold` and `conll04` (people and bodies in running text). Parts `train` are learned
from, parts `dev` chosen on. The same data give the same weights.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from rendering.words import LANGUAGES, Words, read_table

import espalier as es
from espalier.citations.normalise.bodies import BUCKETS, LABELS, STEP, Stretch, features_of
from espalier.citations.normalise.name_pieces import stretches_of
from espalier.citations.parser import bundled_parser

BODIES = ("bodies", "institutes", "universities", "standards_bodies", "hosts")
"""Lists of `words.toml` that are bodies."""

OURS = ("plain", "abroad", "single")
"""Lists of `bodies.toml` that are bodies; the others are parts of them."""

OUTPUT = Path(__file__).parents[1] / "src/espalier/citations/normalise/bodies.npy"


class Part(NamedTuple):
    """A name as it stands in a list, and whether it is a body."""

    text: str
    body: bool


WORDS = (
    *(
        "Co",
        "Church",
        "Bank",
        "House",
        "Board",
        "Park",
        "Gallery",
        "Stadt",
        "Banco",
        "Hall",
        "Page",
        "Work",
        "Day",
        "West",
    ),
    *("Bal", "Rao", "Das", "Roy", "Ali", "Cho", "Kim", "Lee", "Ito", "Abe", "Wu", "Diaz", "Chan"),
)
"""Families that are words of bodies, too."""
BETWEEN = {
    "es": (" y ", " de la ", " de ", " "),
    "it": (" ", " di "),
    "pt": (" e ", " da ", " de ", " "),
    "fr": (" de ",),
}
"""What stands between two halves of a family name."""
SUFFIXES = (", MD", ", M.D.", ", PhD", " Jr.", ", Jr.", " III", ", Ph.D.", ", RN", ", Esq.")

_OTHERS = re.compile(r",? et al\b\.?")

Labelled = tuple[list[Stretch], list[str]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the sets, learn, say how good it is on what was not learned from, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of publishers, metadata, wikigold, conll04")
    parser.add_argument("--lists", type=int, default=40_000, help="lists that are made up")
    parser.add_argument("--l2", type=float, default=0.3, help="the ridge")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the file to write")
    options = parser.parse_args(arguments)
    random = Random(0)
    train = [
        *printed(options.data, "train") * 3,
        *made_up(options.data, "train", options.lists, random),
        *running(options.data, "train"),
    ]
    dev = {
        "printed": printed(options.data, "dev"),
        "made up": list(made_up(options.data, "dev", 2000, random)),
        "running": running(options.data, "dev"),
    }
    model = es.CRF(l2=options.l2)
    model.fit([list(attributes(stretches)) for stretches, _ in train], [labels for _, labels in train], labels=LABELS)
    for name, lists in dev.items():
        found = model.predict([list(attributes(stretches)) for stretches, _ in lists])
        wrong = [k for k, (_, labels) in enumerate(lists) if list(found[k]) != labels]
        print(f"{name}: {len(lists)} lists, {len(wrong)} not right")
        for k in wrong[:40]:
            print("   ", [" ".join(stretch.words) for stretch in lists[k][0]], found[k], lists[k][1])
    table = packed(model)
    np.save(options.output, table)
    print(f"{len(train)} lists, {np.count_nonzero(table.any(axis=1))} rows, {options.output.stat().st_size} bytes")


def attributes(stretches: Sequence[Stretch]) -> Iterator[list[str]]:
    """Yield what each stretch shows, as names of attributes."""
    for k in range(len(stretches)):
        yield [str(bucket) for bucket in sorted(set(features_of(stretches, k)))]


def packed(model: es.CRF) -> np.ndarray:
    """Return weights as rows of bytes: how much rather a body begins, or goes on, than that it is a person's."""
    rows = np.zeros((BUCKETS + len(LABELS), 2))
    for (bucket, label), weight in model.weights().items():
        if label == LABELS[0]:
            rows[int(bucket)] -= weight
        else:
            rows[int(bucket), LABELS.index(label) - 1] += weight
    for (before, label), weight in model.transition_weights().items():
        if before in LABELS:
            row = rows[BUCKETS + LABELS.index(before)]
            if label == LABELS[0]:
                row -= weight
            else:
                row[LABELS.index(label) - 1] += weight
    rows[BUCKETS, 1] = -127 / STEP  # nothing goes on with a body that did not begin
    return np.clip(np.rint(rows * STEP), -127, 127).astype(np.int8)


def labelled(parts: Sequence[tuple[str, bool]], text: str) -> Labelled | None:
    """Return the stretches of a list with their labels; `parts` are its names and what joins them, in order.

    None where a stretch is of two names.
    """
    owners: list[tuple[int, bool]] = []
    for number, (part, body) in enumerate(parts):
        owners += [(number, body)] * sum(map(str.isalnum, part))
    stretches, labels, at, last = stretches_of(text), [], 0, -1
    letters = [sign for sign in text if sign.isalnum()]
    for stretch in stretches:
        told = [sign for word in stretch.words for sign in word if sign.isalnum()]
        while letters[at : at + len(told)] != told:
            at += 1
            if at >= len(letters):
                return None
        theirs = set(owners[at : at + len(told)])
        if len(theirs) != 1:
            return None
        ((number, body),) = theirs
        labels.append(LABELS[0] if not body else LABELS[2] if number == last else LABELS[1])
        last, at = number, at + len(told)
    return stretches, labels


def printed(data: Path, part: str) -> list[Labelled]:
    """Return the authors and editors of references, as a parser cut them out, whose publishers said who is a body."""
    rows = list(_rows(data / "publishers" / f"{part}.jsonl"))
    found = []
    for row, record in zip(rows, bundled_parser().parse_many(row["text"] for row in rows), strict=True):
        for role, names in (("author", row["fields"]["authors"]), ("editor", row["fields"]["editors"])):
            bodies = [name["literal"] for name in names if " " in name.get("literal", "").strip()]
            text = _OTHERS.sub("", " ".join(field.text for field in record.fields if field.label == role))
            doubtful = any("literal" in name and name["literal"] not in bodies for name in names)
            if names and text and not doubtful and (one := labelled(list(_apart(text, bodies)), text)):
                found.append(one)
    return found


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, which may be packed."""
    text = path.read_bytes() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes())
    yield from map(json.loads, filter(None, text.decode("utf-8").split("\n")))


def _apart(text: str, bodies: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the stretches of a text that are bodies, and those between; a body that is not there is in no stretch."""
    for body in bodies:
        before, found, text = text.partition(body)
        if not found:
            text = before
            continue
        yield before, False
        yield body, True
    yield text, False


def running(data: Path, part: str) -> list[Labelled]:
    """Return people and bodies of news and of an encyclopaedia, each a list of one."""
    found = []
    for name in ("wikigold", "conll04"):
        for row in _rows(data / name / "normalised" / f"{part}.jsonl"):
            for text, label in _entities(row):
                if label in ("person", "organisation") and " " in text:
                    one = labelled([(text, label == "organisation")], text)
                    if one and one[0]:
                        found.append(one)
    return found


def _entities(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    words: list[str] = []
    label = ""
    for token, tag in [*zip(row["tokens"], row["bio"], strict=True), ("", "O")]:
        if tag[:1] != "I" and words:
            yield " ".join(words).replace(" .", ".").replace(" ,", ",").replace(" '", "'"), label
            words = []
        if tag != "O":
            words, label = [*words, token], tag[2:]


def made_up(data: Path, part: str, n: int, random: Random) -> Iterator[Labelled]:
    """Yield lists of the people of works and of bodies, in the styles of `STYLES`."""
    rows = _rows(data / "metadata/normalised" / f"{part}.jsonl")
    works = [work for work in rows if any("given" in name for name in work.get("author", []))]
    words = Words.read(part)
    abroad = [body for table in read_table("abroad").values() for body in _listed(table)]
    ours = {name: text.replace("|\n", "|").split("|") for name, text in read_table("bodies").items()}
    made_up_people = {name: text.replace("|\n", "|").split("|") for name, text in _people_of_nowhere()}
    made = 0
    while made < n:
        people = [name for name in random.choice(works)["author"] if "given" in name and "family" in name]
        if random.random() < 0.5:
            people = list(_people(words, made_up_people, random))
        style = random.choice(STYLES)
        capitals = random.random() < 0.15
        if random.random() < 0.1:
            people[0] = {**people[0], "suffix": random.choice(SUFFIXES)}
        parts = [
            Part(style.one(name, k, random), False) for k, name in enumerate(people[: random.choice((1, 2, 3, 6))])
        ]
        share = random.random()
        if share < 0.36:
            body = Part(_body(words, abroad, ours, random), True)
            parts = [body] if share < 0.24 else [*parts, body] if share < 0.32 else [body, *parts]
            if share < 0.16:
                parts.append(Part(_body(words, abroad, ours, random), True))
            if share < 0.03:
                parts = [Part(words.one(random, "acronyms"), True) for _ in range(random.choice((2, 3, 5)))]
        text, pieces = style.joined(parts, random)
        if capitals:
            text, pieces = text.upper(), [(piece.upper(), body) for piece, body in pieces]  # ß is SS in both
        if text and (one := labelled(pieces, text)) and one[0]:
            made += 1
            yield one


def _people_of_nowhere() -> Iterator[tuple[str, str]]:
    table = read_table("made_up")
    for part in (table, *(value for value in table.values() if isinstance(value, dict))):
        yield from ((name, part[name]) for name in ("family", "given") if isinstance(part.get(name), str))


def _people(words: Words, nowhere: Mapping[str, Sequence[str]], random: Random) -> Iterator[dict[str, str]]:
    """Yield people of one language; those of East Asia have no space in their names."""
    language = random.choice(("", "", "", *LANGUAGES))
    for _ in range(random.choice((1, 1, 2, 2, 3, 5))):
        family = words.one(random, "family", language) if language else words.one(random, "family")
        given = words.one(random, "given", language) if language else random.choice(nowhere["given"])
        if language in ("zh", "ja"):
            family, given = f"{family}{given}", ""
        elif not language and random.random() < 0.5:
            family = random.choice(nowhere["family"] if random.random() < 0.9 else WORDS)
        elif language in ("es", "it", "pt", "fr") and random.random() < 0.3:
            family += random.choice(BETWEEN[language]) + words.one(random, "family", language)
        yield {"family": family, "given": given}


def _listed(table: Any) -> Iterator[str]:
    if isinstance(table, Mapping):
        for name, value in table.items():
            if name in ("bodies", "universities") and isinstance(value, str):
                yield from (body.partition("@")[0] for body in value.replace("|\n", "|").split("|"))


def _body(words: Words, abroad: Sequence[str], ours: Mapping[str, Sequence[str]], random: Random) -> str:
    kind = random.random()
    if kind < 0.15:
        return random.choice(abroad)
    if kind < 0.7:
        text = random.choice(ours[random.choices(OURS, (5, 5, 2))[0]])
        while "{" in text:
            before, _, rest = text.partition("{")
            name, _, after = rest.partition("}")
            text = before + (random.choice(ours[name]) if name in ours else words.one(random, name)) + after
        return text
    return words.one(random, random.choice(BODIES)).partition("@")[0]


class Style(NamedTuple):
    """How a list of names is written.

    first, others : how the first person and the others are; comma, last : what stands between, and before the last.
    """

    first: str
    others: str
    comma: str
    last: str

    def one(self, name: Mapping[str, str], k: int, random: Random) -> str:
        """Return a person as the k-th of the list."""
        family, given = name["family"], name["given"]
        particle = name.get("non-dropping-particle", name.get("particle", ""))
        family = f"{particle} {family}".strip()
        initials = [word[0] for word in given.replace("-", " ").split() if word[0].isalpha()]
        if not given:
            return family
        suffix = name.get("suffix", "")
        return suffix_behind(
            (self.first if k == 0 else self.others).format(
                family=family,
                given=given,
                dotted=" ".join(f"{one}." for one in initials) or given,
                tight="".join(f"{one}." for one in initials) or given,
                bare="".join(initials) or given,
                capitals=family.upper(),
            ),
            suffix,
        )

    def joined(self, parts: Sequence[Part], random: Random) -> tuple[str, list[tuple[str, bool]]]:
        """Return the list, and its names and what is between them, each with whether it is a body."""
        pieces: list[tuple[str, bool]] = []
        for k, part in enumerate(parts):
            if k:
                pieces.append((self.last if k == len(parts) - 1 else self.comma, False))
            pieces.append((part.text, part.body))
        if random.random() < 0.3:
            pieces.append((".", False))
        return "".join(text for text, _ in pieces), pieces


def suffix_behind(text: str, suffix: str) -> str:
    """Return a name with what stands behind it, "Jr." or a degree."""
    return f"{text}{suffix}"


STYLES = [
    Style(first, others, comma, last)
    for first, others in (
        ("{family}, {dotted}", "{family}, {dotted}"),
        ("{family}, {tight}", "{family}, {tight}"),
        ("{family} {bare}", "{family} {bare}"),
        ("{dotted} {family}", "{dotted} {family}"),
        ("{given} {family}", "{given} {family}"),
        ("{family}, {given}", "{given} {family}"),
        ("{family}, {given}", "{family}, {given}"),
        ("{capitals}, {tight}", "{capitals}, {tight}"),
        ("{capitals}, {given}", "{capitals}, {given}"),
        ("{family} {tight}", "{family} {tight}"),
        ("{family}", "{family}"),
        ("{capitals} {given}", "{capitals} {given}"),
    )
    for comma, last in (
        (", ", ", "), (", ", " and "), (", ", ", and "), (", ", " & "), (", ", ", & "), ("; ", "; "), ("; ", " and "),
        (", ", " y "), (", ", " et "), (", ", " und "), (" / ", " / "), (", ", " e "), (", ", " for the "),
    )
]  # fmt: skip
"""Ways of listing names, as usual styles have them."""


if __name__ == "__main__":
    main()
