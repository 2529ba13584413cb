"""From a marked rendering to labels: every word belongs to the variable of the style that printed it.

`render.js` puts marks around the output of every node of a style. The innermost node that prints a variable labels its
words. Words outside all variables (`In`, `pp.`, `Available at`) are *cues*: they go to the next variable of the
innermost group around them that has one, else to the one before; some speak for themselves (`n.d.`, `in press`, `PhD
thesis`). The scheme `csl` names the labels of variables, and `Scheme.convert` gives every mark to the field that it
ends or begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from espalier.citations.schemes import load_scheme
from espalier.document import Document, Span

OPEN, CLOSE, ZERO, BASE = "\ue000", "\ue001", 0xE010, 1000
ROLES = {"\ue004": "author", "\ue005": "editor", "\ue006": "translator"}
PRINTS = frozenset({"text", "number", "date", "names", "label"})
"""The nodes that print a variable; `if` and `group` only ask for one."""

WORD = re.compile(r"[\w№§#]+")
INSTITUTIONS = frozenset({"thesis", "report"})
"""The kinds of work whose publisher awards a degree or issues a report."""

TERMS = {
    **{"no date": "issued", "no-place": "publisher-place", "no-publisher": "publisher", "online": "medium"},
    **dict.fromkeys(("in press", "forthcoming", "submitted"), "status"),
    **dict.fromkeys(("anonymous", "and others"), "author"),
}
PHRASES = (
    ("issued", r"n\W*d|s\W*d|o\W*j|s\W*a|undated|no date|sin fecha|sem data|б\W*г"),
    (
        "publisher-place",
        r"s\W*l|n\W*p|o\W*o|б\W*м|b\W*m|s\W*l\W*s\W*n|place unknown|lugar de publicación no identificado",
    ),
    ("publisher", r"s\W*n|б\W*и|publisher unknown"),
    ("author", r"anon(?:ymous|yme?|imo|iem)?"),
    (
        "status",
        r"in press|forthcoming|to appear|im druck|im erscheinen|sous presse|en prensa|in stampa|no prelo|в печати",
    ),
)
GENRES = re.compile(
    r"""(?xi) \b(?:
        thes[ei]s | diss(?:ertation)? | th[èe]se | tesi[sn]? | tese | disserta[çt]\w+ | mémoire | habilitation\w* |
        ph\.?\ ?d | doctoral | proefschrift | praca\ (?:doktorska|magisterska) | rozprawa | диссертация | автореф\w* |
        学位论文 | 博士論文 | 博士论文 |
        (?:technical\ |tech\.?\ |research\ )?rep(?:ort|\.) | rapport | bericht | informe |
        relatório | rapporto | raport | отчет | working\ paper | discussion\ paper | press\ release | patent\w* |
        brevet\w* | патент | 专利 | 特許 | data\ ?set | datensatz | jeu\ de\ données | (?:computer\ )?software |
        computer\ program | logiciel | mobile\ app | web\ ?(?:page|site) | página\ web | site\ web | online | on-line |
        en\ ligne | en\ línea | in\ linea | электронный\ ресурс | elektronische\ ressource | internet | manuscript\w* |
        preprint | blog\ post | newspaper | magazine | motion\ picture | film | dvd | video | podcast | map | poster |
        lecture | standard | norm | vortrag
    )\b | ^\W*(?:web|print)\W*$"""
)
NO_GENRE = re.compile(
    r"""(?xi) available | retrieved | access | https? | presented | conference | proceedings | published |
        \bfrom\b | \bin$ | \bat$ | verfügbar | disponib | abgerufen"""
)
ARCHIVES = re.compile(r"(?i)^\W*(?:arxiv|(?:hep|cond|astro|gr|math)-?[a-z]*/\d|\d{4}\.\d{4})")
"""Numbers of preprints are notes, and so is their archive: AnyStyle has them there."""

WITHIN = re.compile(r"(?i)in|en|dans|em|w|в|收入|所収")
HOLDERS = frozenset({"container-title", "collection-title", "editor", "container-author"})
"""What announces the work that holds this one, and what of it may come: even where a style has both in two groups, as
in `pp. 63-79 in Proceedings`."""

EDITIONS = re.compile(r"(?i)ed|edn|edition|édition|éd|edición|edizione|edição|aufl|auflage|druk|wyd|изд|版")
PAGES = re.compile(r"(?i)pp?|pages?|s|str|стр|с|页|頁")

_LIST_ENDS = re.compile(r"(?:,?\s*[(\[][^()\[\]]*[)\]])?[,;.]*\s*")
_NEXT_FAMILY = re.compile(r"[\w'’-]+$")
KEY = re.compile(r"\[[^\[\]]{2,40}\](?=\W)")
"""A key that is made of a name and a year, in brackets before everything else: [Heath 1978]."""

LETTERS = re.compile(r"(?:M|J|D|C|N|R|P|S|Z|A|DB|CP|EB|PP)(?:/(?:OL|CD|MT|DK))?")
"""What kind of work it is, in brackets, by the Chinese standard: [M], [EB/OL]."""

LEADS = re.compile(r"(?:^|(?<=[\s(\[]))(?:[«„‹]\s?|»)$|[「『《〈]$")
"""An opening quotation mark that needs care, just before a word: a blank is behind it, or it may close as well."""


@dataclass(slots=True, eq=False)
class Node:
    """A node of the style, where it printed: text[start:end]."""

    name: str
    variable: str
    term: str
    value: str
    start: int
    parent: Node | None
    end: int = 0
    roles: list[tuple[int, str]] = field(default_factory=list)

    def label(self, place: int, text: str) -> str | None:
        """Return the variable that it prints at a place; of people, whom the marks in the data name.

        A node may print several lists of people: one ends with its role in brackets, or with a mark behind the name.
        """
        if self.name not in PRINTS or not self.variable:
            return None
        if self.name != "names" or not self.roles:
            return self.variable.split()[0]
        for (last, role), (first, other) in zip(self.roles, self.roles[1:], strict=False):
            if role != other and place < last + _list_end(text[last:first]):
                return role
        return self.roles[-1][1]


def _list_end(between: str) -> int:
    """Return where a list of people ends; between : from its last family name to the end of the first one of the next.

    If a mark stands before that one, family names come first: `Song J (Eds), Qi Y`; all before it is of this list.
    """
    before = _NEXT_FAMILY.sub("", between)
    if re.search(r"[,;)\]]\s*$", before):
        return len(before)
    ends = _LIST_ENDS.match(between)
    return ends.end() if ends is not None else 0


@dataclass(frozen=True, slots=True)
class Marked:
    """A rendering without its marks, and for every character the innermost node that printed it."""

    text: str
    nodes: Sequence[Node | None]


def read_marked(raw: str, nodes: Mapping[str, Mapping[str, str]]) -> Marked:
    """Take the marks out of a rendering; white space becomes single blanks."""
    text: list[str] = []
    owners: list[Node | None] = []
    inner: Node | None = None
    opened: list[Node] = []
    i = 0
    while i < len(raw):
        sign = raw[i]
        i += 1
        if sign == OPEN:
            id = (ord(raw[i]) - ZERO) * BASE + ord(raw[i + 1]) - ZERO
            i += 2
            inner = Node(**nodes.get(str(id), _UNKNOWN), start=len(text), parent=inner)
            opened.append(inner)
        elif sign == CLOSE:
            if inner is not None:
                inner.end, inner = len(text), inner.parent
        elif sign in ROLES:
            for node in _upward(inner):
                if node.name == "names":
                    node.roles.append((len(text), ROLES[sign]))
        elif sign.isspace() or sign in "\u200b\u2060\ufeff":
            if text and text[-1] != " ":
                text.append(" ")
                owners.append(inner)
        else:
            text.append(sign)
            owners.append(inner)
    while text and text[-1] == " ":
        text.pop()
        owners.pop()
    for node in opened:
        node.end = min(node.end or len(text), len(text))
    return Marked("".join(text), owners)


_UNKNOWN = {"name": "", "variable": "", "term": "", "value": ""}


def _upward(node: Node | None) -> list[Node]:
    """Return a node and all around it, the innermost first."""
    found = []
    while node is not None:
        found.append(node)
        node = node.parent
    return found


def label_marked(marked: Marked, kind: str) -> Document:
    """Return the reference with our labels; kind : what sort of work it is."""
    names = [_variable(node, place, marked.text) for place, node in enumerate(marked.nodes)]
    words = [list(match.span()) for match in WORD.finditer(marked.text)]
    labels = [_of_word(names, a, b) for a, b in words]
    for first, end in _cues(marked, words, labels):
        cue = _cue_label(marked, names, words[first][0], words[end - 1][1])
        labels[first:end] = [cue] * (end - first)
    labels = _other_dates([label or "other" for label in labels])
    key = KEY.match(marked.text)
    if key is not None:
        inside = [label for label, (_, end) in zip(labels, words, strict=True) if end <= key.end()]
        if {"author", "issued"} == set(inside):
            labels[: len(inside)] = ["citation-label"] * len(inside)
    return labelled(marked.text, [(a, b, label) for (a, b), label in zip(words, labels, strict=True)], kind)


def _variable(node: Node | None, place: int, text: str) -> str | None:
    """Return the variable that the innermost node prints that prints any."""
    labels = (one.label(place, text) for one in _upward(node))
    return next((label for label in labels if label is not None), None)


def _of_word(names: Sequence[str | None], a: int, b: int) -> str | None:
    """Return the variable that printed a word; one that was printed by two goes to the first."""
    return next((name for name in names[a:b] if name is not None), None)


def _cues(marked: Marked, words: Sequence[Sequence[int]], labels: Sequence[str | None]) -> list[tuple[int, int]]:
    """Return the runs of words outside all variables that one node printed."""
    runs: list[tuple[int, int]] = []
    for k, (a, _) in enumerate(words):
        if labels[k] is None:
            same = runs and runs[-1][1] == k and marked.nodes[words[k - 1][0]] is marked.nodes[a]
            ends = r"[;:)\]]\s" if words[k - 1][1] - words[k - 1][0] < 3 else r"[.;:)\]]\s"  # s. l., Ph. D.
            if same and not re.search(ends, marked.text[words[k - 1][1] : a]):
                runs[-1] = runs[-1][0], k + 1
            else:
                runs.append((k, k + 1))
    return runs


def _cue_label(marked: Marked, names: Sequence[str | None], a: int, b: int) -> str | None:
    """Return the variable that the words text[a:b] belong to, or None."""
    node, text = marked.nodes[a], marked.text
    if node is not None and node.name == "text" and node.term in TERMS:
        return TERMS[node.term]
    phrase = text[a:b]
    for variable, pattern in PHRASES:
        if re.fullmatch(rf"(?i)\W*(?:{pattern})\W*", phrase):
            return variable
    if LETTERS.fullmatch(phrase) and text[a - 1 : a] == "[" and text[b : b + 1] == "]":
        return "genre"
    if GENRES.search(phrase) and not NO_GENRE.search(phrase):
        return "genre"
    follows = next((names[i] for i in range(b, len(text)) if names[i] is not None and text[i].isalnum()), None)
    precedes = next((names[i] for i in range(a - 1, -1, -1) if names[i] is not None and text[i].isalnum()), None)
    if precedes == "edition" and EDITIONS.fullmatch(phrase):
        return "edition"
    for around in [*_upward(node), None]:
        low, high = (around.start, around.end) if around is not None else (0, len(text))
        after = next((names[i] for i in range(b, high) if names[i] is not None and text[i].isalnum()), None)
        before = next((i for i in range(a - 1, low - 1, -1) if names[i] is not None and text[i].isalnum()), None)
        if after == "URL" and before is not None and names[before] == "accessed":
            # Retrieved 5 May 2015, from http://...: AnyStyle leaves `from` with the date.
            return "URL" if re.search(r"[.;)\]]", text[before + 1 : a]) else "accessed"
        if after is not None and after not in ("citation-number", "citation-label"):
            return after
        if before is not None and not (follows in HOLDERS and WITHIN.fullmatch(phrase)):
            return "page" if PAGES.fullmatch(phrase) and names[before] != "number-of-pages" else names[before]
    return None


def _other_dates(labels: list[str]) -> list[str]:
    """Let a date of first publication with words be a note: (Original work published 1949), but 2001 [1953]."""
    found = list(labels)
    start = 0
    for k in range(1, len(labels) + 1):
        if k == len(labels) or labels[k] != labels[start]:
            if labels[start] == "original-date" and k - start > 1:
                found[start:k] = ["other-date"] * (k - start)
            start = k
    return found


_SCHEME = load_scheme("csl")


def labelled(text: str, words: Sequence[tuple[int, int, str]], kind: str) -> Document:
    """Return a reference whose words have variables of CSL for labels as one with ours."""
    spans: list[Span] = []
    for a, b, label in words:
        label = label if label in _SCHEME.labels else "other"
        if spans and spans[-1].label == label:
            spans[-1] = Span(spans[-1].start, b, label)
            continue
        lead = LEADS.search(text, spans[-1].end if spans else 0, a)
        spans.append(Span(a - (len(lead.group()) if lead else 0), b, label))
    document = _SCHEME.convert(Document.from_text(text, spans))
    return Document.from_text(text, [_settled(span, document, kind) for span in document.spans or ()])


def _settled(span: Span, document: Document, kind: str) -> Span:
    """Return a field under its last label: what form and kind of work decide."""
    label, text = span.label, document.text[span.start : span.end]
    if label == "doi" and re.search(r"https?\s*:|doi\.org/", text):
        label = "url"
    if label in ("genre", "publisher") and kind == "preprint" and ARCHIVES.search(text):
        label = "note"
    if label == "publisher" and kind in INSTITUTIONS and any(s.label == "genre" for s in document.spans or ()):
        label = "institution"
    return Span(span.start, span.end, label)
