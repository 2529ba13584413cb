"""What a few references teach the bundled model about a style that it has never seen.

    python scripts/adapt_citations.py --data DIR [--references 20] [--subsets 3] [--pool]
    python scripts/adapt_citations.py --data DIR --choose

DIR holds `anystyle/normalised/brill.jsonl`, references of a publisher without marks between their fields, none of which
the bundled model was trained on. In each subset so many references, drawn by a hash, are learned from as `espalier
train --task citations` does, and all others are the test. With --pool the texts of the test references, without their
labels, are learned from too, as with --unlabelled.

--choose asks how strongly the new weights should be drawn to the bundled ones, on styles that are made for it and on no
reference of the test: CORA, which the bundled model has not seen either, as it is and without the marks between
fields; and references that were held out of training for such choices, without those marks.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from espalier.citations.evaluation import Report, evaluate
from espalier.citations.parser import load
from espalier.citations.schemes import load_scheme
from espalier.citations.training import divide, key_of, plain_tags, read_sources
from espalier.cli.adapting import converted
from espalier.cli.recipe import make_recipe
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.estimators.base import SequenceLabeller
from espalier.io import read
from espalier.tags import path_of
from espalier.tasks import load_task

STYLE = "anystyle/normalised/brill.jsonl"
NEVER_SEEN = "cora/normalised/all.jsonl"
STRENGTHS = (0.003, 0.01, 0.03, 0.1)
MOST = 300  # references that a strength is judged by


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of the annotated sets")
    parser.add_argument("--references", type=int, default=20, help="how many are learned from")
    parser.add_argument("--subsets", type=int, default=3)
    parser.add_argument("--pool", action="store_true", help="learn from the texts of the others too")
    parser.add_argument("--choose", action="store_true", help="compare strengths of the prior, on other styles")
    options = parser.parse_args(arguments)
    if options.choose:
        choose(options.data, options.references)
        return
    scheme = load_scheme("brill")
    documents = different(scheme.convert(document) for document in read(options.data / STYLE))
    bundled = load("citations").model
    say("| subset | model | token errors | field errors | whole references right |\n|---|---|---|---|---|")
    for subset in range(options.subsets):
        order = sorted(documents, key=partial(drawn, subset=subset))
        few, others = order[: options.references], order[options.references :]
        say(row(subset, "bundled", score(bundled, others)))
        say(row(subset, f"after {len(few)}", score(adapted(few), others)))
        if options.pool:
            say(row(subset, f"after {len(few)} and raw text", score(adapted(few, others), others)))


def choose(data: Path, references: int) -> None:
    """Print the errors that are left after learning at each strength, as a share of the bundled model's."""
    bundled = load("citations").model
    say("| style | " + " | ".join(f"l2 = {l2}" for l2 in STRENGTHS) + " |")
    say("|---" * (len(STRENGTHS) + 1) + "|")
    for name, documents in styles(data).items():
        order = sorted(documents, key=partial(drawn, subset=0))[: references + MOST]
        few, others = order[:references], order[references:]
        before, cells = score(bundled, others), []
        for l2 in STRENGTHS:
            after = score(adapted(few, settings=(f"l2={l2}",)), others)
            tokens, fields = (1 - after.tokens) / (1 - before.tokens), (1 - after.fields.f1) / (1 - before.fields.f1)
            cells.append(f"{100 * tokens:.0f} {100 * fields:.0f}")
        say(f"| {name} | " + " | ".join(cells) + " |")


def styles(data: Path) -> dict[str, list[Document]]:
    """Return the styles that strengths are compared on."""
    unseen = different(converted(read(data / NEVER_SEEN), load_task("citations").labels))
    held_out = divide(read_sources(data, exclude={key_of(document) for document in unseen}))["dev"]
    found = {"CORA": unseen, "CORA, bare": [bare(document) for document in unseen]}
    for source in ("core", "gold"):
        found[f"{source}, bare"] = [bare(example.document) for example in held_out if example.source.name == source]
    return found


def different(documents: Iterable[Document]) -> list[Document]:
    """Return the documents without copies."""
    return list({key_of(document): document for document in documents}.values())


def bare(document: Document) -> Document:
    """Return a reference without the marks that its fields begin and end with."""
    spans, kept, words = sorted(document.spans or ()), [], document.words
    for span in spans:
        inside = [t for t, (a, b) in enumerate(document.tokens) if span.start <= a and b <= span.end]
        spoken = [t for t in inside if any(map(str.isalnum, words[t]))]
        kept += [(t, span.label) for t in inside if spoken and spoken[0] <= t <= spoken[-1]]
    marks = ["B-" if k == 0 or label != kept[k - 1][1] else "I-" for k, (_, label) in enumerate(kept)]
    tags = [mark + label for mark, (_, label) in zip(marks, kept, strict=True)]
    return Document.from_tokens([words[t] for t, _ in kept], tags)


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def drawn(document: Document, subset: int) -> bytes:
    """Return what the references of a subset are drawn by: the smallest are learned from."""
    return hashlib.sha256(f"{subset}:{key_of(document)}".encode()).digest()


def corpus_of(documents: Sequence[Document]) -> Corpus:
    """Return tokens and tags."""
    return Corpus.from_documents(documents, vocabulary=load_task("citations").labels)


def adapted(few: Sequence[Document], pool: Sequence[Document] = (), settings: Sequence[str] = ()) -> SequenceLabeller:
    """Return what `espalier train --task citations` makes of labelled references and the texts of others."""
    model: SequenceLabeller = make_recipe(task="citations", pool=bool(pool), settings=settings).estimator
    more = {"unlabelled": [document.words for document in pool]} if pool else {}
    return model.fit(corpus_of(few), **more)  # type: ignore[attr-defined, no-any-return]


def score(model: SequenceLabeller, documents: Sequence[Document]) -> Report:
    """Compare a model's labels with those of the documents."""
    words = [document.words for document in documents]
    answers = [[path_of(tag) for tag in tags] for tags in model.predict(words)]
    return evaluate(words, [plain_tags(document) for document in documents], answers)


def row(subset: int, name: str, report: Report) -> str:
    """Return a line of the table, in per cent: wrong tokens, 100 - field F1, references without an error."""
    values = (1 - report.tokens, 1 - report.fields.f1, report.exact)
    return f"| {subset + 1} | {name} | " + " | ".join(f"{100 * value:.1f}" for value in values) + " |"


if __name__ == "__main__":
    main()
