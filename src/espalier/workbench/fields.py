"""Fields as somebody assigns them, fitted to the tokens of a text."""

from __future__ import annotations

from collections.abc import Sequence

from espalier.document import Document, Span
from espalier.errors import nearest
from espalier.server.failures import Failure
from espalier.server.tasks import ProjectTask

__all__ = ["OTHER", "checked_spans", "outside_words"]

OTHER = "other"
"""The label of words that have no home, where a task has it."""


def checked_spans(task: ProjectTask, document: Document, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return fields at borders of tokens; where the task has no outside, gaps are filled.

    Marks go to the field before them; words are `other`, or go there, too, where the task has no such label.
    A token is in the field that has its first character.
    Fields that overlap, lie outside the text, hold no token or have a label that the task does not know are refused.
    """
    for span in spans:
        if span.label not in task.fields:
            hint = nearest(span.label, task.fields, f"labels: {', '.join(task.fields)}")
            raise Failure(400, f"the task {task.name} has no label {span.label!r}", hint)
    owner: list[int | None] = [None] * len(document.tokens)
    for k, span in enumerate(spans):
        inside = [t for t, (start, _) in enumerate(document.tokens) if span.start <= start < span.end]
        if not 0 <= span.start < span.end <= len(document.text) or not inside:
            hint = "a token is in the field that has its first character"
            raise Failure(400, f"field {k} is at {span.start}..{span.end}, where no token begins", hint)
        taken = next((t for t in inside if owner[t] is not None), None)
        if taken is not None:
            raise Failure(400, f"fields {owner[taken]} and {k} overlap at token {taken}", "a token is in one field")
        owner[inside[0] : inside[-1] + 1] = [k] * len(inside)
    if not task.outside and document.tokens:
        _fill(owner, task, [] if OTHER not in task.fields else _words(document), len(spans))
        spans = [*spans, Span(0, 0, OTHER)]
    return _runs(document, owner, spans)


def _words(document: Document) -> list[int]:
    """Return the tokens that are words or numbers, not marks."""
    return [t for t, word in enumerate(document.words) if any(map(str.isalnum, word))]


def outside_words(document: Document) -> bool:
    """Are there words outside of the fields of a document?"""
    starts = (document.tokens[t][0] for t in _words(document))
    return not all(any(span.start <= start < span.end for span in document.spans or ()) for start in starts)


def _fill(owner: list[int | None], task: ProjectTask, words: Sequence[int], other: int) -> None:
    """Give gaps to the field before them, the first to the field after it; words among them to a field of their own."""
    before = next((k for k in owner if k is not None), None)
    if before is None:
        raise Failure(400, f"in the task {task.name} all text is in a field", f"labels: {', '.join(task.fields)}")
    homeless = frozenset(words)
    for t, k in enumerate(owner):
        before = owner[t] = k if k is not None else other if t in homeless else before


def _runs(document: Document, owner: Sequence[int | None], spans: Sequence[Span]) -> tuple[Span, ...]:
    found: list[Span] = []
    last: int | None = None
    for k, (start, end) in zip(owner, document.tokens, strict=True):
        if k is not None and k == last:
            found[-1] = Span(found[-1].start, end, found[-1].label)
        elif k is not None:
            found.append(Span(start, end, spans[k].label))
        last = k
    return tuple(found)
