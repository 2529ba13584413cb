"""Finding, flagging, skipping, commenting, splitting and merging records; confirming what the model is sure of."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from workbench_server import corrected_wares, finished

ANN = {"X-Espalier-Name": quote("Ann")}


@pytest.fixture
def records(api: httpx.Client, task: str) -> list[int]:
    """chair, lamp, clock; the chair is corrected by Ann."""
    texts = "oak chair 12 $\nlamp\nold clock 7 $ $"
    ids: list[int] = api.post(f"/tasks/{task}/records", json={"text": texts, "layout": "lines"}).json()["added"]
    fields = [{"label": "item", "start": 0, "end": 9}, {"label": "price", "start": 10, "end": 14}]
    api.put(f"/tasks/{task}/records/{ids[0]}/fields", json={"fields": fields}, headers=ANN)
    return ids


def found(api: httpx.Client, task: str, **wanted: Any) -> list[int]:
    answer = api.get(f"/tasks/{task}/records", params=wanted).json()
    assert answer["matching"] == len(answer["records"])
    return [record["id"] for record in answer["records"]]


def test_find(api: httpx.Client, task: str, records: list[int]) -> None:
    chair, _, clock = records
    assert found(api, task, text="CLOCK") == [clock]
    assert found(api, task, text="o", state="open") == [clock]
    assert found(api, task, state="corrected") == [chair] == found(api, task, who="Ann")
    assert found(api, task, label="item") == [chair]  # confirmed; the rules alone say price only
    assert found(api, task, label="price") == [chair, clock]
    assert found(api, task, rule="Once") == []
    api.put(
        f"/tasks/{task}/rules",
        json={"text": "No: count(price) >= 9"},
    )
    assert found(api, task, rule="No") == records
    assert found(api, task, low=0.999) == []
    assert set(found(api, task, high=0.999)) == set(records)
    page = api.get(f"/tasks/{task}/records", params={"text": "o", "limit": 1, "offset": 1}).json()
    assert (page["matching"], [one["id"] for one in page["records"]]) == (2, [clock])
    assert api.get(f"/tasks/{task}/records", params={"state": "odd"}).status_code == 422


def test_flags_skips_and_comments(api: httpx.Client, task: str, records: list[int]) -> None:
    _, lamp, clock = records
    url = f"/tasks/{task}/records/{lamp}"
    assert api.patch(url, json={"flag": "two lamps?"}, headers=ANN).json()["flag"] == "two lamps?"
    assert found(api, task, state="flagged") == [lamp]
    assert api.patch(url, json={"skipped": True}).json()["flag"] == "two lamps?"
    assert found(api, task, state="skipped") == [lamp]
    queue = api.get(f"/tasks/{task}/queue", params={"limit": 10}).json()
    assert ([one["id"] for one in queue["records"]], queue["left"]) == ([clock], 1)
    said = api.post(f"{url}/comments", json={"text": "<b>why</b>"}, headers=ANN).json()["said"]
    assert [(one["who"], one["text"]) for one in said] == [("Ann", "<b>why</b>")]
    assert api.get(url).json()["comments"] == 1
    assert found(api, task, state="commented") == [lamp]
    assert api.patch(url, json={"flag": None, "skipped": False}).json()["skipped"] is False
    assert found(api, task, state="flagged") == []
    assert api.post(f"{url}/comments", json={"text": ""}).status_code == 422
    assert api.patch(f"/tasks/{task}/records/{10**9}", json={"flag": "x"}).status_code == 404
    what = [row["what"] for row in api.get(f"/tasks/{task}/history", params={"record": lamp}).json()["changes"]]
    assert what == ["flag taken away", "flagged"]


def texts(api: httpx.Client, task: str) -> list[str]:
    return [one["text"] for one in api.get(f"/tasks/{task}/records").json()["records"]]


def test_split_and_take_back(api: httpx.Client, task: str, records: list[int]) -> None:
    chair = records[0]
    before = api.get(f"/tasks/{task}/records/{chair}").json()
    assert api.post(f"/tasks/{task}/records/{chair}/split", json={"at": 14}).status_code == 400
    made = api.post(f"/tasks/{task}/records/{chair}/split", json={"at": 10}, headers=ANN).json()["made"]
    first, second = (api.get(f"/tasks/{task}/records/{id}").json() for id in made)
    assert (first["text"], second["text"]) == ("oak chair", "12 $")
    assert first["corrected"] == [{"label": "item", "start": 0, "end": 9}]
    assert second["corrected"] == [{"label": "price", "start": 0, "end": 4}]
    assert api.get(f"/tasks/{task}/records/{chair}").status_code == 404
    [change] = api.get(f"/tasks/{task}/history", params={"record": made[0]}).json()["changes"]
    assert api.post(f"/tasks/{task}/history/{change['id']}/undo").status_code == 200
    after = api.get(f"/tasks/{task}/records/{chair}").json()
    assert {**after, "version": 0} == {**before, "version": 0}
    assert api.get(f"/tasks/{task}/records/{made[1]}").status_code == 404


def test_a_cut_through_a_field_is_not_confirmed(api: httpx.Client, task: str, records: list[int]) -> None:
    made = api.post(f"/tasks/{task}/records/{records[0]}/split", json={"at": 4}).json()["made"]
    assert [api.get(f"/tasks/{task}/records/{id}").json()["corrected"] for id in made] == [None, None]


def test_merge(api: httpx.Client, task: str, records: list[int]) -> None:
    chair, lamp, clock = records
    assert api.post(f"/tasks/{task}/records/{lamp}/merge", json={"other": lamp}).status_code == 400
    [made] = api.post(f"/tasks/{task}/records/{lamp}/merge", json={"other": clock}).json()["made"]
    assert sorted(texts(api, task)) == ["lamp old clock 7 $ $", "oak chair 12 $"]
    api.post(f"/tasks/{task}/records", json={"text": "oak chair"})
    refused = api.post(f"/tasks/{task}/records/{chair}/split", json={"at": 10})  # such a text is there
    assert refused.status_code == 409
    assert api.get(f"/tasks/{task}/records/{chair}").status_code == 200
    [change] = api.get(f"/tasks/{task}/history", params={"record": made}).json()["changes"]
    assert api.post(f"/tasks/{task}/history/{change['id']}/undo").status_code == 200
    assert {"lamp", "old clock 7 $ $"} < set(texts(api, task))


def test_a_split_text_that_is_there_again(api: httpx.Client, task: str, records: list[int]) -> None:
    made = api.post(f"/tasks/{task}/records/{records[0]}/split", json={"at": 10}).json()["made"]
    api.post(f"/tasks/{task}/records", json={"text": "oak chair 12 $"})
    [change] = api.get(f"/tasks/{task}/history", params={"record": made[0]}).json()["changes"]
    refused = api.post(f"/tasks/{task}/history/{change['id']}/undo")
    assert refused.status_code == 409, refused.text
    assert refused.json()["current"]["id"] == made[0]  # nothing was lost


def test_comments_come_back(api: httpx.Client, task: str, records: list[int]) -> None:
    chair = f"/tasks/{task}/records/{records[0]}"
    api.post(f"{chair}/comments", json={"text": "before"}, headers=ANN)
    before = api.get(f"{chair}/comments").json()["said"][0]
    made = api.post(f"{chair}/split", json={"at": 10}).json()["made"]
    api.post(f"/tasks/{task}/records/{made[1]}/comments", json={"text": "since"})
    for _ in range(2):
        [change, *_] = api.get(f"/tasks/{task}/history").json()["changes"]
        assert api.post(f"/tasks/{task}/history/{change['id']}/undo").status_code == 200
        said = api.get(f"{chair}/comments").json()["said"]
        assert [one["text"] for one in said] == ["before", "since"]
        assert {**said[0], "id": 0} == {**before, "id": 0}
        api.delete(chair)


def test_confirm_what_is_sure_after_a_look(api: httpx.Client, task: str) -> None:
    url = f"/tasks/{task}/sure"
    ids = corrected_wares(api, task, 10, more=6)
    assert api.post(url, json={"above": 0.6}).status_code == 409  # no model
    finished(api, api.post(f"/tasks/{task}/jobs", json={}).json()["id"])
    sure = {one["id"]: one["confidence"] for one in api.get(f"/tasks/{task}/records").json()["records"]}
    above = sorted(sure[id] for id in ids[10:])[2]
    look = api.post(url, json={"above": above, "sample": 2}).json()
    assert (look["matching"], look["confirmed"], len(look["records"])) == (4, 0, 2)
    assert look["records"][0]["confidence"] == above  # the least sure of them
    assert api.get(f"/tasks/{task}").json()["corrected"] == 10
    assert api.post(url, json={"above": above, "really": True}, headers=ANN).json()["confirmed"] == 4
    assert api.get(f"/tasks/{task}").json()["corrected"] == 14
    assert api.post(url, json={"above": 0.2}).status_code == 422
