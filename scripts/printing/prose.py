"""What stands around a list of references: running text, and the matter that follows a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

__all__ = ["Prose", "advert", "life"]

GERMAN = """Die vorliegende Untersuchung geht der Frage nach, wie sich die Verhältnisse seit 1950 verändert haben.
Dabei wird vor allem auf die Arbeiten von Meyer (1998) und Schulze (2003, S. 45) Bezug genommen.
Die Ergebnisse lassen sich jedoch nicht ohne Weiteres auf andere Länder übertragen.
Zunächst ist festzuhalten, dass die Quellenlage in diesem Bereich ausgesprochen dürftig ist.
In der Forschung ist diese Annahme mehrfach bestritten worden (vgl. Weber 1987; Huber und Koch 2001).
Im folgenden Abschnitt werden die Daten und das Vorgehen kurz beschrieben.
Für die Auswertung wurden insgesamt 312 Fragebögen herangezogen, von denen 298 vollständig waren.
Der Zusammenhang zwischen beiden Größen ist schwach, aber in allen Jahren nachweisbar.
Aus heutiger Sicht erscheint diese Deutung wenig überzeugend, zumal neuere Befunde in eine andere Richtung weisen.
Erst mit dem Gesetz vom 14. Juli 1976 änderte sich die Lage der Gemeinden grundlegend.
Abschließend werden einige Folgerungen für die Praxis des Obst- und Gartenbaus gezogen.
Es fehlt bisher an Arbeiten, die beide Fragen im Zusammenhang behandeln.
Die Tabelle zeigt die Verteilung der Antworten nach Alter und Geschlecht.
Auch hier gilt, dass Entwicklungen dieser Art selten nur eine einzige Ursache haben.
Ob man daraus auf eine allgemeine Regel schließen darf, muss offen bleiben.
Die Verfasser danken der Stiftung für die großzügige Unterstützung des Vorhabens.
Nach dem Krieg wurde das Verfahren in mehreren Städten erprobt und bald wieder aufgegeben.
Das Ergebnis überrascht, denn die ältere Literatur geht fast durchweg vom Gegenteil aus."""

FIRST = ["Ann", "Maria", "Peter", "Yuki", "Lars", "Carla", "Tomas", "Elena", "Rolf", "Ines", "Wei", "Omar"]
LAST = ["Keller", "Moreau", "Lindqvist", "Okafor", "Tanaka", "Brandt", "Novak", "Reyes", "Hughes", "Fischer"]
FIELDS = ["botany", "electrical engineering", "computer science", "history", "forestry", "economics"]
PLACES = ["Leeds", "Graz", "Uppsala", "Porto", "Kyoto", "Toronto", "Basel", "Ghent"]


class Prose:
    """Paragraphs of running text. documents : of the set `refdocs`, whose text in English is shuffled."""

    def __init__(self, documents: Iterable[dict[str, Any]], random: Random) -> None:
        """Cut the text of the documents into sentences."""
        self.random = random
        self.sentences = list(_sentences(documents)) or ["The tree was grafted in the spring of the year before."]
        self.german = GERMAN.split("\n")

    def paragraph(self, language: str) -> str:
        """Return some sentences."""
        if language == "de":
            return " ".join(self.random.sample(self.german, self.random.randint(3, 7)))
        start = self.random.randrange(len(self.sentences))
        return " ".join(self.sentences[start : start + self.random.randint(3, 8)])

    def title(self, language: str) -> str:
        """Return a title."""
        words = self.paragraph(language).split()
        return re.sub(r"[.;:()\d]+", "", " ".join(words[: self.random.randint(5, 12)])).strip(", ")


def _sentences(documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    for document in documents:
        lines = zip(document["lines"], document["labels"], strict=True)
        text = "\n".join(line for line, label in lines if label == "text" and len(line) > 45)
        text = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", text).replace("\n", " ")
        for sentence in re.split(r"(?<=[a-z)]\.) (?=[A-Z])", text):
            letters = sum(character.isalpha() and ord(character) < 0x250 for character in sentence)
            if 40 < len(sentence) < 400 and letters > 0.75 * len(sentence) and "<" not in sentence:
                yield " ".join(sentence.split())


def advert(random: Random, title: str) -> str:
    """Return an advertisement of a book."""
    person = f"{random.choice(FIRST)} {random.choice(LAST)}"
    year, price, isbn = random.randint(1995, 2024), random.randint(12, 120), random.randint(10**8, 10**9)
    pages = random.randint(90, 600)
    return f"{title} by {person}. {pages} pages, {year}. ISBN 978-0-{isbn}. ${price}.95 cloth. Order now."


def life(random: Random) -> str:
    """Return the life of an author in some sentences."""
    person, place, field = random.choice(LAST), random.choice(PLACES), random.choice(FIELDS)
    year = random.randint(1975, 2015)
    return (
        f"{random.choice(FIRST)} {person} received the B.Sc. degree in {field} from the University of {place} in {year}"
        f" and the Ph.D. degree in {year + 5}. From {year + 6} to {year + 9} {person} was with the institute in"
        f" {random.choice(PLACES)}. Current interests are {random.choice(FIELDS)} and {random.choice(FIELDS)}."
    )
