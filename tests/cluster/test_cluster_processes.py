"""`ordered_map`: order, bounded memory, errors in their turn, and the same on every backend of joblib."""

from __future__ import annotations

import multiprocessing
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import joblib
import pytest
from cluster_jobs import Upper
from cluster_work import die, process_of, square, trip

from citation_models import reference, tiny_model
from espalier.citations.batches import Order, put_together, write_batch
from espalier.citations.formats import write
from espalier.citations.splitting import Reference
from espalier.cluster import LabellerSpec, labeller_of, ordered_map
from espalier.cluster.labeller import with_labeller
from espalier.cluster.processes import A_CORE, ROUND
from espalier.cluster.rows import model_path, parser_of
from espalier.cluster.stores import need
from espalier.errors import EspalierError, InputError, MissingExtraError, ModelFileError, ResultWarning


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parser") / "tiny.espalier"
    tiny_model().save(path)
    return path


@pytest.mark.parametrize(("jobs", "count"), [(1, 0), (1, 100), (2, 0), (2, 1), (2, 100)])
def test_order(jobs: int, count: int) -> None:
    assert list(ordered_map(square, range(count), jobs=jobs)) == [n * n for n in range(count)]


def test_no_more_processes_than_cores_and_batches_have_use_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda n: 1)
    asked: list[int] = []
    parallel = joblib.Parallel

    def listening(n_jobs: int, **options: Any) -> Any:
        asked.append(n_jobs)
        return parallel(n_jobs=n_jobs, **options)

    monkeypatch.setattr(joblib, "Parallel", listening)
    with pytest.warns(ResultWarning, match="jobs=100000 is more than 1 cores have use for; there are 2") as said:
        assert list(ordered_map(square, range(50), jobs=100_000)) == [n * n for n in range(50)]
    assert (asked, len(said)) == ([A_CORE], 1)
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda n: 8)
    assert list(ordered_map(square, range(2), jobs=12)) == [0, 1]
    assert asked == [A_CORE, 2]
    assert list(ordered_map(process_of, range(1), jobs=12)) == [os.getpid()]  # one item starts nothing
    assert len(asked) == 2


def test_a_process_that_is_one_of_several_has_one_thread_in_every_part_of_its_model() -> None:
    product = parser_of(str(model_path(None))).model.base_
    assert [product.threads, *(expert.threads for expert in product.experts_)] == [1] * (1 + len(product.experts_))
    assert len(product.experts_) > 1


def test_work_is_done_elsewhere() -> None:
    assert os.getpid() not in set(ordered_map(process_of, range(8), jobs=2))
    assert set(ordered_map(process_of, range(8), jobs=1)) == {os.getpid()}


def test_no_more_than_two_rounds_are_read_ahead() -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for n in range(2000):
            read.append(n)
            yield n

    most = 0
    for done, _ in enumerate(ordered_map(square, items(), jobs=2)):
        most = max(most, len(read) - done)
    assert most <= 2 * ROUND * 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_the_work_has_its_turn(jobs: int) -> None:
    results = ordered_map(trip, range(100), jobs=jobs)
    assert list(islice(results, 40)) == list(range(40))
    with pytest.raises(InputError, match="stumbled over 40"):
        next(results)
    assert list(ordered_map(square, [1, 2], jobs=jobs)) == [1, 4]  # and the next map is none the worse


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_the_source_has_its_turn(jobs: int) -> None:
    def items() -> Iterator[int]:
        yield from range(40)
        raise InputError("the source ran dry")

    results = ordered_map(square, items(), jobs=jobs)
    assert list(islice(results, 40)) == [n * n for n in range(40)]
    with pytest.raises(InputError, match="ran dry"):
        next(results)


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(EspalierError, match="a worker process died"):
        list(ordered_map(die, range(10), jobs=2))


def test_nobody_needs_the_rest() -> None:
    results = ordered_map(square, iter(range(10**9)), jobs=2)
    assert [next(results), next(results)] == [0, 1]
    results.close()  # type: ignore[attr-defined]


def test_a_reader_that_went_away_hears_nothing(model: Path, tmp_path: Path) -> None:
    """`parse -j 2 | head -1`, with the pool's results left to the end of the process."""
    path = tmp_path / "refs.txt"
    path.write_text("\n".join(map(reference, range(4_100))), encoding="utf-8")
    options = f"--input lines -f jsonl -j 2 -m {shlex.quote(str(model))}"
    command = f"{shlex.quote(sys.executable)} -m espalier parse {shlex.quote(str(path))} {options} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=True)
    # The process that watches over semaphores may miss the end of one whose owner was killed; it says so by itself.
    said = [
        line for line in done.stderr.splitlines() if "resource_tracker" not in line and "warnings.warn(" not in line
    ]
    assert (done.stdout.count("\n"), said) == (1, [])


@pytest.mark.parametrize("jobs", [0, -1, True, 1.5])
def test_wrong_jobs(jobs: int) -> None:
    with pytest.raises(InputError, match="jobs is"):
        ordered_map(square, [1], jobs=jobs)


def test_without_joblib(monkeypatch: pytest.MonkeyPatch) -> None:
    """The standard library's processes: order, errors in their turn, processes that die, and nobody who reads on."""
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert list(ordered_map(square, range(100), jobs=2)) == [n * n for n in range(100)]
    results = ordered_map(trip, range(100), jobs=2)
    assert list(islice(results, 40)) == list(range(40))
    with pytest.raises(InputError, match="stumbled over 40"):
        next(results)
    with pytest.raises(EspalierError, match="a worker process died"):
        list(ordered_map(die, range(10), jobs=2))
    results = ordered_map(process_of, iter(range(10**9)), jobs=2)
    assert os.getpid() not in {next(results), next(results)}
    results.close()  # type: ignore[attr-defined]


def test_when_all_is_done_no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends while others are still ending may print a traceback."""
    monkeypatch.setitem(sys.modules, "joblib", None)
    before = {child.pid for child in multiprocessing.active_children()}
    assert list(ordered_map(square, range(10), jobs=2)) == [n * n for n in range(10)]
    assert {child.pid for child in multiprocessing.active_children()} <= before


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"'fsspec'; run: pip install 'espalier-nlp\[cluster\]'"):
        need("fsspec")


def test_a_labeller_is_made_once_a_thread(tmp_path: Path) -> None:
    model = tmp_path / "hello.model"
    model.write_text("hello")
    spec = LabellerSpec.of(Upper, model)
    assert labeller_of(spec) is labeller_of(spec)
    assert labeller_of(spec).greeting == "hello"
    model.write_text("goodbye")
    assert labeller_of(LabellerSpec.of(Upper, model)).greeting == "goodbye"
    with pytest.raises(ModelFileError, match="No such file"):
        LabellerSpec.of(Upper, tmp_path / "none")
    with pytest.raises(InputError, match="cannot find it by its name"):
        LabellerSpec.of(lambda path: None, model)


BATCHES = [[Reference(reference(n)) for n in range(a, a + 9)] for a in range(0, 90, 9)]


def on_two(model: Path) -> str:
    """What `parse --jobs 2` does."""
    work = partial(with_labeller, LabellerSpec.of(parser_of, model), write_batch, Order("bibtex"))
    return "".join(put_together(ordered_map(work, BATCHES, jobs=2), "bibtex"))


@pytest.fixture(scope="module")
def truth(model: Path) -> str:
    """One batch in one process, through the format's own writer."""
    text = "".join(write(parser_of(str(model)).parse_many(reference(n) for n in range(90)), "bibtex"))
    assert text.count("@") == 90
    return text


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_the_same_on_processes_and_threads(model: Path, truth: str, backend: str) -> None:
    with joblib.parallel_config(backend):
        assert on_two(model) == truth


def test_the_same_on_dask(model: Path, truth: str, scheduler: str) -> None:
    from distributed import Client

    with Client(scheduler), joblib.parallel_config("dask"):
        assert on_two(model) == truth
