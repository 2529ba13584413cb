"""The API as a whole: its description, against this server and docs/server-api.md, and nothing from outside."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from workbench_server import Running, corrected_wares

DOCS = Path(__file__).resolve().parents[2] / "docs" / "server-api.md"
WRITTEN = re.findall(r"^### `([A-Z]+ /\S+)`$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
PATIENCE = 90  # seconds: the first answer of a new checkout waits for compiled code
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server of its own, that trains nothing."""
    running = Running(tmp_path_factory.mktemp("played") / "project", trainer=[sys.executable, "-c", "pass"])
    for k in (1, 2):  # what has to be compiled is compiled before anybody measures time
        running.client.post(
            "/tasks/citations/parse", json={"texts": ["Ada Plum. Walls. 1950."] * 8, "k": k}, timeout=300
        )
    yield running.client
    running.stop()


@pytest.fixture(scope="module")
def description(api: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = api.get("/openapi.json").json()
    return found


@pytest.fixture(scope="module")
def schema(api: httpx.Client, description: dict[str, Any]) -> Any:
    """The description, with a task to play with, so that requests find something."""
    made = api.post("/tasks", json={"name": "played-with", "labels": ["item", "price"], "rules": "Once: price once\n"})
    assert made.status_code == 201
    corrected_wares(api, "played-with", 3, more=3)
    return schemathesis.openapi.from_dict(description)


@pytest.mark.parametrize("route", sorted(WRITTEN, key=lambda route: (route[:6] == "DELETE", -len(route))))
def test_no_request_breaks_the_server(route: str, schema: Any, api: httpx.Client) -> None:
    method, path = route.split()
    origin = str(api.base_url).removesuffix("/api/v1/")
    statuses: Counter[int] = Counter()

    @settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
    @given(case=schema[path][method].as_strategy())
    def play(case: Any) -> None:
        if "task" in case.path_parameters:
            case.path_parameters["task"] = "played-with"
        for name in ("record", "model", "job"):
            if isinstance(case.path_parameters.get(name), int):
                case.path_parameters[name] = 1 + case.path_parameters[name] % 8
        statuses[case.call_and_validate(base_url=origin, checks=CHECKS, timeout=PATIENCE).status_code] += 1

    play()
    assert max(statuses) < 500
    assert 403 not in statuses  # the description says all that a client has to send


def routes(description: dict[str, Any]) -> set[str]:
    return {f"{method.upper()} {path}" for path, methods in description["paths"].items() for method in methods}


def test_the_docs_have_every_route_and_no_other(description: dict[str, Any]) -> None:
    assert len(WRITTEN) == len(set(WRITTEN))
    assert set(WRITTEN) == routes(description)


def test_the_docs_name_every_part_of_the_answers(description: dict[str, Any]) -> None:
    text = DOCS.read_text(encoding="utf-8")
    for name, shape in description["components"]["schemas"].items():
        for part in shape.get("properties", {}):
            assert re.search(rf'["`]{part}["`]', text), f"{name}.{part} is not in docs/server-api.md"


def test_every_route_declares_the_errors(description: dict[str, Any]) -> None:
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            assert {"400", "401", "403", "404", "409", "413", "422", "504"} <= set(route["responses"]), (method, path)
            assert route["description"]


def test_generators_of_clients_get_what_they_can_read(description: dict[str, Any]) -> None:
    """Names of functions, and single values as lists of one; a reference to a shape leads somewhere."""
    names = [route["operationId"] for methods in description["paths"].values() for route in methods.values()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
    text = json.dumps(description)
    assert '"const"' not in text
    assert set(re.findall(r'"#/components/schemas/(\w+)"', text)) <= set(description["components"]["schemas"])


def test_the_description_page_loads_nothing(api: httpx.Client, description: dict[str, Any]) -> None:
    origin = str(api.base_url).removesuffix("/api/v1/")
    page = httpx.get(f"{origin}/api")
    assert page.status_code == 200
    assert not re.search(r"<script|<link|src=|@import|url\(|//cdn", page.text)
    for route in routes(description):
        assert route in page.text


def test_what_is_not_there(api: httpx.Client) -> None:
    for url in ("/nothing", "/tasks/none", "/tasks/none/records", "/tasks/ads/records/999999", "/jobs/99999"):
        done = api.get(url)
        assert done.status_code == 404
        assert set(done.json()["error"]) == {"what", "where", "hint"}
    assert api.get("/tasks/Bad%20Name").status_code == 422
    assert api.put("/status").status_code in (404, 405)
    assert api.get(f"/tasks/ads/records/{10**30}").status_code == 422


@pytest.mark.parametrize(
    ("body", "where", "what"),
    [
        ({"labels": ["a"]}, "body.name", "name is missing"),
        ({"name": 3, "labels": ["a"]}, "body.name", "name must be a text"),
        ({"name": "x", "labels": "a"}, "body.labels", "labels must be a list"),
        ({"name": "x", "labels": [3]}, "body.labels.0", "entry 0 must be a text"),
        ({"name": "A b", "labels": ["a"]}, "body.name", "name does not have the form ^[a-z]"),
        ({"name": "x", "labels": ["a"], "colour": 1}, "body.colour", "there is no part 'colour' in this request"),
    ],
)
def test_a_wrong_shape_is_told_in_our_words(api: httpx.Client, body: dict[str, Any], where: str, what: str) -> None:
    answer = api.post("/tasks", json=body)
    assert (answer.status_code, answer.json()["error"]["where"]) == (422, where)
    assert answer.json()["error"]["what"].startswith(what)


@pytest.mark.parametrize(
    ("given", "what"), [("x", "a whole number"), ("0", "at least 1"), ("9999999", "at most 100000")]
)
def test_numbers_of_a_query(api: httpx.Client, given: str, what: str) -> None:
    answer = api.get("/tasks/ads/records", params={"limit": given})
    assert answer.json()["error"]["what"] == f"limit must be {what}"
