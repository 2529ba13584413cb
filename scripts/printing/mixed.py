"""Layouts at random: what makes lists hard to find, put together as it comes, as papers of many publishers have it."""

from __future__ import annotations

from random import Random

from printing.layouts import Layout

__all__ = ["mixed"]

HEADINGS = {
    "en": (
        *("References",) * 4, "REFERENCES", "Bibliography", "Works Cited", "Literature Cited", "6. References",
        "VI. REFERENCES", "Selected Bibliography", "Sources", "Further Reading", "References and Notes",
        "Cited Literature", "List of References", "R e f e r e n c e s", "",
    ),
    "de": (
        *("Literatur",) * 4, "Literaturverzeichnis", "LITERATUR", "Literaturangaben", "7 Literatur",
        "Quellen- und Literaturverzeichnis", "VIII. Literatur", "Zitierte Literatur", "Quellen", "Schrifttum",
        "Bibliographie", "Literatur:", "Verwendete Literatur", "Nachweise", "",
    ),
}  # fmt: skip
AFTER = (
    *("",) * 6, "appendix", "appendix", "adverts", "lives", "series", "series", "questions", "table", "notes",
    "abstract", "captions", "address", "thanks", "issues", "prose", "second", "works",
)  # fmt: skip


def mixed(random: Random, number: int) -> Layout:
    """Return a layout; every eighth paper has footnotes."""
    language = "de" if random.random() < 0.4 else "en"
    if number % 8 == 7:
        return Layout(
            f"mixed, notes, {language}",
            notes=True,
            language=language,
            heads=random.choice(["same", "sides", "journal"]),
            foot=random.random() < 0.5,
        )
    columns = random.choice([1, 1, 1, 2, 2, 2, 3] if language == "en" else [1, 1, 1, 2])
    numbers = random.choice(["", "", "", "", "[{}]", "{}.", "{}", "({})"] if language == "en" else [""] * 6 + ["[{}]"])
    indent = random.choice(["hanging", "flush", "flush", "first"])
    return Layout(
        f"mixed, {'numbers' if numbers else indent}, {language}",
        columns=columns,
        numbers=numbers,
        raised=numbers == "{}" and random.random() < 0.3,
        indent=indent,
        gap=random.choice([0, 0, 0, 1.5, 3, 6]),
        heading=HEADINGS[language],
        after=AFTER,
        heads=random.choice(["", "same", "sides", "journal", "journal", "listed"]),
        foot=random.random() < 0.6,
        cover=random.random() < 0.1,
        repository=random.random() < 0.15,
        contents=random.random() < 0.1,
        small=random.random() < 0.4,
        language=language,
        apart=random.random() < 0.25,
        divided=random.random() < 0.12,
        wide=random.random() < 0.4,
        rights=random.random() < 0.25,
    )
