"""One model in many threads and many processes says what it says alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from trust_files import EXPECTED, FILES, TOKENS, at_once

import espalier as es
from espalier.citations.parser import Parser
from espalier.corpus import Corpus
from espalier.errors import InputError

BATCHES = [TOKENS, TOKENS[::-1], TOKENS[2:] * 3, [[word.upper() for word in words] for words in TOKENS]]
REFERENCES = EXPECTED["references"]
RULES = es.RuleSet.from_text("Year: token ~ /\\d+/ -> year [penalty 3]\nOnce: each field once [penalty 1]")
KINDS = ["crf", "crf-classes", "hmm", "hmm-classes", "perceptron", "semicrf", "experts", "ccm-count", "ccm-segments",
         "two-stage", "codl", "samplerank", "pr", "ge"]  # fmt: skip


@pytest.fixture(autouse=True)
def _switching() -> Iterator[None]:
    """Let threads take turns a hundred times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


def said(model: Any, tokens: list[list[str]]) -> tuple[Any, ...]:
    """All that a model says of a batch, to the last bit."""
    found: list[Any] = [model.predict(tokens)]
    try:
        found += [table.tobytes() for table in model.predict_marginals(tokens)]
        found.append(model.predict_k(tokens, 2))
    except InputError as refused:
        found.append(str(refused))
    return tuple(found)


def decoded(model: Any) -> list[Any]:
    """What `decode` says under rules that the model does not know."""
    batch = model.potentials(Corpus.from_tokens(TOKENS))
    several = [es.decode(batch[i], RULES, tokens=words, labels=model.labels_) for i, words in enumerate(TOKENS)]
    return [(answer.names(), answer.score, answer.violations) for answer in several]


@pytest.mark.parametrize("name", KINDS)
def test_a_model_in_many_threads(name: str) -> None:
    """Each round loads the file anew, so that whatever is built on first use is built by several threads at a time."""
    alone = [said(es.load(FILES / f"{name}.espalier").model, batch) for batch in BATCHES]
    assert alone[0][0] == EXPECTED["models"][name]["labels"]
    for _ in range(3):
        model = es.load(FILES / f"{name}.espalier").model

        def work(k: int, model: Any = model) -> list[Any]:
            order = [*range(k % len(BATCHES), len(BATCHES)), *range(k % len(BATCHES))]
            found = {b: said(model, BATCHES[b]) for b in order}
            return [found[b] for b in range(len(BATCHES))]

        assert all(found == alone for found in at_once(work))


def test_decoding_in_many_threads() -> None:
    alone = decoded(es.load(FILES / "crf.espalier").model)
    model = es.load(FILES / "crf.espalier").model
    assert all(found == alone for found in at_once(lambda _: decoded(model)))


def test_a_parser_in_many_threads() -> None:
    texts = [f"{text} {n}" for n in range(20) for text in REFERENCES]

    def records(parser: Parser) -> list[Any]:
        return [record.to_dict() for record in parser.parse_many(texts, k=2, batch=7)]

    alone = records(Parser.from_file(FILES / "parser.espalier"))
    parser = Parser.from_file(FILES / "parser.espalier", threads=2)
    assert all(found == alone for found in at_once(lambda _: records(parser)))


def answers_of(model: Any) -> list[Any]:
    return [said(model, batch) for batch in BATCHES]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_model_in_many_processes(method: str) -> None:
    """The models have worked before, on two threads, so there is everything to inherit that could do harm."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    models = [es.load(FILES / f"{name}.espalier").model for name in ("crf", "ccm-count", "semicrf")]
    alone = [answers_of(model.set_params(threads=2)) for model in models]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(answers_of, models * 2).get(timeout=60) == alone * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of fork among threads, which is the point
def test_a_fork_while_another_thread_predicts() -> None:
    model = es.load(FILES / "crf.espalier").model
    model.predict(TOKENS)  # so that the kernels are there: compiling holds locks that are not ours
    stop = threading.Event()

    def busy() -> None:
        n = 0
        while not stop.is_set():
            model.predict([[f"word{n}-{i}" for i in range(200)]])
            n += 1

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(20):
            assert _in_child(lambda: model.predict(TOKENS) == EXPECTED["models"]["crf"]["labels"]) == 0
    finally:
        stop.set()
        thread.join()


def _in_child(true: Callable[[], bool], seconds: float = 20.0) -> int:
    """Return 0 if something is true in a forked child; a child that hangs is killed."""
    child = os.fork()
    if not child:
        os._exit(0 if true() else 1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child of a fork hangs")
