"""Answers kept for the next time: years, volumes and journals come again and again, in one file and in the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

__all__ = ["remembered"]

Answer = TypeVar("Answer")


def remembered(longest: int) -> Callable[[Callable[[str], Answer]], Callable[[str], Answer]]:
    """Return a decorator that keeps the last 4,096 answers to texts of at most so many characters.

    Longer texts seldom come twice, and are read anew, so that memory is bounded. Answers must be values.
    """

    def decorator(read: Callable[[str], Answer]) -> Callable[[str], Answer]:
        kept = lru_cache(maxsize=4096)(read)

        @wraps(read)
        def recall(text: str) -> Answer:
            return kept(text) if len(text) <= longest else read(text)

        return recall

    return decorator
