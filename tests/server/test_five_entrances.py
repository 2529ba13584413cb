"""The command line, Parser, the page, the server and `run` cut the same references out of the same texts and files."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

import espalier as es
from espalier.cli import main
from espalier.cluster.job import Settings
from espalier.cluster.plan import plan
from espalier.cluster.reading import open_records
from espalier.errors import InputError

WORKS = (
    "Plum, A. (1990). Wires and walls in old orchards: an account of twelve winters. Orchard Letters, 3(2), 12-15.",
    "Quince, B., & Medlar, C. (1991). A frame for fruit. Annals of Fruit, 7(1), 1-30.",
    "Rowan, D. (1992). On the pruning of old trees, with notes on the use of the saw. Ely: Medlar Press.",
    "Sloe, E., Thorn, F., & Wych, G. (1993). Hedges and what they keep out. Hedgerow Studies, 4, 77-91.",
    "Thorn, F. (1994). Mulch and soil. Ely: Medlar Press.",
)
NOTE = (
    'See Mary Rowan, "On Walls in Bed," The Gardener, March 3, 2015, https://www.thegardener.com/walls-bed; '
    "and Albert Medlar, A History of Pruning (New York: Viking, 1996), 149-61."
)
ITEMS = "".join(f"<li>{text}</li>" for text in WORKS)
LATEX = "\n".join(f"\\bibitem{{k{k}}} {text}" for k, text in enumerate(WORKS)).replace("&", "\\&")
DASHED = (WORKS[0], "———. (1991). A frame for fruit. Annals of Fruit, 7(1), 1-30.", *WORKS[2:])


def folded(text: str, width: int = 60) -> str:
    words, lines = text.split(), [""]
    for word in words:
        lines[-1:] = [f"{lines[-1]} {word}".strip()] if len(lines[-1]) + len(word) < width else [lines[-1], word]
    return "\n".join(lines)


TEXTS: dict[str, str] = {
    "one a line": "\n".join(WORKS),
    "a heading with a number": "7. References\n\n" + "\n".join(WORKS),
    "numbers": "\n".join(f"[{k}] {folded(text)}" for k, text in enumerate(WORKS, 1)),
    "a missing number": "\n".join(f"[{k + (k > 3)}] {folded(text)}" for k, text in enumerate(WORKS, 1)),
    "wrapped": "References\n" + "\n".join(map(folded, WORKS)),
    "blank lines": "\n\n".join(map(folded, WORKS)),
    "in one line": " ".join(WORKS),
    "dashes": "\n".join(f"{k}. {text}" for k, text in enumerate(DASHED, 1)),
    "a note": "\n".join(f"{k}. {text}" for k, text in enumerate((*WORKS, NOTE), 1)),
    "a short note": f"4. {NOTE}",
    "one": WORKS[0],
    "the same twice": f"{WORKS[4]}\n{WORKS[4]}\n",
    "pages": "\n".join(map(folded, WORKS[:3])) + "\f" + "\n".join(map(folded, WORKS[3:])),
}
FILES: dict[str, str] = {
    "page.html": f"<html><body><h1>Walls</h1><p>See Plum 1990.</p><h2>References</h2><ol>{ITEMS}</ol></body></html>",
    "paper.tex": f"\\documentclass{{article}}\\begin{{document}}x\n\\begin{{thebibliography}}{{9}}\n{LATEX}\n"
    "\\end{thebibliography}\\end{document}",
}
INPUTS = {**{f"{name.replace(' ', '-')}.txt": text for name, text in TEXTS.items()}, **FILES}


def by_command(path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> list[str]:
    assert main(["find", str(path), "-f", "jsonl"]) == 0
    return [json.loads(line)["text"] for line in capsysbinary.readouterr().out.decode().splitlines()]


def by_parser(path: Path) -> list[str]:
    return [record.text for record in es.parse_document(path)]


def by_page(path: Path, api: httpx.Client) -> list[str]:
    done = api.post("/tasks/citations/records/upload", params={"name": path.name}, content=path.read_bytes())
    assert done.status_code == 201, done.text
    records = [api.get(f"/tasks/citations/records/{id}").json() for id in done.json()["added"]]
    for record in records:
        api.delete(f"/tasks/citations/records/{record['id']}")
    return [record["text"] for record in records]


def by_server(path: Path, api: httpx.Client) -> list[str]:
    headers = {"Content-Type": "application/octet-stream"}
    done = api.post("/parse", params={"name": path.name}, content=path.read_bytes(), headers=headers)
    assert done.status_code == 200, done.text
    return [record["text"] for record in done.json()["records"]]


def by_run(path: Path) -> list[str]:
    settings = Settings((str(path),), "out", "citations", format="document")
    (partition,) = plan(settings)
    with open_records(partition, settings) as records:
        return [value for chunk in records.chunks for value in chunk.values]


@pytest.mark.parametrize("name", INPUTS)
def test_all_cut_alike(
    name: str, tmp_path: Path, api: httpx.Client, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / name
    path.write_text(INPUTS[name], encoding="utf-8")
    wanted = by_command(path, capsysbinary)
    assert wanted
    assert by_parser(path) == wanted
    assert by_server(path, api) == wanted
    assert by_run(path) == wanted
    assert by_page(path, api) == list(dict.fromkeys(wanted))  # the page keeps a text once


def test_pasted_text_is_cut_as_a_file_is(tmp_path: Path, api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in TEXTS.items():
        path = tmp_path / "pasted.txt"
        path.write_text(text, encoding="utf-8")
        said = api.post("/parse", json={"text": text}).json()
        assert [record["text"] for record in said["records"]] == by_parser(path), name
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))  # type: ignore[arg-type]
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["find", "-", "-f", "jsonl"]) == 0
        monkeypatch.undo()
        found = [json.loads(line)["text"] for line in out.buffer.getvalue().decode().splitlines()]  # type: ignore[attr-defined]
        assert found == by_parser(path), name


@pytest.mark.parametrize(
    "ask", [by_parser, by_run, lambda path: es.parse_document(path.read_bytes())], ids=["Parser", "run", "bytes"]
)
def test_a_bibliography_is_no_text_to_be_cut(ask: Callable[[Path], object], tmp_path: Path, api: httpx.Client) -> None:
    path = tmp_path / "refs.txt"
    path.write_text("@article{plum, title={Wires and walls}, year={1990}}\n", encoding="utf-8")
    with pytest.raises(InputError, match="this is BibTeX"):
        ask(path)
    done = api.post("/parse", content=path.read_bytes(), headers={"Content-Type": "text/plain"})
    assert (done.status_code, done.json()["error"]["what"]) == (400, "this is BibTeX")


@pytest.mark.parametrize("name", ["paper.pdf", "paper.docx"])
def test_text_under_the_name_of_a_document_is_refused(name: str, tmp_path: Path, api: httpx.Client) -> None:
    path = tmp_path / name
    path.write_text(WORKS[0], encoding="utf-8")
    assert main(["find", str(path)]) == 2
    for ask in (by_parser, by_run):
        with pytest.raises(InputError, match="the name says"):
            ask(path)
    done = api.post("/parse", params={"name": name}, content=path.read_bytes(), headers={"Content-Type": "text/plain"})
    sent = api.post("/tasks/citations/records/upload", params={"name": name}, content=path.read_bytes())
    assert (sent.status_code, "the name says" in sent.text) == (400, True)
    assert done.status_code == 200  # a body that is said to be text has no name that counts
