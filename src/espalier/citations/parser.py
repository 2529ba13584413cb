"""`Parser`: text -> tokens -> scores -> labels under rules -> a `Record` whose fields are spans of the text.

    parser = es.load("citations")                        the bundled model
    parser.parse("L. O. Andersen. Program analysis ...")  one record
    parser.parse_many(lines)                             a stream of them, in order, at a bounded memory

References are scored, decoded and weighed in batches; a record is the same in any batch. Every character of the text
but white space is a part of a token, every token has a label, and tokens of one label in a row are a field: so the
fields, put together, give the text back. What the model puts outside any field is a field `other`. A violation names
the token, counted from 0, by the default tokens of `Document.from_text`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any, Literal, overload

from espalier import store
from espalier.citations.answers import Batch, FieldNames
from espalier.citations.confidence import Calibration
from espalier.citations.record import LABELS, Record
from espalier.corpus import Corpus
from espalier.decoders.base import Problem
from espalier.decoders.explain import Explanation, explain
from espalier.document import Document
from espalier.errors import InputError, LabelError, ModelFileError, NotFittedError, did_you_mean
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.ccm import CCM
from espalier.estimators.persist import load as load_estimator
from espalier.estimators.persist import unpack
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import RuleSet

__all__ = ["BUNDLED", "LONGEST", "Parser", "load", "model_file"]

BUNDLED = {"citations": "model.espalier"}
"""The models that come with the package, by name."""

BATCH = 1024
LONGEST = 20_000
"""The longest reference that is parsed, in characters: what is longer is not one reference."""


class Parser:
    """A model of references, the rules it keeps, and what its confidences are worth.

    Parameters
    ----------
    model : a fitted model of chains; a CCM brings its rules along.
    rules : other rules, with penalties, as a RuleSet or as text; None: the model's own.
    calibration : a map of confidences (see `citations.confidence`); None leaves them as they are.
    names : fields for labels of the model that are called otherwise, `{"journal": "container-title"}`.
    threads : None chooses by size; results do not depend on it.
    """

    def __init__(
        self,
        model: SequenceLabeller,
        rules: RuleSet | str | None = None,
        *,
        calibration: Calibration | None = None,
        names: Mapping[str, str] | None = None,
        threads: int | None = None,
    ) -> None:
        """Take a model; labels that are no fields of references are refused."""
        self.model = _innermost(model)
        self.calibration = Calibration() if calibration is None else calibration
        self.threads = threads
        self._compiled = self._compile(rules)
        self._fields = FieldNames.of(self.model.labels_.names, names or {})

    def _compile(self, rules: RuleSet | str | None) -> Compiled:
        if isinstance(self.model, CCM) and rules is None:
            return self.model.compiled_
        labels = self.model.labels_
        chosen = RuleSet.from_text(rules, labels=labels) if isinstance(rules, str) else rules or RuleSet([])
        return compile_rules(chosen, labels)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> Parser:
        """Return the parser of a model file, with the calibration that the file holds."""
        header, arrays = store.load(path)
        try:
            calibration = options.pop("calibration", None) or Calibration.from_header(header)
            return cls(unpack(header, arrays), calibration=calibration, **options)
        except ModelFileError as error:
            raise ModelFileError(f"{path}: {error}") from error
        except LabelError as error:
            raise LabelError(f"{path}: {error}") from error

    @property
    def labels(self) -> tuple[str, ...]:
        """The fields that a record of this parser may have, in the order of `LABELS`."""
        present = set(self._fields.names)
        return tuple(label for label in LABELS if label in present)

    @property
    def rules(self) -> RuleSet:
        """The rules, with their penalties."""
        return self._compiled.rules

    def parse(self, text: str, *, k: int = 1) -> Record:
        """Return the record of one reference; with k > 1 the next best readings are its `alternatives`."""
        if not isinstance(text, str):
            raise InputError(f"a reference is a string, not {type(text).__name__}; parse_many takes several")
        return next(self.parse_many([text], k=k))

    def parse_many(self, texts: Iterable[str], *, k: int = 1, batch: int = BATCH) -> Iterator[Record]:
        """Yield the record of each reference, in order; `batch` of them are in memory at a time."""
        if isinstance(texts, str):
            raise InputError("parse_many takes several references, not a string; for one there is parse")
        for name, value in (("k", k), ("batch", batch)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}; expected a whole number of at least 1")
        return self._stream(iter(texts), k, batch)

    def _stream(self, texts: Iterator[str], k: int, batch: int) -> Iterator[Record]:
        done = 0
        while several := list(islice(texts, batch)):
            for i, text in enumerate(several, start=done):
                _check(text, i)
            yield from self._records(several, k)
            done += len(several)

    def explain(self, text: str) -> Explanation:
        """Return the answers for one reference without and with the rules, and the rules that make the difference."""
        _check(text, 0)
        corpus = Corpus.from_documents([Document.from_text(text)])
        grounded = self._compiled.ground_corpus(corpus)[0]
        return explain(Problem(self._potentials(corpus)[0], grounded))

    def _records(self, texts: list[str], k: int) -> list[Record]:
        """Return the records of one batch; a text without a token has no fields and no confidence."""
        documents = [Document.from_text(text) for text in texts]
        present = [document for document in documents if document.tokens]
        found = iter(self._answers(present, k) if present else ())
        return [next(found) if document.tokens else Record(document.text, (), 0.0) for document in documents]

    def _answers(self, documents: list[Document], k: int) -> list[Record]:
        corpus = Corpus.from_tokens([document.words for document in documents], documents=documents)
        batch = Batch(
            documents, corpus, self._potentials(corpus), self._compiled, self._fields, self.calibration, self.threads
        )
        records = batch.records()
        if k == 1:
            return records
        return [replace(record, alternatives=batch.alternatives(i, k)) for i, record in enumerate(records)]

    def _potentials(self, corpus: Corpus) -> ChainBatch:
        potentials = self.model.potentials(corpus)
        if not isinstance(potentials, ChainBatch):
            raise InputError(f"a parser takes a model of chains, not a {type(self.model).__name__}")
        return potentials

    def __repr__(self) -> str:
        """Show what it is made of."""
        return f"Parser({self.model!r}, {len(self.rules)} rules, {len(self.labels)} fields)"


def _innermost(model: SequenceLabeller) -> SequenceLabeller:
    """Return the model that labels: wrappers that teach one are left behind."""
    if not isinstance(model, SequenceLabeller):
        raise InputError(f"a parser takes a fitted model, not {type(model).__name__}; es.load gives one from a file")
    inner = getattr(model, "model_", None)
    if isinstance(inner, SequenceLabeller):
        return _innermost(inner)
    if not hasattr(model, "labels_"):
        raise NotFittedError(f"this {type(model).__name__} is not fitted yet; call fit first")
    if hasattr(model, "compiled_") and not isinstance(model, CCM):
        raise InputError(f"a parser cannot keep the rules of a {type(model).__name__}; give it a CCM")
    return model


def _check(text: str, i: int) -> None:
    """Refuse what is not one reference."""
    if not isinstance(text, str):
        raise InputError(f"reference {i} is a {type(text).__name__}, not a string")
    if len(text) > LONGEST:
        raise InputError(
            f"reference {i} has {len(text):,} characters; at most {LONGEST:,} are read as one, so split it first"
        )


@overload
def load(source: Literal["citations"]) -> Parser: ...  # type: ignore[overload-overlap]
@overload
def load(source: str | os.PathLike[str]) -> SequenceLabeller: ...
def load(source: str | os.PathLike[str]) -> Parser | SequenceLabeller:
    """Return a bundled parser by its name, "citations", or the fitted estimator in a model file.

    A file of that very name is `./citations`.
    """
    if isinstance(source, str) and source in BUNDLED:
        with resources.as_file(resources.files("espalier.citations") / BUNDLED[source]) as path:
            return Parser.from_file(_present(path))
    return load_estimator(model_file(source))


def model_file(source: str | os.PathLike[str]) -> Path:
    """Return the path of a model file, or of the bundled model of that name where there is no such file.

    A file that is not there and is called nearly like a bundled model is refused; any other is left to who reads it.
    """
    name = os.fspath(source)
    if os.path.exists(name):
        return Path(name)
    if name in BUNDLED:  # which a package that is installed has as a file
        return Path(str(resources.files("espalier.citations") / BUNDLED[name]))
    near = did_you_mean(name, BUNDLED)
    if near:
        raise ModelFileError(f"there is no model file {name!r}{near}")
    return Path(name)


def _present(path: Path) -> Path:
    if not path.exists():
        raise ModelFileError(f"{path}: the bundled model is missing from this installation; install espalier again")
    return path
