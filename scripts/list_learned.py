"""Write which annotated references the bundled model learns from, as 32-bit sums: `citations/learned.npy`.

    python scripts/list_learned.py --data DIR

DIR is that of `scripts/train_citations.py`, and the references are those that it trains on: the annotated ones of the
part "train", and those that are labelled in part. Run it when the sets change.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from train_citations import BENCHMARK, PARTLY

from espalier.citations.partly_labelled import read_partly_labelled
from espalier.citations.training import LEARNED, divide, key_of, key_sums, read_sources
from espalier.io import read


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the sets, and write the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of the annotated sets")
    parser.add_argument("--output", type=Path, default=LEARNED, help="the file to write")
    options = parser.parse_args(arguments)
    benchmark = {key_of(document) for document in read(options.data / BENCHMARK)}
    examples = read_sources(options.data)
    training = dict(divide(one for one in examples if one.key not in benchmark))["train"]
    others = {example.key for example in examples if example.part != "train"} | benchmark
    partly = read_partly_labelled(options.data, PARTLY["net"], others)
    documents = [example.document for example in training] + [document for document, _ in partly]
    sums = np.unique(key_sums(documents))
    np.save(options.output, sums)
    print(f"{len(documents)} references, {len(sums)} sums, {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
