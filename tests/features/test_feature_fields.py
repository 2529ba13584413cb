"""Fields by example: tables of words and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.declare import Call, Lexicon, RegexField, SequenceCall, TableField, Vectors
from espalier.features.extract import FeatureExtractor
from espalier.features.fields import FeatureField, NamedField, Prefix
from feature_matrices import attributes_of


def said(field: str | FeatureField, *tokens: str) -> list[list[str]]:
    return attributes_of(FeatureExtractor([field]), tokens)


@pytest.mark.parametrize(
    ("word", "full", "collapsed", "length", "flags"),
    [
        ("McNally-2", "XxXxxxx-0", "XxXx-0", "8-10", "hasdigit capitalised mixed hyphen"),
        ("1999", "0000", "0", "4", "digits"),
        ("1990s", "0000x", "0x", "5", "hasdigit lowercase"),
        ("IEEE", "XXXX", "X", "4", "allcaps"),
        ("U.S.", "X.X.", "X.X.", "4", "allcaps dot"),
        ("the", "xxx", "x", "3", "lowercase"),
        ("The", "Xxx", "Xx", "3", "capitalised"),
        ("iPhone", "xXxxxx", "xXx", "6-7", "mixed"),
        ("--", "--", "-", "2", "punctuation"),
        ("...", "...", ".", "3", "punctuation dot"),
        ("state-of-the-art", "xxxxx-xx-xxx-xxx", "x-x-x-x", "16+", "lowercase hyphen"),
        ("Élan", "Xxxx", "Xx", "4", "capitalised"),
        ("中文", "xx", "x", "2", "lowercase"),
        ("ǅ", "X", "X", "1", "allcaps"),
        ("", "", "", "0", ""),
    ],
)
def test_what_the_shape_says(word: str, full: str, collapsed: str, length: str, flags: str) -> None:
    assert said("fullshape", word) == [[f"fullshape={full}"]]
    assert said("shape", word) == [[f"shape={collapsed}"]]
    assert said("length", word) == [[f"length={length}"]]
    assert said("flags", word) == [[f"flags={flag}" for flag in flags.split()]]


def test_affixes_need_enough_letters() -> None:
    assert attributes_of(FeatureExtractor(["prefix1-4", "suffix2-4"]), ["abc"]) == [
        ["prefix1=a", "prefix2=ab", "prefix3=abc", "suffix2=bc", "suffix3=abc"]
    ]
    with pytest.raises(InputError, match="whole number"):
        Prefix(1.5)  # type: ignore[arg-type]


def test_position_and_edge() -> None:
    assert said("position3", *"abcd") == [["position3=0"], ["position3=0"], ["position3=1"], ["position3=2"]]
    assert said("edge", "a") == [["edge=first", "edge=last"]]
    assert said("edge@1", *"abc") == [[], ["edge@1=last"], ["end@1"]]


def test_regex_must_match_the_whole_token() -> None:
    assert said(RegexField("year", "19[0-9]{2}"), "1999", "11999", "1999a") == [["regex:year"], [], []]
    with pytest.raises(InputError, match=r"regex 'year': pattern /\(19/, character 1: this parenthesis"):
        RegexField("year", "(19")
    with pytest.raises(InputError, match="a pattern is a string, not 19"):
        RegexField("year", 19)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entries", "tokens", "tags"),
    [
        (["New York"], "in New York City", ". B I ."),
        (["New York", "New York City", "City"], "New York City New York", "B I I B I"),  # the longest
        (["a b", "b c d"], "a b c d", "B I . ."),  # the leftmost, without overlap
        (["a b c", "b"], "a b d", ". B ."),  # a false start leaves the rest alone
        (["St. Louis"], "St . Louis", "B I I"),
        (["St. Louis"], "St. Louis", "B I"),
        (["today", "in put"], "to day input", ". . ."),
        (["U.S.A."], "u.s . A.", "B I I"),
        (["straße"], "STRASSE", "B"),
        (["a"], "a b a", "B . B"),
        (["a . b"], "a.b a .b", ". . ."),  # the entry has spaces that the tokens do not show
        (["x  y "], "x y", "B I"),
    ],
)
def test_lexicon_matches(entries: list[str], tokens: str, tags: str) -> None:
    found = said(Lexicon("l", entries), *tokens.split())
    assert [token[0][-1] if token else "." for token in found] == tags.split()


def test_lexicon_stays_inside_the_sequence() -> None:
    corpus = Corpus.from_tokens([["New"], ["York"], ["New", "York"]])
    index, matrix = FeatureExtractor([Lexicon("l", ["New York"])]).fit_transform(corpus)
    assert index.names() == ("lexicon:l=B", "lexicon:l=I")
    assert matrix.to_csr().toarray().tolist() == [[0, 0], [0, 0], [1, 0], [0, 1]]


def test_lexicon_with_case() -> None:
    assert said(Lexicon("l", ["May"], fold=False), "May", "may") == [["lexicon:l=B"], []]
    assert Lexicon("l", ["b", "A ", "a"]) == Lexicon("l", ["a", "B"])


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], "lexicon 'l' has no entries"),
        (["a", " "], "lexicon 'l' has an empty entry"),
        ("abc", "expected a list of entries, found the string 'abc'"),
        (["a", 3], "entries must be strings; found 3"),
    ],
)
def test_bad_lexicons(entries: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Lexicon("l", entries)


def test_tables() -> None:
    table = TableField("brown", {"Bank": ["01", "011"], "river": "10"})
    assert said(table, "Bank", "bank", "river") == [["table:brown=01", "table:brown=011"], [], ["table:brown=10"]]
    assert said(TableField("t", {"Bank": ["x"]}, fold=True), "BANK") == [["table:t=x"]]
    assert said(TableField("t", {"Bank": ["x", "y", "x"]}), "Bank") == [["table:t=x", "table:t=y"]]  # listed twice
    with pytest.raises(InputError, match="'a' has two entries that differ"):
        TableField("t", {"A": ["x"], "a": ["y"]}, fold=True)
    with pytest.raises(InputError, match="numbers go into `Vectors`"):
        TableField("t", {"a": [1.0]})  # type: ignore[list-item]
    with pytest.raises(InputError, match="table 't' is empty"):
        TableField("t", {})


def test_vectors_are_real_valued() -> None:
    vectors = Vectors("v", ("a", "b"), np.array([[0.5, 0.0], [1.5, -2.0]]))
    index, matrix = FeatureExtractor([vectors @ -1, "word"]).fit_transform(Corpus.from_tokens([["a", "b", "a", "c"]]))
    dense = matrix.to_csr().toarray()
    columns = [index.names().index(f"vectors:v@-1[{d}]") for d in range(2)]
    assert dense[:, columns].tolist() == [[0, 0], [0.5, 0], [1.5, -2], [0.5, 0]]
    assert vectors == Vectors("v", ("a", "b"), np.array([[0.5, 0.0], [1.5, -2.0]]))
    assert vectors != Vectors("v", ("a", "b"), np.array([[0.5, 0.0], [1.5, 2.0]]))
    assert hash(vectors) == hash(Vectors("v", ("a", "b"), np.array([[0.5, 0.0], [1.5, -2.0]])))


@pytest.mark.parametrize(
    ("words", "matrix", "message"),
    [
        (("a",), [[1.0], [2.0]], "1 words need a matrix"),
        (("a",), [[]], "at least one column"),
        ((), [], "at least one column"),
        (("a", "b"), [[1.0], [np.inf]], "the vector of 'b' is not finite"),
        (("a", "a"), [[1.0], [2.0]], "'a' is listed twice"),
        (("a", "b"), [[1.0], [2.0, 3.0]], "not a matrix of numbers"),
    ],
)
def test_bad_vectors(words: tuple[str, ...], matrix: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Vectors("v", words, matrix)  # type: ignore[arg-type]


@pytest.mark.parametrize("result", [3, [3], {"a": "b"}, {3: 1.0}, {"a": float("nan")}, {"a": float("inf")}, [None]])
def test_functions_that_say_nonsense(result: object) -> None:
    with pytest.raises(InputError, match=r"^call:f: word 'x': "):
        said(Call("f", lambda word: result), "x")  # type: ignore[arg-type, return-value]
    extractor = FeatureExtractor([SequenceCall("f", lambda tokens: [result if w == "y" else None for w in tokens])])
    with pytest.raises(InputError, match=r"^sequence:f: sequence 2, token 1: "):
        extractor.fit(Corpus.from_tokens([["x"], [], ["x", "y"]]))


@pytest.mark.parametrize("result", [[], ["a", "b"], "x", {"a": 1.0}, None, 3])
def test_functions_of_a_sequence_answer_for_every_token(result: list[str]) -> None:
    with pytest.raises(InputError, match="sequence:f: sequence 0 has 1 tokens; the function must return"):
        said(SequenceCall("f", lambda tokens: result), "x")


def test_functions_may_return_any_of_the_forms() -> None:
    answers = {"one": "x", "many": ["x", "y", "x"], "none": None, "numbers": {"x": 2, "y": 0, "z": True}}
    found = said(Call("f", answers.__getitem__), *answers)
    assert found == [["call:f=x"], ["call:f=x", "call:f=y"], [], ["call:f=x", "call:f=z"]]


@pytest.mark.parametrize("name", ["", "3a", "a b", "a@1", "a&b", "a[0]", "a:b", None])
def test_names_fit_the_text_form(name: str) -> None:
    with pytest.raises(InputError, match="regex name"):
        RegexField(name, "x")
    assert isinstance(RegexField("é_1.x-y", "x"), NamedField)
