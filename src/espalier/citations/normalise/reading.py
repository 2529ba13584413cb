"""The fields of one reference by label, and which of them could not be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from espalier.citations.normalise.dates import parse_date
from espalier.citations.normalise.names import split_names
from espalier.citations.normalise.numbers import parse_issue, parse_volume
from espalier.citations.normalise.text import trim
from espalier.citations.work import Date, Name

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = ["Reading"]

T = TypeVar("T")


class Reading:
    """Takes values out of the fields of a record, and keeps count of the fields that gave none."""

    def __init__(self, record: Record) -> None:
        """Sort the fields by label; `texts` has the text of each label, several fields joined by a space."""
        self._fields: dict[str, list[str]] = {}
        for field in record.fields:
            self._fields.setdefault(field.label, []).append(field.text)
        self.texts = {label: " ".join(texts) for label, texts in self._fields.items()}
        self._unread = [("other", text) for text in self._fields.get("other", [])]

    def value(self, label: str, read: Callable[[str], T | None]) -> T | None:
        """Return the first value that one of the label's fields gives; the other fields are unread."""
        found = None
        for text in self._fields.get(label, ()):
            value = None if found else read(text)
            if value:
                found = value
            else:
                self._unread.append((label, text))
        return found

    def first(self, label: str, read: Callable[[str], str]) -> str:
        """Return the first text that is not empty, as `value` does; "" if there is none."""
        return self.value(label, read) or ""

    def date(self, label: str) -> Date | None:
        """Return the date that all fields of a label make ("2003" and "4 January"), else the first with a year."""
        texts = self._fields.get(label)
        if texts is None:
            return None
        together = parse_date(" ".join(texts))
        if len(texts) == 1 or together is None or (together.parts and not together.literal):
            return together
        dates = [parse_date(text) or Date() for text in texts]
        best = min(range(len(texts)), key=lambda i: (not dates[i].parts, not dates[i].literal))
        self._unread += [(label, text) for i, text in enumerate(texts) if i != best]
        return dates[best]

    def joined(self, label: str) -> str:
        """Return the texts of all fields of a label, without punctuation around them, joined by "; "."""
        return "; ".join(filter(None, map(trim, self._fields.get(label, ()))))

    def names(self, label: str) -> tuple[tuple[Name, ...], bool]:
        """Return the names of all fields of a label, and if there are others; what stands in brackets is unread."""
        names: tuple[Name, ...] = ()
        others = False
        for text in self._fields.get(label, ()):
            found = split_names(text)
            names, others = names + found.names, others or found.others
            self._unread += [(label, aside) for aside in found.asides]
        return names, others

    def volume(self) -> tuple[str, str]:
        """Return volume and issue; an issue inside the volume counts where no field is an issue."""
        volume, issue = self.value("volume", _volume) or ("", "")
        own = self.first("issue", parse_issue)
        if own and issue:
            self._unread.append(("volume", issue))
        return volume, own or issue

    def unread(self) -> tuple[tuple[str, str], ...]:
        """Return (label, text) of the fields that gave no value, but for those of punctuation only."""
        return tuple([(label, trim(text)) for label, text in self._unread if any(map(str.isalnum, text))])


def _volume(text: str) -> tuple[str, str] | None:
    found = parse_volume(text)
    return found if any(found) else None
