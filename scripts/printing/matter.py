"""Matter around lists of references that is easily taken for one: series of papers, notes, forms, covers, contents."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

__all__ = ["MATTER", "contents", "cover_lines", "series"]

_SERIES = {
    "en": ["Discussion Papers of the Institute", "Recently published in this series:", "Working Papers 2003-2004"],
    "de": ["Bisher in dieser Reihe erschienen:", "Veröffentlichungen der Abteilung", "Discussion Papers 2004"],
}
_MARKS = ["Nr. {}: ", "No. {} ", "SP I 2004-{} ", "DP {}/03 ", "Heft {}: ", "Vol. {}: ", ""]
_QUESTIONS = {
    "en": [
        "How often did you talk to your parents in 1998?",
        "Which of these parties did you vote for?",
        "Age in years",
    ],
    "de": [
        "Wie oft haben Sie 1998 mit Ihren Eltern gesprochen?",
        "Welche Partei haben Sie gewählt?",
        "Alter in Jahren",
    ],
}
_ANSWERS = {"en": "1 never 2 rarely 3 sometimes 4 often 9 no answer", "de": "1 nie 2 selten 3 manchmal 4 oft 9 k. A."}
_COVER = [
    "www.repository.example",
    "Veröffentlichungsversion / Published Version",
    "Zeitschriftenartikel / journal article",
    "Empfohlene Zitierung / Suggested Citation:",
    "",
    "Nutzungsbedingungen: Dieser Text wird unter einer Lizenz zur Verfügung gestellt, die nur den Gebrauch erlaubt.",
    "Terms of use: This document is made available under a licence that allows personal use only.",
]


def series(random: Random, language: str, texts: Sequence[str]) -> list[str]:
    """Return a heading, and works of a series, each with its number."""
    mark, number = random.choice(_MARKS), random.randint(20, 300)
    return [random.choice(_SERIES[language]), *(mark.format(number - k) + text for k, text in enumerate(texts))]


def questions(random: Random, language: str) -> list[str]:
    """Return a form with questions."""
    found = ["Anhang: Fragebogen" if language == "de" else "Appendix: Questionnaire"]
    for number in range(1, random.randint(6, 14)):
        found += [f"{number}. {random.choice(_QUESTIONS[language])}", _ANSWERS[language]]
    return found


def table_rows(random: Random, language: str) -> list[str]:
    """Return a table as lines: a caption, and countries or years with figures."""
    found = ["Tabelle A1: Erwerbstätige nach Jahren" if language == "de" else "Table A1. Employment by year"]
    for year in range(1990, 1990 + random.randint(6, 20)):
        found.append(f"{year} " + " ".join(f"{random.uniform(1, 99):.1f}" for _ in range(5)))
    return [*found, "Quelle: Statistisches Bundesamt 2004" if language == "de" else "Source: OECD (2004)"]


def notes_behind(random: Random, language: str) -> list[str]:
    """Return notes that cite works by name and year only."""
    found = ["Anmerkungen" if language == "de" else "Notes"]
    for number in range(1, random.randint(5, 16)):
        name, year, page = random.choice(["Beck", "Weber", "Smith", "Keller"]), random.randint(1970, 2010), number * 7
        short = f"Vgl. {name} {year}, S. {page}." if language == "de" else f"See {name} ({year}: {page})."
        longer = (
            "Dies gilt nur für Betriebe mit mehr als 20 Beschäftigten."
            if language == "de"
            else "We thank the referees for this remark; all errors are ours."
        )
        found.append(f"{number} {random.choice([short, longer, short + ' ' + longer])}")
    return found


def contents(random: Random, language: str) -> list[str]:
    """Return a table of contents, in which the list of references has a line."""
    names = (
        ["Einleitung", "Stand der Forschung", "Daten", "Ergebnisse", "Schluss", "Literatur", "Anhang"]
        if language == "de"
        else ["Introduction", "Previous research", "Data", "Results", "Conclusion", "References", "Appendix"]
    )
    page, found = random.randint(2, 5), ["Inhalt" if language == "de" else "Contents"]
    for number, name in enumerate(names, 1):
        found.append(f"{number} {name} {'.' * 40} {page}")
        page += random.randint(1, 7)
    return found


def cover_lines(title: str, reference: str) -> list[str]:
    """Return the cover sheet of a repository, with a suggested citation in it."""
    return [title, *(line or reference for line in _COVER)]


def abstract(random: Random, language: str) -> list[str]:
    """Return a summary in another language, with words for catalogues."""
    english = (
        "The article examines how conditions have changed since 1950. Drawing on work by Meyer (1998) it shows that",
        "results from one country cannot simply be transferred to another. The data were collected in 1997.",
    )
    german = (
        "Der Beitrag untersucht, wie sich die Verhältnisse seit 1950 verändert haben. Im Anschluss an Meyer (1998)",
        "wird gezeigt, dass sich die Ergebnisse nicht ohne Weiteres übertragen lassen. Die Daten wurden 1997 erhoben.",
    )
    if language == "de":
        return ["Abstract", " ".join(english), "Keywords: families, labour market, Germany, comparison"]
    return ["Zusammenfassung", " ".join(german), "Schlagwörter: Familie, Arbeitsmarkt, Deutschland, Vergleich"]


def captions(random: Random, language: str) -> list[str]:
    """Return the words that belong to figures."""
    word, head = ("Abbildung", "Abbildungen") if language == "de" else ("Figure", "Figure captions")
    texts = ["Share of respondents who agree, 1990-2004", "Model of the process (after Smith 1987)", "Map of the area"]
    return [head, *(f"{word} {n}: {random.choice(texts)}." for n in range(1, random.randint(3, 8)))]


def address(random: Random, language: str) -> list[str]:
    """Return where an author is to be reached."""
    german = language == "de"
    head = random.choice(["Anschrift der Verfasserin", "Zur Autorin", "Kontakt"] if german else ["Contact", "Author"])
    name, year = random.choice(["Dr. Ann Keller", "Prof. Tomas Novak"]), random.randint(1948, 1985)
    more = (
        f"{name}, geb. {year}, Institut für Soziologie, Universität Graz, Postfach 12, 8010 Graz, keller@example.org"
        if german
        else f"{name}, Department of Sociology, University of Leeds, Leeds LS2 9JT, United Kingdom, keller@example.org"
    )
    return [head, more, "Eingegangen am 12. März 2004." if german else "Received 12 March 2004; accepted 3 June 2004."]


def thanks(random: Random, language: str) -> list[str]:
    """Return to whom an author owes something."""
    if language == "de":
        return ["Danksagung", "Die Verfasser danken der Stiftung (Projekt 4711/03) und zwei Gutachtern für Hinweise."]
    return [
        random.choice(["Acknowledgements", "Acknowledgments", "Funding"]),
        "This work was supported by grant 4711/03.",
    ]


def issues(random: Random, language: str) -> list[str]:
    """Return titles of a series with their prices, as publishers print them on last pages."""
    found = ["Weitere Titel der Reihe" if language == "de" else "Also available from the same publisher"]
    names = ["Anna Berg", "Peter Klein/Uta Lang (Hrsg.)", "J. A. Stone", "Rolf Huber"]
    titles = ["Wandel der Familie", "Work and the State", "Bildung und Herkunft", "Cities in Transition"]
    for _ in range(random.randint(5, 14)):
        year, pages, price = random.randint(1990, 2012), random.randint(90, 480), random.randint(9, 60)
        found.append(f"{random.choice(names)}: {random.choice(titles)}. {year}. {pages} S. br. {price},90 EUR")
    return found


MATTER = {
    "questions": questions,
    "table": table_rows,
    "notes": notes_behind,
    "abstract": abstract,
    "captions": captions,
    "address": address,
    "thanks": thanks,
    "issues": issues,
}
