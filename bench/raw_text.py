"""What raw text is worth to somebody with few labels and rules of ten minutes: addresses and seminar announcements.

    python bench/raw_text.py [--sets addresses,seminars] [--subsets 5] [--part report|dev] [--codl]

For each number of labelled records a CRF with the default features learns from the labels, under rules, with raw text,
and with both, as `espalier train` does it (`recipes.plan`). Raw text is what is left of the set. `--codl` adds learning
from guesses alone, `--method codl`. Printed is the F1 of whole fields, the mean of the subsets, and what raw text adds,
each with half of a 95 % interval over the subsets (Student's t).

The records are divided by a hash of their letters and digits: a fifth to choose everything by (dev), a fifth to report,
the rest to learn from. Records that occur twice count once. The rules were written after a
look at 25 addresses and 3 announcements of the whole sets.
"""

from __future__ import annotations

import hashlib
import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, stdev

from scipy.stats import t as student

from common import Row, arguments, write_json
from espalier.corpus import Labels
from espalier.document import Document
from espalier.errors import ResultWarning
from espalier.papers.tables.data import Data
from espalier.recipes import plan
from espalier.recipes.judging import judge
from espalier.recipes.training import fit
from espalier.rules.ruleset import RuleSet

SIZES = (10, 50, 200)
COLUMNS = ("labels", "+ rules", "+ raw text", "+ both")
CODL = ("+ guesses", "+ rules, guesses")

ADDRESSES = r"""
Zip:     token is last and ~ /\d{5}(-\d{4})?/ -> ZipCode
State:   next token ~ /\d{5}(-\d{4})?/ and token ~ /[A-Za-z]{2},?/ -> StateName
Number:  token is first and ~ /\d+\w?/ -> AddressNumber
Compass: previous token ~ /\d+/ and token in "N", "S", "E", "W", "N.", "S.", "E.", "W.",
           "North", "South", "East", "West" -> StreetNamePreDirectional
Type:    token in "St", "St.", "St,", "Street", "Street,", "Ave", "Ave.", "Ave,", "Avenue", "Avenue,", "Rd", "Rd.",
           "Rd,", "Road", "Road,", "Dr", "Dr.", "Dr,", "Drive", "Drive,", "Blvd", "Blvd.", "Blvd,", "Boulevard",
           "Ln", "Lane", "Ct", "Court", "Pkwy" -> StreetNamePostType
Box:     token in "P.O.", "PO", "Box" -> USPSBoxType
BoxId:   previous token in "Box" -> USPSBoxID
Unit:    token in "apt", "apt.", "suite", "ste", "ste.", "unit", "floor", "fl", "rm", "room" -> OccupancyType
UnitId:  previous token in "apt", "apt.", "suite", "ste", "ste.", "unit", "rm", "room" -> OccupancyIdentifier
Once:    each field once
City:    PlaceName before StateName
Country: StateName before ZipCode
Door:    AddressNumber before PlaceName
Street:  StreetNamePostType requires StreetName
"""
SEMINARS = r"""
Time:     token begins phrase (/\d{1,2}/ ":" /\d\d/ /[ap]m|[AP]M/ or /\d{1,2}/ /[ap]m|[AP]M/) -> stime, etime
Head:     previous token ends phrase "Time :" and token ~ /\d{1,2}/ -> stime
Range:    previous token in "-", "to", "until" and token begins phrase (/\d{1,2}/ ":" /\d\d/ /[ap]m|[AP]M/) -> etime
Who:      previous token ends phrase "Who :", "Speaker :" and token is capitalised -> speaker
Where:    previous token ends phrase "Place :", "Where :", "Location :", "Room :" and token ~ /\w+/ -> location
Hall:     token in "Hall", "Wean", "Baker", "Doherty", "WeH" -> location
Posted:   token in "PostedBy", "Type", "Topic", "Dates", "Abstract" -> O
Mail:     token in "@", "<", ">", "edu" -> O
Need:     stime required
Begins:   length(stime) <= 5
Ends:     length(etime) <= 5
Name:     length(speaker) <= 8
Words:    token ~ /[a-z]+/ -> not speaker
"""


@dataclass(frozen=True)
class Subset:
    """Records to learn from with labels and without, records to judge by, and the rules."""

    labelled: Sequence[Document]
    raw: Sequence[Document]
    judges: Sequence[Document]
    rules: RuleSet
    labels: Labels


def records(data: Path, name: str) -> list[tuple[str, Document]]:
    """Read a set, each record once, with its letters and digits."""
    split = {"addresses": "usaddress/train", "seminars": "seminars/all"}[name]
    found: dict[str, Document] = {}
    for record in Data(data).records(split, "bio"):
        plain = "".join(c for c in "".join(record["tokens"]).lower() if c.isalnum())
        tags = ["O" if tag.endswith("-suffix") else tag for tag in record["bio"]]  # two tokens, by a slip of the source
        found.setdefault(plain, Document.from_tokens(record["tokens"], tags))
    return list(found.items())


def parts(data: Path, name: str) -> dict[str, list[Document]]:
    """Divide a set by the hash of its records."""
    found: dict[str, list[Document]] = {"report": [], "dev": [], "rest": []}
    for plain, document in records(data, name):
        place = int(hashlib.sha1(plain.encode()).hexdigest(), 16) % 10
        found["report" if place < 2 else "dev" if place < 4 else "rest"].append(document)
    return found


def subset(divided: Mapping[str, list[Document]], name: str, part: str, size: int, seed: int) -> Subset:
    """Draw the labelled records; those that are left are raw text."""
    rest = list(divided["rest"])
    random.Random(seed).shuffle(rest)
    raw = [Document(one.text, one.tokens) for one in rest[size:]]
    fields = sorted({span.label for several in divided.values() for one in several for span in one.spans or ()})
    labels = Labels(["O", *(f"{mark}-{field}" for field in fields for mark in "BI")])
    rules = RuleSet.from_text(ADDRESSES if name == "addresses" else SEMINARS, labels=labels)
    return Subset(rest[:size], raw, divided[part], rules, labels)


def f1(one: Subset, column: str, iterations: int) -> float:
    """Train as the command line does, and return the F1 of whole fields."""
    raw = column in (*COLUMNS[2:], *CODL)
    recipe = plan(
        rules=one.rules if column in ("+ rules", "+ both", CODL[1]) else "", method="codl" if column in CODL else None,
        unlabelled=raw, settings={"max_iterations": iterations},
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)  # where there is less raw text than labels
        trained = fit(replace(recipe, labels=one.labels), one.labelled, unlabelled=one.raw if raw else None)
    return judge(trained.estimator, one.judges).report.field_f1


def half(values: Sequence[float]) -> float:
    """Return half of a 95 % interval of the mean."""
    return float(student.ppf(0.975, len(values) - 1)) * stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def cell(values: Sequence[float], sign: str = "") -> str:
    """Return a mean of shares as percent, with its interval."""
    return f"{100 * mean(values):{sign}.1f} ± {100 * half(values):.1f}"


def main() -> None:
    """Print the table, a row as soon as it is known."""
    parser = arguments(__doc__.partition("\n")[0])
    parser.add_argument("--sets", default="addresses,seminars", help="which sets")
    parser.add_argument("--subsets", type=int, default=5, help="how many draws of labelled records")
    parser.add_argument("--part", choices=("report", "dev"), default="report", help="which records to judge by")
    parser.add_argument("--codl", action="store_true", help="also learning from guesses alone")
    options = parser.parse_args()
    columns, rows = (*COLUMNS, *(CODL if options.codl else ())), []
    gains = ("raw text adds", "to rules it adds")
    print("| set | labels | raw | " + " | ".join([*columns, *gains]) + " |")
    print("|---" * (3 + len(columns) + len(gains)) + "|")
    for name in options.sets.split(","):
        divided = parts(options.data, name)
        if options.quick:
            divided = {part: documents[: 90 if part == "rest" else 10] for part, documents in divided.items()}
        for size in SIZES[:1] if options.quick else SIZES:
            several = [
                subset(divided, name, options.part, size, k) for k in range(2 if options.quick else options.subsets)
            ]
            iterations = 10 if options.quick else 1000
            found = {column: [f1(one, column, iterations) for one in several] for column in columns}
            pairs = ((found["labels"], found["+ raw text"]), (found["+ rules"], found["+ both"]))
            gained = [cell([b - a for a, b in zip(*pair, strict=True)], "+") for pair in pairs]
            cells = [name, str(size), str(len(several[0].raw)), *map(cell, found.values()), *gained]
            print("| " + " | ".join(cells) + " |", flush=True)
            rows += [
                Row(f"{name}, {size} labels, {column}", "F1", mean(values), mean(found["labels"]), "labels", 1.0)
                for column, values in found.items()
            ]
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
