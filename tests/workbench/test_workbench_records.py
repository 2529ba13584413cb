"""Records through the API: adding, listing, correcting, exporting; nothing is lost or dropped in silence."""

from __future__ import annotations

import gzip
import json

import httpx
import pytest

from espalier.document import Document, Span
from espalier.io import read
from espalier.server.failures import Failure
from espalier.server.tasks import ProjectTask, RuleState, own_labels
from espalier.workbench.fields import checked_spans

OUTSIDE = ProjectTask("t", own_labels(["item", "price"], True), (), RuleState(""), None)
EVERYWHERE = ProjectTask("t", own_labels(["item", "price"], False), (), RuleState(""), None)
WITH_OTHER = ProjectTask("t", own_labels(["item", "price", "other"], False), (), RuleState(""), None)
CHAIR = Document.from_text("oak chair 12 $")


@pytest.mark.parametrize(
    ("task", "given", "expected"),
    [
        (OUTSIDE, [], []),
        (OUTSIDE, [(0, 9, "item")], [(0, 9, "item")]),
        (OUTSIDE, [(10, 14, "price"), (0, 9, "item")], [(0, 9, "item"), (10, 14, "price")]),
        (OUTSIDE, [(0, 6, "item")], [(0, 9, "item")]),  # the whole token whose first character is in the field
        (OUTSIDE, [(1, 9, "item")], [(4, 9, "item")]),  # not the one whose first character is outside
        (OUTSIDE, [(0, 3, "item"), (4, 9, "item")], [(0, 3, "item"), (4, 9, "item")]),  # two fields side by side
        (EVERYWHERE, [(4, 9, "item")], [(0, 14, "item")]),
        (EVERYWHERE, [(0, 3, "item"), (13, 14, "price")], [(0, 12, "item"), (13, 14, "price")]),
        (WITH_OTHER, [(4, 9, "item")], [(0, 3, "other"), (4, 9, "item"), (10, 14, "other")]),  # words are no field's
        (WITH_OTHER, [(0, 9, "item"), (10, 12, "price")], [(0, 9, "item"), (10, 14, "price")]),  # a mark is the last's
    ],
)
def test_fields_go_to_tokens(
    task: ProjectTask, given: list[tuple[int, int, str]], expected: list[tuple[int, int, str]]
) -> None:
    assert checked_spans(task, CHAIR, [Span(*s) for s in given]) == tuple(Span(*s) for s in expected)


@pytest.mark.parametrize(
    ("task", "given", "what"),
    [
        (OUTSIDE, [(0, 3, "thing")], "no label 'thing'"),
        (OUTSIDE, [(0, 99, "item")], "no token begins"),
        (OUTSIDE, [(3, 4, "item")], "no token begins"),
        (OUTSIDE, [(5, 5, "item")], "no token begins"),
        (OUTSIDE, [(0, 9, "item"), (4, 14, "price")], "fields 0 and 1 overlap at token 1"),
        (EVERYWHERE, [], "all text is in a field"),
    ],
)
def test_wrong_fields_are_refused(task: ProjectTask, given: list[tuple[int, int, str]], what: str) -> None:
    with pytest.raises(Failure, match=what) as error:
        checked_spans(task, CHAIR, [Span(*s) for s in given])
    assert error.value.status == 400


def add(api: httpx.Client, task: str, text: str, **more: str) -> dict[str, object]:
    done = api.post(f"/tasks/{task}/records", json={"text": text, **more})
    assert done.status_code == 201, done.text
    found: dict[str, object] = done.json()
    return found


def texts(api: httpx.Client, task: str) -> list[str]:
    return [record["text"] for record in api.get(f"/tasks/{task}/records").json()["records"]]


def test_lines_and_blocks(api: httpx.Client, task: str) -> None:
    first = add(api, task, "chair 12 $\n  lamp 3 $\r\nchair 12 $\n")
    assert len(first["added"]) == 2
    assert first["known"] == 1  # a text is stored once
    assert texts(api, task) == ["chair 12 $", "  lamp 3 $"]
    add(api, task, "a b\nc d\n\ne f\n")
    assert texts(api, task)[2:] == ["a b\nc d", "e f"]
    add(api, task, "g\nh\n\ni\n", layout="lines")
    assert texts(api, task)[4:] == ["g", "h", "i"]


def test_references_are_split_as_by_parse(api: httpx.Client) -> None:
    text = "[1] A. Berg. On oaks. Tree\n    Letters, 1999.\n[2] C. Dahl. On elms. Tree Letters, 2001.\n"
    added = add(api, "citations", text)["added"]
    found = [api.get(f"/tasks/citations/records/{i}").json() for i in added]
    assert [record["text"][:11] for record in found] == ["[1] A. Berg", "[2] C. Dahl"]
    for record in found:  # every character but white space is in a field
        covered = "".join(record["text"][f["start"] : f["end"]] for f in record["fields"])
        assert "".join(covered.split()) == "".join(record["text"].split())


def test_what_is_left_out_is_reported(api: httpx.Client, task: str) -> None:
    found = add(api, task, "good\n" + "x" * 20_001 + "\n\u200b\n")
    assert len(found["added"]) >= 1
    assert "20,001 characters" in found["problems"][0]["what"]
    assert found["problems"][0]["where"] == "line 2"


LABELLED = '{"text": "lamp 3 $", "spans": [[0, 4, "item"], [5, 8, "price"]]}\n{"text": "only text"}\n'


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_labelled_uploads_count_as_corrected(api: httpx.Client, task: str, pack: object) -> None:
    url = f"/tasks/{task}/records/upload"
    done = api.post(url, params={"name": "x.jsonl"}, content=pack(LABELLED.encode()))
    assert done.status_code == 201, done.text
    assert done.json()["corrected"] == 1
    records = api.get(f"/tasks/{task}/records").json()["records"]
    assert records[0]["corrected"] == [
        {"label": "item", "start": 0, "end": 4},
        {"label": "price", "start": 5, "end": 8},
    ]
    assert records[1]["corrected"] is None


@pytest.mark.parametrize(
    ("content", "params", "status", "what"),
    [
        (b"", {}, 400, "empty"),
        (b"\x1f\x8bnonsense", {}, 400, "gzip"),
        (b'{"text": "lamp", "spans": [[0, 4, "ware"]]}', {}, 400, "no label 'ware'"),
        (b'{"text": "lamp", "spans": [[0, 9, "item"]]}', {"format": "jsonl"}, 201, ""),
        (b"caf\xe9 3 $", {"format": "plain"}, 400, "not utf-8"),
        (b"caf\xe9 3 $", {"format": "plain", "encoding": "latin-1"}, 201, ""),
        (b"x", {"format": "nonsense"}, 422, "format must be one of"),
        (gzip.compress(b"lamp\n" * 20_000_000), {}, 413, "unpacks to more than"),
    ],
)
def test_uploads(api: httpx.Client, task: str, content: bytes, params: dict[str, str], status: int, what: str) -> None:
    done = api.post(f"/tasks/{task}/records/upload", params=params, content=content)
    assert done.status_code == status, done.text
    assert what in done.text


def test_half_a_character_is_left_out(api: httpx.Client, task: str) -> None:
    lines = b'{"text": "\\ud800 lamp"}\n{"text": "lamp"}\n'
    done = api.post(f"/tasks/{task}/records/upload", content=lines).json()
    assert len(done["added"]) == 1
    assert "surrogate" in done["problems"][0]["what"]


def test_correct_clear_delete(api: httpx.Client, task: str) -> None:
    [id] = add(api, task, "oak chair 12 $")["added"]
    url = f"/tasks/{task}/records/{id}"
    fields = [{"label": "item", "start": 0, "end": 9}, {"label": "price", "start": 10, "end": 14}]
    record = api.put(f"{url}/fields", json={"fields": fields}).json()
    assert record["corrected"] == fields
    assert record["corrected_at"].endswith("Z")
    assert api.get(url).json()["corrected"] == fields
    assert api.get(f"/tasks/{task}").json()["corrected"] == 1
    assert api.put(f"{url}/fields", json={"fields": []}).json()["corrected"] == []  # 'no field' is a correction, too
    assert api.delete(f"{url}/fields").json()["corrected"] is None
    assert api.delete(url).status_code == 204
    assert api.get(url).status_code == 404
    assert api.delete(url).status_code == 404


def test_orders_and_pages(api: httpx.Client) -> None:
    lines = ["B. Aas. Bark. Journal of Bark, 3:1-9, 1990.", "what is this 77 bark bark", "C. Eng, Soil, Oslo, 1888."]
    name = "citations"
    add(api, name, "\n".join(lines))
    everything = api.get(f"/tasks/{name}/records", params={"limit": 1000}).json()
    sure = [record["confidence"] for record in everything["records"]]
    for order, expected in (("confidence", sorted(sure, reverse=True)), ("uncertainty", sorted(sure))):
        page = api.get(f"/tasks/{name}/records", params={"order": order, "limit": 1000}).json()
        assert [record["confidence"] for record in page["records"]] == expected
    second = api.get(f"/tasks/{name}/records", params={"offset": 1, "limit": 1}).json()
    assert second["records"] == everything["records"][1:2]
    assert second["matching"] == len(sure)
    queue = api.get(f"/tasks/{name}/queue", params={"limit": 2}).json()
    open_ = sorted(record["confidence"] for record in everything["records"] if record["corrected"] is None)
    assert [record["confidence"] for record in queue["records"]] == open_[:2]
    assert queue["left"] == len(open_)
    skipped = queue["records"][0]["id"]
    after = api.get(f"/tasks/{name}/queue", params={"skip": str(skipped)}).json()
    assert after["records"][0]["id"] == queue["records"][1]["id"]


def test_export_gives_back_what_was_said(api: httpx.Client, task: str, tmp_path: object) -> None:
    [id, _] = add(api, task, "oak chair 12 $\nlamp")["added"]
    fields = [{"label": "item", "start": 0, "end": 9}, {"label": "price", "start": 10, "end": 14}]
    api.put(f"/tasks/{task}/records/{id}/fields", json={"fields": fields})
    done = api.get(f"/tasks/{task}/export", params={"format": "jsonl", "which": "corrected"})
    assert done.headers["content-disposition"] == f'attachment; filename="{task}.jsonl"'
    path = tmp_path / "x.jsonl"  # type: ignore[operator]
    path.write_bytes(done.content)
    [document] = read(path)
    assert document.text == "oak chair 12 $"
    assert document.spans == (Span(0, 9, "item"), Span(10, 14, "price"))
    for row in api.get(f"/tasks/{task}").json()["formats"]:
        params = {"format": row["name"], "which": "all", "lossy": "true"}
        written = api.get(f"/tasks/{task}/export", params=params)
        assert written.status_code == 200, (row, written.text)
        assert "oak" in written.text
    assert api.get(f"/tasks/{task}/export", params={"format": "bibtex"}).status_code == 400
    assert "labels" in api.get(f"/tasks/{task}/export", params={"format": "plain"}).text  # refuses to lose them
    plain = api.get(f"/tasks/{task}/export", params={"format": "plain", "which": "texts"})
    assert plain.text == "oak chair 12 $\nlamp\n"


def test_references_as_bibtex_follow_the_correction(api: httpx.Client) -> None:
    text = "Q. Zimt. Nutmeg and mace. Journal of Spice, 4:1-9, 1990."
    [id] = add(api, "citations", text)["added"]
    api.put(
        f"/tasks/citations/records/{id}/fields",
        json={"fields": [{"label": "title", "start": 0, "end": 25}, {"label": "note", "start": 26, "end": len(text)}]},
    )
    written = api.get("/tasks/citations/export", params={"format": "bibtex", "records": str(id)}).text
    assert "Zimt. Nutmeg and mace}" in written
    assert "author" not in written
    for row in api.get("/tasks/citations").json()["formats"]:
        params = {"format": row["name"], "records": str(id), "lossy": "true"}
        assert api.get("/tasks/citations/export", params=params).status_code == 200, row
    items = json.loads(api.get("/tasks/citations/export", params={"format": "csl", "records": str(id)}).text)
    assert items[0]["title"] == "Q. Zimt. Nutmeg and mace"


def test_parse_keeps_nothing(api: httpx.Client) -> None:
    before = api.get("/tasks/citations").json()["records"]
    lines = ["D. Ek. Moss. Journal of Moss, 2:3-4, 1977.", "", "\u200b "]
    done = api.post("/tasks/citations/parse", json={"texts": lines, "k": 3}).json()
    assert [record["text"] for record in done["records"]] == lines
    first = done["records"][0]
    sure = [reading["confidence"] for reading in (first, *first["alternatives"])]
    assert len(sure) == 3
    assert sure == sorted(sure, reverse=True)
    assert sum(sure) <= 1 + 1e-9
    assert done["records"][1]["fields"] == []
    assert api.get("/tasks/citations").json()["records"] == before


def test_references_labelled_by_others(api: httpx.Client) -> None:
    """GROBID's labels: `biblScope` of the unit page is our pages, and a title of level a our title."""
    data = (
        '<TEI><listBibl><bibl><author>P. Quist</author>. <title level="a">Hidden gardens</title>, '
        '<biblScope unit="page">3-9</biblScope>, <date>1991</date>.</bibl></listBibl></TEI>'
    )
    done = api.post("/tasks/citations/records/upload", content=data.encode(), params={"name": "x.tei.xml"})
    assert done.status_code == 201, done.text
    [id] = done.json()["added"]
    fields = api.get(f"/tasks/citations/records/{id}").json()["corrected"]
    assert [field["label"] for field in fields] == ["author", "title", "pages", "date"]
    odd = b'{"tokens": ["a"], "labels": ["colour"]}\n'
    refused = api.post("/tasks/citations/records/upload", content=odd)
    assert refused.status_code == 400
    assert "colour" in refused.json()["error"]["what"]


SALTS = "Smith AB. Soil salts. 2004."


def doccano(*records: tuple[str, list[list[object]]]) -> bytes:
    return "".join(json.dumps({"text": text, "label": spans}) + "\n" for text, spans in records).encode()


def test_what_nobody_has_labelled_stays_open(api: httpx.Client) -> None:
    api.delete("/tasks/citations/records", params={"corrected": "any"})
    whole: list[list[object]] = [[0, 9, "author"], [10, 21, "title"], [22, 27, "date"]]
    parted = SALTS.replace("salts", "acids")
    data = doccano(("Nobody looked. 1999.", []), (SALTS, whole), (parted, [[10, 21, "title"]]))
    done = api.post("/tasks/citations/records/upload", content=data, params={"format": "doccano"}).json()
    assert (len(done["added"]), done["corrected"]) == (3, 2)
    problems = [problem["what"] for problem in done["problems"]]
    assert [what[-3:] for what in problems] == [": 1", ": 1"]
    assert "without any label" in problems[0]
    assert "in part" in problems[1]
    records = api.get("/tasks/citations/records", params={"corrected": "any"}).json()["records"]
    assert records[0]["corrected"] is None
    assert [field["label"] for field in records[2]["corrected"]] == ["other", "title", "other"]
    # Whoever confirms the same fields by hand gets the same record.
    url = f"/tasks/citations/records/{records[0]['id']}/fields"
    by_hand = api.put(url, json={"fields": [{"label": "title", "start": 7, "end": 14}]}).json()["corrected"]
    assert [field["label"] for field in by_hand] == ["other", "title", "other"]
    api.delete("/tasks/citations/records", params={"corrected": "any"})


@pytest.mark.parametrize("own", [True, False])
def test_one_wrong_record_of_a_file_is_left_out_alone(api: httpx.Client, task: str, own: bool) -> None:
    name, right, wrong = (task, "item", "thing") if own else ("citations", "title", "thing")
    data = doccano((f"one {task}", [[0, 3, right]]), (f"two {task}", [[0, 3, wrong]]), (f"six {task}", [[0, 3, right]]))
    url = f"/tasks/{name}/records/upload"
    done = api.post(url, content=data, params={"format": "doccano"}).json()
    assert (len(done["added"]), done["corrected"]) == (2, 2)
    (left_out,) = (problem for problem in done["problems"] if "left out" in problem["what"])
    assert left_out["where"] == "record 2"
    assert "'thing'" in left_out["what"]
    nothing = api.post(url, content=doccano(("seven", [[0, 3, wrong]])), params={"format": "doccano"})
    assert (nothing.status_code, nothing.json()["error"]["where"]) == (400, "record 1")
    # Figures are about the whole file or about none of it.
    assert api.post(f"/tasks/{name}/evaluate/upload", content=data, params={"format": "doccano"}).status_code == 400


def test_no_field_at_all_is_an_answer_where_a_task_has_an_outside(api: httpx.Client, task: str) -> None:
    url = f"/tasks/{task}/records/upload"
    ours = json.dumps({"tokens": ["nothing", "here"], "labels": ["O", "O"]}).encode()
    assert api.post(url, content=ours, params={"format": "jsonl"}).json()["corrected"] == 1
    theirs = api.post(url, content=doccano(("nobody looked", [])), params={"format": "doccano"}).json()
    assert (len(theirs["added"]), theirs["corrected"]) == (1, 0)
