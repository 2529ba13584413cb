"""A job: which input becomes which output by which model, as a TOML file.

    input = ["crawl/*.parquet", "more/*.jsonl.gz"]    # files or patterns, any address that fsspec knows
    output = "records"                                # a directory, likewise
    model = "my.espalier"                             # or the name of a bundled model
    text = "text"                                     # the column or key that holds the text
    keep = ["id"]                                     # columns or keys to copy into the output
    entries = ["bibtex"]                              # columns with the entry of each reference in these formats
    partition_bytes = 16_000_000                      # how much input is one piece of work
    retries = 2                                       # how often a failing partition is tried again

Paths in the file are relative to it. The identity of a job is what its rows depend on; where it reads and writes, how
often it tries and how many texts are in memory are not part of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from espalier.cluster.labeller import LabellerSpec
from espalier.errors import FormatError, InputError, nearest

__all__ = ["FORMATS", "RESERVED", "Job", "Settings", "read_settings"]

FORMATS = ("auto", "parquet", "jsonl", "text", "document")
RESERVED = ("input", "position", "text")
"""Columns that every output has."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a job file says, checked.

    rows : what becomes of a text, a word that the command line knows ("" by the model). entries : output formats of
    references, of which every row has the entry in a column of that name. longest : characters; a text
    that is longer is set aside. batch : texts that are labelled at a time.
    """

    input: tuple[str, ...]
    output: str
    model: str
    rows: str = ""
    format: str = "auto"
    text: str = "text"
    keep: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    longest: int = 20_000
    partition_bytes: int = 16_000_000
    batch: int = 1024
    retries: int = 2

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if not self.input or not all(self.input):
            raise InputError("input is empty", hint='name files or patterns, such as "refs/*.jsonl"')
        for name, least in (("partition_bytes", 1), ("batch", 1), ("longest", 1), ("retries", 0)):
            if getattr(self, name) < least:
                raise InputError(
                    f"{name} is {getattr(self, name)}", hint=f"expected a whole number of at least {least}"
                )
        if self.format not in FORMATS:
            near = nearest(self.format, FORMATS, f"there are {', '.join(FORMATS)}")
            raise InputError(f"unknown format {self.format!r}", hint=near)
        taken = [name for name in self.keep if name in RESERVED]
        if taken:
            raise InputError(
                f"keep: every output has a column {taken[0]!r} of its own", hint="leave it out, or rename yours"
            )
        if len({*self.keep, *self.entries}) < len(self.keep) + len(self.entries):
            names = ", ".join((*self.keep, *self.entries))
            raise InputError(f"{'keep and entries name' if self.entries else 'keep names'} a column twice: {names}")


@dataclass(frozen=True, slots=True)
class Job:
    """Settings, and the description of the labeller that goes with them."""

    settings: Settings
    labeller: LabellerSpec

    @property
    def identity(self) -> dict[str, Any]:
        """All that a row of the output depends on, besides the input."""
        s = self.settings
        more = {"entries": list(s.entries)} if s.entries else {}  # so that older jobs without them are the same job
        return more | {
            "model": self.labeller.digest,
            "labeller": self.labeller.maker,
            "format": s.format,
            "text": s.text,
            "keep": list(s.keep),
            "longest": s.longest,
            "partition_bytes": s.partition_bytes,
        }

    @property
    def digest(self) -> str:
        """The SHA-256 of the identity."""
        return hashlib.sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()


_KINDS: Mapping[str, tuple[type, str]] = {
    "str": (str, "a string"),
    "int": (int, "a whole number"),
    "tuple[str, ...]": (list, "a list of strings"),
}


def read_settings(path: Path) -> Settings:
    """Read a job file; relative paths in it are taken from where it is."""
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or lists in lists in lists
        raise FormatError(f"not a TOML file: {error}", path=str(path)) from None
    if isinstance(table.get("input"), str):
        table["input"] = [table["input"]]
    try:
        settings = Settings(**_checked(table))
    except InputError as error:
        raise FormatError(*error.parts, path=str(path), hint=error.ways) from None
    base = path.resolve().parent
    placed = {"input": tuple(_placed(name, base) for name in settings.input), "output": _placed(settings.output, base)}
    return Settings(**asdict(settings) | placed)


def _checked(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Settings`: names that are known, values of their kinds."""
    known = {field.name: str(field.type) for field in fields(Settings)}
    for name, value in table.items():
        if name not in known:
            raise InputError(f"unknown key {name!r}", hint=nearest(name, known, f"there are {', '.join(known)}"))
        kind, called = _KINDS[known[name]]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(f"{name} is {value!r}", hint=f"expected {called}")
        if isinstance(value, list) and not all(isinstance(part, str) for part in value):
            raise InputError(f"{name} is {value!r}", hint="expected a list of strings")
    missing = [name for name in ("input", "output", "model") if not table.get(name)]
    if missing:
        raise InputError(f"there is no {missing[0]}", hint="a job needs input, output and model")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}


def _placed(name: str, base: Path) -> str:
    """Return an address as it is, and a path from the job file's directory."""
    return name if "://" in name else os.path.normpath(base / name)
