"""JSON records: parsing lines into objects, checking types, and keeping the fields a format has no name for."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from espalier.document import Document, Span, tokenise
from espalier.errors import InputError
from espalier.io.common import Offsets, Writing
from espalier.text_files import Lines

__all__ = [
    "NotJson",
    "exact_fields",
    "identifier",
    "json_records",
    "meta_of",
    "offsets_of",
    "parse_json",
    "span_of",
    "text_or_number",
    "to_json",
    "typed",
    "with_meta",
]

_KINDS: Mapping[type, str] = {str: "a string", int: "an integer", list: "a list", dict: "an object"}


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class NotJson(InputError):
    """The text is not JSON; `line` counts from the start of the text that was parsed."""

    def __init__(self, what: str, line: int) -> None:
        """Keep the line beside the message."""
        super().__init__(what)
        self.line = line


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"{digits[:40]} is too large for a number")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def parse_json(text: str, start: int = 0) -> tuple[Any, int]:
    """Parse one JSON value at `start`; return it and where it ends. Faults are `InputError`s."""
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON at column {error.colno}: {error.msg}", error.lineno) from None
    except RecursionError:
        raise InputError("JSON nested too deeply") from None
    except ValueError as error:  # NaN, or an integer of thousands of digits
        raise InputError(f"not acceptable JSON: {error}") from None


def json_records(lines: Lines) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) for every line that is not blank."""
    for number, line in lines:
        stripped = line.strip(" \t")
        if not stripped:
            continue
        with lines.at(number):
            record, end = parse_json(stripped)
            if stripped[end:].strip(" \t"):
                raise InputError(f"something follows the JSON object: {stripped[end : end + 20]!r}")
            if not isinstance(record, dict):
                raise InputError(f"expected one JSON object a line, found {_describe(record)}")
            lines.admit(_length(record))
            yield number, record


def _length(record: Mapping[str, Any]) -> int:
    """Return how many characters a record's text has, or would have if it were joined from its tokens."""
    text, tokens = record.get("text"), record.get("tokens")
    if isinstance(text, str) or not isinstance(tokens, list):
        return len(text) if isinstance(text, str) else 0
    return sum(len(word) for word in tokens if isinstance(word, str)) + len(tokens) - 1


def typed(record: Mapping[str, Any], key: str, kind: type, *, required: bool = False) -> Any:
    """Return `record[key]` if it is of that kind, None if it is absent or null and not required."""
    value = record.get(key)
    if value is None:
        if required:
            raise InputError(f"{key!r} is missing", hint=f"the record has {', '.join(map(repr, record)) or 'nothing'}")
        return None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{key!r} must be {_KINDS[kind]}, not {_describe(value)}")
    return value


def identifier(record: Mapping[str, Any]) -> str:
    """Return the record's `id` as a string; integers are accepted."""
    value = record.get("id")
    if value is None:
        return ""
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise InputError(f"'id' must be a string or an integer, not {_describe(value)}")
    return str(value)


def text_or_number(id: str) -> str | int:
    """Return an id as the annotation tools number them: an integer where it is one."""
    return int(id) if id.isascii() and id.isdigit() and len(id) < 19 and str(int(id)) == id else id


def span_of(start: Any, end: Any, label: Any) -> Span:
    """Check the three parts of a span and make it."""
    if type(start) is not int or type(end) is not int:
        raise InputError(f"span offsets must be integers, not {_describe(start)} and {_describe(end)}")
    if not isinstance(label, str) or not label:
        raise InputError(f"the label of span {start}..{end} must be a string that is not empty")
    return Span(start, end, label)


def offsets_of(record: Mapping[str, Any], key: str) -> Offsets | None:
    """Return a list of [start, end] pairs as tuples, or None if it is absent."""
    pairs = typed(record, key, list)
    if pairs is None:
        return None
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or any(type(x) is not int for x in pair):
            raise InputError(f"{key!r} must be a list of [start, end] integers, not {_describe(pair)}")
    return tuple((a, b) for a, b in pairs)


def exact_fields(document: Document) -> dict[str, Any]:
    """Return `offsets` and `unknown`, each only if a reader could not work it out from the text."""
    fields: dict[str, Any] = {}
    if document.tokens != tokenise(document.text):
        fields["offsets"] = [list(pair) for pair in document.tokens]
    if document.unknown:
        fields["unknown"] = [list(pair) for pair in document.unknown]
    return fields


def meta_of(record: Mapping[str, Any], reserved: Collection[str]) -> dict[str, Any]:
    """Return the fields that are not the format's own; those of an object `meta` among them."""
    meta = {key: value for key, value in record.items() if key not in reserved and key != "meta"}
    nested = record.get("meta")
    if isinstance(nested, dict):
        meta.update(nested)
    elif nested is not None:
        meta["meta"] = nested
    return meta


def with_meta(fields: dict[str, Any], meta: Mapping[str, Any], reserved: Collection[str]) -> dict[str, Any]:
    """Add the meta fields beside the format's own; a name that is taken moves into an object `meta`."""
    taken = {key: value for key, value in meta.items() if key in reserved or key == "meta"}
    beside = {key: value for key, value in meta.items() if key not in taken}
    return {**fields, **beside, **({"meta": taken} if taken else {})}


def to_json(value: Any, writing: Writing) -> str:
    """Return one line of JSON; characters outside ASCII stand as they are, unless UTF-8 has no room for them."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False)
        line.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(writing.place, f": its meta cannot be written as JSON: {error}") from None
    return line


def _describe(value: Any) -> str:
    if value is None:
        return "null"
    return _KINDS[type(value)] if isinstance(value, (list, dict)) else repr(value)[:40]
