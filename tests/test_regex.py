"""The linear-time regular expressions agree with `re`, and hostile ones stay quick."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.errors import RuleError
from espalier.regex import Regex, compile_regex

LETTERS = "abA1 _.\n"
PIECES = r"a b A 1 \. . \d \w \s \D \W \S [ab] [^a] [a-z1] [^\d_] \n ^ $ [\w.-] [b-]"
pieces = st.sampled_from(PIECES.split())


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeat = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "{0}", "*?", "+?"])
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, repeat).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        inner.map(lambda part: f"({part}|)"),
        inner.map(lambda part: f"(?s:{part})"),
    )


patterns = st.recursive(pieces, _grow, max_leaves=6)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(patterns, st.text(LETTERS, max_size=6), st.booleans())
def test_agrees_with_re(pattern: str, text: str, fold: bool) -> None:
    pattern = "(?i)" * fold + pattern
    # Our `$` is the very end; that of `re` also stands before a final newline.
    reference = re.compile(pattern.replace("$", r"\Z"))
    ours = Regex(pattern)
    assert ours.fullmatch(text) == (reference.fullmatch(text) is not None)
    assert ours.search(text) == (reference.search(text) is not None)
    # The second run answers from the cache of moves.
    assert ours.fullmatch(text) == (reference.fullmatch(text) is not None)


@pytest.mark.parametrize(
    ("pattern", "text", "full", "part"),
    [
        (r"(19|20)\d\d", "1994", True, True),
        (r"(19|20)\d\d", "19945", False, True),
        (r"[.,;:!?]", ",", True, True),
        (r"[\]\[^-]", "^", True, True),
        (r"a\/b", "a/b", True, True),
        (r"(?i)proc\.?", "PROC.", True, True),
        (r"(?i)[^a]", "A", False, False),
        (r"é+", "éé", True, True),
        (r"\d", "٣", True, True),  # any Unicode digit, as in `re`
        ("x{2,3}", "xxxx", False, True),
        ("^b", "ab", False, False),
        ("a$", "ab", False, False),
        ("", "", True, True),
        ("a|", "", True, True),
        ("$^", "", True, True),
        ("}]", "}]", True, True),
    ],
)
def test_by_hand(pattern: str, text: str, full: bool, part: bool) -> None:
    assert Regex(pattern).fullmatch(text) is full
    assert Regex(pattern).search(text) is part


@pytest.mark.parametrize(
    ("pattern", "place", "what"),
    [
        ("(ab", 1, "never closed"),
        ("ab)", 3, "without an opening"),
        ("[ab", 1, "never closed"),
        ("[]", 1, "empty set"),
        ("[z-a]", 5, "lower to a higher"),
        ("*a", 1, "nothing to repeat"),
        ("a**", 3, "repetition of a repetition"),
        ("a{3,2}", 3, "in order"),
        ("a{1000}", 3, "at most 255"),
        ("a{x}", 3, "a brace itself"),
        ("a{2", 3, "a brace itself"),
        ("^*", 1, "anchor"),
        ("a\\", 3, "backslash"),
        (r"(a)\1", 5, "not supported"),
        (r"\bword", 2, "not supported"),
        ("(?=a)", 3, "no look-around"),
        ("a(?i)b", 4, "at the start"),
    ],
)
def test_wrong_patterns_name_the_character(pattern: str, place: int, what: str) -> None:
    with pytest.raises(RuleError, match=rf"character {place}: .*{what}"):
        Regex(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a|a)*b", "(.*)*x", "(a?){25}a{25}", "(x+x+)+y", "([a-z]+)*!"]
)
def test_catastrophic_patterns_are_quick(pattern: str) -> None:
    regex = compile_regex(pattern)
    begin = time.process_time()
    for text in ("a" * 2000 + "!", "x" * 2000, "a" * 30 + "b"):
        regex.fullmatch(text)
        regex.search(text)
    assert time.process_time() - begin < 5.0


def test_an_automaton_with_exponentially_many_states_is_still_quick() -> None:
    # The deterministic automaton of this pattern has over 2^100 states; only those met are built, and few are kept.
    regex = compile_regex("(a|b)*a(a|b){100}")
    text = "".join("ab"[k.bit_count() % 2] for k in range(2000))
    begin = time.process_time()
    assert regex.fullmatch(text) is (text[-101] == "a")
    assert time.process_time() - begin < 5.0


@pytest.mark.parametrize("pattern", ["(" * 100 + ")" * 100, "((a{200}){200}){200}", "a" * 1001, "(a{100}){100}"])
def test_patterns_that_would_explode_are_refused(pattern: str) -> None:
    begin = time.process_time()
    with pytest.raises(RuleError):
        Regex(pattern)
    assert time.process_time() - begin < 1.0
