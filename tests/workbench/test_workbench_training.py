"""Training through the API: a better model, the curve, cancelling, undo, files of models, and what goes wrong."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

import espalier as es
from espalier.recipes import METHODS
from espalier.workbench.jobs import Jobs
from workbench_server import Running, corrected_wares, finished, wares

SLOW = """
import json, sys, time
sys.stdin.readline()
print(json.dumps({"news": "working", "progress": 0.5, "held_out": 0}), flush=True)
time.sleep(60)
"""
BROKEN = "import sys; sys.stdin.readline(); sys.exit('out of luck')"


def labels_of(api: httpx.Client, task: str, id: int) -> list[tuple[str, int, int]]:
    record = api.get(f"/tasks/{task}/records/{id}").json()
    return [(f["label"], f["start"], f["end"]) for f in record["fields"]]


def trained(api: httpx.Client, task: str, **order: Any) -> dict[str, Any]:
    done = api.post(f"/tasks/{task}/jobs", json=order)
    assert done.status_code == 202, done.text
    job = finished(api, done.json()["id"])
    assert job["state"] == "done", job
    return job


def test_correct_train_see_the_answer_change_undo(api: httpx.Client, task: str, tmp_path: Path) -> None:
    ids = corrected_wares(api, task, 10, more=4)
    _, fields = wares(14)[13]
    wanted = [(f["label"], f["start"], f["end"]) for f in fields]
    assert labels_of(api, task, ids[13]) != wanted
    job = trained(api, task, name="first")
    assert labels_of(api, task, ids[13]) == wanted  # it has learned what was never shown for this text

    # Each record judges a model that has not seen it; ten draw no curve. There was nothing to compare with.
    assert job["held_out"] == 10
    assert job["curve"] == []
    assert (job["verdict"]["used"], job["verdict"]["why"]) == (True, "nothing to compare")
    models = api.get(f"/tasks/{task}/models").json()
    [model] = models["models"]
    assert (model["name"], model["corrected"], model["parent"], model["active"]) == ("first", 10, None, True)
    assert model["scores"]["held_out"] == 10

    other = trained(api, task, method="codl", name="second", activate="always")
    assert (other["verdict"]["used"], other["verdict"]["why"]) == (True, "you said so")
    second = other["model"]
    assert api.get(f"/tasks/{task}").json()["model"] == second
    newest = api.get(f"/tasks/{task}/models").json()["models"][0]
    assert (newest["parent"], newest["pool"], newest["method"]) == (model["id"], 4, "codl")

    for chosen in (model["id"], None, second):  # undo, further, redo
        assert api.put(f"/tasks/{task}/model", json={"id": chosen}).json()["model"] == chosen
    api.put(f"/tasks/{task}/model", json={"id": None})
    assert labels_of(api, task, ids[13]) != wanted

    url = f"/tasks/{task}/models/{model['id']}"
    file = api.get(f"{url}/file")
    assert "attachment" in file.headers["content-disposition"]
    (tmp_path / "mine.espalier").write_bytes(file.content)
    estimator: Any = es.load(tmp_path / "mine.espalier").model
    assert estimator.predict([["oak", "table", "99", "$"]]) == [["item", "item", "price", "price"]]
    uploaded = api.post(f"/tasks/{task}/models", params={"name": "again"}, content=file.content)
    assert uploaded.status_code == 201, uploaded.text
    assert uploaded.json()["source"] == "uploaded"
    assert labels_of(api, task, ids[13]) == wanted
    assert api.patch(url, json={"name": "renamed"}).json()["name"] == "renamed"
    assert api.delete(f"/tasks/{task}/models/{uploaded.json()['id']}").status_code == 409  # in use
    assert api.delete(url).status_code == 204
    assert api.get(f"{url}/file").status_code == 404

    report = api.post(f"/tasks/{task}/evaluate", json={"model": second}).json()
    assert (report["records"], report["seen"], report["token_accuracy"]) == (10, 10, 1.0)
    compared = api.post(f"/tasks/{task}/compare", json={"a": second, "b": second}).json()
    assert [row["p_bootstrap"] for row in compared["rows"]] == [1.0, 1.0, 1.0]
    assert [row["difference"] for row in compared["rows"]] == [0.0, 0.0, 0.0]


WORSE = """
import json, shutil, sys
orders = json.loads(sys.stdin.readline())
shutil.copy(orders["active"]["file"], orders["output"])
print(json.dumps({"model": "crf"}), flush=True)
verdict = {"used": False, "why": "worse", "metric": "exact", "held_out": 24, "before": 0.79, "after": 0.73, "p": 0.048}
print(json.dumps({"verdict": verdict}), flush=True)
"""


def test_a_worse_model_is_kept_but_not_used(start: Callable[..., Running], tmp_path: Path) -> None:
    first = start(tmp_path / "p")
    good = finished(first.client, running_job(first)["id"])["model"]
    first.stop()
    api = start(tmp_path / "p", trainer=[sys.executable, "-c", WORSE]).client
    job = trained(api, "wares")
    assert not job["verdict"]["used"]
    assert api.get("/tasks/wares").json()["model"] == good
    assert api.put("/tasks/wares/model", json={"id": job["model"]}).json()["model"] == job["model"]  # a person says so
    assert trained(api, "wares", activate=False)["verdict"]["used"] is False


def test_what_cannot_be_trained(api: httpx.Client, task: str) -> None:
    url = f"/tasks/{task}/jobs"
    assert "corrected" in api.post(url, json={}).json()["error"]["what"]
    corrected_wares(api, task, 2)
    refused = api.post(url, json={"method": "codl"})
    assert refused.status_code == 409
    assert "nobody corrected" in refused.json()["error"]["what"]
    assert api.post(url, json={"method": "magic"}).status_code == 422
    assert {row["name"] for row in api.get(f"/tasks/{task}").json()["methods"]} == set(METHODS)


def test_methods_that_need_rules_say_so(api: httpx.Client, task: str) -> None:
    api.put(f"/tasks/{task}/rules", json={"text": ""})
    corrected_wares(api, task, 2, more=2)
    refused = api.post(f"/tasks/{task}/jobs", json={"method": "pr"})
    assert refused.status_code == 409
    assert "rules" in refused.json()["error"]["what"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "not a model file"),
        (b"espalier model\r\n" + b"\0" * 100, "not a model file"),
        (b"PK\x03\x04", "not a model"),
    ],
)
def test_bad_model_files(api: httpx.Client, task: str, content: bytes, what: str) -> None:
    done = api.post(f"/tasks/{task}/models", content=content)
    assert done.status_code == 400
    assert what in done.json()["error"]["what"]
    assert "/tmp" not in done.text


def test_a_model_of_other_labels(api: httpx.Client, task: str) -> None:
    bundled = api.get("/tasks/citations/models/0/file").content
    done = api.post(f"/tasks/{task}/models", content=bundled)
    assert done.status_code == 400
    assert "author (unknown)" in done.json()["error"]["what"]
    assert api.delete("/tasks/citations/models/0").status_code == 409
    assert api.put("/tasks/citations/model", json={"id": 12345}).status_code == 404


def running_job(server: Running, order: dict[str, Any] | None = None) -> dict[str, Any]:
    api = server.client
    api.post("/tasks", json={"name": "wares", "labels": ["item", "price"]})
    corrected_wares(api, "wares", 2)
    job: dict[str, Any] = api.post("/tasks/wares/jobs", json=order or {}).json()
    return job


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def test_cancel_is_at_once_and_the_next_one_runs(start: Callable[..., Running]) -> None:
    server = start(trainer=[sys.executable, "-c", SLOW])
    api, job = server.client, running_job(server)
    waiting = [api.post("/tasks/wares/jobs", json={}).json() for _ in range(2)]
    until(lambda: api.get(f"/jobs/{job['id']}").json()["message"] == "working")
    assert api.get("/status").json()["jobs"] == {"running": job["id"], "queued": 2}
    process = server.app.state.jobs._process.pid
    assert api.post(f"/jobs/{waiting[0]['id']}/cancel").json()["state"] == "cancelled"  # before it began
    began = time.monotonic()
    assert api.post(f"/jobs/{job['id']}/cancel").json()["state"] == "cancelled"
    until(lambda: api.get(f"/jobs/{waiting[1]['id']}").json()["message"] == "working")
    assert time.monotonic() - began < 10
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert api.get(f"/jobs/{job['id']}").json()["state"] == "cancelled"
    assert api.post(f"/jobs/{job['id']}/cancel").json()["state"] == "cancelled"  # again, to no harm
    assert api.get("/tasks/wares/models").json()["models"] == []
    assert [row["id"] for row in api.get("/jobs").json()["jobs"]] == [waiting[1]["id"], waiting[0]["id"], job["id"]]


def test_a_process_that_breaks(start: Callable[..., Running]) -> None:
    server = start(trainer=[sys.executable, "-c", BROKEN])
    job = finished(server.client, running_job(server)["id"])
    assert job["state"] == "failed"
    assert "out of luck" in job["error"]["hint"]


def test_an_interrupted_job_has_failed_and_waiting_ones_wait(start: Callable[..., Running]) -> None:
    first = start(trainer=[sys.executable, "-c", SLOW])
    job = running_job(first)
    waiting = first.client.post("/tasks/wares/jobs", json={}).json()
    until(lambda: first.client.get(f"/jobs/{job['id']}").json()["state"] == "running")
    first.stop()
    second = start(trainer=[sys.executable, "-c", SLOW])
    found = second.client.get(f"/jobs/{job['id']}").json()
    assert found["state"] == "failed"
    assert "stopped" in found["error"]["what"]
    until(lambda: second.client.get(f"/jobs/{waiting['id']}").json()["state"] == "running")


def test_a_task_that_is_deleted_takes_its_jobs_along(start: Callable[..., Running]) -> None:
    server = start(trainer=[sys.executable, "-c", SLOW])
    api, job = server.client, running_job(server)
    waiting = api.post("/tasks/wares/jobs", json={}).json()
    until(lambda: api.get(f"/jobs/{job['id']}").json()["message"] == "working")
    process = server.app.state.jobs._process
    assert api.delete("/tasks/wares").status_code == 204
    until(lambda: process.poll() is not None)
    assert api.get(f"/jobs/{waiting['id']}").status_code == 404
    until(lambda: api.get("/status").json()["jobs"] == {"running": None, "queued": 0})
    assert running_job(server)["state"] == "queued"  # a new task of the same name; the queue still works


def test_a_job_that_ends_by_itself_is_ended_to_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look whether it runs and its end, another thread may have seen it end."""

    def gone(_: int, __: int) -> None:
        raise ProcessLookupError

    monkeypatch.setattr(os, "killpg", gone, raising=False)
    jobs = object.__new__(Jobs)
    jobs._process = cast(Any, SimpleNamespace(pid=1, poll=lambda: None))
    jobs._kill()
