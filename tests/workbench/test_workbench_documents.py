"""Documents through the API: their references become records with a place, or are parsed and not kept."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from collections.abc import Callable

import httpx
import psutil
import pytest

from espalier.documents.reading import confined
from espalier.server.core import Limits
from espalier.server.database import FILE
from workbench_server import Running

REFERENCES = [
    "Smith AB, Jones C. Soil salts and the growth of wall fruit. Acta Hortic. 2004;12(4):33-9.",
    "Jones, C. (1999). Water works of the old gardens. Berlin: Springer.",
    "Müller, K. (2001). On espaliers and their pruning. Journal of Orchards, 3(2), 101-108.",
]
ITEMS = "".join(f"<li>{text}</li>" for text in REFERENCES)
PAGE = f"<html><body><h1>Walls</h1><h2>References</h2><ol>{ITEMS}</ol></body></html>".encode()
URL = "/tasks/citations/records/upload?name=page.html"


def test_a_document_becomes_records_with_places(start: Callable[..., Running]) -> None:
    server = start()
    done = server.client.post(URL, content=PAGE)
    assert done.status_code == 201, done.text
    assert len(done.json()["added"]) == 3
    assert done.json()["problems"] == []
    records = server.client.get("/tasks/citations/records").json()["records"]
    assert [record["text"] for record in records] == REFERENCES
    assert [record["source"]["file"] for record in records] == ["page.html"] * 3
    assert records[0]["source"]["page"] == 1
    assert 0 < records[0]["source"]["confidence"] <= 1
    again = server.client.get(f"/tasks/citations/records/{records[1]['id']}").json()
    assert again["source"] == records[1]["source"]
    pasted = server.client.post("/tasks/citations/records", json={"text": "Smith AB. Reading. Kew Bull. 2009;2:3-9."})
    (number,) = pasted.json()["added"]
    assert server.client.get(f"/tasks/citations/records/{number}").json()["source"] is None
    assert server.client.delete(f"/tasks/citations/records/{records[0]['id']}").status_code == 204
    server.stop()
    with sqlite3.connect(server.app.state.core.directory / FILE) as file:
        assert file.execute("SELECT count(*) FROM place").fetchone() == (2,)


def test_a_document_is_parsed_and_not_kept(api: httpx.Client) -> None:
    before = api.get("/tasks/citations/records").json()["total"]
    done = api.post("/tasks/citations/parse/upload?name=page.html&k=2", content=PAGE)
    assert done.status_code == 200, done.text
    found = done.json()
    assert [record["text"] for record in found["records"]] == REFERENCES
    assert [record["source"]["line"] for record in found["records"]] == [3, 4, 5]
    assert all(record["alternatives"] for record in found["records"])
    assert found["problems"] == []
    assert api.get("/tasks/citations/records").json()["total"] == before


@pytest.mark.parametrize(
    ("name", "data", "status", "what"),
    [
        ("a.html", b"<html><p>There is no list here.</p></html>", 400, "no list of references was found"),
        ("a.pdf", b"%PDF-1.4\nnothing", 400, "damaged"),
        ("refs.bib", b"@book{k, title = {Wires}}", 400, "this is BibTeX"),
        ("a.html", b"<html><script>x</script></html>", 400, "shows no text"),
    ],
)
def test_bad_documents(api: httpx.Client, name: str, data: bytes, status: int, what: str) -> None:
    for route in ("records/upload", "parse/upload"):
        done = api.post(f"/tasks/citations/{route}?name={name}", content=data)
        assert done.status_code == status, done.text
        assert what in done.json()["error"]["what"]
        assert done.json()["error"]["hint"]


def test_a_heading_is_no_record(api: httpx.Client) -> None:
    listed = [text.replace("fruit", "pears") for text in REFERENCES]
    done = api.post(
        "/tasks/citations/records", json={"text": "\n".join(["References", *listed, "Pohl, A. (1998). Dams."])}
    )
    added = done.json()["added"]
    texts = [api.get(f"/tasks/citations/records/{number}").json()["text"] for number in added]
    assert "References" not in texts


def test_other_tasks_take_no_documents(api: httpx.Client, task: str) -> None:
    done = api.post(f"/tasks/{task}/records/upload?name=page.html", content=PAGE)
    assert done.status_code == 400
    assert "only references are found" in done.json()["error"]["what"]


def test_a_file_may_be_larger_than_other_requests(start: Callable[..., Running]) -> None:
    server = start(limits=Limits(body=300, file=1000))
    assert len(PAGE) < 1000
    assert server.client.post(URL, content=PAGE).status_code == 201
    assert server.client.post(URL, content=PAGE + b" " * 1000).status_code == 413
    assert server.client.post("/tasks/citations/records", json={"text": "x" * 400}).status_code == 413


def test_a_document_that_takes_too_long(start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch) -> None:
    server = start(limits=Limits(seconds=0.5))
    with monkeypatch.context() as patched:
        patched.setattr(confined, "BEGIN", "import time; time.sleep(60)")
        confined.close()
        before = set(psutil.Process().children())
        done = server.client.post(URL, content=PAGE)
        assert done.status_code == 504
        assert set(psutil.Process().children()) <= before
    assert server.client.get("/tasks").status_code == 200


def test_a_bomb_is_refused_and_the_server_goes_on(api: httpx.Client) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", "<w:p>" * 500_000)
    done = api.post("/tasks/citations/parse/upload?name=deep.docx", content=packed.getvalue())
    assert done.status_code == 400
    assert "nested more than" in done.json()["error"]["what"]
    assert api.post("/tasks/citations/parse/upload?name=page.html", content=PAGE).status_code == 200
