"""The fields of one reference by label, and which of them could not be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from espalier.citations.normalise.dates import is_pending, parse_date
from espalier.citations.normalise.names import split_names
from espalier.citations.normalise.numbers import month_beside, parse_issue, parse_volume
from espalier.citations.normalise.text import trim
from espalier.citations.work import Date, Name

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = ["Reading"]

T = TypeVar("T")


class Reading:
    """Takes values out of the fields of a record, and keeps count of the fields that gave none."""

    _months: tuple[tuple[str, str], ...] = ()  # (label, text) of those in brackets after the volume or issue

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
        """Return the date that all fields of a label make ("2003" and "4 January"), else the first with a year.

        A date of publication without a month has the one that stands beside the volume or issue.
        """
        texts = self._fields.get(label)
        if texts is None:
            return None
        if self._months and label == "date":
            texts = self._with_month(texts)
        together = parse_date(" ".join(texts))
        if len(texts) == 1 or together is None or (together.parts and not together.literal):
            return together
        dates = [parse_date(text) or Date() for text in texts]
        best = min(range(len(texts)), key=lambda i: (not dates[i].parts, not dates[i].literal))
        self._unread += [(label, text) for i, text in enumerate(texts) if i != best]
        return dates[best]

    def _with_month(self, texts: list[str]) -> list[str]:
        """Return the texts of a date with the month beside the issue, if that makes a date that can be read in full."""
        together = " ".join([*texts, self._months[0][1]])
        date = parse_date(together)
        if not date or not date.parts or date.literal:
            return texts
        self._months = self._months[1:]
        return [together]

    def pending(self) -> Date | None:
        """Take out the first note (or what has no home) that only stands for a date: "in press"; None without one."""
        for label in ("note", "other"):
            for text in self._fields.get(label, ()):
                if is_pending(text):
                    self._fields[label] = [kept for kept in self._fields[label] if kept is not text]
                    self._unread = [pair for pair in self._unread if pair[1] is not text]
                    return parse_date(text)
        return None

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
        for label in ("volume", "issue"):
            for text in self._fields.get(label, ()):
                if len(text) > 5 and (month := month_beside(text)):  # 3(May), but not 12(3)
                    self._months += ((label, month),)
        if own and issue:
            self._unread.append(("volume", issue))
        return volume, own or issue

    def unread(self) -> tuple[tuple[str, str], ...]:
        """Return (label, text) of the fields that gave no value, but for those of punctuation only."""
        unread = (*self._unread, *self._months)
        return tuple([(label, trim(text)) for label, text in unread if any(map(str.isalnum, text))])


def _volume(text: str) -> tuple[str, str] | None:
    found = parse_volume(text)
    return found if any(found) else None
