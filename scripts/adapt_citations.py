"""What a few references teach the bundled model about a style that it has never seen.

    python scripts/adapt_citations.py --data DIR [--references 20] [--subsets 3] [--pool]

DIR holds `anystyle/normalised/brill.jsonl`, references of a publisher without marks between their fields, none of which
the bundled model was trained on. In each subset so many references, drawn by a hash, are learned from as `espalier
train --task citations` does, and all others are the test. With --pool the texts of the test references, without their
labels, are learned from too, as with --unlabelled.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from espalier.citations.evaluation import Report, evaluate
from espalier.citations.parser import load
from espalier.citations.schemes import load_scheme
from espalier.citations.training import key_of, plain_tags
from espalier.cli.recipe import make_recipe
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.estimators.base import SequenceLabeller
from espalier.io import read
from espalier.tasks import load_task

STYLE = "anystyle/normalised/brill.jsonl"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of the annotated sets")
    parser.add_argument("--references", type=int, default=20, help="how many are learned from")
    parser.add_argument("--subsets", type=int, default=3)
    parser.add_argument("--pool", action="store_true", help="learn from the texts of the others too")
    options = parser.parse_args(arguments)
    scheme = load_scheme("brill")
    found = [scheme.convert(document) for document in read(options.data / STYLE)]
    documents = list({key_of(document): document for document in found}.values())
    bundled = load("citations").model
    say("| subset | model | token errors | field errors | whole references right |\n|---|---|---|---|---|")
    for subset in range(options.subsets):
        order = sorted(documents, key=partial(drawn, subset=subset))
        few, others = order[: options.references], order[options.references :]
        say(row(subset, "bundled", score(bundled, others)))
        say(row(subset, f"after {len(few)}", score(adapted(few), others)))
        if options.pool:
            say(row(subset, f"after {len(few)} and raw text", score(adapted(few, others), others)))


def say(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def drawn(document: Document, subset: int) -> bytes:
    """Return what the references of a subset are drawn by: the smallest are learned from."""
    return hashlib.sha256(f"{subset}:{key_of(document)}".encode()).digest()


def corpus_of(documents: Sequence[Document]) -> Corpus:
    """Return tokens and labels."""
    labels = load_task("citations").labels
    tags = [plain_tags(document, labels) for document in documents]
    return Corpus.from_tokens([document.words for document in documents], tags, vocabulary=labels)


def adapted(few: Sequence[Document], pool: Sequence[Document] = ()) -> SequenceLabeller:
    """Return what `espalier train --task citations` makes of labelled references and the texts of others."""
    model: SequenceLabeller = make_recipe(task="citations", pool=bool(pool)).estimator
    more = {"unlabelled": [document.words for document in pool]} if pool else {}
    return model.fit(corpus_of(few), **more)  # type: ignore[attr-defined, no-any-return]


def score(model: SequenceLabeller, documents: Sequence[Document]) -> Report:
    """Compare a model's labels with those of the documents."""
    words = [document.words for document in documents]
    return evaluate(words, [plain_tags(document) for document in documents], model.predict(words))


def row(subset: int, name: str, report: Report) -> str:
    """Return a line of the table, in per cent: wrong tokens, 100 - field F1, references without an error."""
    values = (1 - report.tokens, 1 - report.fields.f1, report.exact)
    return f"| {subset + 1} | {name} | " + " | ".join(f"{100 * value:.1f}" for value in values) + " |"


if __name__ == "__main__":
    main()
