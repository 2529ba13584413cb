"""What happens to references between a style and a text file; labels follow their characters.

Numbers in front, quotation marks, dashes, lost and doubled blanks, lost marks, accents and letters, breaks of lines,
words behind the end.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from random import Random

from rendering.details import digits, some

from espalier.document import Document, Span, tokenise

Char = tuple[str, str]
"""A character and its label; blanks between fields have none."""

NUMBER = "citation-number"
_STRAIGHT = str.maketrans({**dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‘’‚‹›", "'")})
_MONTHS = ["Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec."]


def spoil(document: Document, random: Random) -> tuple[Document, list[str]]:
    """Return a reference as it may be found, and the names of what was done to it."""
    chars, done = _chars(document), []
    for share, change in CHANGES:
        if chars and some(random, share):  # a reference may have lost all it had
            changed = change(chars, random)
            if changed != chars:
                chars = changed
                done.append(change.__name__)
    return _document(chars), done


def _chars(document: Document) -> list[Char]:
    labels = [""] * len(document.text)
    for span in document.spans or ():
        labels[span.start : span.end] = [span.label] * (span.end - span.start)
    return list(zip(document.text, labels, strict=True))


def _document(chars: Sequence[Char]) -> Document:
    """Put a reference together again; blanks at its ends go."""
    text = "".join(char for char, _ in chars)
    low, high = len(text) - len(text.lstrip()), len(text.rstrip())
    spans: list[Span] = []
    for k, (char, label) in enumerate(chars[low:high]):
        if char.isspace() or not label:
            continue
        if spans and spans[-1].label == label:
            spans[-1] = Span(spans[-1].start, k + 1, label)
        else:
            spans.append(Span(k, k + 1, label))
    return Document.from_text(text[low:high], spans)


def _text(chars: Sequence[Char]) -> str:
    return "".join(char for char, _ in chars)


def _mapped(chars: Sequence[Char], change: Callable[[str, str], str]) -> list[Char]:
    """Replace every character by what `change` makes of it and its label."""
    return [(new, label) for char, label in chars for new in change(char, label)]


def _labelled(text: str, label: str) -> list[Char]:
    return [(char, "" if char == " " else label) for char in text]


def renumbered(chars: list[Char], random: Random) -> list[Char]:
    """Give a numbered reference another number, or none."""
    inside = [k for k, (_, label) in enumerate(chars) if label == NUMBER]
    if not inside or inside != list(range(inside[0], inside[-1] + 1)):
        return chars
    start, end = inside[0], inside[-1] + 1
    if some(random, 0.45):
        return chars[:start] + chars[end:]
    number = str(random.choices((random.randint(1, 9), random.randint(10, 99), random.randint(100, 400)), (3, 5, 2))[0])
    return chars[:start] + _labelled(re.sub(r"\d+", number, _text(chars[start:end]), count=1), NUMBER) + chars[end:]


def numbered(chars: list[Char], random: Random) -> list[Char]:
    """Put a number or a key before a reference that has none."""
    if any(label == NUMBER for _, label in chars):
        return chars
    n = random.randint(1, 200)
    names = re.findall(r"[A-Z][a-z]{2,}", _text([char for char in chars if char[1] in ("author", "editor")])) or [
        "Anon"
    ]
    years = re.findall(r"\d{4}", _text([char for char in chars if char[1] == "date"])) or [
        str(random.randint(1950, 2024))
    ]
    keys = (
        f"[{names[0][:3]}{years[0][2:]}]",
        f"[{names[0]}{years[0]}]",
        f"[{names[0]} {years[0]}]",
        f"[{names[0][:2].upper()}{digits(random, 2)}]",
        f"{names[0]} {years[0]}{random.choice((':', ' :', ' —', ' ='))}",
        f"{names[0]} et al. {years[0]}:",
    )
    forms = (
        f"[{n}]",
        f"[{n}]",
        f"{n}.",
        f"{n}.",
        f"({n})",
        f"{n}",
        f"{n}",
        f"[{n}].",
        f"{n})",
        f"[{n}]:",
        f"{n}:",
        random.choice(keys),
        random.choice(keys),
    )
    return [*_labelled(random.choice(forms), NUMBER), (" ", ""), *chars]


def untitled(chars: list[Char], random: Random) -> list[Char]:
    """Leave the title of an article out, as sciences do."""
    labels = {label for _, label in chars}
    if not {"author", "title", "container-title", "volume", "date"} <= labels:
        return chars
    return [char for char in chars if char[1] != "title"]


def other_issue(chars: list[Char], random: Random) -> list[Char]:
    """Count the issues of a journal on from year to year: their numbers may be larger than those of volumes."""
    inside = [k for k, (_, label) in enumerate(chars) if label == "issue"]
    if not inside or not re.fullmatch(r"\D*\d{1,2}\D*", _text(chars[inside[0] : inside[-1] + 1])):
        return chars
    first, *others = [k for k in inside if chars[k][0].isdigit()]
    number = random.choice((random.randint(13, 99), random.randint(100, 400), random.randint(100, 400)))
    changed = [*chars[:first], *_labelled(str(number), "issue"), *chars[first + 1 :]]
    return changed if not others else [*changed[: first + len(str(number))], *chars[others[-1] + 1 :]]


def straightened(chars: list[Char], random: Random) -> list[Char]:
    """Make quotation marks straight."""
    return _mapped(chars, lambda char, _: char.translate(_STRAIGHT))


def tex_quoted(chars: list[Char], random: Random) -> list[Char]:
    """Make quotation marks those of TeX."""
    return _mapped(chars, lambda char, _: {"“": "``", "”": "''", "‘": "`", "’": "'"}.get(char, char))


def unquoted(chars: list[Char], random: Random) -> list[Char]:
    """Drop double quotation marks."""
    return _mapped(chars, lambda char, _: "" if char in "“”„«»" else char)


def dashed(chars: list[Char], random: Random) -> list[Char]:
    """Write ranges with another dash."""
    dash = random.choices(
        ("-", "--", "\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212", " - ", " – "),
        (60, 9, 2, 2, 3, 8, 4, 1, 4, 3),
    )[0]
    return [(new, label) for k, (char, label) in enumerate(chars) for new in (dash if _is_range(chars, k) else char)]


def _is_range(chars: Sequence[Char], k: int) -> bool:
    """Is there a dash of a range here?"""
    char, label = chars[k]
    inside = 0 < k < len(chars) - 1 and chars[k - 1][0].isalnum() and chars[k + 1][0].isalnum()
    return inside and (char == "–" or (char == "-" and label == "pages"))


def without_accents(chars: list[Char], random: Random) -> list[Char]:
    """Lose accents."""
    return _mapped(
        chars, lambda char, _: unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode() or char
    )


def broken(chars: list[Char], random: Random) -> list[Char]:
    """Break one or two long words as at the end of a line."""
    found = [match.span() for match in re.finditer(r"[^\W\d_]{7,}", _text(chars))]
    changed = list(chars)
    for start, end in sorted(random.sample(found, min(len(found), random.choice((1, 1, 2)))), reverse=True):
        place = random.randint(start + 3, end - 3)
        changed[place:place] = [("-", changed[place][1]), *([(" ", "")] if some(random, 0.8) else [])]
    return changed


def crowded(chars: list[Char], random: Random) -> list[Char]:
    """Lose blanks beside marks."""
    share = random.choice((0.1, 0.2, 0.5, 1.0))
    return [one for k, one in enumerate(chars) if not (_is_loose_blank(chars, k) and some(random, share))]


def _is_loose_blank(chars: Sequence[Char], k: int) -> bool:
    """Is there a blank with a mark beside it?"""
    inside = 0 < k < len(chars) - 1 and chars[k][0] == " "
    return inside and not (chars[k - 1][0].isalnum() and chars[k + 1][0].isalnum())


def glued(chars: list[Char], random: Random) -> list[Char]:
    """Lose one to three blanks between words."""
    blanks = [k for k, (char, _) in enumerate(chars) if char == " "]
    lost = set(random.sample(blanks, min(len(blanks), random.randint(1, 3))))
    return [char for k, char in enumerate(chars) if k not in lost]


def spaced(chars: list[Char], random: Random) -> list[Char]:
    """Put blanks before marks, as a page of type may have them."""
    return [
        new
        for k, one in enumerate(chars)
        for new in ([(" ", ""), one] if _can_be_spaced(chars, k) and some(random, 0.6) else [one])
    ]


def tokenised(chars: list[Char], random: Random) -> list[Char]:
    """Put a blank between words and marks, as sets that were cut into tokens have it; initials may keep their stop."""
    text = _text(chars)
    apart = {start for start, _ in tokenise(text) if start and text[start - 1] != " "}
    if some(random, 0.5):
        apart -= {found.end() - 1 for found in re.finditer(r"\b[A-Z]\.", text)}
    return [
        new
        for k, one in enumerate(chars)
        for new in ([(" ", ""), one] if k in apart and one[1] not in ("url", "doi") else [one])
    ]


def _can_be_spaced(chars: Sequence[Char], k: int) -> bool:
    return k > 0 and chars[k][0] in ".,;:" and chars[k - 1][0].isalnum() and chars[k][1] not in ("url", "doi")


def doubled(chars: list[Char], random: Random) -> list[Char]:
    """Double some blanks."""
    return [new for one in chars for new in ([one, one] if one[0] == " " and some(random, 0.2) else [one])]


def misread(chars: list[Char], random: Random) -> list[Char]:
    """Read some letters wrongly, as a machine does."""
    like = {"l": "1", "O": "0", "I": "l", "e": "c", "n": "u", "m": "rn", "h": "b", "1": "l", "0": "O"}
    share = random.choice((0.01, 0.03))
    return _mapped(chars, lambda char, _: like[char] if char in like and some(random, share) else char)


def ligatures(chars: list[Char], random: Random) -> list[Char]:
    """Write fi and fl as one sign."""
    pairs = {"fi": "ﬁ", "fl": "ﬂ"}
    changed: list[Char] = []
    for char, label in chars:
        if changed and changed[-1][0] + char in pairs:
            changed[-1] = pairs[changed[-1][0] + char], label
        else:
            changed.append((char, label))
    return changed


def capitals(chars: list[Char], random: Random) -> list[Char]:
    """Write one sort of field in capitals."""
    chosen = random.choice(
        (
            ("author", "editor"),
            ("title",),
            ("container-title",),
            ("author", "title", "container-title", "publisher", "location"),
        )
    )
    return _mapped(chars, lambda char, label: char.upper() if label in chosen and len(char.upper()) == 1 else char)


def small_letters(chars: list[Char], random: Random) -> list[Char]:
    """Write everything in small letters."""
    return _mapped(chars, lambda char, _: char.lower() if len(char.lower()) == 1 else char)


def unmarked(chars: list[Char], random: Random) -> list[Char]:
    """Lose marks between and in fields, but not those inside words, numbers and addresses."""
    share = random.choice((0.2, 0.5, 1.0))
    kept = [one for k, one in enumerate(chars) if not (_is_loose_mark(chars, k) and some(random, share))]
    return kept


def _is_loose_mark(chars: Sequence[Char], k: int) -> bool:
    char, label = chars[k]
    if char.isalnum() or char.isspace() or label in ("url", "doi", NUMBER):
        return False
    inside = 0 < k < len(chars) - 1 and chars[k - 1][0].isalnum() and chars[k + 1][0].isalnum()
    return not inside and char in ".,;:()[]“”\"'"


def subtitled(chars: list[Char], random: Random) -> list[Char]:
    """End the main title with a full stop instead of a colon."""
    return [
        ("." if char == ":" and label == "title" and chars[k + 1 : k + 2] == [(" ", "title")] else char, label)
        for k, (char, label) in enumerate(chars)
    ]


def suffixed(chars: list[Char], random: Random) -> list[Char]:
    """Put a letter behind the year."""
    match = re.search(r"(?<!\d)(?:19|20)\d\d(?!\w)", _text([(c if label == "date" else " ", "") for c, label in chars]))
    if match is None:
        return chars
    return [*chars[: match.end()], (random.choice("abcd"), "date"), *chars[match.end() :]]


def endless(chars: list[Char], random: Random) -> list[Char]:
    """Lose the last full stop, or have one."""
    if chars and chars[-1][0] == ".":
        return chars[:-1]
    return [*chars, (".", chars[-1][1])] if chars and chars[-1][1] != "url" else chars


def remarked(chars: list[Char], random: Random) -> list[Char]:
    """Put a remark in brackets behind the title: its language, or what kind of text it is."""
    inside = [k for k, (_, label) in enumerate(chars) if label == "title"]
    if not inside or inside[-1] - inside[0] + 1 != len(inside):
        return chars
    end = inside[-1] + 1
    language = random.choice(("Russian", "German", "French", "Japanese", "Chinese", "Spanish", "Polish", "Turkish"))
    words = random.choice(
        (
            f"in {language}",
            f"in {language}",
            f"In {language}",
            f"in {language} with English abstract",
            f"in {language}, English summary",
            "invited paper",
            "Special issue",
            "abstract",
            "in preparation",
            "to appear",
        )
    )
    opening, closing = random.choice(("()", "()", "[]"))
    mark = chars[end - 1][0] if chars[end - 1][0] in ".,:;" else ""
    remark = _labelled(f"{opening}{words}{closing}{mark}", "note")
    return [*chars[: end - len(mark)], (" ", ""), *remark, *chars[end:]]


def houseless(chars: list[Char], random: Random) -> list[Char]:
    """Leave out who published a book, as old ones and those of a series are cited with their place alone."""
    labels = {label for _, label in chars}
    if not {"title", "publisher", "location"} <= labels or ("collection-title" not in labels and some(random, 0.7)):
        return chars
    colon = ("," if some(random, 0.7) else ":", "location")
    kept = [colon if char == (":", "location") else char for char in chars if char[1] != "publisher"]
    return [one for k, one in enumerate(kept) if one[0] != " " or kept[k - 1][0] != " "]


def followed(chars: list[Char], random: Random) -> list[Char]:
    """Put words behind the end that services and styles of the past leave there."""
    day = f"{random.randint(1, 28)} {random.choice(_MONTHS)} {random.randint(2005, 2024)}"
    tails: tuple[tuple[tuple[str, str], ...], ...] = (
        (("Crossref.", "note"), ("Web.", "genre")),
        (("Web.", "genre"),),
        (("Print.", "genre"),),
        (("Web.", "genre"), (f"{day}.", "accessed")),
        (("JSTOR.", "note"), ("Web.", "genre"), (f"{day}.", "accessed")),
        (("[CrossRef]", "note"),),
        (("[CrossRef] [PubMed]", "note"),),
        (("[Google Scholar]", "note"),),
        ((f"PMID: {digits(random, 8)}.", "note"),),
        ((f"arXiv:{digits(random, 4)}.{digits(random, 5)}", "note"),),
        ((random.choice(("(in German)", "[in Russian]", "(in Japanese)", "(In French.)")), "note"),),
        ((f"Cited {random.randint(1, 90)} times.", "note"),),
        ((f"[Accessed {day}]", "accessed"),),
    )
    labels = {label for _, label in chars}
    tail = random.choice(tails)
    if labels & {"accessed", "genre", "note"}:
        return chars
    mark = [] if chars[-1][0] in ".)]" or chars[-1][1] == "url" else [(".", chars[-1][1])]
    return [*chars, *mark, *(char for text, label in tail for char in [(" ", ""), *_labelled(text, label)])]


def other_doi(chars: list[Char], random: Random) -> list[Char]:
    """Announce a DOI in another way."""
    text = _text(chars)
    match = re.search(r"(?i)\bdoi:\s?(?=10\.)|https?://(?:dx\.)?doi\.org/(?=10\.)", text)
    if match is None:
        return chars
    label = random.choice(("doi", "url"))
    new = (
        random.choice(("doi:", "doi: ", "DOI: ", "DOI ", "doi ", "DOI:"))
        if label == "doi"
        else random.choice(("http://dx.doi.org/", "https://doi.org/", "http://doi.org/"))
    )
    end = next((k for k in range(match.end(), len(chars)) if chars[k][1] != chars[match.start()][1]), len(chars))
    return [
        *chars[: match.start()],
        *_labelled(new, label),
        *((char, label) for char, _ in chars[match.end() : end]),
        *chars[end:],
    ]


CHANGES: tuple[tuple[float, Callable[[list[Char], Random], list[Char]]], ...] = (
    *(
        (1.0, renumbered),
        (0.04, untitled),
        (0.1, other_issue),
        (0.12, subtitled),
        (0.03, suffixed),
        (0.2, other_doi),
        (0.02, remarked),
        (0.1, houseless),
        (0.04, followed),
    ),
    *((0.3, straightened), (0.03, tex_quoted), (0.02, unquoted), (0.6, dashed), (0.05, without_accents)),
    *((0.03, capitals), (0.01, small_letters), (0.03, unmarked), (0.2, endless), (0.12, numbered)),
    *(
        (0.07, broken),
        (0.05, crowded),
        (0.02, glued),
        (0.025, spaced),
        (0.03, tokenised),
        (0.02, doubled),
        (0.025, misread),
        (0.03, ligatures),
    ),
)
"""What may happen, how often, in this order."""
