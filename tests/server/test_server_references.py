"""References for other programs: any form in, any format out; GROBID's routes, with its users' own client."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from espalier.citations.record import Record
from espalier.extract.extraction import Field
from espalier.server.failures import Failure
from espalier.server.forms import FormPart, media_type, read_form
from espalier.server.references import ParsedReferences, chosen_format, written
from espalier.server.security import Gate
from workbench_server import Running

ONE = "Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9."
TWO = "Jones, C. (1999). Water works of the old gardens. Berlin: Springer."
ITEMS = "".join(
    f"<li>{text}</li>" for text in (ONE, TWO, "Müller, K. (2001). On pruning. Journal of Orchards, 3, 1-8.")
)
PAGE = f"<html><body><h1>Walls</h1><h2>References</h2><ol>{ITEMS}</ol></body></html>".encode()
TEI = "{http://www.tei-c.org/ns/1.0}"


@pytest.fixture
def plain(api: httpx.Client) -> Iterator[httpx.Client]:
    """A client that knows nothing of this server."""
    with httpx.Client(base_url=str(api.base_url).removesuffix("/api/v1/"), timeout=60) as client:
        yield client


@pytest.mark.parametrize(
    ("body", "type"),
    [
        (json.dumps({"texts": [ONE, TWO]}), "application/json"),
        (json.dumps({"text": f"{ONE}\n{TWO}\n"}), "application/json; charset=utf-8"),
        (f"{ONE}\n{TWO}\n", "text/plain"),
        (f"References\n\n{ONE}\n{TWO}\n", "text/plain; charset=utf-8"),
    ],
)
def test_references_in(plain: httpx.Client, body: str, type: str) -> None:
    done = plain.post("/api/v1/parse", content=body, headers={"Content-Type": type})
    assert done.status_code == 200, done.text
    first, second = done.json()["records"]
    assert (first["text"], second["text"]) == (ONE, TWO)
    assert first["csl"]["title"] == "Soil salts"
    assert first["csl"]["id"] != second["csl"]["id"]
    assert {field["label"] for field in first["fields"]} >= {"author", "title", "volume", "pages"}


def test_documents_in(plain: httpx.Client) -> None:
    for done in (
        plain.post("/api/v1/parse?name=walls.html", content=PAGE, headers={"Content-Type": "text/html"}),
        plain.post("/api/v1/parse", files={"file": ("walls.html", PAGE, "text/html")}),
    ):
        assert done.status_code == 200, done.text
        found = done.json()["records"]
        assert [record["text"] for record in found[:2]] == [ONE, TWO]
        assert found[0]["source"]["file"] == "walls.html"


@pytest.mark.parametrize(
    ("accept", "begins"),
    [
        ("application/x-bibtex", "@article{smith2004soil,"),
        ("application/vnd.citationstyles.csl+json", "["),
        ("application/x-research-info-systems", "TY  - JOUR"),
        ("application/tei+xml", "<?xml"),
        ("text/html, application/xml;q=0.9, */*;q=0.1", "<?xml"),
        ("application/json", '{"model"'),
        ("*/*", '{"model"'),
    ],
)
def test_formats_out(plain: httpx.Client, accept: str, begins: str) -> None:
    done = plain.post("/api/v1/parse", json={"texts": [ONE]}, headers={"Accept": accept})
    assert done.status_code == 200, done.text
    assert done.text.lstrip().startswith(begins)
    assert "Soil salts" in done.text


def test_a_format_by_name_and_other_readings(plain: httpx.Client) -> None:
    assert plain.post("/api/v1/parse?format=ris", json={"texts": [ONE]}).text.startswith("TY  - ")
    (record,) = plain.post("/api/v1/parse", json={"texts": [ONE], "k": 3}).json()["records"]
    assert len(record["alternatives"]) == 2


@pytest.mark.parametrize(
    ("body", "headers", "status", "hint"),
    [
        (ONE, {"Content-Type": "application/x-www-form-urlencoded"}, 415, "Content-Type: text/plain"),
        (ONE, {}, 415, "Content-Type: text/plain"),
        (ONE, {"Content-Type": "image/png"}, 415, "application/pdf"),
        (ONE, {"Content-Type": "text/plain", "Accept": "image/png"}, 406, "application/x-bibtex"),
        ("{", {"Content-Type": "application/json"}, 422, "texts"),
        ("{}", {"Content-Type": "application/json"}, 422, "texts"),
        (b"M\xfcller", {"Content-Type": "text/plain"}, 400, "iconv"),
        ("@article{x, title={A}}", {"Content-Type": "text/plain"}, 400, "convert"),
        (ONE, {"Content-Type": "text/plain; charset=klingon"}, 415, "utf-8"),
        (b"PK\x03\x04" + b"\0" * 40, {"Content-Type": "application/octet-stream"}, 400, "DOCX"),
    ],
)
def test_what_is_refused_says_what_to_send(
    plain: httpx.Client, body: str | bytes, headers: dict[str, str], status: int, hint: str
) -> None:
    done = plain.post("/api/v1/parse", content=body, headers=headers)
    assert done.status_code == status, done.text
    assert hint in done.json()["error"]["hint"]


@pytest.mark.parametrize("charset", ["iso-8859-1", "UTF-16", "utf-8"])
def test_a_text_in_the_encoding_that_it_names(plain: httpx.Client, charset: str) -> None:
    text = "Müller, K. (2001). Über Bäume. Berlin: Springer."
    headers = {"Content-Type": f"text/plain; charset={charset}"}
    done = plain.post("/api/v1/parse", content=text.encode(charset), headers=headers)
    assert [record["text"] for record in done.json()["records"]] == [text]


def test_a_mark_of_order_before_json(plain: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    done = plain.post("/api/v1/parse", content=b'\xef\xbb\xbf{"texts": ["x"]}', headers=headers)
    assert done.status_code == 200, done.text


@pytest.mark.parametrize(("headers", "body"), [({}, b'{"texts": ["x"]}'), ({"Content-Type": "application/json"}, b"{")])
def test_no_json_says_what_to_send(plain: httpx.Client, headers: dict[str, str], body: bytes) -> None:
    done = plain.post("/api/v1/tasks/citations/parse", content=body, headers={**headers, "X-Espalier": "1"})
    assert done.status_code in (400, 422)
    assert "JSON" in done.json()["error"]["hint"] or "application/json" in done.json()["error"]["hint"]


def test_other_sites_may_not(plain: httpx.Client) -> None:
    done = plain.post("/api/v1/parse", json={"texts": [ONE]}, headers={"Origin": "http://evil.example"})
    assert done.status_code == 403


def test_the_order_of_accept() -> None:
    assert chosen_format("application/xml;q=0.5, application/x-bibtex") == "bibtex"
    assert chosen_format("application/xml;q=x, application/x-bibtex;q=0.1") == "bibtex"
    with pytest.raises(Failure):
        chosen_format("application/json;q=0")


def test_forms() -> None:
    assert media_type('Multipart/Form-Data; boundary="x y"') == ("multipart/form-data", {"boundary": "x y"})
    assert read_form("application/x-www-form-urlencoded", b"a=1&a=%C3%BC&b=") == [
        FormPart("a", b"1"),
        FormPart("a", "ü".encode()),
        FormPart("b", b""),
    ]
    with pytest.raises(Failure, match="cannot be read"):
        read_form("application/x-www-form-urlencoded", b"a=M%FCller")
    value = b"--x\r\n\x00\r\n--"  # what only looks like a boundary
    sent = httpx.Request("POST", "http://x", files={"input": ("a b.pdf", value)}, data={"n": "1"})
    found = {part.name: part for part in read_form(sent.headers["content-type"], sent.read())}
    assert found["input"] == FormPart("input", value, "a b.pdf")
    assert found["n"].text == "1"
    for type, body in (("multipart/form-data; boundary=x", b"--x\r\n"), ("multipart/form-data", b""), ("", b"")):
        with pytest.raises(Failure):
            read_form(type, body)


def test_formulas_in_an_exported_csv_are_disarmed(start: Callable[..., Running]) -> None:
    api = start().client
    for sign in "=+-@":
        assert (
            api.post("/tasks/citations/records", json={"text": f"{sign}HYPERLINK(1) A. Berg. 1999."}).status_code == 201
        )
    rows = list(csv.DictReader(io.StringIO(api.get("/tasks/citations/export", params={"format": "csv"}).text)))
    assert [row["text"][:2] for row in rows] == ["'=", "'+", "'-", "'@"]
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]


def test_formulas_in_csv_are_disarmed() -> None:
    record = Record("=1+1", (Field("title", "=1+1", 0, 4, 1.0),), 1.0, None)
    text, _ = written(ParsedReferences(1, [record], [None], []), "csv")
    assert "'=1+1" in text


def test_the_client_of_grobids_users(plain: httpx.Client, tmp_path: Path) -> None:
    client_module = pytest.importorskip("grobid_client.grobid_client")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "list.txt").write_text(f"{ONE}\n{TWO}\n", encoding="utf-8")
    client = client_module.GrobidClient(grobid_server=str(plain.base_url), check_server=True)
    client.process(
        "processCitationList", str(tmp_path / "in"), output=str(tmp_path / "out"), include_raw_citations=True, n=1
    )
    (file,) = (tmp_path / "out").rglob("*.xml")
    entries = list(ElementTree.parse(file).getroot().iter(f"{TEI}biblStruct"))
    assert [entry.find(f".//{TEI}title").text for entry in entries] == ["Soil salts", "Water works of the old gardens"]  # type: ignore[union-attr]
    assert [entry.find(f"{TEI}note").text for entry in entries] == [ONE, TWO]  # type: ignore[union-attr]


def test_grobids_routes(plain: httpx.Client) -> None:
    assert plain.get("/api/isalive").text == "true"
    assert plain.get("/api/version").json()["software"] == "espalier"
    one = plain.post("/api/processCitation", data={"citations": ONE, "consolidateCitations": "1"})
    root = ElementTree.fromstring(one.text)
    assert root.tag == f"{TEI}biblStruct"
    assert root.find(f".//{TEI}surname").text == "Smith"  # type: ignore[union-attr]
    assert "raw_reference" not in one.text
    bibtex = plain.post(
        "/api/processCitationList", data={"citations": [ONE, TWO, " "]}, headers={"Accept": "application/x-bibtex"}
    )
    assert bibtex.headers["content-type"].startswith("application/x-bibtex")
    assert len(re.findall("^@", bibtex.text, re.MULTILINE)) == 2
    places = ElementTree.fromstring(plain.post("/api/processCitationList", data={"citations": [ONE, " ", TWO]}).text)
    assert [len(entry) > 0 for entry in places.iter(f"{TEI}biblStruct")] == [True, False, True]
    assert plain.put("/api/processReferences", files={"input": ("walls.html", PAGE)}).status_code == 200
    found = plain.post(
        "/api/processReferences", files={"input": ("walls.html", PAGE)}, data={"includeRawCitations": "1"}
    )
    assert len(list(ElementTree.fromstring(found.text).iter(f"{TEI}biblStruct"))) == 3
    assert plain.post("/api/processCitation", data={"citations": " "}).status_code == 204
    empty = plain.post(
        "/api/processReferences", files={"input": ("x.html", b"<html><body><p>Nothing.</p></body></html>")}
    )
    assert empty.status_code == 204
    for url, data in (("processCitation", {"citation": ONE}), ("processReferences", {"citations": ONE})):
        wrong = plain.post(f"/api/{url}", data=data)
        assert (wrong.status_code, bool(wrong.json()["error"]["hint"])) == (400, True)


def test_those_who_run_the_server(start: Callable[..., Running], tmp_path: Path) -> None:
    server = start(tmp_path / "run", gate=Gate.of("0.0.0.0", "a-token-of-some-length"))
    assert httpx.get(f"{server.origin}/health").json()["status"] == "ok"
    assert httpx.get(f"{server.origin}/ready").status_code == 200
    assert httpx.head(f"{server.origin}/health").status_code == 200
    assert httpx.head(f"{server.origin}/ready").status_code == 200
    assert httpx.get(f"{server.origin}/metrics").status_code == 401
    token = {"Authorization": "Bearer a-token-of-some-length"}
    text = httpx.get(f"{server.origin}/metrics", headers=token).text
    assert 'espalier_answers_total{worker="0",method="GET",route="/ready",status="200"} 1' in text
    for address in ("/api/v1/tasks/ads/records?limit=3", "/api/isalive"):
        assert httpx.get(server.origin + address, headers=token).status_code == 200
    text = httpx.get(f"{server.origin}/metrics", headers=token).text
    for route in ("/api/v1/tasks/{task}/records", "/api/isalive"):  # whole addresses, as clients ask for them
        assert f'espalier_answers_total{{worker="0",method="GET",route="{route}",status="200"}} 1' in text
    buckets = [int(n) for n in re.findall(r"answer_seconds_bucket\{.*le=.*\} (\d+)", text)]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 8
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .*|\w+(\{(\w+=\"[^\"]*\",?)*\})? [0-9.e+-]+", line), line


def test_what_grobid_has_and_this_server_has_not(plain: httpx.Client) -> None:
    for name in ("processFulltextDocument", "processHeaderDocument", "processDate"):
        for answer in (plain.post(f"/api/{name}", files={"input": ("x.pdf", b"%PDF-")}), plain.put(f"/api/{name}")):
            error = answer.json()["error"]
            assert answer.status_code == 501
            assert name in error["what"]
            assert "/api/processReferences" in error["hint"]


def test_a_slash_at_the_end_changes_nothing(plain: httpx.Client) -> None:
    assert plain.post("/api/v1/parse/", json={"texts": [ONE]}).status_code == 200
    assert plain.get("/api/isalive/").text == "true"
    assert plain.head("/api/isalive").status_code == 200
    assert plain.delete("/api/v1/tasks/citations/records/").status_code == 403  # the guard holds as before


def test_what_was_left_out_is_counted_in_every_format(plain: httpx.Client) -> None:
    body = f"{ONE}\n{'very long ' * 3000}\n{ONE.replace('2004', '2005')}"
    done = plain.post("/api/v1/parse?format=bibtex", content=body, headers={"Content-Type": "text/plain"})
    assert done.text.count("@article") == 2
    assert done.headers["x-espalier-problems"] == "1"
    assert "x-espalier-problems" not in plain.post("/api/v1/parse?format=bibtex", json={"texts": [ONE]}).headers


def test_marks_of_html_and_lost_spaces_are_read_as_the_command_line_does(plain: httpx.Client) -> None:
    text = "Ga&#353;evi&#263;, D. andHo, A. Soil salts. <i>Acta Hortic</i>. 2004;12(4):33?39."
    found = plain.post("/api/v1/parse", json={"texts": [text]}).json()["records"][0]["csl"]
    assert [name["family"] for name in found["author"]] == ["Gašević", "Ho"]
    assert (found["container-title"], found["page"]) == ("Acta Hortic.", "33-39")
