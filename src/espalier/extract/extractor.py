"""`Extractor`: text -> tokens -> scores -> labels under rules -> an `Extraction`, for any task.

    extractor = es.Extractor(model, rules).calibrate(dev)      a fitted model, rules, and held-out texts with labels
    extractor.extract("Plum 'Opal', fan on Pixy ...")           one text
    extractor.extract_many(lines)                               a stream of them, in order, at a bounded memory
    extractor.save("adverts.espalier")                          es.load gives it back, calibration included

Texts are scored, decoded and weighed in batches; an answer is the same in any batch.
"""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, Protocol, TypeVar

from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.document import Document, Span
from espalier.errors import (
    EspalierError,
    InputError,
    LabelError,
    ModelFileError,
    NotFittedError,
    ResultWarning,
    check_several,
    counted,
    nearest,
)
from espalier.estimators.abilities import RuledTexts, answering
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.persist import checked_path, pack, unpack
from espalier.extract.answers import Answers, FieldNames, Scored, decode
from espalier.extract.confidence import Calibration, Verdicts
from espalier.extract.extraction import Extraction
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import RuleSet
from espalier.store import load as load_file
from espalier.store import save as save_file

__all__ = ["BATCH", "Extractor"]

BATCH = 1024
"""Texts that are worked on at a time."""

Self = TypeVar("Self", bound="Extractor")
Place = tuple[str, int, int]


_OWN = "for tokens of your own pass es.Document.from_tokens([...])"


class ScoringModel(Protocol):
    """The least that an extractor asks of a model: label names, and the scores of every label at every token."""

    labels_: Labels

    def potentials(self, corpus: Corpus) -> ChainBatch:
        """Return the potentials of every sequence."""


class Extractor:
    """A model, the rules that its answers keep, and what its confidences are worth.

    Parameters
    ----------
    model : a fitted estimator; one under rules (`CCM`) brings them along.
    rules : rules instead of the model's own, with penalties, as a RuleSet or as text; None: the model's own.
    calibration : a map of confidences; None leaves them as they are. `calibrate` fits one.
    names : other names for fields of the model, `{"journal": "container-title"}`; `save` keeps them.
    threads : None chooses by size; results do not depend on it.

    Attributes
    ----------
    model : the estimator, with `predict` and everything else that it can do.

    Examples
    --------
    >>> import espalier as es
    >>> X = [["Plum", "35"], ["Pear", "40"], ["Plum", "12"]]
    >>> model = es.CRF(l2=0.1).fit(X, [["B-fruit", "B-price"]] * 3)
    >>> found = es.Extractor(model).extract("Plum 12")
    >>> [(field.label, field.text) for field in found.fields]
    [('fruit', 'Plum'), ('price', '12')]
    >>> str(found.certificate.status)
    'optimal'
    """

    outside: ClassVar[str | None] = None
    """What text outside all fields is called; None: it is no field."""
    longest: ClassVar[int | None] = None
    """The longest text, in characters; None: any length."""
    made: ClassVar[type[Extraction]] = Extraction
    """The class of the results."""
    thing: ClassVar[str] = "text"
    """What messages call a text."""
    attribution: str = ""
    """Who made the data that the model learned from; kept in the model file."""
    max_nodes: int | None = None
    """Of the search for each text; None: the decoder's own limit."""

    def __init__(
        self,
        model: SequenceLabeller | ScoringModel,
        rules: RuleSet | Compiled | str | None = None,
        *,
        calibration: Calibration | None = None,
        names: Mapping[str, str] | None = None,
        threads: int | None = None,
    ) -> None:
        """Take a fitted model."""
        if isinstance(model, type):
            what = f"{type(self).__name__} takes a fitted model, not the class {model.__name__}"
            raise InputError(what, hint=f"{model.__name__}().fit(...) is one")
        if not hasattr(model, "potentials"):
            what = f"{type(self).__name__} takes a fitted model, not {type(model).__name__}"
            raise InputError(what, hint="es.load gives one from a file")
        if not hasattr(model, "labels_"):
            raise NotFittedError(f"this {type(model).__name__} is not fitted yet", hint="call fit first")
        self.model: Any = model
        self.calibration = Calibration() if calibration is None else calibration
        self.threads = threads
        self._answering: Any = answering(model)
        self.field_names = self._named(_checked(names or {}, InputError))
        self._own_rules = rules is None
        self.compiled = _compiled(model, rules, self._answering)

    def _named(self, names: Mapping[str, str]) -> FieldNames:
        labels: Labels = (self._answering or self.model).labels_
        found = FieldNames.of(labels.names, names, outside=self.outside)
        unknown = next((field for field in names if field not in found.known), None)
        if unknown is not None:
            listed = f"its fields are {', '.join(found.known)}"
            raise InputError(f"names: the model has no field {unknown!r}", hint=nearest(unknown, found.known, listed))
        return found

    @classmethod
    def from_file(cls: type[Self], path: str | os.PathLike[str], **options: Any) -> Self:
        """Return the extractor of a model file, with the calibration that the file holds.

        Parameters
        ----------
        path : a file that `save` of an extractor or of an estimator wrote.
        options : as of the class.

        Returns
        -------
        Extractor

        Raises
        ------
        ModelFileError : the file is damaged, or no model file.
        """
        header, arrays = load_file(path)
        try:
            return cls.from_parts(header, arrays, **options)
        except (ModelFileError, LabelError) as error:
            raise error.within(str(path)) from error

    @classmethod
    def from_parts(
        cls: type[Self], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **options: Any
    ) -> Self:
        """Return the extractor of what `store.load` has read."""
        calibration = options.pop("calibration", None) or Calibration.from_header(header)
        names = options.pop("names", None) or _checked(header.get("names", {}), ModelFileError)
        found = cls(unpack(header, arrays), calibration=calibration, names=names, **options)
        found.attribution = header.get("attribution", found.attribution)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write model, rules, names and calibration to a file for `espalier.load`; it holds data only, never code.

        Parameters
        ----------
        path : of the file; one that exists is replaced.
        """
        path = checked_path(path)
        header, arrays = pack(self.model if self._own_rules else self._ruled_model())
        save_file(path, {**header, **self._more_header()}, arrays)

    def _more_header(self) -> dict[str, Any]:
        names = dict(self.field_names.renamed)
        more = {"calibration": self.calibration.to_header(), "attribution": self.attribution, "names": names}
        return {name: value for name, value in more.items() if value}

    def _ruled_model(self) -> SequenceLabeller:
        """Return the model under the rules of this extractor."""
        from espalier.estimators.ccm import under_rules

        return under_rules(self.model, self.compiled)

    @property
    def labels(self) -> tuple[str, ...]:
        """The fields that an answer may have."""
        return self.field_names.fields

    @property
    def rules(self) -> RuleSet:
        """The rules, with their penalties."""
        return self.compiled.rules

    def with_rules(self: Self, rules: RuleSet | Compiled | str) -> Self:
        """Return the same extractor under other rules, instead of those that it has.

        Parameters
        ----------
        rules : with penalties, as a RuleSet or as text.

        Returns
        -------
        Extractor : a copy; the model and its calibration are shared.
        """
        other = copy(self)
        other._own_rules, other.compiled = False, _compiled(self.model, rules, self._answering)
        return other

    def extract(self, text: str | Document, *, k: int = 1) -> Extraction:
        """Return what is found in one text.

        Parameters
        ----------
        text : a string, which is cut into the default tokens, or a Document with tokens of its own: what a model needs
            that was taught with other tokens.
        k : how many readings; those after the best are its `alternatives`.

        Returns
        -------
        Extraction
        """
        if not isinstance(text, str | Document):
            raise InputError(
                f"a {self.thing} is a string, not {type(text).__name__}",
                hint=[f"{self._many} takes several", _OWN if isinstance(text, list | tuple) else ""],
            )
        return next(self.extract_many([text], k=k))

    def extract_many(self, texts: Iterable[str | Document], *, k: int = 1, batch: int = BATCH) -> Iterator[Extraction]:
        """Yield what is found in each text, in order.

        Parameters
        ----------
        texts : strings, or Documents with tokens of their own.
        k : how many readings of each.
        batch : how many texts are in memory at a time.

        Yields
        ------
        Extraction
        """
        if isinstance(texts, str | Document):
            raise InputError(
                f"{self._many} takes several {self.thing}s, not a string", hint=f"for one there is {self._one}"
            )
        check_several(texts, f"what {self._many} reads", f"expected {self.thing}s, or a stream of them")
        for name, value in (("k", k), ("batch", batch)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}", hint="expected a whole number of at least 1")
        return self._stream(iter(texts), k, batch)

    _one, _many = "extract", "extract_many"

    def _stream(self, texts: Iterator[str | Document], k: int, batch: int) -> Iterator[Extraction]:
        done = 0
        while several := list(islice(texts, batch)):
            with _no_garbage():
                documents = [self._document(text, i) for i, text in enumerate(several, start=done)]
                found = self.of_documents(documents, k=k)[::-1]
            del documents
            while found:
                yield found.pop()  # what the caller lets go is gone at once
            done += len(several)

    def _corpus(self, documents: Sequence[Document]) -> Corpus:
        """Return the tokens of documents, without their labels; rules may ask for the texts."""
        return Corpus.from_tokens(list(map(self._words, documents)), documents=documents)

    def _words(self, document: Document) -> list[str]:
        """Return what the model sees of a document: its tokens, one for one."""
        return document.words

    def _document(self, text: str | Document, i: int) -> Document:
        """Return a text as a document; refuse what is none, or is too long."""
        if isinstance(text, Document):
            return text
        if not isinstance(text, str):
            raise InputError(
                f"{self.thing} {i} is a {type(text).__name__}, not a string",
                hint=_OWN if isinstance(text, list | tuple) else "",
            )
        if self.longest is not None and len(text) > self.longest:
            raise InputError(
                f"{self.thing} {i} has {len(text):,} characters",
                hint=(f"at most {self.longest:,} are read as one, so split it first"),
            )
        return self._cut(text)

    def _cut(self, text: str) -> Document:
        """Return a text with its tokens."""
        return Document.from_text(text)

    def of_documents(self, documents: Sequence[Document], *, k: int = 1) -> list[Extraction]:
        """Return what is found in each document of one batch."""
        return self.extractions(self.answers(documents), k=k) if documents else []

    def answers(self, documents: Sequence[Document]) -> Answers | RuledTexts:
        """Return the labellings of some documents, at least one."""
        if self._answering is None:
            return self.decode(self.score(documents))
        own: RuledTexts = self._answering.answers(self._corpus(documents), self.compiled)
        return own

    def score(self, documents: Sequence[Document] | Corpus) -> Scored:
        """Return documents with their potentials: the scores that decoding begins with.

        How good the answers are is another question: `espalier.evaluate` compares them with the right ones.
        """
        documents = documents.to_documents() if isinstance(documents, Corpus) else documents
        odd: Any = next((one for one in documents if not isinstance(one, Document)), None)
        if odd is not None:
            what = f"score takes documents, not {type(odd).__name__}"
            raise InputError(what, hint="Document.from_text makes one of a text")
        if self._answering is not None:
            what = f"{type(self._answering).__name__} is no model of chains"
            raise InputError(what, hint="here one is needed that scores tokens, such as CRF()")
        corpus = self._corpus(documents)
        return Scored(documents, corpus, self.model.potentials(corpus))

    def decode(self, scored: Scored) -> Answers:
        """Return the labellings of scored documents, and what is proven about them."""
        choose = getattr(self.model, "choose", None) if self._own_rules else None
        return decode(scored, self.compiled, threads=self.threads, max_nodes=self.max_nodes, choose=choose)

    def extractions(self, answers: Answers | RuledTexts, *, k: int = 1) -> list[Extraction]:
        """Return labellings as extractions, with k - 1 alternatives each."""
        return answers.extractions(self.field_names, self.calibration, self.made, k)

    def tags(self, documents: Sequence[Document]) -> list[list[str]]:
        """Label the tokens of documents: the answers of `extract`, faster.

        Parameters
        ----------
        documents : with tokens.

        Returns
        -------
        list of label lists, in the form that the model has learned.
        """
        if not documents:
            return []
        if not hasattr(self.model, "predict"):  # it has scores and nothing else
            answers, names = self.decode(self.score(documents)), self.model.labels_.names
            return [[names[j] for j in answers.y[answers.scored.span(i)].tolist()] for i in range(len(documents))]
        model = self.model if self._own_rules else self._ruled_model()
        found: list[list[str]] = model.predict(self._corpus(documents))
        return found

    def label(self, documents: Sequence[Document]) -> list[Document]:
        """Label documents: the answers of `extract` without confidence or proof.

        Parameters
        ----------
        documents : with tokens; spans that they have are left aside.

        Returns
        -------
        list of Documents with spans, in order.
        """
        odd: Any = next((one for one in documents if not isinstance(one, Document)), None)
        if odd is not None or isinstance(documents, Document):
            what = f"label takes a list of documents, not {'one' if odd is None else type(odd).__name__}"
            raise InputError(what, hint="Document.from_text makes one of a text")
        found = [document.with_tags(own) for document, own in zip(documents, self.tags(documents), strict=True)]
        return [self._in_our_words(document) for document in found] if self.field_names.renamed else found

    def _in_our_words(self, document: Document) -> Document:
        """Return a document whose spans have the names of the model, with those of this extractor."""
        spans = [Span(span.start, span.end, self.field_names.called(span.label)) for span in document.spans or ()]
        return replace(document, spans=None if document.spans is None else tuple(spans))

    def explain(self, text: str | Document) -> Any:
        """Return the answers for one text without and with the rules, and the rules that make the difference.

        Parameters
        ----------
        text : a string, or a Document with tokens of its own.

        Returns
        -------
        Explanation : print it.
        """
        document = self._document(text, 0)
        if self._own_rules and hasattr(self.model, "choose"):
            return self.model.explain(self._words(document))
        from espalier.decoders.explanation import explain
        from espalier.estimators.abilities import with_experts

        answers = self.decode(self.score([document]))
        return with_experts(explain(answers.problem(0)), self.model, answers.scored.corpus)

    def calibrate(
        self: Self, dev: Iterable[Document] | Corpus, *, unseen: Sequence[Iterable[Document] | Corpus] = ()
    ) -> Self:
        """Learn what confidences are worth, and what texts are usual, from labelled texts that the model has not seen.

        Parameters
        ----------
        dev : documents with spans, a labelled Corpus, or a pair (X, y): texts like those that the model was trained on.
        unseen : a list of sets of other kinds, that the model has seen nothing like; each counts as much as `dev`.

        Returns
        -------
        Extractor : this one, calibrated.

        Warns
        -----
        ResultWarning : there are fewer than 50 texts in `dev`. They correct confidences a little, never their order. Or
            the texts have labels that the model does not have.
        """
        from espalier.extract.calibrating import learn_calibration, say_if_few, say_if_unknown, sets_of, tried

        dev, *unseen = sets_of(dev, unseen)
        if unknown := say_if_unknown(self.field_names, (dev, *unseen)):
            warnings.warn(unknown, ResultWarning, stacklevel=2)
        trials = [tried(self, texts) for texts in (dev, *unseen)]
        if few := say_if_few(trials, "text"):
            warnings.warn(few, ResultWarning, stacklevel=2)
        self.calibration = learn_calibration(trials, counted=self.calibration.counted)
        return self

    def judge(self, found: Iterable[Extraction], gold: Iterable[Document]) -> dict[str, Verdicts]:
        """Compare extractions with what is right.

        A field is right if gold has the same label at the same place; a text if its fields and gold's are the same.

        Parameters
        ----------
        found : extractions.
        gold : a document with spans for each.

        Returns
        -------
        confidences, whether they came true, and of what: of every `field` and every `record`, a whole text.
        """
        fields: list[tuple[float, bool, int, str]] = []
        wholes: list[tuple[float, bool, int, str]] = []
        for i, (extraction, document) in enumerate(zip(found, gold, strict=True)):
            if extraction.text != document.text:
                raise InputError(f"the extraction is of another text than the document: {extraction.text[:40]!r}")
            given = self._in_our_words(document).spans or ()
            true = {self._place(document.text, span.label, span.start, span.end) for span in given}
            said = [self._place(document.text, field.label, field.start, field.end) for field in extraction.fields]
            pairs = zip(extraction.fields, said, strict=True)
            fields += [(field.confidence, place in true, i, field.label) for field, place in pairs if place]
            wrong = any(self._counts(place) for place in true ^ set(said) if place is not None)
            wholes.append((extraction.confidence, not wrong, i, ""))
        return {"field": Verdicts.of(fields), "record": Verdicts.of(wholes)}

    def _place(self, text: str, label: str, start: int, end: int) -> Place | None:
        """Return what two fields are compared by; None: it is not compared."""
        return label, start, end

    def _counts(self, place: Place) -> bool:
        """Does a difference at this place make the whole text wrong?"""
        return True

    def __getattr__(self, name: str) -> Any:
        """Say where an estimator's methods are; 0.1.0 returned the estimator itself from `load`."""
        if not name.startswith("_") and name != "model" and hasattr(self.__dict__.get("model"), name):
            raise AttributeError(f"{type(self).__name__} has no {name!r}; its estimator has: .model.{name}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        """Show what it is made of."""
        size = f"{counted(len(self.rules), 'rule')}, {counted(len(self.labels), 'field')}"
        return f"{type(self).__name__}({self.model!r}, {size})"


def _checked(names: Any, error: type[EspalierError]) -> Mapping[str, str]:
    """Return other names for fields; raise the error where they are something else."""
    if not isinstance(names, Mapping) or not all(name and isinstance(name, str) for name in names.values()):
        raise error("names of fields are not a table of strings", hint="as in {'price': 'cost'}")
    return names


def _compiled(model: Any, rules: RuleSet | Compiled | str | None, answering: Any = None) -> Compiled:
    """Return the rules that answers keep: given ones, else those of the model, or of the one that it has taught.

    answering : the model behind it whose scores are no chain's.
    """
    if isinstance(rules, Compiled):
        return rules
    if not isinstance(rules, RuleSet | str | os.PathLike | None):
        raise InputError(f"rules are a RuleSet or a text, not {type(rules).__name__}", hint="es.rules reads a text")
    inner = model
    while rules is None and inner is not None:
        if hasattr(inner, "compiled_"):
            return inner.compiled_  # type: ignore[no-any-return]
        inner = getattr(inner, "model_", None)
    labels = model.labels_
    if answering is not None and answering is model:
        labels = Labels(answering.rule_labels())
    chosen = RuleSet.from_text(rules, labels=labels) if isinstance(rules, str | os.PathLike) else rules or RuleSet([])
    return compile_rules(chosen, labels)


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Let Python not look for garbage meanwhile: a batch makes thousands of values that stay, and no cycles.

    Looking through them again and again takes a sixth of the time.
    """
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looks:
            gc.enable()
