"""Label and text of each field of a record, as they are read: mistakes of labels mended, signs that were lost restored.

A record shows what the model said, its work what the reference means. Here a field goes to another label, or is cut in
two, where no other reading is left; the rows that say where are data (`schemes/reading.toml`). Nothing is lost or
invented: the texts, put together, are those of the fields. Most references have nothing to mend, and pay for a look at
their labels only.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from espalier.citations.normalise.text import readable
from espalier.citations.schemes import Refinement, load_refinements, merged
from espalier.citations.seen import has_markup
from espalier.document import Span

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = ["fields_of"]


def fields_of(record: Record) -> list[tuple[str, str]]:
    """Return label and text of each field, those mended that can only be a mistake."""
    text = record.text
    pairs = [(field.label, field.text) for field in record.fields]
    labels = tuple([label for label, _ in pairs])
    if asked := _asked(labels):
        spans = [Span(field.start, field.end, field.label) for field in record.fields]
        better, done = spans, 0
        while left := [(n, row, places) for n, row, places in asked if n >= done]:
            n, row, places = left[0]
            done = n + 1
            if (mended := row.apply(text, better, places)) is not None:
                better = merged(text, mended)
                asked = _asked(tuple([span.label for span in better]))
        if better is not spans:
            pairs = [(span.label, text[span.start : span.end]) for span in better]
    if has_markup(text) or "?" in text or "~" in text or "\ufffd" in text or "â" in text:
        pairs = [(label, readable(label, part)) for label, part in pairs]
    return pairs


@cache
def _rows() -> tuple[Refinement, ...]:
    return load_refinements("reading")


@lru_cache(maxsize=4096)
def _asked(labels: tuple[str, ...]) -> tuple[tuple[int, Refinement, tuple[int, ...]], ...]:
    """Return the rows that a sequence of labels has an occasion for, their numbers, and which fields they are about.

    Few sequences make up nearly all references.
    """
    return tuple((n, row, places) for n, row in enumerate(_rows()) if (places := row.places(labels)))
