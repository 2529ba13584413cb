"""Two people at one project: versions, conflicts, history, undo; and projects from before there were any."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from espalier.server.database import FILE, Database
from espalier.workbench.bench import Bench
from workbench_server import wares

SCHEMA_1 = Path(__file__).parents[1] / "server" / "projects" / "schema-1.sql"
ITEM = [{"label": "item", "start": 0, "end": 4}]
PRICE = [{"label": "price", "start": 0, "end": 4}]


def named(name: str) -> dict[str, str]:
    return {"X-Espalier-Name": quote(name)}


@pytest.fixture
def lamp(api: httpx.Client, task: str) -> str:
    """The address of a record that both people have read."""
    [id] = api.post(f"/tasks/{task}/records", json={"text": "lamp"}).json()["added"]
    return f"/tasks/{task}/records/{id}"


def test_a_write_on_an_old_version_is_refused_with_what_is_there(api: httpx.Client, lamp: str) -> None:
    version = api.get(lamp).json()["version"]
    first = api.put(f"{lamp}/fields", json={"fields": ITEM, "version": version}, headers=named("Jürg Ångström"))
    assert first.status_code == 200, first.text
    assert first.json()["corrected_by"] == "Jürg Ångström"
    assert first.json()["version"] == version + 1
    second = api.put(f"{lamp}/fields", json={"fields": PRICE, "version": version}, headers=named("Bo"))
    assert second.status_code == 409
    assert "Jürg Ångström has changed record" in second.json()["error"]["what"]
    assert second.json()["current"]["corrected"] == ITEM
    assert api.delete(f"{lamp}/fields", params={"version": version}).status_code == 409
    assert api.get(lamp).json()["corrected"] == ITEM  # nothing was overwritten
    chosen = api.put(f"{lamp}/fields", json={"fields": PRICE, "version": second.json()["current"]["version"]})
    assert chosen.json()["corrected"] == PRICE
    assert api.put(f"{lamp}/fields", json={"fields": ITEM}).status_code == 200  # who names no version overwrites


def test_who_says_the_same_is_not_refused(api: httpx.Client, lamp: str) -> None:
    body = {"fields": ITEM, "version": api.get(lamp).json()["version"]}
    assert api.put(f"{lamp}/fields", json=body, headers=named("Ann")).status_code == 200
    assert api.put(f"{lamp}/fields", json=body, headers=named("Bo")).status_code == 200


def test_history_and_undo_across_both(api: httpx.Client, task: str, lamp: str) -> None:
    id = int(lamp.rsplit("/", 1)[1])
    api.put(f"{lamp}/fields", json={"fields": ITEM}, headers=named("Ann"))
    api.put(f"{lamp}/fields", json={"fields": PRICE}, headers=named("Bo"))
    answer = api.get(f"/tasks/{task}/history", params={"record": id}).json()
    assert [(row["who"], row["what"], row["after"]) for row in answer["changes"]] == [
        ("Bo", "confirmed", [[0, 4, "price"]]),
        ("Ann", "confirmed", [[0, 4, "item"]]),
    ]
    assert answer["names"] == ["Ann", "Bo"]
    latest, before = answer["changes"]
    late = api.post(f"/tasks/{task}/history/{before['id']}/undo")
    assert late.status_code == 409  # Bo's would be lost
    assert late.json()["current"]["corrected"] == PRICE
    undone = api.post(f"/tasks/{task}/history/{latest['id']}/undo", headers=named("Ann")).json()["changes"]
    assert (undone[0]["who"], undone[0]["what"]) == ("Ann", "undone")
    assert api.get(lamp).json()["corrected"] == ITEM
    api.post(f"/tasks/{task}/history/{undone[0]['id']}/undo")  # and done again
    assert api.get(lamp).json()["corrected"] == PRICE
    assert api.post(f"/tasks/{task}/history/{10**9}/undo").status_code == 404


def test_a_removed_record_comes_back(api: httpx.Client, task: str, lamp: str) -> None:
    id = int(lamp.rsplit("/", 1)[1])
    api.put(f"{lamp}/fields", json={"fields": ITEM}, headers=named("Ann"))
    before = api.get(lamp).json()
    api.delete(lamp)
    assert api.get(lamp).status_code == 404
    [removed, *_] = api.get(f"/tasks/{task}/history", params={"record": id}).json()["changes"]
    assert api.post(f"/tasks/{task}/history/{removed['id']}/undo").status_code == 200
    after = api.get(lamp).json()
    assert after.pop("version") > before.pop("version")
    assert after == before


def test_only_the_latest_removal_is_taken_back(api: httpx.Client, task: str, lamp: str) -> None:
    query = {"record": int(lamp.rsplit("/", 1)[1])}
    removals = []
    for fields in (ITEM, PRICE):
        api.put(f"{lamp}/fields", json={"fields": fields})
        api.delete(lamp)
        removals.append(api.get(f"/tasks/{task}/history", params=query).json()["changes"][0]["id"])
        if fields is ITEM:
            api.post(f"/tasks/{task}/history/{removals[0]}/undo")
    late = api.post(f"/tasks/{task}/history/{removals[0]}/undo")
    assert (late.status_code, late.json()["current"]) == (409, None)
    assert api.post(f"/tasks/{task}/history/{removals[1]}/undo").status_code == 200
    assert api.get(lamp).json()["corrected"] == PRICE


def test_a_removed_text_that_is_there_again(api: httpx.Client, task: str, lamp: str) -> None:
    api.delete(lamp)
    api.post(f"/tasks/{task}/records", json={"text": "lamp"})
    [removed] = [row for row in api.get(f"/tasks/{task}/history").json()["changes"] if row["what"] == "removed"]
    refused = api.post(f"/tasks/{task}/history/{removed['id']}/undo")
    assert (refused.status_code, refused.json()["current"]) == (409, None)
    assert "its text is there again" in refused.json()["error"]["what"]


def test_rules_have_versions_too(api: httpx.Client, task: str) -> None:
    url = f"/tasks/{task}/rules"
    read = api.get(url).json()
    saved = api.put(url, json={"text": "A: item once", "version": read["version"]}, headers=named("Ann"))
    assert saved.json()["version"] == read["version"] + 1
    late = api.put(url, json={"text": "B: price once", "version": read["version"]}, headers=named("Bo"))
    assert late.status_code == 409
    assert late.json()["current"]["text"] == "A: item once"
    assert late.json()["current"]["version"] == read["version"] + 1
    [change] = [row for row in api.get(f"/tasks/{task}/history").json()["changes"] if row["what"] == "rules"]
    assert api.post(f"/tasks/{task}/history/{change['id']}/undo").status_code == 200
    assert api.get(url).json()["text"] == read["text"]


def test_the_model_in_use_is_chosen_on_the_latest_version(api: httpx.Client, task: str) -> None:
    version = api.get(f"/tasks/{task}").json()["version"]
    chosen = {"id": None, "version": version}
    assert api.put(f"/tasks/{task}/model", json=chosen).json()["version"] == version + 1
    assert api.put(f"/tasks/{task}/model", json=chosen).status_code == 409


def test_labels_of_a_file_do_not_overwrite(api: httpx.Client, task: str) -> None:
    text, fields = wares(1)[0]
    [id] = api.post(f"/tasks/{task}/records", json={"text": text}).json()["added"]
    line = b'{"text": "chair 10 $", "spans": [{"start": 0, "end": 5, "label": "item"}]}\n'
    done = api.post(f"/tasks/{task}/records/upload", content=line, headers=named("Ann")).json()
    assert done["corrected"] == 1
    [change] = api.get(f"/tasks/{task}/history", params={"record": id}).json()["changes"]
    assert (change["who"], change["what"], change["before"]) == ("Ann", "loaded from a file", None)
    api.put(f"/tasks/{task}/records/{id}/fields", json={"fields": fields})
    assert api.post(f"/tasks/{task}/records/upload", content=line).json()["corrected"] == 0


@pytest.mark.parametrize("name", ["%00%0a<b>x", "a" * 300, "%ff%fe", "%20%20"])
def test_odd_names(api: httpx.Client, lamp: str, name: str) -> None:
    done = api.put(f"{lamp}/fields", json={"fields": ITEM}, headers={"X-Espalier-Name": name})
    assert done.status_code == 200
    who = done.json()["corrected_by"]
    assert len(who) <= 60
    assert who.isprintable()


def old_project(directory: Path) -> Path:
    directory.mkdir()
    with sqlite3.connect(directory / FILE) as connection:
        connection.executescript(SCHEMA_1.read_text(encoding="utf-8"))
    connection.close()
    return directory


def test_a_project_of_the_first_schema_opens(tmp_path: Path) -> None:
    bench = Bench(old_project(tmp_path / "old"))
    chair, lamp, clock = bench.records.all("wares")
    assert [(s.start, s.end, s.label) for s in chair.document.spans or ()] == [(0, 9, "item"), (10, 14, "price")]
    assert (chair.version, chair.who, lamp.corrected, clock.flag) == (1, "", False, None)
    assert lamp.source is not None
    assert lamp.source["file"] == "walls.pdf"
    assert bench.tasks.get("wares").rules.penalties == {"Dollar": 3.0}
    assert bench.records.correct(bench.tasks.get("wares"), 2, [], "Ann", 1).version == 2
    bench.close()
    again = Bench(tmp_path / "old")  # and once more, as it is now
    assert again.records.get("wares", 2).who == "Ann"
    again.close()


def test_a_kill_while_a_project_is_brought_up_leaves_it_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from espalier.server import database

    broken = (*database._STEPS[:1], database._STEPS[1] + "CREATE TABLE task (x);")
    monkeypatch.setattr(database, "_STEPS", broken)
    project = old_project(tmp_path / "old")
    with pytest.raises(Exception, match="task"):
        Database(project)
    monkeypatch.undo()
    with sqlite3.connect(project / FILE) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(record)")]
    connection.close()
    assert "version" not in columns
    Bench(project).close()
