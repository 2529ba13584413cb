"""An entry of a bibliography: a work that was read, with its place in a file, where a `Record` was parsed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from espalier.citations.work import Work
from espalier.extract.extraction import Field

__all__ = ["Entry"]


@dataclass(frozen=True)
class Entry:
    """A work that was read, not parsed: it has no fields in a text, no confidence and no certificate.

    Every output format writes an entry as it writes a `Record`; what only a parsed text has is empty there.

    Parameters
    ----------
    text : the entry as it stands in its file.
    work : what it says.
    key : its name in that file, "" if it has none; a format that has keys keeps it.
    format : of the file, for example "bibtex".
    file, line : where it begins; the file's name, and the line from 1.
    """

    text: str
    work: Work
    key: str = ""
    format: str = ""
    file: str = ""
    line: int = 1

    fields: ClassVar[tuple[Field, ...]] = ()
    confidence: ClassVar[None] = None
    certificate: ClassVar[None] = None
    violations: ClassVar[tuple[()]] = ()
    alternatives: ClassVar[tuple[()]] = ()

    def place(self) -> dict[str, Any]:
        """Return where it stands in its file, as JSON values."""
        return {"line": self.line, "format": self.format, "key": self.key}

    def to(self, format: str) -> str:
        """Return this entry alone in any format of `espalier.citations.formats.FORMATS`.

        Parameters
        ----------
        format : its name, for example "ris".

        Returns
        -------
        The text of the entry, without what stands around the entries of a file.
        """
        from espalier.citations.formats import get_format, stem_of

        return get_format(format).entry(self, stem_of(self))

    def to_csl(self) -> dict[str, Any]:
        """Return a CSL-JSON item."""
        from espalier.citations.formats import stem_of
        from espalier.citations.formats.csl import item

        return item(self.work, stem_of(self))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON values, in the form of a record: no fields, and None for what was not computed."""
        return {
            "text": self.text,
            "fields": [],
            "csl": self.to_csl(),
            "confidence": None,
            "certificate": None,
            "violations": [],
        }
