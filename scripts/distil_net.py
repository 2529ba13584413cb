"""Make the net of the bundled model: three larger nets learn, and the small one learns from what they say.

    python scripts/render_references.py --data DIR --output build/clean --train 200000 --clean
    python scripts/distil_net.py pack --data DIR          what is learned from, as text, in build/distil
    python scripts/distil_net.py learn                    with PyTorch and an accelerator: twenty minutes
    python scripts/distil_net.py take                     build/experts/net.espalier, a model file

Only `learn` needs PyTorch (the extra `torch`). It needs nothing but this repository and `build/distil`, so that it may
run on another machine: bring `net.npz` back into `build/distil`. Then `train_citations.py` goes on with `--stage net
--begin build/experts`, and with `--stage join`.

The teachers are two recurrent nets and a convolutional one, several times as large. They and the small net meet
annotated references as `train_citations.py` has them, and rendered ones that are spoilt anew for each epoch but a few
(`distilling/lessons.py`). Text without labels is what AnyStyle's unsorted sets, Crossref and arXiv have: the small net
learns what the teachers say of it. Where there are labels, too, they count 0.3 and the teachers 0.7. In a second course
labels count alone where they are known; elsewhere the net keeps to what it said before.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from citation_reports import say
from distilling.lessons import KINDS, Lessons, Row, as_row, draw, read_rows, write_rows
from train_citations import BENCHMARK, BUILD, PARTLY, RENDERED, SELDOM, is_seldom

from espalier.citations.partly_labelled import read_partly_labelled
from espalier.citations.seen import document_seen, reference_document
from espalier.citations.training import divide, key_of, read_sources
from espalier.corpus import Labels
from espalier.estimators.conv_crf import ConvCRF
from espalier.io import read
from espalier.models.conv import ConvShape, ScoringNet
from espalier.tasks import load_task

RAW = (
    ("anystyle", "anystyle/original/ugly.xml.gz"),
    ("anystyle", "anystyle/original/bad.xml"),
    ("crossref", "crossref_real/normalised/all.jsonl"),
    ("unlabelled", "unlabelled_refs/normalised/unlabelled.jsonl.gz"),
)
"""Sets of which the text alone is used."""

SHAPE: dict[str, Any] = {"channels": 256, "inner": 64}
TEACHING: dict[str, Any] = {"channels": 512, "inner": 160, "dilations": (1, 2, 4, 8, 16, 1, 2, 4, 8, 1)}
VERSIONS = {"annotated": 6, "rendered": 4}
WIDTHS = (352, 448)
"""Of the recurrent teachers."""

EPOCHS = {"recurrent": 5, "convolutional": 3, "net": 7, "alone": 5}
QUICK = {"channels": 16, "inner": 8, "buckets": 512, "embedding": 8}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and do one step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("pack", "learn", "take"))
    parser.add_argument("--data", type=Path, help="directory of the annotated sets, to pack")
    parser.add_argument("--clean", type=Path, nargs="+", default=[BUILD / "clean" / "train.jsonl.gz"], metavar="FILE")
    parser.add_argument("--work", type=Path, default=BUILD / "distil", help="directory of what is packed and learned")
    parser.add_argument("--build", type=Path, default=BUILD / "experts", help="directory of the two experts")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that spoil references")
    parser.add_argument("--quick", action="store_true", help="nets that learn nothing, to try the steps")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    {"pack": pack, "learn": learn, "take": take}[options.step](options)


def pack(options: argparse.Namespace) -> None:
    """Write what is learned from as lines, and what is held out."""
    benchmark = {key_of(document) for document in read(options.data / BENCHMARK)}
    examples = read_sources(options.data)
    parts = dict(divide(example for example in examples if example.key not in benchmark))
    others = {example.key for example in examples if example.part != "train"} | benchmark
    training = parts["train"]
    rows = [as_row(one.document, "annotated", one.weight, "annotated") for one in training]
    partly = read_partly_labelled(options.data, PARTLY["net"], {*others, *(example.key for example in training)})
    rows += [as_row(document, "partly", weight, "") for document, weight in partly]
    rendered = [one for path in options.clean for one in read(path) if key_of(one) not in others]
    count, weight = RENDERED["net"]
    each = weight * count / max(len(rendered), 1)
    for one in rendered:
        language = str(one.meta.get("locale", ""))[:2]
        rows.append(as_row(one, "rendered", each * (SELDOM if is_seldom(one) else 1), language))
    rows += raw(options.data, {*others, *(example.key for example in training)})
    said = write_rows(options.work / "lessons.jsonl.xz", rows)
    held = (as_row(one.document, "annotated", 1.0, "") for one in parts["dev"])
    write_rows(options.work / "dev.jsonl.xz", held)
    counts = {kind: sum(row["kind"] == kind for row in rows) for kind in KINDS}
    say(f"{said} references {counts}, {(options.work / 'lessons.jsonl.xz').stat().st_size / 1e6:.1f} MB")


def raw(data: Path, known: set[str]) -> Iterator[Row]:
    """Yield references without their labels: those that are nowhere else."""
    seen = set(known)
    for name, file in RAW:
        for text in _texts(data / file, name):
            document = document_seen(reference_document(text))
            key = key_of(document)
            if key not in seen and 20 < len(text) < 1000:
                seen.add(key)
                yield as_row(document, "raw", 1.0, "")


def _texts(path: Path, name: str) -> Iterator[str]:
    if name == "anystyle":
        yield from (document.text for document in read(path))
        return
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "jstor" not in json.dumps([row.get("source"), row.get("file"), row["id"]]).lower():
                yield row["text"]  # JSTOR's lines measure (bench/wild.py)


def learn(options: argparse.Namespace) -> None:
    """Let teachers learn, and the net from them."""
    import torch
    from distilling.course import Course, OnDevice, said_by
    from distilling.course import learn as run
    from distilling.nets import ConvNet, Recurrent, Words

    device = "cuda" if torch.cuda.is_available() else "cpu"
    begin = time.perf_counter()
    lessons, held, labels = drawn(options)
    say(f"{len(lessons)} references drawn, {len(lessons.words)} words, {time.perf_counter() - begin:.0f} s")
    data, dev = OnDevice(lessons, device), OnDevice(held, device)
    small = QUICK if options.quick else {}
    sizes = {"teacher": small.get("buckets", 65536), "net": small.get("buckets", 32768)}
    words = {name: [Words(one.words, size, device) for one in (lessons, held)] for name, size in sizes.items()}
    wide = {"buckets": 65536, "embedding": 96} | TEACHING | (small and small | {"dilations": (1, 2)})
    narrow = {"embedding": 8, "buckets": small["buckets"]} if small else {}
    teachers: list[tuple[str, Any]] = [
        *(("recurrent", Recurrent(len(labels), 1 + k, 16 if small else w, **narrow)) for k, w in enumerate(WIDTHS)),
        ("convolutional", ConvNet(ConvShape(len(labels), **wide), 3)),
    ]
    epochs = dict.fromkeys(EPOCHS, 1) if options.quick else EPOCHS

    def report(name: str, several: Any, own: Any) -> None:
        right = said_by([(net, own) for net in several], dev).argmax(1).cpu().numpy() == held.y
        whole = np.logical_and.reduceat(right, held.indptr[:-1])
        say(f"{name}: dev tokens {100 * right.mean():.2f}, all tokens of a reference {100 * whole.mean():.2f}")

    for k, (kind, teacher) in enumerate(teachers):
        run(teacher, data, words["teacher"][0], Course(epochs[kind], rate=2e-3, seed=k), say=say)
        report(f"teacher {k}", [teacher], words["teacher"][1])
    report("teachers", [net for _, net in teachers], words["teacher"][1])
    said = said_by([(net, words["teacher"][0]) for _, net in teachers], data)
    net = ConvNet(ConvShape(len(labels), **(SHAPE | small)), 0)
    net = run(net, data, words["net"][0], Course(epochs["net"]), said, say=say)
    report("net", [net], words["net"][1])
    said = said_by([(net, words["net"][0])], data)
    alone = Course(epochs["alone"], batch=256, rate=1.5e-3, soft_share=0.0, seed=1)
    net = run(net, data, words["net"][0], alone, said, say=say)
    report("net alone", [net], words["net"][1])
    np.savez(options.work / "net.npz", **net.weights())
    say(f"learned in {time.perf_counter() - begin:.0f} s")


def drawn(options: argparse.Namespace) -> tuple[Lessons, Lessons, Labels]:
    """Return lessons, held-out references and labels."""
    labels = task_labels()
    rows = list(read_rows(options.work / "lessons.jsonl.xz"))
    versions = dict.fromkeys(VERSIONS, 1) if options.quick else VERSIONS
    lessons = draw(rows, labels, versions, options.processes)
    return lessons, draw(list(read_rows(options.work / "dev.jsonl.xz")), labels, {}, 1), labels


def task_labels() -> Labels:
    """Return the labels of the task."""
    return load_task("citations").labels


def take(options: argparse.Namespace) -> None:
    """Write the net that was learned as a model file."""
    labels = task_labels()
    shape = ConvShape(len(labels), **(SHAPE | (QUICK if options.quick else {})))
    file = options.work / "net.npz"
    with np.load(file) as arrays:
        weights = {name: arrays[name] for name in shape.sizes()}
    for name, allowed in zip(("start", "trans"), labels.allowed(), strict=True):
        weights[name] = np.where(allowed, 0.0, -np.inf).astype(np.float32)
    net = ConvCRF(shape.channels, inner=shape.inner, buckets=shape.buckets, embedding=shape.embedding)
    net.labels_, net.net_ = labels, ScoringNet(shape, weights)
    net.training_digest_ = hashlib.sha256(file.read_bytes()).hexdigest()
    options.build.mkdir(parents=True, exist_ok=True)
    net.save(options.build / "net.espalier")


if __name__ == "__main__":
    main()
