"""Works and records of any Unicode text, and what of a text may be expected back from a format made of lines."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from espalier.citations.record import LABELS, Field, Record
from espalier.citations.work import KINDS, Date, Name, Pages, Work

# Every character there is, surrogates and controls too, and pieces that mean something to one format or another.
ANY = st.characters(exclude_categories=())
PIECES = st.sampled_from(
    (
        *("\\", "{", "}", "#", "$", "%", "&", "_", "~", "^", "<", ">", "|", "--", "---", "``", "''", "?`", "!`", ",,"),
        *(
            " and ",
            "others",
            ",",
            ";",
            '"',
            "'",
            "@article{x,",
            "=",
            "-1",
            "+1",
            "=1+1",
            "@x",
            "\n",
            "\r\n",
            "\t",
            "\0",
        ),
        *(
            "ER  - ",
            "\nTY  - ",
            "]]>",
            "<!--",
            "&amp;",
            "\u2028",
            "\x85",
            "\ufeff",
            "\ufffe",
            "\ud800",
            "\\textbf{",
            "$$",
        ),
        *("Zürich", "Ångström", "李明", "Достоевский", "DNA", "The", "von", "é", "🙂", "pp.", "12–15", " ", "A", "a"),
    )
)
TEXTS = st.one_of(st.text(ANY, max_size=12), st.lists(PIECES | st.text(ANY, max_size=3), max_size=6).map("".join))

NAMES = st.builds(Name, family=TEXTS, given=TEXTS, particle=TEXTS, suffix=TEXTS) | st.builds(Name, literal=TEXTS)
MOMENTS = st.one_of(
    st.tuples(st.integers(1, 2100)),
    st.tuples(st.integers(1, 2100), st.integers(1, 12)),
    st.tuples(st.integers(1, 2100), st.integers(1, 12), st.integers(1, 28)),
)
DATES = st.builds(
    Date,
    parts=st.lists(MOMENTS, max_size=2).map(tuple),
    season=st.none() | st.integers(1, 4),
    literal=TEXTS,
    circa=st.booleans(),
)
FREE = (
    *("title", "container_title", "collection_title", "volume", "issue", "edition", "publisher", "location"),
    *("genre", "institution", "note", "doi", "url", "isbn", "issn", "number", "arxiv", "number_of_pages"),
    *("number_of_volumes", "event", "version", "pmid", "pmcid", "jstor", "handle"),
)
WORKS = st.builds(
    Work,
    type=st.sampled_from(KINDS),
    authors=st.lists(NAMES, max_size=3).map(tuple),
    editors=st.lists(NAMES, max_size=2).map(tuple),
    translators=st.lists(NAMES, max_size=1).map(tuple),
    others=st.frozensets(st.sampled_from(("author", "editor", "translator"))),
    pages=st.none() | st.builds(Pages, first=TEXTS, last=TEXTS, text=TEXTS),
    issued=st.none() | DATES,
    accessed=st.none() | DATES,
    original_date=st.none() | DATES,
    unread=st.lists(st.tuples(st.sampled_from(LABELS), TEXTS), max_size=2).map(tuple),
    **dict.fromkeys(FREE, TEXTS),
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """Draw a record of any text; its fields are stretches between white space, of any labels."""
    pieces = draw(st.lists(TEXTS.filter(lambda text: bool(text) and not text.isspace()), max_size=5))
    fields, text = [], ""
    for piece in pieces:
        label, gap = draw(st.sampled_from(LABELS)), draw(st.sampled_from(("", " ", "\n")))
        fields.append(Field(label, piece, len(text), len(text) + len(piece), draw(st.floats(0, 1))))
        text += piece + gap
    return Record(text, tuple(fields), draw(st.floats(0, 1)), None)


def one_line(text: str) -> str:
    """Return the words of a text with U+FFFD for controls, surrogates and non-characters of the first plane."""
    unfit = {*range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF}
    fit = (
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cs") or ord(c) in unfit else c for c in " ".join(text.split())
    )
    return "".join(fit)


def record_of(*pieces: tuple[str, str], confidence: float = 0.9) -> Record:
    """Return the record whose fields are these (label, text), one space between them."""
    fields, text = [], ""
    for label, piece in pieces:
        fields.append(Field(label, piece, len(text), len(text) + len(piece), confidence))
        text += piece + " "
    return Record(text, tuple(fields), confidence, None)


THESIS = Work(
    type="thesis",
    authors=(Name("Andersen", "L. O."),),
    title="Program Analysis and Specialization for the C Programming Language",
    issued=Date(((1994, 5),)),
    institution="DIKU, University of Copenhagen",
    genre="PhD thesis",
)
ARTICLE = Work(
    type="article-journal",
    authors=(Name("Berg", "Jan", "van der", "Jr."), Name(literal="The ACME & Sons Group"), Name("Müller", "K.-H.")),
    others=frozenset({"author"}),
    title="Why DNA folds: A Bayesian study",
    container_title="Journal of Strange & Rare Results",
    volume="12",
    issue="3",
    pages=Pages("101", "108", "101-108"),
    issued=Date(((2003, 3, 12),)),
    doi="10.1000/a_b(1)",
    url="https://example.org/a?b=1&c={2}",
    issn="1234-5679",
)
CHAPTER = Work(
    type="chapter",
    authors=(Name("Ortega y Gasset", "José"),),
    editors=(Name("Smith", "A."), Name("Jones", "B.")),
    title="On nothing",
    container_title="Handbook of Everything",
    collection_title="Lecture Notes in Vacuity",
    pages=Pages("12", "15", "12-15, 20"),
    issued=Date(((1999,),), season=1, circa=True),
    edition="2nd",
    publisher="Void Press",
    location="New York",
    isbn="9780306406157",
)
