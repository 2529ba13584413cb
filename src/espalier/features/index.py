"""`FeatureIndex`: the attributes that training kept, locked, and the matrix that they make of any corpus.

In a model file it is arrays and one JSON-able value: no pickle, and loading runs no code.

    "features"            JSON: templates, min_count, markers, regexes, conditions, lexicons, tables,
                          vectors (name, fold), classes (name)
    "values/<k>/text"     uint8, the values of field k end to end, in UTF-8; "values/<k>/lengths" int32, in characters
    "joins/<j>/<k>"       int64, join k of template j
    "vectors/<name>"      float64[W, D]; its words as "vectors/<name>/text" and "vectors/<name>/lengths"
    "classes/<name>/..."  the arrays of `WordClasses.to_state`

Functions are not stored; their names are, in the templates, and loading asks for the functions again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.features.declare import (
    Call,
    Lexicon,
    RegexField,
    SequenceCall,
    TableField,
    Vectors,
    read_table,
)
from espalier.features.fields import FeatureField, NamedField, Part, Template, all_fields, fields_of, marker
from espalier.features.matrix import FeatureMatrix, GivenIndex, Laid, Places, side_by_side
from espalier.features.memory import TypeMemory
from espalier.features.view import Given, View, assemble, join
from espalier.lazy import cached_property
from espalier.store import below, narrow, put_strings, stored_array, take_strings

__all__ = ["AnyIndex", "BothIndex", "FeatureIndex", "index_from_state", "matrix_of"]

Ints = NDArray[np.int64]


FEW = 512
"""Tokens of a corpus whose matrix needs no bundles."""


class _Plan(NamedTuple):
    """What is the same for every corpus.

    gathering : for each family that gathers, one of its parts; alone, joined : the other templates that no memory
    knows, of one part and of several, each with its first attribute; fields : those of `joined`.
    """

    gathering: Mapping[str, Part]
    alone: Sequence[tuple[Part, Ints, int]]
    joined: Sequence[tuple[Template, Sequence[Places], int]]
    fields: Sequence[FeatureField]


@dataclass(frozen=True, slots=True, eq=False)
class BothIndex:
    """What templates say of words, and beside it what was given of each token."""

    words: FeatureIndex
    given: GivenIndex

    @property
    def n_attributes(self) -> int:
        """A."""
        return self.words.n_attributes + self.given.n_attributes

    def transform(self, corpus: Corpus) -> FeatureMatrix:
        """Return the matrix of a corpus whose tokens have both."""
        return side_by_side(self.words.transform(corpus), self.given.transform(corpus.given_lists()))

    def names(self) -> tuple[str, ...]:
        """Return the name of each attribute."""
        return (*self.words.names(), *self.given.names())

    def to_state(self) -> dict[str, Any]:
        """Return JSON and arrays for model files."""
        words, given = self.words.to_state(), self.given.to_state()
        state: dict[str, Any] = {"features": {"words": words.pop("features"), "given": given.pop("features")}}
        for prefix, arrays in (("words", words), ("given", given)):
            state |= {f"{prefix}/{name}": value for name, value in arrays.items()}
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> BothIndex:
        """Return the index that `to_state` described."""
        words, given = (
            {"features": state["features"][prefix], **below(f"{prefix}/", state)} for prefix in ("words", "given")
        )
        return cls(FeatureIndex.from_state(words), GivenIndex.from_state(given))


@dataclass(frozen=True, eq=False)
class FeatureIndex:
    """The attributes of a set of templates, locked: values that training did not keep are ignored.

    Attributes
    ----------
    templates, min_count : of the extractor.
    values : for each field (by its text) the values kept; a value's number is its place.
    joins : for each template, int64 arrays, one a part (see `espalier.features.view`).
    markers : the offsets whose marker is an attribute; their attributes come after those of all templates.
    """

    templates: tuple[Template, ...]
    min_count: int
    values: Mapping[str, tuple[str, ...]]
    joins: tuple[tuple[Ints, ...], ...]
    markers: tuple[int, ...]

    @cached_property
    def n_attributes(self) -> int:
        """A."""
        return sum(len(joins[-1]) for joins in self.joins) + len(self.markers)

    def transform(self, corpus: Corpus) -> FeatureMatrix:
        """Return the matrix of a corpus, int32 references to A attributes."""
        view, plan, given = View(corpus, self._memory.recall), self._plan, list[Given]()
        rows = view.family_rows(0)
        for family, column in view.of_types.families.items():
            if isinstance(family, int):
                given.append(Given(("type", family), Laid(column, view.of_types.rows)))
            else:
                part = plan.gathering[family]
                gathered = part.field.gathered(view, family, column, rows)
                given.append(Given.of_part(view, part, gathered))
        for part, keys, start in plan.alone:
            values, column = view.raw(part.field)
            table = self._table(start, values, self.values[part.field.text], keys)
            given.append(Given.of_part(view, part, Laid(column, None, start, table)))
        columns = {}
        for field in plan.fields:
            values, column = view.raw(field)
            columns[field.text] = column.mapped(self._table(field.text, values, self.values[field.text], None))
        for template, places, start in plan.joined:
            column = join(template, view, columns, self.values, places, view.n_rows(template.family))
            given.append(Given(template.family, Laid(column, None, start)))
        return assemble(view, given, self.n_attributes, self.markers, bundled=corpus.n_tokens > FEW)

    def _table(self, key: int | str, values: Sequence[str], kept: Sequence[str], keys: Ints | None) -> Ints:
        """Return the place of each value among those kept, or among the keys, which are numbers of these; -1: none.

        Values that come again and again, a memory's or a handful, are looked up once.
        """
        known = self._tables.get(key)
        if known is not None and (known[0] is values or (len(values) < FEW and known[0] == values)):
            return known[1]
        chosen = kept if keys is None else [kept[number] for number in keys.tolist()]
        place = {value: k for k, value in enumerate(chosen)}
        table = np.fromiter((place.get(value, -1) for value in values), np.int64, len(values))
        self._tables[key] = values, table
        return table

    def names(self) -> tuple[str, ...]:
        """Return the name of each attribute, such as `lower@-1=the`; made on first use."""
        return self._names

    def with_attributes(self, kept: NDArray[np.bool_]) -> FeatureIndex:
        """Return an index of some attributes alone, in the same order; kept : bool[A]. Markers stay in any case."""
        used = {field: np.zeros(len(known) + 1, bool) for field, known in self.values.items()}
        numbers = []  # for each template, the value of each part of each attribute that is kept
        first = 0
        for template, joins in zip(self.templates, self.joins, strict=True):
            own = np.flatnonzero(kept[first : first + len(joins[-1])])
            first += len(joins[-1])
            numbers.append(_taken_apart(template, joins, self.values, own))
            for part, value in zip(template.parts, numbers[-1], strict=True):
                used[part.field.text][value] = True
        for those in used.values():
            those[-1] = True  # the marker, behind the last value
        renumbered = {field: np.cumsum(those) - 1 for field, those in used.items()}
        values = {
            field: tuple(value for value, there in zip(known, used[field][:-1].tolist(), strict=True) if there)
            for field, known in self.values.items()
        }
        joined = []
        for template, parts in zip(self.templates, numbers, strict=True):
            several: list[Ints] = []
            place: Ints = np.zeros(0, np.int64)
            for k, (part, value) in enumerate(zip(template.parts, parts, strict=True)):
                own = renumbered[part.field.text][value]
                keys = place * (len(values[part.field.text]) + 1) + own if k else own
                found, place = np.unique(keys, return_inverse=True)
                several.append(found)
            joined.append(tuple(several))
        return FeatureIndex(self.templates, self.min_count, values, tuple(joined), self.markers)

    def to_state(self) -> dict[str, Any]:
        """Return everything as arrays and one JSON-able value (see `espalier.features.index`)."""
        header: dict[str, Any] = {
            "templates": [template.text for template in self.templates],
            "min_count": self.min_count,
            "markers": list(self.markers),
            "functions": [],
            "regexes": {},
            "lexicons": {},
            "tables": {},
            "vectors": {},
            "classes": [],
        }
        state: dict[str, Any] = {"features": header}
        for k, field in enumerate(fields_of(self.templates)):
            put_strings(state, f"values/{k}", self.values[field.text])
        for field in all_fields(self.templates):
            _pack_definition(state, field)
        for j, several in enumerate(self.joins):
            for k, keys in enumerate(several):
                state[f"joins/{j}/{k}"] = narrow(keys)
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, functions: Iterable[NamedField] = ()) -> FeatureIndex:
        """Return the index that `to_state` described; raise `ModelFileError` if the state is not of its making.

        functions : bring back the `Call`s, which no file holds.
        """
        functions = list(functions)
        header = dict(_mapping(state))
        _check_functions(header.pop("functions"), functions)
        try:
            markers = tuple(header.pop("markers"))
            vectors = [
                Vectors(name, take_strings(state, f"vectors/{name}"), state[f"vectors/{name}"], fold)
                for name, fold in header.pop("vectors").items()
            ]
            classes = [field for name in header.pop("classes", ()) for field in _unpack_classes(state, name)]
            templates, min_count = read_table(header, None, [*functions, *vectors, *classes])
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelFileError(f"the stored features are incomplete: {error}") from None
        except InputError as error:
            raise ModelFileError(f"the stored features are damaged: {error}") from None
        offsets = {template.offset for template in templates} - {None, 0}
        if not offsets.issuperset(markers) or list(markers) != sorted(set(markers)) or type(min_count) is not int:
            raise ModelFileError("the stored features are damaged: markers or min_count")
        values = {f.text: take_strings(state, f"values/{k}") for k, f in enumerate(fields_of(templates))}
        joins = tuple(_unpack_joins(state, j, template, values) for j, template in enumerate(templates))
        return cls(templates, min_count, values, joins, markers)

    @cached_property
    def _plan(self) -> _Plan:
        gathering: dict[str, Part] = {}
        alone, joined, start = [], [], 0
        for template, joins in zip(self.templates, self.joins, strict=True):
            if template.gathers is not None:
                gathering[template.gathers] = template.parts[0]
            elif not template.of_type and len(template.parts) == 1:
                alone.append((template.parts[0], joins[0], start))
            elif not template.of_type:
                joined.append((template, tuple(map(Places, joins)), start))
            start += len(joins[-1])
        return _Plan(gathering, alone, joined, fields_of(template for template, _, _ in joined))

    @cached_property
    def _memory(self) -> TypeMemory:
        return TypeMemory(self.templates, self.values, self.joins)

    @cached_property
    def _tables(self) -> dict[int | str, tuple[Sequence[str], Ints]]:
        return {}

    @cached_property
    def _names(self) -> tuple[str, ...]:
        names: list[str] = []
        for template, joins in zip(self.templates, self.joins, strict=True):
            numbers = _taken_apart(template, joins, self.values, np.arange(len(joins[-1])))
            parts = [_part_names(p, self.values[p.field.text], n) for p, n in zip(template.parts, numbers, strict=True)]
            names += [" & ".join(several) for several in zip(*parts, strict=True)]
        return tuple(names + [marker(offset) for offset in self.markers])


def _taken_apart(
    template: Template, joins: Sequence[Ints], values: Mapping[str, Sequence[str]], place: Ints
) -> list[Ints]:
    """Return for each part of a template the values of some attributes, its joins undone from the last to the first."""
    found: list[Ints] = []
    for k in range(len(joins) - 1, 0, -1):
        place, value = np.divmod(joins[k][place], len(values[template.parts[k].field.text]) + 1)
        found.append(value)
    return [joins[0][place], *reversed(found)]


def _part_names(part: Part, values: Sequence[str], numbers: Ints) -> list[str]:
    """Return the names of values of a part; the number behind the last is the marker."""
    return [part.name(values[v] if v < len(values) else None) for v in numbers.tolist()]


def _pack_definition(state: dict[str, Any], field: FeatureField) -> None:
    """Add what a named field carries."""
    from espalier.features.conditions import ConditionField
    from espalier.features.word_classes import ClassField, VectorField

    header = state["features"]
    if isinstance(field, (Call, SequenceCall)) and field.text not in header["functions"]:
        header["functions"].append(field.text)
    elif isinstance(field, RegexField):
        header["regexes"][field.label] = field.pattern
    elif isinstance(field, ConditionField):
        header.setdefault("conditions", {})[field.label] = field.to_state()
    elif isinstance(field, Lexicon):
        header["lexicons"][field.label] = {"entries": list(field.entries), "fold": field.fold}
    elif isinstance(field, TableField):
        entries = {word: list(strings) for word, strings in field.entries.items()}
        header["tables"][field.label] = {"entries": entries, "fold": field.fold}
    elif isinstance(field, Vectors):
        header["vectors"][field.label] = field.fold
        state[f"vectors/{field.label}"] = field.matrix
        put_strings(state, f"vectors/{field.label}", field.words)
    elif isinstance(field, (ClassField, VectorField)) and field.label not in header["classes"]:
        header["classes"].append(field.label)
        state |= {f"classes/{field.label}/{key}": array for key, array in field.classes.to_state().items()}


def _mapping(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON part of a state."""
    header = state.get("features")
    if not isinstance(header, Mapping) or not isinstance(header.get("functions"), list):
        raise ModelFileError("the stored features are incomplete: there is no 'features' with 'functions'")
    return header


def _check_functions(needed: Iterable[str], given: Iterable[NamedField]) -> None:
    """Raise if a function that the templates name was not given."""
    missing = set(needed).difference(field.text for field in given)
    if missing:
        raise InputError(
            f"the features use your {' and '.join(map(repr, sorted(missing)))}, and functions are not stored",
            hint="pass them again: functions=[...]",
        )


def _unpack_classes(state: Mapping[str, Any], name: str) -> Sequence[NamedField]:
    """Return the fields of the word classes of this name."""
    from espalier.features.word_classes import WordClasses

    return WordClasses.from_state(below(f"classes/{name}/", state)).fields(name)


def _unpack_joins(
    state: Mapping[str, Any], j: int, template: Template, values: Mapping[str, Sequence[str]]
) -> tuple[Ints, ...]:
    """Return the joins of template j; every number must point at something."""
    joins: list[Ints] = []
    for k, part in enumerate(template.parts):
        keys = stored_array(state, f"joins/{j}/{k}", np.int32, np.int64).astype(np.int64, copy=False)
        size = len(values[part.field.text]) + (len(template.parts) > 1)  # the number behind the last is the marker
        limit = (len(joins[-1]) if k else 1) * size
        if len(keys) and (keys[0] < 0 or keys[-1] >= limit or (np.diff(keys) <= 0).any()):
            raise ModelFileError(f"the stored features are damaged: join {k} of template {template.text!r}")
        joins.append(keys)
    return tuple(joins)


AnyIndex = FeatureIndex | GivenIndex | BothIndex
"""The attributes of words, those that were given of tokens, or both."""


def matrix_of(index: AnyIndex, corpus: Corpus) -> FeatureMatrix:
    """Return the matrix of a corpus under any index; what the index needs and the corpus lacks is an error."""
    if isinstance(index, FeatureIndex):
        if corpus.given is not None and not any(corpus.types):
            raise InputError("this model was trained on words", hint='give the words: X of strings, or "token" in each')
        return index.transform(corpus)
    if corpus.given is None and corpus.n_tokens:
        raise InputError("this model was trained on ready attributes", hint="X must hold them too, not tokens")
    return index.transform(corpus) if isinstance(index, BothIndex) else index.transform(corpus.given_lists())


def index_from_state(state: Mapping[str, Any]) -> AnyIndex:
    """Return the index of a model file."""
    if "words" in state["features"]:
        return BothIndex.from_state(state)
    return (GivenIndex if state["features"].get("given") else FeatureIndex).from_state(state)
