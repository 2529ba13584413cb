"""Strategies that damage valid inputs: pieces are cut, doubled, moved, or replaced by what readers stumble over."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

_BLANKS = ("", " ", "\t", "\n", "\r", "\r\n\r\n", "\x00", "\x0b", "\x1c", "\x85", "\u2028", "\ufeff", "\u200b")
_LETTERS = ("\u202e", "\u05d0", "\u0301", "𝔘", "e\u0301\u200d", "Ａ１", "²", "٣", "İ", "ß", "\ud800", "\udfff")
_NUMBERS = ("0", "-1", "1e999", "-1e999", "NaN", "Infinity", "9" * 40, "9" * 5000, "0x10", "1_0", ".5", "inf", "nan")
_JSON = ("null", "true", "[]", "{}", '""', "[" * 9, "]]]]", "{" * 30, '{"a":' * 30, '"\\ud800"', '"\\u0000"', "\\", "'")
_TAGS = ("<", ">", "&", "&#0;", "&#x110000;", "&amp;", "&x;", "<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE a [")
_OPENERS = (
    '<a b="',
    "<a ",
    "</",
    "<?a",
    "<![",
    "<script>",
    "@a{a, b = {",
    "@string{a = a # a}\n",
    "\\href{",
    "\\bibitem[",
)
_SIGNS = ("<a>", "</a>", "<a b='c'>", "/>", "B-", "I-x", "O", "-DOCSTART-", '"', "#", "=", ":", "->", "(" * 30, "..")
ODD = (*_BLANKS, *_LETTERS, *_NUMBERS, *_JSON, *_TAGS, *_OPENERS, *_SIGNS)
"""Pieces to put somewhere: blanks, signs of each format, numbers at the edge, characters that are half, or none."""

MANY = 400
"""How often a piece is repeated that is repeated: enough to show what grows faster than the text."""

LONGEST = 100_000
"""Characters of a damaged text for readers that take any length."""

PLACES = st.floats(0.0, 1.0, allow_nan=False)


@st.composite
def damaged(draw: st.DrawFn, valid: Sequence[str], edits: int = 4, longest: int = 5_000) -> str:
    """Draw one of the valid texts with up to so many edits: replaced, repeated, cut off; none leaves it valid."""
    text = draw(st.sampled_from(list(valid)))
    for _ in range(draw(st.integers(0, edits))):
        a, b = sorted(int(draw(PLACES) * len(text)) for _ in range(2))
        b = min(b, a + draw(st.sampled_from([0, 1, 2, 5, 40, len(text)])))
        piece = draw(st.one_of(st.sampled_from(ODD), st.text(max_size=5), st.just(text[a:b])))
        times = draw(st.sampled_from([1, 1, 1, 2, MANY]))  # many openers, records, marks or blanks
        piece *= min(times, longest // max(len(piece), 1) + 1)
        text = (text[:a] + piece + text[b:])[:longest]
        if draw(st.integers(0, 9)) == 0:  # a file that is cut off
            text = text[:a]
    return text


@st.composite
def damaged_bytes(draw: st.DrawFn, valid: Sequence[bytes], edits: int = 4) -> bytes:
    """Draw one of the valid files with flipped, removed, doubled or foreign bytes, or cut off."""
    data = draw(st.sampled_from(list(valid)))
    for _ in range(draw(st.integers(1, edits))):
        a, b = sorted(int(draw(PLACES) * len(data)) for _ in range(2))
        match draw(st.sampled_from(["flip", "cut", "drop", "double", "foreign"])):
            case "flip" if a < len(data):
                data = data[:a] + bytes([data[a] ^ (1 << draw(st.integers(0, 7)))]) + data[a + 1 :]
            case "cut":
                data = data[:a]
            case "drop":
                data = data[:a] + data[b:]
            case "double":
                data = data[:b] + data[a:b][:64] + data[b:]
            case _:
                data = data[:a] + draw(st.binary(max_size=6)) + data[a:]
    return data
