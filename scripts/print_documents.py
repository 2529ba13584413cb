"""Print papers with reference lists as PDF files, in many layouts, with the label of every line.

    python scripts/print_documents.py --data DIR --rendered build/rendered --train 306 --unseen 204

DIR holds `refdocs`, whose text stands around the lists; RENDERED has the references that `render_references.py` writes.
Papers of `train` have references in styles of that part and text of `refdocs` train; those of `unseen` have styles that
train nothing, and text of `refdocs` dev. A paper has one style; layouts take turns. For each part, OUTPUT gets the PDF
files and `PART.jsonl`: lines with places and labels, for `train_lines.py --printed`. With `--mixed`, every paper has a
layout of its own, in which what makes lists hard comes together as it does in papers (`printing/mixed.py`), and half of
the lists are real ones of `refdocs`. Needs Chromium and Playwright.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from printing.browser import printer
from printing.layouts import LAYOUTS, looks
from printing.mixed import mixed
from printing.papers import write_paper
from printing.prose import Prose
from printing.truth import labelled

from espalier.citations.borders import unbroken
from espalier.documents.reading.pdf import read_pdf

BUILD = Path(__file__).parents[1] / "build"
PARTS = {"train": "train", "unseen": "dev"}
"""The parts, and the part of `refdocs` that their text is from."""

_PRINTABLE = re.compile(r"[\u0020-\u02ff\u0370-\u04ff\u1e00-\u1eff\u2010-\u2044\u20ac\u2116]+")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and print the papers of each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of refdocs")
    parser.add_argument("--rendered", type=Path, default=BUILD / "rendered", help="directory of rendered references")
    parser.add_argument("--output", type=Path, default=BUILD / "printed", help="directory to write to")
    parser.add_argument("--no-files", action="store_true", help="keep the labelled lines only, not the PDF files")
    for part in PARTS:
        parser.add_argument(f"--{part}", type=int, default=0, metavar="N", help=f"how many papers of part {part}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mixed", action="store_true", help="layouts at random, and real references, too")
    options = parser.parse_args(arguments)
    with printer() as print_page:
        for part in PARTS:
            wanted = getattr(options, part)
            if wanted:
                print_part(part, wanted, options, print_page)


def print_part(part: str, wanted: int, options: argparse.Namespace, print_page: Any) -> None:
    """Print the papers of a part, and write their lines."""
    random = Random(f"{options.seed}/{part}")
    prose = Prose(read(options.data / "refdocs" / "normalised", f"segmentation_{PARTS[part]}.jsonl"), random)
    found = list(islice(read(options.rendered, f"{part}.jsonl"), 400 * wanted + 4000))
    lists = {language: list(styles(found, language)) for language in ("en", "de")}
    real = real_lists(options.data / "refdocs" / "normalised", PARTS[part]) if options.mixed else []
    folder = options.output / part
    folder.mkdir(parents=True, exist_ok=True)
    with open(options.output / f"{part}.jsonl", "w", encoding="utf-8") as file:
        for number in range(wanted):
            layout = mixed(random, number) if options.mixed else LAYOUTS[number % len(LAYOUTS)]
            rows = chosen(random, lists[layout.language] or lists["en"])
            if real and layout.language == "en" and random.random() < 0.5:
                rows = random.choice(real)[: random.randint(8, 60)]
            paper = write_paper(layout, looks(layout, random), rows, prose, random)
            data = print_page(paper.html)
            name = f"{number:04d}.pdf"
            if not options.no_files:
                (folder / name).write_bytes(data)
            row = {"id": f"printed/{part}/{number}", "source": name, **labelled(paper, read_pdf(data, name), data)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
    sys.stdout.write(f"{part}: {wanted} papers in {min(wanted, len(LAYOUTS))} layouts\n")


def real_lists(folder: Path, part: str) -> list[list[dict[str, Any]]]:
    """Return the lists of real papers, in their order: rows have `text` and `marked`."""
    found = []
    for document in read(folder, f"segmenter_{part}.jsonl"):
        whole, rows = "\n".join(document["lines"]), []
        for (a, b), marker in zip(document["refs"], document["markers"], strict=True):
            text = unbroken(whole[marker[1] if marker else a : b])
            if 40 <= len(text) < 600 and text[0].isupper() and _PRINTABLE.fullmatch(text):
                rows.append({"text": text, "marked": html.escape(text)})
        if len(rows) >= 8:
            found.append(rows)
    return found


def chosen(random: Random, lists: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return references of one style, in the order of their names or in any."""
    rows = list(random.choice(lists))
    random.shuffle(rows)
    rows = [{"text": row["text"], "marked": marked(row)} for row in rows[: random.randint(8, 45)]]
    return sorted(rows, key=lambda row: row["text"].casefold()) if random.random() < 0.7 else rows


def styles(references: list[dict[str, Any]], language: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the references of each style that has enough of them in a language; other than German is English here."""
    found = defaultdict(list)
    for row in references:
        german = row.get("locale", "").startswith("de")
        text = without_number(row)
        if german == (language == "de") and not row.get("noise") and _PRINTABLE.fullmatch(text) and len(text) < 600:
            found[row.get("style", "")].append({**row, "text": text})
    enough = 8 if language == "en" else 5
    lists = [rows for rows in found.values() if len(rows) >= enough]
    yield from lists or found.values()


def without_number(row: dict[str, Any]) -> str:
    """Return the text of a reference without the number that its style gives it."""
    text = row.get("text") or " ".join(row["tokens"])
    for token, tag in zip(row["tokens"], row["bio"], strict=True):
        if not tag.endswith("citation-number"):
            break
        text = text.lstrip().removeprefix(token)
    return " ".join(text.split())


def marked(row: dict[str, Any]) -> str:
    """Return the text of a reference as HTML, with what contains the work in italics."""
    text, place, parts, inside = row["text"], 0, [], False
    for token, tag in zip(row["tokens"], row["bio"], strict=True):
        at = text.find(token, place)
        if at < 0 or tag.endswith("citation-number"):
            continue
        if (tag == "I-container-title") != inside or tag == "B-container-title":
            parts += [html.escape(text[place:at]), "</i>" * inside]
            inside = tag.endswith("container-title")
            parts.append("<i>" * inside)
            place = at
        parts.append(html.escape(text[place : at + len(token)]))
        place = at + len(token)
    return "".join([*parts, "</i>" * inside, html.escape(text[place:])])


def read(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, packed or not."""
    plain = folder / name
    if plain.exists():
        with open(plain, encoding="utf-8") as file:
            yield from map(json.loads, file)
    else:
        with gzip.open(folder / f"{name}.gz", "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)


if __name__ == "__main__":
    main()
