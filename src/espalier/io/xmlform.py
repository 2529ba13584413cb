"""Walking an XML document: which elements are records, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from espalier.io.lines import Lines
from espalier.io.markup import Event, MarkupError, xml_events
from espalier.io.tagged import Record

__all__ = ["Found", "walk"]


class Found(NamedTuple):
    """One record element: its content, attributes and first line."""

    record: Record
    attributes: Mapping[str, str]
    line: int


def walk(
    lines: Lines,
    is_record: Callable[[str, int], bool],
    label: Callable[[Event, Record], str | None],
    stray: Callable[[Event, str], None],
    *,
    repair: bool = False,
    separate: bool = False,
) -> Iterator[Found]:
    """Yield the record elements of an XML document.

    `is_record(name, depth)` says which elements are records, `label` names a field (None: no label), and
    `stray` is told of text outside records, with the name of the element it stands in.
    """
    text = lines.whole()
    outer: list[str] = []
    record: Record | None = None
    attributes: Mapping[str, str] = {}
    name, start, rooted = "", 0, False
    for event in xml_events(text):
        if record is None:
            if event.kind == "open":
                if not outer and rooted:
                    raise MarkupError(f"<{event.value}> after the document's end", event.line)
                rooted = True
                if is_record(event.value, len(outer)):
                    name, attributes, start = event.value, event.attributes, event.line
                    record = Record(
                        lines.report,
                        lines.report if repair else None,
                        strict_references=True,
                        separate=separate,
                        longest=lines.longest,
                    )
                else:
                    outer.append(event.value)
            elif event.kind == "close":
                if not outer or outer[-1] != event.value:
                    where = f"inside <{outer[-1]}>" if outer else "after the document's end"
                    raise MarkupError(f"</{event.value}> {where} does not match", event.line)
                outer.pop()
            elif event.value.strip():
                stray(event, outer[-1] if outer else "")
        elif event.kind in ("text", "cdata"):
            record.characters(event)
        elif event.kind == "open":
            record.open(event, label(event, record))
        elif event.value != name:
            record.close(event)
        else:
            record.finish(event.line)
            yield Found(record, attributes, start)
            record = None
    if record is not None or outer:
        raise MarkupError(f"the file ends inside <{name if record is not None else outer[-1]}>", text.count("\n") + 1)
    if not rooted:
        raise MarkupError("there is no element in this file", 1)
