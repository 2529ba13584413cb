"""A feature set for bibliographic references: general templates, small word lists, and the kinds of words in a chunk.

The word lists were written down from general knowledge, not taken from a data set. A *chunk* is a stretch of tokens up
to a full stop (unless after an initial), comma, semicolon, colon or quotation mark. Each token is told which lists have
a word in its chunk, in the one before and in the one after.
"""

from __future__ import annotations

from espalier.features.declare import Lexicon, SequenceCall, parse_templates
from espalier.features.fields import Template

__all__ = ["reference_templates"]

GENERAL = (
    "bias", "lower[-2,-1,0,1,2]", "shape[-1,0,1]", "fullshape", "prefix1-4", "suffix1-4", "length", "flags[-1,0,1]",
    "suffix2[-1,1]", "position5", "edge",
)  # fmt: skip
"""The default templates without their conjunctions, which cost accuracy on a few hundred references."""

LISTS = {
    "month": "January February March April May June July August September October November December "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Spring Summer Fall Autumn Winter",
    "publisher": "Press Publishers Publishing Springer Springer-Verlag Verlag Wiley Elsevier Kaufmann Addison-Wesley "
    "Prentice Hall McGraw-Hill North-Holland Kluwer ACM IEEE AAAI MIT",
    "school": "University Univ Universitaet Institute Inst Department Dept Laboratory Laboratories Lab College School "
    "Center Centre Corporation Inc Research Faculty",
    "meeting": "Proceedings Proc Conference Conf Symposium Symp Workshop Congress Meeting Colloquium Annual "
    "International Intl Advances",
    "serial": "Journal Transactions Trans Letters Magazine Review Communications Bulletin Annals Archive Acta SIAM",
    "report": "Technical Tech Report Rep Memo TR thesis dissertation PhD Ph.D Master's Manuscript",
    "note": "appear submitted preparation press unpublished draft personal communication available http ftp "
    "forthcoming to",
    "editor": "editor editors ed eds edited",
    "volume": "vol volume no number issue part chapter",
    "pages": "pp pages page p",
    "place": "USA California CA Cambridge MA York NY London Berlin Germany England France Paris Canada Italy Japan "
    "Australia Boston Washington Chicago Amsterdam San Francisco Los Angeles Mateo Menlo Park Pittsburgh PA Austin "
    "Texas Seattle Netherlands Switzerland Spain Sweden Israel Edinburgh Oxford Heidelberg",
}


def reference_templates() -> tuple[Template, ...]:
    """Return the templates."""
    lexicons = [Lexicon(name, words.split()) for name, words in LISTS.items()]
    own = [f"lexicon:{name}[-1,0,1]" for name in LISTS]
    return parse_templates([*GENERAL, *own, "sequence:kinds"], [*lexicons, SequenceCall("kinds", chunk_kinds)])


def chunk_kinds(tokens: list[str]) -> list[list[str]]:
    """Return for each token which lists have words in its chunk, the one before and the one after."""
    borders = chunk_ends(tokens)
    chunks = [tokens[a:b] for a, b in zip([0, *borders[:-1]], borders, strict=True)]
    kinds = [sorted({kind for word in chunk for kind in KINDS.get(word.lower(), ())}) for chunk in chunks]
    rows: list[list[str]] = []
    for k, chunk in enumerate(chunks):
        row = [f"in={kind}" for kind in kinds[k]]
        row += [f"before={kind}" for kind in (kinds[k - 1] if k else ())]
        row += [f"after={kind}" for kind in (kinds[k + 1] if k + 1 < len(chunks) else ())]
        rows += [row] * len(chunk)
    return rows


def chunk_ends(tokens: list[str]) -> list[int]:
    """Return where each chunk ends; a chunk keeps the sign that ends it."""
    ends = []
    for t, token in enumerate(tokens):
        after_initial = t > 0 and len(tokens[t - 1]) == 1 and tokens[t - 1].isupper()
        if token in (",", ";", ":", '"', "``", "''") or (token == "." and not after_initial):
            ends.append(t + 1)
    return ends if ends and ends[-1] == len(tokens) else [*ends, len(tokens)]


def _kinds() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, words in LISTS.items():
        for word in {w.lower() for w in words.split()}:
            found[word] = (*found.get(word, ()), name)
    return found


KINDS = _kinds()
"""Lower-case word -> the lists it is in."""
