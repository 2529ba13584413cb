"""Train the bundled model of references, or measure it: `make model`.

    python scripts/train_citations.py --data DIR            train both experts, join them, calibrate, save, measure
    python scripts/train_citations.py --data DIR --stage net        one step of it: crf, net, or join
    python scripts/train_citations.py --data DIR --report   measure the model that is there
    python scripts/train_citations.py --data DIR --rules    keep its weights; rules and calibration anew
    python scripts/train_citations.py --data DIR --penalties
                                                            learn on dev what each rule is worth, and write nothing
    python scripts/train_citations.py --data DIR --experts  what each expert, their product and the rules bring
    python scripts/train_citations.py --data DIR --origins genre    which genres it finds, by what their sets call them

DIR holds the annotated sets named in `espalier.citations.training.SOURCES`, and `cora/normalised/all.jsonl`, whose
references are kept out of all parts: `--part cora` measures on them, `--part dev` where everything was chosen. Tables
are printed as Markdown; `docs/citations.md` shows them.

Two experts are trained apart, each on annotated references, on rendered ones (`--rendered`, which `make rendered`
writes) and on some that are labelled in part (`--linkedbooks`, `--deposited`: what one counts, 0 for none): a CRF on
declared features, and a small convolutional net. Their files stay in `--build`, so that a step can be done again alone.
`--begin PATH` goes on from experts that were trained before, in a `--build` directory or in a model file, with new
rendered references for example: the CRF ends at the mean of what was and what came of it; the net, narrowed first if it
was wider, takes its whole course again, or as many epochs as `--epochs` says: after `make distilled` five are enough.
`join` learns on dev how much each one counts and when the net is asked, and calibrates.
"""

from __future__ import annotations

import argparse
import itertools
import re
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from citation_reports import (
    corpus_of,
    load_model,
    report,
    report_experts,
    report_origins,
    report_penalties,
    right_references,
    say,
)
from numpy.typing import NDArray
from rendering.exchange import Exchange
from scipy import sparse

from espalier.citations.parser import Parser
from espalier.citations.partly_labelled import PARTLY_LABELLED, read_partly_labelled
from espalier.citations.seen import document_seen
from espalier.citations.training import Example, compacted, divide, key_of, read_sources
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.cascade import trade_off
from espalier.estimators.ccm import CCM, under_rules
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts
from espalier.extract.extractor import Extractor
from espalier.io import read
from espalier.models.conv import ScoringNet
from espalier.models.linear import ChainModel, Pairs
from espalier.rules.compile import compile_rules
from espalier.tasks import load_task

KANA = re.compile("[\u3040-\u30ff]")
BUILD = Path(__file__).parents[1] / "build"
STAGES = ("crf", "net", "join")
MODEL = Path(__file__).parents[1] / "src" / "espalier" / "citations" / "model.espalier"
BENCHMARK = "cora/normalised/all.jsonl"
ATTRIBUTION = (
    "Weights estimated from annotations of AnyStyle (BSD-2-Clause), GROBID (CC BY 4.0) and LinkedBooks (MIT), and from "
    "references rendered with styles of the Citation Style Language (CC BY-SA 3.0); see NOTICE."
)

RENDERED = {"crf": (60_000, 0.06), "net": (200_000, 0.18)}
"""How many rendered references each expert learns from, and how much one counts beside an annotated one; of fewer, each
counts more."""

SELDOM = 2.0
"""How much more a rendered reference counts that is in Japanese, or has no names: there are few of them."""

PARTLY = {"crf": {"linkedbooks": 0.15, "deposited": 0.5}, "net": {"linkedbooks": 0.3, "deposited": 0.5}}
"""What a reference counts of which labels are known in part."""

FURTHER = 100
"""Iterations of the CRF with these: it begins at what it has learned without them, and ends half way between both."""

TWICE, EXCHANGED = 2, 2
"""How often the net meets an annotated reference in an epoch, and how often with other rare words: both make up for how
few there are. Those that are labelled in part it meets twice, too."""

NET: dict[str, Any] = {
    "channels": 256, "inner": 64, "epochs": 14, "crf_epochs": 0, "batch": 128, "average": 0.9995, "rate": 3e-3,
    "shards": 8,
}  # fmt: skip
"""What the net is, and how it learns where no larger nets teach it (`distil_net.py`): in one long course."""

BEGUN_RATE, SHOWN = 2e-3, 800
"""Where it goes on from another net: the rate, and how many references show what to keep of a wider one."""

WEIGHTS = (1.0, 0.4)
"""What CRF and net count: of 0.25 to 0.5 best on dev and on rendered references in new styles together."""

LOST = 0.002
"""The share of whole references that may be lost where the net is not asked: half of it costs a tenth of the speed."""

QUICK = {"channels": 8, "inner": 4, "buckets": 64, "epochs": 1, "min_steps": 0}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of the annotated sets")
    parser.add_argument("--output", type=Path, default=MODEL, help="the model file to write, or to measure")
    parser.add_argument("--rendered", type=Path, default=BUILD / "rendered", help="directory of rendered references")
    parser.add_argument("--build", type=Path, default=BUILD / "experts", help="directory of the two experts")
    parser.add_argument("--stage", choices=STAGES, help="only one step of training")
    parser.add_argument("--begin", type=Path, metavar="PATH", help="begin at the experts of a directory or a model")
    parser.add_argument("--epochs", type=int, help=f"of the net; {NET['epochs']} if not given")
    parser.add_argument("--rate", type=float, default=BEGUN_RATE, help="at which the net goes on from another one")
    parser.add_argument("--quick", action="store_true", help="a net that learns nothing, to try the steps")
    parser.add_argument("--report", action="store_true", help="measure only")
    parser.add_argument("--rules", action="store_true", help="keep the weights, take the task's rules, calibrate")
    parser.add_argument("--penalties", action="store_true", help="only learn what each rule is worth")
    parser.add_argument("--experts", action="store_true", help="only measure the experts apart, with and without rules")
    parser.add_argument("--part", choices=("dev", "test", "cora"), default="test", help="the references to measure on")
    parser.add_argument(
        "--origins", metavar="FIELD", help="only count which fields are found, by what their sets call them"
    )
    parser.add_argument("--picture", type=Path, help="an SVG file to draw the reliability of confidences to")
    parser.add_argument("--threads", type=int, default=None)
    for name in PARTLY_LABELLED:
        parser.add_argument(f"--{name}", type=float, metavar="WEIGHT", help=f"what a reference of {name} counts")
    options = parser.parse_args(arguments)
    benchmark = {key_of(document) for document in read(options.data / BENCHMARK)}
    examples = read_sources(options.data)
    parts = dict(divide(example for example in examples if example.key not in benchmark))
    say(" ".join(f"{part}: {len(several)}" for part, several in parts.items()))
    if options.penalties:
        report_penalties(parts["dev"], options.output)
        return
    if options.rules:
        save(load_model(options.output).with_rules(load_task("citations").rules), parts["dev"], options.output)
    elif not (options.report or options.origins or options.experts):
        others = {example.key for example in examples if example.part != "train"} | benchmark
        train(parts["train"], parts["dev"], others, options)
        if options.stage in ("crf", "net"):
            return
    parts["cora"] = [example for example in examples if example.key in benchmark]
    if options.experts:
        report_experts(parts[options.part], options.output)
    elif options.origins:
        report_origins(parts[options.part], options.output, options.data, options.origins)
    else:
        report(parts[options.part], options.output, options.picture)


def train(training: Sequence[Example], dev: Sequence[Example], others: Collection[str], options: Any) -> None:
    """Train both experts and join them, or do one of these steps; others : keys that train nothing."""
    options.build.mkdir(parents=True, exist_ok=True)
    paths = {name: options.build / f"{name}.espalier" for name in ("crf", "net")}
    for name, path in paths.items():
        if options.stage in (None, name):
            start = time.perf_counter()
            corpus, weights = material(name, training, options, others)
            say(f"{name}: {len(corpus)} references, {corpus.n_tokens} tokens")
            expert: CRF | ConvCRF
            if name == "crf":
                expert = fitted_crf(crf_expert(options), corpus, weights)
            else:
                expert = net_expert(options, corpus)
                expert.fit(corpus, sample_weight=weights, checkpoint=options.build / "net.checkpoint")
            expert.save(path)
            say(f"{name}: trained in {time.perf_counter() - start:.0f} s, {path.stat().st_size / 1e6:.1f} MB")
    if options.stage in (None, "join"):
        experts = [Extractor.from_file(path).model for path in paths.values()]
        save(joined(experts, dev, options.rendered / "dev.jsonl.gz"), dev, options.output)


def fitted_crf(crf: CRF, corpus: Corpus, weights: NDArray[np.float64]) -> CRF:
    """Fit a CRF to what is labelled in full, go on with all, take the mean of both, and drop what has no weight.

    The mean reads footnotes of books nearly as well as what comes of all, and the annotated sets no worse than what
    comes of full labels.
    """
    assert corpus.y is not None
    known = np.add.reduceat(corpus.y >= 0, corpus.indptr[:-1]) == np.diff(corpus.indptr)
    if not crf.warm_start:
        crf.fit(corpus[np.flatnonzero(known)], sample_weight=weights[known])
    if not known.all() or crf.warm_start:
        before = crf.learned_
        crf.set_params(warm_start=True, max_iterations=FURTHER).fit(corpus, sample_weight=weights)
        crf.weights_ = mean(before.over(crf.index_, crf.labels_), crf.weights_)
    return compacted(crf.set_params(warm_start=False))


def mean(one: ChainModel, other: ChainModel) -> ChainModel:
    """Return the model whose scores are the means of those of two models over the same attributes and labels."""
    tables = [
        sparse.csr_array((model.w / 2, model.pairs.label, model.pairs.ptr), (len(model.pairs.ptr) - 1, model.n_labels))
        for model in (one, other)
    ]
    total = sparse.csr_array(tables[0] + tables[1])
    pairs = Pairs.of(one.n_labels, total.indptr.astype(np.int64), total.indices.astype(np.int16))
    halves = ((one.trans + other.trans) / 2, (one.start + other.start) / 2, (one.end + other.end) / 2)
    return ChainModel(pairs, total.data, *halves)


def material(
    name: str, training: Sequence[Example], options: Any, others: Collection[str]
) -> tuple[Corpus, NDArray[np.float64]]:
    """Return what an expert learns from, and what each reference counts: annotated, rendered, labelled in part."""
    count, weight = RENDERED[name]
    path = options.rendered / "train.jsonl.gz"
    if not path.exists():
        raise SystemExit(f"there is no {path.name} in {options.rendered}: make it with `make rendered`")
    rendered = list(itertools.islice((one for one in read(path) if key_of(one) not in others), count))
    weight *= count / max(len(rendered), 1)
    again = TWICE if name == "net" else 1
    weighted = [(example.document, example.weight) for example in training] * again
    if name == "net":
        weighted += exchanged(training, rendered)
    for one in map(document_seen, rendered):
        weighted.append((one, weight * (SELDOM if is_seldom(one) else 1)))
    given = {one: getattr(options, one) for one in PARTLY_LABELLED}
    used = {one: PARTLY[name].get(one, 0.0) if given[one] is None else given[one] for one in PARTLY_LABELLED}
    partly = read_partly_labelled(options.data, used, {*others, *(example.key for example in training)})
    weighted += list(partly) * again
    corpus = Corpus.from_documents([document for document, _ in weighted], vocabulary=load_task("citations").labels)
    return corpus, np.array([counts for _, counts in weighted])


def exchanged(training: Sequence[Example], rendered: Sequence[Document]) -> Iterator[tuple[Document, float]]:
    """Yield annotated references with other rare words, as rendered ones have them, and what they count."""
    known = [(one, str(one.meta.get("locale", ""))[:2]) for one in rendered[::4]]
    exchange, random = Exchange([*known, *((example.document, "annotated") for example in training)]), Random(0)
    for example, _ in itertools.product(training, range(EXCHANGED)):
        document = example.document
        if Document.from_text(document.text, document.spans or ()).tokens != document.tokens:
            yield document, example.weight  # its words are cut otherwise
        else:
            yield exchange(document, random), example.weight


def is_seldom(document: Document) -> bool:
    """Is a reference of a kind that there are few of?"""
    named = any(span.label in ("author", "editor") for span in document.spans or ())
    return not named or KANA.search(document.text) is not None


def expert_before(path: Path, name: str) -> Any:
    """Return the CRF or the net that a directory of experts holds, or a model of both."""
    if path.is_dir():
        return Extractor.from_file(path / f"{name}.espalier").model
    product = load_model(path).base_
    assert isinstance(product, Experts)
    return dict(zip(("crf", "net"), product.experts_, strict=True))[name]


def crf_expert(options: Any) -> CRF:
    """Return the CRF to fit, with the features that the task declares; or the one to go on with."""
    own: dict[str, Any] = {"threads": options.threads, "progress": say_now_and_then}
    if options.begin is not None:
        before = expert_before(options.begin, "crf")
        assert isinstance(before, CRF)
        return before.set_params(**own, warm_start=True)
    task = load_task("citations")
    settings: dict[str, Any] = {name: value for name, value in task.defaults.items() if name != "model"}
    return CRF(task.extractor, **own, **settings)


def net_expert(options: Any, corpus: Corpus) -> ConvCRF:
    """Return the net to fit; it may go on from another one, which is narrowed first if it is wider."""
    settings = NET | (QUICK if options.quick else {}) | ({"epochs": options.epochs} if options.epochs else {})
    net = ConvCRF(**settings, threads=options.threads, progress=say_epoch)
    if options.begin is not None:
        before = expert_before(options.begin, "net")
        assert isinstance(before, ConvCRF)
        learned = before.learned_
        if learned.shape.inner > net.inner:
            learned = learned.narrowed(net.inner, corpus[np.arange(0, len(corpus), max(len(corpus) // SHOWN, 1))])
        net.set_params(warm_start=True, rate=options.rate)
        net.net_, net.labels_ = ScoringNet(learned.shape, learned.weights), learned.labels
    return net


def say_epoch(progress: Any) -> None:
    """Say how far the net is, after every epoch."""
    say(
        f"epoch {progress.epoch} of {progress.epochs}, {progress.phase}: loss {progress.loss:.4f}, "
        f"{progress.rate:.0f} references a second, {progress.seconds:.0f} s"
    )


def joined(experts: Sequence[SequenceLabeller], dev: Sequence[Example], rendered: Path) -> CCM:
    """Return the experts under the task's rules; when the net is asked is learned on dev, and on as many new styles.

    rendered : the file of rendered references whose styles and works train nothing.
    """
    corpus, rules = corpus_of(dev), compile_rules(load_task("citations").rules, experts[0].labels_)
    likely = Experts.of(experts, held_out=corpus)
    say(f"by likelihood: weights {np.round(likely.weights_, 3).tolist()}, temperature {likely.temperature_:.3f}")
    always = Experts.of(experts, WEIGHTS, held_out=corpus)
    unseen = itertools.islice(read(rendered), len(dev)) if rendered.exists() else ()
    documents = [*(example.document for example in dev), *map(document_seen, unseen)]
    both = Corpus.from_documents(documents, vocabulary=load_task("citations").labels)
    found = trade_off(under_rules(always, rules), both, right=right_references)
    say(f"{found}\nchosen: {found.choose(LOST)}")
    threshold = found.choose(LOST).threshold
    return under_rules(Experts.of(experts, WEIGHTS, held_out=corpus, ask_below=threshold), rules)


def say_now_and_then(moment: Any) -> None:
    """Say how far the search is, every tenth time."""
    if moment.iterations % 10 == 0:
        say(f"iteration {moment.iterations}: {moment.value:.1f}")


def save(model: CCM, dev: Sequence[Example], path: Path) -> None:
    """Calibrate a trained model on `dev`, and write the file."""
    parser = Parser(model).calibrate(example.document for example in dev)
    parser.attribution = ATTRIBUTION
    parser.save(path)
    say(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
