"""The parts behind the routes: what is kept, scores taken apart and put together, and the answers of the parser."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.potentials import ChainBatch, Potentials
from espalier.server.description import api_page
from espalier.server.failures import explained
from espalier.server.memory import Kept, alone, joined
from espalier.server.tasks import BUILTIN
from espalier.workbench.examples import examples


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.integers(1, 5)), max_size=40), st.integers(0, 12))
def test_what_is_kept_fits_and_is_the_latest(steps: list[tuple[bool, int, int]], bound: int) -> None:
    kept: Kept[int] = Kept(bound, lambda size: size)
    model: OrderedDict[int, int] = OrderedDict()  # by hand: the least recently used goes first
    for put, key, size in steps:
        if put:
            kept.put(key, size)
            model.pop(key, None)
            model[key] = size
            while sum(model.values()) > bound:
                model.popitem(last=False)
        else:
            assert kept.get(key) == model.get(key)
            if key in model:
                model.move_to_end(key)
    assert len(kept) == len(model)


@pytest.mark.parametrize("own", [False, True])
def test_scores_taken_apart_and_put_together(own: bool) -> None:
    rng = np.random.default_rng(3)
    trans = rng.normal(size=(3, 3))
    sequences = [
        Potentials(rng.normal(size=(n, 3)), rng.normal(size=(n - 1, 3, 3)) if own else trans) for n in (4, 1, 6)
    ]
    batch = ChainBatch.of(sequences)
    again = joined([alone(batch, i) for i in range(3)])
    for i, potentials in enumerate(sequences):
        y = rng.integers(3, size=potentials.n_tokens)
        assert again[i].score(y) == pytest.approx(potentials.score(y))
        assert alone(batch, i)[0].score(y) == pytest.approx(potentials.score(y))


def test_answers_are_the_parsers(api: httpx.Client) -> None:
    """The server, which keeps scores apart and puts them together again, says what the library says."""
    texts = list(examples("citations"))
    found = api.post("/tasks/citations/parse", json={"texts": texts}).json()["records"]
    parser = es.load("citations")
    for record, expected in zip(found, parser.parse_many(texts), strict=True):
        fields = [(f["label"], f["start"], f["end"]) for f in record["fields"]]
        assert fields == [(f.label, f.start, f.end) for f in expected.fields]
        near = partial(pytest.approx, abs=2e-5)  # sums in another order, rounded
        assert [f["confidence"] for f in record["fields"]] == near([f.confidence for f in expected.fields])
        assert record["confidence"] == near(expected.confidence)
        said, proof = record["certificate"], expected.certificate.to_dict()
        assert said.pop("bound") == near(proof.pop("bound"))
        assert said == proof
        broken = [(v["rule"], v["token"], v["amount"], v["price"]) for v in record["violations"]]
        assert broken == [tuple(v) for v in expected.violations]


@pytest.mark.parametrize("task", BUILTIN)
def test_every_task_has_examples_and_answers(api: httpx.Client, task: str) -> None:
    texts = api.get(f"/tasks/{task}/examples").json()["texts"]
    assert len(texts) >= 5
    found = api.post(f"/tasks/{task}/parse", json={"texts": texts}).json()
    assert [record["text"] for record in found["records"]] == texts
    labels = set(api.get(f"/tasks/{task}").json()["labels"])
    for record in found["records"]:
        assert {field["label"] for field in record["fields"]} <= labels
        ends = [0, *(place for field in record["fields"] for place in (field["start"], field["end"]))]
        assert ends == sorted(ends)  # in order, and apart


def test_messages_come_apart() -> None:
    with pytest.raises(es.errors.RuleError) as caught:
        es.rules("A: y once\n\n   B: x once", labels=["y1", "y2", "x1"])
    told = explained(caught.value).body()["error"]
    assert told == {"what": "unknown field 'y'", "where": "line 1, column 4", "hint": "did you mean 'y2'?"}
    nothing = explained(es.errors.InputError("nothing special")).body()["error"]
    assert nothing == {"what": "nothing special", "where": "", "hint": ""}
    failure = explained(es.errors.FormatError("not JSON", path="a.jsonl", line=4, hint="look at it"))
    assert failure.body()["error"] == {"what": "not JSON", "where": "a.jsonl, line 4", "hint": "look at it"}


def test_the_description_is_escaped() -> None:
    route = {"description": "<script>", "responses": {"200": {}}, "parameters": [], "requestBody": {"content": {}}}
    page = api_page({"info": {"title": "Espalier <i>"}, "paths": {"/<b>": {"get": route}}})
    assert "<script>" not in page
    assert "&lt;b&gt;" in page
    assert "<i>" not in page
