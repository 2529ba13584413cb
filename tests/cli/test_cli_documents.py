"""`find` and `parse` of documents: places, formats, what is unsure, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest
from cli_runs import Espalier

from espalier.documents.reading import confined

REFERENCES = [
    "Smith AB, Jones C. Soil salts and the growth of wall fruit. Acta Hortic. 2004;12(4):33-9.",
    "Jones, C. (1999). Water works of the old gardens. Berlin: Springer.",
    "Müller, K. (2001). On espaliers and their pruning. Journal of Orchards, 3(2), 101-108.",
]
ITEMS = "".join(f"<li>{text}</li>" for text in REFERENCES)
PAGE = (
    f"<html><body><h1>On walls</h1><p>Walls are warm (Smith 2004).</p><h2>References</h2><ol>{ITEMS}</ol></body></html>"
)
LATEX = (
    "\\documentclass{article}\\begin{document}Text.\n\\begin{thebibliography}{9}\n"
    + "\n".join(f"\\bibitem{{k{i}}} {text}" for i, text in enumerate(REFERENCES)).replace("ü", '{\\"u}')
    + "\n\\end{thebibliography}\\end{document}"
)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_find_gives_a_line_for_each_reference(espalier: Espalier, page: Path) -> None:
    done = espalier("find", page)
    assert (done.code, done.out.splitlines()) == (0, REFERENCES)
    done = espalier("find", "-", stdin=PAGE)
    assert done.out.splitlines() == REFERENCES


def test_find_tells_the_place(espalier: Espalier, page: Path, tmp_path: Path) -> None:
    rows = json.loads(espalier("find", page, "-f", "json").out)
    assert [row["text"] for row in rows] == REFERENCES
    assert rows[0] | {"confidence": 0} == {
        "text": REFERENCES[0], "file": str(page), "page": 1, "line": 4, "start": 49, "end": 49 + len(REFERENCES[0]),
        "confidence": 0,
    }  # fmt: skip
    assert all(0 < row["confidence"] <= 1 for row in rows)
    out = tmp_path / "found.jsonl"
    assert espalier("find", page, "-o", out).code == 0
    assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == rows
    done = espalier("find", page, "-f", "xml")
    assert (done.code, "unknown format 'xml'" in done.err) == (2, True)


def test_parse_finds_first(parse: Any, page: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in parse(page).out.splitlines()]
    assert [row["text"] for row in rows] == REFERENCES
    assert rows[1]["source"]["file"] == str(page)
    assert rows[1]["source"]["page"] == 1
    shown = parse(page, "-f", "table")
    assert re.search(rf" {page}(, cut|$)", shown.out, re.MULTILINE)  # no page, and no line that an editor counts
    assert parse(page, "-f", "bibtex").out.count("@") == 3
    tex = tmp_path / "paper.tex"
    tex.write_text(LATEX, encoding="utf-8")
    assert [json.loads(line)["text"] for line in parse(tex).out.splitlines()] == REFERENCES


def test_files_of_a_folder_that_are_not_read_are_counted(espalier: Espalier, page: Path, tmp_path: Path) -> None:
    for name in ("x.xyz", "sub/y.dat", ".hidden", ".git/z.dat"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Nothing.", encoding="utf-8")
    code, out, err = espalier("find", tmp_path)
    assert (code, out.splitlines()) == (0, REFERENCES)
    first = tmp_path / "sub" / "y.dat"
    said = f"files in folders that were left out because of their kind: 2, such as {first}"
    assert err == f"espalier: {said}; to read such a file, give its name\n"
    assert espalier("find", page).err == ""


def test_a_folder_of_documents(espalier: Espalier, page: Path, tmp_path: Path) -> None:
    (tmp_path / "b.tex").write_text(LATEX, encoding="utf-8")
    (tmp_path / "c.html").write_text("<html><p>Nothing is cited here at all.</p></html>", encoding="utf-8")
    (tmp_path / "d.pdf").write_bytes(b"%PDF-1.4\nnot really")
    done = espalier("find", tmp_path)
    assert done.code == 1
    assert done.out.splitlines() == [*REFERENCES, *REFERENCES]
    lines = done.err.splitlines()
    hint = "if it has references, copy them into a text file"
    assert f"espalier: {tmp_path / 'c.html'}: no list of references was found; {hint}" in lines
    assert any("d.pdf" in line and "damaged" in line for line in lines)
    expected = "espalier: references found: 6; files without references, or not read to the end: 2 (named above)"
    assert lines[-1] == expected


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.pdf", b"%PDF-1.4\nnot really", "damaged"),
        ("a.docx", b"PK\x03\x04word/document.xml", "a.docx is damaged or encrypted"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1", "this is an old .doc, not text; save it as PDF or DOCX"),
        (
            "a.bbl",
            b"\\refsection{0}\\entry{a}{book}{}",
            "made by BibLaTeX and holds fields, not references; give the .bib",
        ),
        ("a.html", b"<html><script>x</script></html>", "shows no text: it is probably filled by scripts"),
        ("a.zip", b"PK\x03\x04word", "a.zip is no document that can be read"),
        (
            "a.docx",
            b"Smith, J. (1999). On pears. Acta, 1, 2-3.",
            "a.docx: the name says DOCX, but the content is something else; if it is text, rename it to .txt and",
        ),
        ("A.PDF", b"Smith, J. (1999). On pears. Acta, 1, 2-3.", "A.PDF: the name says PDF, but the content is"),
        ("a.odt", b"Smith, J. (1999). On pears. Acta, 1, 2-3.", "a.odt: the name says ODT, but the content is"),
    ],
)
def test_bad_documents_are_one_line(espalier: Espalier, tmp_path: Path, name: str, data: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    done = espalier("find", path)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1
    assert done.err.count(name) == 1


def test_pasted_lines_in_a_layout_that_says_nothing(espalier: Espalier, parse: Any) -> None:
    wrapped = "\n".join("\n".join(wrap(text, 48)) for text in REFERENCES)
    assert espalier("find", "-", stdin=f"References\n{wrapped}\n").out.splitlines() == REFERENCES
    rows = [json.loads(line) for line in parse("-", stdin=f"References\n{wrapped}\n").out.splitlines()]
    assert [row["text"] for row in rows] == REFERENCES


def test_places_of_pasted_lines_are_lines_unless_there_are_pages(parse: Any, tmp_path: Path) -> None:
    paste, wrapped = tmp_path / "paste.txt", [wrap(text, 48) for text in REFERENCES]
    paste.write_text("\n".join(["References", *(line for one in wrapped for line in one)]) + "\n", encoding="utf-8")
    starts = [2, 2 + len(wrapped[0]), 2 + len(wrapped[0]) + len(wrapped[1])]
    assert re.findall(r"paste\.txt(\S*)", parse(paste, "-f", "table").out) == [f":{line}" for line in starts]
    paste.write_text(paste.read_text("utf-8").replace(wrapped[2][0], "\f" + wrapped[2][0]), encoding="utf-8")
    assert re.findall(r"paste\.txt(, page \d|\S*)", parse(paste, "-f", "table").out) == [", page 1"] * 2 + [", page 2"]


def test_a_heading_is_no_record(espalier: Espalier) -> None:
    listed = "\n".join(
        [*REFERENCES, "Pohl, A. (1998). Dams and the rivers that they hold. Nature of Water, 12(3), 1-9."]
    )
    for heading in ("References", "LITERATURVERZEICHNIS", "Works Cited"):
        assert espalier("find", "-", stdin=f"{heading}\n{listed}\n").out == f"{listed}\n"


def test_an_unsure_cut_is_told(espalier: Espalier, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("espalier.documents.sources._UNSURE", 1.1)
    done = espalier("find", page)
    assert f"references that may begin or end at the wrong place: 3 of 3, such as at {page} (" in done.err
    assert done.code == 0


def test_unsure_cuts_are_named_the_first_few(
    espalier: Espalier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("espalier.documents.sources._UNSURE", 1.1)
    path = tmp_path / "a.txt"
    path.write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    said = "references that may begin or end at the wrong place:"
    assert f"{said} 3 of 3, at {path}:1; {path}:2; {path}:3 (" in espalier("find", path).err
    path.write_text("\n".join(3 * REFERENCES) + "\n", encoding="utf-8")
    places = "; ".join(f"{path}:{line}" for line in range(1, 6))
    assert f"{said} 9 of 9, such as at {places} (" in espalier("find", path).err


NOTES = [
    "Vgl. Plum, Anna: Vom Schnitt der alten Bäume, Ely 1990, S. 12.",
    "Ebd., S. 13.",
    "Das ist hier nicht weiter zu verfolgen.",
    "Quitte, Bernd: Die Mauer und ihr Schatten, Berlin: Apfel 2004, S. 7.",
    "Zeder, Carl: Nadeln und Zapfen, München: Wald 1999, S. 90.",
]


def test_lines_that_are_no_reference_are_told(espalier: Espalier, parse: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("\n".join(f"{k} {text}" for k, text in enumerate(NOTES, 1)) + "\n", encoding="utf-8")
    said = f"espalier: lines that are no reference: 1, at {path}:3\n"
    done = espalier("find", path)
    assert (done.code, done.out.count("\n"), said in done.err) == (0, 4, True)
    assert said in parse(path).err
    path.write_text(path.read_text("utf-8").replace("2 Ebd.", "\f2 Ebd."), encoding="utf-8")
    assert said in espalier("find", path).err
    path.write_text("\n".join(f"{k} {text}" for k, text in enumerate(NOTES * 8, 1)) + "\n", encoding="utf-8")
    done = espalier("find", path)
    places = ", ".join(f"{path}:{line}" for line in range(3, 28, 5))
    assert f"lines that are no reference: 8, such as at {places}\n" in done.err


def test_a_list_that_is_read_line_by_line_is_tidy(parse: Any, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    note = (
        'See Mary Rowan, "On Walls in Bed," The Gardener, March 3, 2015, https://www.thegardener.com/walls-bed; '
        "and Albert Medlar, A History of Pruning (New York: Viking, 1996), 149-61."
    )
    lines = ["Plum, Anna. The Wall at Night. Ely: Yale, 2008.", "———. A History of Walls. Ely: Viking, 1996.", note]
    path.write_text(
        "\n".join(f"{k}. {text}" for k, text in enumerate([*lines, *REFERENCES], 1)) + "\n", encoding="utf-8"
    )
    rows = [json.loads(line) for line in parse(path).out.splitlines()]
    assert [row["text"] for row in rows[:4]] == [
        f"1. {lines[0]}", "2. Plum, Anna. A History of Walls. Ely: Viking, 1996.",
        f"3. {note[4:note.index(';')]}", note[note.index("Albert"):],
    ]  # fmt: skip
    assert ["filled" in row["source"] for row in rows] == [False, True, *[False] * 5]
    kept = parse(path, "--input", "lines").out.splitlines()
    assert [json.loads(line)["text"] for line in kept[1:3]] == [f"2. {lines[1]}", f"3. {note}"]


def test_without_the_extra(espalier: Espalier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "BEGIN", "import sys; sys.modules['pypdfium2'] = None; " + confined.BEGIN)
    confined.close()
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.4\n")
    done = espalier("find", path)
    assert done.code == 2
    assert "[documents]" in done.err
    confined.close()
