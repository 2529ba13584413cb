"""A cascade of experts: references a second where the first decides alone, where all are always asked, and between.

    python bench/cascade.py --model FILE              a parser whose base are `Experts`
    python bench/cascade.py --second FILE             the bundled CRF, and another model of the same labels
    python bench/cascade.py --dev --second FILE       what each threshold costs and brings, on the parser's dev part

alone     the first expert decides everything
always    all experts are asked about everything
cascade   the others are asked where the first is less sure than `--ask-below`, or than the model says
one       milliseconds for one call of `parser.parse`, of a reference that the first decides and of one that it does not

Without a second model an HMM stands in that has learned the answers of the first: it shows what the way costs, not what
it brings. Processor time of one core; set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

import espalier as es
from common import Row, arguments, compare, write_json
from espalier.citations.parser import Parser
from espalier.citations.training import SOURCES, divide, key_of, read_sources
from espalier.corpus import Corpus
from espalier.estimators.cascade import trade_off
from espalier.estimators.experts import ALONE, Experts
from espalier.estimators.persist import load
from espalier.extract.extractor import BATCH
from espalier.io import read
from parse import texts

TARGET = 3000.0
TARGET_ONE = 2.5
WEIGHTS = [1.0, 0.2]


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--model", metavar="FILE", help="a parser whose base are Experts")
    parser.add_argument("--second", metavar="FILE", help="a model to ask beside the bundled CRF")
    parser.add_argument("--ask-below", type=float, metavar="P", help="the threshold; that of the model if not given")
    parser.add_argument("--references", type=int, default=4096, help="how many to time")
    parser.add_argument("--rounds", type=int, default=3, help="how often; the best time counts")
    parser.add_argument(
        "--dev", action="store_true", help="learn the weights on one half of dev, weigh thresholds on all"
    )
    options = parser.parse_args()
    if options.quick:
        options.references, options.rounds = 60, 1
    references = texts(options.data, options.references)
    found = es.load(options.model or "citations")
    assert isinstance(found, Parser)
    held_out = dev_part(options.data, found.model.labels_) if options.dev else None
    experts = experts_of(found, options.second, references[:300], None if held_out is None else held_out[::2])
    if options.ask_below is not None or experts.ask_below is None:
        experts.ask_below = 0.25 if options.ask_below is None else options.ask_below
    if held_out is not None:
        print(f"weights {experts.weights_.round(4).tolist()}, temperature {experts.temperature_:.3f}")
        print(trade_off(found.model.with_base(experts), held_out), flush=True)
    write_json(options.json, measured(found, experts, references, options.rounds))


def experts_of(found: Parser, second: str | None, some: Sequence[str], held_out: Corpus | None) -> Experts:
    """Return the experts of a parser, or those of its base and a second model, which may be a stand-in."""
    base: Any = found.model.base_
    if isinstance(base, Experts):
        return copy(base)
    if second is None:
        corpus = Corpus.from_tokens([es.Document.from_text(text).words for text in some])
        other: Any = es.HMM().fit(corpus, base.predict(corpus), labels=base.labels_.names)
    else:
        other = load(Path(second))
    return Experts.of([base, other], None if held_out is not None else WEIGHTS, held_out=held_out)


def dev_part(data: Path, labels: es.Labels) -> Corpus:
    """Return the references on which settings are chosen."""
    benchmark = {key_of(document) for document in read(data / "cora/normalised/all.jsonl")}
    examples = divide(read_sources(data, SOURCES, exclude=benchmark))["dev"]
    return Corpus.from_documents([example.document for example in examples], vocabulary=labels)


def measured(found: Parser, experts: Experts, references: Sequence[str], rounds: int) -> list[Row]:
    """Time the three ways, in turns."""
    every = experts.always_asked()
    ways = {"alone": experts.experts_[0], "always": every, "cascade": experts}
    for model in (*experts.experts_, *ways.values()):
        model.threads = 1
    own: dict[str, Any] = {"calibration": found.calibration, "threads": 1}
    parsers = {name: Parser(found.model.with_base(base), **own) for name, base in ways.items()}
    best = dict.fromkeys(parsers, float("inf"))
    for _ in range(rounds):
        for name, parser in parsers.items():
            list(parser.parse_many(references[:BATCH]))  # compile, and lay out the weights
            best[name] = min(best[name], timed(lambda parser=parser: list(parser.parse_many(references))))
    speed = {name: len(references) / seconds for name, seconds in best.items()}
    corpus = Corpus.from_tokens([es.Document.from_text(text).words for text in references])
    sources = experts.potentials(corpus).sources
    asked = float(np.mean([source != ALONE for source in sources]))
    rows = [
        compare(f"cascade: {name}", "refs/s", value, TARGET, "target", higher_is_better=True)
        for name, value in speed.items()
    ]
    rows.append(compare(f"cascade: asked below {experts.ask_below:g}", "share", asked, 0.25, "target"))
    for name, kind in (("decided by the first", True), ("asked", False)):
        chosen = [text for text, source in zip(references, sources, strict=True) if (source == ALONE) is kind][:200]
        if chosen:
            times = [timed(lambda text=text: parsers["cascade"].parse(text)) for text in [*chosen, *chosen]]
            milliseconds = 1000 * float(np.mean(np.minimum(times[: len(chosen)], times[len(chosen) :])))
            rows.append(compare(f"cascade: one call, {name}", "ms", milliseconds, TARGET_ONE, "target"))
    return rows


def timed(work: Callable[[], object]) -> float:
    """Return the processor time that some work takes."""
    before = time.process_time()
    work()
    return time.process_time() - before


if __name__ == "__main__":
    main()
