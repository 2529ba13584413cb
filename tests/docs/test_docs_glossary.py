"""One noun, one meaning: the glossary is in order and in use, and no two classes have one name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "espalier"
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
MEANINGS = dict(re.findall(r"^\| ([a-z][a-z ]*) \| (.+) \|$", GLOSSARY, re.MULTILINE))
del MEANINGS["word"]

PRIVATE = ("Sight", "Aim", "Held", "Belief", "wordless", "spoken", "doubts_aloud", "crosswise", "oftener")
"""Words that had a meaning in this house alone."""


@cache
def text_of(*patterns: str) -> str:
    """Return all source and pages but the glossary."""
    files = [path for pattern in patterns for path in ROOT.glob(pattern) if path.name != "glossary.md"]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_words_are_sorted_and_meanings_are_one_short_sentence() -> None:
    assert len(MEANINGS) > 40
    assert list(MEANINGS) == sorted(MEANINGS)
    for word, meaning in MEANINGS.items():
        assert meaning.endswith("."), word
        assert ". " not in meaning, f"{word}: one sentence"
        assert len(meaning) <= 140, word


@pytest.mark.parametrize("word", MEANINGS)
def test_every_word_is_used(word: str) -> None:
    plural = word.removesuffix("y") + "ies" if word.endswith("y") else f"{word}s"
    assert re.search(rf"\b({word}|{plural})\b", text_of("src/espalier/**/*.py", "docs/*.md"), re.IGNORECASE)


def test_no_two_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(SOURCE).as_posix())
    shared = {name: files for name, files in homes.items() if len(files) > 1}
    assert not shared, "give one of them a name of its own"


@pytest.mark.parametrize("word", PRIVATE)
def test_no_word_of_a_private_language_is_used(word: str) -> None:
    text = text_of("src/espalier/**/*.py", "docs/*.md", "*.md")
    used = re.search(rf"\b{word}\b", text)
    assert used is None, used and text[used.start() - 60 : used.end() + 60]
