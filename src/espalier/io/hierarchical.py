"""Nested tags in the text, one record per line, as in the UMass citations:

    <authors> <person> <person-last> Yor , </person-last> ... </person> and ... </authors>

A label is the path of the tags around it: `authors/person/person-last`. Both forms of
`espalier.io.inline` are read and written. Tags that do not balance are an error; with `repair=True` an end
tag without a start is ignored, an end tag also ends what is open inside it, and what is open at the end of
the record ends there; every repair is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from espalier.document import Document
from espalier.io.common import Tokeniser
from espalier.io.inline import read_tagged, write_tagged
from espalier.text_files import Lines

__all__ = ["read", "write"]


def read(
    lines: Lines,
    *,
    form: str = "auto",
    record: str = "",
    repair: bool = False,
    separate: bool = False,
    tokenise: Tokeniser = "default",
) -> Iterator[Document]:
    """Yield one document a record, with a span for every level; options as for `inline`."""
    return read_tagged(lines, True, form, record, repair, separate, tokenise)


def write(
    documents: Iterable[Document],
    *,
    form: str = "lines",
    root: str = "dataset",
    record: str = "sequence",
    lossy: bool = False,
) -> Iterator[str]:
    """Yield one line a document, or an XML document; labels that are not the path of their place are refused."""
    return write_tagged(documents, True, form, root, record, lossy)
