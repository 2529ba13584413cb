"""Bibliographies and documents: entries or lines, or an error of ours that names the file, in time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fuzzing import Campaign, attempt
from hypothesis import strategies as st
from mutations import LONGEST, damaged, damaged_bytes

from espalier.citations.bibliographies import BIBLIOGRAPHIES, read_entries
from espalier.citations.formats import FORMATS
from espalier.documents.lines import PrintedText
from espalier.documents.reading.html import read_html
from espalier.documents.reading.latex import read_latex
from espalier.documents.reading.plain import read_plain
from espalier.errors import FormatError, InputError

BIBTEX = """@string{cj = "The Computer " # {Journal}}
@article{a, author = {Ann Elm and {The Group} and de Vries, Jan}, title = "On {W}alls", journal = cj,
  month = mar # "~2", year = 1984, pages = {1--9}, doi = {10.1000/x}}
@inproceedings{b, crossref = {p}, title = {G{\\"o}del \\href{http://a.b}{c}}, howpublished = {\\url{http://x.y}}}
@proceedings{p, title = {All}, year = {1990/1991}, editor = {Bob Oak and others}}
"""
RIS = (
    "TY  - JOUR\nAU  - Elm, Ann\nT1  - Walls\nPY  - 1984/03/02/\nSP  - 1\nEP  - 9\nN1  - author: et al.\nmore\nER  - \n"
)
NBIB = "PMID- 1\nFAU - Elm, Ann\nTI  - Walls and\n      more.\nDP  - 1984 Mar\nPG  - 1-9\nLID - 10.1000/x [doi]\n"
REFER = "%0 Journal Article\n%A Elm, Ann\n%T Walls\nmore\n%D 1984\n%P 1-9\n\n%0 Book\n%T B\n%@ 0-19-852663-6\n"
ENDNOTE = """<?xml version="1.0" encoding="UTF-8"?><xml><records><record><ref-type name="Book">6</ref-type>
<contributors><authors><author><style>Elm, Ann</style></author></authors></contributors>
<titles><title>Walls &amp; wires</title></titles><dates><year>1984</year></dates>
<isbn>0-19-852663-6</isbn></record></records></xml>"""
MODS = """<mods ID="a"><titleInfo><title>Walls</title></titleInfo><name><namePart type="family">Elm</namePart></name>
<relatedItem type="host"><titleInfo><title>All</title></titleInfo><part><extent><start>1</start><end>9</end></extent>
</part></relatedItem><originInfo><dateIssued>1984</dateIssued></originInfo></mods>"""
CSL = """[{"id": "a", "type": "book", "title": "Walls", "author": [{"family": "Elm", "given": "Ann"}, {"literal": "G"}],
"issued": {"date-parts": [[1984, 3], [1985]], "season": "2"}, "page": "1-9", "custom": {"unread": [["a", "b"]]}}]"""
VALID = {"bibtex": BIBTEX, "ris": RIS, "nbib": NBIB, "refer": REFER, "endnote": ENDNOTE, "mods": MODS, "csl": CSL}

HTML = """<!DOCTYPE html><html><head><title>W &amp; W</title><style>p {}</style></head><body class="a"><!-- no -->
<h2>References
</h2><ol><li id='a'>Elm A. <i>Walls</i>. 1984;1:2&ndash;9. <a href="x">[CrossRef]</a><li hidden>no</ol>
<script>if (a < b) "</p>"</script><footer><p role="doc-footnote">Vgl. Elm 1984.</footer></body></html>"""
LATEX = r"""\documentclass{article}
\begin{document}\section[short]{On \emph{W}} % no
Text~\cite{a} \begin{equation} x \end{equation}

\begin{thebibliography}{9}\bibitem[\protect\citeauthoryear{M{\"u}ller}{2001}]{b} M{\"u}ller, \href{http://a.b}{W}. 2001.
\end{thebibliography}\end{document}"""
TEXT = "References\n\n[1] Elm, A. (1984). Walls.\f[2] Oak, B. (1990). Wires.\u2028More.\r\n"
DOCUMENTS: dict[str, tuple[Callable[[bytes, str], PrintedText], str]] = {
    "html": (read_html, HTML),
    "latex": (read_latex, LATEX),
    "text": (read_plain, TEXT),
}


def test_every_bibliography_has_a_valid_file() -> None:
    assert set(VALID) == {row.name for row in BIBLIOGRAPHIES if not row.refused}
    assert all(list(read_entries(text, "file")) for text in VALID.values())


@pytest.mark.parametrize("format", VALID)
def test_damaged_bibliographies(campaign: Campaign, format: str) -> None:
    def accepts(text: str) -> bool:
        refused: list[FormatError] = []
        entries, refusal = attempt(lambda: list(read_entries(text, "some.file", refused)), FormatError)
        if entries is None:
            assert refusal.startswith("some.file")
            assert len(refusal) < 1000
            return False
        for entry in entries[:3]:
            for name in FORMATS:
                entry.to(name)
        return bool(entries) and not refused

    campaign.fuzz(f"bibliography, {format}", damaged([VALID[format]], longest=LONGEST), accepts)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_damaged_documents(campaign: Campaign, kind: str) -> None:
    reader, text = DOCUMENTS[kind]

    def accepts(data: bytes) -> bool:
        printed, refusal = attempt(lambda: reader(data, "some.file"), InputError)
        if printed is None:
            assert refusal.startswith("some.file")
            return False
        assert all(printed.text[line.start : line.end] == line.text for line in printed.lines)
        return True

    texts = damaged([text], longest=LONGEST).map(lambda found: found.encode("utf-8", "surrogatepass"))
    campaign.fuzz(f"document, {kind}", st.one_of(texts, damaged_bytes([text.encode()])), accepts)
