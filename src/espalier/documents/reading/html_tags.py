"""`html_tags`: the tags and the text of an HTML page, however broken, in one pass.

Tags are told as the standard of HTML tells them (WHATWG, 13.2.5), so a page is read as browsers read it, but for what
never ends. There a browser drops all that follows; here it ends at the next `>`, or is text if there is none, so that
no text is lost. Whoever looks for an end that is not there looks once: time is linear in the page. Of attributes only
those that are asked for are kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from html import unescape
from typing import NamedTuple

__all__ = ["Tag", "html_tags"]


class Tag(NamedTuple):
    """A piece of a page: "open" and "close" have the name of an element, "text" has text."""

    kind: str
    value: str
    attributes: Mapping[str, str] = {}


_MARKUP = re.compile(r"<(?=[a-zA-Z/!?])")
_NAME = re.compile(r"[a-zA-Z][^\s/>]*")
_ATTRIBUTE = re.compile(
    r"[\s/]*(=[^\s/>=]*|[^\s/>=]+)(?:\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?![\"'])(?P<bare>[^\s>]*)))?"
)
_END = re.compile(r"[\s/]*>")
_CLOSING = re.compile(r"</\s*([a-zA-Z][^\s/>]*)")
_UNMARKED = ("script", "style", "textarea", "title", "iframe")  # tags are text in them
_ENDS = {
    **{">": re.compile(">"), "<!--": re.compile("--!?>"), "<![CDATA[": re.compile(r"\]\]>")},
    **{name: re.compile(rf"(?=</{name}[\s/>])", re.IGNORECASE) for name in _UNMARKED},
}
_MANY_DIGITS = re.compile("&#([0-9]{8,});?")  # Python takes seconds for a number of so many, or refuses it


def _said(text: str) -> str:
    """Return text with the characters that its references stand for."""
    if "&" not in text:
        return text
    return unescape(_MANY_DIGITS.sub(lambda found: f"&#{found[1].lstrip('0')[:8] or '0'};", text))


class _Page:
    """A page, what was not found in it, and whether quotes hold a `>` in a tag: they do until a tag has no end."""

    def __init__(self, text: str, wanted: Collection[str]) -> None:
        self.text, self._wanted = text, wanted
        self._missing: set[str] = set()
        self._quoted = True

    def behind(self, kind: str, at: int) -> int:
        """Return the place behind the next end of this kind, -1 if there is none from there to the end."""
        found = None if kind in self._missing else _ENDS[kind].search(self.text, at)
        if found is None:
            self._missing.add(kind)
            return -1
        return found.end()

    def start_tag(self, at: int) -> tuple[str, dict[str, str], int]:
        """Return the name and the attributes of the tag whose name begins here, and the place behind it, -1: no tag."""
        name = _NAME.match(self.text, at)
        assert name is not None
        attributes: dict[str, str] = {}
        here = name.end()
        while self._quoted and (one := _ATTRIBUTE.match(self.text, here)):
            here = one.end()
            key = one[1].lower()
            if key in self._wanted:
                attributes.setdefault(key, _said(one["double"] or one["single"] or one["bare"] or ""))
        end = _END.match(self.text, here) if self._quoted else None
        if end is None:
            self._quoted = self._quoted and self.behind(">", at) < 0
            return name[0].lower(), {}, self.behind(">", at)
        return name[0].lower(), attributes, end.end()


def html_tags(text: str, wanted: Collection[str] = ()) -> Iterator[Tag]:
    """Yield the tags and the text of a page; what is in comments and declarations is neither.

    wanted : the attributes that are kept, in lower case. The text of one element may come in several pieces.
    """
    page, at = _Page(text, wanted), 0
    while found := _MARKUP.search(text, at):
        start = found.start()
        if start > at:
            yield Tag("text", _said(text[at:start]))
        sign = text[start + 1]
        if sign in "/!?":
            closing = _CLOSING.match(text, start)
            kind = next((kind for kind in ("<!--", "<![CDATA[") if text.startswith(kind, start)), ">")
            behind = page.behind(kind, start + 2)
            behind = page.behind(">", start + 1) if behind < 0 else behind
            tags = [Tag("close", closing[1].lower())] if closing else []
        else:
            name, attributes, behind = page.start_tag(start + 1)
            tags = [Tag("open", name, attributes)]
            if text.startswith("/>", behind - 2):
                tags.append(Tag("close", name))
        if behind < 0:  # there is no `>` any more
            at = start
            break
        yield from tags
        at = behind
        if sign not in "/!?" and len(tags) == 1 and name in _UNMARKED:
            end = page.behind(name, at)
            end = len(text) if end < 0 and name != "title" else end
            if end >= at:
                yield Tag("text", _said(text[at:end]))
                at = end
    if at < len(text):
        yield Tag("text", _said(text[at:]))
