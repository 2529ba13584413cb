"""Measuring through the API, against figures worked out by hand."""

from __future__ import annotations

import httpx
import pytest

RULES = 'Dollar: token in "$" -> price [hard]\nLamp: token in "lamp" -> item [hard]\n'


@pytest.fixture
def judged(api: httpx.Client, task: str) -> str:
    """A task whose answers are known: 'lamp' is an item, '$' a price, all else outside."""
    api.put(f"/tasks/{task}/rules", json={"text": RULES})
    texts = ["lamp 3 $", "oak lamp"]
    ids = api.post(f"/tasks/{task}/records", json={"text": "\n".join(texts)}).json()["added"]
    fields = [
        [{"label": "item", "start": 0, "end": 4}, {"label": "price", "start": 5, "end": 8}],  # '3' is missed
        [{"label": "item", "start": 4, "end": 8}],  # all right
    ]
    for id, places in zip(ids, fields, strict=True):
        api.put(f"/tasks/{task}/records/{id}/fields", json={"fields": places})
    return task


def test_figures_by_hand(api: httpx.Client, judged: str) -> None:
    report = api.post(f"/tasks/{judged}/evaluate", json={}).json()
    assert (report["records"], report["tokens"], report["wrong"], report["seen"]) == (2, 5, 1, 0)
    assert report["token_accuracy"] == pytest.approx(4 / 5)
    assert report["exact"] == pytest.approx(1 / 2)
    # Expected three fields, got three, two of them just so.
    assert report["field_f1"] == pytest.approx(2 / 3)
    assert report["per_field"]["item"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 2}
    assert report["per_field"]["price"]["f1"] == 0.0
    assert report["confusion"] == {"labels": ["item", "price", "O"], "counts": [[2, 0, 0], [0, 1, 1], [0, 0, 1]]}
    [mistake] = report["errors"]
    assert mistake["wrong_tokens"] == 1
    assert mistake["expected"] == [
        {"label": "item", "start": 0, "end": 4},
        {"label": "price", "start": 5, "end": 8},
    ]
    assert mistake["got"] == [{"label": "item", "start": 0, "end": 4}, {"label": "price", "start": 7, "end": 8}]
    assert report["reliability"]["n"] == 3


def test_a_labelled_file(api: httpx.Client, judged: str) -> None:
    data = b'{"tokens": ["lamp", "3", "$"], "labels": ["item", "price", "price"]}\n{"text": "unlabelled"}\n'
    report = api.post(f"/tasks/{judged}/evaluate/upload", content=data, params={"name": "gold.jsonl"}).json()
    assert (report["records"], report["tokens"]) == (1, 3)
    assert report["token_accuracy"] == pytest.approx(2 / 3)
    assert report["errors"][0]["id"] is None
    unlabelled = api.post(f"/tasks/{judged}/evaluate/upload", content=b"just text\n")
    assert unlabelled.status_code == 400
    wrong = api.post(f"/tasks/{judged}/evaluate/upload", content=b'{"tokens": ["a"], "labels": ["ware"]}\n')
    assert wrong.json()["error"]["where"] == "record 1 of the file"


def test_nothing_to_measure(api: httpx.Client, task: str) -> None:
    assert api.post(f"/tasks/{task}/evaluate", json={}).status_code == 409
    assert api.post(f"/tasks/{task}/compare", json={"a": 0, "b": 0}).status_code == 404


def test_comparing_on_a_file(api: httpx.Client) -> None:
    data = b'{"tokens": ["A.", "Berg"], "labels": ["author", "author"]}\n'
    done = api.post("/tasks/citations/compare/upload", content=data, params={"a": 0, "b": 0})
    assert done.status_code == 200, done.text
    assert done.json()["records"] == 1


def test_the_bundled_model_has_learned_from_some(api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference of the training data is known, whatever its punctuation; another one is not."""
    from espalier.citations import training
    from espalier.document import Document

    text = "Q. Ravn. On ferns and their walls. Journal of Ferns, 4:1-9, 1990."
    sums = training.key_sums([Document.from_text("Q Ravn On ferns and their walls Journal of Ferns 4 1 9 1990")])
    monkeypatch.setattr(training, "_known", lambda: sums)
    lines = "\n".join([text, "P. Sand. On dunes. Journal of Dunes, 3:2-8, 1991."])
    ids = api.post("/tasks/citations/records", json={"text": lines, "layout": "lines"}).json()["added"]
    for id in ids:
        fields = api.get(f"/tasks/citations/records/{id}").json()["fields"]
        places = [{name: field[name] for name in ("label", "start", "end")} for field in fields]
        api.put(f"/tasks/citations/records/{id}/fields", json={"fields": places})
    assert api.post("/tasks/citations/evaluate", json={"model": 0}).json()["seen"] == 1
    assert api.post("/tasks/citations/compare", json={"a": 0, "b": 0}).json()["seen_a"] == 1


def test_the_sums_of_what_the_bundled_model_has_learned_are_there() -> None:
    from espalier.citations.training import _known, learned_from
    from espalier.document import Document

    assert len(_known()) > 10_000
    strange = [Document.from_text(f"Nobody {i}. A text that nobody has written. {i}.") for i in range(200)]
    assert sum(learned_from(strange)) == 0
