"""How well the parser reads citation styles that it has never seen, over works that it has never seen.

    python bench/styles.py build/rendered/unseen.jsonl.gz                 # the bundled model
    python bench/styles.py FILE --model MODEL --picture styles.svg        # another one, and a picture
    python bench/styles.py build/rendered/dev.jsonl.gz --clean            # where things are chosen, without noise

FILE is what `scripts/render_references.py` writes (`make rendered`). Printed as Markdown: field F1 and whole references
over all, the share of styles above 95, 90 and 80, by kind of work, language and trait, by field, and the worst styles
with what is special about them and what is read wrongly. A reference is judged as `docs/citations.md` says; a *trait*
is something that can be seen in it, such as names in capitals.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import espalier as es
from espalier.citations.evaluation import CORE, Marks, fields_of
from espalier.citations.record import LABELS
from espalier.pages.charts import Line, draw_lines

WORST = 30
BARS = (95, 90, 80)


@dataclass(frozen=True)
class Reading:
    """A reference, its fields by the labels and by the parser, and the label that the parser gave to each token."""

    row: Mapping[str, Any]
    right: frozenset[Marks]
    said: frozenset[Marks]
    tags: Sequence[str]

    @property
    def whole(self) -> bool:
        """Are the nine main fields right?"""
        return not any(label in CORE for label, *_ in self.right ^ self.said)

    def value(self, label: str) -> str:
        """Return the first field of a label as it stands, marks included; nothing if there is none."""
        words = [word for word, tag in zip(self.row["tokens"], self.row["bio"], strict=True) if tag[2:] == label]
        return " ".join(words)

    @property
    def order(self) -> list[str]:
        """The labels in the order of their fields."""
        return [tag[2:] for tag in self.row["bio"] if tag.startswith("B-")]


@dataclass
class Tally:
    """Counts over some references."""

    references: int = 0
    hits: int = 0
    said: int = 0
    there: int = 0
    whole: int = 0
    mistaken: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, reading: Reading) -> None:
        """Count a reference in."""
        self.references += 1
        self.hits += len(reading.right & reading.said)
        self.said += len(reading.said)
        self.there += len(reading.right)
        self.whole += reading.whole
        for label, start, end in reading.right - reading.said:
            others = Counter(tag for tag in reading.tags[start:end] if tag != label)
            self.mistaken[label, others.most_common(1)[0][0] if others else "another border"] += 1

    @property
    def f1(self) -> float:
        """Field F1 in per cent."""
        return 200 * self.hits / max(self.said + self.there, 1)

    def cells(self) -> str:
        """Return the cells of a table."""
        return f"{self.references} | {self.f1:.1f} | {100 * self.whole / max(self.references, 1):.1f}"


def first_is(*labels: str) -> Callable[[Reading], bool]:
    """Return whether a reference, its number aside, begins with these fields."""
    return lambda reading: (
        tuple(label for label in reading.order if label != "citation-number")[: len(labels)] == labels
    )


TRAITS: Mapping[str, Callable[[Reading], bool]] = {
    "a name and a year in front as a key": first_is("author", "date", "author"),
    "a bare number in front": lambda r: bool(re.fullmatch(r"\d+", r.value("citation-number"))),
    "a number with marks in front": lambda r: bool(re.search(r"\d.*[.)\]]|[(\[]", r.value("citation-number"))),
    "title first": first_is("title"),
    "editor first": first_is("editor"),
    "date behind the author": first_is("author", "date"),
    "date last": lambda r: r.order[-1] == "date",
    "names in capitals": lambda r: bool(re.search(r"\b[A-ZÀ-Þ]{3,}\b", r.value("author"))),
    "given names in brackets": lambda r: bool(re.search(r"\w \( ?\w", r.value("author"))),
    "slashes between names": lambda r: "/" in r.value("author"),
    "semicolons between names": lambda r: ";" in r.value("author"),
    "no mark between author and title": lambda r: r.value("author")[-1:].isalnum() and first_is("author", "title")(r),
    "title in quotation marks": lambda r: bool(re.search("[“\"«„「《‘»]", r.value("title")[:2])),
    "an article without title": lambda r: r.row["kind"] == "article" and "title" not in r.order,
    "two slashes before the container": lambda r: " // " in r.row["text"],
    "no names": lambda r: not {"author", "editor"} & set(r.order),
    "with a genre": lambda r: "genre" in r.order,
    "with a day of access": lambda r: "accessed" in r.order,
    "script other than Latin": lambda r: bool(re.search(r"[\u0400-\u04ff\u3040-\u9fff]", r.row["text"])),
}  # fmt: skip


def read_rows(path: Path, clean: bool) -> list[dict[str, Any]]:
    """Return the lines of a file; clean : without those that noise has touched."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    rows = map(json.loads, text.splitlines())
    return [row for row in rows if not clean or not row.get("noise")]


def readings(rows: Sequence[Mapping[str, Any]], model: str) -> list[Reading]:
    """Parse all references with a model, by its file or its name."""
    return readings_by(rows, es.load(model))


def readings_by(rows: Sequence[Mapping[str, Any]], parser: es.Extractor) -> list[Reading]:
    """Parse all references."""
    found = []
    for row, record in zip(rows, parser.parse_many([row["text"] for row in rows]), strict=True):
        tags, place, fields = [], 0, iter(record.fields)
        current = next(fields)
        for word in row["tokens"]:
            place = row["text"].index(word, place)
            while place >= current.end:
                current = next(fields)
            tags.append(current.label)
            place += len(word)
        right = fields_of(row["tokens"], [tag[2:] for tag in row["bio"]])
        found.append(Reading(row, frozenset(right), frozenset(fields_of(row["tokens"], tags)), tags))
    return found


def tallies(found: Iterable[Reading], key: Callable[[Reading], str]) -> dict[str, Tally]:
    """Count references by a key."""
    groups: dict[str, Tally] = defaultdict(Tally)
    for reading in found:
        groups[key(reading)].add(reading)
    return dict(groups)


def ranked(groups: Mapping[str, Tally]) -> list[tuple[str, Tally]]:
    """Return groups, the largest first."""
    return sorted(groups.items(), key=lambda pair: -pair[1].references)


def table(head: str, rows: Iterable[tuple[str, Tally]]) -> list[str]:
    """Return a table of groups."""
    lines = [f"\n| {head} | references | field F1 | whole references |\n|---|---|---|---|"]
    return lines + [f"| {name} | {tally.cells()} |" for name, tally in rows]


def fields_table(found: Sequence[Reading]) -> list[str]:
    """Return precision, recall and F1 of every field."""
    lines = ["\n| field | precision | recall | F1 | there are |\n|---|---|---|---|---|"]
    for label in LABELS:
        hits, said, there = (
            sum(mark[0] == label for one in found for mark in marks(one))
            for marks in (lambda one: one.right & one.said, lambda one: one.said, lambda one: one.right)
        )
        if there:
            rates = 100 * hits / max(said, 1), 100 * hits / there, 200 * hits / (said + there)
            lines.append(f"| {label} | {' | '.join(f'{rate:.1f}' for rate in rates)} | {there} |")
    return lines


def reason(style: str, found: Sequence[Reading], tally: Tally) -> str:
    """Return what is special about a style, and what is read wrongly most."""
    own = [reading for reading in found if reading.row["style"] == style]
    usual = {name: sum(map(trait, found)) / len(found) for name, trait in TRAITS.items()}
    marked = [name for name, trait in TRAITS.items() if sum(map(trait, own)) / len(own) > 0.4 + usual[name]]
    wrong = [f"{label} as {other} ({count})" for (label, other), count in tally.mistaken.most_common(2)]
    return f"{', '.join(marked) or 'nothing special'}: {', '.join(wrong)}"


def report(found: Sequence[Reading]) -> list[str]:
    """Return everything as lines of Markdown."""
    whole = tallies(found, lambda _: "all")["all"]
    styles = tallies(found, lambda one: str(one.row["style"]))
    shares = [100 * sum(tally.f1 >= bar for tally in styles.values()) / len(styles) for bar in BARS]
    share_whole = 100 * whole.whole / whole.references
    lines = [
        f"{whole.references} references in {len(styles)} styles: field F1 {whole.f1:.1f}, whole {share_whole:.1f} %"
    ]
    lines.append("\n| styles with a field F1 of at least | share |\n|---|---|")
    lines += [f"| {bar} | {share:.0f} % |" for bar, share in zip(BARS, shares, strict=True)]
    lines += table("kind of work", ranked(tallies(found, lambda one: str(one.row["kind"]))))
    lines += table("language of the style", ranked(tallies(found, lambda one: str(one.row["locale"])[:2])))
    traits = {name: tallies(filter(trait, found), lambda _: "").get("", Tally()) for name, trait in TRAITS.items()}
    lines += table("trait", [(name, tally) for name, tally in traits.items() if tally.references])
    lines += fields_table(found)
    lines.append(
        f"\n| the worst {WORST} styles | references | field F1 | whole references | why |\n|---|---|---|---|---|"
    )
    worst = sorted(styles.items(), key=lambda pair: pair[1].f1)[:WORST]
    return lines + [f"| {name} | {tally.cells()} | {reason(name, found, tally)} |" for name, tally in worst]


def draw(found: Sequence[Reading]) -> str:
    """Return an SVG file: the field F1 of every style, the worst first."""
    styles = sorted(tally.f1 for tally in tallies(found, lambda one: str(one.row["style"])).values())
    points = [(100 * (k + 1) / len(styles), value) for k, value in enumerate(styles)]
    return draw_lines(
        "Styles never seen", [Line("styles", points)], x="per cent of styles", y="field F1 at most"
    ).file()


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="labelled references of scripts/render_references.py")
    parser.add_argument("--model", default="citations", help="a model file, or the name of one that comes along")
    parser.add_argument("--clean", action="store_true", help="leave out references that noise has touched")
    parser.add_argument("--picture", type=Path, help="an SVG file to draw the styles to")
    options = parser.parse_args(arguments)
    found = readings(read_rows(options.file, options.clean), options.model)
    print("\n".join(report(found)))
    if options.picture is not None:
        options.picture.write_text(draw(found), encoding="utf-8")


if __name__ == "__main__":
    main()
