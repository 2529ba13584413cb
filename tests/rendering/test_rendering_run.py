"""From works and styles to a file: `render_references.py`, with a small style of our own.

What citeproc-js answers is recorded in `data/recorded.json`, so that labels are tested where it is not installed; where
it is (`make rendered` installs it below build/), the answer must be the recorded one.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import render_references
from rendering.citeproc import SCRIPT
from rendering.labels import label_marked, read_marked
from rendering.plan import LOCALES

from espalier.citations.record import LABELS
from espalier.citations.schemes import load_scheme
from espalier.citations.training import Source, plain_tags, read_sources
from espalier.io import read

DATA = Path(__file__).parent / "data"
CITEPROC = Path(__file__).parents[2] / "build" / "citeproc" / "node_modules" / "citeproc"
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not CITEPROC.exists(),
    reason="needs Node.js and citeproc-js (`make rendered` installs it)",
)


def person(family: str, given: str) -> dict[str, str]:
    return {"family": family, "given": given}


ITEMS = [
    {
        **{
            "id": "1",
            "type": "article-journal",
            "title": "On things",
            "author": [person("Doe", "Jane"), person("Roe", "Richard")],
        },
        **{"container-title": "Journal of Things", "page": "3-9", "issued": {"date-parts": [[2001]]}},
    },
    {
        **{
            "id": "2",
            "type": "book",
            "title": "More things",
            "editor": [person("Roe", "Richard")],
            "publisher": "A Press",
        },
        **{"issued": {"date-parts": [[1999]]}, "URL": "http://x.org/1", "accessed": {"date-parts": [[2020]]}},
    },
]


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "recorded.json").read_text(encoding="utf-8"))
    return found


def test_labels_of_the_recorded_answer() -> None:
    answer = recorded()
    documents = [label_marked(read_marked(raw, answer["nodes"]), "x") for _, raw in answer["texts"]]
    found = [[(s.label, d.text[s.start : s.end]) for s in sorted(d.spans or ())] for d in documents]
    assert found == [
        [
            *(("citation-number", "[1]"), ("author", "J. Doe and R. Roe,"), ("title", "“On things,”")),
            *(("container-title", "in Journal of Things,"), ("pages", "pp. 3–9,"), ("date", "2001.")),
        ],
        [
            *(
                ("citation-number", "[2]"),
                ("editor", "R. Roe (ed.),"),
                ("title", "“More things,”"),
                ("publisher", "A Press,"),
            ),
            *(("date", "1999,"), ("accessed", "Retrieved 2020 from"), ("url", "http://x.org/1.")),
        ],
    ]


def test_a_file_is_a_source_of_training_examples(tmp_path: Path) -> None:
    answer = recorded()
    documents = [label_marked(read_marked(raw, answer["nodes"]), "x") for _, raw in answer["texts"]]
    rows = [render_references.row(document, {"style": "small", "kind": "x"}) for document in documents]
    render_references.write(rows, tmp_path / "train.jsonl.gz")
    examples = read_sources(tmp_path, [Source("rendered", "train.jsonl.gz", "plain", weight=0.5)])
    assert [example.document.spans for example in examples] == [document.spans for document in documents]
    assert [plain_tags(example.document, LABELS) for example in examples] == [
        [tag[2:] for tag in one["bio"]] for one in rows
    ]
    assert {example.weight for example in examples} == {0.5}
    assert load_scheme("plain").labels == {label: label for label in LABELS}


@needs_node
def test_citeproc_gives_the_recorded_answer() -> None:
    job = {"number": 0, "style": "small", "locale": "en-US", "force": False, "items": ITEMS}
    done = subprocess.run(
        ["node", str(SCRIPT), str(DATA)],
        input=json.dumps(job) + "\n",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CITEPROC": str(CITEPROC)},
    )
    assert json.loads(done.stdout) == recorded()


def small_data(directory: Path) -> Path:
    """Write a data directory with one style for each part, and a few works."""
    (directory / "csl" / "original").mkdir(parents=True)
    (directory / "metadata" / "normalised").mkdir(parents=True)
    rows = [
        {"id": part, "default-locale": "en-US", "bibliography": True, "split": part} for part in render_references.PARTS
    ]
    (directory / "csl" / "styles.json").write_text(json.dumps(rows), encoding="utf-8")
    with tarfile.open(directory / "csl" / "original" / "styles.tar.xz", "w:xz") as archive:
        for part in render_references.PARTS:
            archive.add(DATA / "small.csl", f"styles/{part}.csl")
    with tarfile.open(directory / "csl" / "original" / "locales.tar.xz", "w:xz") as archive:
        for locale in ("en-US", *dict.fromkeys(LOCALES)):
            archive.add(DATA / "locales-en-US.xml", f"locales/locales-{locale}.xml")
    kinds = ("article-journal", "paper-conference", "chapter", "book", "thesis", "manuscript", "report", "webpage")
    base = {**ITEMS[0], "publisher": "A Press", "publisher-place": "Here"}
    works = [{**base, "type": kind, "source": "crossref"} for kind in kinds]
    works.append({**base, "type": "book", "author": [], "editor": [person("Roe", "Richard")]})
    for part in render_references.PARTS:
        text = "".join(json.dumps(work) + "\n" for work in works)
        (directory / "metadata" / "normalised" / f"{part}.jsonl").write_text(text, encoding="utf-8")
    return directory


def made(data: Path, output: Path, tools: Path, *more: str) -> dict[str, bytes]:
    (tools / "citeproc" / "node_modules").mkdir(parents=True)
    (tools / "citeproc" / "node_modules" / "citeproc").symlink_to(CITEPROC)
    numbers = ["--train", "60", "--dev", "20", "--unseen", "20"]
    arguments: Sequence[str] = ["--data", str(data), "--output", str(output), "--tools", str(tools), *numbers, *more]
    render_references.main(arguments)
    return {part: (output / f"{part}.jsonl.gz").read_bytes() for part in render_references.PARTS}


@needs_node
def test_files_of_labelled_references(tmp_path: Path) -> None:
    data = small_data(tmp_path / "data")
    files = made(data, tmp_path / "first", tmp_path / "tools")
    assert made(data, tmp_path / "second", tmp_path / "other tools", "--processes", "3") == files
    origins = {"train": {"train", "bst", "layout", "tradition", "abroad"}, "dev": {"dev", "bst", "layout"}}
    origins["unseen"] = {"unseen"}
    for part, count in (("train", 60), ("dev", 20), ("unseen", 20)):
        rows = [json.loads(line) for line in gzip.decompress(files[part]).decode().splitlines()]
        assert 0.9 * count <= len(rows) <= count  # copies are dropped, and there are few works
        assert {tag[2:] for row in rows for tag in row["bio"]} <= set(LABELS)
        assert all(row["bio"][0].startswith("B-") for row in rows)
        assert {row["style"].split("/")[0] for row in rows} <= origins[part]
        assert part != "unseen" or not any("noise" in row for row in rows)
        documents = list(read(tmp_path / "first" / f"{part}.jsonl.gz"))
        assert [document.text for document in documents] == [row["text"] for row in rows]
        assert all(document.spans for document in documents)
