"""The original files of public data sets against their normalised forms; skipped where the data is absent.

The normalised files were made by other code. Tokens are found in the text that we read, and each must have the
label (or path) of its first character.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from espalier.document import Document
from espalier.io import InputProblem, read, write

DATA = Path(os.environ.get("ESPALIER_DATA") or Path(__file__).resolve().parents[2] / ".." / "shared" / "data")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="data sets not found; set ESPALIER_DATA to their folder")


def normalised(name: str) -> list[dict[str, Any]]:
    """Load a normalised file with the standard library only."""
    path = DATA / f"{name}.jsonl"
    return json_lines(path if path.exists() else path.with_suffix(".jsonl.gz"))


def json_lines(path: Path) -> list[dict[str, Any]]:
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return [json.loads(line) for line in raw.decode().split("\n") if line]


def assert_same(documents: list[Document], records: list[dict[str, Any]], key: str = "labels") -> None:
    """Find every normalised token in the text and compare its label."""
    assert len(documents) == len(records)
    for document, record in zip(documents, records, strict=True):
        labels = ["O"] * len(document.text)
        for span in document.spans or ():  # outer spans come first
            labels[span.start : span.end] = [span.label] * (span.end - span.start)
        at = 0
        for word, label in zip(record["tokens"], record[key], strict=True):
            found = document.text.index(word, at)
            assert not document.text[at:found].strip(), record["id"]
            assert labels[found] == label, record["id"]
            at = found + len(word)
        assert not document.text[at:].strip(), record["id"]


def test_cora_tagged_references() -> None:
    path = DATA / "cora/original/tagged_references.txt"
    records = normalised("cora/normalised/all")
    documents = read(path)
    assert_same(documents, records)
    assert [" ".join(d.text.split()) for d in documents] == [r["text"] for r in records]
    by_space = normalised("cora/normalised/all_ws")
    assert [d.words for d in read(path, tokenise="whitespace")] == [r["tokens"] for r in by_space]


@pytest.mark.parametrize(("split", "file"), [("train", "train.300.0"), ("dev", "dev"), ("test", "test")])
def test_cora_columns(split: str, file: str) -> None:
    documents = read(DATA / f"cora/original/citation_{file}.txt", tag=1)
    records = normalised(f"cora/normalised/{split}")
    assert [(d.words, d.tags) for d in documents] == [(r["tokens"], r["bio"]) for r in records]


def test_cora_unlabelled_and_samples() -> None:
    documents = read(DATA / "cora/original/citation_unlabeled.txt.gz", tag=None)
    assert [d.words for d in documents] == [r["tokens"] for r in normalised("cora/normalised/unlabelled")]
    for i in range(5):
        assert len(read(DATA / f"cora/original/citation_train.25.{i}.txt", tag=1)) == 25


# In two lines the normalised form keeps a damaged end tag, `</<person-first>`, as a token; we repair it.
@pytest.mark.parametrize(
    ("split", "file", "damaged", "repairs"),
    [("train", "training", {642}, 20), ("dev", "dev", {248}, 9), ("test", "testing", set(), 7)],
)
def test_umass(split: str, file: str, damaged: set[int], repairs: int) -> None:
    path = DATA / f"umass/original/{file}.txt"
    problems: list[InputProblem] = []
    documents = read(path, "hierarchical", repair=True, problems=problems, tokenise="whitespace")
    records = normalised(f"umass/normalised/{split}")
    assert len(documents) == len(records)
    assert len(problems) == repairs
    different = {i for i, (d, r) in enumerate(zip(documents, records, strict=True)) if d.tags != r["bio_paths"]}
    assert different == damaged
    undamaged = [i for i in range(len(records)) if i not in damaged]
    assert all(documents[i].words == records[i]["tokens"] for i in undamaged)


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_umass_flat(split: str) -> None:
    problems: list[InputProblem] = []
    documents = read(DATA / f"umass_flat/original/{split}.txt", repair=True, problems=problems)
    records = normalised(f"umass_flat/normalised/{split}")
    assert [(d.words, d.tags) for d in documents] == [(r["tokens"], r["bio"]) for r in records]
    assert len(problems) == {"train": 0, "dev": 2, "test": 1}[split]


@pytest.mark.parametrize(
    ("split", "file"),
    [("train", "wnut17train.conll.gz"), ("dev", "emerging.dev.conll"), ("test", "emerging.test.annotated")],
)
def test_wnut17(split: str, file: str) -> None:
    documents = read(DATA / "wnut17/original" / file)
    records = normalised(f"wnut17/normalised/{split}")
    assert [(d.words, d.tags) for d in documents] == [(r["tokens"], r["bio"]) for r in records]


@pytest.mark.parametrize(("split", "file"), [("train", "core.xml"), ("test", "gold.xml"), ("bad", "bad.xml")])
def test_anystyle(split: str, file: str) -> None:
    assert_same(read(DATA / "anystyle/original" / file), normalised(f"anystyle/normalised/{split}"))


def test_anystyle_silver_and_brill() -> None:
    assert len(read(DATA / "anystyle/original/good.xml.gz", tokenise=lambda text: ())) == 4663
    assert len(read(DATA / "anystyle/original/ugly.xml.gz", tokenise=lambda text: ())) == 3847
    problems: list[InputProblem] = []
    brill = read(DATA / "anystyle/original/brill_training_v2.txt", separate=True, problems=problems)
    assert_same(brill, normalised("anystyle/normalised/brill"))
    assert [p.line for p in problems] == [9, 16]


@pytest.mark.parametrize("split", ["train", "test"])
def test_usaddress(split: str) -> None:
    by_file = defaultdict(list)
    for record in normalised(f"usaddress/normalised/{split}"):
        by_file[record["source"].replace("/", "__")].append(record)
    for file, records in by_file.items():
        assert_same(read(DATA / "usaddress/original" / file), records)


@pytest.mark.parametrize("name", ["umass/normalised/test", "cora/normalised/all", "wnut17/normalised/dev"])
def test_normalised_files_say_what_their_fields_say(name: str, tmp_path: Path) -> None:
    records = normalised(name)
    documents = read(DATA / f"{name}.jsonl")
    key = "bio_paths" if "bio_paths" in records[0] else "bio"
    assert [(d.id, d.words, d.tags) for d in documents] == [(r["id"], r["tokens"], r[key]) for r in records]
    write(documents, tmp_path / "again.jsonl.gz")
    assert read(tmp_path / "again.jsonl.gz") == documents
    for record, copy in zip(records, json_lines(tmp_path / "again.jsonl.gz"), strict=True):
        if "paths" in record and not any("/" in path for path in record["paths"]):
            del record["paths"], record["bio_paths"]  # written for hierarchical documents only
        assert {field: copy[field] for field in record} == record
        assert set(copy) - set(record) <= {"text"}
