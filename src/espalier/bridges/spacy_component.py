"""A component of spaCy: fields of an Espalier model, under its rules, become entities of a `Doc`.

    nlp = spacy.blank("en")
    nlp.add_pipe("espalier", config={"model": "adverts.espalier"})

spaCy finds it by itself (an entry point) where the extra `spacy` is installed. The tokens are spaCy's own; a model that
was trained on other tokens reads them as it reads any others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from espalier.document import Document
from espalier.errors import InputError, MissingExtraError
from espalier.extract.extraction import Extraction
from espalier.extract.extractor import Extractor
from espalier.loading import load

try:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.util import filter_spans
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "for a component of spaCy, the package 'spacy' is needed", hint="run: pip install 'espalier-nlp[spacy]'"
    ) from error

__all__ = ["SpacyFields", "make_component"]


class SpacyFields:
    """What `nlp.add_pipe("espalier")` adds: `doc.ents`, or a group of spans, and `doc._.espalier`.

    extractor : text to fields; key : the group of `doc.spans` that gets the fields, None for `doc.ents`, which get
    those that overlap no entity of an earlier component. `doc._.espalier` is the whole extraction: confidences,
    certificate, violations.
    """

    def __init__(self, extractor: Extractor, key: str | None = None) -> None:
        """Register the extension that holds extractions."""
        self.extractor, self.key = extractor, key
        if not Doc.has_extension("espalier"):
            Doc.set_extension("espalier", default=None)

    def __call__(self, doc: Doc) -> Doc:
        """Label one document."""
        (found,) = self.extractor.of_documents([_document(doc)])
        return self._written(doc, found)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Label documents in batches, which is faster than one by one."""
        docs = iter(stream)
        while chunk := list(islice(docs, batch_size)):
            for doc, found in zip(chunk, self.extractor.of_documents([_document(d) for d in chunk]), strict=True):
                yield self._written(doc, found)

    def _written(self, doc: Doc, found: Extraction) -> Doc:
        """Write the fields into the document."""
        doc._.espalier = found
        spans = [doc.char_span(f.start, f.end, label=f.label, alignment_mode="expand") for f in found.fields]
        known = [span for span in spans if span is not None]
        if self.key is not None:
            doc.spans[self.key] = known
        else:
            own = [span for span in known if not any(token.ent_type for token in span)]
            doc.ents = [*doc.ents, *filter_spans(own)]
        return doc


def _document(doc: Doc) -> Document:
    """Return the text with spaCy's tokens, without those of white space."""
    offsets = ((token.idx, token.idx + len(token)) for token in doc if not token.is_space)
    return Document(doc.text, tuple(offsets))


def make_component(nlp: Language, name: str, model: str, rules: str | None, spans_key: str | None) -> SpacyFields:
    """Make the component; spaCy calls this with the values of its config."""
    if not model:
        raise InputError(
            "the component 'espalier' needs a model", hint='add_pipe("espalier", config={"model": "file.espalier"})'
        )
    extractor = load(model)
    return SpacyFields(extractor if rules is None else extractor.with_rules(rules), spans_key)


Language.factory("espalier", default_config={"model": "", "rules": None, "spans_key": None}, func=make_component)
