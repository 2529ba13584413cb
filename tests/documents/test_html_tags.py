"""Tags of pages: those of a sound page as Python's own parser finds them; broken ones end where something ends."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.documents.lines import PrintedText
from espalier.documents.reading.html import read_html
from espalier.documents.reading.html_tags import html_tags
from espalier.errors import InputError

WANTED = frozenset(("class", "id"))


class Python(HTMLParser):
    """What the parser of the standard library finds: the same pieces."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(("open", tag, {key: value or "" for key, value in attrs if key in WANTED}))

    def handle_endtag(self, tag: str) -> None:
        self.found.append(("close", tag, {}))

    def handle_data(self, data: str) -> None:
        self.found.append(("text", data, {}))


ATTRIBUTES = st.sampled_from(
    ["", ' class="a b"', " id=x", " class='&amp; >' id=\"1\"", " hidden", " href='a/b' class = c"]
)
NAMES = st.sampled_from(["p", "b", "li", "DIV", "h1"])
PIECES = st.one_of(
    st.builds(lambda name, more: f"<{name}{more}>", NAMES, ATTRIBUTES),
    st.builds(lambda name: f"</{name}>", NAMES),
    st.sampled_from(
        ["<!-- <p> -->", "<!DOCTYPE html>", "<br/>", "&auml;", "&#228;", "&lt;", "a < b", "x", "\n", "1 & 2"]
    ),
    st.sampled_from(["<script>a < b && '<p>'</script>", "<style>p > a {}</style >"]),
)


def joined(found: list[tuple[str, str, dict[str, str]]]) -> list[tuple[str, str, dict[str, str]]]:
    """Return pieces with text that is cut put together, and without empty text."""
    out: list[tuple[str, str, dict[str, str]]] = []
    for kind, value, attributes in found:
        if kind == "text" and out and out[-1][0] == "text":
            out[-1] = ("text", out[-1][1] + value, {})
        elif kind != "text" or value:
            out.append((kind, value, attributes))
    return out


@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_sound_pages(page: str) -> None:
    python = Python()
    python.feed(page)
    python.close()
    ours = [(tag.kind, tag.value, dict(tag.attributes)) for tag in html_tags(page, WANTED)]
    assert joined(ours) == joined(python.found)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("one <a two", "one <a two"),  # no tag ends any more
        ('x <a b="c> two <p>three', "x  two three"),  # a quote without an end holds nothing
        ('x <a b=">" y z', 'x " y z'),  # a tag without an end: its first > ends it
        ("x <!-- never > ended <b>y", "x  ended y"),
        ("x <![if y]> z <![CDATA[ <p> ]]> w", "x  z  w"),
        ("<![<![", "<![<!["),
        ("x </> y </3 z> w", "x  y  w"),
        ("<title>a <b> c</title> d", "a <b> c d"),
        ("<title>a <b>c", "a c"),
        ("a &#99999999999; b &#0000000000065; &#" + "9" * 5000 + ";", "a \ufffd b A \ufffd"),
    ],
)
def test_broken_pages(page: str, text: str) -> None:
    assert "".join(tag.value for tag in html_tags(page) if tag.kind == "text") == text


@given(st.text(st.sampled_from("<>/!?-[]a b='\"&#;1"), max_size=60))
def test_any_page_has_tags_and_text(page: str) -> None:
    for kind, value, _ in html_tags(page, WANTED):
        assert kind in ("open", "close", "text")
        assert value or kind == "text"


def test_a_page_of_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("espalier.documents.lines.MOST_LINES", 10)
    assert len(read_html(b"<html>" + b"<p>a" * 10).lines) == 10
    with pytest.raises(InputError, match=r"page\.html has more than 10 lines; cut it into several files"):
        read_html(b"<html>" + b"<p>a" * 11, "page.html")


def test_elements_around_lines_are_kept_so_far() -> None:
    def hints(page: bytes) -> list[str]:
        found: PrintedText = read_html(page)
        return [line.hint for line in found.lines]

    assert hints(b"<html><nav><p>a<nav><p>b</nav>c</nav><p>d") == ["page", "page", "page", ""]
    assert set(hints(b"<html>" + b"<nav><p>a" * 3000)) == {"page"}
