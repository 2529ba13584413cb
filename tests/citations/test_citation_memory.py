"""Answers that are kept: the same as without, and none for long texts."""

from __future__ import annotations

from espalier.citations.normalise.text import remembered


def test_short_texts_are_read_once_and_long_ones_every_time() -> None:
    asked: list[str] = []

    @remembered(longest=3)
    def length(text: str) -> int:
        """Count."""
        asked.append(text)
        return len(text)

    assert [length(text) for text in ("abc", "abcd", "abc", "abcd", "")] == [3, 4, 3, 4, 0]
    assert asked == ["abc", "abcd", "abcd", ""]
    assert (length.__name__, length.__doc__) == ("length", "Count.")
