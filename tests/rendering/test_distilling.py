"""The net of the bundled model learns from larger ones: what it learns from, and that PyTorch computes our net."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import distil_net
import numpy as np
import pytest
from distilling.lessons import KINDS, ORIGINAL, Lessons, as_document, as_row, draw, read_rows, write_rows

from espalier.corpus import Corpus
from espalier.document import Document, Span
from espalier.extract.extractor import Extractor
from espalier.models.conv import ConvShape, ScoringNet, initial

TEXT = "Ho, Ann. On the soils of Kent. Leeds: Arbor, 1999."
SPANS = tuple(
    Span(*place, label)
    for place, label in (
        *(((0, 8), "author"), ((9, 30), "title"), ((31, 37), "location"), ((38, 44), "publisher"), ((45, 50), "date")),
    )
)
WHOLE = Document.from_text(TEXT, SPANS)
PARTLY = Document(TEXT, WHOLE.tokens, SPANS[:1], unknown=((9, 50),))
RAW = Document.from_text("Lee B. Pears and their stocks. Pomona 3 (2001) 4-9.")


def some_rows() -> list[dict[str, Any]]:
    kinds = ((WHOLE, "annotated"), (PARTLY, "partly"), (WHOLE, "rendered"), (RAW, "raw"))
    return [as_row(document, kind, 0.5 * k + 0.5, "en") for k, (document, kind) in enumerate(kinds)]


def of_kind(lessons: Lessons, kind: str) -> list[int]:
    return np.flatnonzero(lessons.kind == KINDS.index(kind)).tolist()


def test_references_are_the_same_behind_a_file(tmp_path: Path) -> None:
    rows = some_rows()
    assert write_rows(tmp_path / "rows.xz", rows) == len(rows)
    again = [as_document(one) for one in read_rows(tmp_path / "rows.xz")]
    for found, document in zip(again, (WHOLE, PARTLY, WHOLE, RAW), strict=True):
        assert (found.text, found.tokens, found.spans) == (document.text, document.tokens, document.spans)
        assert found.unknown == document.unknown


def test_words_that_were_cut_otherwise_stay_so() -> None:
    cut = Document("ab c", ((0, 1), (1, 4)), (Span(0, 1, "title"), Span(1, 4, "date")))
    assert as_document(as_row(cut, "annotated", 1.0, "annotated")).tokens == cut.tokens


def test_lessons_hold_labels_weights_and_versions() -> None:
    labels = distil_net.task_labels()
    lessons = draw(some_rows(), labels, {"annotated": 3, "rendered": 2}, processes=1)
    assert [len(of_kind(lessons, kind)) for kind in KINDS] == [4, 1, 2, 1]
    corpus = Corpus.from_documents([WHOLE], vocabulary=labels)
    assert corpus.y is not None
    first = of_kind(lessons, "annotated")[0]
    assert lessons.version[first] == ORIGINAL
    stretch = slice(*lessons.indptr[first : first + 2])
    assert [lessons.words[k] for k in lessons.word[stretch]] == WHOLE.words
    np.testing.assert_array_equal(lessons.y[stretch], corpus.y)
    partly = of_kind(lessons, "partly")[0]
    known = lessons.y[slice(*lessons.indptr[partly : partly + 2])] >= 0
    assert known.tolist() == [k < 4 for k in range(len(known))]  # Ho , Ann .
    raw = of_kind(lessons, "raw")[0]
    assert (lessons.y[slice(*lessons.indptr[raw : raw + 2])] == -1).all()
    assert {float(lessons.weight[k]) for k in of_kind(lessons, "rendered")} == {1.5}
    again = draw(some_rows(), labels, {"annotated": 3, "rendered": 2}, processes=2)
    np.testing.assert_array_equal(again.word, lessons.word)  # whatever the number of processes


def test_an_epoch_has_known_references_twice_and_others_once() -> None:
    lessons = draw(some_rows(), distil_net.task_labels(), {"annotated": 4, "rendered": 3}, processes=1)
    rng = np.random.default_rng(0)
    for number in range(5):
        chosen = lessons.epoch(number, rng).tolist()
        annotated = [k for k in chosen if k in of_kind(lessons, "annotated")]
        original = of_kind(lessons, "annotated")[0]
        assert annotated.count(original) == 2
        assert len(annotated) == 4
        assert len(set(annotated)) == 3  # itself, and two of its versions
        assert [chosen.count(k) for k in of_kind(lessons, "partly")] == [2]
        (rendered,) = [k for k in chosen if k in of_kind(lessons, "rendered")]
        assert lessons.version[rendered] == number % 3
        assert [chosen.count(k) for k in of_kind(lessons, "raw")] == [1]


def options(tmp_path: Path) -> argparse.Namespace:
    return argparse.Namespace(**{"work": tmp_path, "build": tmp_path / "experts", "processes": 1, "quick": True})


def quick_shape() -> ConvShape:
    return ConvShape(len(distil_net.task_labels()), **(distil_net.SHAPE | distil_net.QUICK))


def test_what_was_learned_becomes_a_model(tmp_path: Path) -> None:
    shape, rng = quick_shape(), np.random.default_rng(3)
    weights = {name: rng.normal(size=size).astype(np.float32) for name, size in shape.sizes().items()}
    np.savez(tmp_path / "net.npz", **weights)
    distil_net.take(options(tmp_path))
    net = Extractor.from_file(tmp_path / "experts" / "net.espalier").model
    assert net.labels_ == distil_net.task_labels()
    tags = net.predict([WHOLE])[0]
    for before, tag in zip(["", *tags], tags, strict=False):
        assert tag[0] == "B" or before[2:] == tag[2:]  # weights of chance, and yet B- comes before I-
    scores = net.net_.scores(Corpus.from_documents([WHOLE]))
    expected = ScoringNet(shape, weights).scores(Corpus.from_documents([WHOLE]))
    assert np.abs(scores - expected).max() < 0.1 * np.abs(expected).max()  # weights are stored in bytes


def test_pytorch_computes_the_net_that_ships() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    from distilling.course import OnDevice, said_by
    from distilling.nets import ConvNet, Words

    shape = quick_shape()
    net = ConvNet(shape, 0).eval()
    with torch.no_grad():
        for weight in net.parameters():
            weight += 0.1 * torch.randn_like(weight)
    lessons = draw(some_rows()[-1:] * 3, distil_net.task_labels(), {}, processes=1)
    said = said_by([(net, Words(lessons.words, shape.buckets, "cpu"))], OnDevice(lessons, "cpu")).float().numpy()
    weights = net.weights()
    scores = ScoringNet(shape, weights).scores(Corpus.from_documents([RAW]))
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    for k in range(3):
        np.testing.assert_allclose(said[slice(*lessons.indptr[k : k + 2])], expected, atol=1e-3)
    assert set(initial(shape, np.random.default_rng(0))) <= set(weights)


def test_teachers_and_net_learn(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra torch")
    write_rows(tmp_path / "lessons.jsonl.xz", some_rows() * 8)
    write_rows(tmp_path / "dev.jsonl.xz", some_rows()[:1])
    distil_net.learn(options(tmp_path))
    distil_net.take(options(tmp_path))
    net = Extractor.from_file(tmp_path / "experts" / "net.espalier").model
    assert len(net.predict([WHOLE])[0]) == len(WHOLE.tokens)
