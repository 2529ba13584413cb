"""Small requests are parsed together: the answers are those of each alone, and a failure is its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from espalier.server.answers import parsed_text
from espalier.server.core import Answered, Limits
from espalier.server.failures import Failure
from espalier.server.gathering import Gatherer, is_small
from espalier.server.shapes import ParsedText
from espalier.server.turns import CALLER, Caller
from espalier.workbench.bench import Bench
from workbench_server import HEADERS, Running

TEXTS = [
    "L. O. Andersen. Program analysis and specialization. PhD thesis, DIKU, 1994.",
    "Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.",
    "Berg, A., & Holm, C. (1999). On oak. Tree Letters, 3, 1-9.",
    "Knuth D. The Art of Computer Programming. Addison-Wesley; 1968.",
    "x",
    "Übel, J.: Über Bäume. Berlin 1911, S. 3–7.",
]


def written(said: Answered) -> Any:
    """What an answer says: the model, and each text with its readings."""
    _, model, documents, answers = said
    pairs = zip(documents, answers, strict=True)
    return model, [parsed_text(*pair, ParsedText).model_dump() for pair in pairs]


def ran(work: Any) -> Any:
    """Run a coroutine in a thread of its own: the browser's tests may have left a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    found = Bench(tmp_path, Limits(length=2000))
    yield found
    found.close()


def test_answers_do_not_depend_on_who_waits_beside(bench: Bench) -> None:
    gatherer, sizes = Gatherer(bench), list[int]()
    plain = bench.of_pieces

    def counted(turn: Any, task: Any, model: Any, documents: Any, k: int) -> Any:
        sizes.append(len(documents))
        return plain(turn, task, model, documents, k)

    bench.of_pieces = counted  # type: ignore[method-assign]
    asked = [[text] for text in TEXTS] + [TEXTS[:3]]

    async def all_at_once() -> Any:
        return await asyncio.gather(*(gatherer.parsed("citations", None, texts, 1, written) for texts in asked))

    together = ran(all_at_once())
    gatherer.close()
    assert max(sizes) > 4  # they were parsed together
    bench.of_pieces = plain  # type: ignore[method-assign]
    for texts, (model, found) in zip(asked, together, strict=True):
        assert model == 0
        _, apart = written(bench.answered("citations", 0, texts, 1))
        assert list(map(without_bound, found)) == list(map(without_bound, apart))


def without_bound(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without the bound of its score: texts that are scored together are added up in another order."""
    return record | {"certificate": {**record["certificate"], "bound": None}}


def test_a_failure_is_its_own(bench: Bench) -> None:
    gatherer, gone = Gatherer(bench), Caller()
    gone.gone = True

    def fails(*_: Any) -> Any:
        raise Failure(418, "no")

    async def some() -> Any:
        right = gatherer.parsed("citations", None, [TEXTS[0]], 1, written)
        wrong = gatherer.parsed("citations", None, [TEXTS[1]], 1, fails)
        long = gatherer.parsed("citations", None, ["x " * 1500], 1, written)
        nowhere = gatherer.parsed("nothing", None, [TEXTS[0]], 1, written)
        unknown = gatherer.parsed("citations", 99, [TEXTS[0]], 1, written)
        token = CALLER.set(gone)
        left = asyncio.ensure_future(gatherer.parsed("citations", None, [TEXTS[0]], 1, written))
        CALLER.reset(token)
        return await asyncio.gather(right, wrong, long, nowhere, unknown, left, return_exceptions=True)

    right, *others = ran(some())
    gatherer.close()
    assert [one.status for one in others] == [418, 413, 404, 404, 499]
    assert right == written(bench.answered("citations", 0, [TEXTS[0]], 1))


def test_what_breaks_a_batch_breaks_one_request(bench: Bench) -> None:
    gatherer, plain = Gatherer(bench), bench.of_pieces

    def touchy(turn: Any, task: Any, model: Any, documents: Any, k: int) -> Any:
        if any(document.text == "x" for document in documents):
            raise RuntimeError("x")
        return plain(turn, task, model, documents, k)

    bench.of_pieces = touchy  # type: ignore[method-assign]

    async def some() -> Any:
        work = [gatherer.parsed("citations", None, [text], 1, written) for text in TEXTS]
        return await asyncio.gather(*work, return_exceptions=True)

    found = ran(some())
    gatherer.close()
    assert [isinstance(one, RuntimeError) for one in found] == [text == "x" for text in TEXTS]
    assert not gatherer.waiting


def test_too_many_that_wait_are_told_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("espalier.server.gathering._MOST", 3)
    gatherer = Gatherer(bench)

    async def some() -> Any:
        with bench.turns.turn(60):  # somebody computes
            work = [asyncio.ensure_future(gatherer.parsed("citations", None, [text], 1, written)) for text in TEXTS]
            await asyncio.sleep(0.05)
        return await asyncio.gather(*work, return_exceptions=True)

    found = ran(some())
    gatherer.close()
    assert [getattr(one, "status", 200) for one in found] == [200] * 3 + [503] * 3


def test_what_is_small() -> None:
    assert is_small(["a"], 1)
    assert not is_small([], 1)
    assert not is_small(["a"], 2)
    assert not is_small(["a"] * 5, 1)
    assert not is_small(["a" * 5000], 1)


def test_one_answer_whatever_the_route(start: Callable[..., Running]) -> None:
    """A small request and a large one get the same answer for the same text, from all routes."""
    server, text = start(), TEXTS[1]
    large = server.client.post("/tasks/citations/parse", json={"texts": [text] * 9}, headers=HEADERS).json()
    small = server.client.post("/tasks/citations/parse", json={"texts": [text]}, headers=HEADERS).json()
    assert small["records"][0] == large["records"][0]
    one = server.client.post("/parse", json={"texts": [text]}).json()["records"][0]
    listed = server.client.post("/parse", json={"texts": [text] * 9}).json()["records"][0]
    assert one == listed
    asked = {"citations": text, "includeRawCitations": "1"}
    assert text in httpx.post(f"{server.origin}/api/processCitation", data=asked).text
