"""A parser whose base are experts in a cascade: the same answers in any batch and file, one text without kernels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import espalier as es
from espalier.citations.parser import Parser
from espalier.corpus import Corpus
from espalier.document import Document
from espalier.estimators.experts import Experts
from espalier.recipes.adapting import begin

REFERENCES = [
    "Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.",
    "L. O. Andersen. Program analysis and specialization for the C programming language. PhD thesis, DIKU, 1994.",
    "Heath 1978 : J. Heath, zur Theorie, in: Foo (Hg.) Bar; ders. 1977, S. 5ff.",
    "23 Giorgi A., Rossi, B. Su una teoria. Bollettino UMI, 3 (1999), 12-15",
    "Flo Pear (1966). Rules of the garden. Fruit 9: 11-19.",
    "Nobody knows what {this} is 12 (3) 1999 of",
    "",
]


@pytest.fixture(scope="module")
def parser() -> Parser:
    """Return the bundled CRF beside a small net that has learned its answers."""
    bundled = es.load("citations")
    crf = bundled.model.base_
    crf = crf.experts_[0] if isinstance(crf, Experts) else crf
    corpus = Corpus.from_tokens([Document.from_text(text).words for text in REFERENCES[:5]])
    net = es.ConvCRF(8, dilations=(1, 2), buckets=256, epochs=2, crf_epochs=1, min_steps=20, seed=1, storage="float32")
    net.fit(corpus, crf.predict(corpus), labels=crf.labels_.names)
    experts = Experts.of([crf, net], [1, 0.3], temperature=1.5, ask_below=0.5)
    return Parser(bundled.model.with_base(experts), calibration=bundled.calibration)


def test_records_are_the_same_alone_and_together(parser: Parser) -> None:
    together = list(parser.parse_many(REFERENCES))
    said = [record.certificate.scores for record in together if record.text]
    assert set(said) == {"first expert alone", "product of 2 experts"}
    for text, record in zip(REFERENCES, together, strict=True):
        alone = parser.parse(text)
        assert alone.certificate == record.certificate
        assert [(f.label, f.start, f.end) for f in alone.fields] == [(f.label, f.start, f.end) for f in record.fields]
        assert alone.confidence == pytest.approx(record.confidence, abs=1e-5)
        assert "".join(field.text for field in record.fields).replace(" ", "") == text.replace(" ", "")
        several = parser.parse(text, k=3)
        assert several.fields == alone.fields
        assert several.confidence + sum(other.confidence for other in several.alternatives) <= 1 + 1e-9
        if text:
            assert record.to_dict()["certificate"]["scores"] == record.certificate.scores


def test_who_decides_has_the_last_word(parser: Parser) -> None:
    first = Parser(parser.model.with_base(parser.model.base_.experts_[0]))
    for text in REFERENCES[:6]:
        record = parser.parse(text)
        if record.certificate.scores == "first expert alone":
            assert record.certificate.bound == pytest.approx(first.parse(text).certificate.bound, abs=1e-5)
            assert [f.text for f in record.fields] == [f.text for f in first.parse(text).fields]
            assert len(parser.explain(text).experts) == 1
        else:
            shares = parser.explain(text).experts
            assert [share.name for share in shares] == ["0 CRF", "1 ConvCRF"]


def test_one_file_holds_all_and_one_text_loads_no_kernels(parser: Parser, tmp_path: Path) -> None:
    path = tmp_path / "both.espalier"
    parser.save(path)
    again = es.load(path)
    assert isinstance(again, Parser)
    assert list(again.parse_many(REFERENCES)) == list(parser.parse_many(REFERENCES))
    code = (
        "import sys, espalier as es\n"
        "parser = es.load(sys.argv[1])\n"
        "for text in sys.argv[2:]: print(parser.parse(text).certificate.scores)\n"
        "print(sorted({'numba', 'scipy', 'joblib'} & {*sys.modules}))\n"
    )
    texts = [REFERENCES[0], REFERENCES[5]]
    done = subprocess.run([sys.executable, "-c", code, str(path), *texts], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["first expert alone", "product of 2 experts", "[]"]
    shown = subprocess.run(
        [sys.executable, "-m", "espalier", "info", str(path)], capture_output=True, text=True, check=True
    ).stdout
    for line in (
        "ccm of experts of crf and conv_crf",
        "ask_below=0.5",
        "weights",
        "1, 0.3",
        "of the first expert alone",
    ):
        assert line in shown
    table = subprocess.run(
        [sys.executable, "-m", "espalier", "parse", "--model", str(path), "--format", "table", "--explain", "-"],
        input="\n".join(texts), capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "first expert alone" in table
    assert "expert 1 ConvCRF: " in table


def test_learning_may_begin_at_the_first_expert(parser: Parser, tmp_path: Path) -> None:
    parser.save(tmp_path / "both.espalier")
    start = begin(tmp_path / "both.espalier")
    assert start.learned.labels == parser.model.labels_
    assert "calibration" in start.kept
