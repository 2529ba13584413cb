"""Calibrate a model of references on what it has not seen the like of: the last step of `make model`.

    python scripts/calibrate_citations.py --data DIR                           the bundled model, in its place
    python scripts/calibrate_citations.py --data DIR --model A --output B      another one

Confidences are learned from the dev part of the annotated sets, from rendered references whose styles and works train
nothing (`--rendered`, part `dev`), and from an annotated set that trains nothing (`espalier.citations.training`); each
counts as much as dev. Labels do not change. Takes a minute on one core; `bench/calibration.py` says what it brings.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from espalier.citations.parser import Parser
from espalier.citations.training import divide, key_of, read_elsewhere, read_sources
from espalier.extract.confidence import Calibration
from espalier.io import read

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "src" / "espalier" / "citations" / "model.espalier"
BENCHMARK = "cora/normalised/all.jsonl"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, calibrate, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of the annotated sets")
    parser.add_argument("--rendered", type=Path, default=ROOT / "build" / "rendered", help="of rendered references")
    parser.add_argument("--model", type=Path, default=MODEL, help="the model file to read")
    parser.add_argument("--output", type=Path, help="the model file to write; without it the one that was read")
    options = parser.parse_args(arguments)
    benchmark = {key_of(document) for document in read(options.data / BENCHMARK)}
    examples = read_sources(options.data)
    known = {example.key for example in examples} | benchmark
    dev = [one.document for one in divide(examples)["dev"] if one.key not in benchmark]
    others = read_elsewhere(options.data, options.rendered, known)
    for name, several in {"dev": dev, **others}.items():
        sys.stdout.write(f"{name}: {len(several)} references\n")
    model = Parser.from_file(options.model)
    model.calibration = Calibration(counted=False)  # rules that count would cost two ms a reference
    model.calibrate(dev, unseen=list(others.values()))
    for kind, one in model.calibration.corrections.items():
        sys.stdout.write(f"{kind}: {one.to_header()}\n")
    model.save(options.output or options.model)


if __name__ == "__main__":
    main()
