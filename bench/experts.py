"""When does a net help?  CRF, net and their product on seven sets, with few labels and with all.

    sets      cora, umass (flat fields), ads, seminars, addresses, wikigold, btc
    labels    20 and 100 sequences, drawn by random.Random(run), and all of the training part
    models    crf: `CRF` with the features of the set; net: `ConvCRF`; product: `Experts` of both
    rules     without, and in a `CCM` with counted penalties: those of the set's task, or of examples/experts
    raw text  without, and by `CoDL`: the unlabelled part of the set, else what was not drawn, its labels taken away;
              the net learns there from the labels that the product gives, under the rules if there are any

Figures are of the test part: field F1, and token accuracy where papers about the set have it. Each cell is kept in a
JSON file (`--results`) as soon as it is computed, and a run goes on with what is missing; a cell that was computed with
other settings is computed again. `--dev` reports the development part instead: settings were chosen on those of cora
and wikigold, the test parts are only reported. The tables are Markdown; `--tables` prints what is there and computes
nothing. Cells that are missing are named below them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when NumPy is loaded

import numpy as np  # noqa: E402

import espalier as es  # noqa: E402
from common import DATA  # noqa: E402
from espalier.corpus import Corpus  # noqa: E402
from espalier.errors import ResultWarning  # noqa: E402
from espalier.learning.expert_weights import ExpertScores, learn_weights  # noqa: E402
from espalier.metrics.scores import paired, segment_counts, token_counts  # noqa: E402
from espalier.text_files import write_chunks  # noqa: E402
from experts_sets import SETS, Part, SetData  # noqa: E402
from experts_tables import Place, print_tables  # noqa: E402

SIZES = ("20", "100", "all")
RUNS = 5
"""Draws of labels; with all labels, seeds of the net."""

SETTINGS: dict[str, dict[str, Any]] = {
    "crf": {"max_iterations": 100},
    "net": {
        "channels": 64, "dilations": [1, 2, 4, 8], "embedding": 32, "buckets": 8192, "epochs": 0, "crf_epochs": 17,
        "crf_rate": 2e-3, "min_steps": 300, "shards": 1,
    },
    "product": {"folds": 2},
    "raw": {"update": "pool", "pool_weight": 0.1, "cycles": 2},
}  # fmt: skip
"""Parameters of `CRF` (besides features and l2), `ConvCRF`, `Experts` and `CoDL`, the same for every set and size."""

STEPS, FEW_TOKENS = 1000, 15_000
"""With all labels of a set of so few tokens, `min_steps` of the net: 300 are too few for 300 references, and
1,000 bring nothing to 100 of them (development part of cora)."""

QUICK: dict[str, dict[str, Any]] = {
    "crf": {"max_iterations": 5},
    "net": {"channels": 8, "dilations": (1,), "buckets": 64, "epochs": 1, "crf_epochs": 1, "min_steps": 2},
    "product": {"folds": 2},
    "raw": {"update": "pool", "cycles": 1},
}


class Job(NamedTuple):
    """Some cells that are computed together: the CRF's, or those of net and product; raw : from raw text, too."""

    set: str
    size: str
    run: int
    model: str
    raw: bool

    @property
    def key(self) -> str:
        """The name of the job in the file of results."""
        return "/".join((self.set, self.size, str(self.run), self.model, "raw" if self.raw else "labels"))


class Fitted(NamedTuple):
    """A fitted model, and the seconds of one core that it took."""

    model: Any
    seconds: float


def jobs(options: argparse.Namespace) -> list[Job]:
    """Return the jobs, the most telling first: labels alone before raw text, some runs of both before the others."""
    found = [
        Job(one, size, run, model, raw)
        for model, raw in product(options.models, (False, True))
        for run, size, one in product(range(options.runs), options.sizes, options.sets)
        if not (raw and size == "all" and not SETS[one].raw)  # nothing is left to be raw
        and not (model == "crf" and size == "all" and run)  # it has no seed
    ]
    return sorted(
        found,
        key=lambda job: (
            job.size == "all" and job.run > 0, job.run >= (1 if job.raw else 3), job.raw, job.model == "net", job.run,
        ),
    )  # fmt: skip


@dataclass
class Study:
    """The data of the sets, the settings of the models, and the file of results."""

    directory: Path
    results: Path
    dev: bool
    settings: dict[str, dict[str, Any]]
    test_size: int | None = None

    def __post_init__(self) -> None:
        self.kept: dict[str, Any] = json.loads(self.results.read_text()) if self.results.exists() else {}
        self.sets: dict[str, SetData] = {}

    def data(self, name: str) -> SetData:
        """Return a set."""
        if name not in self.sets:
            self.sets[name] = SetData(SETS[name], self.directory, self.dev)
        return self.sets[name]

    def digest(self, job: Job) -> str:
        """Return a hash of all settings that a job depends on."""
        models = ("net", "product", "crf") if job.model == "net" else ("crf",)
        chosen = {name: self.settings[name] for name in (*models, *(["raw"] if job.raw else []))}
        if job.model == "net":
            chosen["net"] = self.net_settings(job)
        text = json.dumps([chosen, asdict(SETS[job.set]), str(self.data(job.set).rules)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def missing(self, job: Job) -> bool:
        """Is the job still to be done?"""
        return self.kept.get(job.key, {}).get("settings") != self.digest(job)

    def do(self, job: Job) -> None:
        """Compute the cells of a job, and keep them."""
        data = self.data(job.set)
        part = data.part(job.size, job.run)
        test = part.test[: self.test_size]
        work = self.from_raw_text if job.raw else self.from_labels
        cells = {}
        for model, kind, fitted in work(job, data, part):
            cells[f"{model}|{kind}"] = judged(fitted, data, test, counts=job.size == "all")
        self.kept[job.key] = {"settings": self.digest(job), "cells": cells}
        write_chunks(self.results, [json.dumps(self.kept)], "utf-8")

    def crf(self, data: SetData) -> Any:
        """Return the unfitted CRF of a set."""
        return es.CRF(data.features, l2=data.chosen.l2, warm_start=True, threads=1, **self.settings["crf"])

    def net(self, job: Job) -> Any:
        """Return the unfitted net, the same for every set."""
        return es.ConvCRF(seed=job.run, warm_start=True, threads=1, **self.net_settings(job))

    def net_settings(self, job: Job) -> dict[str, Any]:
        """Return the parameters of the net."""
        few = job.size == "all" and self.data(job.set).train.n_tokens < FEW_TOKENS
        return self.settings["net"] | ({"min_steps": STEPS} if few else {})

    def from_labels(self, job: Job, data: SetData, part: Part) -> Iterator[tuple[str, str, Fitted]]:
        """Fit to labels alone; yield names of models, kinds, and what was fitted."""
        found = {"crf": timed(lambda: self.crf(data).fit(part.train))}
        if job.model == "net":
            alone = timed(lambda: self.net(job).fit(part.train))
            both = timed(lambda: self.product(found["crf"].model, alone.model, data, job, part.train))
            found = {"net": alone, "product": Fitted(both.model, both.seconds + alone.seconds + found["crf"].seconds)}
        for name, one in found.items():
            yield name, "", one
            yield name, "rules", Fitted(under_rules(one.model, data, part.train), one.seconds)

    def product(self, crf: Any, net: Any, data: SetData, job: Job, train: Corpus) -> Any:
        """Join two fitted models with weights that copies of them have on folds which they have not seen."""
        folds = self.settings["product"]["folds"]
        fold, parts = np.arange(len(train)) % folds, []
        for k in range(folds):
            rest, own = train[np.flatnonzero(fold != k)], train[np.flatnonzero(fold == k)]
            copies = [model.fit(rest) for model in (self.crf(data), self.net(job))]
            parts.append(ExpertScores.of([one.potentials(own) for one in copies], own))
        return es.Experts.of([crf, net], learn_weights(parts)[0].tolist())

    def from_raw_text(self, job: Job, data: SetData, part: Part) -> Iterator[tuple[str, str, Fitted]]:
        """Fit to labels and raw text, without rules and under them.

        The product labels the pool, with the weights that labels gave it, and both of its experts learn from that; the
        net that it has taught is the net's cell.
        """
        for kind in ("raw", "rules+raw"):
            base = self.crf(data)
            if job.model == "net":
                weights = self.kept[job._replace(raw=False).key]["cells"]["product|"]["weights"]
                base = es.Experts([base, self.net(job)], weights, threads=1)
            model = es.CCM(base, data.rules, threads=1) if kind == "rules+raw" else base
            taught = es.CoDL(model, threads=1, **self.settings["raw"])
            found = timed(lambda taught=taught: taught.fit(part.train, unlabelled=part.pool).model_)
            yield "product" if job.model == "net" else "crf", kind, found
            if job.model == "net" and kind == "raw":
                yield "net", kind, found._replace(model=found.model.experts_[1])
            if job.model == "net" and kind == "rules+raw":
                yield "net", kind, found._replace(model=found.model.with_base(found.model.base_.experts_[1]))

    def figures(self, sets: Sequence[str], sizes: Sequence[str], runs: int) -> dict[Place, dict[int, Any]]:
        """Return what is known, by place and run."""
        found: dict[Place, dict[int, Any]] = defaultdict(dict)
        for key, entry in self.kept.items():
            one, size, run, model, text = key.split("/")
            job = Job(one, size, int(run), model, text == "raw")
            if one in sets and size in sizes and job.run < runs and not self.missing(job):
                for name, figures in entry["cells"].items():
                    model, kind = name.split("|")
                    found[Place(one, size, model, kind)][job.run] = figures
        return found


def timed(work: Callable[[], Any]) -> Fitted:
    """Fit a model; what the library warns of, such as a rule that the labels lack, changes nothing here."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResultWarning)
        model = work()
    return Fitted(model, time.process_time() - begin)


def under_rules(model: Any, data: SetData, train: Corpus) -> Any:
    """Return a fitted model under the rules of its set; counted penalties do not depend on the model."""
    return es.CCM(es.HMM(), data.rules, threads=1).fit(train).with_base(model)


def judged(fitted: Fitted, data: SetData, test: Corpus, *, counts: bool) -> dict[str, Any]:
    """Return the figures of a fitted model; counts : of each test sequence, its speed and the size of its file, too."""
    model, begin = fitted.model, time.process_time()
    answers = model.predict(test)
    seconds = time.process_time() - begin
    pairs = paired(test.all_labels(), answers)
    both = np.concatenate([segment_counts(pairs), token_counts(pairs)], axis=1)
    right, predicted, gold, hits, tokens = both.sum(axis=0).tolist()
    found = {
        "f1": 200.0 * right / max(predicted + gold, 1),
        "accuracy": 100.0 * hits / tokens if data.chosen.accuracy else None,
        "seconds": round(fitted.seconds, 2),
    }
    if isinstance(model, es.Experts):
        found["weights"] = model.weights_.tolist()
    if counts:
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model.espalier")
            size = (Path(folder) / "model.espalier").stat().st_size
        found |= {"counts": both.tolist(), "speed": tokens / max(seconds, 1e-9), "bytes": size}
    return found


def main() -> int:
    """Compute what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the shared data sets")
    parser.add_argument("--results", type=Path, default=Path("bench/experts.json"), help="file that keeps the cells")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), help="numbers of labelled sequences, or all")
    parser.add_argument("--models", nargs="+", choices=("crf", "net"), default=["crf", "net"], help="net: with product")
    parser.add_argument("--runs", type=int, default=RUNS, help="draws of labels, or seeds")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin nothing new after so long")
    parser.add_argument("--dev", action="store_true", help="judge on development parts; give another --results")
    parser.add_argument("--tables", action="store_true", help="print what is there, compute nothing")
    parser.add_argument("--quick", action="store_true", help="two sets and tiny models, to see that it runs")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(sets=["cora", "seminars"], sizes=["6"], runs=1)
    settings = QUICK if options.quick else SETTINGS
    study = Study(options.data, options.results, options.dev, settings, 5 if options.quick else None)
    begin = time.monotonic()
    for job in () if options.tables else jobs(options):
        if time.monotonic() - begin > 60 * options.minutes:
            break
        if study.missing(job):
            start = time.monotonic()
            study.do(job)
            print(f"{job.key}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    accuracy = {name for name, one in SETS.items() if one.accuracy}
    print_tables(
        study.figures(options.sets, options.sizes, options.runs), options.sets, options.sizes, options.runs, accuracy
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
