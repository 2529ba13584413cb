"""Values, not labels: are the values of records those that a publisher, or a careful reader, gave?

    python bench/works.py                          # all sets, the bundled model
    python bench/works.py --only rare --misses     # one set, and what is wrong in it
    python bench/works.py --model MODEL --json works.json

What a parser is good for is told by its records, after normalising, not by its labels. Four sets:

    publishers    the development part of what publishers said of their own references (`data/publishers`)
    crossref      423 references with first author, year, journal, volume and first page as deposited
    linkedbooks   development part of annotated footnotes: year, place, publisher and the first title, as marked
    rare          300 references of kinds that these lack (`works/rare.txt`): law, patents, standards, archives, films
                  and broadcasts, maps, posts, East Asia, GOST, ABNT, names in capitals, bodies

A record is exact if all values are right that its set judges: for `publishers` and `rare` the seven of
`works_values.MAIN`, and one that should not be there is wrong. Below that, of the same records: the share of each value
that is right, groups (kind, language), and what confidences are worth (`calibration`: the mean distance between what
records promise and how many are exact, in ten steps). This is a gate: a change of what values are made of has to hold
each set.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import espalier as es
from common import Row, arguments, write_json
from espalier.citations.parser import bundled_parser
from works_values import (
    BESIDE,
    MAIN,
    PERSONS,
    Name,
    address,
    doi,
    in_full,
    is_right,
    letters,
    names,
    number,
    said,
    title,
    year,
)

RARE = Path(__file__).parent / "works" / "rare.txt"


class Expected(NamedTuple):
    """A reference, what a record of it should say (see `is_right`), and the groups that it belongs to.

    judged : the values that make it exact; `values` may have more.
    """

    text: str
    values: Mapping[str, Any]
    judged: tuple[str, ...]
    groups: tuple[str, ...]


def publishers(data: Path, n: int | None, part: str = "dev") -> list[Expected]:
    """Return the references of publishers whose fields account for the whole string."""
    with gzip.open(data / "publishers" / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = islice((row for row in map(json.loads, file) if row["complete"]), n)
        return [Expected(row["text"], _of_publisher(row["fields"]), MAIN, _kinds(row)) for row in rows]


def _kinds(row: Mapping[str, Any]) -> tuple[str, ...]:
    bodies = any("literal" in one for one in row["fields"]["authors"])
    return (f"kind {row['type']}", f"language {row['language']}", *(["with a body"] if bodies else []))


def _of_publisher(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of one reference; `alts` are others that count, too."""

    def keys(name: str, key: Callable[[str], str]) -> set[str]:
        there = [fields[name], *fields["alts"].get(name, [])] if fields[name] else []
        return {key(value) for value in there} - {""}

    first = letters(fields["first"])
    return {
        "authors": names(fields["authors"]),
        "editors": names(fields["editors"]),
        "title": keys("title", title),
        "container": keys("container", title),
        "year": {fields["year"]} - {""},
        "volume": keys("volume", number),
        "issue": keys("issue", number),
        # Of a whole work a count of pages is no first page, and none is missing.
        "first": keys("first", letters) or ({"", letters(fields["pages_count"])} if fields["pages_count"] else set()),
        "last": {in_full(first, letters(fields["last"]))} - {""},
        "publisher": keys("publisher", letters),
        "place": keys("place", letters),
        "doi": {doi(fields["doi"])} - {""},
        "url": {address(url) for url in fields["urls"] or [fields["url"]]} - {""},
    }


def crossref(data: Path, n: int | None) -> list[Expected]:
    """Return the references of Crossref that have fields; the first author is one string, often `CA Bordini`."""
    found = []
    with open(data / "crossref_real/normalised/all.jsonl", encoding="utf-8") as file:
        for row in map(json.loads, file):
            known = row.get("metadata")
            if known:
                values = {
                    "year": {year((known.get("issued") or {}).get("date-parts", [[""]])[0][0])},
                    "container": {title(known.get("container-title"))},
                    "volume": {number(known.get("volume"))},
                    "first": {letters(known.get("page-first"))},
                }
                values = {name: keys - {""} for name, keys in values.items() if keys - {""}}
                found.append(Expected(row["text"], values, tuple(values), ()))
    return found[:n]


def linkedbooks(data: Path, n: int | None) -> list[Expected]:
    """Return annotated footnotes: the first run of each label that says the same as one of our values."""
    theirs = {"title": "title", "publisher": "publisher", "publicationplace": "place", "year": "year"}
    keys: Mapping[str, Callable[[str], str]] = {"title": title, "publisher": letters, "place": letters, "year": year}
    found = []
    with open(data / "linkedbooks/normalised/dev.jsonl", encoding="utf-8") as file:
        for row in islice(map(json.loads, file), n):
            runs: dict[str, list[str]] = {}
            for word, tag in zip(row["tokens"], row["bio"], strict=True):
                name = theirs.get(tag[2:])
                if name is not None and tag[0] == "B":
                    runs.setdefault(f"{name} {sum(one.startswith(name) for one in runs)}", [word])
                elif name is not None and runs:
                    runs[next(reversed(runs))].append(word)
            values = {name: {keys[name](" ".join(runs[f"{name} 0"]))} - {""} for name in keys if f"{name} 0" in runs}
            found.append(Expected(" ".join(row["tokens"]), values, tuple(values), ()))
    return found


def rare(data: Path, n: int | None) -> list[Expected]:
    """Return what `works/rare.txt` holds; how it is written, its first lines say."""
    found, group, text = [], "", ""
    for line in RARE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = line[3:]
        elif line.startswith("  "):
            found.append(_rare(text, dict(part.strip().partition("=")[::2] for part in line.split(" | ")), group))
        elif line and not line.startswith("#"):
            text = line
    return found[:: max(len(found) // n, 1)] if n else found


def _rare(text: str, given: Mapping[str, str], group: str) -> Expected:
    keys: Mapping[str, Callable[[str], str]] = {
        "title": title, "container": title, "year": year, "volume": number, "issue": number, "doi": doi, "url": address,
    }  # fmt: skip
    values: dict[str, Any] = {name: () if name in PERSONS else set() for name in MAIN}
    for name, value in given.items():
        if value == "?":
            values.pop(name, None)
        elif name in PERSONS:
            values[name] = tuple(map(_named, filter(None, value.split("; "))))
        elif name in MAIN or name in BESIDE:
            values[name] = {keys.get(name, letters)(value)} - {""}
    if "last" in values:
        (first,), (last,) = values["first"], values["last"]
        values["last"] = {in_full(first, last)}
    if "directors" in values:  # which of the two they are, formats say differently
        values.pop("authors", None)
    return Expected(text, values, tuple(name for name in (*MAIN, "directors") if name in values), (group,))


def _named(text: str) -> Name:
    """Return `Family, Given`, or a body in braces."""
    if text.startswith("{"):
        return Name.of({"literal": text.strip("{}")})
    family, _, given = text.partition(", ")
    return Name.of({"family": family, "given": given})


SETS: Mapping[str, Callable[[Path, int | None], list[Expected]]] = {
    "publishers": publishers,
    "crossref": crossref,
    "linkedbooks": linkedbooks,
    "rare": rare,
}


@dataclass
class Judged:
    """What was found for a set: for each reference which values are right, and how sure the record was."""

    expected: Sequence[Expected]
    right: list[dict[str, bool]] = field(default_factory=list)
    found: list[Mapping[str, Any]] = field(default_factory=list)
    sure: list[float] = field(default_factory=list)

    def exact(self) -> list[bool]:
        """Say of each reference whether all its judged values are right."""
        return [all(right[name] for name in one.judged) for one, right in zip(self.expected, self.right, strict=True)]


def judge(expected: Sequence[Expected], parser: es.Parser) -> Judged:
    """Parse the references of a set and compare."""
    found = Judged(expected)
    for one, record in zip(expected, parser.parse_many(row.text for row in expected), strict=True):
        values = said(json.loads(record.to("csl")))
        found.found.append(values)
        found.right.append({name: is_right(name, wanted, values) for name, wanted in one.values.items()})
        found.sure.append(record.confidence)
    return found


def calibration(sure: Sequence[float], exact: Sequence[bool]) -> float:
    """Return the mean distance between confidence and the share of exact records, in ten steps."""
    steps: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for confidence, right in zip(sure, exact, strict=True):
        steps[min(int(10 * confidence), 9)].append((confidence, right))
    return sum(abs(sum(c for c, _ in rows) - sum(r for _, r in rows)) for rows in steps.values()) / max(len(sure), 1)


def table(name: str, judged: Judged) -> Iterator[str]:
    """Yield what is printed of a set."""
    exact = judged.exact()
    yield f"\n{name}: {100 * sum(exact) / len(exact):.1f} % exact of {len(exact)}"
    values = Counter(value for one in judged.expected for value in one.values)
    hits = Counter(value for right in judged.right for value, is_so in right.items() if is_so)
    order = [value for value in (*MAIN, *BESIDE) if values[value]]
    yield "  " + ", ".join(f"{value} {100 * hits[value] / values[value]:.1f}" for value in order)
    groups: dict[str, list[bool]] = defaultdict(list)
    for one, right in zip(judged.expected, exact, strict=True):
        for group in one.groups:
            groups[group].append(right)
    for group, rows in groups.items():
        yield f"  {group}: {100 * sum(rows) / len(rows):.1f} % of {len(rows)}"
    high = [right for sure, right in zip(judged.sure, exact, strict=True) if sure >= 0.9]
    kept, true = 100 * len(high) / len(exact), 100 * sum(high) / max(len(high), 1)
    off = calibration(judged.sure, exact)
    yield f"  calibration {off:.3f}; at 0.9 and above {kept:.1f} %, of which {true:.1f} % exact"


def misses(judged: Judged) -> Iterator[str]:
    """Yield the references that are not exact, with what was expected and found."""
    for one, right, found, exact in zip(judged.expected, judged.right, judged.found, judged.exact(), strict=True):
        if not exact:
            yield "\n" + " ".join(one.text.split())
            for name in one.judged:
                if not right[name]:
                    yield f"  {name}: {_shown(found[name])}, not {_shown(one.values[name])}"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(min(one.keys, key=len) for one in value) or "none"
    return " or ".join(sorted(value)) if isinstance(value, set) and value else str(value or "none")


def main() -> None:
    """Judge the sets that are asked for."""
    options = arguments(__doc__.splitlines()[0])
    options.add_argument("--only", choices=SETS, nargs="+", default=list(SETS), help="sets to judge")
    options.add_argument("--model", type=Path, help="another model than the bundled one")
    options.add_argument("--misses", action="store_true", help="print what is wrong")
    given = options.parse_args()
    parser = es.load(given.model) if given.model else bundled_parser()
    rows = []
    for name in given.only:
        judged = judge(SETS[name](given.data, 20 if given.quick else None), parser)
        print("\n".join(table(name, judged)), flush=True)
        if given.misses:
            print("\n".join(misses(judged)))
        exact = judged.exact()
        share = 100 * sum(exact) / len(exact)
        rows.append(Row(f"records of {name}, exact", "%", share, 100.0, "the set itself", share / 100))
    write_json(given.json, rows)


if __name__ == "__main__":
    main()
