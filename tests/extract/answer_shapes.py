"""Answers as language models, their services and other programs give them, all about one text.

`SAME`: all say that Ann Lee is `who` and Ulm is `where`, with the labels known or not. `KNOWN`: the same, where it
takes the labels to understand it. `OTHER`: those that say something else, with what is read and a word of what is not.
"""

from __future__ import annotations

import dataclasses
import enum
import json
from types import SimpleNamespace
from typing import Any, NamedTuple

TEXT = "Ann Lee left Ulm with Bob Ray in May."
ANSWER = {"who": "Ann Lee", "where": "Ulm"}
ITEMS = [{"label": "who", "text": "Ann Lee"}, {"label": "where", "text": "Ulm"}]
PLAIN = json.dumps(ANSWER)
LISTED = json.dumps(ITEMS)


class Pair(NamedTuple):
    who: str
    where: str


class Item(NamedTuple):
    label: str
    text: str


@dataclasses.dataclass
class Record:
    who: str
    where: str


@dataclasses.dataclass
class Entity:
    label: str
    text: str
    score: float = 0.9


class Town(enum.Enum):
    ULM = "Ulm"


class Model:
    """As objects of pydantic are: what they hold is given by a method."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)

    def model_dump(self) -> dict[str, Any]:
        return {name: _dumped(one) for name, one in self.__dict__.items()}


def _dumped(one: Any) -> Any:
    if isinstance(one, list):
        return [_dumped(each) for each in one]
    return one.model_dump() if isinstance(one, Model) else one


def fenced(body: str, name: str = "json") -> str:
    return f"```{name}\n{body}\n```"


def call(arguments: Any) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": "extract", "arguments": arguments}}


def typed(what: str, string: str, **more: Any) -> list[dict[str, Any]]:
    """Return the items with other names for label and string."""
    return [{what: "who", string: "Ann Lee", **more}, {what: "where", string: "Ulm", **more}]


def placed(start: str, end: str) -> list[dict[str, Any]]:
    return [{"label": "who", start: 0, end: 7}, {"label": "where", start: 13, end: 16}]


SAME: dict[str, Any] = {
    # JSON, and words around it.
    "a mapping": ANSWER,
    "JSON": PLAIN,
    "JSON on lines": json.dumps(ANSWER, indent=2),
    "JSON with lists": '{"who": ["Ann Lee"], "where": ["Ulm"]}',
    "JSON with nulls": '{"who": "Ann Lee", "where": "Ulm", "when": null, "why": "", "how": []}',
    "not available": '{"who": "Ann Lee", "where": "Ulm", "why": "N/A"}',
    "not mentioned": '{"who": "Ann Lee", "where": "Ulm", "why": "not mentioned"}',
    "unknown in a list": '{"who": ["Ann Lee"], "where": "Ulm", "why": ["Unknown"]}',
    "words before": f"Sure! Here it is: {PLAIN}",
    "words behind": f"{PLAIN}\n\nLet me know if you need anything else.",
    "words around": f"The answer is {PLAIN}, as asked.",
    "fenced": fenced(PLAIN),
    "fenced without a name": fenced(PLAIN, ""),
    "fenced as python": fenced(str(ANSWER), "python"),
    "fenced as JSON5": fenced("{who: 'Ann Lee', where: 'Ulm',}", "json5"),
    "fenced with words": f"Here you are:\n\n{fenced(PLAIN)}\n\nHope this helps!",
    "fence never closed": f"```json\n{PLAIN}",
    "tildes": f"~~~\n{PLAIN}\n~~~",
    "one backtick": f"`{PLAIN}`",
    "byte order mark": "\ufeff" + PLAIN,
    "windows lines": json.dumps(ANSWER, indent=1).replace("\n", "\r\n"),
    "tabs": '{\t"who":\t"Ann Lee",\t"where":\t"Ulm"\t}',
    "bytes": PLAIN.encode(),
    "JSON in JSON": json.dumps(PLAIN),
    "prefix json": f"json\n{PLAIN}",
    "a number in brackets before": f"[1] {PLAIN}",
    "an empty answer before": f"{{}} {PLAIN}",
    "thoughts before": f'<think>Maybe {{"who": "Bob Ray"}}? No.</think>\n{PLAIN}',
    "second thoughts": f'{{"who": "Bob Ray"}}\nWait, that is wrong. The answer is:\n{PLAIN}',
    "two fences": fenced('{"who": "Bob Ray"}') + "\nCorrected:\n" + fenced(PLAIN),
    "lines of JSON": "\n".join(map(json.dumps, ITEMS)),
    "lines of JSON with commas": ",\n".join(map(json.dumps, ITEMS)),
    "lines of records": '{"who": "Ann Lee"}\n{"where": "Ulm"}',
    "an answer tag": f"<answer>{PLAIN}</answer>",
    "a tool call tag": f'<tool_call>\n{{"name": "extract", "arguments": {PLAIN}}}\n</tool_call>',
    "a function tag": f"<function=extract>{PLAIN}</function>",
    "special tokens": f"<|start|>assistant<|message|>{PLAIN}<|end|>",
    "tool calls in brackets": f'[TOOL_CALLS] [{{"name": "extract", "arguments": {PLAIN}}}]',
    # Nearly JSON.
    "comma behind the last": '{"who": "Ann Lee", "where": "Ulm",}',
    "comma behind the last of a list": '{"who": ["Ann Lee",], "where": ["Ulm",],}',
    "comma missing between lines": '{"who": "Ann Lee"\n"where": "Ulm"}',
    "commas twice": '{"who": "Ann Lee",, "where": "Ulm"}',
    "semicolons": '{"who": "Ann Lee"; "where": "Ulm"}',
    "single quotes": "{'who': 'Ann Lee', 'where': 'Ulm'}",
    "single quotes and lists": "{'who': ['Ann Lee'], 'where': ['Ulm'], 'when': None}",
    "curly quotes": "{“who”: “Ann Lee”, “where”: “Ulm”}",
    "german quotes": "{„who“: „Ann Lee“, „where“: „Ulm“}",
    "single curly quotes": "{‘who’: ‘Ann Lee’, ‘where’: ‘Ulm’}",
    "french quotes": "{«who»: «Ann Lee», «where»: «Ulm»}",
    "mixed quotes": "{'who': \"Ann Lee\", \"where\": 'Ulm'}",
    "backticks": "{`who`: `Ann Lee`, `where`: `Ulm`}",
    "triple quotes": '{"who": """Ann Lee""", "where": """Ulm"""}',
    "names without quotes": '{who: "Ann Lee", where: "Ulm"}',
    "nothing in quotes": "{who: Ann Lee, where: Ulm}",
    "equals signs": "{who = 'Ann Lee', where = 'Ulm'}",
    "arrows": "{'who' => 'Ann Lee', 'where' => 'Ulm'}",
    "python's words": "{'who': 'Ann Lee', 'where': 'Ulm', 'when': None, 'sure': None}",
    "javascript's words": '{"who": "Ann Lee", "where": "Ulm", "when": undefined}',
    "not a number": '{"who": "Ann Lee", "where": "Ulm", "total": NaN}',
    "comments": '{"who": "Ann Lee", // the person\n "where": "Ulm" /* the town */}',
    "comments as in python": '{\n "who": "Ann Lee",  # the person\n "where": "Ulm"\n}',
    "dots for the rest": '{"who": ["Ann Lee", ...], "where": "Ulm"}',
    "never closed": '{"who": "Ann Lee", "where": "Ulm"',
    "never closed list": '[{"label": "who", "text": "Ann Lee"}, {"label": "where", "text": "Ulm"}',
    "never closed twice": '{"entities": [{"label": "who", "text": "Ann Lee"}, {"label": "where", "text": "Ulm"}',
    "closed too often": PLAIN + "}}",
    "list closed by a brace": '{"who": ["Ann Lee", "where": "Ulm"}'.replace(', "where"', '], "where"'),
    "a tuple": "{'who': ('Ann Lee',), 'where': ('Ulm',)}",
    "a new line in a string": '{"who": "Ann\nLee", "where": "Ulm"}',
    "slashes that escape nothing": r'{"who": "Ann\ Lee", "where": "Ulm"}',
    "escaped letters": r'{"who": "\u0041nn Lee", "where": "Ulm"}',
    "escaped everywhere": PLAIN.replace('"', r"\""),
    "an assignment": f"result = {ANSWER}",
    "a call": f"extract({ANSWER})",
    "a constructor in a list": "[Entity('who', 'Ann Lee')] = " + LISTED,
    # Items.
    "items": ITEMS,
    "items as JSON": LISTED,
    "items wrapped": {"entities": ITEMS},
    "items wrapped twice": {"result": {"entities": ITEMS}},
    "items as tuples of mappings": tuple(ITEMS),
    "one item after another": [ITEMS],
    "type and value": typed("type", "value"),
    "type and text": typed("type", "text"),
    "type and content": typed("type", "content"),
    "type and string": typed("type", "string"),
    "type and span": typed("type", "span"),
    "entity type and text": typed("entity_type", "text"),
    "entity type and entity": typed("entity_type", "entity"),
    "entity and type": typed("type", "entity"),
    "entity and label": typed("label", "entity"),
    "name and type": typed("type", "name"),
    "name and value": typed("name", "value"),
    "field and value": typed("field", "value"),
    "field name and value": typed("field_name", "value"),
    "key and value": typed("key", "value"),
    "class and text": typed("class", "text"),
    "category and text": typed("category", "text"),
    "category and mention": typed("category", "mention"),
    "tag and word": typed("tag", "word"),
    "tag and phrase": typed("tag", "phrase"),
    "label and quote": typed("label", "quote"),
    "label and surface": typed("label", "surface"),
    "kind and substring": typed("kind", "substring"),
    "extraction class and text": typed("extraction_class", "extraction_text"),
    "great letters": typed("Label", "Text"),
    "all in capitals": typed("TYPE", "VALUE"),
    "items with scores": typed("label", "text", score=0.9),
    "items with per cent": typed("label", "text", confidence="90%"),
    "items with per cent as numbers": typed("label", "text", confidence=90),
    "items that are quite sure": typed("label", "text", confidence="high"),
    "items with reasons": typed("label", "text", reason="It stands there."),
    "items with explanations": typed("type", "value", explanation="as the text says"),
    "items with numbers": typed("label", "text", id=3),
    "items with lists": [{"label": "who", "text": ["Ann Lee"]}, {"label": "where", "text": ["Ulm"]}],
    "items with values": [{"type": "who", "values": ["Ann Lee"]}, {"type": "where", "values": ["Ulm"]}],
    "labels in lists": [{"labels": ["who"], "text": "Ann Lee"}, {"labels": ["where"], "text": "Ulm"}],
    "items by columns": {"label": ["who", "where"], "text": ["Ann Lee", "Ulm"]},
    "pairs": [["who", "Ann Lee"], ["where", "Ulm"]],
    "pairs as tuples": [("who", "Ann Lee"), ("where", "Ulm")],
    "pairs turned round": [("Ann Lee", "who"), ("Ulm", "where")],
    "pairs wrapped": {"entities": [["Ann Lee", "who"], ["Ulm", "where"]]},
    # Places.
    "start and end": placed("start", "end"),
    "start and end, wrapped": {"spans": placed("start", "end")},
    "start_char and end_char": placed("start_char", "end_char"),
    "start_offset and end_offset": placed("start_offset", "end_offset"),
    "beginOffset and endOffset": placed("beginOffset", "endOffset"),
    "begin and stop": placed("begin", "stop"),
    "offset and length": [
        {"label": "who", "offset": 0, "length": 7},
        {"label": "where", "offset": 13, "length": 3},
    ],
    "text and places": [
        {"label": "who", "text": "Ann Lee", "start": 0, "end": 7},
        {"label": "where", "text": "Ulm", "start": 13, "end": 16},
    ],
    "wrong places": [
        {"label": "who", "text": "Ann Lee", "start": 3, "end": 9},
        {"label": "where", "text": "Ulm", "start": 900, "end": 903},
    ],
    "a span of two numbers": [{"label": "who", "span": [0, 7]}, {"label": "where", "span": [13, 16]}],
    "a position": [{"type": "who", "position": [0, 7]}, {"type": "where", "position": [13, 16]}],
    "an interval": [
        {"extraction_class": "who", "char_interval": {"start_pos": 0, "end_pos": 7}},
        {"extraction_class": "where", "char_interval": {"start_pos": 13, "end_pos": 16}},
    ],
    "triples as of spaCy": [(0, 7, "who"), (13, 16, "where")],
    "triples wrapped": {"entities": [[0, 7, "who"], [13, 16, "where"]]},
    "triples of doccano": {"text": TEXT, "label": [[0, 7, "who"], [13, 16, "where"]]},
    "spans of prodigy": {"text": TEXT, "spans": placed("start", "end")},
    "two numbers for a label": {"who": [0, 7], "where": [13, 16]},
    "many numbers for a label": {"who": [[0, 7]], "where": [[13, 16]]},
    "places for a label": {"who": {"start": 0, "end": 7}, "where": [{"start": 13, "end": 16}]},
    "of label studio": [
        {"value": {"start": 0, "end": 7, "text": "Ann Lee", "labels": ["who"]}, "type": "labels", "to_name": "text"},
        {"value": {"start": 13, "end": 16, "text": "Ulm", "labels": ["where"]}, "type": "labels", "to_name": "text"},
    ],
    "of hugging face": [
        {"entity_group": "who", "score": 0.99, "word": "Ann Lee", "start": 0, "end": 7},
        {"entity_group": "where", "score": 0.98, "word": "Ulm", "start": 13, "end": 16},
    ],
    "of hugging face, token by token": [
        {"entity": "B-who", "score": 0.99, "index": 1, "word": "Ann", "start": 0, "end": 3},
        {"entity": "I-who", "score": 0.99, "index": 2, "word": "Lee", "start": 4, "end": 7},
        {"entity": "B-where", "score": 0.98, "index": 4, "word": "Ul", "start": 13, "end": 15},
        {"entity": "I-where", "score": 0.98, "index": 5, "word": "##m", "start": 15, "end": 16},
    ],
    "of gliner": [
        {"start": 0, "end": 7, "text": "Ann Lee", "label": "who", "score": 0.9},
        {"start": 13, "end": 16, "text": "Ulm", "label": "where", "score": 0.8},
    ],
    "tokens and tags": {"tokens": TEXT.split(), "tags": ["B-who", "I-who", "O", "B-where", *["O"] * 5]},
    "words and labels": {"words": TEXT.split(), "labels": ["B-who", "I-who", "O", "B-where", *["O"] * 5]},
    # Values with more about them.
    "text in a mapping": {"who": {"text": "Ann Lee"}, "where": {"text": "Ulm"}},
    "value and confidence": {"who": {"value": "Ann Lee", "confidence": 0.9}, "where": {"value": "Ulm", "score": 0.8}},
    "value and per cent": {"who": {"value": "Ann Lee", "confidence": "95 %"}, "where": "Ulm"},
    "value and reason": {"who": {"value": "Ann Lee", "reason": "a name"}, "where": {"value": "Ulm", "reason": ""}},
    "value and nothing": {"who": {"value": "Ann Lee"}, "where": {"value": "Ulm"}, "why": {"value": None}},
    "a string and its score": {"who": ["Ann Lee", 0.9], "where": ("Ulm", 0.7)},
    "a list of mappings": {"who": [{"text": "Ann Lee"}], "where": [{"text": "Ulm", "score": 0.5}]},
    "name in a mapping": {"who": {"name": "Ann Lee"}, "where": {"name": "Ulm"}},
    "a schema filled in": {"type": "object", "properties": {"who": {"value": "Ann Lee"}, "where": {"value": "Ulm"}}},
    "reasons first": {"reasoning": "A person leaves a town.", **ANSWER},
    "an explanation behind": {**ANSWER, "explanation": "Both stand in the text."},
    "one confidence for all": {**ANSWER, "confidence": 0.8},
    "a list in a string": {"who": '["Ann Lee"]', "where": '["Ulm"]'},
    # Wrapped.
    "fields": {"fields": ANSWER},
    "entities": {"entities": ANSWER},
    "entities by label": {"entities": {"who": ["Ann Lee"], "where": ["Ulm"]}},
    "data": {"data": ANSWER},
    "result with a status": {"status": "ok", "result": ANSWER},
    "response": {"response": ANSWER},
    "output as text": {"output": PLAIN},
    "extractions": {"extractions": typed("extraction_class", "extraction_text")},
    "predictions": {"predictions": [ANSWER]},
    "a list of one": [ANSWER],
    "a list of one as JSON": f"[{PLAIN}]",
    "a record for each field": [{"entities": [{"who": "Ann Lee"}, {"where": "Ulm"}]}],
    # Tool calls and replies of services.
    "a tool call": {"name": "extract", "arguments": ANSWER},
    "a tool call with text": {"name": "extract", "arguments": PLAIN},
    "a tool call with parameters": {"name": "extract", "parameters": ANSWER},
    "a tool call as text": json.dumps({"name": "extract", "arguments": ANSWER}),
    "a tool call with items": {"name": "extract", "arguments": {"entities": ITEMS}},
    "a tool call with input": {"type": "tool_use", "id": "t1", "name": "extract", "input": ANSWER},
    "a function": call(PLAIN),
    "a function with a mapping": call(ANSWER),
    "two calls": [[call('{"who": "Ann Lee"}'), call('{"where": "Ulm"}')]],
    "a message with calls": {"role": "assistant", "content": None, "tool_calls": [call(PLAIN)]},
    "a message": {"role": "assistant", "content": PLAIN},
    "a reply of a chat": {"id": "c1", "choices": [{"index": 0, "message": {"role": "assistant", "content": PLAIN}}]},
    "a reply with calls": {"model": "m", "choices": [{"message": {"content": "", "tool_calls": [call(PLAIN)]}}]},
    "a reply in parts": {
        "role": "assistant",
        "content": [{"type": "text", "text": "I shall call it."}, {"type": "tool_use", "name": "x", "input": ANSWER}],
        "usage": {"output_tokens": 9},
    },
    "a reply in parts of text": {"content": [{"type": "text", "text": PLAIN}], "stop_reason": "end_turn"},
    "candidates in parts": {"candidates": [{"content": {"parts": [{"functionCall": {"name": "x", "args": ANSWER}}]}}]},
    "candidates of text": {"candidates": [{"content": {"parts": [{"text": PLAIN}], "role": "model"}}]},
    "output in parts": {"output": [{"type": "message", "content": [{"type": "output_text", "text": PLAIN}]}]},
    "a reply as an object": SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=PLAIN))]),
    # Objects.
    "an object with fields": Model(who="Ann Lee", where="Ulm"),
    "an object with items": Model(entities=[Model(label="who", text="Ann Lee"), Model(label="where", text="Ulm")]),
    "an object with a list": Model(who=["Ann Lee"], where="Ulm", when=None),
    "objects": [Model(type="who", value="Ann Lee"), Model(type="where", value="Ulm")],
    "a dataclass": Record("Ann Lee", "Ulm"),
    "dataclasses": [Entity("who", "Ann Lee"), Entity("where", "Ulm")],
    "a named tuple": Pair("Ann Lee", "Ulm"),
    "named tuples": [Item("who", "Ann Lee"), Item("where", "Ulm")],
    "a namespace": SimpleNamespace(who="Ann Lee", where="Ulm"),
    "an enumeration": {"who": "Ann Lee", "where": Town.ULM},
    "a set": {"who": {"Ann Lee"}, "where": frozenset({"Ulm"})},
    "a generator": {"who": (name for name in ["Ann Lee"]), "where": "Ulm"},
    # Text without JSON.
    "lines": "who: Ann Lee\nwhere: Ulm",
    "lines with words": "Here are the fields:\n\nwho: Ann Lee\nwhere: Ulm\n\nDone.",
    "bullets": "- who: Ann Lee\n- where: Ulm",
    "stars": "* who: Ann Lee\n* where: Ulm",
    "numbered": "1. who: Ann Lee\n2. where: Ulm",
    "bold": "**who**: Ann Lee\n**where**: Ulm",
    "bold with the colon": "- **who:** Ann Lee\n- **where:** Ulm",
    "code in lines": "- `who`: `Ann Lee`\n- `where`: `Ulm`",
    "quotes in lines": 'who: "Ann Lee"\nwhere: "Ulm"',
    "equals in lines": "who = Ann Lee\nwhere = Ulm",
    "arrows in lines": "who -> Ann Lee\nwhere -> Ulm",
    "dashes in lines": "who – Ann Lee\nwhere – Ulm",
    "lists below names": "who:\n- Ann Lee\nwhere:\n- Ulm",
    "headings": "## who:\n- Ann Lee\n\n## where:\n- Ulm\n",
    "a table": "| who | where |\n|---|---|\n| Ann Lee | Ulm |",
    "a table of fields": "| Field | Value |\n|:--|--:|\n| who | Ann Lee |\n| where | Ulm |",
    "a table of values": "| Value | Field |\n|---|---|\n| Ann Lee | who |\n| Ulm | where |",
    "a table without a frame": "field | value | note\n--- | --- | ---\nwho | Ann Lee | a\nwhere | Ulm | b",
    "tags": "<who>Ann Lee</who><where>Ulm</where>",
    "tags in the text": "<who>Ann Lee</who> left <where>Ulm</where> with Bob Ray in May.",
    "tags with types": '<entity type="who">Ann Lee</entity> left <entity type="where">Ulm</entity>.',
    "tags of parameters": "<function=x><parameter=who>Ann Lee</parameter><parameter=where>Ulm</parameter></function>",
    "tags with names": '<invoke name="x"><parameter name="who">Ann Lee</parameter>'
    '<parameter name="where">Ulm</parameter></invoke>',
    "nested tags": "<result>\n  <who>Ann Lee</who>\n  <where>Ulm</where>\n</result>",
    "links": "[Ann Lee](who) left [Ulm](where) with Bob Ray in May.",
    "links with mappings": '[Ann Lee]{"entity": "who"} left [Ulm]{"entity": "where"}.',
}

KNOWN: dict[str, Any] = {
    "great letters": '{"Who": "Ann Lee", "Where": "Ulm"}',
    "capitals": {"WHO": "Ann Lee", "WHERE": "Ulm"},
    "many of them": {"whos": ["Ann Lee"], "wheres": ["Ulm"]},
    "strings before labels": {"Ann Lee": "who", "Ulm": "where"},
    "type and value turned round": [{"name": "who", "entity": "Ann Lee"}, {"name": "where", "entity": "Ulm"}],
    "other items": [*ITEMS, {"label": "mood", "text": "May"}],
    "a record in a record": {"event": ANSWER},
    "parts of a name": {"who": {"first": "Ann", "last": "Lee"}, "where": {"town": "Ulm"}},
    "lines with several words": "The Who: Bob\nWho: Ann Lee\nWhere: Ulm",
    "great lines": "WHO: Ann Lee\nWHERE: Ulm",
}

BOTH = [("who", "Ann Lee"), ("where", "Ulm")]

OTHER: list[tuple[str, Any, list[tuple[str, str]], str]] = [
    ("a refusal", "I cannot help with that.", [], "no labels"),
    ("a refusal in a reply", {"role": "assistant", "content": None, "refusal": "I can't."}, [], ""),
    ("nothing at all", None, [], "no answer"),
    ("an empty text", "", [], ""),
    ("blanks", "   \n", [], ""),
    ("an empty mapping", {}, [], ""),
    ("an empty mapping as text", "{}", [], ""),
    ("an empty list as text", "[]", [], ""),
    ("an error", TimeoutError("too slow"), [], "an error"),
    ("an error among answers", [TimeoutError("too slow"), ANSWER], BOTH, "an error"),
    ("a refusal among answers", ["I cannot help", ANSWER], BOTH, "no labels"),
    ("half an answer", '{"who": "Ann Lee", "where": "Ul', [("who", "Ann Lee")], "in the middle"),
    ("half a list", '{"who": ["Ann Lee", "Bob', [("who", "Ann Lee")], "in the middle"),
    ("half a name", '{"who": "Ann Lee", "whe', [("who", "Ann Lee")], "in the middle"),
    ("half an item", '[{"label": "who", "text": "Ann Lee"}, {"label": "wh', [("who", "Ann Lee")], "in the middle"),
    ("a colon and no more", '{"who": "Ann Lee", "where":', [("who", "Ann Lee")], "in the middle"),
    ("a word that is cut", '{"who": "Ann Lee", "where": nul', [("who", "Ann Lee")], "in the middle"),
    ("true", {"who": True, "where": "Ulm"}, [("where", "Ulm")], "no string"),
    ("a label with a slash", {"a/b": "Ulm", "where": "Ulm"}, [("where", "Ulm")], "without a slash"),
    ("a score that is none", {"who": {"text": "Ann Lee", "score": 700}}, [("who", "Ann Lee")], "from 0 to 1"),
    ("strings without labels", ["Ann Lee", "Ulm"], [], "no labels"),
    ("strings in a mapping", {"entities": ["Ann Lee", "Ulm"]}, [], "no label"),
    ("a place behind the text", [[(800, 900, "who")]], [], "no label with a place"),
    ("a record in a record", {"trip": ANSWER}, [("trip.who", "Ann Lee"), ("trip.where", "Ulm")], ""),
    ("prose", "The person who left is Ann Lee, and Ulm is the town.", [], "no labels"),
    ("a number", [[7]], [], "no label"),
]
