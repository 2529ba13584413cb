"""Rules through the API: live checking, sliders and switches, redecoding against the reference meaning, suggestions."""

from __future__ import annotations

import httpx
import pytest

from espalier.rules.meaning import violations
from espalier.server.rule_texts import check_text
from espalier.server.tasks import own_labels
from workbench_server import RULES, corrected_wares

LABELS = own_labels(["item", "price"], True)


def test_every_mistake_is_found_at_its_place() -> None:
    text = '# a comment\nA: itm once\n\nB: price once\n   and token in "$" -> price\nC: token in "x\nB: item once\n'
    checked = check_text(text, LABELS)
    assert [rule.name for rule in checked.rules] == ["B"]
    assert checked.lines == ((4, 5),)
    assert [(m.line, m.column) for m in checked.mistakes] == [(2, 4), (6, 13), (7, 1)]
    assert checked.mistakes[0].hint == "did you mean 'item'?"
    assert "second rule named 'B'" in checked.mistakes[2].what


def test_files_are_never_read() -> None:
    [mistake] = check_text('A: token in file "/etc/passwd" -> item', LABELS).mistakes
    assert "missing" in mistake.what


def test_who_says_what_a_rule_costs(api: httpx.Client, task: str) -> None:
    url = f"/tasks/{task}/rules"
    found = {rule["name"]: rule for rule in api.get(url).json()["rules"]}
    assert (found["Dollar"]["penalty"], found["Dollar"]["source"], found["Dollar"]["kind"]) == (1.0, "default", "local")
    assert (found["Once"]["penalty"], found["Once"]["source"], found["Once"]["kind"]) == (2.0, "text", "global")
    body = {"text": RULES, "penalties": {"Once": "hard", "Dollar": 0.5, "Gone": 1}, "off": ["Dollar", "Gone"]}
    for done in (api.put(url, json=body), api.get(url)):  # stored, and read again
        assert done.status_code == 200, done.text
        assert done.json()["penalties"] == {"Once": "hard", "Dollar": 0.5}
        assert done.json()["off"] == ["Dollar"]
        rules = {rule["name"]: rule for rule in done.json()["rules"]}
        assert (rules["Once"]["penalty"], rules["Once"]["hard"]) == (None, True)
        assert (rules["Dollar"]["penalty"], rules["Dollar"]["source"], rules["Dollar"]["on"]) == (0.5, "slider", False)


def test_a_wrong_text_is_not_stored(api: httpx.Client, task: str) -> None:
    url = f"/tasks/{task}/rules"
    done = api.put(url, json={"text": "A: item once\nB: pric once\n"})
    assert done.status_code == 400
    error = done.json()["error"]
    assert error == {
        "what": "unknown field 'pric'", "where": "rules, line 2, column 4", "hint": "did you mean 'price'?"
    }  # fmt: skip
    assert api.get(url).json()["text"] == RULES
    checked = api.post(f"{url}/check", json={"text": "A: item once\nB: pric once\n"})
    assert checked.status_code == 200
    assert [rule["name"] for rule in checked.json()["rules"]] == ["A"]
    assert checked.json()["errors"][0]["line"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {"text": RULES, "penalties": {"Once": -1}},
        {"text": RULES, "penalties": {"Once": "soft"}},
        {"text": RULES, "penalties": {"Once": True, "x": [1]}},
        {"text": RULES, "off": "Once"},
        {"text": RULES, "colour": "red"},
        {"penalties": {}},
    ],
)
def test_misshapen_rules(api: httpx.Client, task: str, body: dict[str, object]) -> None:
    done = api.put(f"/tasks/{task}/rules", json=body)
    assert done.status_code == 422
    assert done.json()["error"]["what"]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_penalty_is_a_number(api: httpx.Client, task: str, number: str) -> None:
    body = f'{{"text": "A: item once", "penalties": {{"A": {number}}}}}'
    done = api.put(f"/tasks/{task}/rules", content=body, headers={"content-type": "application/json"})
    assert done.status_code == 422


def test_without_a_model_rules_alone_speak(api: httpx.Client, task: str) -> None:
    api.post(f"/tasks/{task}/records", json={"text": "chair 12 $"})
    [record] = api.get(f"/tasks/{task}/records").json()["records"]
    assert [(f["label"], f["start"], f["end"]) for f in record["fields"]] == [("price", 9, 10)]
    assert record["certificate"] == {"status": "optimal", "bound": 0.0, "gap": 0.0, "method": "viterbi"}


def test_redecoding_by_hand(api: httpx.Client, task: str) -> None:
    """Scores are zero, so what the rules say can be worked out by hand."""
    ids = api.post(f"/tasks/{task}/records", json={"text": "chair 12 $\nlamp 3\n$ 4 $"}).json()["added"]
    url = f"/tasks/{task}/redecode"
    same = api.post(url, json={"records": ids}).json()
    assert (same["decoded"], same["changed"], same["records"]) == (3, 0, [])
    # Before: both dollars of the third text are one field, 'price', from end to end, so that Once holds.
    off = api.post(url, json={"off": ["Dollar"]}).json()
    assert off["changed"] == 2
    first, third = off["records"]
    assert (first["id"], first["changed"], first["tokens_changed"]) == (ids[0], True, 1)
    assert first["before"] == [{"label": "price", "start": 9, "end": 10}]
    assert first["after"] == []
    assert first["violations"] == []  # a rule that is off costs nothing ...
    counts = {row["name"]: row for row in off["rules"]}
    assert counts["Dollar"] == {"name": "Dollar", "before": 0, "after": 3, "records": 2}  # ... but is counted
    assert third["tokens_changed"] == 3
    cheap = api.post(url, json={"records": [ids[2]], "penalties": {"Once": 0.0}, "text": RULES}).json()
    assert cheap["decoded"] == 1


def test_redecoded_counts_are_the_reference_meaning(api: httpx.Client) -> None:
    lines = [
        "A. Berg and C. Dahl. On oaks. Tree Letters, 4:1-9, 1999.",
        "Eng, F. (2001). Soil, and more soil. In Proceedings of Soil, pp. 3-4. Oslo: Mud Press.",
        "G. Holm. Roots, 1977. Reprinted 1988, 1990.",
        "random words that are no reference at all 12",
    ]
    ids = api.post("/tasks/citations/records", json={"text": "\n".join(lines), "layout": "lines"}).json()["added"]
    stored = api.get("/tasks/citations/rules").json()["text"]
    text = stored + "\nEarly: date before title [penalty 6]\nFew: count(author) <= 0 [penalty 0.01]\n"
    done = api.post("/tasks/citations/redecode", json={"records": ids, "text": text}).json()
    labels = own_labels(api.get("/tasks/citations").json()["labels"], False)
    rules = {rule.name: rule for rule in check_text(text, labels).rules}
    expected = dict.fromkeys(rules, 0)
    after = {record["id"]: record["after"] for record in done["records"]}
    for id in ids:
        record = api.get(f"/tasks/citations/records/{id}").json()
        fields = after.get(id, record["fields"])
        starts = record["tokens"][::2]
        words = [record["text"][a:b] for a, b in zip(starts, record["tokens"][1::2], strict=True)]
        y = [next(f["label"] for f in fields if f["start"] <= start < f["end"]) for start in starts]
        for name, rule in rules.items():
            expected[name] += sum(v.amount for v in violations(rule, words, y, text=record["text"]))
    assert {row["name"]: row["after"] for row in done["rules"]} == expected
    assert {row["name"]: row["before"] for row in done["rules"]}["Early"] is None


def test_redecoding_refuses(api: httpx.Client, task: str) -> None:
    url = f"/tasks/{task}/redecode"
    assert api.post(url, json={"records": [999_999]}).status_code == 404
    assert api.post(url, json={"text": "A: nonsense"}).status_code == 400
    assert api.post(url, json={"model": 77}).status_code == 404
    assert api.post(url, json={}).json()["records"] == []  # a task without records


def test_suggestions_come_from_corrections(api: httpx.Client, task: str) -> None:
    url = f"/tasks/{task}/rules/suggest"
    assert api.post(url, json={}).status_code == 409
    corrected_wares(api, task, 6)
    found = api.post(url, json={"most": 5}).json()
    assert found["judged"] == 6
    assert 1 <= len(found["suggestions"]) <= 5
    names = {rule["name"] for rule in api.get(f"/tasks/{task}/rules").json()["rules"]}
    for row in found["suggestions"]:
        assert row["name"] not in names
        assert row["predicted"] > row["gold"]
    text = RULES + "\n".join(row["line"] for row in found["suggestions"])
    assert api.put(f"/tasks/{task}/rules", json={"text": text}).status_code == 200
