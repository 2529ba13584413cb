"""The `[features]` table: the same as the Python form, with files, and with mistakes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from espalier.errors import FormatError, InputError
from espalier.features.declare import Call, Lexicon, RegexField, TableField, Vectors
from espalier.features.extract import FeatureExtractor
from espalier.features.fields import NamedField

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TASK = r"""
[features]
templates = [
    "word", "lower@-1", "shape[-1,0,1]", "prefix1-4", "lower@-1 & lower@0", "position", "regex:year",
    "lexicon:months", "lexicon:places@1", "lexicon:codes", "table:brown", "table:kinds", "vectors:glove",
    "call:upper",
]
min_count = 2

[features.regexes]
year = '(19|20)\d\d'

[features.lexicons]
months = ["January", "May"]
places = "lists/places.txt"
codes = { entries = ["DE", "FR"], fold = false }

[features.tables]
brown = { file = "paths.tsv", fold = true }
kinds = { entries = { Inc = ["company"], Ltd = ["company", "british"] } }

[features.vectors]
glove = "vectors.txt"
"""


def features(text: str) -> dict[str, Any]:
    return tomllib.loads(text)["features"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "places.txt").write_bytes("\ufeffNew York\r\n\r\nSt. Louis\nKöln".encode())
    (tmp_path / "paths.tsv").write_text("Bank\t01\t011\nriver\t10\n", encoding="utf-8")
    (tmp_path / "vectors.txt").write_text("2 3\nthe 1 2 3 \ncat 0 -1 0.5\n", encoding="utf-8")
    return tmp_path


def test_toml_form_equals_python_form(folder: Path) -> None:
    upper = Call("upper", str.upper)
    definitions: list[NamedField] = [
        upper,
        RegexField("year", r"(19|20)\d\d"),
        Lexicon("months", ["January", "May"]),
        Lexicon("places", ["New York", "St. Louis", "Köln"]),
        Lexicon("codes", ["DE", "FR"], fold=False),
        TableField("brown", {"Bank": ["01", "011"], "river": ["10"]}, fold=True),
        TableField("kinds", {"Inc": ["company"], "Ltd": ["company", "british"]}),
        Vectors("glove", ("the", "cat"), [[1, 2, 3], [0, -1, 0.5]]),
    ]
    table = features(TASK)
    read = FeatureExtractor.from_table(table, base=folder, functions=[upper])
    assert read == FeatureExtractor(table["templates"], 2, definitions=definitions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tmplates = ['word']", r"\[features\]: unknown key 'tmplates'; did you mean 'templates'\?"),
        ("min_count = 2", "'templates' must be a list of strings"),
        ("templates = 'word'", "'templates' must be a list of strings"),
        ("templates = [1]", "template 1 is not a string"),
        ("templates = ['wrod']", "did you mean 'word'"),
        ("templates = ['word']\nmin_count = 0", "min_count must be"),
        ("templates = ['word']\nregexes = 3", r"\[features.regexes\] must be a table"),
        ("templates = ['word']\nregexes.a = '('", "regex 'a': pattern .* is never closed"),
        ("templates = ['word']\nlexicons.a = 'nowhere.txt'", "lexicon 'a': there is no file .*nowhere.txt"),
        ("templates = ['word']\nlexicons.a = 'lists'", "lexicon 'a': there is no file"),
        ("templates = ['word']\nlexicons.a = []", "lexicon 'a' has no entries"),
        ("templates = ['word']\nlexicons.a = 3", "lexicon 'a': expected entries or a file, found 3"),
        ("templates = ['word']\nlexicons.a = {fold = true}", "lexicon 'a': give either 'entries' or 'file'"),
        ("templates = ['word']\nlexicons.a = {file = 'x', entries = []}", "give either 'entries' or 'file'"),
        ("templates = ['word']\nlexicons.a = {words = []}", "lexicon 'a': unknown key 'words'"),
        ("templates = ['word']\nlexicons.a = {entries = ['x'], fold = 1}", "'fold' must be true or false, not 1"),
        ("templates = ['word']\ntables.a = ['x']", "table 'a': expected entries or a file"),
        ("templates = ['word']\nvectors.a = {entries = {x = [1]}}", "vectors 'a': expected a file"),
    ],
)
def test_mistakes(folder: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FeatureExtractor.from_table(features(f"[features]\n{text}"), base=folder)


@pytest.mark.parametrize(
    ("section", "content", "message"),
    [
        ("lexicons", b"", r"file: lexicon 'a': the file is empty"),
        ("lexicons", b" \n\n", r"file: lexicon 'a': the file is empty"),
        ("lexicons", b"K\xf6ln\n", r"file: not UTF-8 text"),
        ("tables", b"a\tx\nb\n", r"file:2: expected a word, a tab"),
        ("tables", b"a\t\n", r"file:1: expected a word, a tab"),
        ("tables", b"a\tx\na\ty\n", r"file:2: 'a' has two entries that differ"),
        ("vectors", b"a 1 2\nb 1\n", r"file:2: 1 numbers; expected 2"),
        ("vectors", b"a\n", r"file:1: 0 numbers; expected at least one"),
        ("vectors", b"a 1\nb x\n", r"file:2: could not convert"),
    ],
)
def test_malformed_files(tmp_path: Path, section: str, content: bytes, message: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        FeatureExtractor.from_table({"templates": ["word"], section: {"a": "file"}}, base=tmp_path)
