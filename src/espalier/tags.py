"""Tags: one string a token, `O`, `B-title`, or one mark a level: `I-authors/B-person/B-first`.

IOB2 is the only scheme inside the library. This module parses tags, says which tag may follow which
(validity at every level of a hierarchy), and converts between tags and segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from espalier.errors import LabelError

__all__ = ["OUTSIDE", "Segment", "is_tag", "may_follow", "may_start", "parse_tag", "path_of", "segments", "with_inside"]

OUTSIDE = "O"


class Segment(NamedTuple):
    """Tokens start..end-1 form one field; `label` is the path, such as `authors/person`."""

    start: int
    end: int
    label: str


@lru_cache(maxsize=65536)
def parse_tag(tag: str) -> tuple[tuple[str, str], ...]:
    """Split `I-authors/B-person` into `(("I", "authors"), ("B", "person"))`; `O` is empty.

    A label without a mark (`author`) is one level with the mark "" (no boundaries known).
    """
    if tag == OUTSIDE:
        return ()
    if not tag:
        raise LabelError("a tag may not be empty")
    if tag[:2] not in ("B-", "I-"):
        return (("", tag),)
    levels = []
    for part in tag.split("/"):
        if part[:2] not in ("B-", "I-") or len(part) == 2:
            raise LabelError(f"tag {tag!r}: level {part!r} has no B- or I- mark")
        levels.append((part[0], part[2:]))
    return tuple(levels)


@lru_cache(maxsize=65536)
def is_tag(tag: str) -> bool:
    """Is it `O` or marked at every level?"""
    return tag == OUTSIDE or all(part[:2] in ("B-", "I-") and len(part) > 2 for part in tag.split("/"))


def path_of(tag: str) -> str:
    """Return the label path without marks: `I-authors/B-person` gives `authors/person`, `O` gives `O`."""
    return "/".join(name for _, name in parse_tag(tag)) or OUTSIDE


def with_inside(tags: Iterable[str]) -> list[str]:
    """Return tags, sorted, with those that continue the fields that each of them is in."""
    known = set(tags)
    inside = ("/".join(f"I-{name}" for _, name in parse_tag(tag)) or OUTSIDE for tag in known)
    return sorted({*known, *inside})


def _continued_levels(tag: str) -> int:
    """How many outermost levels of the tag continue a segment; -1 if an inner level continues a new outer one."""
    marks = [mark for mark, _ in parse_tag(tag)]
    depth = 0
    while depth < len(marks) and marks[depth] == "I":
        depth += 1
    return -1 if "I" in marks[depth:] else depth


def may_start(tag: str) -> bool:
    """May a sequence start with this tag?"""
    return _continued_levels(tag) == 0


def may_follow(previous: str, tag: str) -> bool:
    """May `tag` follow `previous`?  Every continued level must be open in `previous` under the same name."""
    depth = _continued_levels(tag)
    if depth < 0:
        return False
    before = [name for _, name in parse_tag(previous)]
    now = [name for _, name in parse_tag(tag)]
    return len(before) >= depth and before[:depth] == now[:depth]


@lru_cache(maxsize=65536)
def _paths(tag: str) -> tuple[tuple[bool, str], ...]:
    """Return for each level of a tag whether it begins there, and its path from the outermost level on."""
    levels = parse_tag(tag)
    return tuple((mark == "B", "/".join(name for _, name in levels[: d + 1])) for d, (mark, _) in enumerate(levels))


def segments(tags: Sequence[str | None], *, leaves: bool = False) -> list[Segment]:
    """Return the segments of every level (or of each token's innermost level only), in reading order.

    Unmarked labels form runs. An `I-` with nothing to continue opens a segment, as most tools read it.
    Unknown tags (None) belong to no segment. A leaf segment is a maximal stretch of tokens whose
    innermost level is that segment itself: `authors` around `authors/person` is a leaf only where
    no person is.
    """
    levels_of: dict[str | None, tuple[tuple[bool, str], ...]] = {
        tag: () if tag is None else _paths(tag) for tag in dict.fromkeys(tags)
    }
    if max(map(len, levels_of.values()), default=0) <= 1:  # most tasks have one level
        return _runs(tags, {tag: levels[0] if levels else (False, "") for tag, levels in levels_of.items()})
    found: list[Segment] = []
    open_levels: list[tuple[str, int]] = []  # (path, first token)

    def close(depth: int, end: int) -> None:
        while len(open_levels) > depth:
            path, start = open_levels.pop()
            found.append(Segment(start, end, path))

    previous_leaf = ""
    for t, tag in enumerate(tags):
        if t and tag == tags[t - 1] and (tag is None or "B-" not in tag):
            continue  # nothing opens, nothing closes
        levels = levels_of[tag]
        if leaves and levels:
            # Only the innermost level counts; leaving it for a deeper or shallower level ends the stretch.
            path = levels[-1][1]
            fresh = any(begins for begins, _ in levels)
            if fresh or path != previous_leaf or not open_levels:
                close(0, t)
                open_levels.append((path, t))
            previous_leaf = path
            continue
        previous_leaf = ""
        keep = 0
        for (begins, path), (known, _) in zip(levels, open_levels, strict=False):
            if begins or known != path:
                break
            keep += 1
        close(keep, t)
        for _, path in levels[keep:]:
            open_levels.append((path, t))
    close(0, len(tags))
    return sorted(found, key=lambda s: (s.start, -s.end, s.label.count("/"), s.label))


def _runs(tags: Sequence[str | None], level_of: Mapping[str | None, tuple[bool, str]]) -> list[Segment]:
    """Return the segments of tags of one level; level_of : does a tag begin one, and its name, "" if it has none."""
    found: list[Segment] = []
    start, name = 0, ""
    for t, tag in enumerate(tags):
        begins, now = level_of[tag]
        if begins or now != name:
            if name:
                found.append(Segment(start, t, name))
            start, name = t, now
    if name:
        found.append(Segment(start, len(tags), name))
    return found
