"""What each kind of training material is worth to the parser, on a part of the annotated references.

    python bench/material.py                       # all rows: an hour on one core
    python bench/material.py --only linkedbooks    # those whose name has the word

Every row is a model trained on every third annotated reference and on 8,000 rendered ones (`make rendered`), and on
what the row says (every third of LinkedBooks and of the deposited strings); judged on dev under the rules of the task:
F1 of the nine main fields and whole references of the annotated sets, F1 of five fields of LinkedBooks' dev part
(`bench/wild.py`), F1 of clean rendered references of dev. Raw text is reference strings without labels: what the
library's own learners make of it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import DATA
from espalier.citations.evaluation import evaluate
from espalier.citations.parser import Parser
from espalier.citations.partly_labelled import read_partly_labelled
from espalier.citations.training import divide, key_of, plain_tags, read_sources
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.ccm import CCM, under_rules
from espalier.estimators.codl import CoDL
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts
from espalier.estimators.generalized_expectation import GeneralizedExpectation
from espalier.estimators.posterior_regularization import PosteriorRegularization
from espalier.io import read
from espalier.rules.compile import compile_rules
from espalier.tasks import load_task
from styles import Tally, read_rows, readings_by
from wild import FIVE, count_footnotes, footnotes, rates

TASK = load_task("citations")
BUILD = Path(__file__).parents[1] / "build" / "rendered"
NET: dict[str, Any] = {
    "channels": 96,
    "inner": 48,
    "epochs": 8,
    "crf_epochs": 1,
    "batch": 64,
    "average": 0.999,
    "rate": 3e-3,
}
WEIGHT_OF_NET = 0.15
WEIGHT_OF_RENDERED = 0.1

Weighted = list[tuple[Document, float]]


@dataclass
class Study:
    """The material, and how a model is judged."""

    annotated: Weighted
    rendered: Weighted
    parts: dict[str, Weighted]
    raw: list[Document]
    dev: list[Document]
    footnotes: list[dict[str, Any]]
    styles: list[dict[str, Any]]
    iterations: int
    net: dict[str, Any]
    models: dict[str, SequenceLabeller] = field(default_factory=dict)

    @property
    def base(self) -> Weighted:
        """Annotated and rendered references."""
        return [*self.annotated, *self.rendered]

    @property
    def pool(self) -> Corpus:
        """Raw text."""
        return Corpus.from_documents(self.raw, vocabulary=TASK.labels)

    def crf(self, times: int = 1) -> CRF:
        """Return a CRF to fit, in so many times as many iterations."""
        return CRF(TASK.extractor, l2=1.0, max_iterations=times * self.iterations, threads=1)

    def known(self, name: str, make: Callable[[], SequenceLabeller]) -> SequenceLabeller:
        """Return a model that several rows need."""
        if name not in self.models:
            self.models[name] = make()
        return self.models[name]


def arrays(weighted: Weighted) -> tuple[Corpus, NDArray[np.float64]]:
    """Return references as a corpus, and what each counts."""
    corpus = Corpus.from_documents([document for document, _ in weighted], vocabulary=TASK.labels)
    return corpus, np.array([weight for _, weight in weighted])


def fitted(model: Any, weighted: Weighted, **more: Any) -> Any:
    """Fit a model to weighted references."""
    corpus, weights = arrays(weighted)
    return model.fit(corpus, sample_weight=weights, labels=TASK.labels.names, **more)


def base_crf(study: Study) -> SequenceLabeller:
    """Return the CRF of annotated and rendered references."""
    return study.known("crf", lambda: fitted(study.crf(), study.base))


def base_net(study: Study) -> SequenceLabeller:
    """Return the net of annotated and rendered references."""
    return study.known("net", lambda: fitted(ConvCRF(**study.net, threads=1), study.base))


def product(study: Study) -> Experts:
    """Return the product of both."""
    held = Corpus.from_documents(study.dev, vocabulary=TASK.labels)
    return Experts.of([base_crf(study), base_net(study)], (1.0, WEIGHT_OF_NET), held_out=held)


def with_set(name: str, weight: float, times: int = 1) -> Callable[[Study], SequenceLabeller]:
    """Return what trains a CRF with a set that is labelled in part, too."""
    return lambda study: fitted(study.crf(times), [*study.base, *((one, weight) for one, _ in study.parts[name])])


def taught(study: Study) -> SequenceLabeller:
    """Label raw text by the product under the rules, and train a CRF on that, too, as if it were annotated."""
    labeller = under_rules(product(study), compile_rules(TASK.rules, TASK.labels))
    tags = labeller.predict(study.pool)
    guessed = [(document.with_tags(one), 0.1) for document, one in zip(study.raw, tags, strict=True)]
    return fitted(study.crf(), [*study.base, *guessed])


def codl(study: Study) -> SequenceLabeller:
    """Let rules correct what a CRF says about raw text; learn from that, twice."""
    model = CoDL(CCM(study.crf(), TASK.rules), update="pool", pool_weight=0.1, cycles=2, keep="last", threads=1)
    found = fitted(model, study.base, unlabelled=study.pool).model_
    return found.base_ if isinstance(found, CCM) else found


def projected(study: Study) -> SequenceLabeller:
    """Posterior regularisation, two rounds; each goes on from the weights before: three times the iterations in all."""
    model = PosteriorRegularization(study.crf(), TASK.rules, iterations=2, pool_weight=0.1, keep="last", threads=1)
    return fitted(model, study.base, unlabelled=study.pool).model_


def expected(study: Study) -> SequenceLabeller:
    """Generalised expectation."""
    model = GeneralizedExpectation(
        study.crf(), TASK.rules, bounds="labelled", max_iterations=30, keep="last", threads=1
    )
    return fitted(model, study.base, unlabelled=study.pool).model_


def distilled(raw: bool) -> Callable[[Study], SequenceLabeller]:
    """Return what trains a net on the probabilities of the product, on raw text too or not."""

    def train(study: Study) -> SequenceLabeller:
        more = {"unlabelled": study.pool} if raw else {}
        return fitted(ConvCRF(**study.net, threads=1), study.base, teacher=product(study), **more)

    return train


ROWS: dict[str, Callable[[Study], SequenceLabeller]] = {
    "CRF: annotated alone": lambda study: fitted(study.crf(), study.annotated),
    "CRF: and rendered": base_crf,
    "CRF: and rendered, 3 times the iterations": lambda study: fitted(study.crf(3), study.base),
    "CRF: and linkedbooks at 0.1": with_set("linkedbooks", 0.1),
    "CRF: and linkedbooks at 0.25": with_set("linkedbooks", 0.25),
    "CRF: and linkedbooks at 0.25, 3 times the iterations": with_set("linkedbooks", 0.25, 3),
    "CRF: and linkedbooks at 0.5": with_set("linkedbooks", 0.5),
    "CRF: and deposited at 0.5": with_set("deposited", 0.5),
    "CRF: and deposited at 2": with_set("deposited", 2.0),
    "CRF: and raw, constraint-driven learning": codl,
    "CRF: and raw, posterior regularisation": projected,
    "CRF: and raw, generalised expectation": expected,
    "net: annotated and rendered": base_net,
    "net: the product as teacher": distilled(raw=False),
    "net: the product as teacher, and raw": distilled(raw=True),
    "product of the CRF and the net": product,
    "CRF: and raw, labelled by the product": taught,
}
"""What is trained, in this order."""


def read_study(options: argparse.Namespace) -> Study:
    """Read everything that rows need."""
    data, few = options.data, options.quick
    benchmark = {key_of(document) for document in read(data / "cora/normalised/all.jsonl")}
    examples = read_sources(data)
    parts = divide(example for example in examples if example.key not in benchmark)
    others = benchmark | {example.key for example in examples}
    annotated = [(one.document, one.weight) for one in parts["train"][:: 1 if few else 3]]
    path = options.rendered / "train.jsonl.gz"
    made = [document for document in read(path) if key_of(document) not in others] if path.exists() else []
    sets = {
        name: list(read_partly_labelled(data, {name: 1.0}, others))[:: 10 if few else 3]
        for name in ("linkedbooks", "deposited")
    }
    texts = [document.text for document in read(data / "unlabelled_refs/normalised/unlabelled.jsonl.gz")]
    styles = options.rendered / "dev.jsonl.gz"
    return Study(
        annotated[: 20 if few else None],
        [(document, WEIGHT_OF_RENDERED) for document in made[: options.references]],
        sets,
        [Document.from_text(text) for text in texts[:: max(len(texts) // options.raw, 1)]],
        [example.document for example in parts["dev"]][: 20 if few else None],
        footnotes(data, 10 if few else None),
        read_rows(styles, clean=True)[: 10 if few else None] if styles.exists() else [],
        3 if few else options.iterations,
        NET | ({"channels": 8, "inner": 4, "buckets": 64, "epochs": 1, "min_steps": 0} if few else {}),
    )


def judged(study: Study, model: SequenceLabeller) -> str:
    """Return the cells of a row."""
    parser = Parser(under_rules(model, compile_rules(TASK.rules, TASK.labels)))
    answers = []
    for document, record in zip(study.dev, parser.parse_many(one.text for one in study.dev), strict=True):
        spans = [(one.start, one.end, one.label) for one in record.fields]
        answers.append([next(label for a, b, label in spans if a <= start < b) for start, _ in document.tokens])
    found = evaluate([one.words for one in study.dev], [plain_tags(one) for one in study.dev], answers)
    five = rates(count_footnotes(study.footnotes, parser), FIVE)[2]
    tally = Tally()
    for reading in readings_by(study.styles, parser):
        tally.add(reading)
    return f"{100 * found.core.f1:.2f} | {100 * found.exact:.1f} | {five:.1f} | {tally.f1:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and judge the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the data sets")
    parser.add_argument("--rendered", type=Path, default=BUILD, help="directory of rendered references")
    parser.add_argument("--references", type=int, default=8000, help="how many rendered references")
    parser.add_argument("--raw", type=int, default=3000, help="how many raw strings, evenly spread")
    parser.add_argument("--iterations", type=int, default=80, help="of the CRF")
    parser.add_argument("--only", default="", help="rows whose name has this word")
    parser.add_argument("--quick", action="store_true", help="a few references, to see that it runs")
    options = parser.parse_args(arguments)
    if options.quick:
        options.references, options.raw = 10, 10
    study = read_study(options)
    print(f"{len(study.annotated)} annotated, {len(study.rendered)} rendered, {len(study.raw)} raw")
    print("| trained on | nine fields | whole | LinkedBooks, five | rendered, F1 | seconds |\n" + "|---" * 6 + "|")
    for name, train in ROWS.items():
        if options.only in name:
            start = time.perf_counter()
            cells = judged(study, train(study))
            print(f"| {name} | {cells} | {time.perf_counter() - start:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
