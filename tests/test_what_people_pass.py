"""What people pass: series and tables, strings of NumPy, documents; and what is refused, in one clear line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import espalier as es
from espalier.errors import FormatError, InputError, LabelError, MissingExtraError, ResultWarning, RuleError
from espalier.metrics.scorers import field_f1

X = [["Plum", "35"], ["Pear", "40"], ["Quince", "12"], ["Medlar", "9"]]
Y = [["B-fruit", "B-price"]] * 4
DOCUMENTS = [es.Document.from_tokens(words, tags) for words, tags in zip(X, Y, strict=True)]


class Series:
    """What counts here of a Series of pandas after a filter: numbers of its own, which square brackets ask for."""

    def __init__(self, values: list[Any]) -> None:
        self.held = dict(zip([7, 3, 9, 1], values, strict=False))

    def __getitem__(self, number: int) -> Any:
        return self.held[number]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.held.values())

    def __len__(self) -> int:
        return len(self.held)


class Frame:
    """What counts here of a table of pandas: its length is that of its rows, going over it gives names of columns."""

    columns = ("tokens", "labels")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(X)


def test_a_filtered_series_is_read_by_its_places() -> None:
    tokens, labels = Series(X[1:]), Series(Y[1:])
    model = es.CRF().fit(tokens, labels)
    assert model.predict(tokens) == Y[1:]
    assert model.score(tokens, labels) == 1.0
    assert es.CRF().fit(Series(DOCUMENTS)).predict(X) == Y
    assert es.Corpus.from_tokens(tokens, labels).all_labels() == Y[1:]  # type: ignore[arg-type]


def test_a_table_is_refused_and_the_function_that_reads_one_is_named() -> None:
    frame: Any = Frame()
    for attempt in (
        lambda: es.CRF().fit(frame),
        lambda: es.Corpus.from_tokens(frame),
        lambda: es.Corpus.from_documents(frame),
        lambda: es.CRF().fit(X, frame),
    ):
        with pytest.raises(InputError, match=r"is a table, a Frame; pass one column of it, or .*corpus_from_table"):
            attempt()
    with pytest.raises(InputError, match=r"X is dict; expected a Corpus or a list of token lists"):
        es.CRF().fit({"tokens": X})


def test_strings_of_numpy_are_strings() -> None:
    tokens, labels = [list(np.array(words)) for words in X], [list(np.array(tags)) for tags in Y]
    model = es.CRF().fit(tokens, labels)
    found = model.predict([np.array(words) for words in X])
    assert found == Y
    assert {type(label) for own in found for label in own} == {str}
    assert {type(token) for token in es.Corpus.from_tokens(tokens).types} == {str}


def test_documents_are_scored_as_they_are_learned_from() -> None:
    model = es.CRF().fit(DOCUMENTS)
    assert model.score(DOCUMENTS) == model.score(X, Y) == field_f1(model, DOCUMENTS) == 1.0
    assert es.evaluate(DOCUMENTS, model.predict(DOCUMENTS)).exact == 1.0
    assert es.evaluate(DOCUMENTS, es.Extractor(model).label(DOCUMENTS)).exact == 1.0
    with pytest.raises(InputError, match="score needs y, or X with labels: a Corpus, or documents with spans"):
        model.score(X)
    with pytest.raises(InputError, match="score needs y"):
        model.score([es.Document.from_text("Plum 35")])


def test_documents_are_cross_validated() -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    assert np.isfinite(selection.cross_val_score(es.CRF(), DOCUMENTS, cv=2)).all()


def test_a_label_that_is_no_string_is_found() -> None:
    with pytest.raises(LabelError, match=r"sequence 1, token 0: a label is a string, not nan; .* nobody knows is None"):
        es.CRF().fit(X[:2], [["B-fruit", "B-price"], [float("nan"), "B-price"]])  # type: ignore[list-item]


def test_a_text_is_not_to_be_split_by_hand() -> None:
    with pytest.raises(InputError, match=r"is a string, not a list of tokens; Document.from_text cuts a text"):
        es.CRF().fit(["Plum, 35"], [["B-fruit"]])


def test_a_border_within_a_token_is_told() -> None:
    cut = es.Document.from_text("400g flour", [(0, 3, "quantity"), (5, 10, "name")])  # type: ignore[list-item]
    what = r"documents\[1\], '400g': the border of a field cuts a token, which .* \(1 in all\); put the border between"
    for attempt in (es.Corpus.from_documents, es.CRF().fit):
        with pytest.warns(ResultWarning, match=what):
            attempt([DOCUMENTS[0], cut])


CORPUS = es.Corpus.from_tokens(X, Y)


def model() -> es.CRF:
    return es.CRF().fit(X, Y)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a number as features": (lambda: es.CRF(0.5).fit(X, Y), "templates must be a list; found 0.5; .* have names"),  # type: ignore[arg-type]
    "a judged extractor": (lambda: es.evaluate(CORPUS, es.Extractor(model())), "what is predicted is Extractor; give"),  # type: ignore[arg-type]
    "written extractions": (
        lambda: es.write([es.Extractor(model()).extract("Plum 35")], StringIO(), "jsonl"),  # type: ignore[list-item]
        r"number 0 is Extraction; its to_document\(\) is one",
    ),
    "written strings": (lambda: es.write(["Plum"], StringIO(), "jsonl"), "number 0 is str; expected documents"),  # type: ignore[list-item]
    "nothing to read": (lambda: es.read(None), "what is to be read is NoneType; expected a path"),  # type: ignore[arg-type]
    "a list to read": (lambda: es.read(["a.txt"]), "what is to be read is list; expected a path"),  # type: ignore[arg-type]
    "a name for documents": (lambda: es.Corpus.from_documents("a.txt"), "documents is str; espalier.read gives"),  # type: ignore[arg-type]
    "token lists for documents": (lambda: es.Corpus.from_documents(X), r"documents\[0\] is list, not a Document"),  # type: ignore[arg-type]
    "tokens for offsets": (
        lambda: es.read(StringIO("Plum 35"), "plain", tokenise=str.split),
        r"tokenise returned 'Plum'; expected \(start, end\) of each token",
    ),
    "rules found by an extractor": (lambda: es.discover(CORPUS, es.Extractor(model())), "not an Extractor; its .model"),
    "rules found by a name": (lambda: es.discover(CORPUS, "b.espalier"), "not a string; espalier.load"),
    "nothing to load": (lambda: es.load(None), "what is to be loaded is NoneType; expected the path"),  # type: ignore[call-overload]
    "no text to reconcile": (lambda: es.reconcile(None, {"who": "Ann"}), "the text is NoneType; expected a string"),  # type: ignore[arg-type]
    "a class": (lambda: es.Extractor(es.CRF), r"not the class CRF; CRF\(\).fit\(...\) is one"),  # type: ignore[arg-type]
    "scores of tokens": (lambda: es.Extractor(model()).score(X), "score takes documents, not list; Document.from_text"),  # type: ignore[arg-type]
    "nothing to extract from": (lambda: es.Extractor(model()).extract_many(None), "what extract_many reads is None"),  # type: ignore[arg-type]
    "a table to extract from": (lambda: es.Extractor(model()).extract_many(Frame()), "reads is a table, a Frame; pass"),  # type: ignore[arg-type]
    "a name for rules": (lambda: es.rules("ingr.rules"), r"is the name of a file, no rule; Path\('ingr.rules'\) reads"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_told_in_one_line(what: str) -> None:
    attempt, message = REFUSED[what]
    with pytest.raises(InputError, match=message) as error:
        attempt()
    assert "\n" not in str(error.value)


def test_an_extractor_scores_a_corpus() -> None:
    assert len(es.Extractor(model()).score(CORPUS).potentials) == len(X)


@pytest.mark.parametrize("name", ["adverts.csv", "adverts.CSV.gz", "adverts.parquet", "adverts.xlsx"])
def test_a_file_that_is_a_table_is_refused_unless_its_format_is_said(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("text,price\nPlum,35\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"this is a table, .*; save the column .*, or say .*: format='plain'"):
        es.read(path)
    assert len(es.read(path, "plain")) == 2


def test_a_file_of_rules_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.rules"
    path.write_text('Once: fruit once\nKnown: token in file "words.txt" -> fruit\n', encoding="utf-8")
    (tmp_path / "words.txt").write_text("plum\n", encoding="utf-8")
    assert es.rules(path).names == ("Once", "Known")
    assert es.Extractor(model(), path).rules.names == es.CCM(es.CRF(), path).fit(X, Y).rules_.names  # type: ignore[arg-type]
    path.write_text("Once: fruit onze\n", encoding="utf-8")
    with pytest.raises(RuleError, match=r"a\.rules: line 1, column"):
        es.rules(path)


@pytest.mark.parametrize(("module", "package"), [("spacy_component", "spacy"), ("torch_loss", "torch")])
def test_a_bridge_without_its_package_names_the_extra(
    module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, f"espalier.bridges.{module}", raising=False)
    needed = rf"'{package}' is needed; run: pip install 'espalier-nlp\[{package}\]'"
    with pytest.raises(MissingExtraError, match=needed):
        import_module(f"espalier.bridges.{module}")


@pytest.mark.parametrize("line", ["<my qty>2</my qty> x", "<fruit>Plum</fruit> <my qty>2</my qty>"])
def test_a_tag_with_a_space_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "data.txt"
    path.write_text(f"Plum\n{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"data\.txt:2: <my qty> looks like a tag, .* no spaces; write <my_qty>"):
        es.read(path)
    path.write_text("if a <b and c> d\n", encoding="utf-8")
    assert es.read(path)[0].text == "if a <b and c> d"


def test_an_extraction_prints_as_a_short_table() -> None:
    found = es.Extractor(model()).extract("Plum 35")
    head, *fields = str(found).splitlines()
    assert head == f"Plum 35  ({found.confidence:.2f})"
    assert [line.split()[::2] for line in fields] == [["fruit", "Plum"], ["price", "35"]]
    long = es.Extraction("x " * 500, (), 0.5, None)
    assert len(str(long)) < 120
