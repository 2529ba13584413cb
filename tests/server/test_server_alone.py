"""`espalier api`: the server without the page answers as the workbench does, and has no more routes than it needs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from espalier.server.app import create_api
from workbench_server import Running

REFERENCE = "Knuth, D. (1968). The Art of Computer Programming. Addison-Wesley."
KEPT = {"parse_references", "parse", "parse_file", "health", "ready", "metrics", "leave"}
GROBID = {"is_alive", "version", "process_citation", "process_citation_list", "process_references"}


@pytest.fixture
def alone(start: Callable[..., Running]) -> Running:
    return start(create=create_api)


def test_its_answers_are_those_of_the_workbench(alone: Running, api: httpx.Client) -> None:
    for path, body in (
        ("/parse", {"texts": [REFERENCE, REFERENCE.upper()], "k": 2}),
        ("/parse", {"text": f"{REFERENCE}\n{REFERENCE}"}),
        ("/parse", {"texts": [REFERENCE], "odd": 1}),
        ("/tasks/citations/parse", {"texts": [REFERENCE]}),
        ("/tasks/none/parse", {"texts": [REFERENCE]}),
    ):
        own, theirs = alone.client.post(path, json=body), api.post(path, json=body)
        said = [answer.json() for answer in (own, theirs)]
        for answer in said:  # it names the tasks of a project, and other tests have added some to that one
            answer.get("error", {}).pop("hint", None)
        assert (own.status_code, said[0]) == (theirs.status_code, said[1])


def test_its_routes_are_described_as_they_are_in_the_workbench(alone: Running, api: httpx.Client) -> None:
    own, whole = (client.get("/openapi.json").json()["paths"] for client in (alone.client, api))
    assert {route["operationId"] for methods in own.values() for route in methods.values()} == KEPT | GROBID
    assert {path: whole[path] for path in own} == own


def test_a_browser_finds_the_description_and_the_form(start: Callable[..., Running], tmp_path: Path) -> None:
    from espalier.server.security import Gate

    guarded = start(tmp_path / "guarded", create=create_api, gate=Gate("a-long-enough-token"))
    with httpx.Client(base_url=guarded.origin, headers={"accept": "text/html"}) as browser:
        assert browser.get("/").headers["location"] == "/login"
        for page in ("/login", "/base.css", "/layout.css", "/icon.svg"):
            assert browser.get(page).status_code == 200, page
        assert browser.post("/login", data={"token": "a-long-enough-token"}).headers["location"] == "/"
        assert browser.get("/").headers["location"] == "/api"
        page = browser.get("/api").text
        assert "The server&#x27;s API" in page
        assert "POST /api/v1/parse" in page
        assert browser.get("/app.js").status_code == 404


def test_the_server_loads_nothing_of_the_workbench() -> None:
    code = "import espalier.server.app, sys; print([n for n in sys.modules if n.startswith('espalier.workbench')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_serves_it(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "espalier", "api", "--project", str(tmp_path / "p"), "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address: Any = process.stdout.readline().strip()
        found = httpx.post(f"{address}api/v1/parse", json={"texts": [REFERENCE]}, timeout=120)
        assert found.json()["records"][0]["csl"]["author"][0]["family"] == "Knuth"
        assert httpx.get(f"{address}api/v1/status").status_code == 404
    finally:
        process.kill()
        process.communicate()
