"""What confidences are worth: at home, in styles that are new, on a source left out; and what is found unfamiliar.

    python bench/calibration.py                          # the bundled model, calibrated anew as it was
    python bench/calibration.py --model MODEL --rendered DIR
    python bench/calibration.py --train 60               # also: models without one source, so many iterations each

The model's own calibration is left aside. For each set another one is learned as `scripts/calibrate_citations.py`
learns it, from the halves and sets that are not measured:

    home                 dev, by halves: one half calibrates, the other is measured
    new styles           rendered references whose styles and works train nothing, by halves of the styles
    unseen styles        the same of the part `unseen`, that calibrates nothing either
    a source left out    a set that neither trained the model nor calibrates it here
    without ...          the same for a CRF that is trained on the other sources alone (`--train`)

Then the error of each field, and which texts are found unfamiliar: references, and texts that are none. The error is
the mean gap over ten bins (`espalier.metrics.calibration`). With few texts it is above 0 by chance alone: *chance* is
what it would be if every confidence kept its word, mean of 200 draws. Printed as Markdown.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import DATA
from espalier.citations.parser import Parser
from espalier.citations.record import LABELS
from espalier.citations.training import SOURCES, Example, divide, key_of, read_elsewhere, read_sources
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.estimators.ccm import under_rules
from espalier.estimators.crf import CRF
from espalier.extract.calibrating import Trial, learn_calibration, tried
from espalier.extract.confidence import Calibration, Verdicts
from espalier.io import read
from espalier.metrics.reliability import calibration
from espalier.rules.compile import compile_rules
from espalier.tasks import load_task

ROOT = Path(__file__).parents[1]
KINDS = ("record", "field")
OTHER_TEXT = {
    "tweets": "wnut17/normalised/dev.jsonl",
    "news": "conll04/normalised/dev.jsonl",
    "encyclopaedia": "wikigold/normalised/dev.jsonl",
    "advertisements": "ads/normalised/dev.jsonl",
    "addresses": "usaddress/normalised/train.jsonl",
}
"""Texts that are no references."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="directory of the shared data sets")
    parser.add_argument("--rendered", type=Path, default=ROOT / "build" / "rendered", help="of rendered references")
    parser.add_argument("--model", type=Path, help="a model file; without it the bundled one")
    parser.add_argument("--train", type=int, default=0, metavar="N", help="train models without one source")
    parser.add_argument("--quick", action="store_true", help="a few references, to see that it runs")
    options = parser.parse_args(arguments)
    benchmark = {key_of(document) for document in read(options.data / "cora/normalised/all.jsonl")}
    examples = [one for one in read_sources(options.data) if one.key not in benchmark]
    known = benchmark | {one.key for one in examples}
    parts, most = divide(examples), 60 if options.quick else None
    others = {name: own[:most] for name, own in read_elsewhere(options.data, options.rendered, known).items()}
    model = Parser.from_file(options.model or ROOT / "src/espalier/citations/model.espalier")
    dev = [one.document for one in parts["dev"]][:most]
    trials = {"home": tried(model, dev), **{name: tried(model, several) for name, several in others.items()}}
    print("| confidences of | texts | error of records | chance | error of fields | chance |\n" + "|---" * 6 + "|")
    rows = list(measured(trials, others))
    if (unseen := options.rendered / "unseen.jsonl.gz").exists():
        last = tried(model, list(itertools.islice(read(unseen), most)))
        rows.insert(2, ("unseen styles", last.promised(learn_calibration(list(trials.values())))))
    for name, found in rows:
        print(row(name, found), flush=True)
    if options.train:
        for name, found in left_out(parts, others, options.train, most):
            print(row(name, found), flush=True)
    print_fields(rows)
    print_unfamiliar(model, learn_calibration(list(trials.values())), trials, options.data, most)


Judged = dict[str, Verdicts]


def measured(trials: Mapping[str, Trial], others: Mapping[str, Sequence[Document]]) -> Iterator[tuple[str, Judged]]:
    """Yield each set with what calibrated confidences promised, and what came true."""
    rest = {name: trial for name, trial in trials.items() if name != "home"}
    group = {"home": np.arange(trials["home"].size)}
    if "styles" in others:
        styles = {style: i for i, style in enumerate(dict.fromkeys(styles_of(others["styles"])))}
        group["styles"] = np.array([styles[style] for style in styles_of(others["styles"])])
    for name, number in group.items():
        found = []
        for half in (0, 1):
            own, fitting = trials[name], number % 2 != half
            sets = {**trials, name: own.chosen(np.flatnonzero(fitting))}
            found.append(own.chosen(np.flatnonzero(~fitting)).promised(learn_calibration(list(sets.values()))))
        yield {"home": "home", "styles": "new styles"}[name], both(found)
    for name, trial in rest.items():
        if name != "styles":
            fitted = [other for known, other in trials.items() if known != name]
            yield f"a source left out: {name}", trial.promised(learn_calibration(fitted))


def left_out(
    parts: Mapping[str, Sequence[Example]], others: Mapping[str, Sequence[Document]], iterations: int, most: int | None
) -> Iterator[tuple[str, Judged]]:
    """Yield each source with what a model promised that is trained and calibrated on the others."""
    task = load_task("citations")
    for source in SOURCES:
        train, dev = ([one for one in parts[part] if one.source.name != source.name] for part in ("train", "dev"))
        corpus = Corpus.from_documents([one.document for one in train][:most], vocabulary=task.labels)
        weights = np.array([one.weight for one in train][:most])
        crf = CRF(task.extractor, l2=1.0, max_iterations=iterations).fit(corpus, sample_weight=weights)
        parser = Parser(under_rules(crf, compile_rules(task.rules, crf.labels_)))
        own = [one.document for part in ("dev", "train") for one in parts[part] if one.source.name == source.name]
        sets = [[one.document for one in dev][:most], *others.values()]
        fitted = learn_calibration([tried(parser, several) for several in sets])
        yield f"without {source.name}, a CRF", tried(parser, own[: most or 3000]).promised(fitted)


def styles_of(documents: Sequence[Document]) -> list[str]:
    """Return the citation style of each rendered reference."""
    return [str(document.meta.get("style", "")) for document in documents]


def both(halves: Sequence[Judged]) -> Judged:
    """Put two halves together; the numbers of texts lose their meaning."""
    return {kind: Verdicts(*map(np.concatenate, zip(*(half[kind] for half in halves), strict=True))) for kind in KINDS}


def row(name: str, found: Judged) -> str:
    """Return a row of the table."""
    cells = [name, str(len(found["record"].sure))]
    for kind in KINDS:
        sure, right = found[kind][:2]
        cells += [f"{calibration(sure, right).error:.3f}", f"{chance(sure):.3f}"]
    return f"| {' | '.join(cells)} |"


def chance(sure: NDArray[np.float64], draws: int = 200) -> float:
    """Return the mean error of confidences that keep their word."""
    rng = np.random.default_rng(0)
    return float(np.mean([calibration(sure, rng.random(len(sure)) < sure).error for _ in range(draws)]))


def print_fields(rows: Sequence[tuple[str, Judged]]) -> None:
    """Print the error of each field of which there are a hundred."""
    print(f"\n| field | {' | '.join(name for name, _ in rows)} |\n" + "|---" * (len(rows) + 1) + "|")
    for label in LABELS:
        cells = []
        for _, found in rows:
            verdicts = found["field"]
            own = verdicts.label == label
            cells.append(f"{calibration(verdicts.sure[own], verdicts.right[own]).error:.3f}" if own.sum() > 99 else "")
        if any(cells):
            print(f"| {label} | {' | '.join(cells)} |")


def print_unfamiliar(
    model: Parser, fitted: Calibration, trials: Mapping[str, Trial], data: Path, most: int | None
) -> None:
    """Print the share of texts that are found unfamiliar."""
    print("\n| texts | unfamiliar, per cent | the usual reason |\n|---|---|---|")
    for name, trial in trials.items():
        assert trial.signs is not None
        print(unfamiliar_row(name, fitted, trial.signs))
    for name, texts in {**other_texts(data), **made_texts()}.items():
        documents = [Document.from_text(text) for text in texts[: most or 300]]
        answers: Any = model.answers([document for document in documents if document.tokens])
        print(unfamiliar_row(name, fitted, answers.signs(model.field_names)))


def unfamiliar_row(name: str, fitted: Calibration, signs: NDArray[np.float64]) -> str:
    """Return a row of the table."""
    found = [one.reason for one in fitted.unfamiliar(signs) if one is not None]
    reason = max(set(found), key=found.count) if found else ""
    return f"| {name} | {100 * len(found) / len(signs):.0f} | {reason} |"


def other_texts(data: Path) -> dict[str, list[str]]:
    """Return texts of other sets that are there."""
    found = {}
    for name, file in OTHER_TEXT.items():
        path = next((p for p in (data / file, data / f"{file}.gz") if p.exists()), None)
        if path is not None:
            raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            rows = map(json.loads, raw.decode("utf-8").splitlines())
            found[name] = [(one.get("text") or " ".join(one["tokens"]))[:500] for one in itertools.islice(rows, 300)]
    return found


def made_texts() -> dict[str, list[str]]:
    """Return lines of programs, rows of numbers, and letters at random."""
    lines = (line.strip() for path in sorted(ROOT.glob("src/espalier/extract/*.py")) for line in path.open())
    draw = random.Random(0)
    signs = [*range(0x21, 0x7F), *range(0x400, 0x450), *range(0x4E00, 0x4E80), *[0x20] * 60]
    return {
        "lines of programs": [line for line in lines if len(line) > 30],
        "rows of numbers": [" ".join(f"{draw.random() * 100:.2f}" for _ in range(20)) for _ in range(100)],
        "letters at random": ["".join(map(chr, draw.choices(signs, k=120))) for _ in range(100)],
    }


if __name__ == "__main__":
    sys.exit(main())
