"""`FeatureExtractor` learns from a corpus which attributes there are, and makes the corpus's matrix on the way.

What a template looks at, how values become attributes and these a matrix, is in `features.view`. Cost: a view of the
corpus, and for each template one count of what occurs; the names of attributes are made only if somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.declare import parse_template, read_table
from espalier.features.fields import FeatureField, NamedField, Template, all_fields, fields_of, no_function
from espalier.features.index import FeatureIndex
from espalier.features.matrix import Column, FeatureMatrix, Laid, Places, frequent
from espalier.features.view import Given, View, assemble, join

__all__ = ["FeatureExtractor"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, init=False)
class FeatureExtractor:
    """Templates, and how often an attribute must occur to be kept.

    Examples
    --------
    >>> import espalier as es
    >>> corpus = es.Corpus.from_tokens([["Ann", "in", "Ulm"]])
    >>> index = es.FeatureExtractor(["lower", "suffix1"]).fit(corpus)
    >>> index.names()
    ('lower=ann', 'lower=in', 'lower=ulm', 'suffix1=n', 'suffix1=m')
    """

    templates: tuple[Template, ...]
    min_count: int

    def __init__(
        self,
        templates: Iterable[str | FeatureField | Template],
        min_count: int = 1,
        *,
        definitions: Iterable[NamedField] = (),
    ) -> None:
        """Collect the templates; texts may refer to the named fields among the definitions.

        Attributes that occur on fewer than `min_count` tokens of the training corpus are dropped.
        """
        if isinstance(templates, str):
            raise InputError("templates must be a list", hint=f"found the string {templates!r}")
        if callable(templates):
            raise no_function(templates)
        if not hasattr(templates, "__iter__"):
            what = f"found {templates!r}; the first parameter of a model is its features, others have names: l2=0.5"
            raise InputError("templates must be a list", hint=what)
        if type(min_count) is not int or min_count < 1:
            raise InputError(f"min_count must be a whole number of at least 1, not {min_count!r}")
        definitions = list(definitions)
        collected: list[Template] = []
        for template in templates:
            if isinstance(template, Template):
                collected.append(template)
            elif isinstance(template, FeatureField):
                collected.append(template @ 0)
            else:
                collected.extend(parse_template(template, definitions))
        _check_templates(collected)
        object.__setattr__(self, "templates", tuple(collected))
        object.__setattr__(self, "min_count", min_count)

    @classmethod
    def from_table(
        cls, table: Mapping[str, Any], *, base: str | Path = ".", functions: Iterable[NamedField] = ()
    ) -> FeatureExtractor:
        """Build from a `[features]` table (see `espalier.features.declare`); its files are relative to `base`."""
        return cls(*read_table(table, Path(base), functions))

    def fit(self, corpus: Corpus) -> FeatureIndex:
        """Learn the attributes of a corpus."""
        return self.fit_transform(corpus)[0]

    def fit_transform(self, corpus: Corpus) -> tuple[FeatureIndex, FeatureMatrix]:
        """Learn the attributes of a corpus, and return its matrix too; cheaper than one after the other."""
        view = View(corpus)
        values: dict[str, tuple[str, ...]] = {}
        columns: dict[str, Column] = {}
        for field in fields_of(self.templates):
            raw = view.raw(field)
            # A value that is too rare by itself is too rare at any offset and in any conjunction.
            kept = frequent(raw.column, view.uses((field @ 0).family), self.min_count)
            values[field.text] = tuple(raw.values[k] for k in kept.tolist())
            columns[field.text] = raw.column.located(Places(kept))
        joins: list[tuple[Ints, ...]] = []
        attributes: list[Column] = []
        for template in self.templates:
            uses = view.uses(template.family)
            learned: list[Ints] = []
            learn = partial(_learn, learned, uses, self.min_count)
            attributes.append(join(template, view, columns, values, learn, view.n_rows(template.family)))
            joins.append(tuple(learned))
        offsets = sorted({template.offset for template in self.templates if template.offset})
        markers = tuple(o for o in offsets if np.count_nonzero(view.tokens_at(o) < 0) >= self.min_count)
        index = FeatureIndex(self.templates, self.min_count, values, tuple(joins), markers)
        given, start = [], 0
        for template, column, keys in zip(self.templates, attributes, joins, strict=True):
            given.append(Given(template.family, Laid(column, None, start)))
            start += len(keys[-1])
        return index, assemble(view, given, index.n_attributes, markers)


def _learn(learned: list[Ints], uses: Ints | None, min_count: int, column: Column) -> Places:
    """Append the next join of a template: the numbers that occur often enough."""
    learned.append(frequent(column, uses, min_count))
    return Places(learned[-1])


def _check_templates(templates: Sequence[Template]) -> None:
    """Raise if there is none, one is listed twice, or one name stands for two fields or two sets of word classes."""
    if not templates:
        raise InputError("at least one template is needed")
    seen: set[str] = set()
    fields: dict[str, FeatureField] = {}
    classes: dict[str, Any] = {}
    for template in templates:
        for field in all_fields([template]):
            if fields.setdefault(field.text, field) != field:
                raise InputError(f"two different fields have the name {field.text!r}", hint="rename one")
            own, label = getattr(field, "classes", None), getattr(field, "label", "")
            if own is not None and classes.setdefault(label, own) != own:
                raise InputError(f"two different sets of word classes have the name {label!r}", hint="rename one")
        if template.text in seen:
            raise InputError(f"template {template.text!r} is listed twice")
        seen.add(template.text)
