"""What a candidate says, in whatever shape it says it: labels and strings, and what could not be read.

A candidate is an answer of a language model, of a person or of another program: text with JSON in it, or nearly JSON
(`loose_json`), or with tags, tables or lines (`written`); mappings and lists; tool calls and whole replies of the usual
services; objects with fields. One bad answer among many is ordinary: nothing here raises, and what cannot be read is
said (`Unread`).

A mapping is one of three things. It *wraps* (`{"entities": [...]}`, a tool call); it is an *item* that says label and
string or place (`{"type": ..., "value": ...}`); or it is a *record* whose names are labels. Where labels are known
they decide, and they are found in other spellings (`Full Name` for `full_name`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from numbers import Number
from typing import Any, NamedTuple

from espalier.document import Document
from espalier.extract.claims import Claim, plain
from espalier.extract.extraction import Extraction
from espalier.extract.loose_json import CUT, DEEPEST, values_in
from espalier.extract.written import linked, paired, without_thoughts
from espalier.tags import OUTSIDE

__all__ = ["Proposal", "Unread", "is_item", "read_proposal"]

LABELS = (
    "label", "labels", "type", "entity_type", "entity_group", "category", "class", "tag", "extraction_class",
    "kind", "field", "field_name", "key", "entity", "name",
)  # fmt: skip
"""Names under which an item says what it is, the surest first."""

SURE = 9  # so many of them are names of nothing else

TEXTS = (
    "text", "texts", "value", "values", "string", "content", "span", "word", "mention", "quote", "extraction_text",
    "surface", "phrase", "substring", "answer", "raw", "token", "entity", "name",
)  # fmt: skip
SCORES = ("score", "confidence", "probability", "prob", "certainty")
STARTS = ("start", "begin", "start_char", "start_offset", "start_pos", "startoffset", "beginoffset", "offset", "from")
ENDS = ("end", "stop", "end_char", "end_offset", "end_pos", "endoffset", "to")
PLACES = ("char_interval", "span", "position", "offsets", "range", "location", "indices", "char_span")
CALLS = ("arguments", "args", "input", "parameters", "kwargs")
TOKENS, TAGS = ("tokens", "words"), ("tags", "labels", "ner_tags", "ner", "bio")
WRAPPERS = (
    *CALLS, *TEXTS[:4], "fields", "entities", "extractions", "extraction", "results", "result", "data", "output",
    "outputs", "answer", "answers", "response", "items", "spans", "annotations", "predictions", "function", "content",
    "functioncall", "function_call", "tool_calls", "tool_call", "message", "messages", "choices", "candidates",
    "parts", "parsed", "properties", "extracted", "records", "ner", "label", "labels", "json", "return",
)  # fmt: skip
BESIDE = (
    "id", "name", "type", "role", "index", "model", "object", "created", "usage", "status", "stop_reason", "version",
    "finish_reason", "tool_call_id", "call_id", "text", "language", "from_name", "to_name", "success", "error",
    "summary", "title", "$schema", "required", "description", "refusal", "notes", "note",
)  # fmt: skip
"""Names that stand beside what is wrapped and belong to the wrapping."""

ASIDES = ("reason", "reasoning", "explanation", "thought", "thoughts", "rationale", "evidence", "normalized", *SCORES)
"""Names that stand beside fields and are none."""

BLOCKS = ("text", "output_text", "thinking", "reasoning")
"""Kinds of the parts of a reply that are prose."""

NOTHING = frozenset(
    (
        *(
            "",
            "-",
            "–",
            "?",
            "n/a",
            "na",
            "none",
            "null",
            "nil",
            "unknown",
            "missing",
            "empty",
            "undefined",
            "not found",
        ),
        *("not specified", "not mentioned", "not given", "not provided", "not available", "not applicable"),
    )
)
"""Strings that say that there is none, where the text does not have them."""

PROSE = "no labels and strings are in it"
NOT_ASKED = "no such field is asked for"
_BETWEEN = re.compile(r"[,;]| and ")
CUT_OFF = "the answer ends in the middle"


class Unread(NamedTuple):
    """What was not read of candidate number `candidate`: its beginning, and why."""

    candidate: int
    what: str
    why: str


class Proposal(NamedTuple):
    """What one candidate claims, and what of it could not be read."""

    claims: list[Claim]
    unread: list[Unread]


def read_proposal(candidate: Any, number: int, text: str, known: Collection[str] | None = None) -> Proposal:
    """Return what one candidate says of a text; known : the labels that there are, None: any."""
    if isinstance(candidate, Extraction):
        claims = [Claim(f.label, f.text, number, f.confidence, f.start) for f in candidate.fields]
        return Proposal(claims, [])
    if isinstance(candidate, Document):
        spans = candidate.spans or ()
        return Proposal([Claim(s.label, candidate.text[s.start : s.end], number, None, s.start) for s in spans], [])
    reader = _Reader(number, text, known)
    reader.read(candidate, None, 0)
    unread = [one for one in reader.unread if not (reader.claims and one.why == PROSE)]
    return Proposal(reader.claims, unread)


def is_item(value: Any) -> bool:
    """Is this a label with a string or a place, and no whole answer?"""
    value = simple(value)
    if isinstance(value, Mapping):
        names = {str(name).casefold() for name in value}
        what = next((name for name in LABELS if name in names), None)
        said = names.intersection((*TEXTS, *STARTS, *PLACES)) - {what}
        return what is not None and bool(said) and not names.intersection(CALLS) and value.get("type") not in BLOCKS
    return _is_pair(value) or _is_triple(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(one, str) for one in value)


def _is_triple(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 3 and sum(isinstance(one, str) for one in value) == 1


def simple(value: Any) -> Any:
    """Return a mapping, a list, a string or a number in place of an object that holds such."""
    if value is None or value is CUT or isinstance(value, str | bool | int | float | Mapping | list | tuple):
        made = getattr(value, "_asdict", None) if isinstance(value, tuple) else None
        return value if made is None else made()
    if isinstance(value, type | BaseException):
        return None
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, Enum):
        return simple(value.value)
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    for name in ("model_dump", "to_dict", "dict", "tolist"):
        made = getattr(value, name, None)
        if callable(made):
            return _tried(made)
    if isinstance(value, Iterable):
        return _tried(lambda: list(value))
    held = getattr(value, "__dict__", None)
    if held and not isinstance(value, Number):
        return {name: one for name, one in held.items() if not name.startswith("_") and not callable(one)}
    return str(value)


def _tried(made: Any) -> Any:
    """Return what somebody else's method gives; nothing where it fails."""
    try:
        return made()
    except Exception:
        return None


class _Reader:
    """Reads one candidate; claims and what was not read grow as it goes."""

    def __init__(self, number: int, text: str, known: Collection[str] | None) -> None:
        self.number, self.text, self.plain = number, text, plain(text)
        self.known = None if known is None else {_folded(name): name for name in known}
        self.claims: list[Claim] = []
        self.unread: list[Unread] = []

    def lose(self, value: Any, why: str) -> None:
        """Note what cannot be read."""
        if isinstance(value, BaseException):
            value, why = f"{type(value).__name__}: {value}", "it is an error, not an answer"
        holds = value is CUT or isinstance(value, list | tuple | Mapping)
        shown = value if isinstance(value, str) else "…" if holds else repr(value)
        self.unread.append(Unread(self.number, shown.strip()[:80], why))

    def label(self, name: Any) -> str | None:
        """Return the label that a name stands for, or None."""
        name = str(name).strip() if isinstance(name, str | int) else ""
        if self.known is None:
            return None if not name or "/" in name or name == OUTSIDE else name
        folded = _folded(name)
        singular = folded[:-1] if folded.endswith("s") else folded + "s"
        return self.known.get(folded) or self.known.get(singular)

    def stands(self, value: Any) -> bool:
        """Does the text have this string, or something under it?"""
        return isinstance(value, str) and bool(value.strip()) and plain(value.strip()) in self.plain

    # -- values ------------------------------------------------------------------------------------

    def read(self, value: Any, label: str | None, depth: int) -> None:
        """Read any value; label : what a string here is, None where the value has to say it."""
        if isinstance(value, BaseException):
            self.lose(value, "")
            return
        value = simple(value)
        if depth > DEEPEST:
            self.lose(value, "it is nested too deep")
        elif value is CUT:
            self.lose(value, CUT_OFF)
        elif isinstance(value, Mapping):
            self.mapping(value, label, depth)
        elif isinstance(value, list | tuple):
            self.items(value, label, depth)
        elif label is not None:
            inside = () if self.stands(value) or not isinstance(value, str) else [*values_in(value)]
            if len(inside) == 1 and value.strip()[:1] in "[{":
                self.read(inside[0].value, label, depth + 1)
            else:
                self.claim(label, value)
        elif isinstance(value, str):
            self.written(value, depth)
        elif value is not None or depth == 0:
            self.lose(value, "it has no label" if depth else "it is no answer")

    def claim(self, label: str, value: Any, score: Any = None, start: int | None = None) -> None:
        """Note a claim, unless it says that there is none."""
        if isinstance(value, bool):
            self.lose(f"{label}: {value}", "it says no string")
            return
        text = "" if value is None else str(value).strip()
        if plain(text).rstrip(".") in NOTHING and not self.stands(text):
            return
        rounded = isinstance(value, int | float)
        self.claims.append(Claim(label, text, self.number, self.score(score), start, rounded))

    def score(self, said: Any) -> float | None:
        """Return how sure a candidate says that it is, from 0 to 1; per cent are understood."""
        if isinstance(said, str):
            number = said.strip().removesuffix("%").strip()
            try:
                said = float(number) / (100 if said.strip().endswith("%") else 1)
            except ValueError:
                return None  # high, medium, low
        if said is None or isinstance(said, bool) or not isinstance(said, int | float):
            return None
        found = float(said) / 100 if 1 < said <= 100 else float(said)
        if 0.0 <= found <= 1.0:
            return found
        self.lose(f"score {said}", "a score is from 0 to 1")
        return None

    # -- strings -----------------------------------------------------------------------------------

    def written(self, answer: str, depth: int) -> None:
        """Read a text: the last values in it that claim something, else its tags, tables and lines."""
        answer = without_thoughts(answer)
        if r"{\"" in answer:  # text that was escaped once more
            answer = answer.replace(r"\"", '"')
        if self.claim_all(linked(answer, self.is_field)):
            return
        groups: list[list[Any]] = []
        end, cut = -1, False
        for found in values_in(answer):
            beside = not answer[max(end, 0) : found.start].strip(" \t\r\n,;")
            if groups and beside:
                groups[-1].append(found.value)
            else:
                groups.append([found.value])
            end, cut = found.end, found.cut
        before, lost = len(self.claims), len(self.unread)
        for group in reversed(groups):
            del self.unread[lost:]
            self.read(group[0] if len(group) == 1 else group, None, depth + 1)
            if len(self.claims) > before:
                break
        if cut and not any(one.why == CUT_OFF for one in self.unread):
            self.lose(answer[-40:], CUT_OFF)
        if len(self.claims) > before:
            return
        if not self.claim_all(paired(answer, self.is_field)) and not groups and answer.strip():
            self.lose(answer, PROSE)

    def claim_all(self, pairs: Iterable[tuple[str, str]]) -> bool:
        """Note what lines of a text say, and whether they say something."""
        found = [(self.label(name), one) for name, value in pairs for one in self.strings(value)]
        for label, one in found:
            self.claim(str(label), one)
        return bool(found)

    def is_field(self, name: str, value: str) -> bool:
        """Can this line of a text be a field? Where no labels are known, the text has to have its strings."""
        return self.label(name) is not None and (self.known is not None or all(map(self.stands, self.strings(value))))

    def strings(self, value: str) -> list[str]:
        """Return what a line says: one string, or several if only these are in the text."""
        parts = [part.strip() for part in _BETWEEN.split(value)]
        return parts if not self.stands(value) and all(map(self.stands, parts)) else [value]

    # -- lists -------------------------------------------------------------------------------------

    def items(self, values: Any, label: str | None, depth: int) -> None:
        """Read a list: of items, of strings of one label, or a string with its score or place."""
        if label is None:
            if _is_pair(values) and depth:
                self.pair(*values)
            elif _is_triple(values):
                self.triple(values)
            else:
                for value in values:
                    self.item_of_list(value, depth)
            return
        scored = len(values) == 2 and isinstance(values[0], str) and isinstance(values[1], float)
        if scored:
            self.claim(label, values[0], values[1])
        elif _is_place(values, self.text) and not all(self.stands(str(one)) for one in values):
            self.claim(label, self.text[values[0] : values[1]], None, values[0])
        else:
            for value in values:
                self.read(value, label, depth + 1)

    def item_of_list(self, value: Any, depth: int) -> None:
        """Read one of several things, none of which has a label from outside."""
        plainly = simple(value)
        if isinstance(plainly, str) and not any(True for _ in values_in(plainly)):
            self.lose(plainly, "it has no label")
        else:
            self.read(value, None, depth + 1)

    def pair(self, one: str, other: str) -> None:
        """Read label and string, in either order."""
        if self.known is None and one in self.text and other in self.text:
            self.lose(f"{one}, {other}", "it has no label")
            return
        turned = self.label(one) is None if self.known is not None else self.stands(one) and not self.stands(other)
        name, value = (other, one) if turned else (one, other)
        self.field(name, value)

    def triple(self, values: Any) -> None:
        """Read two places and a label, or two strings and a score."""
        name = next(one for one in values if isinstance(one, str))
        place = [one for one in values if not isinstance(one, str)]
        if _is_place(place, self.text):
            self.field(name, self.text[place[0] : place[1]], None, place[0])
        else:
            self.lose(values, "it is no label with a place of this text")

    def field(self, name: Any, value: Any, score: Any = None, start: int | None = None) -> None:
        """Note a claim under a name that may be no label."""
        label = self.label(name)
        if label is None:
            why = "a label is a name without a slash, not O" if self.known is None else NOT_ASKED
            self.lose(f"{name}: {value}", why)
        else:
            self.claim(label, value, score, start)

    # -- mappings ----------------------------------------------------------------------------------

    def mapping(self, value: Mapping[Any, Any], label: str | None, depth: int) -> None:
        """Read a mapping: tags of tokens, what wraps, an item, or a record."""
        value = {str(name): simple(one) for name, one in value.items()}
        get = {name.casefold(): one for name, one in value.items()}
        asked = [] if self.known is None else [name for name in get if self.label(name) is not None]
        call = next((name for name in CALLS if _holds(get.get(name))), None)
        if label is not None:
            if not self.item(get, label, ""):
                self.nested(value, label, depth)
        elif call is not None and not asked:
            self.read(get[call], None, depth + 1)
        elif get.get("type") in BLOCKS and isinstance(get.get("text", get.get("thinking")), str) and not asked:
            self.written(str(get.get("text", "")), depth)
        elif not self.tagged(get):
            key = self.key(get, asked)
            if not key or not self.item(get, None, key):
                self.record(value, depth)

    def tagged(self, get: Mapping[str, Any]) -> bool:
        """Read tokens with tags, and say whether there are such."""
        tokens: list[Any] = next((get[name] for name in TOKENS if isinstance(get.get(name), list)), [])
        tags: list[Any] = next((get[name] for name in TAGS if isinstance(get.get(name), list)), [])
        if not tokens or len(tokens) != len(tags) or not all(isinstance(one, str) for one in [*tokens, *tags]):
            return False
        found = _tried(lambda: Document.from_tokens(tokens, tags))
        if found is None:
            self.lose(tags, "these are no tags")
            return True
        for span in found.spans or ():
            self.field(span.label, found.text[span.start : span.end])
        return True

    def key(self, get: Mapping[str, Any], asked: Collection[str]) -> str:
        """Return the name under which an item has its label, "" if this is none."""
        for rank, name in enumerate(LABELS):
            said = _one_of(get.get(name))
            if not isinstance(said, str) or len(asked) > (name in asked):
                continue
            if self.known is not None and self.label(_untagged(said)) is None and name in ("entity", "name"):
                continue
            others = {*TEXTS, *SCORES, *STARTS, *ENDS, *PLACES, *LABELS, *BESIDE, *ASIDES}
            if (_string_name(get, name) or _borders(get, self.text)[1]) and (rank < SURE or others.issuperset(get)):
                return name
        return ""

    def item(self, get: Mapping[str, Any], label: str | None, key: str) -> bool:
        """Read the string or the place of an item, and say whether it has one; key : where its label is, if unknown."""
        start, end = _borders(get, self.text)
        value = get.get(_string_name(get, key), CUT)
        if value is CUT and start is not None and end is not None:
            value = self.text[start:end]
        if value is CUT or isinstance(value, Mapping):
            return False
        score = next((get[name] for name in SCORES if name in get), None)
        if isinstance(get.get(key), list) and isinstance(value, list) and len(get[key]) == len(value) > 1:
            for each, one in zip(get[key], value, strict=True):  # a table by columns
                self.field(each, one)
            return True
        said = label if label is not None else str(_one_of(get[key]))
        for one in value if isinstance(value, list | tuple) else [value]:
            if not self.goes_on(said, one):
                self.field(_untagged(said) if label is None else said, one, score, start)
        return True

    def goes_on(self, label: str, value: Any) -> bool:
        """Is this the next token of the last claim, as its tag says?"""
        if not (_untagged(label) != label and label[0] in "IEL" and self.claims and isinstance(value, str)):
            return False
        last = self.claims[-1]
        longer = [last.text + " " + value, last.text + value.removeprefix("##")]
        whole = next((one for one in longer if self.stands(one)), None)
        if last.label != self.label(_untagged(label)) or whole is None:
            return False
        self.claims[-1] = replace(last, text=whole)
        return True

    def nested(self, value: Mapping[str, Any], label: str, depth: int) -> None:
        """Read a record inside a field: `{"who": {"first": ...}}` says `who.first`, if that is a label, or `who`."""
        leaves = [str(one) for one in value.values() if isinstance(one, str | int) and not isinstance(one, bool)]
        whole = " ".join(leaves)
        for name, one in value.items():
            inner = self.label(f"{label}.{name}")
            if inner is not None:
                self.read(one, inner, depth + 1)
            elif self.stands(whole):
                self.claim(label, whole)
                return
            elif self.label(name) is not None:
                self.read(one, self.label(name), depth + 1)
            elif name.casefold() not in ASIDES:
                self.lose(f"{label}.{name}: {one}", NOT_ASKED)

    def record(self, value: Mapping[str, Any], depth: int) -> None:
        """Read a mapping whose names are labels, or wrap what is."""
        wraps = any(_holds(one) and name.casefold() in WRAPPERS for name, one in value.items())
        for name, one in value.items():
            folded, label, holds = name.casefold(), self.label(name), _holds(one)
            if holds and folded in WRAPPERS and (self.known is None or label is None):
                self.read(one, None, depth + 1)
            elif folded in ASIDES or (wraps and folded in BESIDE):
                continue
            elif label is not None:
                self.read(one, label, depth + 1)
            elif self.known is not None and isinstance(one, str) and self.label(one) and self.stands(name):
                self.claim(str(self.label(one)), name)  # the string stands before its label
            elif holds and isinstance(one, Mapping) and any(self.label(f"{name}.{inner}") for inner in one):
                self.nested(one, name, depth)
            elif holds:
                self.read(one, None, depth + 1)
            elif one not in (None, "", False):
                why = "a label is a name without a slash, not O" if self.known is None else NOT_ASKED
                self.lose(f"{name}: {one}", why)


def _folded(name: str) -> str:
    """Return a label as people write it in other ways: case, blanks, hyphens and underscores are one."""
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())


def _untagged(label: str) -> str:
    return label[2:] if label[1:2] == "-" and label[:1] in "BIELSU" and len(label) > 2 else label


def _one_of(value: Any) -> Any:
    """Return the string in a list of strings, where that stands for what a label is."""
    return value[0] if isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value) else value


def _string_name(get: Mapping[str, Any], besides: str) -> str:
    """Return the name under which an item has its string, "" where it has none."""
    usable = (name for name in TEXTS if name != besides and name in get)
    return next((name for name in usable if _strings(get[name])), "")


def _strings(value: Any) -> bool:
    """Is this a string or a number, or a list of strings?"""
    if isinstance(value, list | tuple):
        return all(isinstance(one, str) for one in value)
    return not isinstance(value, Mapping)


def _numbers(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, int) for one in value)


def _borders(get: Mapping[str, Any], text: str) -> tuple[int | None, int | None]:
    """Return where an item says that it begins and ends, as far as the text has such places."""
    for name in PLACES:
        place: Any = get.get(name)
        if isinstance(place, Mapping):
            get = {str(key).casefold(): one for key, one in place.items()}
        elif _is_place(place, text):
            return place[0], place[1]
    start = next((get[name] for name in STARTS if isinstance(get.get(name), int)), None)
    end = next((get[name] for name in ENDS if isinstance(get.get(name), int)), None)
    if end is None and start is not None and isinstance(get.get("length"), int):
        end = start + get["length"]
    if start is None or not 0 <= start < len(text):
        return None, None
    return start, end if end is not None and start < end <= len(text) else None


def _is_place(value: Any, text: str) -> bool:
    """Are these two numbers the borders of a stretch of the text?"""
    return _numbers(value) and len(value) == 2 and 0 <= value[0] < value[1] <= len(text)


def _holds(value: Any) -> bool:
    """Has this something inside: a mapping, a list of more than strings and numbers, or a text with such?"""
    if isinstance(value, str):
        return any(True for _ in values_in(value))
    return isinstance(value, Mapping | list | tuple) and len(value) > 0
