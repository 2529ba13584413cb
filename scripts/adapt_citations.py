"""What a few references teach the bundled model about a style that it has never seen.

    python scripts/adapt_citations.py --data DIR [--references 20] [--subsets 3] [--pool] [--replay]
    python scripts/adapt_citations.py --data DIR --choose [--subsets 2]
    python scripts/adapt_citations.py --data DIR --keep

DIR holds `anystyle/normalised/brill.jsonl`, references of a publisher without marks between their fields, none of which
the bundled model was trained on. In each subset so many references, drawn by a hash, are learned from as `espalier
train --task citations` does, and all others are the test. With --pool the texts of the test references, without their
labels, are learned from too, as with --unlabelled. With --replay references of other styles are learned again.

--choose asks how strongly the new weights should be drawn to the bundled ones, and what copies with exchanged fields
are worth, on styles that are made for it and on no reference of the test: CORA, which the bundled model has not seen
either, as it is and without the marks between fields; and references that were held out of training for such choices,
without those marks, in another order, or with other marks.

--keep asks what the bundled model forgets while it learns such a style, on references that were held out of its
training, without and with the references that are replayed (`espalier.citations.adapting.replayed`).
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from espalier.citations.adapting import bundled_start, converted
from espalier.citations.evaluation import CitationReport, evaluate
from espalier.citations.schemes import load_scheme
from espalier.citations.training import divide, key_of, plain_tags, read_sources
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.estimators.base import SequenceLabeller
from espalier.io import read
from espalier.loading import load
from espalier.recipes import plan
from espalier.recipes.adapting import COPIES, L2, NET
from espalier.tags import path_of
from espalier.tasks import load_task

STYLE = "anystyle/normalised/brill.jsonl"
NEVER_SEEN = "cora/normalised/all.jsonl"
CHOICES: Mapping[str, Mapping[str, float]] = {
    "l2 = 0.01, no copies": {"l2": 0.01, "copies": 0},
    "3 copies": {"l2": 0.01, "copies": 3},
    "10 copies": {"l2": 0.01, "copies": 10},
    "l2 = 0.003, 10 copies": {"l2": 0.003, "copies": 10},
    f"l2 = {L2}, {COPIES} copies": {"l2": L2, "copies": COPIES},
}
KEPT: Mapping[str, bool] = {"as usual": False, "others replayed": True}
NEW_STYLES = ("CORA, bare", "gold, bare, in another order")
KNOWN = 300  # references that say what is forgotten
MOST = 175  # references that a choice is judged by
CATALOGUED = ("author", "title", "editor", "container-title", "volume", "issue", "pages", "date", "location")
DATED = ("date", "author", "title", "container-title", "volume", "issue", "pages", "location", "publisher")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of the annotated sets")
    parser.add_argument("--references", type=int, default=20, help="how many are learned from")
    parser.add_argument("--subsets", type=int, default=3)
    parser.add_argument("--pool", action="store_true", help="learn from the texts of the others too")
    parser.add_argument("--replay", action="store_true", help="learn references of other styles again")
    parser.add_argument("--choose", action="store_true", help="compare ways to learn, on other styles")
    parser.add_argument("--keep", action="store_true", help="what is forgotten, with and without replay")
    parser.add_argument("--quick", action="store_true", help="nets take a few steps, to see that it runs")
    options = parser.parse_args(arguments)
    if options.quick:
        NET["min_steps"] = 6
    if options.keep:
        keep(options.data, options.references)
        return
    if options.choose:
        choose(options.data, options.references, options.subsets)
        return
    scheme = load_scheme("brill")
    documents = different(scheme.convert(document) for document in read(options.data / STYLE))
    bundled = load("citations").model
    say("| subset | model | token errors | field errors | whole references right | seconds |\n" + "|---" * 6 + "|")
    for subset in range(options.subsets):
        few, others = drawn(documents, options.references, subset)
        before = score(bundled, others)
        say(row(subset, "bundled", before))
        say(learned_row(subset, f"after {len(few)}", before, few, others, replaying=options.replay))
        if options.pool:
            say(learned_row(subset, f"after {len(few)} and raw text", before, few, others, others))


def choose(data: Path, references: int, subsets: int) -> None:
    """Print the errors that are left after learning in each way, as a share of the bundled model's."""
    bundled = load("citations").model
    say("| style | " + " | ".join(CHOICES) + " |\n" + "|---" * (len(CHOICES) + 1) + "|")
    for name, documents in styles(data).items():
        left = np.zeros((len(CHOICES), 2))
        for subset in range(subsets):
            few, others = drawn(documents, references, subset)
            before = wrong(score(bundled, others[:MOST]))
            for k, settings in enumerate(CHOICES.values()):
                left[k] += wrong(score(adapted(few, settings=settings), others[:MOST])) / before / subsets
        say(f"| {name} | " + " | ".join(f"{tokens:.0f} {fields:.0f}" for tokens, fields in 100 * left) + " |")


def keep(data: Path, references: int) -> None:
    """Print the errors on a new style and on what the bundled model knows, after learning with and without replay."""
    known_styles = styles(data)
    parts = divide(read_sources(data, exclude={key_of(document) for document in known_styles["CORA"]}))
    known = [example.document for example in parts["dev"] if example.document.tokens]
    random.Random(0).shuffle(known)
    known = known[:KNOWN]
    say(
        "| style | model | token errors | field errors | known: token errors | known: field errors |\n"
        + "|---" * 6
        + "|"
    )
    for name in NEW_STYLES:
        few, others = drawn(known_styles[name], references, 0)
        say(kept_row(name, "bundled", load("citations").model, others[:MOST], known))
        for title, replaying in KEPT.items():
            model = adapted(few, replaying=replaying)
            say(kept_row(name, f"after {references}, {title}", model, others[:MOST], known))


def kept_row(
    style: str, name: str, model: SequenceLabeller, others: Sequence[Document], known: Sequence[Document]
) -> str:
    """Return a line of the table, in per cent."""
    new, old = (100 * wrong(score(model, documents)) for documents in (others, known))
    return f"| {style} | {name} | {new[0]:.1f} | {new[1]:.1f} | {old[0]:.2f} | {old[1]:.2f} |"


def wrong(report: CitationReport) -> np.ndarray:
    """Return the share of wrong tokens and 1 - field F1."""
    return 1 - np.array([report.tokens, report.fields.f1])


def styles(data: Path) -> dict[str, list[Document]]:
    """Return the styles that ways to learn are compared on."""
    unseen = different(converted(read(data / NEVER_SEEN), load_task("citations").labels))
    held_out = divide(read_sources(data, exclude={key_of(document) for document in unseen}))["dev"]
    core, gold, grobid = (
        [example.document for example in held_out if example.source.name == source]
        for source in ("core", "gold", "grobid")
    )
    return {
        "CORA": unseen,
        "CORA, bare": [restyled(document) for document in unseen],
        "core, bare": [restyled(document) for document in core],
        "gold, bare": [restyled(document) for document in gold],
        "gold, bare, in another order": [restyled(document, CATALOGUED) for document in gold],
        "GROBID, date first, semicolons": [restyled(document, DATED, ";") for document in grobid],
    }


def different(documents: Iterable[Document]) -> list[Document]:
    """Return the documents without copies."""
    return list({key_of(document): document for document in documents}.values())


def restyled(document: Document, order: Sequence[str] = (), mark: str = "") -> Document:
    """Return a reference in a style of its own: without the marks that its fields begin and end with, but with another.

    order : labels whose fields come first, in this order; the others follow as they are.
    """
    place = {label: k for k, label in enumerate(order)}
    fields = []
    for span in sorted(document.spans or (), key=lambda span: (place.get(span.label, len(place)), span.start)):
        inside = [document.text[a:b] for a, b in document.tokens if span.start <= a and b <= span.end]
        spoken = [t for t, word in enumerate(inside) if any(map(str.isalnum, word))]
        if spoken:
            fields.append((span.label, inside[spoken[0] : spoken[-1] + 1]))
    words, tags = [], []
    for k, (label, inside) in enumerate(fields):
        tokens = inside + [mark] * (mark != "" and k < len(fields) - 1)
        again = k > 0 and fields[k - 1][0] == label
        words += tokens
        tags += [f"{'I' if again or t else 'B'}-{label}" for t in range(len(tokens))]
    return Document.from_tokens(words, tags)


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def drawn(documents: Iterable[Document], references: int, subset: int) -> tuple[list[Document], list[Document]]:
    """Return the references of a subset that are learned from, those with the smallest hashes, and the others."""

    def draw(document: Document) -> bytes:
        return hashlib.sha256(f"{subset}:{key_of(document)}".encode()).digest()

    order = sorted((document for document in documents if document.tokens), key=draw)
    return order[:references], order[references:]


def corpus_of(documents: Sequence[Document]) -> Corpus:
    """Return tokens and tags."""
    return Corpus.from_documents(documents, vocabulary=load_task("citations").labels)


def adapted(
    few: Sequence[Document],
    pool: Sequence[Document] = (),
    settings: Mapping[str, Any] | None = None,
    replaying: bool = False,
) -> SequenceLabeller:
    """Return what `espalier train --task citations` makes of labelled references and the texts of others."""
    start = partial(bundled_start, replaying)
    recipe = plan(task="citations", unlabelled=bool(pool), settings=settings, usual_start=start)
    model: Any = recipe.estimator
    more = {"unlabelled": [document.words for document in pool]} if pool else {}
    fitted: SequenceLabeller = model.fit(corpus_of(few), **more)
    return fitted


def score(model: SequenceLabeller, documents: Sequence[Document]) -> CitationReport:
    """Compare a model's labels with those of the documents."""
    words = [document.words for document in documents]
    answers = [[path_of(tag) for tag in tags] for tags in model.predict(corpus_of(documents))]
    return evaluate(words, [plain_tags(document) for document in documents], answers)


def learned_row(
    subset: int,
    name: str,
    before: CitationReport,
    few: Sequence[Document],
    others: Sequence[Document],
    pool: Sequence[Document] = (),
    replaying: bool = False,
) -> str:
    """Learn, and return a line of the table that says by how much the errors fell, and how long it took."""
    start = time.perf_counter()
    model = adapted(few, pool, replaying=replaying)
    seconds = time.perf_counter() - start
    return row(subset, name, score(model, others), before, f"{seconds:.0f}")


def row(subset: int, name: str, report: CitationReport, before: CitationReport | None = None, seconds: str = "") -> str:
    """Return a line of the table, in per cent: wrong tokens, 100 - field F1, references without an error."""
    cells = [f"{100 * value:.1f}" for value in wrong(report)]
    if before is not None:
        cells = [
            f"{cell} (-{fell:.0f} %)"
            for cell, fell in zip(cells, 100 * (1 - wrong(report) / wrong(before)), strict=True)
        ]
    return " | ".join((f"| {subset + 1}", name, *cells, f"{100 * report.exact:.1f}", f"{seconds} |"))


if __name__ == "__main__":
    main()
