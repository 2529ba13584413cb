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
`--begin DIR` goes on from experts that were trained before, with new rendered references for example, and ends at the
mean of what was and what came of it.
`join` learns on dev how much each one counts and when the net is asked, and calibrates.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import re
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from espalier.citations.evaluation import CitationReport, evaluate, fields_of, is_whole
from espalier.citations.parser import Parser, document_seen
from espalier.citations.partly_labelled import PARTLY_LABELLED, read_partly_labelled
from espalier.citations.record import LABELS, Record
from espalier.citations.schemes import load_scheme
from espalier.citations.training import SOURCES, Example, compacted, divide, key_of, plain_tags, read_sources
from espalier.corpus import Corpus
from espalier.decoders.certify import degree_matrix
from espalier.document import Document
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.cascade import trade_off
from espalier.estimators.ccm import CCM, under_rules
from espalier.estimators.conv_crf import ConvCRF
from espalier.estimators.conv_learned import between
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts
from espalier.extract.confidence import Verdicts
from espalier.extract.extractor import Extractor
from espalier.inference import viterbi
from espalier.io import read
from espalier.learning.penalty_training import HeldOut, train_svm_penalties
from espalier.metrics.reliability import calibration
from espalier.models.chain import ChainModel
from espalier.models.conv_scoring import ScoringNet
from espalier.models.weights import Pairs
from espalier.pages.charts import Line, draw_lines
from espalier.rules.compile import compile_rules
from espalier.rules.ruleset import RuleSet
from espalier.tags import path_of
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

RENDERED = {"crf": (60_000, 0.06), "net": (120_000, 0.1)}
"""How many rendered references each expert learns from, and how much one counts beside an annotated one."""

JAPANESE = 2.0
"""How much more a rendered reference in Japanese counts: there are few, and their marks are their own."""

PARTLY = {"crf": {"linkedbooks": 0.15, "deposited": 0.5}, "net": {"linkedbooks": 0.3, "deposited": 0.5}}
"""What a reference counts of which labels are known in part."""

FURTHER = 100
"""Iterations of the CRF with these: it begins at what it has learned without them, and ends half way between both."""

NET: dict[str, Any] = {
    "channels": 256, "inner": 80, "epochs": 5, "crf_epochs": 0, "batch": 128, "average": 0.999, "rate": 3e-3,
    "shards": 8,
}  # fmt: skip
"""What the net is; chosen on dev."""

WEIGHTS = (1.0, 0.25)
"""What CRF and net count: of 0.15, 0.2, 0.25 and 0.3 best on dev, new styles included."""

SHORT: dict[str, Any] = {"epochs": 2, "rate": 1.5e-3}
COURSES = 2
"""The course of a net that goes on from another one, and how many such courses there are, each in another order."""

QUICK = {"channels": 8, "inner": 4, "buckets": 64, "epochs": 1, "min_steps": 0}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of the annotated sets")
    parser.add_argument("--output", type=Path, default=MODEL, help="the model file to write, or to measure")
    parser.add_argument("--rendered", type=Path, default=BUILD / "rendered", help="directory of rendered references")
    parser.add_argument("--build", type=Path, default=BUILD / "experts", help="directory of the two experts")
    parser.add_argument("--stage", choices=STAGES, help="only one step of training")
    parser.add_argument("--begin", type=Path, metavar="DIR", help="begin at the experts there, and shorten the course")
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


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def corpus_of(examples: Sequence[Example]) -> Corpus:
    """Return the tokens and tags of some examples."""
    return Corpus.from_documents([example.document for example in examples], vocabulary=load_task("citations").labels)


def train(training: Sequence[Example], dev: Sequence[Example], others: Collection[str], options: Any) -> None:
    """Train both experts and join them, or do one of these steps; others : keys that train nothing."""
    options.build.mkdir(parents=True, exist_ok=True)
    paths = {name: options.build / f"{name}.espalier" for name in ("crf", "net")}
    for name, path in paths.items():
        if options.stage in (None, name):
            expert = begun({"crf": crf_expert, "net": net_expert}[name](options), options.begin, name)
            start = time.perf_counter()
            corpus, weights = material(name, training, options, others)
            say(f"{name}: {len(corpus)} references, {corpus.n_tokens} tokens")
            if isinstance(expert, CRF):
                expert = fitted_crf(expert, corpus, weights)
            else:
                fit_net(expert, corpus, weights, options.build / "net.checkpoint")
            expert.save(path)
            say(f"{name}: trained in {time.perf_counter() - start:.0f} s, {path.stat().st_size / 1e6:.1f} MB")
    if options.stage in (None, "join"):
        experts = [Extractor.from_file(path).model for path in paths.values()]
        save(joined(experts, dev, options.rendered / "dev.jsonl.gz"), dev, options.output)


def begun(expert: SequenceLabeller, directory: Path | None, name: str) -> Any:
    """Return an expert that begins at the one of a directory, if there is one, with a shorter course."""
    if directory is None:
        return expert
    before = Extractor.from_file(directory / f"{name}.espalier").model
    assert isinstance(before, SequenceLabeller)
    kept = {key: value for key, value in expert.get_params().items() if key in ("threads", "progress")}
    return before.set_params(**kept, **(SHORT if name == "net" else {"max_iterations": FURTHER}), warm_start=True)


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


def fit_net(net: ConvCRF, corpus: Corpus, weights: NDArray[np.float64], checkpoint: Path) -> None:
    """Fit a net; one that goes on from another does so in several courses, and ends at the mean of it and of all."""
    if not net.warm_start:
        net.fit(corpus, sample_weight=weights, checkpoint=checkpoint)
        return
    middle = net.net_.weights
    for seed in range(1, COURSES + 1):
        course = copy.copy(net).set_params(seed=seed)
        course.fit(corpus, sample_weight=weights, checkpoint=checkpoint.with_suffix(f".{seed}"))
        middle = between(middle, course.net_.weights, seed / (seed + 1))
    net.net_ = ScoringNet(net.net_.shape, middle)
    net.set_params(warm_start=False)


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
    weighted = [(example.document, example.weight) for example in training]
    unknown = (document_seen(document) for document in read(path) if key_of(document) not in others)
    weighted += [(one, weight * (JAPANESE if KANA.search(one.text) else 1)) for one in itertools.islice(unknown, count)]
    given = {one: getattr(options, one) for one in PARTLY_LABELLED}
    used = {one: PARTLY[name][one] if given[one] is None else given[one] for one in PARTLY_LABELLED}
    weighted += read_partly_labelled(options.data, used, {*others, *(example.key for example in training)})
    corpus = Corpus.from_documents([document for document, _ in weighted], vocabulary=load_task("citations").labels)
    return corpus, np.array([counts for _, counts in weighted])


def crf_expert(options: Any) -> CRF:
    """Return the CRF to fit, with the features that the task declares."""
    task = load_task("citations")
    settings: dict[str, Any] = {name: value for name, value in task.defaults.items() if name != "model"}
    return CRF(task.extractor, threads=options.threads, progress=say_now_and_then, **settings)


def net_expert(options: Any) -> ConvCRF:
    """Return the net to fit."""
    settings = NET | (QUICK if options.quick else {})
    return ConvCRF(**settings, threads=options.threads, progress=say_epoch)


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
    say(f"{found}\nchosen: {found.choose()}")
    threshold = found.choose().threshold
    return under_rules(Experts.of(experts, WEIGHTS, held_out=corpus, ask_below=threshold), rules)


def right_references(corpus: Corpus, answers: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Return which references have all their main fields right."""
    assert corpus.labels is not None
    assert corpus.y is not None
    names = [path_of(name) for name in corpus.labels.names]
    found = []
    for i, (a, b) in enumerate(itertools.pairwise(corpus.indptr.tolist())):
        words = corpus.tokens(i)
        there, said = (set(fields_of(words, [names[k] for k in y[a:b].tolist()])) for y in (corpus.y, answers))
        found.append(is_whole(there, said))
    return np.array(found)


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


def load_model(path: Path) -> CCM:
    """Return the model of a file."""
    model = Parser.from_file(path).model
    assert isinstance(model, CCM)
    return model


def report_penalties(dev: Sequence[Example], path: Path) -> None:
    """Print what the rules of the task are worth to a model, learned on `dev`, and crosswise what that brings.

    A rule that neither the labels nor the answers break there teaches nothing: it keeps the price that the task gives.
    """
    model, declared = load_model(path), load_task("citations").rules
    every = declared.with_penalties(learned_penalties(model, declared, dev))
    for rule in every:
        say(f"{rule.name:16} {declared[rule.name].penalty:6.2f} {rule.penalty:6.2f}")
    halves = dev[::2], dev[1::2]
    crosswise: list[Record] = []
    for ours, others in (halves, halves[::-1]):
        rules = declared.with_penalties(learned_penalties(model, declared, others))
        crosswise += Parser(model, rules).parse_many(example.document.text for example in ours)
    ordered = [*halves[0], *halves[1]]
    given = list(Parser(model, declared).parse_many(example.document.text for example in ordered))
    for name, records in (("as given", given), ("learned on the other half", crosswise)):
        found = score(ordered, records)
        say(
            f"{name}: field F1 {100 * found.fields.f1:.2f}, of nine {100 * found.core.f1:.2f}, "
            f"whole {100 * found.exact:.2f}"
        )


def learned_penalties(model: CCM, declared: RuleSet, examples: Sequence[Example]) -> dict[str, float]:
    """Return what rules are worth on references that the model has not seen, where they say anything there."""
    compiled = compile_rules(declared.with_penalties(dict.fromkeys(declared.names)), model.labels_)
    seen = HeldOut.of(model.base_.chain_potentials(corpus_of(examples), "rules need"), corpus_of(examples), compiled)
    answers = degree_matrix(compiled, seen.corpus, viterbi(seen.batch).labels)
    spoke = np.logical_or(seen.degrees.any(axis=0), answers.any(axis=0))
    learned = train_svm_penalties([seen], compiled, C=1.0).tolist()
    return {name: price for name, price, said in zip(declared.names, learned, spoke.tolist(), strict=True) if said}


def report(test: Sequence[Example], path: Path, picture: Path | None = None) -> None:
    """Print what the model makes of some references, by source and by field, and what its confidences are worth."""
    parser = Parser.from_file(path)
    list(parser.parse_many((texts := [example.document.text for example in test])[:100]))  # compiles
    start = time.perf_counter()
    records = list(parser.parse_many(texts))
    seconds = time.perf_counter() - start
    say(f"{len(texts) / seconds:.0f} references a second\n")
    say("| source | references | tokens | field F1 | F1 of nine fields | whole references |\n|---|---|---|---|---|---|")
    rows = [(source.name, [i for i, e in enumerate(test) if e.source.name == source.name]) for source in SOURCES]
    for name, chosen in [*rows, ("all", list(range(len(test))))]:
        found = score([test[i] for i in chosen], [records[i] for i in chosen])
        say(
            f"| {name} | {found.references} | {100 * found.tokens:.2f} | {100 * found.fields.f1:.2f} "
            f"| {100 * found.core.f1:.2f} | {100 * found.exact:.2f} |"
        )
    say("\n| field | precision | recall | F1 | there are |\n|---|---|---|---|---|")
    for label in LABELS:
        if label in found.per_field:
            one = found.per_field[label]
            values = f"{100 * one.precision:.1f} | {100 * one.recall:.1f} | {100 * one.f1:.1f} | {one.support}"
            say(f"| {label} | {values} |")
    raw = list(Parser(parser.model).parse_many(texts))
    say("\n| confidence of | error before | error after |\n|---|---|---|")
    gold = [example.document for example in test]
    before, after = parser.judge(raw, gold), parser.judge(records, gold)
    for name in before:
        errors = [calibration(verdicts.sure, verdicts.right).error for verdicts in (before[name], after[name])]
        say(f"| {name} | {errors[0]:.4f} | {errors[1]:.4f} |")
    say("\n| fields with confidence | fields | right |\n|---|---|---|")
    for b in calibration(after["field"].sure, after["field"].right, n_bins=10).bins:
        if b.accuracy is not None:
            say(f"| {b.low:.1f} to {b.high:.1f} | {b.count} | {100 * b.accuracy:.1f} % |")
    if picture is not None:
        picture.write_text(draw_reliability(before, after), encoding="utf-8")


def report_experts(test: Sequence[Example], path: Path) -> None:
    """Print what each expert reads alone, what the product reads, and what rules add to each."""
    model, corpus = load_model(path), corpus_of(test)
    both = model.base_
    assert isinstance(both, Experts)
    always = both.always_asked()
    rows = dict(zip(("CRF", "net"), both.experts_, strict=True))
    rows |= {"product": always, "product, net asked where needed": both}
    say("| model | nine | whole | nine under rules | whole under rules | whole that rules add |\n" + "|---" * 6 + "|")
    words, gold = [corpus.tokens(i) for i in range(len(corpus))], [plain_tags(e.document) for e in test]
    for name, base in rows.items():
        cells, right = [], []
        for one in (base, under_rules(base, model.compiled_)):
            ids = np.asarray(one.tag(corpus)[0])
            pieces = np.split(ids, corpus.indptr[1:-1])
            tags = [[path_of(tag or "") for tag in model.labels_.decode(piece)] for piece in pieces]
            found = evaluate(words, gold, tags)
            cells += [f"{100 * found.core.f1:.2f}", f"{100 * found.exact:.2f}"]
            right.append(right_references(corpus, ids))
        low, high = interval(right[1].astype(float) - right[0])
        added = 100 * (right[1].mean() - right[0].mean())
        say(f"| {name} | {' | '.join(cells)} | {added:+.2f} ({low:+.2f} to {high:+.2f}) |")


def interval(differences: NDArray[np.float64], n: int = 10_000) -> tuple[float, float]:
    """Return where the mean lies in 95 % of n draws of as many references, in points."""
    kinds, counts = np.unique(differences, return_counts=True)
    drawn = np.random.default_rng(0).multinomial(len(differences), counts / len(differences), n)
    low, high = np.percentile(100 * (drawn @ kinds) / len(differences), [2.5, 97.5])
    return float(low), float(high)


def draw_reliability(before: Mapping[str, Verdicts], after: Mapping[str, Verdicts]) -> str:
    """Return an SVG file: how often answers of a confidence are right, before and after calibration."""
    lines = [Line("as it should be", [(0.0, 0.0), (1.0, 1.0)], dashed=True, like=6)]
    for name, verdicts, when in (("fields", before["field"], "before"), ("fields", after["field"], "calibrated"),
                                 ("records", after["record"], "calibrated")):  # fmt: skip
        bins = calibration(verdicts.sure, verdicts.right, n_bins=10).bins
        # Bins with a handful of answers say nothing and jump.
        points = [(b.confidence or 0.0, b.accuracy or 0.0) for b in bins if b.count >= 10]
        lines.append(Line(f"{name}, {when}", points))
    return draw_lines("Reliability on test references", lines, x="confidence", y="share that is right").file()


def report_origins(test: Sequence[Example], path: Path, data: Path, label: str) -> None:
    """Print how many fields of a label are found, by source and by the label that they have there."""
    original: dict[str, Document] = {}
    for source in SOURCES:
        scheme = load_scheme(source.scheme)
        for document in read(data / source.file):
            original.setdefault(key_of(scheme.convert(document)), document)
    records = Parser.from_file(path).parse_many(example.document.text for example in test)
    there, found = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for example, record in zip(test, records, strict=True):
        words, starts = example.document.words, [start for start, _ in example.document.tokens]
        right = set(fields_of(words, tags_of(example, record)))
        for name, first, end in fields_of(words, plain_tags(example.document)):
            if name == label:
                spans = sorted(original[example.key].spans or ())  # cue words are unlabelled: the field after them
                origin = example.source.name, next((s.label for s in spans if s.end > starts[first]), "nothing")
                there[origin] += 1
                found[origin] += (name, first, end) in right
    say(f"| source | what it calls a {label} | found | there are |\n|---|---|---|---|")
    for origin, count in sorted(there.items()):
        say(f"| {origin[0]} | {origin[1]} | {found[origin]} | {count} |")


def tags_of(example: Example, record: Record) -> list[str]:
    """Return the label that a record gives to each token of an example."""
    spans = [(field.start, field.end, field.label) for field in record.fields]
    return [next(label for a, b, label in spans if a <= start < b) for start, _ in example.document.tokens]


def score(examples: Sequence[Example], records: Sequence[Record]) -> CitationReport:
    """Compare records with the labels of examples, token by token."""
    answers = [tags_of(example, record) for example, record in zip(examples, records, strict=True)]
    gold = [plain_tags(example.document) for example in examples]
    return evaluate([example.document.words for example in examples], gold, answers)


if __name__ == "__main__":
    main()
