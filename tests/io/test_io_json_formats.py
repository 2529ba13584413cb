"""jsonl, doccano, prodigy and label_studio: exact round trips, and every wrong record an error with its line."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from hypothesis import given
from io_documents import FLAT, LAW, REFERENCE, documents, read_text, through, written

from espalier.document import Document, Span
from espalier.errors import FormatError, InputError
from espalier.io import DataWarning, InputProblem, read

FORMATS = ("jsonl", "doccano", "prodigy", "label_studio")


@pytest.mark.parametrize("format", FORMATS)
@LAW
@given(document=documents())
def test_round_trip_is_exact(format: str, document: Document) -> None:
    assert through([document, FLAT, document], format) == [document, FLAT, document]


@LAW
@given(document=documents())
def test_label_studio_in_utf16(document: Document) -> None:
    assert through([document], "label_studio", utf16=True, reading={"utf16": True}) == [document]


@pytest.mark.parametrize("format", FORMATS)
def test_meta_survives_even_with_names_the_format_uses(format: str) -> None:
    meta = {"source": "a.xml", "year": 1998, "meta": {"deep": [1, None]}, "unknown": 3}
    document = Document.from_text("a b", [Span(0, 1, "x")], meta=meta)
    assert through([document], format) == [document]


@pytest.mark.parametrize("format", FORMATS)
def test_meta_that_json_cannot_hold(format: str) -> None:
    with pytest.raises(InputError, match="document 0: its meta cannot be written as JSON"):
        written([Document.from_text("a", meta={"bad": object()})], format)


@pytest.mark.parametrize("format", FORMATS)
def test_lone_surrogates_survive(format: str) -> None:
    document = Document("a\ud800b", ((0, 3),), (Span(0, 3, "x"),))
    assert through([document], format) == [document]


def test_jsonl_hierarchical_fields_by_hand() -> None:
    tags = ["B-authors/B-person", "I-authors", "I-authors/B-person", "I-authors/I-person", "O", None]
    document = Document.from_tokens(["Ada", "and", "Bo", "Li", ".", "x"], tags, id="h/0")
    (record,) = map(json.loads, written([document], "jsonl").splitlines())
    assert record == {
        "id": "h/0",
        "tokens": ["Ada", "and", "Bo", "Li", ".", "x"],
        "labels": ["person", "authors", "person", "person", "O", None],
        "bio": ["B-person", "B-authors", "B-person", "I-person", "O", None],
        "paths": ["authors/person", "authors", "authors/person", "authors/person", "O", None],
        "bio_paths": tags,
        "text": "Ada and Bo Li . x",
    }


def test_jsonl_prefers_bio_paths_then_bio_then_runs() -> None:
    full = {"tokens": ["a", "b"], "labels": ["x", "x"], "bio": ["B-x", "B-x"], "bio_paths": ["B-y/B-x", "I-y/B-x"]}
    expected = {
        "bio_paths": [Span(0, 3, "y"), Span(0, 1, "y/x"), Span(2, 3, "y/x")],
        "bio": [Span(0, 1, "x"), Span(2, 3, "x")],
        "labels": [Span(0, 3, "x")],
    }
    for field, spans in expected.items():
        assert list(read_text(json.dumps(full), "jsonl")[0].spans or ()) == spans
        del full[field]
    assert read_text(json.dumps(full), "jsonl")[0].spans is None


def test_jsonl_unknown_labels_and_other_fields() -> None:
    line = '{"id": 3, "tokens": ["a", "b"], "labels": ["x", null], "source": "s", "also_in": ["t"]}'
    (document,) = read_text(line)
    assert (document.id, document.unknown, document.spans) == ("3", ((2, 3),), (Span(0, 1, "x"),))
    assert document.meta == {"source": "s", "also_in": ["t"]}


def test_jsonl_writes_spans_only_where_tags_do_not_determine_them() -> None:
    whole, cut = Document.from_text("ab cd", [Span(0, 2, "x")]), Document.from_text("ab cd", [Span(1, 4, "x")])
    records = [json.loads(line) for line in written([whole, cut], "jsonl").splitlines()]
    assert "spans" not in records[0]
    assert records[1]["spans"] == [[1, 4, "x"]]


@pytest.mark.parametrize("form", ["label", "labels", "entities"])
def test_doccano_forms(form: str) -> None:
    items: list[object] = [[0, 1, "x"], [2, 4, "y"]]
    if form == "entities":
        items = [{"id": 9, "start_offset": 0, "end_offset": 1, "label": "x"}]
        items.append({"id": 10, "start_offset": 2, "end_offset": 4, "label": "y"})
    (document,) = read_text(json.dumps({"id": 5, "text": "a bc", form: items, "Comments": []}))
    assert (document.id, document.spans) == ("5", (Span(0, 1, "x"), Span(2, 4, "y")))
    assert document.meta == {"Comments": []}
    assert through([document], "doccano", entities=form == "entities") == [document]


def test_doccano_relations_are_reported() -> None:
    problems: list[InputProblem] = []
    read_text('{"text": "a", "entities": [], "relations": [{"from_id": 1}]}', "doccano", problems=problems)
    assert [p.line for p in problems] == [1]


def test_prodigy_fields_by_hand() -> None:
    document = Document.from_text("Ada, 19", [Span(0, 4, "author"), Span(5, 6, "cut")])
    record = json.loads(written([document], "prodigy"))
    assert record["tokens"][1] == {"text": ",", "start": 3, "end": 4, "id": 1, "ws": True}
    assert record["spans"] == [
        {"start": 0, "end": 4, "label": "author", "token_start": 0, "token_end": 1},
        {"start": 5, "end": 6, "label": "cut"},
    ]


def test_prodigy_labels_only_what_was_accepted_and_reports_the_rest() -> None:
    span = {"start": 0, "end": 1, "label": "x"}
    records = [{"text": "a", "spans": [span], "answer": a} for a in ("accept", "reject", "ignore")]
    text = "\n".join(map(json.dumps, records))
    problems: list[InputProblem] = []
    found = read_text(text, problems=problems)
    assert [d.spans for d in found] == [(Span(0, 1, "x"),), None, None]
    assert [(p.line, "unlabelled" in p.what) for p in problems] == [(2, True), (3, True)]
    assert through(found, "prodigy", reading={"problems": []}) == found
    with pytest.warns(DataWarning, match="2 things .* line 2: the answer is 'reject'"):
        read_text(text)
    wrong = Document.from_text("a", [Span(0, 1, "x")], meta={"answer": "reject"})
    with pytest.raises(InputError, match="labelled, but its meta\\['answer'\\] is 'reject'"):
        written([wrong], "prodigy")


def _task(start: int, end: int, said: str, text: str = "😀 Ada Yor") -> str:
    value = {"start": start, "end": end, "text": said, "labels": ["author"]}
    result = [{"value": value, "type": "labels", "from_name": "l", "to_name": "t", "id": "q"}]
    task = {"id": 1, "data": {"text": text, "file": "f"}, "annotations": [{"id": 4, "result": result}]}
    return json.dumps([{**task, "predictions": [{"score": 0.5}]}], indent=1)


def test_label_studio_counts_code_points_or_utf16() -> None:
    (points,) = read_text(_task(2, 5, "Ada"))
    (units,) = read_text(_task(3, 6, "Ada"), utf16=True)
    assert points == units
    assert points.spans == (Span(2, 5, "author"),)
    assert points.meta == {"predictions": [{"score": 0.5}], "annotation": {"id": 4}, "data": {"file": "f"}}
    with pytest.raises(FormatError, match=r":2: .* should be 'Ada', but there is 'da '; read it with utf16=True"):
        read_text(_task(3, 6, "Ada"))
    with pytest.raises(FormatError, match="without utf16=True"):
        read_text(_task(2, 5, "Ada"), utf16=True)
    with pytest.raises(FormatError, match="UTF-16 offset 1 is outside the text or inside a character"):
        read_text(_task(1, 5, "Ada"), utf16=True)
    assert read_text(_task(0, 3, "a\\nb", "a\nb"))[0].spans == (Span(0, 3, "author"),)


def test_label_studio_chooses_and_reports_annotations() -> None:
    done = {"result": [{"type": "choices", "value": {"choices": ["x"]}}]}
    tasks = [{"data": {"text": "a"}, "annotations": [{"was_cancelled": True, "result": []}, done, done]}]
    tasks.append({"data": {"text": "b"}, "annotations": []})
    problems: list[InputProblem] = []
    found = read_text(json.dumps(tasks), problems=problems)
    assert [d.spans for d in found] == [(), None]
    assert [p.what for p in problems] == [
        "2 of 3 annotations left out: cancelled, or after the first",
        "a result of type 'choices' is left out: only labels are spans",
    ]


MALFORMED = [
    ("jsonl", '{"tokens": ["a"]}\n{"tokens": ["a"', 2, "not JSON at column"),
    ("jsonl", "[1]", 1, "expected one JSON object a line, found a list"),
    ("jsonl", '{"tokens": ["a"]} x', 1, "something follows"),
    ("jsonl", '{"id": "q"}', 1, "'text' is missing; the record has 'id'"),
    ("jsonl", '\n{"tokens": "a b"}', 2, "'tokens' must be a list, not 'a b'"),
    ("jsonl", '{"tokens": ["a", 3]}', 1, "'tokens' must be strings"),
    ("jsonl", '{"tokens": ["a", ""]}', 1, "'tokens' must be strings that are not empty"),
    ("jsonl", '{"tokens": ["a"], "bio": ["O", "O"]}', 1, "1 tokens but 2 bio"),
    ("jsonl", '{"tokens": ["a"], "bio": ["O"], "labels": []}', 1, "1 tokens but 0 labels"),
    ("jsonl", '{"tokens": ["a"], "labels": [7]}', 1, "'labels' must be strings"),
    ("jsonl", '{"tokens": ["a"], "bio": ["B-x/y"]}', 1, "level 'y' has no B- or I- mark"),
    ("jsonl", '{"tokens": ["b"], "text": "a"}', 1, "is not where the text continues"),
    ("jsonl", '{"tokens": ["b"], "text": "ab", "offsets": [[0, 1]]}', 1, "'offsets' do not give 'tokens'"),
    ("jsonl", '{"text": "ab", "offsets": [[0, 9]]}', 1, "outside the text"),
    ("jsonl", '{"text": "ab", "spans": [[0, 9, "x"]]}', 1, "outside the text"),
    ("jsonl", '{"id": "r1", "text": "abc", "spans": [[0, 2, "x"], [1, 3, "y"]]}', 1, "record 'r1': spans 'x' 0..2 and"),
    ("jsonl", '{"text": "ab", "spans": [[0, "x"]]}', 1, "'spans' must be a list of [start, end, label]"),
    ("jsonl", '{"text": "ab", "id": true}', 1, "'id' must be a string or an integer"),
    ("jsonl", '{"text": "ab", "score": NaN}', 1, "NaN is not JSON"),
    ("jsonl", '{"text": "ab", "x": ' + "[" * 200000 + "]" * 200000 + "}", 1, "nested too deeply"),
    ("jsonl", '{"text": "ab", "x": ' + "9" * 10000 + "}", 1, "not acceptable JSON"),
    ("doccano", '{"label": []}', 1, "'text' is missing"),
    ("doccano", '{"text": "a", "label": ["spam"]}', 1, "a label must be [start, end, label]"),
    ("doccano", '{"text": "a", "label": [[0, 1.0, "x"]]}', 1, "span offsets must be integers"),
    ("doccano", '{"text": "a", "label": [[0, 2, "x"]]}', 1, "outside the text"),
    ("doccano", '{"text": "a", "label": [[0, 1, ""]]}', 1, "must be a string that is not empty"),
    ("doccano", '{"text": "a", "label": [], "entities": []}', 1, "both 'label' and 'entities'"),
    ("doccano", '{"text": "a", "entities": [{"start_offset": 0}]}', 1, "an entity has no 'end_offset'"),
    ("doccano", '{"text": "abc", "id": 8, "label": [[0, 2, "x"], [1, 3, "y"]]}', 1, "record '8': spans 'x' 0..2 and"),
    ("prodigy", '{"text": "a", "answer": "maybe"}', 1, "'answer' must be one of accept, reject, ignore"),
    ("prodigy", '{"text": "a", "spans": [3]}', 1, "a span must be an object"),
    ("prodigy", '{"text": "a", "spans": [{"start": 0, "end": 1}]}', 1, "a span has no 'label'"),
    ("prodigy", '{"text": "a", "tokens": [{"text": "b", "start": 0, "end": 1}]}', 1, "token 0 is 'b', but"),
    ("prodigy", '{"text": "a", "tokens": [{"start": "0", "end": 1}]}', 1, "must be integers"),
    ("label_studio", '{"data": {}}', 1, "expected a JSON list of tasks"),
    ("label_studio", '[\n{"data": {"text": "a"}}\n{"data"', 3, "expected ',' or ']' after task 1, found '{'"),
    ("label_studio", '[\n{"data": {"text": "a"}},\n', 2, "not JSON"),
    ("label_studio", '[\n{"data":\n {"text": oops}}]', 3, "not JSON at column 11"),
    ("label_studio", '[\n{"data": {"text": "a"}}\n', 2, "found 'the end of the file'"),
    ("label_studio", "[] x", 1, "something follows"),
    ("label_studio", "[\n3]", 2, "a task must be an object"),
    ("label_studio", '[{"data": {"body": "a"}}]', 1, "'text' is missing; the record has 'body'"),
    ("label_studio", '[{"data": {"text": "a"}, "annotations": [1]}]', 1, "an annotation must be an object"),
    ("label_studio", '[{"data": {"text": "a"}, "annotations": [{"result": [1]}]}]', 1, "a result must be an object"),
    (
        "label_studio",
        '[{"data": {"text": "a"}, "annotations": [{"result": [{"value": {"labels": ["x"]}}]}]}]',
        1,
        "span offsets must be integers, not null and null",
    ),
]


@pytest.mark.parametrize(("format", "text", "line", "message"), MALFORMED)
def test_malformed_records(format: str, text: str, line: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text, format)
    assert caught.value.line == line
    assert message in str(caught.value)


def test_label_studio_refuses_meta_it_would_overwrite() -> None:
    with pytest.raises(InputError, match="meta has 'annotations'"):
        written([Document.from_text("a", meta={"annotations": []})], "label_studio")
    with pytest.raises(InputError, match="must be an object"):
        written([Document.from_text("a", meta={"data": 3})], "label_studio")


@pytest.mark.parametrize("format", FORMATS)
def test_reference_by_hand(format: str) -> None:
    assert through([REFERENCE], format) == [REFERENCE]


@pytest.mark.parametrize(
    ("text", "kept", "lines"),
    [
        ('[{"data": {"text": "a"}},\n{"data": {"text": 3}},\n{"data": {"text": "b"}}]', ["a", "b"], [2]),
        ('[{"data": 3},\n{"data": {"text": "b"}}]', ["b"], [1]),
        ('[3, {"data": {"text": "b"}}]', ["b"], [1]),
    ],
)
def test_a_bad_task_is_left_out(text: str, kept: list[str], lines: list[int]) -> None:
    """The one before it once came twice, and a bad first one was an UnboundLocalError."""
    refused: list[FormatError] = []
    assert [document.text for document in read(StringIO(text), "label_studio", refused=refused)] == kept
    assert [error.line for error in refused] == lines


@pytest.mark.parametrize("text", ["[", '[{"data": {"text": "a"}},', '[{"data": {"text": "a"}}, x]', '[{"data"', "[[[["])
def test_an_unfinished_list_of_tasks_is_an_error(text: str) -> None:
    """It once gave its last task for ever."""
    for refused in (None, []):
        with pytest.raises(FormatError, match=r"^<file>:1: not JSON at column"):
            read(StringIO(text), "label_studio", refused=refused)
