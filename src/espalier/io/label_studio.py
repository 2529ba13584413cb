"""Label Studio's JSON export: a list of tasks with `data.text` and `annotations[].result[].value`
({"start", "end", "text", "labels"}).

Offsets count code points, as Python does. Label Studio's front end counts UTF-16 units, which differ after the
first character beyond U+FFFF: `utf16=True` reads and writes those. `value.text` is compared with the slice, so
the wrong choice is an error, not a wrong span.

The first annotation that is not cancelled is read (a task without one is unlabelled); others and results that
are not labels are reported. The rest of the task, `predictions` among it, stays untouched in `meta`: other keys
of `data` in `meta["data"]`, other keys of the annotation in `meta["annotation"]`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from espalier.document import Document, Span
from espalier.errors import InputError, Place
from espalier.io.common import Offsets, Tokeniser, Writing, build, sorted_spans, tokeniser
from espalier.io.records import (
    NotJson,
    exact_fields,
    identifier,
    offsets_of,
    parse_json,
    span_of,
    text_or_number,
    to_json,
    typed,
)
from espalier.text_files import Lines

__all__ = ["read", "write"]

_BLANKS = re.compile("[ \t\r\n]*")


def read(
    lines: Lines, *, utf16: bool = False, key: str = "text", tokenise: Tokeniser = "default"
) -> Iterator[Document]:
    """Yield one document a task; `key` is where the text is in `data`."""
    split = tokeniser(tokenise)
    for number, task in _tasks(lines):
        with lines.at(number):
            if not isinstance(task, dict):
                raise InputError(f"a task must be an object, not {str(task)[:40]!r}")
            data = typed(task, "data", dict, required=True)
            lines.admit(len(typed(data, key, str, required=True)))
            yield _document(task, key, split, utf16, lambda what, n=number: lines.report(what, n))  # type: ignore[misc]


def _tasks(lines: Lines) -> Iterator[tuple[int, Any]]:
    """Yield (line, task), parsing one task at a time; behind what is no JSON nobody knows where the next begins."""
    text = lines.whole()
    at, line, seen = 0, 1, 0

    def skip() -> str:
        """Move to the next sign that is not blank and return it ("" at the end)."""
        nonlocal at, line
        start, at = at, _BLANKS.match(text, at).end()  # type: ignore[union-attr]
        line += text.count("\n", start, at)
        return text[at : at + 1]

    if skip() != "[":
        raise lines.error("expected a JSON list of tasks, which starts with '['", line)
    at += 1
    while (sign := skip()) != "]":
        if seen:
            if sign != ",":
                raise lines.error(
                    f"expected ',' or ']' after task {seen}, found {sign or 'the end of the file'!r}", line
                )
            at += 1
            skip()
        try:
            task, end = parse_json(text, at)
        except InputError as error:
            raise lines.fault(error, error.line if isinstance(error, NotJson) else line) from None
        yield line, task
        line += text.count("\n", at, end)
        at, seen = end, seen + 1
    at += 1
    if skip():
        raise lines.error("something follows the list of tasks", line)


def _document(
    task: Mapping[str, Any],
    key: str,
    split: Callable[[str], Offsets],
    utf16: bool,
    report: Callable[[str], None],
) -> Document:
    data = typed(task, "data", dict, required=True)
    text = typed(data, key, str, required=True)
    meta = {name: value for name, value in task.items() if name not in ("id", "data", "annotations")}
    rest = {name: value for name, value in data.items() if name not in (key, "offsets", "unknown")}
    spans: list[Span] | None = None
    annotation = _chosen(typed(task, "annotations", list) or [], report)
    if annotation is not None:
        spans = _spans(typed(annotation, "result", list, required=True), text, utf16, report)
        extra = {name: value for name, value in annotation.items() if name != "result"}
        meta |= {"annotation": extra} if extra else {}
    tokens = offsets_of(data, "offsets")
    return build(
        text,
        split(text) if tokens is None else tokens,
        spans,
        unknown=offsets_of(data, "unknown") or (),
        id=identifier(task),
        meta=meta | ({"data": rest} if rest else {}),
    )


def _chosen(annotations: list[Any], report: Callable[[str], None]) -> dict[str, Any] | None:
    for annotation in annotations:
        if not isinstance(annotation, dict):
            raise InputError(f"an annotation must be an object, not {str(annotation)[:40]!r}")
    kept = [annotation for annotation in annotations if not annotation.get("was_cancelled")]
    if len(annotations) > len(kept[:1]):
        left = len(annotations) - len(kept[:1])
        report(f"{left} of {len(annotations)} annotations left out: cancelled, or after the first")
    return kept[0] if kept else None


def _spans(results: list[Any], text: str, utf16: bool, report: Callable[[str], None]) -> list[Span]:
    spans = []
    units = _units(text) if utf16 else None
    for result in results:
        if not isinstance(result, dict):
            raise InputError(f"a result must be an object, not {str(result)[:40]!r}")
        value = typed(result, "value", dict) or {}
        if "labels" not in value:
            report(f"a result of type {result.get('type')!r} is left out: only labels are spans")
            continue
        for label in typed(value, "labels", list, required=True):
            span = span_of(value.get("start"), value.get("end"), label)
            spans.append(_checked(span, text, units, typed(value, "text", str)))
    return spans


def _checked(span: Span, text: str, units: list[int] | None, said: str | None) -> Span:
    """Return the span in code points, after comparing the slice with what the file says it is."""
    start, end = span.start, span.end
    if units is not None:
        start, end = _code_points(units, start), _code_points(units, end)
    found = text[max(start, 0) : max(end, 0)]
    # Label Studio writes line breaks inside `value.text` as a backslash and n.
    if said is not None and found not in (said, said.replace("\\n", "\n")):
        hint = "without utf16=True" if units is not None else "with utf16=True, if the file counts UTF-16 units"
        raise InputError(
            f"span {span.label!r} {span.start}..{span.end} should be {said[:40]!r}, but there is {found[:40]!r}",
            hint=f"read it {hint}",
        )
    return Span(start, end, span.label)


def _units(text: str) -> list[int]:
    """Return, for every position in the text, the UTF-16 units before it."""
    return list(accumulate((1 + (sign > "\uffff") for sign in text), initial=0))


def _code_points(units: list[int], unit: int) -> int:
    position = bisect_left(units, unit)
    if position == len(units) or units[position] != unit:
        raise InputError(f"UTF-16 offset {unit} is outside the text or inside a character")
    return position


def write(
    documents: Iterable[Document],
    *,
    utf16: bool = False,
    key: str = "text",
    from_name: str = "label",
    to_name: str = "text",
) -> Iterator[str]:
    """Yield a list of tasks; `from_name` and `to_name` are the tags of the project's labelling interface."""
    yield "["
    for number, document in enumerate(documents):
        meta = dict(document.meta)
        task: dict[str, Any] = {"id": text_or_number(document.id)} if document.id else {}
        task["data"] = {key: document.text, **exact_fields(document), **_object(meta, "data", number)}
        annotation = _object(meta, "annotation", number)
        if document.spans is not None:
            results = [
                {"from_name": from_name, "to_name": to_name, "type": "labels", "value": value}
                for value in _values(document, utf16)
            ]
            task["annotations"] = [{**annotation, "result": results}]
        for name in meta:
            if name in ("id", "annotations"):
                what = f": meta has {name!r}, which is a field of a task"
                raise InputError(Place(number, noun="document"), what, hint="rename it")
        yield (",\n" if number else "\n") + to_json({**task, **meta}, Writing(document, number, False))
    yield "\n]\n"


def _object(meta: dict[str, Any], name: str, number: int) -> dict[str, Any]:
    value = meta.pop(name, {})
    if not isinstance(value, dict):
        raise InputError(Place(number, noun="document"), f": meta[{name!r}] must be an object, for Label Studio")
    return value


def _values(document: Document, utf16: bool) -> Iterator[dict[str, Any]]:
    units = _units(document.text) if utf16 else range(len(document.text) + 1)
    for s in sorted_spans(document.spans or ()):
        text = document.text[s.start : s.end]
        yield {"start": units[s.start], "end": units[s.end], "text": text, "labels": [s.label]}
