"""Names and strings in a text that is no JSON: tags, links, tables, and lines such as `- **who:** Ann Lee`."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

__all__ = ["linked", "paired", "without_thoughts"]

_THOUGHTS = re.compile(r"<(think|thinking|thought|scratchpad|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(
    r"""<(?P<tag>[\w.-]+)(?P<said>=[^>\s]+|(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*)\s*>
        (?P<text>[^<>]*)</(?P=tag)\s*>""",
    re.VERBOSE,
)
_SAYING = re.compile(r"""\b(?:type|label|name|class|category|field)\s*=\s*["']([^"']+)["']""")
_LINK = re.compile(r"\[([^\[\]]+)\][({]\s*(?:[\"']?(?:entity|label|type)[\"']?\s*:\s*)?[\"']?([\w .-]+?)[\"']?\s*[)}]")
_LINE = re.compile(r"^[\s>#*+•\-–]*(?:\d+[.)]\s*)?[*_`\"']*(?P<name>[^\W\d][\w .\-/]{0,39}?)[*_`\"']*\s*"
                   r"(?:[:=→]|->|=>|\s[–—-]\s)[*_`]*\s*(?P<value>.*)$")  # fmt: skip
_BULLET = re.compile(r"^\s*(?:[*+•\-–]|\d+[.)])\s+(?P<value>.+)$")
_RULER = re.compile(r"^[\s|:+=-]*$")
_AROUND = " \t\r*_`\"'“”‘’,;"

IsField = Callable[[str, str], bool]


def without_thoughts(answer: str) -> str:
    """Return an answer without what the model has marked as its thoughts."""
    return _THOUGHTS.sub("", answer)


def linked(answer: str, is_field: IsField) -> list[tuple[str, str]]:
    """Return the names and strings of `[Ann](who)` and `[Ann]{"entity": "who"}`."""
    found = ((match[2].strip(), match[1].strip()) for match in _LINK.finditer(answer))
    return [(name, value) for name, value in found if is_field(name, value)]


def paired(answer: str, is_field: IsField) -> list[tuple[str, str]]:
    """Return names and strings in the order in which they stand; the first way of writing that has any is taken."""
    for way in (_tags, _tables, _lines):
        found = [(name, value) for name, value in way(answer, is_field) if is_field(name, value)]
        if found:
            return found
    return []


def _tags(answer: str, is_field: IsField) -> Iterator[tuple[str, str]]:
    """Yield `<who>Ann</who>`, `<entity type="who">Ann</entity>` and `<parameter=who>Ann</parameter>`."""
    for found in _TAG.finditer(answer):
        said = found["said"].strip()
        named = _SAYING.search(said)
        name = said[1:] if said.startswith("=") else named[1] if named else found["tag"]
        yield name.strip("\"'"), html.unescape(found["text"]).strip()


def _tables(answer: str, is_field: IsField) -> Iterator[tuple[str, str]]:
    """Yield the rows of a table of two columns, in either order, or each cell with the name above it."""
    rows = [line.strip().strip("|").split("|") for line in answer.splitlines() if line.count("|") > 1]
    cells = [[cell.strip(_AROUND) for cell in row] for row in rows if not all(map(_RULER.match, row))]
    if len(cells) < 2:
        return
    head, *body = cells
    for row in body:
        turned = [pair for two in pairwise(row) for pair in (two, two[::-1])]
        beside = [(name, cell) for name, cell in turned if is_field(name, cell) and not is_field("x", name)]
        yield from beside or zip(head, row, strict=False)


def _lines(answer: str, is_field: IsField) -> Iterator[tuple[str, str]]:
    """Yield lines that say name and string; a name alone is that of the list below it."""
    name = ""
    for line in answer.splitlines():
        found, bullet = _LINE.match(line), _BULLET.match(line)
        if found and (is_field(found["name"], _bare(found["value"])) or not _bare(found["value"])):
            name = found["name"] if not _bare(found["value"]) else ""
            if not name:
                yield found["name"], _bare(found["value"])
        elif name and bullet:
            yield name, _bare(bullet["value"])
        elif line.strip():
            name = ""


def _bare(value: str) -> str:
    return value.strip(_AROUND)
