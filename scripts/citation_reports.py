"""What the bundled model of references makes of some, as tables in Markdown: `train_citations.py` prints them."""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from espalier.citations.evaluation import CitationReport, evaluate, fields_of, is_whole
from espalier.citations.parser import Parser
from espalier.citations.record import LABELS, Record
from espalier.citations.schemes import load_scheme
from espalier.citations.training import SOURCES, Example, key_of, plain_tags
from espalier.corpus import Corpus
from espalier.decoders.certify import degree_matrix
from espalier.document import Document
from espalier.estimators.ccm import CCM, under_rules
from espalier.estimators.experts import Experts
from espalier.extract.confidence import Verdicts
from espalier.inference import viterbi
from espalier.io import read
from espalier.learning.penalty_training import HeldOut, train_svm_penalties
from espalier.metrics.reliability import calibration
from espalier.pages.charts import Line, draw_lines
from espalier.rules.compile import compile_rules
from espalier.rules.ruleset import RuleSet
from espalier.tags import path_of
from espalier.tasks import load_task


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def corpus_of(examples: Sequence[Example]) -> Corpus:
    """Return the tokens and tags of some examples."""
    return Corpus.from_documents([example.document for example in examples], vocabulary=load_task("citations").labels)


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
