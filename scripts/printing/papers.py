"""A paper as HTML, with the truth in it: every stretch of text has a colour of its own, which the PDF file keeps."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from printing.layouts import Layout, Look
from printing.matter import MATTER, contents, cover_lines, series
from printing.prose import Prose, advert, life

__all__ = ["FIRST_WORD", "Paper", "colour_of", "write_paper"]

FIRST_WORD = 128
"""The blue of the first word of a reference; that of all other text is 0."""

_PARTS = {
    "en": ["Primary sources", "Internet sources", "Secondary literature", "Unpublished works"],
    "de": ["Internetquellen", "Sekundärliteratur", "Quellen", "Gesetze und Verordnungen"],
}
_RIGHTS = [
    "Downloaded from www.example.org on 12 March 2014. All rights reserved.",
    "© 2004 The Orchard Press. For personal use only.",
    "https://doi.org/10.1000/182.2004.12",
]
_LEAD_INS = {
    "en": ["", "", "See ", "Cf. ", "See also ", "As argued in ", "For an overview see "],
    "de": ["", "", "Vgl. ", "Siehe ", "Vgl. hierzu ", "So auch ", "Dazu ausführlich "],
}


@dataclass
class Paper:
    """A paper. parts : kind and number of reference of what has colour 0, 1, 2 ...; texts : its references."""

    layout: str
    html: str = ""
    parts: list[tuple[str, int]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    width: int = 595
    height: int = 842

    def part(self, kind: str, reference: int = -1) -> int:
        """Return the number of a new part."""
        self.parts.append((kind, reference))
        return len(self.parts) - 1


def colour_of(number: int, blue: int = 0) -> str:
    """Return the colour of a part: far from its neighbours, so that rounding does no harm."""
    return f"rgb({number // 64 * 4},{number % 64 * 4},{blue})"


class _Writer:
    """The pieces of a paper as HTML."""

    def __init__(self, layout: Layout, look: Look, prose: Prose, random: Random) -> None:
        self.layout, self.look, self.prose, self.random = layout, look, prose, random
        self.paper = Paper(layout.name, width=look.width, height=look.height)

    def block(self, text: str, kind: str = "text", tag: str = "p", style: str = "") -> str:
        colour = colour_of(self.paper.part(kind))
        return f'<{tag} style="color:{colour};{style}">{html.escape(text)}</{tag}>'

    def paragraphs(self, count: int) -> str:
        return "".join(self.block(self.prose.paragraph(self.layout.language)) for _ in range(count))

    def body(self, paragraphs: int) -> str:
        heads = (
            ["Einleitung", "Stand der Forschung", "Ergebnisse", "Schluss"]
            if self.layout.language == "de"
            else ["Introduction", "Methods", "Results", "Discussion", "Conclusion"]
        )
        share = max(paragraphs // len(heads), 1)
        numbers = self.random.random() < 0.5
        return "".join(
            self.block(f"{n}. {head}" if numbers else head, tag="h2") + self.paragraphs(share)
            for n, head in enumerate(heads, 1)
        )

    def reference(self, row: dict[str, Any], label: str) -> str:
        """Return a reference; its first word, or its number, has a colour that says so."""
        number = len(self.paper.texts)
        self.paper.texts.append(f"{label} {row['text']}".strip())
        part = self.paper.part("ref", number)
        inner = row["marked"] if self.look.italic else html.escape(row["text"])
        first, _, rest = (label, "", inner) if label else inner.partition(" ")
        begin = f'<span class="n" style="color:{colour_of(part, FIRST_WORD)}">{first}</span>'
        return f'<p class="ref" style="color:{colour_of(part)}">{begin} {rest}</p>'

    def list_of(self, rows: Sequence[dict[str, Any]]) -> str:
        start = self.random.choice([1, 1, 1, 17])
        parts = [
            self.reference(row, self.layout.numbers.format(n) if self.layout.numbers else "")
            for n, row in enumerate(rows, start)
        ]
        if self.layout.divided and len(parts) > 6:
            at = self.random.randint(3, len(parts) - 3)
            names = _PARTS[self.layout.language]
            parts.insert(at, self.block(self.random.choice(names), "heading", self.random.choice(["h2", "h3", "p"])))
        return "".join(parts)

    def heading(self, text: str) -> str:
        spaced = "letter-spacing:0.35em;" if self.layout.spaced else ""
        page = "break-before:page;" if self.layout.apart else ""
        return self.block(text, "heading", "h2", spaced + page) if text else f'<div style="height:1em;{page}"></div>'

    def after(self, rows: Sequence[dict[str, Any]]) -> str:
        kind = self.random.choice(self.layout.after)
        if kind == "second":
            return self.block(
                self.random.choice(["Further reading", "Secondary sources"]), "heading", "h2"
            ) + self.list_of(rows)
        if kind == "appendix":
            table = "".join(
                self.block(f"{a} {a * 3}.{a} {1990 + a} {self.prose.title('en')[:30]}") for a in range(1, 8)
            )
            return self.block("Appendix A", tag="h2") + self.paragraphs(4) + table + self.paragraphs(3)
        if kind in ("series", *MATTER):
            return self.matter(kind, rows)
        if kind == "works":
            return self.works(rows)
        if kind == "prose":
            return f'<div style="break-before:page"></div>{self.paragraphs(3)}'
        if kind == "adverts":
            books = (self.block(advert(self.random, self.prose.title("en"))) for _ in range(6))
            return self.block("New from the Orchard Press", tag="h2") + "".join(books)
        if kind == "lives":
            return "".join(self.block(life(self.random)) for _ in range(4))
        return ""

    def matter(self, kind: str, rows: Sequence[dict[str, Any]]) -> str:
        """Return matter that looks like references, under a heading of its own."""
        language = self.layout.language
        if kind == "series":
            lines = series(self.random, language, [row["text"] for row in rows])
        else:
            lines = MATTER[kind](self.random, language)
        head, *rest = lines
        style = "text-indent:0" if kind != "series" else "padding-left:2em;text-indent:-2em"
        return self.block(head, tag="h2") + "".join(self.block(line, style=style) for line in rest)

    def works(self, rows: Sequence[dict[str, Any]]) -> str:
        """Return what an author has written, behind the list: not cited here."""
        words = ["Publikationen", "Veröffentlichungen des Autors"] if self.layout.language == "de" else ["Publications"]
        works = (self.block(row["text"], style="text-indent:0") for row in rows[:6])
        return self.block(self.random.choice(words), tag="h2") + "".join(works)

    def wide_table(self) -> str:
        """Return a table that spans the columns."""
        head, *rows = MATTER["table"](self.random, self.layout.language)
        inside = self.block(head, style="text-indent:0")
        for row in rows:
            cells = "".join(
                f'<span style="display:inline-block;width:15%">{html.escape(c)}</span>' for c in row.split()
            )
            inside += f'<p style="color:{colour_of(self.paper.part("text"))};text-indent:0">{cells}</p>'
        return f'<div style="column-span:all;margin:8pt 0">{inside}</div>'

    def repository_cover(self, row: dict[str, Any]) -> str:
        lines = cover_lines(self.prose.title(self.layout.language), row["text"])
        inside = "".join(self.block(line, style="text-indent:0;margin-bottom:8pt") for line in lines)
        return f'<div style="break-after:page">{inside}</div>'

    def contents(self) -> str:
        return "".join(self.block(line, style="text-indent:0") for line in contents(self.random, self.layout.language))

    def cover(self, row: dict[str, Any]) -> str:
        lines = [
            self.block(self.prose.title("en"), tag="h1"),
            self.block("This is the published version. It is made available by the repository of the university."),
            self.block(f"Suggested citation: {row['text']}"),
            self.block("Terms of use: the work may be read and copied for personal use only."),
        ]
        return f'<div style="break-after:page">{"".join(lines)}</div>'

    def footnotes(self, rows: Sequence[dict[str, Any]]) -> str:
        """Return pages with notes at their foot, each with up to three references."""
        pages, number, left = [], 0, list(rows)
        room = (self.look.height - 2 * self.look.margin - 60) / self.look.leading
        per_line = (self.look.width - 2 * self.look.margin) / (0.58 * self.look.size)
        while left:
            notes = ""
            for _ in range(self.random.randint(2, 4)):
                number += 1
                notes += self.footnote(
                    number, [left.pop() for _ in range(min(self.random.choice([1, 1, 1, 2, 3]), len(left)))]
                )
            text = self.page_text(0.5 * room * per_line)
            pages.append(f'<div class="pg"><div style="flex:1">{text}</div><div class="notes">{notes}</div></div>')
        return "".join(pages)

    def page_text(self, room: float) -> str:
        """Return paragraphs of no more than so many letters."""
        found = ""
        while room > 0:
            text = self.prose.paragraph(self.layout.language)[: int(room)]
            found += self.block(text)
            room -= len(text) + 60
        return found

    def footnote(self, number: int, rows: Sequence[dict[str, Any]]) -> str:
        colour = colour_of(self.paper.part("note"))
        parts = []
        for row in rows:
            index = len(self.paper.texts)
            self.paper.texts.append(row["text"])
            part = self.paper.part("ref", index)
            first, _, rest = html.escape(row["text"].rstrip(".")).partition(" ")
            begin = f'<span style="color:{colour_of(part, FIRST_WORD)}">{first}</span>'
            parts.append(f'<span style="color:{colour_of(part)}">{begin} {rest}</span>')
        lead = self.random.choice(_LEAD_INS[self.layout.language])
        text = "; ".join(parts) if parts else html.escape(self.prose.title(self.layout.language))
        return f'<p class="note" style="color:{colour}"><sup>{number}</sup> {lead}{text}.</p>'


def write_paper(layout: Layout, look: Look, rows: Sequence[dict[str, Any]], prose: Prose, random: Random) -> Paper:
    """Return a paper with these references: rows have `text`, and `marked`, the same as HTML with italics."""
    writer = _Writer(layout, look, prose, random)
    paper = writer.paper
    head = colour_of(paper.part("page"))
    running = [
        prose.title(layout.language)[:50],
        f"{random.choice(['A. Keller', 'B. Novak et al.', 'C. Reyes and D. Brandt'])}",
    ]
    title = writer.block(prose.title(layout.language), tag="h1") + writer.block(
        "Ann Keller and Tomas Novak", style="text-align:center"
    )
    if layout.notes:
        inside = title + writer.footnotes(rows)
    else:
        spare = rows[len(rows) * 2 // 3 :] if {"second", "series", "works"} & set(layout.after) else []
        main = rows[: len(rows) - len(spare)]
        abstract = writer.paragraphs(1) if random.random() < 0.6 else ""
        cover = writer.cover(rows[0]) if layout.cover else ""
        cover += writer.repository_cover(rows[0]) if layout.repository else ""
        cover += writer.contents() if layout.contents else ""
        numbers = f'<div class="lines">{"<br>".join(map(str, range(1, 100)))}</div>' if layout.lines else ""
        text = writer.body(random.randint(4, 14)) + (writer.wide_table() if layout.wide else "")
        name = random.choice(layout.heading)
        listed = writer.heading(name) + writer.list_of(main) + writer.after(spare)
        running += [name or running[0]]
        apart = '</div><div class="text listed">' if layout.heads == "listed" else ""
        inside = f'{cover}{numbers}{title}{abstract}<div class="text">{text}{apart}{listed}</div>'
    if layout.heads == "journal":
        year, first = random.randint(1985, 2019), random.randint(2, 400)
        volume = random.randint(2, 60)
        running[1] = random.choice(
            [
                f"Journal of Orchards {volume} ({year}) {first}-{first + 20}",
                f"A. Keller, T. Novak / Zeitschrift für Obstbau {volume} ({year}), S. {first}-{first + 20}",
                f"Keller, A. & Novak, T.: {running[0][:30]} ({year})",
            ]
        )
    foot = random.choice(_RIGHTS) if layout.rights else ""
    head_of_file = f"<head><style>{_style(layout, look, head, running, foot)}</style></head>"
    paper.html = f'<!doctype html><html lang="{layout.language}">{head_of_file}<body>{inside}</body></html>'
    return paper


def _style(layout: Layout, look: Look, head: str, running: list[str], foot: str = "") -> str:
    size = look.size - 1 if layout.small else look.size
    lead = look.leading if not layout.small else round(size * 1.2)
    indents = {"hanging": "padding-left:1.6em;text-indent:-1.6em;", "first": "text-indent:1.4em;", "flush": ""}
    indent = indents[layout.indent]
    if layout.numbers and layout.indent == "hanging":
        indent = "padding-left:2.4em;text-indent:-2.4em;"
    aside = layout.numbers and layout.indent == "hanging" and look.numbers_aside
    label = "display:inline-block;width:2.4em;text-indent:0;" if aside else ""
    label += "vertical-align:super;font-size:65%;" if layout.raised else ""
    leading = look.leading + 4 if layout.lines else look.leading
    lead = leading if layout.lines else lead
    rules = [
        f"@page{{size:{look.width}pt {look.height}pt;margin:{look.margin}pt}}",
        f"body{{font:{look.size}pt/{leading}pt '{look.font}';margin:0;"
        f"text-align:{'justify' if look.justified else 'left'};hyphens:{'auto' if look.hyphens else 'manual'}}}",
        f".text{{column-count:{layout.columns};column-gap:{16 if look.size > 8 else 12}pt}}",
        "p{margin:0;text-indent:1em;overflow-wrap:anywhere}h1{font-size:150%;text-align:center;line-height:1.3}",
        "h2{font-size:110%;text-indent:0}",
        f".ref{{font-size:{size}pt;line-height:{lead}pt;margin:0 0 {layout.gap}pt 0;text-indent:0;{indent}}}",
        f".n{{{label}}}.note{{text-indent:0}}",
        f".notes{{font-size:{look.size - 1}pt;line-height:1.2;border-top:1px solid}}",
        f".pg{{display:flex;flex-direction:column;height:{look.height - 2 * look.margin - 60}pt;break-after:page}}",
    ]
    if layout.lines:
        rules.append(f"h1,h2,p{{margin:0;line-height:{leading}pt;font-size:{look.size}pt}}body{{padding-left:6pt}}")
        rules.append(
            f".lines{{position:fixed;left:-28pt;top:0;font-size:7pt;text-align:right;width:20pt;color:{head}}}"
        )
    return "".join(rules) + _margins(layout, head, running, foot)


def _margins(layout: Layout, head: str, running: list[str], foot: str) -> str:
    """Return the style of running heads and page numbers."""
    found = ""
    for side, text in (("left", running[0]), ("right", running[layout.heads in ("sides", "journal")])):
        boxes = {}
        if layout.heads:
            place = "left" if layout.heads in ("sides", "journal") and side == "left" else "center"
            boxes[f"top-{place}"] = f'"{_css(text)}"'
        if layout.foot or layout.heads:
            boxes["bottom-center" if layout.foot else "top-right"] = "counter(page)"
        if foot:
            boxes["bottom-left"] = f'"{_css(foot)}"'
        inside = "".join(f"@{box}{{content:{what};color:{head};font-size:8pt}}" for box, what in boxes.items())
        found += f"@page :{side}{{{inside}}}" if boxes else ""
    if layout.heads == "listed":
        box = f'@top-center{{content:"{_css(running[-1])}";color:{head};font-size:8pt}}'
        found += f".listed{{page:listed}}@page listed{{{box}}}"
    return found


def _css(text: str) -> str:
    return text.replace("\\", "").replace('"', "'").replace("\n", " ")
