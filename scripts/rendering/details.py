"""Small parts of works: names, dates, numbers, addresses, short titles of journals."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from rendering.words import Words
from rendering.works import Item

_STEMS = (
    "Journal=J.|Internat=Int.|Review=Rev.|Science=Sci.|Research=Res.|Americ=Am.|Europe=Eur.|British=Br.|Canad=Can.|Physic=Phys.|Chemi=Chem.|"
    "Biolog=Biol.|Medic=Med.|Clinic=Clin.|Engineer=Eng.|Applied=Appl.|Letters=Lett.|Annals=Ann.|Proceeding=Proc.|Transaction=Trans.|"
    "Society=Soc.|Academ=Acad.|National=Natl.|Associat=Assoc.|Psycholog=Psychol.|Linguist=Linguist.|Language=Lang.|Studies=Stud.|"
    "Quarterly=Q.|Bulletin=Bull.|Archiv=Arch.|Zeitschrift=Z.|Revue=Rev.|Revista=Rev.|Mathemat=Math.|Statist=Stat.|Comput=Comput.|System=Syst.|"
    "Technolog=Technol.|Environment=Environ.|Molecul=Mol.|Cellular=Cell.|Economic=Econ.|Education=Educ.|Histor=Hist.|Politic=Polit.|"
    "Social=Soc.|Sociolog=Sociol.|Philosoph=Philos.|Material=Mater.|Nuclear=Nucl.|Geolog=Geol.|Geophys=Geophys.|Neuroscien=Neurosci.|"
    "Neurolog=Neurol.|Pharmacolog=Pharmacol.|Surg=Surg.|Conference=Conf.|Symposium=Symp.|Annual=Annu.|Meeting=Meet.|Communicat=Commun.|"
    "Africa=Afr.|Anthropolog=Anthropol.|Royal=R.|Optic=Opt.|Astronom=Astron.|Astrophys=Astrophys.|Ecolog=Ecol.|Behavio=Behav.|"
    "Cognit=Cogn.|Business=Bus.|Develop=Dev.|Agricult=Agric.|Analy=Anal.|Biochem=Biochem.|Microbiolog=Microbiol.|Immunolog=Immunol.|"
    "Experiment=Exp.|Organic=Org.|Polymer=Polym.|Mechanic=Mech.|Electronic=Electron.|Electric=Electr.|Informat=Inf.|Intelligen=Intell.|"
    "Artificial=Artif.|Machine=Mach.|Learning=Learn.|Universit=Univ.|Librar=Libr.|Management=Manage.|Vision=Vis.|Software=Softw.|Network=Netw.|"
    "Process=Process.|Recognit=Recognit.|Veterin=Vet.|Otolaryng=Otolaryngol.|Toxicolog=Toxicol.|Radiolog=Radiol.|Cardiolog=Cardiol."
)
STEMS = tuple(pair.split("=") for pair in _STEMS.split("|"))
DROPPED = frozenset(
    [
        "of",
        "the",
        "and",
        "in",
        "for",
        "on",
        "&",
        "de",
        "la",
        "des",
        "der",
        "für",
        "und",
        "et",
        "y",
        "e",
        "di",
        "del",
        "-",
        "du",
        "le",
        "les",
    ]
)
DIGITS, LETTERS = "0123456789", "abcdefghijklmnoprstuvw"


def some(random: Random, share: float) -> bool:
    """Say yes that often."""
    return random.random() < share


def digits(random: Random, n: int) -> str:
    """Return n digits, the first not 0."""
    return random.choice(DIGITS[1:]) + "".join(random.choices(DIGITS, k=n - 1))


def letters(random: Random, low: int, high: int) -> str:
    """Return a made-up word."""
    return "".join(random.choices(LETTERS, k=random.randint(low, high)))


def year_of(item: Item) -> int:
    """Return the year of a work."""
    return int(item.get("issued", {}).get("date-parts", [[2000]])[0][0])


def set_date(random: Random, item: Item, month: float, day: float = 0.3) -> None:
    """Give the date of a work a month that often, and then a day that often; else leave the year alone."""
    if "issued" not in item:
        return
    parts = [year_of(item)]
    if some(random, month):
        parts.append(random.randint(1, 12))
        if some(random, day):
            parts.append(random.randint(1, 28))
    item["issued"] = {"date-parts": [parts]}


def day(random: Random, first: int = 1998, last: int = 2025) -> dict[str, Any]:
    """Return a date with month and day."""
    return {"date-parts": [[random.randint(first, last), random.randint(1, 12), random.randint(1, 28)]]}


def short_title(title: str) -> str | None:
    """Return a journal's title with its words cut short; None if nothing is gained."""
    words = title.split()
    if len(words) < 2:
        return None
    kept = [_short(word) for word in words if word.lower() not in DROPPED]
    short = " ".join(kept)
    return short if short != title else None


def _short(word: str) -> str:
    return next((short for stem, short in STEMS if word.startswith(stem)), word)


def doi(random: Random, item: Item) -> str:
    """Return a DOI in one of the forms that publishers use."""
    year, word = year_of(item), letters(random, 3, 6)
    return random.choice(
        [
            f"10.1016/j.{word}.{year}.{random.randint(1, 12):02}.{random.randint(1, 300):03}",
            f"10.1007/s{digits(random, 5)}-{random.randint(1, 20):03}-{digits(random, 4)}-{random.randint(0, 9)}",
            f"10.1103/PhysRev{random.choice('ABCDE')}.{random.randint(10, 120)}.{digits(random, 6)}",
            f"10.1371/journal.p{random.choice(['one', 'bio', 'med'])}.{random.randint(1000, 300000):07}",
            f"10.1093/{word}/{word}{digits(random, 3)}",
            f"10.5281/zenodo.{digits(random, 6)}",
            f"10.1002/(SICI){digits(random, 4)}-{digits(random, 4)}({year}){digits(random, 2)}:{random.randint(1, 9)}"
            f"<{digits(random, 3)}::AID-{word.upper()}1>3.0.CO;2-{random.choice('QXS')}",
            f"10.1080/{digits(random, 8)}.{year}.{digits(random, 6)}",
            f"10.1111/j.{digits(random, 4)}-{digits(random, 4)}.{year}.{digits(random, 5)}.x",
            f"10.{digits(random, 4)}/{word}-{year}-{random.randint(1, 999)}",
        ]
    )


def address(random: Random, item: Item) -> str:
    """Return an address on the web whose path may come from the title."""
    words = re.findall(r"[a-z]{3,}", item.get("title", "").lower())[:5] or ["index"]
    path = random.choice(
        [
            words[0],
            "-".join(words),
            "_".join(words[:3]),
            digits(random, random.randint(3, 8)),
            f"{letters(random, 2, 5)}/{digits(random, 5)}",
        ]
    )
    host = letters(random, 3, 10)
    return random.choice(
        [
            *(f"http://www.{host}.org/{path}", f"https://www.{host}.com/{path}.html", f"https://{host}.edu/~{path}/"),
            *(
                f"http://{host}.gov/pubs/{path}.pdf",
                f"https://{host}.de/artikel/{path}",
                f"https://www.{host}.fr/{path}",
            ),
            *(
                f"www.{host}.org/{path}",
                f"https://{host}.com.br/{path}?id={digits(random, 3)}",
                f"https://hdl.handle.net/{digits(random, 5)}/{digits(random, 4)}",
            ),
            *(
                f"https://www.jstor.org/stable/{digits(random, 7)}",
                f"https://{host}.co.uk/news/{path}",
                f"ftp://ftp.{host}.edu/pub/{path}.ps.gz",
            ),
        ]
    )


def isbn(random: Random) -> str:
    """Return a number in the form of an ISBN."""
    tail = f"{random.randint(0, 3)}-{digits(random, 3)}-{digits(random, 5)}-{random.choice('0123456789X')}"
    return random.choice([f"978-{tail}", tail, "978" + digits(random, 10)])


def page_range(random: Random) -> str:
    """Return a range of pages."""
    first = random.randint(1, 900)
    return f"{first}-{first + random.randint(2, 40)}"


def pages(random: Random) -> str:
    """Return a range of pages or, less often, the number of an article."""
    first = random.randint(1, 900)
    return random.choice(
        [
            *[page_range(random)] * 7,
            *(f"e{digits(random, random.randint(3, 5))}", digits(random, 6), f"L{random.randint(1, 99)}", str(first)),
            *(f"S{first}-S{first + 9}", f"{first}S-{first + 5}S"),
        ]
    )


def name(random: Random, words: Words, language: str) -> Item:
    """Return a person's name from the lists of a language."""
    return {"family": words.one(random, "family", language), "given": words.one(random, "given", language)}


def names(random: Random, words: Words, language: str) -> list[Item]:
    """Return one to five different names."""
    n = random.choices((1, 2, 3, 4, 5), (50, 25, 15, 6, 4))[0]
    found = [name(random, words, language) for _ in range(n)]
    return list({(one["family"], one["given"]): one for one in found}.values())


def title(random: Random, words: Words, language: str) -> str:
    """Return a title from the templates of a language: {a} stands for an entry of list `a`."""
    text = words.one(random, "templates", language)
    text = re.sub(r"\{(\w)\}", lambda match: words.one(random, match.group(1), language), text)
    return text[0].upper() + text[1:]
