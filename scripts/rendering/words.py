"""Declared words: lists that works are made from where the metadata have none (`words.toml`)."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl", "pl", "ru", "zh", "ja")
"""The languages besides English that references are made in."""

_UNSEEN = 0.25
_MADE = 0.5


class Words:
    """The lists of one part: a quarter of every list is for `unseen` alone, the rest for `train` and `dev`."""

    def __init__(self, tables: Mapping[str, Mapping[str, str]], part: str) -> None:
        """Keep the entries of a part; tables : lists by language, entries divided by `|`."""
        self._lists = {
            (language, name): _of_part(text, part) for language, table in tables.items() for name, text in table.items()
        }

    @classmethod
    def read(cls, part: str) -> Words:
        """Read the lists that stand beside this file."""
        return cls(read_table("words"), part)

    def all(self, name: str, language: str = "common") -> Sequence[str]:
        """Return a list; empty if the language has none."""
        return self._lists.get((language, name), ())

    def one(self, random: Random, name: str, language: str = "common") -> str:
        """Draw an entry; {other} in one of the common lists stands for an entry of the list `other`.

        Where a list has such entries, half of what is drawn is one of them: they never run out.
        """
        entries = self.all(name, language)
        if language != "common":
            return random.choice(entries)
        made = [entry for entry in entries if "{" in entry]
        entry = random.choice(made if made and random.random() < _MADE else entries)
        return re.sub(r"\{(\w+)\}", lambda found: self.one(random, found.group(1)), entry)


def read_table(name: str) -> dict[str, Any]:
    """Return what a file of words beside this one holds."""
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found: dict[str, Any] = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    return found


def _of_part(text: str, part: str) -> list[str]:
    entries = [" ".join(entry.split()) for entry in text.replace("|\n", "|").split("|")]
    unseen = [entry for entry in entries if _place(entry) < _UNSEEN] or entries[:1]
    return unseen if part == "unseen" else [entry for entry in entries if entry not in unseen] or entries[1:]


def _place(entry: str) -> float:
    return int.from_bytes(hashlib.sha256(entry.encode()).digest()[:4], "big") / 2.0**32
