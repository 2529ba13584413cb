"""The documents of `refdocs`: are their lists found, and where their references begin? (`find_references`)

    first lines   F1 of the lines on which a reference begins
    lists         share of documents in which all of them are right, and no other line is taken for one
    set aside     the same, without entries of the set that are no references by the rule below
    found         share of documents in which at least half of the list is found, and half of what is found is of it

Where the source does not say which lines begin a reference, only the last is measured. Where it labels lines, and says
nothing about what begins inside them (`segmentation`), a reference that begins inside a further line is not counted: a
numbered entry with several works is one there, and `segmenter`, which knows places, cuts it.

An entry of the set is no reference by rule if it says when a paper came in (`Received ...`), or if there is neither a
figure nor an address in it behind its mark; `--odd` prints each of them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from bisect import bisect_right
from pathlib import Path
from typing import Any

from espalier.documents.cutting.finding import find_references
from espalier.documents.deciding.model import LineModel, bundled
from espalier.documents.lines import PrintedText, TextLine

__all__ = ["PARTS", "measure_refdocs"]

PARTS = ("segmenter", "segmentation")


def measure_refdocs(
    data: Path, part: str = "dev", model: LineModel | None = None, n: int | None = None
) -> dict[str, dict[str, float]]:
    """Return the figures of reference lists (`segmenter`) and of whole documents (`segmentation`)."""
    return {name: _measured(_read(data, name, part)[:n], model or bundled()) for name in PARTS}


_ARRIVED = re.compile(r"\W*(?:Received|Accepted|Revised|Submitted)\b")
_MARKED = re.compile(r"\A\s*(?:\[\w{1,12}\]|\(?\d{1,4}[.)]?)\s")


def odd_entries(document: dict[str, Any]) -> dict[int, str]:
    """Return the entries of a document that are no references by rule, by the line on which they begin."""
    whole, firsts = "\n".join(document["lines"]), sorted(_first_lines(document))
    if document.get("refs"):
        texts = [(whole.count("\n", 0, a), whole[a:b]) for a, b in document["refs"]]
    else:
        ends = [*firsts[1:], len(document["lines"])]
        labels = document["labels"]
        kept = [[k for k in range(a, b) if labels[k].startswith("ref")] for a, b in zip(firsts, ends, strict=True)]
        texts = [(lines[0], "\n".join(document["lines"][k] for k in lines)) for lines in kept if lines]
    found = {}
    for line, text in texts:
        figures = any(map(str.isdigit, _MARKED.sub("", text, count=1)))
        if _ARRIVED.match(text) or not (figures or "://" in text):
            found[line] = " ".join(text.split())
    return found


def _measured(documents: list[dict[str, Any]], model: LineModel) -> dict[str, float]:
    right = wanted = given = whole = known = found = aside = 0
    for document in documents:
        printed = PrintedText.of([TextLine(text) for text in document["lines"]])
        references = find_references(printed, model).references
        lines = {line - 1 for one in references for line in one.lines}
        truth = {k for k, label in enumerate(document["labels"]) if label.startswith("ref")}
        found += 2 * len(lines & truth) >= max(len(lines), len(truth))
        if document["starts"] == "unknown":
            continue
        firsts = {one.line - 1 for one in references}
        gold, odd = _first_lines(document), odd_entries(document)
        if not document.get("refs"):
            outer = {one.line - 1 for one in references if not _is_inside(printed.lines[one.line - 1], one.start)}
            firsts &= outer | gold
        aside += firsts - odd.keys() == gold - odd.keys()
        right, wanted, given = right + len(firsts & gold), wanted + len(gold), given + len(firsts)
        known, whole = known + 1, whole + (firsts == gold)
    return {
        "first lines": 2 * right / max(wanted + given, 1),
        "lists": whole / max(known, 1),
        "set aside": aside / max(known, 1),
        "found": found / max(len(documents), 1),
    }


def _is_inside(line: TextLine, start: int) -> bool:
    """Does something stand on the line before a character of the text?"""
    return bool(line.text[: start - line.start].strip())


def _first_lines(document: dict[str, Any]) -> set[int]:
    """Return the lines on which a reference begins; by `refs`, where there is one, for those inside lines."""
    if not document.get("refs"):
        return {k for k, label in enumerate(document["labels"]) if label == "ref"}
    starts = [0]
    for line in document["lines"]:
        starts.append(starts[-1] + len(line) + 1)
    return {bisect_right(starts, a) - 1 for a, _ in document["refs"]}


def _read(data: Path, name: str, part: str) -> list[dict[str, Any]]:
    path = data / "refdocs" / "normalised" / f"{name}_{part}.jsonl"
    packed = path.with_suffix(".jsonl.gz")
    text = gzip.decompress(packed.read_bytes()).decode() if packed.exists() else path.read_text("utf-8")
    return [json.loads(line) for line in text.splitlines() if line]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--part", default="dev", choices=("train", "dev"))
    parser.add_argument("--model", type=Path, help="a model of lines; the bundled one if not given")
    parser.add_argument("--quick", action="store_true", help="two documents of each part")
    parser.add_argument(
        "--odd", action="store_true", help="print the entries of the set that are no references by rule"
    )
    options = parser.parse_args()
    if options.odd:
        for name in PARTS:
            for document in _read(options.data, name, options.part):
                if document["starts"] != "unknown":
                    for line, text in odd_entries(document).items():
                        print(f"{document['id']}:{line + 1}: {text[:100]}")
        return
    model = LineModel.load(options.model) if options.model else None
    for name, figures in measure_refdocs(options.data, options.part, model, 2 if options.quick else None).items():
        print(f"{name:14}" + "  ".join(f"{what} {100 * value:5.1f}" for what, value in figures.items()))


if __name__ == "__main__":
    main()
