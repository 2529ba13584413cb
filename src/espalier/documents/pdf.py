"""`read_pdf`: a PDF file to its lines, in reading order."""

from __future__ import annotations

from espalier.documents.lines import PrintedText

__all__ = ["read_pdf"]


def read_pdf(data: bytes, name: str = "") -> PrintedText:
    """Return the lines of a PDF file."""
    raise NotImplementedError
