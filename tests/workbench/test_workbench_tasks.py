"""Tasks through the API: those of the library, and your own."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from espalier.server.tasks import BUILTIN
from espalier.tasks.task import load_task
from workbench_server import Running


def test_tasks_of_the_library(api: httpx.Client) -> None:
    found = api.get("/tasks").json()["tasks"]
    assert tuple(task["name"] for task in found[:4]) == BUILTIN
    for task in found[:4]:
        declared = load_task(task["name"])
        assert task["builtin"]
        assert task["rules"] == declared.rules.K
        assert task["outside"] == ("O" in declared.labels)
    entities = found[3]
    assert entities["labels"] == ["person", "location", "corporation", "group", "product", "creative-work"]
    assert [task["model"] for task in found[:4]] == [0, None, None, None]


def test_a_task_of_your_own(api: httpx.Client) -> None:
    body = {"name": "own-1", "labels": ["start-date", "größe"], "outside": False, "features": ["lower[-1,0]", "shape"]}
    made = api.post("/tasks", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["labels"] == ["start-date", "größe"]
    assert not made.json()["outside"]
    assert made.json()["features"] == ["lower@-1", "lower", "shape"]
    again = api.post("/tasks", json=body)
    assert again.status_code == 409
    assert "already" in again.json()["error"]["what"]
    assert api.delete("/tasks/own-1").status_code == 204
    assert api.get("/tasks/own-1").status_code == 404
    assert api.post("/tasks", json={**body, "labels": ["other"]}).json()["labels"] == ["other"]  # the name is free


@pytest.mark.parametrize(
    ("change", "status", "what"),
    [
        ({"name": "Upper"}, 422, "does not have the form"),
        ({"name": "x" * 41}, 422, "does not have the form"),
        ({"name": "../etc"}, 422, "does not have the form"),
        ({"labels": []}, 422, "at least 1"),
        ({"labels": ["a b"]}, 422, "does not have the form"),
        ({"labels": ["O"]}, 400, "no name for a label"),
        ({"labels": ["B-x"]}, 400, "no name for a label"),
        ({"labels": ["a", "a"]}, 400, "twice"),
        ({"rules": "A: b once"}, 400, "unknown field 'b'"),
        ({"rules": 'A: token in file "/etc/passwd" -> a'}, 400, "missing"),
        ({"features": ["nonsense[1]"]}, 400, "nonsense"),
        ({"features": ["lexicon:/etc/passwd"]}, 400, "lexicon"),
        ({"colour": "red"}, 422, "there is no part 'colour'"),
    ],
)
def test_wrong_tasks(api: httpx.Client, change: dict[str, object], status: int, what: str) -> None:
    done = api.post("/tasks", json={"name": "wrong", "labels": ["a"], **change})
    assert done.status_code == status, done.text
    assert what in done.text
    assert api.get("/tasks/wrong").status_code == 404


def test_a_task_of_the_library_begins_anew(start: Callable[..., Running]) -> None:
    api = start().client
    [id] = api.post("/tasks/citations/records", json={"text": "A. Berg. Oaks. 1999."}).json()["added"]
    api.put("/tasks/citations/rules", json={"text": ""})
    api.put("/tasks/citations/model", json={"id": None})
    before = api.get(f"/tasks/citations/records/{id}").json()
    assert before["fields"] == []  # no model, no rules
    assert api.delete("/tasks/citations").status_code == 204
    task = api.get("/tasks/citations").json()
    assert (task["records"], task["model"]) == (0, 0)
    assert task["rules"] == load_task("citations").rules.K
