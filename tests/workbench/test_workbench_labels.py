"""Labels of a task are added, renamed, merged and removed, and what happens is said first."""

from __future__ import annotations

import httpx
import pytest

from espalier.workbench.relabelling import renamed_rules
from workbench_server import corrected_wares, finished

RULES = 'Dollar: token in "price" -> price\nitem: item once  # price\nOdd: token ~ /price/ -> item\n'


def test_names_are_exchanged_where_they_are_labels() -> None:
    assert renamed_rules(RULES, {"price": "cost", "item": "ware"}) == (
        'Dollar: token in "price" -> cost\nitem: ware once  # price\nOdd: token ~ /price/ -> ware\n'
    )
    assert renamed_rules("A: a once\nB: b once", {"a": "b", "b": "a"}) == "A: b once\nB: a once"


@pytest.fixture
def wares_task(api: httpx.Client, task: str) -> str:
    api.put(f"/tasks/{task}/rules", json={"text": RULES})
    corrected_wares(api, task, 3, more=1)
    return task


def spans(api: httpx.Client, task: str) -> set[str]:
    records = api.get(f"/tasks/{task}/records", params={"corrected": "yes"}).json()["records"]
    return {field["label"] for record in records for field in record["corrected"]}


def test_rename_and_add_after_a_look(api: httpx.Client, wares_task: str) -> None:
    url = f"/tasks/{wares_task}/labels"
    order = {"rename": {"price": "cost"}, "add": ["colour"]}
    look = api.put(url, json=order).json()
    assert (look["labels"], look["records"], look["reopened"], look["done"]) == (
        ["item", "cost", "colour"],
        3,
        0,
        False,
    )
    assert look["rules"] == [
        {"before": 'Dollar: token in "price" -> price', "after": 'Dollar: token in "price" -> cost'}
    ]
    assert api.get(f"/tasks/{wares_task}").json()["labels"] == ["item", "price"]  # only a look
    version = api.get(f"/tasks/{wares_task}").json()["version"]
    assert api.put(url, json={**order, "really": True, "version": version}).json()["done"]
    assert api.get(f"/tasks/{wares_task}").json()["labels"] == ["item", "cost", "colour"]
    assert spans(api, wares_task) == {"item", "cost"}
    assert "-> cost" in api.get(f"/tasks/{wares_task}/rules").json()["text"]
    assert api.put(url, json={"add": ["size"], "really": True, "version": version}).status_code == 409


def test_merge_and_remove(api: httpx.Client, wares_task: str) -> None:
    url = f"/tasks/{wares_task}/labels"
    assert api.put(url, json={"rename": {"price": "item"}, "really": True}).json()["labels"] == ["item"]
    assert spans(api, wares_task) == {"item"}
    api.put(url, json={"add": ["other"], "really": True})
    done = api.put(url, json={"remove": ["item"], "really": True}).json()
    assert (done["labels"], done["records"], done["reopened"]) == (["other"], 3, 0)
    assert all(row["after"].startswith("# ") for row in done["rules"])  # rules about nothing become comments
    assert api.get(f"/tasks/{wares_task}/rules").json()["errors"] == []
    assert spans(api, wares_task) == set()


def test_without_outside_records_are_open_again(api: httpx.Client) -> None:
    api.post("/tasks", json={"name": "full", "labels": ["item", "price"], "outside": False})
    corrected_wares(api, "full", 2)
    done = api.put("/tasks/full/labels", json={"remove": ["price"], "really": True}).json()
    assert (done["records"], done["reopened"]) == (2, 2)
    assert api.get("/tasks/full").json()["corrected"] == 0


def test_a_model_of_other_labels_is_put_out_of_use(api: httpx.Client, wares_task: str) -> None:
    job = finished(api, api.post(f"/tasks/{wares_task}/jobs", json={"activate": "always"}).json()["id"])
    before = api.get(f"/tasks/{wares_task}/records").json()["records"]
    assert before[3]["fields"]
    assert api.put(f"/tasks/{wares_task}/labels", json={"add": ["colour"], "really": True}).json()["model"]
    task = api.get(f"/tasks/{wares_task}").json()
    assert task["model"] is None
    assert api.get(f"/tasks/{wares_task}/records").status_code == 200  # what was kept of the old labels is not used
    refused = api.put(f"/tasks/{wares_task}/model", json={"id": job["model"]})
    assert refused.status_code == 409
    assert "labels" in refused.json()["error"]["what"]
    assert finished(api, api.post(f"/tasks/{wares_task}/jobs", json={}).json()["id"])["state"] == "done"


@pytest.mark.parametrize(
    ("order", "status"),
    [
        ({"add": ["item"]}, 400),
        ({"add": ["B-x"]}, 400),
        ({"add": ["a b"]}, 422),
        ({"remove": ["nothing"]}, 400),
        ({"remove": ["item", "price"]}, 400),
        ({"rename": {"nothing": "x"}}, 400),
    ],
)
def test_what_cannot_be(api: httpx.Client, task: str, order: dict[str, object], status: int) -> None:
    done = api.put(f"/tasks/{task}/labels", json={**order, "really": True})
    assert done.status_code == status, done.text


def test_a_task_grows_to_sixty_labels(api: httpx.Client, task: str) -> None:
    url, more = f"/tasks/{task}/labels", [f"x{i}" for i in range(58)]
    refused = api.put(url, json={"add": [*more, "y"]})
    assert (refused.status_code, refused.json()["error"]["what"]) == (400, "a task has at most 60 labels")
    assert len(api.put(url, json={"add": more}).json()["labels"]) == 60


def test_fields_with_labels_of_before_stay_away(api: httpx.Client, task: str) -> None:
    first, second = corrected_wares(api, task, 2)
    api.delete(f"/tasks/{task}/records/{first}/fields")
    api.delete(f"/tasks/{task}/records/{second}")
    api.put(f"/tasks/{task}/labels", json={"rename": {"price": "cost"}, "really": True})
    for record in (first, second):
        [change, *_] = api.get(f"/tasks/{task}/history", params={"record": record}).json()["changes"]
        refused = api.post(f"/tasks/{task}/history/{change['id']}/undo")
        assert refused.status_code == 409
        assert refused.json()["error"]["what"] == "it has labels that the task no longer has"
        assert "price" in refused.json()["error"]["hint"]
    assert spans(api, task) == set()


def test_labels_of_the_library_stay(api: httpx.Client) -> None:
    assert api.put("/tasks/citations/labels", json={"add": ["colour"]}).status_code == 409
