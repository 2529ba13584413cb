"""Marked renderings, written by hand as `render.js` would write them."""

from __future__ import annotations

from dataclasses import dataclass, field

from rendering.labels import BASE, CLOSE, OPEN, ZERO, label_marked, read_marked

ROLE = {"author": "\ue004", "editor": "\ue005", "translator": "\ue006"}


@dataclass
class Rendering:
    """Nodes and marked text, put together piece by piece."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)

    def node(self, name: str, text: str, variable: str = "", term: str = "", value: str = "") -> str:
        """Return a text with the marks of a node around it."""
        id = len(self.nodes) + 990  # beyond one digit of the base, too
        self.nodes[str(id)] = {"name": name, "variable": variable, "term": term, "value": value}
        return OPEN + chr(ZERO + id // BASE) + chr(ZERO + id % BASE) + text + CLOSE

    def text(self, variable: str, text: str) -> str:
        """Return what prints a variable."""
        return self.node("text", text, variable)

    def group(self, *parts: str) -> str:
        """Return a group of parts."""
        return self.node("group", "".join(parts))

    def term(self, term: str, text: str) -> str:
        """Return a term of the locale."""
        return self.node("text", text, term=term)

    def value(self, text: str) -> str:
        """Return words that stand in the style."""
        return self.node("text", text, value=text)

    def names(self, variable: str, text: str, role: str) -> str:
        """Return a list of people, each marked in the data as `role` behind the first word."""
        first, *rest = text.split(" ", 1)
        return self.node("names", " ".join([first + ROLE[role], *rest]), variable)

    def fields(self, raw: str, kind: str = "article") -> list[tuple[str, str]]:
        """Return label and text of every field."""
        document = label_marked(read_marked(raw, self.nodes), kind)
        return [(span.label, document.text[span.start : span.end]) for span in sorted(document.spans or ())]
