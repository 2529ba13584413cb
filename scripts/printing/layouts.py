"""The layouts that papers are printed in: one row each, and what varies within it from paper to paper."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

__all__ = ["LAYOUTS", "Layout", "Look", "looks"]


@dataclass(frozen=True)
class Layout:
    """How a paper is set.

    columns : of the text and the list; numbers : how references are numbered, {} for the number, nothing if they are
    not; raised : the number is; indent : "hanging", "first" or "flush"; gap : between references, in points; heading :
    of the list, any of them, nothing for none; after : what follows the list; heads : "same", "sides" (left and right
    pages differ), "journal" (its name, year and pages), "listed" (on pages of the list, its heading) or nothing; foot :
    page numbers at the foot; cover, lines, notes : a cover sheet with a citation, line numbers, references in
    footnotes; small : the list is set smaller; language : of text and styles; apart : the list begins on a page of its
    own; spaced : the heading's letters are; repository : a cover sheet with a suggested citation and conditions of use;
    contents : a table of contents, with a line for the list; divided : the list has parts with headings; wide : a table
    spans the columns; rights : a line at the foot says who may read the paper.
    """

    name: str
    columns: int = 1
    numbers: str = ""
    raised: bool = False
    indent: str = "hanging"
    gap: float = 0.0
    heading: tuple[str, ...] = ("References", "REFERENCES", "Bibliography")
    after: tuple[str, ...] = ("",)
    heads: str = ""
    foot: bool = False
    cover: bool = False
    lines: bool = False
    notes: bool = False
    small: bool = False
    language: str = "en"
    apart: bool = False
    spaced: bool = False
    repository: bool = False
    contents: bool = False
    divided: bool = False
    wide: bool = False
    rights: bool = False


_MATTER = ("", "appendix", "adverts", "lives")
_GERMAN = ("Literatur", "Literaturverzeichnis", "LITERATUR", "Quellen", "Schrifttum")

LAYOUTS = (
    Layout("one column, hanging", heads="same", foot=True),
    Layout("one column, first line indented", indent="first", foot=True),
    Layout("one column, flush left", indent="flush", heads="sides"),
    Layout("one column, flush left, gaps", indent="flush", gap=6, foot=True),
    Layout("one column, [n]", numbers="[{}]", foot=True),
    Layout("one column, n.", numbers="{}.", heads="sides"),
    Layout("one column, (n), flush", numbers="({})", indent="flush"),
    Layout("one column, bare n", numbers="{}", foot=True),
    Layout("one column, raised n", numbers="{}", raised=True, indent="flush", heads="same"),
    Layout("two columns, hanging", columns=2, heads="sides", foot=True),
    Layout("two columns, flush left", columns=2, indent="flush", heads="same", small=True),
    Layout("two columns, first line indented", columns=2, indent="first", foot=True),
    Layout("two columns, [n]", columns=2, numbers="[{}]", heads="same", small=True),
    Layout("two columns, n., small type", columns=2, numbers="{}.", small=True, heads="sides", foot=True),
    Layout("two columns, n. flush", columns=2, numbers="{}.", indent="flush", foot=True, small=True),
    Layout("three columns, hanging", columns=3, heads="same", small=True),
    Layout("three columns, n.", columns=3, numbers="{}.", indent="flush", small=True, foot=True),
    Layout("appendix after the list", columns=2, after=("appendix",), heads="same"),
    Layout("adverts after the list", indent="flush", after=("adverts",), foot=True),
    Layout("lives after the list", columns=2, numbers="[{}]", after=("lives",), small=True, heads="sides"),
    Layout("second list", after=("second",), foot=True, heading=("Works cited", "Primary sources", "Literature")),
    Layout("no heading", heading=("",), after=("", "appendix"), heads="sides"),
    Layout("no heading, numbers", heading=("",), numbers="{}.", columns=2, foot=True),
    Layout(
        "unusual heading",
        heading=("LITERATURE CITED", "Works cited", "Bibliografia", "Notes", "References and notes", "Sources"),
        after=_MATTER,
        indent="flush",
        heads="same",
    ),
    Layout("spaced heading", spaced=True, heading=("REFERENCES", "LITERATURE CITED"), after=_MATTER, foot=True),
    Layout("cover sheet", cover=True, after=_MATTER, heads="sides", foot=True),
    Layout("numbers of lines", lines=True, indent="flush", apart=True),
    Layout("list on its own page", apart=True, gap=3, heads="sides", after=_MATTER),
    Layout("German, hanging", language="de", heading=_GERMAN, heads="sides", foot=True, after=_MATTER),
    Layout("German, flush left", language="de", heading=_GERMAN, indent="flush", foot=True),
    Layout("German, two columns", language="de", heading=_GERMAN, columns=2, heads="same"),
    Layout("German, [n]", language="de", heading=_GERMAN, numbers="[{}]", foot=True),
    Layout("series after the list", indent="flush", after=("series",), foot=True, heads="same"),
    Layout("German, series after", language="de", heading=_GERMAN, after=("series",), foot=True, repository=True),
    Layout("questions after the list", after=("questions",), heads="sides", contents=True),
    Layout("German, questions after", language="de", heading=_GERMAN, indent="flush", after=("questions",), foot=True),
    Layout("table after the list", columns=2, indent="flush", after=("table",), small=True, foot=True, heads="same"),
    Layout("German, notes after", language="de", heading=_GERMAN, after=("notes",), foot=True, contents=True),
    Layout(
        "repository cover, flush left", indent="flush", repository=True, heads="sides", foot=True, after=("", "table")
    ),
    Layout(
        "German, no heading", language="de", heading=("",), indent="flush", repository=True, heads="same", foot=True
    ),
    Layout("footnotes", notes=True, foot=True, heads="same"),
    Layout("German footnotes", notes=True, language="de", heads="sides", foot=True),
)


@dataclass(frozen=True)
class Look:
    """What varies within a layout: page, type and spacing, in points."""

    width: int
    height: int
    margin: int
    font: str
    size: float
    leading: float
    justified: bool
    hyphens: bool
    italic: bool
    numbers_aside: bool
    first_page: int


def looks(layout: Layout, random: Random) -> Look:
    """Return a look for a paper."""
    width, height = random.choice([(595, 842), (612, 792), (595, 842), (482, 680)])
    narrow = layout.columns == 3 or (layout.columns == 2 and width < 500)
    size = random.choice([8.0, 8.5] if narrow else [9.0, 9.5, 10.0, 11.0])
    fonts = ["DejaVu Serif Condensed", "DejaVu Sans Condensed", "DejaVu Serif", "DejaVu Sans"]
    return Look(
        width=width,
        height=height,
        margin=random.randint(40, 72),
        font=fonts[random.choice([0, 0, 1, 2] if narrow else [0, 0, 1, 2, 3])],
        size=size,
        leading=round(size * random.choice([1.15, 1.2, 1.3, 1.45])),
        justified=random.random() < 0.7,
        hyphens=random.random() < 0.7,
        italic=random.random() < 0.7,
        numbers_aside=random.random() < 0.5,
        first_page=random.choice([1, 1, 1, 37, 231, 1012]),
    )
