"""The words of the command line: options instead of arguments, records from 1, one record but two records."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["counted", "in_options"]

# Where a command writes, the option that names the format.
_FORMAT_OPTION: Mapping[str, str] = {"label": "--format", "convert": "--to"}

_PHRASES: tuple[tuple[str, str], ...] = (
    (r"\blossy=True\b", "--lossy"),
    (r"\bname another scheme=, or pass repair=True", "'espalier convert --repair' reads it as most tools do"),
    (r"\bencoding='([\w-]+)'(?: or '([\w-]+)')?", r"--encoding \1"),
    (r"\bformat='hierarchical'", "--from hierarchical"),
    (r" \((?:or pass blocks=True|blank='keep' would write a blank line)\)", ""),
    (r"\bpass labels= to fit\b", "give a --task that lists it"),
    (r"\bpass some, or use 'self'", "add --rules FILE, or --set method.unlabelled_truth=self"),
    (r" \(longest=\)", ""),
    (r"; pass unknown= to name a tag for that", ", which columns cannot say"),
    (r"; pass labels=\{'(\w+)': \.\.\.\}.*", r"; from Python, es.read can be told a label for \1"),
)


# Where a message begins, or what a file is blamed for.
_PLACE = re.compile(r"(^|: )(?:document|sequence) (\d+)(?:, token (\d+))?")


def counted(n: int, what: str) -> str:
    """Return "1 record", "2 records" for a word whose plural ends in s."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _from_one(place: re.Match[str]) -> str:
    token = "" if place[3] is None else f", token {int(place[3]) + 1}"
    return f"{place[1]}record {int(place[2]) + 1}{token}"


def in_options(message: str, command: str) -> str:
    """Return an error's message as a user of that command should read it."""
    message = _PLACE.sub(_from_one, message)
    for phrase, words in _PHRASES:
        message = re.sub(phrase, words, message)
    return message.replace("format='inline'", f"{_FORMAT_OPTION.get(command, '--to')} inline")
