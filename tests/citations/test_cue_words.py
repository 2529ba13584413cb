"""Words of citing are data: none of those that a file of a language says stands in a pattern or list in Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from espalier.citations.languages import ROLES as LANGUAGE_ROLES
from espalier.citations.languages import folded, months, words

CITATIONS = Path(__file__).resolve().parents[2] / "src" / "espalier" / "citations"
NAMES = ("lexicon.py", "bodies.py", "names.py", "name_words.py", "name_lists.py", "name_pieces.py")
"""Words around names are looked up with their capitals, and have a room of their own."""
KEYS = ("formats", "bibliographies")  # whose words are keys
FILES = sorted(
    path
    for path in CITATIONS.rglob("*.py")
    if path.relative_to(CITATIONS).parts[0] not in KEYS and path.name not in NAMES
)
SHORTEST = 5  # letters: what is shorter may be a piece of anything
ROLES = ("volume", "issue", "pages", "count", "volumes", "editors", "translated", "accessed", "available", "theses")
KNOWN = {"editor", "online", "internet", "paper", "number", "numbers"} | set(LANGUAGE_ROLES)
"""Names of our own fields and values, and words that are English before they are cues."""
LEFT = {
    "kinds": set[str](),
    "numbers.py": {"cilt"},  # the S. of Turkey, an issue beside a volume only
    "types.py": {"annee", "vuosikerta", "jahrgang", "godine", "letnik"},  # a volume that is counted in years
    "__init__.py": {"published", "available"},  # what was online before its issue
}


def constants(source: str) -> Iterator[str]:
    """Texts of the patterns and lists of a module: of what it assigns, but for docstrings."""
    for statement in ast.parse(source).body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            for node in ast.walk(statement.value):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value


def cues(source: str) -> set[str]:
    """Words of citing in the constants of a module."""
    said = {word for word in words(*ROLES) | set(months()) if len(word) >= SHORTEST} - KNOWN
    return {word for text in constants(source) for word in re.findall(r"[^\W\d_]+", folded(text)) if word in said}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(CITATIONS).as_posix())
def test_no_word_of_citing_is_python(path: Path) -> None:
    assert cues(path.read_text(encoding="utf-8")) - LEFT.get(path.name, set()) == set()


def test_a_word_of_citing_would_be_found() -> None:
    assert cues('MONTHS = ("Januar", "février")\nP = re.compile(r"(?:Jahrgang|sayfa)")') == {
        *("januar", "fevrier", "jahrgang", "sayfa"),
    }
