"""Is anything lost? Each letter and digit of references, looked for in what every format writes.

    python bench/lost.py                               # all references of the shared sets, all formats
    python bench/lost.py --sample 200 --format ris     # so many of each set, one format

A word (a run of letters, or of digits) of a field is *kept* if the entry holds it, read by a reader of the format that
shares no code with the writer. It is *silent* if the closed table of its label has it (`normalise.kept`: "pp", "vol";
of names those that join them and those that say a role), and *written otherwise* if it is the name of a month, an
ordinal, the end of a shortened last page, a number with a leading zero, or letters and digits that are set apart or
joined (initials: "JV" is "J. V."; an ISBN). Anything else is *lost*. Printed: counts by format, then every lost word.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import random
import re
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import espalier as es
from common import DATA
from espalier.citations.formats import FORMATS
from espalier.citations.languages import months, seasons
from espalier.citations.normalise.kept import ORDINALS, SILENT
from espalier.citations.normalise.lexicon import JOINERS, LOW_JOINERS, ROLES, ROLES_IN_SHORT, vocabulary
from espalier.citations.record import Record

SETS = ("anystyle", "cora", "crossref_real", "grobid", "linkedbooks", "umass_flat", "unlabelled_refs")
NAMES = frozenset(("author", "editor", "translator"))
AROUND_NAMES = vocabulary(
    "in dans by a cura di et al alii alia others coworkers co workers u e und andere y otros outros altri "
    "autres coll cols col von herausgegeben hrsg hg edited ed eds editor editors translated transl trans tr "
    "compiled comp revised rev trad traduit traduction traduccion traduzione traducao traducido traduzido par "
    "por de da editado organizado sous la dir direction ubers ubersetzt ubersetzung aus dem en anderen i inni "
    "kol и др другие 等 ほか ред amp with mit i w в у dalam teoksessa icinde στο под за общ пер сост vd ve ark "
    "dig dkk ym m fl mfl s a wsp dr sur si va es ja та ін інші соавт 외 他"
)
"""Words that may stand before, between or after names, besides those of the lexicon."""

MACROS = {k + 1: "janfebmaraprmayjunjulaugsepoctnovdec"[3 * k : 3 * k + 3] for k in range(12)}
WORD = re.compile(r"[^\W\d_]+|\d+")


def words(text: str) -> list[str]:
    """Return the runs of letters and of digits, folded: no case, no accents, no wide signs."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold()).replace("ı", "i")
    return WORD.findall("".join(sign for sign in folded if not unicodedata.combining(sign)))


def strings(value: Any) -> Iterator[str]:
    """Yield every text and number of JSON."""
    if isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def plain_text(format: str, entry: str) -> str:
    """Return what an entry says, without the signs of its format."""
    if format in ("csl", "jsonl"):
        return " ".join(strings(json.loads(entry)))
    if format in ("tei", "endnote"):
        parts = [(one.text or "", *one.attrib.values()) for one in ET.fromstring(entry).iter()]
        return " ".join(text for several in parts for text in several)
    if format == "bibtex":
        named = re.sub(r"\{\\text[a-z]+\}", " ", entry)  # signs that TeX has a word for
        return re.sub(r"[{}\\]", "", named)
    return entry


def unmarked(text: str) -> str:
    """Return a text without tags of HTML that say how it looks, entities as the signs that they stand for."""
    tag = r"(?i)</?([a-z]+:)?(i|b|u|em|strong|su[bp]|small|big|span|scp?|tt|font|italic|bold|cite|br|p)(\s[^<>]*)?/?>"
    while (
        after := html.unescape(re.sub(tag, lambda found: " " if found[2].lower() in ("br", "p") else "", text))
    ) != text:
        text = after
    return text


def lost(record: Record, format: str) -> list[tuple[str, str]]:
    """Return (label, word) of all words of a record that an entry neither holds nor may leave out."""
    entry = plain_text(format, record.to(format))
    there, decoded = words(entry), words(unquote(entry))  # addresses have percent signs
    left, known, flat = Counter(there) | Counter(decoded), {*there, *decoded}, "".join(there + decoded)
    texts = [(field.label, unmarked(field.text)) for field in record.fields]
    pairs = [(label, word, silent(label, text, word)) for label, text in texts for word in words(text)]
    found = []
    for label, word, may_go in sorted(pairs, key=lambda pair: (pair[2], pair[0] in NAMES)):  # what may go takes nothing
        left[word] -= 1  # a word that stands twice in the reference stands twice in the entry
        if (
            left[word] < 0
            and not may_go
            and not otherwise(label, word, known - {word}, flat if word not in known else "")
        ):
            found.append((label, word))
    return found


def silent(label: str, text: str, word: str) -> bool:
    """May this word go?"""
    if label in NAMES:
        return word in AROUND_NAMES or word in JOINERS | LOW_JOINERS | ROLES | ROLES_IN_SHORT
    if label == "citation-number":  # a bare number, perhaps with a letter
        found = words(text)
        return len(found) <= 2 and found[0].isdigit() and all(len(one) == 1 for one in found[1:])
    return word in SILENT.get(label, ())


def otherwise(label: str, word: str, known: set[str], flat: str) -> bool:
    """Is the word there in another form?"""
    if label in (*NAMES, "date", "accessed", "volume", "issue", "note") and (word in months() or word in seasons()):
        return True
    if label in ("date", "accessed") and word.isdigit() and MACROS.get(int(word)) in known:  # of BibTeX
        return True
    if label == "edition" and word in ORDINALS:
        return True
    if word.isdigit() and (word.lstrip("0") in known or any(one.endswith(word) for one in known if one.isdigit())):
        return True
    if label in NAMES and (set(word) <= known or word.removesuffix("et") in known):  # JV: J. V.; "Vérteset al."
        return True
    return word in flat and (len(word) > 2 or label in ("isbn", "issn"))


def references(data: Path, sample: int | None) -> Iterator[str]:
    """Yield the references of all sets that are there."""
    for name in SETS:
        found: list[str] = []
        for path in sorted(data.glob(f"{name}/normalised/*.jsonl*")):
            raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            for row in map(json.loads, raw.decode("utf-8").splitlines()):
                found.append(row.get("text") or " ".join(row["tokens"]))
        yield from found if sample is None else random.Random(0).sample(found, min(sample, len(found)))


def count(records: Iterable[Record], formats: Sequence[str]) -> dict[str, Counter[tuple[str, str, str]]]:
    """Return (label, word, field) of what is lost, by format."""
    found: dict[str, Counter[tuple[str, str, str]]] = {name: Counter() for name in formats}
    for record in records:
        for name in formats:
            for label, word in lost(record, name):
                own = [field.text for field in record.fields if field.label == label]
                text = next(text for text in own if word in words(unmarked(text)))
                found[name][label, word, text] += 1
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, look, print; 1 if anything is lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the shared data sets")
    parser.add_argument("--model", default="citations", help="a model file, or the name of one that comes along")
    parser.add_argument("--sample", type=int, help="so many references of each set")
    parser.add_argument("--format", action="append", choices=list(FORMATS), help="only this one")
    options = parser.parse_args(arguments)
    texts = [text for text in references(options.data, options.sample) if text.strip() and len(text) < 20_000]
    records = list(es.load(options.model).parse_many(texts))
    found = count(records, options.format or list(FORMATS))
    print("| format | references | words lost |\n|---|---|---|")
    for name, several in found.items():
        print(f"| {name} | {len(records)} | {sum(several.values())} |")
    for name, several in found.items():
        for (label, word, text), times in several.most_common():
            print(f"{name}: {label}: {word!r} of {text!r}, {times} times")
    return int(any(found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
