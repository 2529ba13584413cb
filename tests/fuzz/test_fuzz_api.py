"""The API: any body at any address is answered, and never by a server's error."""

from __future__ import annotations

import gzip
import json
import sys
import threading
import time
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
import uvicorn
from fuzzing import Campaign
from hypothesis import strategies as st
from mutations import ODD, damaged

from espalier.workbench.app import PREFIX, create_app

TASK = {"name": "played", "labels": ["item", "price"], "rules": "Once: price once\n"}
BODIES = [
    json.dumps(TASK),
    '{"text": "chair 12 $\\nlamp 3 $", "layout": "lines"}',
    '{"fields": [{"label": "item", "start": 0, "end": 5}]}',
    '{"rules": "Once: price once [penalty 2]", "penalties": {"Once": 1.5}, "off": ["Once"]}',
    '{"texts": ["chair 12 $"], "k": 3, "model": "m", "records": [1, 2]}',
]
ROUTES = [
    *("tasks", "tasks/played", "tasks/played/records", "tasks/played/records/1", "tasks/played/rules", "parse"),
    *("tasks/played/jobs", "tasks/played/models", "tasks/played/decode", "tasks/played/suggestions", "jobs", "export"),
    *("tasks/..%2f..%2fetc", "tasks/%00", "tasks/played/records/999999999999999999999", "tasks/played/models/-1"),
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server in a thread, that trains nothing."""
    app = create_app(tmp_path_factory.mktemp("fuzzed") / "project", trainer=[sys.executable, "-c", "pass"])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}{PREFIX}", headers={"X-Espalier": "1"}, timeout=30) as client:
        assert client.post("/tasks", json=TASK).status_code == 201
        assert client.post("/tasks/played/records", json={"text": "chair 12 $"}).status_code < 300
        yield client
    server.should_exit = True
    thread.join(timeout=20)


def test_any_body_is_answered(campaign: Campaign, client: httpx.Client) -> None:
    routes = st.one_of(st.sampled_from(ROUTES), damaged([route for route in ROUTES if "%" not in route], edits=1))
    bodies = st.one_of(damaged(BODIES), st.lists(st.sampled_from(ODD), max_size=6).map("".join))
    kinds = st.sampled_from(["application/json", "application/json; charset=utf-16", "text/plain", "multipart/x"])

    def accepts(request: tuple[str, str, str, str]) -> bool:
        method, route, body, kind = request
        address = "".join(c for c in route if c.isprintable() and c not in "?#")
        answer = client.request(
            method,
            f"/{address}",
            content=body.encode("utf-8", "surrogatepass"),
            headers={"content-type": kind},
        )
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400 and "json" in answer.headers.get("content-type", ""):
            answer.json()
        return bool(answer.status_code < 400)

    requests = st.tuples(st.sampled_from(["POST", "PUT", "PATCH", "GET"]), routes, bodies, kinds)
    campaign.fuzz("API", requests, accepts, few=60)


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "/etc", "a\x00b", "", " ", "a" * 300, "\u202ea", "con\n", "~"])
def test_names_are_no_paths(client: httpx.Client, name: str) -> None:
    answer = client.post("/tasks", json={**TASK, "name": name})
    assert answer.status_code == 422, answer.text
    assert client.get(f"/tasks/{quote(name, safe='')}/records").status_code in (404, 422)


@pytest.mark.parametrize("number", ["1e999", "NaN", "-Infinity", "9" * 5000, "-1", "[" * 100_000])
def test_numbers_and_nests_in_bodies(client: httpx.Client, number: str) -> None:
    answer = client.post(
        "/tasks/played/records", content=f'{{"text": {number}}}', headers={"content-type": "application/json"}
    )
    assert 400 <= answer.status_code < 500, answer.text
    assert len(answer.text) < 10_000


@pytest.mark.parametrize(
    ("data", "status", "what"),
    [
        (gzip.compress(b"lamp 1 $\n") + gzip.compress(b"lamp 2 $\n"), 201, ""),
        (gzip.compress(b"lamp 3 $\n" * 1000)[:-12], 400, "truncated"),
        (gzip.compress(b"") * 100_000, 400, "the file is empty"),
    ],
    ids=["members", "truncated", "nothing"],
)
def test_gzipped_uploads(client: httpx.Client, data: bytes, status: int, what: str) -> None:
    """All members of a gzip file are read, and half a file is not taken for a whole one."""
    answer = client.post("/tasks/played/records/upload", params={"name": "texts.txt.gz"}, content=data)
    assert answer.status_code == status, answer.text
    assert what in answer.text
    if status == 201:
        assert len(answer.json()["added"]) == 2
