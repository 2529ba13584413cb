"""The type of a work, by which fields it has and by cue words in them.

Rules, first match: a thesis or a report says so; a preprint has an arXiv number or says so, and has no other
container; a container with the words of a meeting is a paper, unless it is one of the journals that are called
proceedings; a container with an editor, after an "In", or with a publisher and neither an issue nor the words of a
journal is a book with chapters; any other container is a journal. Without a container: what has a publisher, an
edition or an ISBN is a book, what has an institution is a report, what has only an address on the web is a web
page. All else is a document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from espalier.citations.normalise.lexicon import vocabulary
from espalier.citations.normalise.memory import remembered

__all__ = ["kind_of"]

_THESIS = re.compile(
    r"\b(?:ph\.? ?d\.?|doctoral|master'?s?|m\.?sc\.?|bachelor'?s?|diploma|licentiate)[\s.]*(?:thesis|dissertation)"
    r"|\b(?:thesis|dissertation|diss\b|habilitation|thèse|tesis|tese\b|tesi\b|mémoire|proefschrift"
    r"|(?:diplom|doktor|master|bachelor)arbeit)",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\b(?:tech(?:nical|n)?\b\.? (?:report|rep\b|memo\w*|note)|research (?:report|memorandum)|working paper|white paper"
    r"|discussion paper|bericht\b|rapport\b|rfc ?[0-9]|tr[ -]?[0-9]|report)",
    re.IGNORECASE,
)
_PREPRINT = re.compile(r"\b(?:arxiv|biorxiv|medrxiv|chemrxiv|psyarxiv|ssrn|preprint|e-?print)\b", re.IGNORECASE)
_MEETINGS = vocabulary(
    "proceedings proc conference conf symposium symp workshop congress meeting colloquium kongress tagung actes atti "
    "actas anais icml nips neurips sigmod vldb kdd aaai ijcai acl cvpr iccv focs stoc soda popl pldi"
)
_WORD = re.compile(r"\w+")
_JOURNAL_OF_PROCEEDINGS = re.compile(
    r"\bproc(?:eedings|\.)? (?:of )?(?:the )?(?:national academy|natl?\.? acad|royal|roy\.? soc|r\.? soc|ieee$"
    r"|ieee[,.]|american|amer\.? |am\.? |london|lond\.? |edinburgh|cambridge|camb\.? |aristotelian|biological|"
    r"institution|inst\.|nutrition|japan|vldb endowment)",
    re.IGNORECASE,
)
_JOURNAL = re.compile(
    r"\b(?:journal|transactions|letters|annals|quarterly|bulletin|magazine|zeitschrift|revue|revista|rivista)\b"
    r"|\b(?:j|trans|lett|ann|bull|rev|z)\.",
    re.IGNORECASE,
)
_BEFORE_BOOK = re.compile(r"\s*(?:in|en|em|dans)\s*:|\s*in\s+(?!(?:vitro|vivo|silico|situ|utero)\b)", re.IGNORECASE)
_TELLING = ("genre", "note", "publisher", "institution", "collection-title")  # labels whose words show a type


def kind_of(texts: Mapping[str, str], arxiv: bool = False) -> str:
    """Return the type of a work (`KINDS`) from the text of each label that it has; `arxiv`: it has such a number."""
    if container := texts.get("container-title", ""):
        return "report" if _REPORT.search(texts.get("genre", "")) else _kind_in(container, texts)
    said = " ".join([texts.get(label, "") for label in _TELLING])
    if _THESIS.search(said):
        return "thesis"
    if _REPORT.search(said):
        return "report"
    return "article" if arxiv or _is_preprint(said) else _kind_alone(texts)


def _is_preprint(text: str) -> bool:
    folded = text.casefold()
    return ("rxiv" in folded or "print" in folded or "ssrn" in folded) and _PREPRINT.search(text) is not None


def _kind_in(container: str, texts: Mapping[str, str]) -> str:
    kind = _shown_by(container)
    if kind and kind != "article-journal":
        return kind
    published = not kind and "publisher" in texts and "issue" not in texts
    return "chapter" if published or "editor" in texts else "article-journal"


@remembered(longest=100)
def _shown_by(container: str) -> str:
    """Return the type that a container shows by its own words, "" if it shows none."""
    if _is_preprint(container):
        return "article"
    if not _MEETINGS.isdisjoint(_WORD.findall(container.lower())) and not _JOURNAL_OF_PROCEEDINGS.search(container):
        return "paper-conference"
    if _BEFORE_BOOK.match(container):
        return "chapter"
    return "article-journal" if _JOURNAL.search(container) else ""


def _kind_alone(texts: Mapping[str, str]) -> str:
    if texts.keys() & {"publisher", "edition", "isbn"}:
        return "book"
    if "institution" in texts:
        return "report"
    if "volume" in texts and "pages" in texts:
        return "article-journal"
    if "location" in texts:
        return "book"
    return "webpage" if "url" in texts else "document"
