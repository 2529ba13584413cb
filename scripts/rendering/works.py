"""The works that references are rendered from: real metadata, cleaned, by kind and language."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

Item = dict[str, Any]
"""A work in CSL-JSON."""

KEPT = frozenset(
    (
        *("id", "type", "title", "author", "editor", "translator", "issued", "container-title", "collection-title"),
        *("collection-number", "volume", "issue", "page", "publisher", "publisher-place", "edition", "DOI", "URL"),
        *("ISBN", "genre", "number", "number-of-pages"),
    )
)
NAMED = ("title", "container-title", "collection-title", "publisher", "publisher-place")
_JUNK = re.compile(
    r"""(?xi) </?\w+> | \ufffd | \\ | [{}] | \bpp?\.\ ?\d | \bvol\.\  | \breviewed\ by | \babstract: | \balso\ in\b |
        \bISBN\b | \bno\.\ ?\d | \bmestrado\b | \bphd\ thesis | \bed\.\ by\b | \beds?\.\) | orientação: |
        traducid[oa]\ al | \bill\.?$ | ^\W*\( | https?:// | publicaciones\ en | \b\d{1,3}\ ?(?:pp|p|S)\b\.? | \bpp\b |
        \(\w+,\ \d+\ \w+\ \d{4}\) | ^in\ \w+\ \w+,\ eds? | \bms\b\.? | \bunpublished | \bin\ press\b | \(?forthcoming"""
)
_NOT_A_NAME = re.compile(r"[\d:;()\[\]/]|\bet al|\bdept\b")
_MONTH = re.compile(r"(?i)^\W*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\W*\d*\W*$")
_STOPS = {
    "de": "der die das und für von zur zum des im eine ein einer über",
    "fr": "le la les des du et une dans pour sur étude au aux langue un",
    "es": "el los las del una en por para lenguas y lengua estudio la",
    "pt": "os uma da das do dos na no e língua o um português",
    "nl": "het een van en voor over bij naar",
    "en": "the of and in a on for to with an by from",
}
_STOP_WORDS = {language: frozenset(words.split()) for language, words in _STOPS.items()}


@dataclass(slots=True)
class Pool:
    """Real works of one part, and what can be borrowed from them."""

    items: dict[tuple[str, str], list[Item]] = field(default_factory=lambda: defaultdict(list))
    publishers: list[tuple[str, str]] = field(default_factory=list)
    people: list[Item] = field(default_factory=list)
    editors: list[list[Item]] = field(default_factory=list)

    @classmethod
    def read(cls, directory: Path, part: str) -> Pool:
        """Read the works of a part: "train", "dev" or "unseen"."""
        pool = cls()
        records = list(_records(directory / "metadata" / "normalised", part))
        places = {record["publisher-place"] for record in records if record.get("publisher-place")}
        for record in records:
            item = cleaned(record)
            if item is not None and item.get("publisher") not in places:
                pool.add(item, str(record.get("source", "")).split("/")[0])
        return pool

    def add(self, item: Item, source: str) -> None:
        """Take a work in."""
        kind = (
            "edited-book" if item["type"] == "book" and item.get("editor") and not item.get("author") else item["type"]
        )
        self.items[kind, language_of(item["title"])].append(item)
        if source != "acl" and item.get("publisher") and item.get("publisher-place") and len(item["publisher"]) < 60:
            self.publishers.append((item["publisher"], item["publisher-place"]))
        if source != "glottolog":
            self.people += [name for name in item.get("author", ()) if "family" in name]
        if item.get("editor"):
            self.editors.append(item["editor"])

    def draw(self, random: Random, kind: str, language: str = "") -> Item:
        """Return a copy of a work of a kind, in a language if there are any."""
        found = self.items.get((kind, language)) if language else None
        if not found:
            options = [key for key in self.items if key[0] == kind]
            key = random.choices(options, [len(self.items[key]) for key in options])[0]
            found = self.items[key]
        return deepcopy(random.choice(found))

    def count(self, kind: str, language: str) -> int:
        """Return how many works of a kind and a language there are."""
        return len(self.items.get((kind, language), ()))


def _records(directory: Path, part: str) -> Iterator[Item]:
    plain = directory / f"{part}.jsonl"
    packed = directory / f"{part}.jsonl.gz"
    data = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
    yield from map(json.loads, data.decode("utf-8").splitlines())


def cleaned(record: Mapping[str, Any]) -> Item | None:
    """Return a work without what is of no use; None if its fields are not what they should be."""
    item = {key: value for key, value in record.items() if key in KEPT and value}
    for key in NAMED:
        if key in item:
            item[key] = _trimmed(item[key]) if isinstance(item[key], str) else ""
    if not item.get("title") or len(item["title"]) > 260 or not item.get("issued"):
        return None
    if any(_JUNK.search(item.get(key, "")) for key in NAMED) or re.search(r"[.:;,]\s+\d{4}\b", item["title"]):
        return None
    if not re.fullmatch(r"\w{0,9}\d\w*([-–,/]\s?\w{1,9})?", item.get("page", "1")):
        del item["page"]
    container = item.get("container-title", "x")
    if not container or _MONTH.match(container) or re.search(r"\d{4}\W*$|, \w+ \d|^\W*\d", container):
        return None
    if not _settle_publisher(item) or not all(map(_is_person, _people(item))):
        return None
    if not re.match(r"[^\Wa-z]\w", item.get("collection-title", "The")):
        return None
    for key in ("volume", "issue"):
        if key in item and not re.fullmatch(r"(?=.*\d|[IVXLC]+$)[\w.]{1,9}([-–/]\w{1,6})?", str(item[key])):
            del item[key]
    return item


def _trimmed(text: str) -> str:
    """Return a value without marks at its end, but with the full stop of an abbreviation."""
    text = re.sub(r"\s+", " ", text).strip(" ,;:")
    return text if re.search(r"\b(?:Inc|Ltd|Co|Corp|Univ|Verl|Bros|ed|Jr|[A-Z])\.$", text) else text.rstrip(". ")


def _settle_publisher(item: Item) -> bool:
    """Take a place out of the publisher; say whether what is left can be one."""
    publisher = item.get("publisher", "")
    match = re.match(r"^\[?([^:\]\d]{2,40})\]?\s*:\s+([^:]+)$", publisher)
    if match:
        item["publisher-place"], item["publisher"] = match.groups()
    publisher = item.get("publisher", "A publisher")
    if re.search(r"[:;\d]|^\W|^(?:univ|univ\.|press|the)$", publisher, re.IGNORECASE) or len(publisher) > 90:
        return False
    if publisher == item.get("publisher-place"):
        return False
    return not re.search(r"[:;\d]", item.get("publisher-place", ""))


def _people(item: Item) -> Sequence[Item]:
    return [name for role in ("author", "editor", "translator") for name in item.get(role, ())]


def _is_person(name: Item) -> bool:
    """Say whether a name looks like one, and put names in capitals into usual letters."""
    if "literal" in name:
        return len(name["literal"]) < 90
    if name["family"].isupper() and len(name["family"]) > 3:
        name["family"] = name["family"].title()
    if len(name.get("given", "")) > 4 and name["given"].isupper() and "." not in name["given"]:
        name["given"] = name["given"].title()
    return not any(_NOT_A_NAME.search(name.get(part, "")) for part in ("family", "given"))


def language_of(title: str) -> str:
    """Return the language of a title by its script and its small words; "en" if nothing speaks for another."""
    if re.search(r"[\u0430-\u044f]", title):
        return "ru"
    if re.search(r"[\u3040-\u30ff]", title):
        return "ja"
    if re.search(r"[\u4e00-\u9fff]", title):
        return "zh"
    words = re.findall(r"\w+", title.lower())
    counts = {language: sum(word in stops for word in words) for language, stops in _STOP_WORDS.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] >= 2 and counts[best] > counts["en"] else "en"
