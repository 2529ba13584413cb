"""Is a stretch of a list of names an institution?  By words that persons' names do not have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from espalier.citations.normalise.lexicon import (
    INSTITUTION_INNER,
    INSTITUTION_STEMS,
    INSTITUTION_WORDS,
    WEAK_INSTITUTION_WORDS,
)
from espalier.citations.normalise.person import is_initial

__all__ = ["is_institution", "may_go_on"]

_LONGEST = 24  # characters that are looked at


def is_institution(words: Sequence[str]) -> bool:
    """Tell whether words name an institution; one word alone does only if it can be nothing else."""
    kinds = [_kind(word[:_LONGEST]) for word in words]
    if len(words) == 1:
        return kinds[0] == "strong" and len(words[0]) > 9
    if not any(kinds):
        return False
    full = sum(not is_initial(word) for word in words)
    decisive = "strong" in kinds or "inner" in kinds[1:] or words[0] in ("The", "the")
    return full > 1 and (decisive or ("weak" in kinds and full > 2))


@lru_cache(maxsize=4096)
def _kind(word: str) -> str:
    low = word.strip(".").casefold()
    if low in INSTITUTION_WORDS or low.startswith(INSTITUTION_STEMS):
        return "strong"
    return "inner" if low in INSTITUTION_INNER else "weak" if low in WEAK_INSTITUTION_WORDS else ""


def may_go_on(words: Sequence[str]) -> bool:
    """Tell whether an institution's name may go on after a comma or an "and": "Ministry of Food and" ..."""
    return not INSTITUTION_INNER.isdisjoint(words[1:])
