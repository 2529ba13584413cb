"""Rules and task files made to harm: patterns, sizes and numbers."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from bounds import bounded

from espalier.cluster.job import Settings, read_settings
from espalier.cluster.plan import plan
from espalier.corpus import Corpus
from espalier.errors import FormatError, InputError, RuleError
from espalier.features.declare import RegexField
from espalier.recipes.rule_files import check_rules
from espalier.recipes.settings import parse_settings
from espalier.rules.predicates import Pattern, Text
from espalier.rules.ruleset import RuleSet
from espalier.tasks.task import load_features, load_task

CATASTROPHES = ["(a+)+", "(a*)*b", "(a|a)*b", "(a|aa)+$", "a*a*a*a*a*a*b", "(.*)(.*)(.*)(.*)(.*)x", "((a+)+)+b"]
VICTIMS = ["a" * 30 + "!", "a" * 2000, "a" * 1999 + "\n", "a" * 100_000]


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_patterns_of_rules_do_not_hang(pattern: str) -> None:
    with bounded(20.0):
        for condition in (Pattern(pattern), Text(pattern)):
            for t in range(len(VICTIMS)):
                condition.holds(VICTIMS, t, " ".join(VICTIMS))


@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_patterns_of_features_do_not_hang(pattern: str) -> None:
    with bounded(20.0):
        RegexField("x", pattern).by_type(VICTIMS)


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)b", "(?<!a)b", "(?P<n>a)", "a{1,99999}", "(" * 50, "a" * 1001])
def test_patterns_beyond_the_language_are_refused(pattern: str) -> None:
    with pytest.raises(InputError, match="regex 'x': "):
        RegexField("x", pattern)
    with pytest.raises(RuleError, match="line 1, column 12: "):
        RuleSet.from_text(f"R: token ~ /{pattern}/ -> x")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("R: " + "(" * 50_000 + "a once", "nested more than 60 deep"),
        ("R: " + "not " * 50_000 + "a once", "nested more than 60 deep"),
        ("R: count(a) <= " + "9" * 5000, "not a whole number of at most nine digits"),
        ("R: token at 0..99999999999 -> a", "not a whole number of at most nine digits"),
        ("R: a once [penalty 1e999]", "this penalty is infinite"),
        ("R: a once [penalty -1]", "column 20"),
        ("R: a once [penalty nan]", "column 20"),
        ("R: token ~ /" + "\\/" * 500_000 + "/ -> a", "a pattern of 500000 characters"),
        ("R: token ~ /" + "\\/" * 500_000, "never closed"),
        ("x" * 1_000_000, "a rule begins with its name"),
        ('R: token in file "/etc/\0" -> a', "cannot be read"),
    ],
    ids=["nested", "not", "digits", "position", "penalty", "negative", "nan", "pattern", "open", "line", "file"],
)
def test_rules_without_measure(text: str, what: str) -> None:
    with bounded(10.0), pytest.raises(RuleError, match=what) as caught:
        RuleSet.from_text(text)
    assert len(str(caught.value)) < 1500


def test_many_mistakes_take_no_more_than_their_lines() -> None:
    """Each kept all lines before it: what a page may send, 200,000 characters, asked for 40 GB."""
    text = "R: first in title\n" + "x\n" * 20_000 + "R: last in title\n"
    tracemalloc.start()
    with bounded(10.0):
        checked = check_rules(text, ["title"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 << 20
    assert [(one.line, one.column) for one in checked.mistakes] == [(line, 1) for line in range(2, 20_003)]
    assert str(checked.mistakes[-1]).startswith("line 20002, column 1: a second rule named 'R'; names must differ")
    few = check_rules(text, ["title"], most=100)
    assert (len(few.rules), len(few.mistakes)) == (1, 100)
    assert "line 101, column 1: more than 100 rules" in str(few.mistakes[-1])


def test_a_complaint_about_a_long_line_shows_the_place() -> None:
    text = "R: token in " + ", ".join(f'"w{i}"' for i in range(5000)) + " => a"
    with pytest.raises(RuleError) as caught:
        RuleSet.from_text(text)
    head, shown, caret = str(caught.value).split("\n")
    assert f"column {text.index('=>') + 1}: " in head
    assert shown[caret.index("^")] == "="
    assert shown.startswith("    …")


LABELS = 'labels = ["a"]\n'


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5000,
        "x = " + "9" * 5000,
        "x = 1979-99-99",
        "a." * 3000 + "b = 1",
        "[features]\ntemplates = ['word']\nmin_count = -4",
        "[features]\ntemplates = ['word']\nmin_count = 1e999",
        "[features]\ntemplates = ['word', 'regex:a']\nregexes.a = '(a+)+(?=b)'",
        "[features]\ntemplates = ['prefix1-99999999']",
        "[features]\ntemplates = ['position999999999']",
        "[features]\ntemplates = ['word', 'lexicon:a']\nlexicons.a = \"\\u0000\"",
        "[defaults]\nl2 = [1e999]",
    ],
)
def test_task_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "some.toml"
    path.write_text(LABELS + text)
    with bounded(10.0), pytest.raises(FormatError, match=r"some\.toml"):
        load_task(path)
    path.write_text(text)
    with bounded(10.0), pytest.raises(FormatError, match=r"some\.toml"):
        read_settings(path)
    if not text.startswith("[defaults]"):
        with bounded(10.0), pytest.raises(FormatError, match=r"some\.toml"):
            load_features(path)


def test_a_file_of_rules_with_an_impossible_name(tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text(f'{LABELS}[rules]\nfile = "\\u0000"\n')
    with pytest.raises(FormatError, match="cannot be read as UTF-8 text: embedded null"):
        load_task(tmp_path / "some.toml")


@pytest.mark.parametrize("pattern", ["a\0b", "*" * 5000, "a**b", "a[", "[" * 5000, "a?\0"])
def test_patterns_of_jobs_that_name_no_file(tmp_path: Path, pattern: str) -> None:
    settings = Settings(input=(str(tmp_path / pattern),), format="text", output="out", model="m")
    with pytest.raises(InputError, match=r"^input: ") as caught:
        plan(settings)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("number", ["-1", "0", "1e999", "inf", "nan", "9" * 5000, "true", "1.5"])
@pytest.mark.parametrize("key", ["partition_bytes", "batch", "longest"])
def test_sizes_of_jobs(tmp_path: Path, key: str, number: str) -> None:
    path = tmp_path / "job.toml"
    path.write_text(f'input = "a"\noutput = "b"\nmodel = "c"\n{key} = {number}\n')
    with pytest.raises(FormatError, match=r"job\.toml"):
        read_settings(path)


def test_settings_of_the_command_line() -> None:
    nested = "[" * 100_000
    assert parse_settings([f"l2={nested}"]) == {"l2": nested}  # a word, which no estimator takes for a number


def test_a_task_with_a_hostile_pattern_labels_in_time(tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text(LABELS + "[features]\ntemplates = ['word', 'regex:a']\nregexes.a = '(a|a)*b'\n")
    with bounded(20.0):
        load_task(path).extractor.fit_transform(Corpus.from_tokens([VICTIMS]))
