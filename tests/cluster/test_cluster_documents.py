"""Documents as input of a job: one partition each, a record for each reference, places to keep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from espalier.cluster.job import Settings
from espalier.cluster.plan import plan
from espalier.cluster.reading import count_records, open_records
from espalier.errors import FormatError, InputError

REFERENCES = [
    "Smith AB, Jones C. Soil salts and the growth of wall fruit. Acta Hortic. 2004;12(4):33-9.",
    "Jones, C. (1999). Water works of the old gardens. Berlin: Springer.",
    "Müller, K. (2001). On espaliers and their pruning. Journal of Orchards, 3(2), 101-108.",
]
PAGE = f"<html><h1>Walls</h1><h2>References</h2><ol>{''.join(f'<li>{text}</li>' for text in REFERENCES)}</ol></html>"


def settings(folder: Path, *keep: str, batch: int = 2) -> Settings:
    return Settings((str(folder / "*.html"),), str(folder / "out"), "citations", keep=keep, batch=batch)


def test_a_document_is_one_partition_of_its_references(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    wanted = settings(tmp_path, "page", "confidence")
    partitions = plan(wanted)
    assert [partition.format for partition in partitions] == ["document", "document"]
    assert count_records(partitions[0]) is None
    with open_records(partitions[0], wanted) as records:
        chunks = list(records.chunks)
    assert [field.name for field in records.kept] == ["page", "confidence"]
    assert [text for chunk in chunks for text in chunk.values] == REFERENCES
    assert [len(chunk.values) for chunk in chunks] == [2, 1]
    assert chunks[0].positions[0] == len("Walls\nReferences\n")
    assert chunks[0].kept[0].to_pylist() == ["1", "1"]
    assert all(0 < json.loads(value) <= 1 for value in chunks[0].kept[1].to_pylist())


def test_what_goes_wrong_with_documents(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html><p>There is no list.</p></html>", encoding="utf-8")
    wanted = settings(tmp_path)
    [partition] = plan(wanted)
    with (
        open_records(partition, wanted) as records,
        pytest.raises(FormatError, match="no list of references was found"),
    ):
        list(records.chunks)
    with pytest.raises(InputError, match="a reference of a document has no 'pages'; did you mean 'page'"):
        plan(settings(tmp_path, "pages"))
