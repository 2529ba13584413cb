"""Data in fixed parts, over processes or machines: workers hold the parts and send back sums, never data.

    with shards_of(parts, prepare, common=..., jobs=2) as shards:
        total = shards.total(function, *arguments)

Every part has a *state*, kept where the part is; `function(part, state, *arguments)` returns statistics and the next
state. The statistics of all parts are added in the order of the parts. Parts depend on the data alone, so the same
data give the same bits on one process, on two, or on a cluster.

    base       the parts of a corpus, what is asked of them, and all of it in this process (jobs=1)
    memory     what a worker keeps between two requests
    folder     joblib's workers: parts and states are files of a temporary directory, each loaded once a process
    futures    Dask's workers: parts and states stay on them as futures
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from espalier.corpus import Corpus
from espalier.errors import InputError, MissingExtraError
from espalier.shards.base import Shards, ShardsHere, corpus_parts, fixed_parts
from espalier.shards.folder import ShardsInFolder
from espalier.shards.futures import ShardsInFutures

__all__ = ["Shards", "check_jobs", "corpus_parts", "fixed_parts", "n_workers", "shard_corpus", "shards_of"]

Common = TypeVar("Common")
Data = TypeVar("Data")
Part = TypeVar("Part")


def check_jobs(jobs: int | None) -> None:
    """Raise unless jobs is None (no parts at all), a number of processes, or -1 for all that there are."""
    whole = isinstance(jobs, (int, np.integer)) and not isinstance(jobs, bool)
    if jobs is not None and not (whole and (jobs >= 1 or jobs == -1)):
        raise InputError(f"jobs is {jobs!r}; expected None, a number of processes, or -1 for as many as there are")


def shards_of(
    data: Sequence[Data],
    prepare: Callable[[Common, Data], Part],
    *,
    common: Common,
    jobs: int,
    first: Sequence[int] | None = None,
) -> Shards[Part]:
    """Hand out the parts of some data; close what is returned, or use it in a `with`.

    prepare : makes of `common` and one part what functions get to see; called once a process and part. jobs : 1 works
    in this process; more, or -1, in as many of the joblib backend in force (`joblib.parallel_config`; loky if none),
    but in no more than there are parts, or twice the cores.
    first : the number of the first sequence of each part, for error messages.
    """
    check_jobs(jobs)
    places = list(range(len(data))) if first is None else list(first)
    if jobs == 1:
        return ShardsHere(data, prepare, common, places)
    backend = _backend(jobs)
    if hasattr(getattr(backend, "client", None), "scatter"):
        return ShardsInFutures(data, prepare, common, places, backend)
    most = min(len(data), 2 * backend.effective_n_jobs(-1))
    return ShardsInFolder(data, prepare, common, places, jobs if jobs < 0 else max(min(jobs, most), 1))


def shard_corpus(
    corpus: Corpus, prepare: Callable[[Common, Corpus], Part], *, common: Common, jobs: int
) -> Shards[Part]:
    """Hand out the fixed parts of a corpus."""
    cuts = fixed_parts(corpus.indptr)
    return shards_of(corpus_parts(corpus, cuts), prepare, common=common, jobs=jobs, first=[lo for lo, _ in cuts])


def n_workers(jobs: int) -> int:
    """Return how many processes `jobs` stands for under the joblib backend in force."""
    check_jobs(jobs)
    return 1 if jobs == 1 else max(int(_backend(jobs).effective_n_jobs(jobs)), 1)


def _backend(jobs: int) -> Any:
    """Return joblib's backend in force."""
    try:
        from joblib.parallel import get_active_backend
    except ImportError:
        raise MissingExtraError(
            f"jobs={jobs} needs joblib: pip install 'espalier[cluster]', or leave out jobs to work in threads"
        ) from None
    return get_active_backend()[0]
