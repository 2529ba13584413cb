"""Files as a release writes them: a model of every kind, a parser, a project, and what they say about a few texts.

    python scripts/make_release_files.py                        into tests/releases/VERSION, once a release
    python scripts/make_release_files.py DIRECTORY --threads 2  anywhere, to compare

The files of a release are kept for ever: every later version must read them and answer as `expected.json` says
(`tests/releases/test_releases.py`). Everything but the project, which holds dates, depends on this text and on the
library alone, so two runs give the same bytes (`tests/trust/test_determinism.py`).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import espalier as es
from espalier import store
from espalier.citations.formats import write
from espalier.citations.parser import Parser
from espalier.document import Document, Span
from espalier.estimators.persist import pack

ROOT = Path(__file__).resolve().parents[1]
RECORDS = 30

LABELS = ("name", "place", "year", "O")
WORDS = {
    "name": ("Ann", "Bob", "Cy", "Dee", "Eve", "d'Or"),
    "place": ("Ulm", "Bob", "Rome", "Pau", "Łódź"),
    "year": ("1990", "2001", "15"),
    "O": (",", ".", "in", "of"),
}
RULES = """
    Once:  each field once
    Year:  token ~ /\\d+/ -> year
    Mark:  token in ",", "." -> O
    First: first in name, place  [penalty 2]
"""
ORDER = RULES + "    Order: name before year\n"
HARD = "Year: token ~ /\\d+/ -> year\nOrder: place before year\n"  # which every text can keep
FEATURES = ["bias", "lower[-1,0,1]", "shape", "suffix2"]
TEMPLATES = [*FEATURES, "classes:w"]

PIECES = (
    (("author", "Ada Plum."), ("title", "On the pruning of trees."), ("container-title", "Orchard Letters"),
     ("volume", "12,"), ("pages", "pp. 3-9,"), ("date", "1977.")),
    (("author", "Ben Quince"), ("date", "(1984)."), ("title", "Wires and walls."), ("container-title", "Fruit"),
     ("volume", "4:"), ("pages", "100-109.")),
    (("author", "Cleo Medlar and Dan Sloe."), ("title", "Light on leaves."), ("container-title", "Annals of Shade"),
     ("volume", "1,"), ("pages", "pp. 7-8,"), ("date", "2003.")),
)  # fmt: skip
REFERENCES = (
    "Eve Damson. A frame for fruit. Orchard Letters 7, pp. 31-40, 1991.",
    "Flo Pear (1966). Rules of the garden. Fruit 9: 11-19.",
    "Nobody knows what {this} is",
)
REFERENCE_RULES = """
Once:    each field once             [penalty 2]
Pages:   token in "pp" -> pages      [penalty 3]
Titled:  title required              [penalty 4]
"""
CALIBRATION = {"field": [[0.0, 0.5, 1.0], [0.05, 0.4, 0.99]], "record": [[0.0, 1.0], [0.02, 0.97]]}

Sequences = list[list[str]]


def sequences(n: int, seed: int) -> tuple[Sequences, Sequences]:
    """Return words and labels of n sequences; some words have two meanings, so no model is sure."""
    rng = random.Random(seed)
    tokens, labels = [], []
    for _ in range(n):
        y = rng.choices(LABELS, (3, 2, 2, 3), k=rng.randrange(3, 9))
        tokens.append([rng.choice(WORDS[label]) for label in y])
        labels.append(y)
    return tokens, labels


def unfitted() -> dict[str, Any]:
    """Return an estimator of every kind and way of training, by the name of its file."""
    crf = es.CRF(FEATURES, max_iterations=30)
    perceptron = es.Perceptron(FEATURES, epochs=3)
    return {
        "crf": crf,
        "crf-l1": es.CRF(FEATURES, l1=0.1, max_iterations=30),
        "hmm": es.HMM(),
        "hmm-additive": es.HMM("additive", transition_classes="punctuation"),
        "perceptron": perceptron,
        "semicrf": es.SemiCRF(["bias", "lower"], max_iterations=20),
        "conv": es.ConvCRF(8, dilations=(1, 2), embedding=8, buckets=64, min_steps=60),
        "experts": es.Experts([es.CRF(FEATURES, max_iterations=10), es.HMM()], [1, 0.5]),
        "ccm-count": es.CCM(es.HMM(), ORDER),
        "ccm-hard": es.CCM(es.HMM(), HARD, "hard"),
        "ccm-perceptron": es.CCM(es.HMM(), ORDER, "perceptron", folds=2, epochs=2),
        "ccm-svm": es.CCM(es.HMM(), ORDER, "svm", folds=2),
        "ccm-ibt": es.CCM(perceptron, RULES, training="IBT"),
        "ccm-jibt": es.CCM(perceptron, RULES, training="JIBT"),
        "ccm-segments": es.CCM(es.SemiCRF(["bias", "lower"], max_iterations=10), RULES, "fixed"),
        "two-stage": es.TwoStage(es.HMM(), "Order: name before year\nOnce: each field once", 0.8),
        "two-stage-mined": es.TwoStage(es.HMM(), min_support=2, min_confidence=0.6, folds=2),
    }


def taught() -> dict[str, Any]:
    """Return the estimators that learn from unlabelled text, too."""
    return {
        "em": es.EM(es.HMM(), iterations=3),
        "em-hard": es.EM(es.HMM("additive"), hard=True, iterations=3),
        "codl": es.CoDL(es.CCM(es.HMM(), ORDER), cycles=2),
        "codl-crf": es.CoDL(es.CCM(es.CRF(FEATURES, max_iterations=10), RULES), cycles=1, update="pool"),
        "samplerank": es.SampleRank(FEATURES, RULES, epochs=2, pool_epochs=1),
        "pr": es.PosteriorRegularization(es.HMM(), RULES, iterations=2),
        "words": es.WordLearner(es.CRF(FEATURES, max_iterations=10), clusters=(4,), dimensions=3),
        "ge": es.GeneralizedExpectation(es.CRF(FEATURES, max_iterations=10), RULES, max_iterations=5),
    }


def threaded(estimator: Any, threads: int | None) -> Any:
    """Return the estimator, told how many threads to use, and so all that it holds."""
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "threads"]
    return estimator.set_params(**dict.fromkeys(names, threads))


def models(threads: int | None, records: int) -> dict[str, Any]:
    """Return estimators by the name of their file, fitted to so many sequences, and twice as many without labels."""
    tokens, labels = sequences(records, 1)
    pool = sequences(2 * records, 2)[0]
    classes = es.WordClasses.learn(es.Corpus.from_tokens(pool), clusters=(4,), dimensions=3, context=1)
    features = es.FeatureExtractor(TEMPLATES, definitions=classes.fields("w"))
    supervised = unfitted() | {
        "hmm-classes": es.HMM(word_classes=classes),
        "crf-classes": es.CRF(features, max_iterations=20),
    }
    found = {name: threaded(model, threads).fit(tokens, labels, labels=LABELS) for name, model in supervised.items()}
    pooled = {"labels": LABELS, "unlabelled": pool}
    return found | {name: threaded(model, threads).fit(tokens, labels, **pooled) for name, model in taught().items()}


def parser_model(threads: int | None) -> Any:
    """Return a model of references under rules."""
    tokens, labels = [], []
    for pieces in PIECES:
        cut = [(label, Document.from_text(text).words) for label, text in pieces]
        tokens.append([word for _, words in cut for word in words])
        labels.append([label for label, words in cut for _ in words])
    base = es.CRF(["bias", "lower[-1,0]", "shape[0,1]", "position5"], l2=0.05, max_iterations=30)
    return threaded(es.CCM(base, REFERENCE_RULES, "fixed"), threads).fit(tokens, labels)


def answers(model: Any, tokens: Sequences) -> dict[str, Any]:
    """Return what a model says: labels of all sequences, and probabilities where its kind has them."""
    found: dict[str, Any] = {"labels": model.predict(tokens)}
    try:
        found["marginals"] = [table.round(9).tolist() for table in model.predict_marginals(tokens[:3])]
    except es.EspalierError as refused:
        found["refused"] = str(refused)
    return found


def make_project(directory: Path, model: Path) -> dict[str, Any]:
    """Make a project with a task of its own, a model, rules and corrections; return what is in it."""
    from espalier.server.tasks import RuleState
    from espalier.workbench.bench import Bench

    bench = Bench(directory)
    rules = 'Mark: token in ",", "." -> place\nOnce: each field once [penalty 2]\n'
    bench.tasks.create("people", [label for label in LABELS if label != "O"], True, FEATURES, rules)
    bench.tasks.set_rules("people", RuleState(rules, {"Once": 3.0}, ("Mark",)))
    documents = [Document.from_text(text) for text in ("Ann in Ulm 1990", "Bob of Rome", "Eve, Pau")]
    task = bench.tasks.get("people")
    ids = bench.records.add(task, documents).added
    confirmed = {ids[0]: [Span(0, 3, "name"), Span(7, 10, "place"), Span(11, 15, "year")], ids[2]: []}
    for record, spans in confirmed.items():
        bench.records.correct(task, record, spans)
    version = bench.models.add("people", model.read_bytes(), name="first", kind="crf", source="upload", parent=None)
    _, _, _, (said,) = bench.answered("people", version.id, ["Cy in Rome"], 1)
    bench.close()
    return {
        "task": "people",
        "rules": rules,
        "penalties": {"Once": 3.0},
        "off": ["Mark"],
        "model": version.id,
        "texts": [document.text for document in documents],
        "corrected": {
            str(record): [[span.start, span.end, span.label] for span in spans] for record, spans in confirmed.items()
        },
        "parsed": [[field.label, field.start, field.end] for field in said.fields],
    }


def make(directory: Path, threads: int | None = None, *, records: int = RECORDS, project: bool = True) -> None:
    """Write all files into a new directory."""
    directory.mkdir(parents=True)
    tokens = sequences(6, 3)[0]
    expected: dict[str, Any] = {"version": es.__version__, "tokens": tokens, "models": {}}
    for name, model in models(threads, records).items():
        model.save(directory / f"{name}.espalier")
        expected["models"][name] = answers(model, tokens)
    header, arrays = pack(parser_model(threads))
    store.save(directory / "parser.espalier", header | {"calibration": CALIBRATION}, arrays)
    parser = Parser.from_file(directory / "parser.espalier", threads=threads)
    parsed = list(parser.parse_many(REFERENCES))
    for format, ending in (("jsonl", "jsonl"), ("bibtex", "bib")):
        (directory / f"parsed.{ending}").write_text("".join(write(parsed, format)), encoding="utf-8")
    expected["references"] = REFERENCES
    if project:
        expected["project"] = make_project(directory / "project", directory / "crf.espalier")
    text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
    (directory / "expected.json").write_text(text + "\n", encoding="utf-8")
    (directory / "discovered.rules").write_text(_discovered(), encoding="utf-8")


def _discovered() -> str:
    """Return the rules that are found where a weak model is wrong."""
    weak = es.HMM().fit(*sequences(5, 1), labels=LABELS)
    corpus = es.Corpus.from_tokens(*sequences(60, 4))
    return es.discover(corpus, weak, importance=1.5, max_rules=12).to_rules()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files of this version, unless they are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=Path, default=ROOT / "tests" / "releases" / es.__version__)
    parser.add_argument("--threads", type=int, help="threads of every training; the files do not depend on it")
    parser.add_argument("--records", type=int, default=RECORDS, help="labelled sequences to learn from")
    parser.add_argument("--no-project", action="store_true", help="leave the project out, which holds dates")
    chosen = parser.parse_args(arguments)
    if chosen.directory.exists():
        sys.stderr.write(f"{chosen.directory} is there already; files of a release are never made anew\n")
        return 2
    make(chosen.directory, chosen.threads, records=chosen.records, project=not chosen.no_project)
    size = sum(path.stat().st_size for path in chosen.directory.rglob("*") if path.is_file())
    sys.stdout.write(f"{size:,} bytes in {chosen.directory}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
