"""The text form of templates.

    template := part {"&" part}
    part     := field ["@" offset | "[" offset {"," offset} "]"]
    field    := word | lower | shape | fullshape | length | flags | bias | edge | quoted | bracketed
              | chunkindex | chunklength | sentenceindex | sentencelength
              | prefixN | suffixN | positionN | prefixN-M | suffixN-M | position
              | scope "(" field ")" ["*" value]                  a value of one is not written
              | kind ":" name                                  regex, lexicon, table, vectors, classes, vector,
                                                                 call, sequence
    scope    := unit ["first" | "last"] [("+" | "-") number] | before | after        unit: chunk, sentence

A list of offsets and a range of lengths are short for several templates: `shape[-1,0,1]` is three, `prefix1-4` four,
in a conjunction every combination. What scopes mean: `espalier.features.spans`. The text of a template
(`Template.text`) parses to that template alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import product

from espalier.errors import InputError, did_you_mean
from espalier.features.fields import (
    Bias,
    Edge,
    Flags,
    FullShape,
    Length,
    Lower,
    Position,
    Prefix,
    Shape,
    Suffix,
    Word,
)
from espalier.features.named import NamedField
from espalier.features.spans import Beyond, Bracketed, Measure, Quoted, Within
from espalier.features.templates import Field, Part, Template

__all__ = ["parse_template", "parse_templates"]

_PLAIN: Mapping[str, Field] = {
    field.text: field
    for field in (
        *(Word(), Lower(), Shape(), FullShape(), Length(), Flags(), Bias(), Edge(), Quoted(), Bracketed()),
        *(Measure(unit, what) for unit in ("chunk", "sentence") for what in ("index", "length")),
    )
} | {"position": Position()}
_NUMBERED = {"prefix": Prefix, "suffix": Suffix, "position": Position}
_KINDS = ("call", "classes", "lexicon", "regex", "sequence", "table", "vector", "vectors")
_PART = re.compile(r"(?P<field>[^@\[\]]+)(?:@(?P<offset>[^@\[\]]*)|\[(?P<offsets>[^\[\]@]*)\])?")
_NUMBERED_FIELD = re.compile(r"(?P<kind>prefix|suffix|position)(?P<low>[0-9]+)(?:-(?P<high>[0-9]+))?")
_SCOPED = re.compile(
    r"(?:(?P<unit>chunk|sentence)(?P<which>first|last)?(?P<shift>[+-][0-9]{1,9})?|(?P<side>before|after))"
    r"\((?P<inner>.*)\)(?:\*(?P<value>[^()*]*))?"
)
_OFFSET = re.compile(r"[+-]?[0-9]{1,9}")


def parse_templates(texts: Iterable[str], definitions: Iterable[NamedField] = ()) -> tuple[Template, ...]:
    """Return the templates that the texts stand for, in order; named fields must be among the definitions."""
    known = list(definitions)
    return tuple(template for text in texts for template in parse_template(text, known))


def parse_template(text: str, definitions: Iterable[NamedField] = ()) -> tuple[Template, ...]:
    """Return the templates that one text stands for: one, or several where it lists offsets or lengths."""
    if not isinstance(text, str):
        raise InputError(f"template {text!r} is not a string")
    known = {field.text: field for field in definitions}
    choices = []
    for written in text.split("&"):
        match = _PART.fullmatch(written.strip())
        if match is None:
            raise InputError(f"template {text!r}: cannot read {written.strip()!r}; write a field such as 'lower@-1'")
        fields = _fields(match["field"].strip(), known, text)
        offsets = _offsets(match["offset"], match["offsets"], text)
        choices.append([Part(field, offset) for offset in offsets for field in fields])
    return tuple(Template(parts) for parts in product(*choices))


def _fields(written: str, known: Mapping[str, NamedField], text: str) -> list[Field]:
    if written in _PLAIN:
        return [_PLAIN[written]]
    if written in known:
        return [known[written]]
    kind, colon, name = written.partition(":")
    if colon and kind in _KINDS:
        names = [field.label for field in known.values() if field.kind == kind]
        listed = f"; defined: {', '.join(names)}" if names else f"; no {kind} is defined"
        raise InputError(f"template {text!r}: {kind} {name!r} is not defined{did_you_mean(name, names) or listed}")
    scoped = _SCOPED.fullmatch(written)
    if scoped is not None:
        return _scoped(scoped, known, text)
    match = _NUMBERED_FIELD.fullmatch(written)
    if match is None:
        everything = [*_PLAIN, *_NUMBERED, *known, *(f"{kind}:{name}" for kind in _KINDS if colon)]
        nearest = did_you_mean(written.rstrip("0123456789-"), everything) or did_you_mean(written, everything)
        if written in _NUMBERED:
            nearest = f"; it needs a length: '{written}3' or '{written}1-4'"
        raise InputError(
            f"template {text!r}: unknown field {written!r}{nearest or '; known: ' + ', '.join(everything)}"
        )
    make, low, high = _NUMBERED[match["kind"]], int(match["low"]), int(match["high"] or match["low"])
    if match["high"] and (make is Position or not low < high):
        raise InputError(f"template {text!r}: {written!r} is not a range of lengths such as 'prefix1-4'")
    make(high)  # a wild upper end fails here rather than after a long list
    return [make(n) for n in range(low, high + 1)]


def _scoped(match: re.Match[str], known: Mapping[str, NamedField], text: str) -> list[Field]:
    """Return the fields that a text such as `chunk-1(lower)*0.3` stands for."""
    try:
        value = float(match["value"] or ("nan" if match["value"] is not None else 1))
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"template {text!r}: the value {match['value']!r} is not a number above 0")
    fields = _fields(match["inner"].strip(), known, text)
    if match["side"]:
        return [Beyond(match["side"], field, value) for field in fields]
    which, shift = match["which"] or "all", int(match["shift"] or 0)
    return [Within(match["unit"], field, which, shift, value) for field in fields]


def _offsets(single: str | None, several: str | None, text: str) -> list[int]:
    written = [single] if single is not None else several.split(",") if several is not None else ["0"]
    offsets = []
    for offset in written:
        if not _OFFSET.fullmatch(offset.strip()):
            raise InputError(f"template {text!r}: the offset {offset.strip()!r} is not a whole number")
        offsets.append(int(offset))
    return offsets
