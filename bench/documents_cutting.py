"""Lists of references laid out in many ways, and how many of their references are cut right.

The references are those of real reference lists (`refdocs`, the part for development), each list in its own style and
order. A layout is a function from references to a text. A reference is right if letters and digits of a piece that was
cut are exactly its own; the mark before it (`[3]`, a bullet) does not count.
"""

from __future__ import annotations

import json
import random
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

from espalier.citations.borders import unbroken
from espalier.documents.references import cut as cut_text

__all__ = ["LAYOUTS", "cut_right", "lists", "measure_layouts"]

_LEADING = re.compile(r"^\s*(?:\[[^\]]{1,12}\]|\(\d{1,3}\)|\d{1,3}[.)](?=\s)|[•*–\-]\s|\d{1,3}\s+(?=\D))")


def lists(data: Path, part: str = "dev", n: int = 30, seed: int = 0) -> list[list[str]]:
    """Return up to n lists of 10 to 30 references without their marks, one list a document."""
    rng = random.Random(seed)
    found = []
    for line in (data / "refdocs" / "normalised" / f"segmenter_{part}.jsonl").read_text("utf-8").splitlines():
        document = json.loads(line)
        whole = "\n".join(document["lines"])
        texts = []
        for (a, b), marker in zip(document["refs"], document["markers"], strict=True):
            text = unbroken(whole[marker[1] if marker else a : b])
            if len(text) >= 40 and text[0].isalnum() and not text[0].islower() and text[-1] not in ",;":
                texts.append(text)
        if len(texts) >= 10:
            size = min(len(texts), rng.randint(10, 30))
            first = rng.randrange(len(texts) - size + 1)
            found.append(texts[first : first + size])
    rng.shuffle(found)
    return found[:n]


def _wrapped(text: str, first: str = "", rest: str = "", width: int = 78) -> str:
    lines = textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines)


def _numbered(mark: str, start: int = 1, rest: str = "") -> Callable[[Sequence[str], random.Random], str]:
    def lay(references: Sequence[str], rng: random.Random) -> str:
        width = rng.choice((60, 78, 90))
        marks = (mark.format(n) for n in range(start, start + len(references)))
        return "\n".join(_wrapped(m + t, rest=rest, width=width) for m, t in zip(marks, references, strict=True))

    return lay


def _missing(references: Sequence[str], rng: random.Random) -> str:
    gone = rng.randrange(2, len(references) - 2)
    marks = [n if n <= gone else n + 1 for n in range(1, len(references) + 1)]
    return "\n".join(_wrapped(f"[{n}] {text}") for n, text in zip(marks, references, strict=True))


def _in_one_line(mark: str) -> Callable[[Sequence[str], random.Random], str]:
    def lay(references: Sequence[str], _: random.Random) -> str:
        return " ".join(mark.format(n) + text for n, text in enumerate(references, 1))

    return lay


def _headed_pages(references: Sequence[str], rng: random.Random) -> str:
    """Running heads and page numbers stand between the lines, every 20 lines or so."""
    lines = _numbered("[{}] ")(references, rng).split("\n")
    head, page, out = "Journal of Orchards 12 (2004)", rng.randrange(10, 300), ["References"]
    for k, line in enumerate(lines):
        if k % 20 == 12:
            out += [str(page), head]
            page += 1
        out.append(line)
    return "\n".join(out)


def _headed(references: Sequence[str], rng: random.Random) -> str:
    return "Journal of Orchards 12 (2004)\n" + _numbered("[{}] ")(references, rng)


def _repeated(references: Sequence[str], rng: random.Random) -> str:
    """Every fifth reference begins with a dash for the author of the one before."""
    return "\n".join(_wrapped(text, rest="    ") for text in dashed(references))


def dashed(references: Sequence[str]) -> list[str]:
    """Return references, every fifth with a dash for its first word."""
    return [
        "———" + text[len(text.split(",")[0]) :] if k % 5 == 3 and "," in text[:40] else text
        for k, text in enumerate(references)
    ]


def _footnotes(references: Sequence[str], rng: random.Random) -> str:
    """Two references a note, with a semicolon between them and words before the first."""
    notes = [references[k : k + 2] for k in range(0, len(references), 2)]
    leads = ("", "See ", "Cf. ", "Vgl. ", "")
    texts = [
        f"{n} {rng.choice(leads)}" + "; ".join(text.rstrip(".") for text in note) + "."
        for n, note in enumerate(notes, 1)
    ]
    return "\n".join(_wrapped(text, width=90) for text in texts)


LAYOUTS: dict[str, Callable[[Sequence[str], random.Random], str]] = {
    "[n]": _numbered("[{}] "),
    "n.": _numbered("{}. "),
    "(n)": _numbered("({}) "),
    "[n] from 17": _numbered("[{}] ", 17),
    "n. from 17": _numbered("{}. ", 17),
    "blank lines": lambda refs, rng: "\n\n".join(_wrapped(text) for text in refs),
    "hanging": lambda refs, rng: "\n".join(_wrapped(text, rest="    ") for text in refs),
    "one a line": lambda refs, rng: "\n".join(refs),
    "heading, one a line": lambda refs, rng: "References\n\n" + "\n".join(refs),
    "wrapped": lambda refs, rng: "\n".join(_wrapped(text, width=rng.choice((48, 78, 95))) for text in refs),
    "first-line indent": lambda refs, rng: "\n".join(_wrapped(text, first="    ") for text in refs),
    "missing number": _missing,
    "bullets": lambda refs, rng: "\n".join(_wrapped("• " + text) for text in refs),
    "bare numbers": _numbered("{} "),
    "[n] in one line": _in_one_line("[{}] "),
    "n. in one line": _in_one_line("{}. "),
    "in one line": lambda refs, rng: " ".join(refs),
    "heading, wrapped": lambda refs, rng: "References\n" + "\n".join(_wrapped(text) for text in refs),
    "page head above": _headed,
    "page heads inside": _headed_pages,
    "dash for authors": _repeated,
    "footnotes at ;": _footnotes,
}


def key(text: str) -> str:
    """Return the letters and digits of a piece, without the mark before it."""
    text = re.sub(r"^\s*(?:See|Cf\.|Vgl\.)\s", "", _LEADING.sub("", text, count=1))
    return "".join(c for c in text.lower() if c.isalnum())


def cut_right(wanted: Sequence[str], found: Sequence[str]) -> tuple[int, int]:
    """Return how many of the references were cut right, and how many pieces there are too many."""
    left: dict[str, int] = {}
    for text in found:
        left[key(text)] = left.get(key(text), 0) + 1
    right = 0
    for text in wanted:
        if left.get(key(text), 0):
            left[key(text)] -= 1
            right += 1
    return right, len(found) - right


def measure_layouts(
    data: Path, part: str = "dev", n: int = 30, cut: Callable[[str], Sequence[str]] | None = None
) -> dict[str, dict[str, float]]:
    """Return for each layout the share of references cut right, of wrong pieces, and of lists without a fault."""
    cut = cut or _cut
    chosen, found = lists(data, part, n), {}
    for name, lay in LAYOUTS.items():
        rng, right, wrong, total, whole = random.Random(1), 0, 0, 0, 0
        for references in chosen:
            wanted = dashed(references) if lay is _repeated else references
            good, bad = cut_right(wanted, cut(lay(references, rng)))
            right, wrong, total, whole = (
                right + good,
                wrong + bad,
                total + len(wanted),
                whole + (good == len(wanted) and not bad),
            )
        found[name] = {"right": right / total, "wrong": wrong / total, "lists": whole / len(chosen)}
    return found


def _cut(text: str) -> list[str]:
    """Return the references of a text, with a dash where one was filled in."""
    found = cut_text(text).references
    return ["———" + one.text.removeprefix(one.filled) if one.filled else one.text for one in found]


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--part", default="dev", choices=("train", "dev"))
    parser.add_argument("--quick", action="store_true", help="two lists only")
    arguments = parser.parse_args()
    for name, figures in measure_layouts(arguments.data, arguments.part, n=2 if arguments.quick else 30).items():
        print(f"{name:22} " + "  ".join(f"{what} {100 * value:5.1f}" for what, value in figures.items()))
