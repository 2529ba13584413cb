"""Pages of the web, documents of Word, LaTeX and plain text become lines; what is broken or hostile is refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.documents.lines import PrintedText
from espalier.documents.reading import kind_of, read_document
from espalier.documents.reading.docx import read_docx
from espalier.documents.reading.html import read_html
from espalier.documents.reading.latex import read_latex
from espalier.documents.reading.plain import read_plain
from espalier.errors import InputError


def shown(text: PrintedText) -> list[tuple[str, str]]:
    return [(line.hint, line.text) for line in text.lines]


HTML = """<!DOCTYPE html><html><head><title>Wires</title><style>p {color: red}</style>
<script>var x = "<p>no</p>";</script></head><body>
<nav><ul><li><a href="/">Home</a></li><li>News</li></ul></nav>
<h2>References</h2>
<ol>
<li id="a">Smith&nbsp;J. <i>Soil
 salts</i>. 2004;12(4):33&ndash;9. <a href="x">[CrossRef]</a> <a href="y">Google Scholar</a></li>
<li>Jones A. <b>Water</b>. 2001. <a href="https://doi.org/10.1/x">10.1/x</a>
<li>M&uuml;ller K. Open item
</ol>
<div hidden><p>never shown</p><div>nor this</div></div><p style="display: none">no</p>
<p>One<br>two</p><table><tr><td>a</td><td>b</td></tr></table>
<aside role="doc-footnote"><p>Vgl. Smith 2004.</p></aside>
</body></html>"""


def test_a_page_of_the_web() -> None:
    assert shown(read_document(HTML.encode(), "page.html")) == [
        ("", "Wires"),
        ("page", "Home"),
        ("page", "News"),
        ("heading", "References"),
        ("item", "Smith J. Soil salts. 2004;12(4):33–9."),
        ("item", "Jones A. Water. 2001. 10.1/x"),
        ("item", "Müller K. Open item"),
        ("", "One"),
        ("", "two"),
        ("", "a b"),
        ("note", "Vgl. Smith 2004."),
    ]


def test_encodings_of_pages() -> None:
    page = '<html><meta charset="iso-8859-1"><p>Müller'
    assert shown(read_html(page.encode("latin-1"))) == [("", "Müller")]
    assert shown(read_html("<html><p>Müller".encode("utf-16"))) == [("", "Müller")]
    guessed = read_html("<html><p>Müller".encode("cp1252"))
    assert shown(guessed) == [("", "Müller")]
    assert guessed.warnings == ("the file is not utf-8: it is read as cp1252",)


def test_a_page_without_text_is_refused() -> None:
    with pytest.raises(InputError, match="shows no text: it is probably filled by scripts; save the page as PDF"):
        read_html(b"<html><script>fill()</script></html>", "app.html")


def docx(body: str, **parts: str) -> bytes:
    file = io.BytesIO()
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="mc"'
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", f"<w:document {space}><w:body>{body}</w:body></w:document>")
        for name, notes in parts.items():
            packed.writestr(f"word/{name}.xml", f"<w:{name} {space}>{notes}</w:{name}>")
    return file.getvalue()


def paragraph(*runs: str, style: str = "") -> str:
    return f"<w:p><w:pPr>{style}</w:pPr>" + "".join(f"<w:r><w:t>{run}</w:t></w:r>" for run in runs) + "</w:p>"


def test_a_document_of_word() -> None:
    number = '<w:numPr><w:ilvl w:val="0"/></w:numPr>'
    body = (
        paragraph("Refer", "ences", style='<w:pStyle w:val="Heading1"/>')
        + paragraph("Smith J. ", "Soil &amp; salts.", style=number)
        + "<w:p><w:r><w:lastRenderedPageBreak/><w:t>Next page</w:t><w:br/><w:t>next line</w:t></w:r></w:p>"
        + "<w:p><w:r><w:instrText>ADDIN EN.CITE</w:instrText></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del></w:p>"
        + "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Bold</w:t></w:r><w:r><w:tab/><w:t>x</w:t></w:r></w:p>"
    )
    notes = "<w:footnote>" + paragraph("Vgl. Smith 2004.") + "</w:footnote>"
    found = read_document(docx(body, footnotes=notes), "paper.docx")
    assert shown(found) == [
        ("heading", "References"),
        ("item", "Smith J. Soil & salts."),
        ("", "Next page"),
        ("", "next line"),
        ("", "Bold x"),
        ("note", "Vgl. Smith 2004."),
    ]
    assert [line.page for line in found.lines] == [1, 1, 2, 2, 2, 2]
    assert [line.bold for line in found.lines] == [False, False, False, False, True, False]
    assert found.kind == "DOCX"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (docx(paragraph("x" * 5000) * 4)[:-40], "is damaged or encrypted"),
        (docx(""), "has no text"),
        (docx("<w:p>").replace(b"PK\x01\x02", b"PK\x09\x09"), "is damaged or encrypted"),
        (docx("<w:p>"), "is damaged: line 1 of a part is no XML"),
    ],
    ids=["cut off", "empty", "directory", "xml"],
)
def test_damaged_documents_of_word(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        read_docx(data, "paper.docx")
    assert str(caught.value).startswith("paper.docx ")
    assert caught.value.hint


def test_bombs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("espalier.documents.reading.docx.MOST_BYTES", 1 << 20)
    with pytest.raises(InputError, match="unpacks to more than 1 MB"):
        read_docx(docx(paragraph("a" * (2 << 20))))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("word/document.xml", '<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY c "&b;&b;">]><a>&c;</a>')
    with pytest.raises(InputError, match="declares entities"):
        read_docx(file.getvalue())


LATEX = r"""\documentclass{article}
\newcommand{\x}{y}
\begin{document}
\section{On \emph{Wires}}
Text about $\alpha$ wires~\cite{a}. % a remark
\begin{equation} x = y \end{equation}

More text.
\begin{thebibliography}{99}
\bibitem{a} D.~E. Knuth, \newblock {\em The {\TeX}book}, 1984,
pp.~1--20.
\bibitem[\protect\citeauthoryear{M{\"u}ller}{2001}]{b:c}
  M{\"u}ller, K. \href{https://a.b/%20}{Water}. 2001.

\end{thebibliography}
\end{document}
"""


def test_latex() -> None:
    assert shown(read_document(LATEX.encode(), "paper.tex")) == [
        ("heading", "On Wires"),
        ("", "Text about α wires ."),
        ("", "More text."),
        ("heading", "References"),
        ("item", "D. E. Knuth, The TeXbook, 1984, pp. 1–20."),
        ("item", "Müller, K. Water. 2001."),
    ]


def test_a_bbl_file_and_bare_items() -> None:
    bare = read_document(b"\\bibitem{a} One.\n\n\\bibitem{b}\nTwo.\n", "x")
    assert shown(bare) == [("item", "One."), ("item", "Two.")]
    with pytest.raises(InputError, match=r"was made by BibLaTeX .*; give the \.bib file"):
        read_latex(b"\\refsection{0}\n\\datalist[entry]{nty}\n\\entry{a}{book}{}\n", "x.bbl")
    found = read_latex(b"\\documentclass{article}\\begin{document}Text.\\bibliography{refs,more}\\end{document}")
    assert found.warnings == ("its references are in another file: refs.bib, more.bib",)


def test_plain_text_has_pages_and_keeps_its_layout() -> None:
    found = read_document("\ufeffone\r\n\n  two\fthree\u2028four".encode(), "x.txt")
    assert [(line.page, line.text) for line in found.lines] == [
        (1, "one"),
        (1, ""),
        (1, "  two"),
        (2, "three"),
        (2, "four"),
    ]
    assert found.text == "one\n\n  two\fthree\nfour"
    with pytest.raises(InputError, match="is no document that can be read"):
        read_document(b"\x89PNG\0\0\0", "x.png")
    with pytest.raises(InputError, match=r"x\.docx: the name says DOCX, but the content is something else"):
        read_document(b"one", "x.docx")
    with pytest.raises(InputError, match="is marked as utf-16, and is not"):
        read_plain(b"\xff\xfea", "x")


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"%PDF-1.4", "x", "PDF"),
        (docx("x"), "x", "DOCX"),
        (b"<!doctype HTML>", "x", "HTML"),
        (b"<p>x", "x.htm", "HTML"),
        (b"Smith <p> 2004", "x.txt", "text"),
        (b"\\bibitem{a}", "x.txt", "LaTeX"),
        (b"the \\bibitem command", "x.txt", "text"),
    ],
)
def test_the_kind_of_a_file(data: bytes, name: str, kind: str) -> None:
    assert kind_of(data, name).name == kind


PIECES = st.sampled_from(
    [
        *("<p", ">", "<li>", "</li>", "<!--", "-->", "<script>", "</script>", "&amp;", "&#x", "<div hidden>", "</div>"),
        *("\\bibitem", "{", "}", "[", "]", "\\begin{thebibliography}", "\\end{thebibliography}", "%", "$", "\\"),
        *("\n\n", "\\section{", "a", "é", " ", "\0", "\f", '"', "=", "<nav>", "</nav>", "</a>", "<a>"),
    ]
)


@pytest.mark.parametrize("read", [read_html, read_latex, read_plain])
@settings(max_examples=150, deadline=None)
@given(text=st.lists(PIECES, max_size=30).map("".join))
def test_any_text_gives_lines_or_an_error(read: Callable[[bytes], PrintedText], text: str) -> None:
    try:
        found = read(text.encode())
    except InputError:
        return
    assert found.text.count("\n") <= len(found.lines)
    for line in found.lines:
        assert found.text[line.start : line.end] == line.text
